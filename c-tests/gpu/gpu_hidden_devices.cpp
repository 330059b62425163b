// Guards against callables that are lost, run or leaked in a C++ process that sees no device: init throws the driver's number each time, the queue
// keeps what was moved into it, cancelling or closing destroys it unrun, and a fallback that throws, too, does not end it.
#include "device.h"
#include <atomic>
#include <lazyonce.hpp>
#include <memory>
#include <stdexcept>

static std::atomic<int> alive{0}, ran{0};

struct callable {
    callable() { ++alive; }
    callable(callable &&) noexcept { ++alive; }
    callable(const callable &) = delete;
    callable &operator=(const callable &) = delete;
    ~callable() { --alive; }
    void operator()() { ++ran; }
};
static int32_t not_today(void *) { throw std::runtime_error("no fallback today"); }

static void check_unavailable(lazyonce::once &cuda) {
    lazyonce::status status = LAZY_OK;
    try {
        cuda.init();
    } catch (const lazyonce::error &thrown) {
        status = thrown.status();
        CHECK(thrown.code() == DRIVER_NO_DEVICE || thrown.code() == 0); /* by cuInit, or by the count */
        CHECK_HAS(thrown.what(), "no device");
    }
    CHECK_IS(status, LAZY_E_UNAVAILABLE);
    CHECK(!cuda.is_initialized());
    CHECK_IS(ran, 0);
}
static void check_fallback_throws(lazyonce::once &cuda) {
    lazy_config fallback = LAZY_CONFIG_INIT;
    fallback.initialize = not_today;
    CHECK_IS(cuda.reset(), LAZY_OK);
    CHECK_IS(lazy_once_configure(cuda.native_handle(), &fallback), LAZY_OK);
    bool has_thrown = false;
    try {
        cuda.init();
    } catch (const std::runtime_error &thrown) {
        has_thrown = !strcmp(thrown.what(), "no fallback today");
    }
    CHECK(has_thrown);
}
static void is_hidden() {
    lazyonce::once cuda;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    CHECK_IS(lazy_cuda_setup(cuda.native_handle(), nullptr), LAZY_OK);
    CHECK_IS(cuda.call(callable()), LAZY_QUEUED);
    CHECK_IS(cuda.submit(callable(), {}, &receipt), LAZY_QUEUED);
    CHECK_IS(alive, 2);
    check_unavailable(cuda);
    check_unavailable(cuda);
    CHECK_IS(alive, 2);
    CHECK_IS(cuda.cancel(receipt.ticket), LAZY_OK);
    CHECK_IS(alive, 1);
    check_fallback_throws(cuda);
    CHECK_IS(alive, 1);
    CHECK_IS(cuda.close(), LAZY_OK);
    CHECK_IS(alive, 0);
    CHECK_IS(ran, 0);
}

int main() {
    need_device();
    CHECK_IS(setenv("CUDA_VISIBLE_DEVICES", "", 1), 0);
    is_hidden();
    return finish();
}
