// Guards against a request that is replaced while it runs, and then runs again over the newer one, or is released under its
// own feet: a request of the same key that arrives meanwhile is queued, leaves the running one its context, and runs once,
// after it; whether the older one succeeds or fails, it is dropped once.
#include "requests.h"

static lazy_once once;
static stop inside;
static job older, newer;

static int32_t run_older(void *ctx) {
    run_stop(&inside);
    CHECK_JOB(newer, 0, 0);
    CHECK_IS(COUNT(older.dropped), 0);
    return run_job(ctx);
}
static void check(int fails) {
    older = (job){ .letter = 'o', .failures = fails };
    newer = (job){ .letter = 'n' };
    inside = (stop)STOP_INIT;
    lazy_request request = request_for(&older);
    request.fn = run_older;
    request.key = 4;
    queue_request(&once, request);
    pthread_t thread = start(fails ? fails_deferred : initializes, &once);
    gate_wait(&inside.reached);
    request = request_for(&newer);
    request.key = 4;
    request.flags = LAZY_REQUEST_NO_WAIT;
    queue_request(&once, request);
    CHECK_JOB(older, 0, 0);
    gate_open(&inside.go_on);
    join(thread);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_TRAIL("on"); /* the older one does not come back over the newer one */
    CHECK_JOB(older, 1, 1);
    CHECK_JOB(newer, 1, 1);
    CHECK_IS(lazy_once_reset(&once), LAZY_OK);
}

int main(void) {
    check(0);
    check(1);
    return finish();
}
