// Guards against LAZY_REQUEST_NO_WAIT that waits, or is lost: during another thread's attempt it is queued and runs in that
// drain, before READY; once the requests that were queued when the drain began have run it is refused with LAZY_E_NOT_NOW, and
// is not taken; inside the drain it runs at once, and so it does on READY. The next attempt takes it again.
#include "requests.h"

static stop initializing = STOP_INIT, queued_before = STOP_INIT, last_one = STOP_INIT, second_drain = STOP_INIT;
static int32_t initialize(void *ctx) {
    (void)ctx;
    return run_stop(&initializing);
}
static const lazy_config config = { .size = sizeof(lazy_config), .name = "no wait", .initialize = initialize };
static lazy_once once = LAZY_ONCE_WITH(&config);
static job fresh, early, during, refused, inline_one, after_failure, in_second, now;

static lazy_status submit(job *j, uint32_t outcome) {
    lazy_request request = request_for(j);
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    request.flags = LAZY_REQUEST_NO_WAIT;
    errno = 42;
    lazy_status status = lazy_once_submit(&once, &request, &receipt);
    CHECK_IS(errno, 42);
    if (status >= 0) CHECK_IS(receipt.outcome, outcome);
    CHECK_IS(receipt.ticket != 0, outcome == LAZY_OUTCOME_QUEUED && status >= 0);
    return status;
}
static int32_t late(void *ctx) {
    (void)ctx;
    CHECK_IS(submit(&inline_one, LAZY_RAN_REENTRANT), LAZY_OK); /* past the cut-off, on the initializing thread */
    CHECK_JOB(inline_one, 1, 1);
    run_stop(&last_one);
    return last_one.result;
}

int main(void) {
    CHECK_IS(submit(&fresh, LAZY_OUTCOME_QUEUED), LAZY_QUEUED);
    queue_stop(&once, &queued_before, 0, 0);
    pthread_t thread = start(fails_deferred, &once);
    gate_wait(&initializing.reached);
    CHECK_IS(submit(&early, LAZY_OUTCOME_QUEUED), LAZY_QUEUED);
    gate_open(&initializing.go_on);
    gate_wait(&queued_before.reached);
    CHECK_JOB(fresh, 1, 1);
    CHECK_IS(submit(&during, LAZY_OUTCOME_QUEUED), LAZY_QUEUED);
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = late;
    request.flags = LAZY_REQUEST_NO_WAIT;
    last_one.result = 1; /* fails the attempt */
    queue_request(&once, request);
    gate_open(&queued_before.go_on);
    gate_wait(&last_one.reached);
    CHECK_JOB(early, 1, 1);
    CHECK_JOB(during, 1, 1);
    for (int i = 0; i < 3; i++) {
        CHECK_IS(submit(&refused, LAZY_OUTCOME_QUEUED), LAZY_E_NOT_NOW);
        CHECK_IS(lazy_last_error()->status, LAZY_E_NOT_NOW);
        CHECK_HAS(lazy_last_error()->message, "\"no wait\"");
    }
    gate_open(&last_one.go_on);
    join(thread);
    CHECK_IS(queued_in(&once), 1);

    last_one = (stop)STOP_INIT;
    CHECK_IS(submit(&after_failure, LAZY_OUTCOME_QUEUED), LAZY_QUEUED); /* nobody's attempt */
    queue_stop(&once, &second_drain, 0, 0);
    gate_open(&last_one.go_on);
    inline_one = (job){ 0 };
    thread = start(initializes, &once);
    gate_wait(&second_drain.reached);
    CHECK_JOB(after_failure, 1, 1);
    CHECK_IS(submit(&in_second, LAZY_OUTCOME_QUEUED), LAZY_QUEUED);
    gate_open(&second_drain.go_on);
    join(thread);
    CHECK_JOB(in_second, 1, 1);
    CHECK_IS(submit(&now, LAZY_RAN_READY), LAZY_OK);
    CHECK_JOB(now, 1, 1);
    CHECK_JOB(refused, 0, 0);
    return finish();
}
