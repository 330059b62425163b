// Guards against LAZY_CONTENDED_QUEUE that waits where it need not, or keeps a drain from ending: during another thread's
// attempt a call is queued, until the requests that were queued when the drain began have run; from then on it waits like the
// others, runs on its own thread when READY, is queued after a failure, and keeps to the time limit.
#include "requests.h"

static stop initializing, drained, past_cut_off;
static int32_t initialize(void *ctx) {
    (void)ctx;
    return run_stop(&initializing);
}
static const lazy_config config = { .size = sizeof(lazy_config), .name = "contended", .initialize = initialize,
                                    .contended = LAZY_CONTENDED_QUEUE };
static const lazy_config limited = { .size = sizeof(lazy_config), .name = "limited", .initialize = initialize,
                                     .contended = LAZY_CONTENDED_QUEUE, .timeout_ns = 1 };
static lazy_once *once;
static job early, during, waited;
static int waiter, ran_on;
static lazy_status wanted;

static int32_t remember_thread(void *ctx) {
    SET(ran_on, thread_id());
    return run_job(ctx);
}
static void *calls(void *ctx) {
    (void)ctx;
    lazy_request request = request_for(&waited);
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    request.fn = remember_thread;
    SET(waiter, thread_id());
    CHECK_IS(lazy_once_submit(once, &request, &receipt), wanted);
    if (wanted == LAZY_OK) CHECK_IS(receipt.outcome, LAZY_RAN_AFTER_WAIT);
    if (wanted == LAZY_OK) CHECK_IS(COUNT(ran_on), thread_id());
    if (wanted == LAZY_QUEUED) CHECK_IS(receipt.outcome, LAZY_OUTCOME_QUEUED);
    return NULL;
}
/* Runs one attempt that ends well or badly, with one call that comes after the cut-off. */
static void attempt(const lazy_config *config_of, int fails, lazy_status of_late_call) {
    lazy_once storage = LAZY_ONCE_WITH(config_of);
    once = &storage;
    initializing = drained = past_cut_off = (stop)STOP_INIT;
    early = during = waited = (job){ 0 };
    past_cut_off.result = fails;
    waiter = ran_on = 0;
    wanted = of_late_call;
    queue_stop(once, &drained, 0, 0);
    pthread_t owner = start(fails ? fails_deferred : initializes, once), late;
    gate_wait(&initializing.reached);
    CHECK_IS(lazy_once_call(once, run_job, &early), LAZY_QUEUED);
    gate_open(&initializing.go_on);
    gate_wait(&drained.reached);
    CHECK_IS(LAZY_CALL(once, run_job, &during), LAZY_QUEUED);
    queue_stop(once, &past_cut_off, LAZY_PHASE_LAST, 0);
    gate_open(&drained.go_on);
    gate_wait(&past_cut_off.reached);
    CHECK_JOB(early, 1, 0);
    CHECK_JOB(during, 1, 0);
    late = start(calls, NULL);
    if (wanted == LAZY_E_TIMEOUT) {
        join(late);
    } else {
        while (!COUNT(waiter)) sched_yield();
        until_asleep(COUNT(waiter));
    }
    CHECK_JOB(waited, 0, 0);
    gate_open(&past_cut_off.go_on);
    join(owner);
    if (wanted != LAZY_E_TIMEOUT) join(late);
    past_cut_off.result = 0;
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_JOB(waited, wanted >= 0, wanted >= 0);
    CHECK_IS(lazy_once_close(once), LAZY_OK);
}

int main(void) {
    attempt(&config, 0, LAZY_OK);
    attempt(&config, 1, LAZY_QUEUED);
    attempt(&limited, 0, LAZY_E_TIMEOUT);
    return finish();
}
