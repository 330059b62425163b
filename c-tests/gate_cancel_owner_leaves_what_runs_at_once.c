// Guards against a cancel_owner that waits for what is not its affair: a request of that owner that another thread runs at
// once, on READY or inside the drain, or waits to run, is its submitter's to account for; it returns 0 at once, and those
// requests run.
#include "requests.h"

static lazy_once once;
static char owner;
static stop at_once = STOP_INIT, inside = STOP_INIT;
static job waited;
static int waiter;

static lazy_request owned(lazy_fn fn, void *ctx) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = fn;
    request.ctx = ctx;
    request.owner = &owner;
    return request;
}
static int32_t submits_inside(void *ctx) {
    lazy_request request = owned(run_stop, ctx);
    return lazy_once_submit(&once, &request, NULL);
}
static void *waits(void *ctx) {
    (void)ctx;
    lazy_request request = owned(run_job, &waited);
    SET(waiter, thread_id());
    CHECK_IS(lazy_once_submit(&once, &request, NULL), LAZY_OK);
    return NULL;
}
static void *runs_at_once(void *ctx) {
    lazy_request request = owned(run_stop, ctx);
    CHECK_IS(lazy_once_submit(&once, &request, NULL), LAZY_OK);
    return NULL;
}

int main(void) {
    CHECK_IS(lazy_once_call(&once, submits_inside, &inside), LAZY_QUEUED);
    pthread_t drain = start(initializes, &once);
    gate_wait(&inside.reached);
    pthread_t second = start(waits, NULL);
    while (!COUNT(waiter)) sched_yield();
    until_asleep(COUNT(waiter));
    CHECK_IS(lazy_once_cancel_owner(&once, &owner), 0);
    gate_open(&inside.go_on);
    join(drain);
    join(second);
    CHECK_JOB(waited, 1, 0);

    second = start(runs_at_once, &at_once);
    gate_wait(&at_once.reached);
    CHECK_IS(lazy_once_cancel_owner(&once, &owner), 0);
    gate_open(&at_once.go_on);
    join(second);
    return finish();
}
