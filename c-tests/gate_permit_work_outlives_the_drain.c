// Guards against an attempt that waits for what a worker runs under its permit, or a worker's request that is lost when
// the attempt ends meanwhile: by success, by failure and by close the initializing thread is back at once; the request
// goes on, and its status, outcome and drop are those of a request run in the drain.
#include "waiters.h"

enum { SUCCEEDS, FAILS, CLOSES, ENDINGS };
static lazy_once once;
static lazy_permit permit;
static gate running, go_on;
static int ending;
static atomic_int result, dropped;

static int32_t takes_long(void *ctx) {
    (void)ctx;
    CHECK(lazy_once_is_initializing(&once));
    gate_open(&running);
    gate_wait(&go_on);
    CHECK(!lazy_once_is_initializing(&once));
    CHECK_IS(lazy_once_is_initialized(&once), ending == SUCCEEDS);
    return atomic_load(&result);
}
static void drop(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&dropped, 1);
}
static void *worker(void *ctx) {
    (void)ctx;
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    request.fn = takes_long;
    request.drop = drop;
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    lazy_status status = lazy_once_submit(&once, &request, &receipt);
    CHECK_IS(status, atomic_load(&result) ? LAZY_E_CALLBACK : LAZY_OK);
    if (status < 0) CHECK_IS(lazy_last_error()->code, 5);
    CHECK_IS(receipt.outcome, LAZY_RAN_REENTRANT);
    CHECK_IS(atomic_load(&dropped), 1);
    CHECK_IS(lazy_permit_leave(&permit), LAZY_OK);
    return NULL;
}
static pthread_t thread;
static int32_t lends(void *ctx) {
    (void)ctx;
    if (atomic_load(&dropped)) return 0; /* the second time */
    CHECK_IS(lazy_permit_capture(&once, &permit), LAZY_OK);
    thread = start(worker, NULL);
    gate_wait(&running);
    if (ending == CLOSES) CHECK_IS(lazy_once_close(&once), LAZY_OK);
    return ending == FAILS ? 6 : 0;
}

int main(void) {
    static const lazy_status wanted[] = { LAZY_OK, LAZY_E_DEFERRED, LAZY_E_CLOSED };
    for (int i = 0; i < 2 * ENDINGS; i++) {
        ending = i / 2;
        once = (lazy_once)LAZY_ONCE_INIT;
        running = go_on = (gate)GATE_INIT;
        atomic_store(&result, i % 2 ? 5 : 0);
        atomic_store(&dropped, 0);
        CHECK_IS(lazy_once_call(&once, lends, NULL), LAZY_QUEUED);
        CHECK_IS(lazy_once_init(&once), wanted[ending]); /* the worker's request is still running */
        CHECK_IS(atomic_load(&dropped), 0);
        if (ending == FAILS) CHECK_IS(lazy_last_error()->code, 6);
        gate_open(&go_on);
        join(thread);
        if (ending == FAILS) CHECK_IS(lazy_once_init(&once), LAZY_OK);
        CHECK_IS(atomic_load(&dropped), 1);
    }
    return finish();
}
