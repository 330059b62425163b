// Guards against a hook of the host where there is nothing to wait for or to own: on READY, in calls that are queued (on
// FRESH, with NO_WAIT, under CONTENDED_QUEUE until its cut-off), inside the own attempt, in info, dump and the questions,
// and in a try that finds somebody else at it. After the cut-off a call under CONTENDED_QUEUE waits through the hooks.
#include "big_lock.h"
#include "callers.h"

static big_lock lock;
static lazy_once once;
static hold start_up = HOLD_INIT, last = HOLD_INIT;
static atomic_int ran;
static int null_device;

static void quiet_questions(lazy_status of_try) {
    lazy_info info = LAZY_INFO_INIT;
    int runs = COUNT(lock.runs), waits = COUNT(lock.waits);
    lazy_once_is_initialized(&once);
    lazy_once_is_initializing(&once);
    CHECK_IS(lazy_once_info(&once, &info), LAZY_OK);
    CHECK_IS(lazy_dump(null_device), LAZY_OK);
    CHECK_IS(lazy_once_cancel(&once, 1u << 30), LAZY_E_NOT_FOUND);
    CHECK_IS(lazy_once_cancel_owner(&once, &lock), 0);
    if (of_try != LAZY_QUEUED) CHECK_IS(lazy_once_init_timeout(&once, 0), of_try);
    CHECK_HOOKS(&lock, runs, waits);
}
static lazy_status queue_with(uint32_t flags) {
    lazy_request request = LAZY_REQUEST_INIT;
    int runs = COUNT(lock.runs), waits = COUNT(lock.waits);
    request.fn = count;
    request.ctx = &ran;
    request.flags = flags;
    lazy_status status = lazy_once_submit(&once, &request, NULL);
    CHECK_HOOKS(&lock, runs, waits);
    return status;
}
static lazy_status in_counted_call(void *ctx) {
    return lazy_once_call((lazy_once *)ctx, count, &ran);
}
static int32_t reenters(void *ctx) {
    (void)ctx;
    int runs = COUNT(lock.runs), before = atomic_load(&ran);
    CHECK_IS(lazy_once_init(&once), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_call(&once, count, &ran), LAZY_OK);
    CHECK_IS(LAZY_CALL(&once, count, &ran), LAZY_OK);
    CHECK_IS(atomic_load(&ran), before + 2);
    CHECK_IS(lazy_once_reset(&once), LAZY_IN_PROGRESS);
    quiet_questions(LAZY_IN_PROGRESS);
    CHECK_HOOKS(&lock, runs, COUNT(lock.waits));
    return 0;
}
static int32_t initialize(void *ctx) {
    int runs = COUNT(lock.runs), depth = big_let_go(&lock);
    CHECK_IS(lazy_once_init(&once), LAZY_IN_PROGRESS);
    CHECK_IS(queue_with(0), LAZY_QUEUED);
    quiet_questions(LAZY_IN_PROGRESS);
    CHECK_IS(COUNT(lock.runs), runs);
    int32_t result = held(ctx);
    big_take_back(&lock, depth);
    return result;
}
static int32_t stays_last(void *ctx) {
    int depth = big_let_go(&lock);
    int32_t result = held(ctx);
    big_take_back(&lock, depth);
    return result;
}

int main(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    caller owner, contended;
    null_device = open("/dev/null", O_WRONLY);
    big_begin(&lock, 0, "lock");
    config.initialize = initialize;
    config.ctx = &start_up;
    config.host = &lock.host;
    config.contended = LAZY_CONTENDED_QUEUE;
    once = (lazy_once)LAZY_ONCE_WITH(&config);

    quiet_questions(LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, count, &ran), LAZY_QUEUED);
    CHECK_IS(queue_with(LAZY_REQUEST_HOLD_HOST), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, reenters, NULL), LAZY_QUEUED);
    CHECK_HOOKS(&lock, 0, 0);

    begin(&owner, in_init, &once);
    gate_wait(&start_up.inside);
    CHECK_HOOKS(&lock, 1, 0);
    quiet_questions(LAZY_E_TIMEOUT);
    CHECK_IS(queue_with(LAZY_REQUEST_NO_WAIT), LAZY_QUEUED);
    CHECK_IS(queue_with(0), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, stays_last, &last), LAZY_QUEUED);
    gate_open(&start_up.go);

    gate_wait(&last.inside);
    CHECK_HOOKS(&lock, 1, 0);
    CHECK_IS(queue_with(LAZY_REQUEST_NO_WAIT), LAZY_QUEUED); /* the one that it runs was there when the drain began */
    gate_open(&last.go);
    CHECK_IS(ended(&owner), LAZY_OK);
    CHECK_IS(atomic_load(&ran), 8);
    CHECK_HOOKS(&lock, 1, 0);

    quiet_questions(LAZY_OK);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(LAZY_INIT(&once), LAZY_OK);
    CHECK_IS(lazy_once_run(&once, never, NULL), LAZY_OK);
    CHECK_IS(lazy_once_init_timeout(&once, 5), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, count, &ran), LAZY_OK);
    CHECK_IS(LAZY_CALL(&once, count, &ran), LAZY_OK);
    CHECK_IS(queue_with(LAZY_REQUEST_NO_WAIT), LAZY_OK);
    CHECK_HOOKS(&lock, 1, 0);
    CHECK_IS(LAZY_CALL_HELD(&once, count, &ran), LAZY_OK);
    CHECK_HOOKS(&lock, 2, 0);
    CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    CHECK_HOOKS(&lock, 2, 0);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);

    config.initialize = NULL; /* the cut-off: what was there when the drain began has run */
    hold first = HOLD_INIT, second = HOLD_INIT;
    once = (lazy_once)LAZY_ONCE_WITH(&config);
    CHECK_IS(lazy_once_call(&once, stays_last, &first), LAZY_QUEUED);
    begin(&owner, in_init, &once);
    gate_wait(&first.inside);
    CHECK_IS(lazy_once_call(&once, stays_last, &second), LAZY_QUEUED);
    gate_open(&first.go);
    gate_wait(&second.inside);
    CHECK_HOOKS(&lock, 3, 0);
    begin(&contended, in_counted_call, &once);
    until_waiting(&contended);
    CHECK_HOOKS(&lock, 4, 1);
    CHECK_IS(queue_with(LAZY_REQUEST_NO_WAIT), LAZY_E_NOT_NOW);
    big_refuses_me = 1;
    CHECK_IS(lazy_once_call(&once, never, NULL), LAZY_E_HOST);
    gate_open(&second.go);
    CHECK_IS(ended(&owner), LAZY_OK);
    CHECK_IS(ended(&contended), LAZY_OK);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    return finish();
}
