// Guards against a worker that waits for the very thread that joins it: under a permit a cancel of the request that the
// attempt is running returns LAZY_IN_PROGRESS, cancel_owner counts what it withdrew and does not wait, and reset is
// LAZY_IN_PROGRESS. A stranger's cancel waits for the request and its drop.
#include "waiters.h"

static lazy_once once;
static lazy_permit permit;
static lazy_receipt running = LAZY_RECEIPT_INIT, queued = LAZY_RECEIPT_INIT;
static int owner_tag;
static atomic_int dropped;
static waiter stranger;

static void drop(void *ctx) {
    (void)ctx;
    if (atomic_fetch_add(&dropped, 1) == 2) CHECK_IS(atomic_load(&stranger.status), STILL_WAITING);
}
static int32_t never(void *ctx) {
    (void)ctx;
    CHECK(!"it was withdrawn");
    return 0;
}
static void submit(lazy_fn fn, lazy_receipt *receipt) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = fn;
    request.drop = drop;
    request.owner = &owner_tag;
    CHECK_IS(lazy_once_submit(&once, &request, receipt), LAZY_QUEUED);
}
static void *worker(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    CHECK_IS(lazy_once_cancel(&once, running.ticket), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_cancel(&once, queued.ticket), LAZY_OK);
    CHECK_IS(lazy_once_cancel(&once, queued.ticket), LAZY_E_NOT_FOUND);
    CHECK_IS(atomic_load(&dropped), 1);
    CHECK_IS(lazy_once_cancel_owner(&once, &owner_tag), 1);
    CHECK_IS(atomic_load(&dropped), 2);
    CHECK_IS(lazy_once_reset(&once), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_permit_leave(&permit), LAZY_OK);
    return NULL;
}
static lazy_status wait_in_cancel(lazy_once *gate) {
    return lazy_once_cancel(gate, running.ticket);
}
static int32_t runs(void *ctx) {
    (void)ctx;
    waiter_start(&stranger, &once, wait_in_cancel);
    waiter_asleep(&stranger);
    join(start(worker, NULL));
    CHECK_IS(atomic_load(&stranger.status), STILL_WAITING);
    return 0;
}
static void *queues_and_withdraws(void *ctx) {
    (void)ctx;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    submit(never, &receipt);
    CHECK_IS(lazy_once_cancel(&once, receipt.ticket), LAZY_OK);
    CHECK_IS(lazy_once_reset(&once), LAZY_IN_PROGRESS);
    atomic_store(&dropped, 0);
    return NULL; /* with the permit: the end of the thread is the end of its right */
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_capture(&once, &permit), LAZY_OK);
    join(start(queues_and_withdraws, NULL));
    return 0;
}

int main(void) {
    submit(runs, &running);
    submit(never, &queued);
    submit(never, NULL);
    CHECK_IS(lazy_once_run(&once, initialize, NULL), LAZY_OK);
    CHECK_IS(waiter_join(&stranger), LAZY_E_NOT_FOUND);
    CHECK_IS(atomic_load(&dropped), 3);
    return finish();
}
