// Guards against a worker that is not joined and keeps its right after the attempt's end: it then counts as anybody. Its
// calls run as on any READY once; after a failure they queue, wait for a later attempt like a stranger's, and the worker
// may itself own the next attempt, which its late leave does not touch.
#include "waiters.h"

static lazy_once once;
static lazy_permit permit;
static gate entered, ended, again;
static atomic_int ran_on;
static waiter second;

static int32_t here(void *ctx) {
    (void)ctx;
    atomic_store(&ran_on, thread_id());
    return 0;
}
static uint32_t submit(lazy_status status) {
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    request.fn = here;
    CHECK_IS(lazy_once_submit(&once, &request, &receipt), status);
    return receipt.outcome;
}
static void *outlives_ready(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    gate_open(&entered);
    gate_wait(&ended);
    CHECK(!lazy_once_is_initializing(&once) && lazy_once_is_initialized(&once));
    CHECK_IS(submit(LAZY_OK), LAZY_RAN_READY);
    CHECK_IS(atomic_load(&ran_on), thread_id());
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(lazy_permit_leave(&permit), LAZY_OK);
    CHECK_IS(lazy_permit_leave(&permit), LAZY_E_NOT_FOUND);
    return NULL;
}
static int32_t owned_by_worker(void *ctx) {
    (void)ctx;
    CHECK(lazy_once_is_initializing(&once));
    CHECK_IS(lazy_permit_leave(&permit), LAZY_OK); /* the old attempt's */
    CHECK_IS(lazy_permit_leave(&permit), LAZY_E_NOT_FOUND);
    CHECK(lazy_once_is_initializing(&once));
    CHECK_IS(lazy_once_init(&once), LAZY_IN_PROGRESS);
    return 5;
}
static void *outlives_failure(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    gate_open(&entered);
    gate_wait(&ended);
    CHECK(!lazy_once_is_initializing(&once));
    CHECK_IS(submit(LAZY_QUEUED), LAZY_OUTCOME_QUEUED);
    CHECK_IS(lazy_once_run(&once, owned_by_worker, NULL), LAZY_E_INIT);
    CHECK(!lazy_once_is_initializing(&once));
    gate_open(&again);
    return NULL;
}
static void *sits_out_next(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    gate_open(&entered);
    gate_wait(&ended); /* another attempt runs now */
    CHECK(!lazy_once_is_initializing(&once));
    CHECK_IS(lazy_once_init_timeout(&once, 0), LAZY_E_TIMEOUT);
    atomic_store(&second.id, thread_id());
    CHECK_IS(submit(LAZY_OK), LAZY_RAN_AFTER_WAIT);
    CHECK_IS(lazy_permit_leave(&permit), LAZY_OK);
    return NULL;
}
static pthread_t thread;
static void *(*worker)(void *);
static int32_t lends(void *fails) {
    CHECK_IS(lazy_permit_capture(&once, &permit), LAZY_OK);
    thread = start(worker, NULL);
    gate_wait(&entered); /* and does not join it */
    return fails ? 1 : 0;
}
static int32_t waits_for_worker(void *ctx) {
    (void)ctx;
    gate_open(&ended);
    waiter_asleep(&second);
    return 0;
}
static void lend(void *(*to)(void *), lazy_status status) {
    memset(&once, 0, sizeof once);
    entered = ended = again = (gate)GATE_INIT;
    worker = to;
    CHECK_IS(lazy_once_run(&once, lends, status < 0 ? &once : NULL), status);
}

int main(void) {
    lend(outlives_ready, LAZY_OK);
    gate_open(&ended);
    join(thread);

    lend(outlives_failure, LAZY_E_INIT);
    gate_open(&ended);
    gate_wait(&again);
    join(thread);
    atomic_store(&ran_on, 0);
    CHECK_IS(lazy_once_run(&once, own_initializer, NULL), LAZY_OK);
    CHECK_IS(atomic_load(&ran_on), thread_id()); /* what the worker queued */

    lend(sits_out_next, LAZY_E_INIT);
    CHECK_IS(lazy_once_run(&once, waits_for_worker, NULL), LAZY_OK);
    join(thread);
    return finish();
}
