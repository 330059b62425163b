// Guards against a close that is left half done when a drop throws: the exception reaches the closer, the once is closed
// for everybody, a second close goes on with the requests that are left, and each of them is dropped exactly once.
#include "check.h"
#include <atomic>

struct refused { int number; };
static std::atomic<int> dropped[6];

static int32_t never(void *) {
    CHECK(!"a callback ran that must not run");
    return 0;
}
static void drop(void *number) {
    intptr_t which = reinterpret_cast<intptr_t>(number);
    CHECK_IS(++dropped[which], 1);
    if (which % 2 == 1) throw refused{static_cast<int>(which)};
}

int main() {
    lazy_once once = LAZY_ONCE_INIT;
    for (intptr_t i = 0; i < 6; i++) {
        lazy_request request = LAZY_REQUEST_INIT;
        request.fn = never;
        request.ctx = reinterpret_cast<void *>(i);
        request.drop = drop;
        CHECK_IS(lazy_once_submit(&once, &request, nullptr), LAZY_QUEUED);
    }
    int thrown = 0, closes = 0;
    for (bool closed = false; !closed; closes++) {
        CHECK(closes < 10);
        try {
            CHECK_IS(lazy_once_close(&once), LAZY_OK);
            closed = true;
        } catch (const refused &error) {
            CHECK_IS(error.number % 2, 1);
            thrown++;
        }
        CHECK_IS(lazy_once_init(&once), LAZY_E_CLOSED);
        CHECK_IS(lazy_once_call(&once, never, nullptr), LAZY_E_CLOSED);
    }
    CHECK(thrown >= 1);
    for (int i = 0; i < 6; i++) CHECK_IS(dropped[i], 1);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    return finish();
}
