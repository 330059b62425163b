// flags: -fno-exceptions -fno-rtti
// Guards against a header that needs exceptions: without them every member returns its status, init_for is false on any failure and
// the last error tells which, call_once returns what it came to; callables are kept, run and destroyed as ever.
#include "check.h"
#include <atomic>
#include <lazyonce.hpp>
#include <memory>

static std::atomic<int> alive, ran;
struct counted {
    counted() { ++alive; }
    counted(const counted &) { ++alive; }
    ~counted() { --alive; }
    void operator()() & { ++ran; }
};
static int attempts;
static int32_t fails_first(void *) { return attempts++ == 0 ? lazy_fail(9, "not yet") : 0; }
static const lazy_config config = {sizeof(lazy_config), "silent", fails_first, nullptr, nullptr, nullptr, nullptr, 0, 0, 0, 0, 0};
static int32_t fails(void *) { return 5; }

int main() {
    static lazyonce::once once(&config);
    CHECK_IS(once.call(counted()), LAZY_QUEUED);
    CHECK_IS(once.call([only = std::make_unique<int>(1)] { ran += *only; }), LAZY_QUEUED);
    CHECK_IS(once.init(), LAZY_E_INIT);
    CHECK_IS(lazy_last_error()->code, 9);
    CHECK(once.init_for(std::chrono::nanoseconds::zero()));
    CHECK_IS(ran, 2);
    CHECK_IS(alive, 0);
    CHECK_IS(once.init(), LAZY_OK);
    CHECK_IS(once.call(counted()), LAZY_OK);
    CHECK_IS(once.reset(), LAZY_OK);
    attempts = 0;
    CHECK(!once.init_for(std::chrono::seconds(1)));
    CHECK_IS(lazy_last_error()->status, LAZY_E_INIT);
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    lazyonce::options owned;
    owned.owner = &once;
    CHECK_IS(once.submit(counted(), {}, &receipt), LAZY_QUEUED);
    CHECK_IS(once.submit(counted(), owned), LAZY_QUEUED);
    CHECK_IS(once.cancel(receipt.ticket), LAZY_OK);
    CHECK_IS(once.cancel(receipt.ticket), LAZY_E_NOT_FOUND);
    CHECK_IS(once.cancel_owner(&once), 1);
    CHECK_IS(once.cancel_owner(nullptr), 0);
    CHECK_IS(alive, 0);
    CHECK_IS(lazy_once_call(once.native_handle(), fails, nullptr), LAZY_QUEUED);
    CHECK_IS(once.init(), LAZY_E_DEFERRED);
    CHECK_IS(once.close(), LAZY_OK);
    CHECK_IS(once.call(counted()), LAZY_E_CLOSED);
    CHECK_IS(alive, 0);

    lazyonce::once_flag flag;
    int by_reference = 0;
    CHECK_IS(lazyonce::call_once(flag, [&] { CHECK_IS(lazyonce::call_once(flag, [] {}), LAZY_E_DEADLOCK); }), LAZY_OK);
    CHECK_IS(lazyonce::call_once(flag, [&] { ++by_reference; }), LAZY_OK);
    CHECK_IS(by_reference, 0);
    return finish();
}
