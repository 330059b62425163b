// Guards against a refusal of the host that owns, starts, queues, drops or loses something: every call that needs the host is
// LAZY_E_HOST with the host's code and name, whether nobody initializes yet or another thread does, and what was handed in
// is the caller's still; a call that is queued, or finds it ready, asks nobody. Another thread may succeed.
#include "big_lock.h"
#include "callers.h"

static big_lock lock;
static lazy_once once;
static hold start_up = HOLD_INIT;
static job early = { .letter = 'e' }, other = { .letter = 'o' };
static lazy_receipt receipt = LAZY_RECEIPT_INIT;

static int32_t initialize(void *ctx) {
    int depth = big_let_go(&lock);
    int32_t result = held(ctx);
    big_take_back(&lock, depth);
    return result;
}
static lazy_status submit_other(void) {
    lazy_request request = request_for(&other);
    return lazy_once_submit(&once, &request, &receipt);
}
static void check_refused(lazy_status status, int code) {
    const lazy_error *error = lazy_last_error();
    CHECK_IS(status, LAZY_E_HOST);
    CHECK_IS(error->status, LAZY_E_HOST);
    CHECK_IS(error->code, code);
    CHECK_HAS(error->message, "\"picky\"");
    CHECK(strcmp(error->once, "wanted") == 0);
    CHECK(!lazy_once_is_initializing(&once));
    CHECK_DEPTH(&lock, 0);
}
static void init_is_refused(int code) {
    check_refused(lazy_once_init(&once), code);
    check_refused(LAZY_INIT(&once), code);
    check_refused(lazy_once_init_timeout(&once, UINT64_MAX), code);
    check_refused(lazy_once_run(&once, never, NULL), code);
}

int main(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    caller owner;
    big_begin(&lock, 0, "picky");
    config.name = "wanted";
    config.initialize = initialize;
    config.ctx = &start_up;
    config.host = &lock.host;
    once = (lazy_once)LAZY_ONCE_WITH(&config);

    SET(lock.refuses, 5);
    queue_job(&once, &early);
    CHECK_HOOKS(&lock, 0, 0);
    init_is_refused(5);
    check_refused(lazy_once_init_timeout(&once, 0), 5);
    CHECK_IS(info_of(&once).phase, LAZY_FRESH);
    CHECK_IS(info_of(&once).attempts, 0);
    CHECK_IS(info_of(&once).queued, 1);
    CHECK_HOOKS(&lock, 5, 0);

    SET(lock.refuses, 0);
    begin(&owner, in_init, &once);
    gate_wait(&start_up.inside);
    big_refuses_me = -7;
    init_is_refused(-7);
    check_refused(lazy_once_call(&once, never, NULL), -7);
    check_refused(LAZY_CALL(&once, never, NULL), -7);
    check_refused(submit_other(), -7);
    check_refused(lazy_once_reset(&once), -7);
    CHECK_JOB(other, 0, 0);
    CHECK_IS(receipt.ticket, 0);
    CHECK_IS(receipt.outcome, 0);
    CHECK_IS(info_of(&once).phase, LAZY_INITIALIZING);
    CHECK_IS(info_of(&once).queued, 1);
    CHECK_IS(info_of(&once).waiters, 0);
    gate_open(&start_up.go);
    CHECK_IS(ended(&owner), LAZY_OK);

    CHECK_IS(atomic_load(&start_up.runs), 1);
    CHECK_JOB(early, 1, 1);
    CHECK_IS(lazy_once_init(&once), LAZY_OK); /* it refuses still */
    CHECK_IS(submit_other(), LAZY_OK);
    CHECK_JOB(other, 1, 1);
    return finish();
}
