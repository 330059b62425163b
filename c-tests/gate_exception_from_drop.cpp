// Guards against a drop that throws and is then called again, or whose request runs again: after a run on READY, in the
// drain, in a cancel, in a replacement by key and in a close the exception reaches the caller, and everything is dropped
// once.
#include "check.h"

enum { requests = 3 };
struct refused { int code; };
static lazy_once once;
static int ran[requests], dropped[requests];
static uint64_t tickets[requests];

static int32_t run(void *number) {
    ++ran[reinterpret_cast<intptr_t>(number)];
    return 0;
}
static void drop(void *number) {
    auto which = reinterpret_cast<intptr_t>(number);
    ++dropped[which];
    if (which == 1) throw refused{17};
}
static lazy_status submit(intptr_t number, uint64_t key = 0) {
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = run;
    request.ctx = reinterpret_cast<void *>(number);
    request.drop = drop;
    request.key = key;
    lazy_status status = lazy_once_submit(&once, &request, &receipt);
    tickets[number] = receipt.ticket;
    return status;
}
template <typename F> static void throws(F call) {
    int code = 0;
    try {
        call();
    } catch (const refused &error) {
        code = error.code;
    }
    CHECK_IS(code, 17);
    CHECK_IS(dropped[1], 1);
    CHECK(!lazy_once_is_initializing(&once));
}
static void begin(int queued) {
    once = lazy_once{};
    for (int i = 0; i < requests; i++) {
        ran[i] = dropped[i] = 0;
        if (i < queued) CHECK_IS(submit(i, i == 1 ? 5 : 0), LAZY_QUEUED);
    }
}
static void all(int runs_of_1, int runs_of_others) {
    for (int i = 0; i < requests; i++) {
        CHECK_IS(ran[i], i == 1 ? runs_of_1 : runs_of_others);
        CHECK_IS(dropped[i], 1);
    }
}

int main() {
    begin(0);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    throws([] { submit(1); });
    CHECK_IS(submit(0), LAZY_OK);
    CHECK_IS(submit(2), LAZY_OK);
    all(1, 1);

    begin(3);
    throws([] { lazy_once_init(&once); });
    CHECK(!lazy_once_is_initialized(&once));
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    all(1, 1);

    begin(3);
    throws([] { lazy_once_cancel(&once, tickets[1]); });
    CHECK_IS(lazy_once_cancel(&once, tickets[1]), LAZY_E_NOT_FOUND);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    all(0, 1);

    begin(2);
    throws([] { submit(2, 5); });
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    all(0, 1); /* the replacement was queued */

    begin(3);
    throws([] { lazy_once_close(&once); });
    CHECK_IS(lazy_once_init(&once), LAZY_E_CLOSED);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    all(0, 0);
    return finish();
}
