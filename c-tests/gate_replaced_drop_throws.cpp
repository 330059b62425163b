// Guards against an exception out of a replaced request's `drop` that leaves the submitter in the dark: the new request has been
// queued or has run by then, its receipt is filled, and its own `drop` runs once.
#include "check.h"

static lazy_once queued, nested;
static int ran[4], dropped[4];
static int32_t run(void *ctx) {
    ran[(long)ctx]++;
    return 0;
}
static void drop(void *ctx) {
    dropped[(long)ctx]++;
    if ((long)ctx == 1) throw 5;
}
static lazy_status submit(lazy_once *once, long number, int32_t phase, lazy_receipt *receipt) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = run;
    request.drop = drop;
    request.ctx = (void *)number;
    request.key = 7;
    request.phase = phase;
    return lazy_once_submit(once, &request, receipt);
}
static lazy_receipt thrown(lazy_once *once, long number) {
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    bool caught = false;
    try {
        submit(once, number, 0, &receipt);
    } catch (int) {
        caught = true;
    }
    CHECK(caught);
    return receipt;
}
static int32_t replaces(void *) {
    lazy_receipt receipt = thrown(&nested, 3);
    CHECK_IS(receipt.outcome, LAZY_RAN_REENTRANT);
    CHECK_IS(ran[3], 1);
    CHECK_IS(dropped[3], 1);
    return 0;
}

int main(void) {
    CHECK_IS(submit(&queued, 1, 0, NULL), LAZY_QUEUED);
    lazy_receipt receipt = thrown(&queued, 2);
    CHECK_IS(receipt.outcome, LAZY_OUTCOME_QUEUED);
    CHECK(receipt.ticket != 0);
    CHECK_IS(lazy_once_init(&queued), LAZY_OK);
    CHECK_IS(ran[1], 0);
    CHECK_IS(ran[2], 1);
    CHECK_IS(dropped[2], 1);
    CHECK_IS(lazy_once_call(&nested, replaces, NULL), LAZY_QUEUED);
    CHECK_IS(submit(&nested, 1, 5, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&nested), LAZY_OK);
    CHECK_IS(ran[1], 0);
    CHECK_IS(dropped[1], 2);
    return finish();
}
