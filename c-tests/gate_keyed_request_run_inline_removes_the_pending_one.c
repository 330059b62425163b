// Guards against an older value that wins: a callback in the drain sets a key anew, which runs inline, and the pending request
// of that key would then undo it. It must be withdrawn, dropped once, and never run; the running one of that key stays.
#include "requests.h"

static lazy_once once;
static job pending = { .letter = 'p' }, inline_one = { .letter = 'i' }, bystander = { .letter = 'b' },
           unkeyed = { .letter = 'u' }, again = { .letter = 'g' };
static int self_dropped;

static lazy_status run_inline(job *j, uint64_t key) {
    lazy_request request = request_for(j);
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    request.key = key;
    lazy_status status = lazy_once_submit(&once, &request, &receipt);
    CHECK_IS(receipt.outcome, LAZY_RAN_REENTRANT);
    CHECK_IS(receipt.ticket, 0);
    return status;
}
static int32_t sets_anew(void *ctx) {
    (void)ctx;
    CHECK_IS(queued_in(&once), 2);
    CHECK_IS(run_inline(&unkeyed, 0), LAZY_OK); /* removes nothing */
    CHECK_IS(queued_in(&once), 2);
    CHECK_IS(run_inline(&inline_one, 5), LAZY_OK);
    CHECK_JOB(pending, 0, 1);
    CHECK_IS(queued_in(&once), 1);
    CHECK_IS(run_inline(&again, 9), LAZY_OK); /* the key of the request that runs: it is not pending */
    CHECK_IS(self_dropped, 0);
    CHECK_IS(queued_in(&once), 1);
    return 0;
}
static void drop_self(void *ctx) {
    (void)ctx;
    self_dropped++;
}

int main(void) {
    lazy_request first = LAZY_REQUEST_INIT, old = request_for(&pending), other = request_for(&bystander);
    first.fn = sets_anew;
    first.drop = drop_self;
    first.key = 9;
    old.key = 5;
    old.phase = LAZY_PHASE_LAST;
    other.key = 6;
    queue_request(&once, first);
    uint64_t ticket = queue_request(&once, old);
    queue_request(&once, other);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_TRAIL("uigb");
    CHECK_JOB(pending, 0, 1);
    CHECK_JOB(inline_one, 1, 1);
    CHECK_JOB(bystander, 1, 1);
    CHECK_IS(self_dropped, 1);
    CHECK_IS(lazy_once_cancel(&once, ticket), LAZY_E_NOT_FOUND);
    return finish();
}
