// flags: -fexceptions
// Guards against waiters that do not come back from what they waited to run: half of sixty-four leave their thread, by
// pthread_exit, in the callback that runs after the wait. Each callback runs once and is dropped once, and nobody who
// waits behind them is forgotten.
#include "waiters.h"

enum { WAITERS = 64, KINDS = 4 };
static lazy_once once;
static waiter waiters[WAITERS];
static atomic_int ran, dropped;
static char left;

static int32_t leaves(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&ran, 1);
    CHECK(lazy_once_is_initialized(&once));
    pthread_exit(&left);
}
static void drop(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&dropped, 1);
}
static lazy_status call(lazy_once *gate) {
    return lazy_once_call(gate, leaves, NULL);
}
static lazy_status submit(lazy_once *gate) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = leaves;
    request.drop = drop;
    return lazy_once_submit(gate, &request, NULL);
}
static lazy_status (*const kinds[KINDS])(lazy_once *) = { wait_in_init, call, submit, wait_in_submit };
static int32_t initialize(void *ctx) {
    (void)ctx;
    for (int i = 0; i < WAITERS; i++) waiter_start(&waiters[i], &once, kinds[i % KINDS]);
    for (int i = 0; i < WAITERS; i++) waiter_asleep(&waiters[i]);
    return 0;
}

int main(void) {
    CHECK_IS(lazy_once_run(&once, initialize, NULL), LAZY_OK);
    for (int i = 0; i < WAITERS; i++) {
        bool leaver = kinds[i % KINDS] == call || kinds[i % KINDS] == submit;
        CHECK(join(waiters[i].thread) == (leaver ? &left : NULL));
        CHECK_IS(atomic_load(&waiters[i].status), leaver ? STILL_WAITING : LAZY_OK);
    }
    CHECK_IS(atomic_load(&ran), WAITERS / 2);
    CHECK_IS(atomic_load(&dropped), WAITERS / 4);
    CHECK_IS(atomic_load(&handed_in_ran), WAITERS / 4);
    CHECK_IS(atomic_load(&handed_in_dropped), WAITERS / 4);
    CHECK_IS(wait_in_call(&once), LAZY_OK);
    return finish();
}
