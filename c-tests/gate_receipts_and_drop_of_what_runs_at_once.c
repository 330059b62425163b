// Guards against a receipt that is left unfilled, or a context that is not released, where a request does not go through the
// queue: it says which of the four outcomes it was, also with LAZY_E_CALLBACK, has a ticket only if it was queued, and `drop`
// is called once, before submit returns.
#include "requests.h"

static lazy_once once, started_empty;
static stop first = STOP_INIT;
static int waiting_thread;

/* A request with a ticket of -1 in its receipt, so that an unfilled one is seen. */
static void check_outcome(lazy_once *to, int failures, uint32_t outcome) {
    job j = { .failures = failures };
    lazy_request request = request_for(&j);
    lazy_receipt receipt = { sizeof receipt, UINT64_MAX, 77 };
    CHECK_IS(lazy_once_submit(to, &request, &receipt), failures ? LAZY_E_CALLBACK : LAZY_OK);
    CHECK_IS(receipt.outcome, outcome);
    CHECK_IS(receipt.ticket, 0);
    CHECK_JOB(j, 1, 1);
    if (failures) {
        const lazy_error *error = lazy_last_error();
        CHECK_IS(error->status, LAZY_E_CALLBACK);
        CHECK_IS(error->code, 7);
        CHECK_IS(error->ticket, 0);
        CHECK_HAS(error->message, "the job had no luck");
    }
    request = request_for(&j);
    j.failures = failures;
    CHECK_IS(lazy_once_submit(to, &request, NULL), failures ? LAZY_E_CALLBACK : LAZY_OK); /* without a receipt */
    CHECK_JOB(j, 2, 2);
}
static int32_t reenters(void *ctx) {
    (void)ctx;
    check_outcome(&once, 0, LAZY_RAN_REENTRANT);
    check_outcome(&once, 1, LAZY_RAN_REENTRANT);
    return 0; /* what failed inside is its own affair */
}
static job own = { 0 };
static int32_t queues_in_initializer(void *ctx) {
    queue_job((lazy_once *)ctx, &own); /* the native side is not up yet */
    CHECK_JOB(own, 0, 0);
    return 0;
}
static void *waits(void *failures) {
    lazy_request request;
    job j = { .failures = failures != NULL };
    lazy_receipt receipt = { sizeof receipt, UINT64_MAX, 77 };
    request = request_for(&j);
    SET(waiting_thread, thread_id());
    CHECK_IS(lazy_once_submit(&once, &request, &receipt), failures ? LAZY_E_CALLBACK : LAZY_OK);
    CHECK_IS(receipt.outcome, LAZY_RAN_AFTER_WAIT);
    CHECK_IS(receipt.ticket, 0);
    CHECK_JOB(j, 1, 1);
    return NULL;
}

int main(void) {
    static job queued[2];
    uint64_t tickets[2] = { queue_job(&once, &queued[0]), queue_job(&once, &queued[1]) };
    CHECK(tickets[0] != tickets[1]);
    lazy_request reentering = LAZY_REQUEST_INIT;
    reentering.fn = reenters;
    queue_request(&once, reentering);
    queue_stop(&once, &first, 0, 0);
    pthread_t threads[3] = { start(initializes, &once) };
    gate_wait(&first.reached);
    for (int i = 1; i < 3; i++) {
        SET(waiting_thread, 0);
        threads[i] = start(waits, i == 1 ? NULL : &once);
        while (!COUNT(waiting_thread)) sched_yield();
        until_asleep(COUNT(waiting_thread));
    }
    gate_open(&first.go_on);
    for (int i = 0; i < 3; i++) join(threads[i]);
    CHECK_JOB(queued[0], 1, 1);
    CHECK_JOB(queued[1], 1, 1);

    check_outcome(&once, 0, LAZY_RAN_READY);
    check_outcome(&once, 1, LAZY_RAN_READY);
    CHECK_IS(lazy_once_run(&started_empty, queues_in_initializer, &started_empty), LAZY_OK);
    CHECK_JOB(own, 1, 1);
    return finish();
}
