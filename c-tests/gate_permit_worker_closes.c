// Guards against a close under a permit that waits for its own attempt: it returns at once, those who wait return
// LAZY_E_CLOSED while the initializer still runs, the queue is dropped, and the initializing call gets LAZY_E_CLOSED.
#include "waiters.h"

static lazy_once once;
static lazy_permit permit;
static waiter waiters[3];

static void *worker(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    CHECK_IS(wait_in_submit(&once), LAZY_QUEUED);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    CHECK_IS(atomic_load(&handed_in_dropped), 1);
    CHECK_IS(lazy_once_call(&once, handed_in, NULL), LAZY_E_CLOSED);
    return NULL;
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_capture(&once, &permit), LAZY_OK);
    waiter_start(&waiters[0], &once, wait_in_init);
    waiter_start(&waiters[1], &once, wait_in_run);
    waiter_start(&waiters[2], &once, wait_in_submit);
    for (int i = 0; i < 3; i++) waiter_asleep(&waiters[i]);
    join(start(worker, NULL));
    for (int i = 0; i < 3; i++) CHECK_IS(waiter_join(&waiters[i]), LAZY_E_CLOSED);
    return 0;
}

int main(void) {
    CHECK_IS(lazy_once_run(&once, initialize, NULL), LAZY_E_CLOSED);
    CHECK_IS(lazy_once_init(&once), LAZY_E_CLOSED);
    CHECK_IS(atomic_load(&handed_in_ran), 0);
    CHECK_IS(atomic_load(&handed_in_dropped), 1);
    return finish();
}
