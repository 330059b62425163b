// Guards against a receipt that is written beyond what the caller has: of an older caller's shorter one only `size` bytes are
// written, of a newer caller's longer one only what is known; a receipt that cannot be understood refuses the request before
// it is taken, on a ready once too.
#include "page_end.h"
#include "requests.h"

static lazy_once ready;
static job j;

static uint64_t check_refused(lazy_once *fresh, lazy_receipt *receipt) {
    lazy_request request = request_for(&j);
    CHECK_IS(lazy_once_submit(&ready, &request, receipt), LAZY_E_INVALID);
    CHECK_IS(lazy_once_submit(fresh, &request, receipt), LAZY_E_INVALID);
    CHECK_IS(lazy_last_error()->status, LAZY_E_INVALID);
    CHECK_JOB(j, 0, 0);
    return queued_in(fresh);
}

int main(void) {
    CHECK_IS(lazy_once_init(&ready), LAZY_OK);
    const size_t outcome_end = offsetof(lazy_receipt, outcome) + sizeof(uint32_t);
    const size_t sizes[] = { offsetof(lazy_receipt, outcome), outcome_end, sizeof(lazy_receipt) };
    for (size_t i = 0; i < 3; i++) {
        lazy_once fresh = LAZY_ONCE_INIT;
        job queued = { 0 }, now = { 0 };
        lazy_request request = request_for(&queued), at_once = request_for(&now);
        union { lazy_receipt receipt; unsigned char bytes[sizeof(lazy_receipt) + 16]; } out, before;
        memset(&out, 0xa5, sizeof out);
        out.receipt.size = sizes[i];
        before = out;
        CHECK_IS(lazy_once_submit(&fresh, &request, &out.receipt), LAZY_QUEUED);
        CHECK(out.receipt.ticket != 0 && out.receipt.ticket != before.receipt.ticket);
        if (sizes[i] >= outcome_end) CHECK_IS(out.receipt.outcome, LAZY_OUTCOME_QUEUED);
        CHECK(!memcmp(out.bytes + sizes[i], before.bytes + sizes[i], sizeof out - sizes[i]));
        CHECK_IS(lazy_once_cancel(&fresh, out.receipt.ticket), LAZY_OK);

        if (sizes[i] % sizeof(size_t) == 0) {
            lazy_receipt *at_end = at_page_end(&before, sizes[i]);
            CHECK_IS(lazy_once_submit(&ready, &at_once, at_end), LAZY_OK);
            CHECK_IS(at_end->ticket, 0);
            CHECK_IS(now.ran, 1);
        }
    }

    struct { lazy_receipt known; unsigned char unknown[32]; } longer;
    lazy_once fresh = LAZY_ONCE_INIT;
    memset(&longer, 0, sizeof longer);
    longer.known.size = sizeof longer;
    for (size_t i = 0; i < sizeof longer.unknown; i++) {
        longer.unknown[i] = 1; /* asks for something that this library does not have */
        CHECK_IS(check_refused(&fresh, &longer.known), 0);
        longer.unknown[i] = 0;
    }
    job queued = { 0 };
    lazy_request request = request_for(&queued);
    CHECK_IS(lazy_once_submit(&fresh, &request, &longer.known), LAZY_QUEUED);
    CHECK_IS(longer.known.outcome, LAZY_OUTCOME_QUEUED);
    for (size_t i = 0; i < sizeof longer.unknown; i++) CHECK_IS(longer.unknown[i], 0);
    CHECK_IS(lazy_once_cancel(&fresh, longer.known.ticket), LAZY_OK);

    for (size_t size = 0; size < offsetof(lazy_receipt, outcome); size++) {
        lazy_receipt short_of = LAZY_RECEIPT_INIT;
        short_of.size = size;
        CHECK_IS(check_refused(&fresh, &short_of), 0);
    }
    return finish();
}
