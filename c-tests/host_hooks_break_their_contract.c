// Guards against hooks that do not do their part and go unnoticed, or do harm: run_attached that never calls back, calls
// twice, or fails after it called, and wait_detached likewise: LAZY_E_HOST with a text. What ran, ran once; READY stays; a
// request that ran keeps its own status and is dropped, and the fault is the last error; one that did not run is not taken.
#include "big_lock.h"
#include "callers.h"

static big_lock lock;
static lazy_once once;
static hold start_up;
static int drained;
static const char *const texts[] = { NULL, "without calling back", "more than once", "then returned 31" };

static int32_t drains(void *ctx) {
    (void)ctx;
    ADD(drained, 1);
    return 0;
}
static int32_t initialize(void *ctx) {
    if (ctx) {
        int depth = big_let_go(&lock);
        held(&start_up);
        big_take_back(&lock, depth);
    } else {
        atomic_fetch_add(&start_up.runs, 1);
    }
    return atomic_load(&start_up.code);
}
static void check_fault(big_fault fault) {
    const lazy_error *error = lazy_last_error();
    CHECK_IS(error->status, LAZY_E_HOST);
    CHECK_HAS(error->message, texts[fault]);
    CHECK_HAS(error->message, "\"careless\"");
    CHECK_IS(error->code, fault == FAILS_AFTER ? FAULT_CODE : 0);
    CHECK_DEPTH(&lock, 0);
}
static void of_init(lazy_config *config, big_fault fault, int code) {
    once = (lazy_once)LAZY_ONCE_WITH(config);
    start_up = (hold)HOLD_INIT;
    atomic_store(&start_up.code, code);
    SET(drained, 0);
    CHECK_IS(lazy_once_call(&once, drains, NULL), LAZY_QUEUED);
    SET(lock.run_fault, fault);
    CHECK_IS(lazy_once_init(&once), LAZY_E_HOST);
    check_fault(fault);
    bool is_ready = fault != NEVER_CALLS && !code;
    CHECK_IS(lazy_once_is_initialized(&once), is_ready);
    CHECK(!lazy_once_is_initializing(&once));
    CHECK_IS(atomic_load(&start_up.runs), fault != NEVER_CALLS);
    CHECK_IS(COUNT(drained), is_ready);
    if (code && fault != NEVER_CALLS) { /* which is not forgotten */
        CHECK(lazy_last_error()->cause != NULL);
        CHECK_IS(lazy_last_error()->cause->status, LAZY_E_INIT);
        CHECK_IS(lazy_last_error()->cause->code, code);
    }
    SET(lock.run_fault, KEEPS_IT);
    atomic_store(&start_up.code, 0);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(COUNT(drained), 1);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
}
static void of_request(big_fault fault, int failures, bool is_inside) {
    job mine = { .failures = failures };
    lazy_request request = request_for(&mine);
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    request.flags = LAZY_REQUEST_HOLD_HOST;
    SET(lock.run_fault, fault);
    lazy_status status = lazy_once_submit(&once, &request, &receipt);
    SET(lock.run_fault, KEEPS_IT);
    const lazy_error *error = lazy_last_error();
    CHECK(error != NULL);
    CHECK_HAS(error->message, texts[fault]);
    CHECK_IS(error->status, LAZY_E_HOST);
    if (fault == NEVER_CALLS) {
        CHECK_IS(status, LAZY_E_HOST);
        CHECK_JOB(mine, 0, 0);
        CHECK_IS(receipt.outcome, 0);
        return;
    }
    CHECK_IS(status, failures ? LAZY_E_CALLBACK : LAZY_OK);
    CHECK_JOB(mine, 1, 1);
    CHECK_IS(receipt.outcome, is_inside ? LAZY_RAN_REENTRANT : LAZY_RAN_READY);
}
static int32_t submits(void *ctx) {
    (void)ctx;
    for (int fault = NEVER_CALLS; fault <= FAILS_AFTER; fault++)
        for (int failures = 0; failures < 2; failures++) of_request((big_fault)fault, failures, true);
    return 0;
}
static job waiting;
static lazy_status in_job(void *ctx) {
    lazy_request request = request_for(&waiting);
    return lazy_once_submit((lazy_once *)ctx, &request, NULL);
}
static lazy_status (*const ways[])(void *) = { in_init, in_unlimited_init, in_run, in_job, in_reset };
static void of_wait(lazy_config *config, big_fault fault) {
    enum { ALL = sizeof ways / sizeof *ways };
    caller owner, waiters[ALL];
    once = (lazy_once)LAZY_ONCE_WITH(config);
    start_up = (hold)HOLD_INIT;
    begin(&owner, in_init, &once);
    gate_wait(&start_up.inside);
    for (int i = 0; i < ALL; i++) {
        SET(*(fault == FAILS_AFTER ? &lock.run_fault : &lock.wait_fault), fault);
        begin(&waiters[i], ways[i], &once);
        if (fault == NEVER_CALLS) {
            CHECK_IS(ended(&waiters[i]), LAZY_E_HOST);
        } else {
            until_waiting(&waiters[i]);
            big_until_parked(&lock, i + 1);
        }
    }
    gate_open(&start_up.go);
    lazy_status status = ended(&owner);
    CHECK_IS(status, fault == FAILS_AFTER ? LAZY_E_HOST : LAZY_OK);
    for (int i = 0; i < ALL; i++) {
        if (fault != NEVER_CALLS) CHECK_IS(ended(&waiters[i]), LAZY_E_HOST);
        CHECK_HAS(waiters[i].message, texts[fault]);
    }
    CHECK_JOB(waiting, 0, 0);
    CHECK(lazy_once_is_initialized(&once)); /* the reset was one of them */
    SET(lock.run_fault, KEEPS_IT);
    SET(lock.wait_fault, KEEPS_IT);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
}

int main(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    big_begin(&lock, 0, "careless");
    config.initialize = initialize;
    config.host = &lock.host;
    for (int fault = NEVER_CALLS; fault <= FAILS_AFTER; fault++)
        for (int code = 0; code < 2; code++) of_init(&config, (big_fault)fault, 7 * code);
    once = (lazy_once)LAZY_ONCE_WITH(&config);
    start_up = (hold)HOLD_INIT;
    CHECK_IS(lazy_once_call(&once, submits, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    for (int fault = NEVER_CALLS; fault <= FAILS_AFTER; fault++)
        for (int failures = 0; failures < 2; failures++) of_request((big_fault)fault, failures, false);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    config.ctx = &start_up;
    for (int fault = NEVER_CALLS; fault <= FAILS_AFTER; fault++) of_wait(&config, (big_fault)fault);
    return finish();
}
