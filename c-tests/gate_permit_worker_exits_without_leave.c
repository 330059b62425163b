// Guards against a worker's permit that outlives the worker: one that ends without leaving, by return or by pthread_exit,
// takes its right with it. A new thread that gets its stack and thread-local memory is a stranger, and the attempt ends
// well.
#include "waiters.h"

static lazy_once once;
static lazy_permit permit;
static waiter stranger;

static void *worker(void *way) {
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, handed_in, NULL), LAZY_QUEUED);
    if (way) pthread_exit(NULL);
    return NULL;
}
static void *newcomer(void *ctx) {
    (void)ctx;
    CHECK(!lazy_once_is_initializing(&once));
    CHECK_IS(lazy_once_init_timeout(&once, 0), LAZY_E_TIMEOUT);
    CHECK_IS(lazy_permit_leave(&permit), LAZY_E_NOT_FOUND);
    return NULL;
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_capture(&once, &permit), LAZY_OK);
    waiter_start(&stranger, &once, wait_in_init);
    waiter_asleep(&stranger);
    for (int i = 0; i < 8; i++) {
        join(start(worker, i % 2 ? &once : NULL));
        join(start(newcomer, NULL));
    }
    CHECK(lazy_once_is_initializing(&once));
    CHECK_IS(atomic_load(&stranger.status), STILL_WAITING);
    return 0;
}

int main(void) {
    CHECK_IS(lazy_once_run(&once, initialize, NULL), LAZY_OK);
    CHECK_IS(waiter_join(&stranger), LAZY_OK);
    CHECK_IS(atomic_load(&handed_in_ran), 8);
    return finish();
}
