// Guards against a prepare that runs too often or not again: before each attempt until the initializer has succeeded,
// not when only the drain is left, not once ready, again after a reset; and not by a thread that goes to wait.
#include "callers.h"

static hold start_up = HOLD_INIT;
static atomic_int prepared, preparing_thread, request_fails;

static int32_t prepare(void *ctx) {
    (void)ctx;
    atomic_store(&preparing_thread, thread_id());
    return count(&prepared);
}
static int32_t fails_while(void *flag) { return atomic_load((atomic_int *)flag); }

static void check(int times, int runs) {
    CHECK_IS(atomic_load(&prepared), times);
    CHECK_IS(atomic_load(&start_up.runs), runs);
}

int main(void) {
    static lazy_once once, retried;
    lazy_config config = LAZY_CONFIG_INIT;
    caller owner, waiters[4];
    config.name = "prepared";
    config.prepare = prepare;
    config.initialize = held;
    config.ctx = &start_up;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, fails_while, &request_fails), LAZY_QUEUED);
    check(0, 0); /* a call does not prepare */
    begin(&owner, in_init, &once);
    gate_wait(&start_up.inside);
    check(1, 1);
    begin(&waiters[0], in_init, &once);
    begin(&waiters[1], in_run, &once);
    begin(&waiters[2], in_unlimited_init, &once);
    begin(&waiters[3], in_reset, &once);
    for (int i = 0; i < 4; i++) until_waiting(&waiters[i]);
    CHECK_IS(lazy_once_init_timeout(&once, 0), LAZY_E_TIMEOUT);
    check(1, 1);
    atomic_store(&start_up.code, 5);
    gate_open(&start_up.go);
    CHECK_IS(ended(&owner), LAZY_E_INIT);
    for (int i = 0; i < 3; i++) CHECK_IS(ended(&waiters[i]), LAZY_E_INIT);
    CHECK_IS(ended(&waiters[3]), LAZY_OK);
    check(1, 1);

    CHECK_IS(lazy_once_init(&once), LAZY_E_INIT); /* the next attempt */
    check(2, 2);
    atomic_store(&start_up.code, 0);
    atomic_store(&request_fails, 1);
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    check(3, 3);
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED); /* only the drain is left */
    CHECK_IS(lazy_once_run(&once, never, NULL), LAZY_E_DEFERRED);
    check(3, 3);
    atomic_store(&request_fails, 0);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    check(3, 3);
    CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    check(4, 4);
    CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    CHECK_IS(lazy_once_run(&once, count, &request_fails), LAZY_OK); /* in place of the initializer, not of prepare */
    check(5, 4);

    /* Whoever takes a turn of its own prepares for it. */
    static hold again = HOLD_INIT;
    config.ctx = &again;
    config.on_failure = LAZY_FAIL_RETRY;
    CHECK_IS(lazy_once_configure(&retried, &config), LAZY_OK);
    atomic_store(&prepared, 0);
    atomic_store(&again.code, 6);
    begin(&owner, in_init, &retried);
    gate_wait(&again.inside);
    begin(&waiters[0], in_init, &retried);
    until_waiting(&waiters[0]);
    CHECK_IS(atomic_load(&preparing_thread), atomic_load(&owner.id));
    gate_open(&again.go);
    CHECK_IS(ended(&owner), LAZY_E_INIT);
    CHECK_IS(ended(&waiters[0]), LAZY_E_INIT);
    CHECK_IS(waiters[0].error.attempt, 2);
    CHECK_IS(atomic_load(&prepared), 2);
    CHECK_IS(atomic_load(&preparing_thread), atomic_load(&waiters[0].id));
    return finish();
}
