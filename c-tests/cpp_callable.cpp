// Guards against a callable that is called or kept in another way than promised: move-only ones are taken, each is invoked as an
// lvalue and not const, its result is ignored, an lvalue is copied; it is destroyed exactly once, whether it ran, failed and ran
// again, was cancelled, replaced, closed or never taken; alignment is kept; a copy that throws queues nothing.
#include "caught.hpp"
#include <memory>

static lazyonce::once once;
static std::atomic<int> alive, ran;

/* Counts itself. */
struct counted {
    counted() { ++alive; }
    counted(const counted &) { ++alive; }
    counted(counted &&) noexcept { ++alive; }
    ~counted() { --alive; }
    void operator()() & { ++ran; }
    void operator()() && = delete;
    void operator()() const & = delete;
};
struct [[nodiscard]] result {};
struct alignas(256) wide {
    void operator()() { CHECK_IS(reinterpret_cast<std::uintptr_t>(this) % 256, 0), ++ran; }
};
struct uncopyable : counted {
    uncopyable() = default;
    uncopyable(const uncopyable &from) : counted(from) { throw refused{4}; }
};
static void function() { ++ran; }
static int with_result() { return ++ran; }

static void initialize(int expected) {
    ran = 0;
    CHECK_IS(once.init(), LAZY_OK);
    CHECK_IS(ran, expected);
    CHECK_IS(alive, 0);
}

int main() {
    for (bool is_ready : {false, true}) {
        if (is_ready) once.init();
        lazyonce::status wanted = is_ready ? LAZY_OK : LAZY_QUEUED;
        ran = 0;
        CHECK_IS(once.call([only = std::make_unique<int>(1)] { ran += *only; }), wanted);
        CHECK_IS(once.call(counted()), wanted);
        {
            counted lvalue;
            CHECK_IS(once.call(lvalue), wanted);
        }
        CHECK_IS(once.call([]() -> result { return ++ran, result(); }), wanted);
        CHECK_IS(once.call(wide()), wanted);
        CHECK_IS(once.call(function), wanted);
        CHECK_IS(once.call(&with_result), wanted);
        CHECK_IS(once.submit(std::function<void()>(function)), wanted);
        if (is_ready) CHECK_IS(ran, 8);
        else initialize(8);
        CHECK_IS(alive, 0);
    }
    CHECK_IS(once.reset(), LAZY_OK);

    once.call([self = counted(), failures = 2]() mutable {
        if (failures-- > 0) throw refused{failures};
        self();
    });
    for (int i = 0; i < 2; i++) {
        throws_status([] { once.init(); }, LAZY_E_DEFERRED);
        CHECK_IS(alive, 1);
    }
    initialize(1);
    CHECK_IS(once.reset(), LAZY_OK);

    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    lazyonce::options keyed;
    keyed.key = 1;
    CHECK_IS(once.submit(counted(), {}, &receipt), LAZY_QUEUED);
    CHECK_IS(once.submit(counted(), keyed), LAZY_QUEUED);
    CHECK_IS(alive, 2);
    CHECK_IS(once.cancel(receipt.ticket), LAZY_OK);
    CHECK_IS(alive, 1);
    CHECK_IS(once.submit(counted(), keyed), LAZY_QUEUED);
    CHECK_IS(alive, 1);

    uncopyable lvalue;
    CHECK_IS(caught<refused>([&] { once.call(lvalue); }).number, 4);
    CHECK_IS(alive, 2);
    CHECK_IS(info_of(once.native_handle()).queued, 1);
    CHECK_IS(once.close(), LAZY_OK);
    CHECK_IS(alive, 1);
    throws_status([] { once.call(counted()); }, LAZY_E_CLOSED);
    CHECK_IS(alive, 1);
    return finish();
}
