// Guards against a receipt of the first decision: a submit that waits for somebody's attempt decides again when that fails.
// FRESH: it is queued, with a ticket that can be cancelled; sticky: it is refused with the error, neither run nor dropped.
#include "requests.h"

static stop attempt;
static int32_t initialize(void *ctx) {
    (void)ctx;
    return run_stop(&attempt);
}
static const lazy_config shares = { .size = sizeof(lazy_config), .name = "shares", .initialize = initialize };
static const lazy_config sticks = { .size = sizeof(lazy_config), .name = "sticks", .initialize = initialize,
                                    .on_failure = LAZY_FAIL_STICKY };
static lazy_once once = LAZY_ONCE_WITH(&shares), sticky = LAZY_ONCE_WITH(&sticks);
static job j[2];
static lazy_receipt receipts[2];
static int waiting_thread;

static void *fails(void *to) {
    CHECK_IS(lazy_once_init((lazy_once *)to), LAZY_E_INIT);
    return NULL;
}
static void *submits(void *to) {
    int number = to == &sticky;
    lazy_request request = request_for(&j[number]);
    receipts[number].size = sizeof receipts[number];
    SET(waiting_thread, thread_id());
    CHECK_IS(lazy_once_submit((lazy_once *)to, &request, &receipts[number]), number ? LAZY_E_INIT : LAZY_QUEUED);
    if (number) CHECK_IS(lazy_last_error()->code, 5);
    return NULL;
}
static void submit_and_fail(lazy_once *to) {
    attempt = (stop)STOP_INIT;
    attempt.result = 5;
    SET(waiting_thread, 0);
    pthread_t owner = start(fails, to);
    gate_wait(&attempt.reached);
    pthread_t waiter = start(submits, to);
    while (!COUNT(waiting_thread)) sched_yield();
    until_asleep(COUNT(waiting_thread));
    gate_open(&attempt.go_on);
    join(owner);
    join(waiter);
}

int main(void) {
    submit_and_fail(&once);
    CHECK_JOB(j[0], 0, 0);
    CHECK_IS(receipts[0].outcome, LAZY_OUTCOME_QUEUED);
    CHECK(receipts[0].ticket != 0);
    CHECK_IS(lazy_once_cancel(&once, receipts[0].ticket), LAZY_OK);
    CHECK_JOB(j[0], 0, 1);

    submit_and_fail(&sticky);
    CHECK_JOB(j[1], 0, 0);
    CHECK_IS(queued_in(&sticky), 0);
    return finish();
}
