// needs: hooks
// Guards against a second look that takes "somebody initialized in between" for "it is ready": the attempt in between
// failed, so the callback must join the queue, and the next initialization must run it.
#include "second_look.h"

static atomic_int ran, attempts;
static int32_t initialize(void *ctx) {
    (void)ctx;
    return atomic_fetch_add(&attempts, 1) == 0 ? 5 : 0;
}
static const lazy_config config = { sizeof(lazy_config), "second look", initialize, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
static lazy_once once = LAZY_ONCE_WITH(&config);

static int32_t callback(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&ran, 1);
    return 0;
}
static void *thread_a(void *ctx) {
    (void)ctx;
    hold_this_thread();
    CHECK_IS(lazy_once_call(&once, callback, NULL), LAZY_QUEUED);
    return NULL;
}

int main(void) {
    pthread_t a = start(thread_a, NULL);
    gate_wait(&looked);
    CHECK_IS(lazy_once_init(&once), LAZY_E_INIT); /* this is thread B */
    gate_open(&go_on);
    join(a);
    CHECK_IS(atomic_load(&hook_calls), 1);
    CHECK_IS(atomic_load(&ran), 0);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(atomic_load(&ran), 1);
    return finish();
}
