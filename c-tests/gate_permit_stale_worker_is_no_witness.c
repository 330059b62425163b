// Guards against a worker of an attempt that failed who still counts for the next one: it neither keeps the next attempt of a
// from being stuck, so that a certain circle is missed, nor stands in for it.
#include "waiters.h"

static lazy_once a, b;
static lazy_permit permit;
static gate entered = GATE_INIT, let_go = GATE_INIT, a_owned = GATE_INIT, b_owned = GATE_INIT;
static waiter first, second;

static void *stale(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    gate_open(&entered);
    gate_wait(&let_go); /* free all the time, and under the permit of an attempt that is over */
    return NULL;
}
static pthread_t worker;
static int32_t lends_and_fails(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_capture(&a, &permit), LAZY_OK);
    worker = start(stale, NULL);
    gate_wait(&entered);
    return 1;
}
static int32_t needs_b(void *ctx) {
    (void)ctx;
    gate_open(&a_owned);
    gate_wait(&b_owned);
    atomic_store(&first.id, thread_id());
    CHECK_IS(lazy_once_init(&b), LAZY_OK);
    return 0;
}
static int32_t needs_a(void *ctx) {
    (void)ctx;
    gate_open(&b_owned);
    gate_wait(&a_owned);
    waiter_asleep(&first);
    CHECK_IS(lazy_once_init(&a), LAZY_E_DEADLOCK);
    return 0;
}
static lazy_status start_a(lazy_once *once) {
    return lazy_once_run(once, needs_b, NULL);
}
static lazy_status start_b(lazy_once *once) {
    return lazy_once_run(once, needs_a, NULL);
}

int main(void) {
    CHECK_IS(lazy_once_run(&a, lends_and_fails, NULL), LAZY_E_INIT);
    waiter_start(&second, &b, start_b);
    gate_wait(&b_owned);
    waiter_start(&first, &a, start_a);
    CHECK_IS(waiter_join(&first), LAZY_OK);
    CHECK_IS(waiter_join(&second), LAZY_OK);
    gate_open(&let_go);
    join(worker);
    return finish();
}
