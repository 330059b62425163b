// Guards against a request with LAZY_REQUEST_HOLD_HOST that runs without the host lock on one of its paths: queued, on READY,
// inside the drain and after a wait; and against one that a refusing host lets run, drops or queues: it is LAZY_E_HOST, not
// taken. Its failure is LAZY_E_CALLBACK, and the caller's lock is as before.
#include "big_lock.h"
#include "callers.h"

static big_lock lock;
static lazy_once once;
static hold start_up = HOLD_INIT;
static int ran, dropped;

static int32_t needs_the_lock(void *code) {
    CHECK(*big_depth(&lock) > 0);
    ADD(ran, 1);
    big_yield(&lock);
    return code ? lazy_fail(*(int *)code, "it needs more than that") : 0;
}
static void drop(void *ctx) {
    (void)ctx;
    ADD(dropped, 1);
}
static lazy_status submit(void *code, lazy_receipt *receipt) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = needs_the_lock;
    request.ctx = code;
    request.drop = drop;
    request.flags = LAZY_REQUEST_HOLD_HOST;
    int depth = *big_depth(&lock);
    lazy_status status = lazy_once_submit(&once, &request, receipt);
    CHECK_DEPTH(&lock, depth);
    return status;
}
static void runs_at_once(uint32_t outcome) {
    int seventeen = 17, runs = COUNT(ran), drops = COUNT(dropped);
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    CHECK_IS(submit(NULL, &receipt), LAZY_OK);
    CHECK_IS(receipt.outcome, outcome);
    CHECK_IS(receipt.ticket, 0);
    CHECK_IS(submit(&seventeen, &receipt), LAZY_E_CALLBACK);
    CHECK_IS(receipt.outcome, outcome);
    CHECK_IS(lazy_last_error()->code, 17);
    CHECK_HAS(lazy_last_error()->message, "it needs more than that");
    CHECK_IS(COUNT(ran), runs + 2);
    CHECK_IS(COUNT(dropped), drops + 2);

    lazy_receipt untouched = LAZY_RECEIPT_INIT;
    big_refuses_me = 9;
    CHECK_IS(submit(NULL, &untouched), LAZY_E_HOST);
    CHECK_IS(lazy_last_error()->code, 9);
    CHECK_IS(LAZY_CALL_HELD(&once, needs_the_lock, NULL), LAZY_E_HOST);
    big_refuses_me = 0;
    CHECK_IS(untouched.outcome, 0);
    CHECK_IS(COUNT(ran), runs + 2);
    CHECK_IS(COUNT(dropped), drops + 2);
    CHECK_IS(LAZY_CALL_HELD(&once, needs_the_lock, NULL), LAZY_OK);
    CHECK_IS(COUNT(ran), runs + 3);
}
static int32_t drains(void *ctx) {
    (void)ctx;
    runs_at_once(LAZY_RAN_REENTRANT);
    int depth = big_let_go(&lock);
    runs_at_once(LAZY_RAN_REENTRANT);
    big_take_back(&lock, depth);
    return 0;
}
static int32_t initialize(void *ctx) {
    int depth = big_let_go(&lock);
    int32_t result = held(ctx);
    big_take_back(&lock, depth);
    return result;
}
static int outcome_after_wait;
static lazy_status after_wait(void *holds) {
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    if (holds) big_take(&lock);
    lazy_status status = submit(NULL, &receipt);
    ADD(outcome_after_wait, receipt.outcome == LAZY_RAN_AFTER_WAIT);
    if (holds) big_give(&lock);
    return status;
}
/* Refused when the wait is over. */
static int32_t fickle(void *ctx, void (*body)(void *arg), void *arg) {
    int32_t result = big_run(ctx, body, arg);
    big_refuses_me = 6;
    return result;
}

int main(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    caller owner, waiters[2], refused;
    big_begin(&lock, 0, "lock");
    config.initialize = initialize;
    config.ctx = &start_up;
    config.host = &lock.host;
    once = (lazy_once)LAZY_ONCE_WITH(&config);
    CHECK_IS(submit(NULL, &receipt), LAZY_QUEUED);
    CHECK_IS(receipt.outcome, LAZY_OUTCOME_QUEUED);
    CHECK_IS(lazy_once_call(&once, drains, NULL), LAZY_QUEUED);
    begin(&owner, in_init, &once);
    gate_wait(&start_up.inside);
    for (int i = 0; i < 2; i++) {
        begin(&waiters[i], after_wait, i ? &lock : NULL);
        until_waiting(&waiters[i]);
    }
    gate_open(&start_up.go);
    CHECK_IS(ended(&owner), LAZY_OK);
    for (int i = 0; i < 2; i++) CHECK_IS(ended(&waiters[i]), LAZY_OK);
    CHECK_IS(COUNT(outcome_after_wait), 2);
    CHECK_IS(COUNT(ran), 1 + 2 * 3 + 2);
    CHECK_IS(COUNT(dropped), 1 + 2 * 2 + 2);
    for (int depth = 0; depth < 3; depth++) {
        runs_at_once(LAZY_RAN_READY);
        big_take(&lock);
    }
    while (*big_depth(&lock)) big_give(&lock);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);

    start_up = (hold)HOLD_INIT;
    once = (lazy_once)LAZY_ONCE_WITH(&config);
    begin(&owner, in_init, &once);
    gate_wait(&start_up.inside);
    lock.host.run_attached = fickle;
    int runs = COUNT(ran), drops = COUNT(dropped);
    SET(outcome_after_wait, 0);
    begin(&refused, after_wait, NULL);
    until_waiting(&refused);
    gate_open(&start_up.go);
    CHECK_IS(ended(&owner), LAZY_OK);
    CHECK_IS(ended(&refused), LAZY_E_HOST);
    CHECK_IS(refused.error.code, 6);
    CHECK_IS(COUNT(ran), runs);
    CHECK_IS(COUNT(dropped), drops);
    CHECK_IS(COUNT(outcome_after_wait), 0);
    return finish();
}
