// Guards against a queued call's exception that is lost: the thread that drained gets a deferred_error with the original nested, of
// any type; those that waited get an `error` with the same text and no more; one whose callback returned a code has nothing nested;
// a C caller who drains has code -1 and the text; the callable runs again; and nobody gets the exception of another once.
#include "caught.hpp"

static lazyonce::once once;
static std::atomic<int> runs;
static int32_t returns_minus_one(void *) { return -1; }
static int32_t returns_seven(void *) { return lazy_fail(7, "seven"); }

template <class Thrown> static Thrown nested(const lazyonce::error &error) {
    return caught<Thrown>([&] { std::rethrow_if_nested(error); });
}
template <class F> static void drains(F check) {
    bool was_thrown = false;
    try {
        once.init();
    } catch (const lazyonce::deferred_error &error) {
        was_thrown = true;
        CHECK_IS(error.status(), LAZY_E_DEFERRED);
        check(error);
    }
    CHECK(was_thrown);
}

static void with_waiters() {
    auto waits = [] {
        bool was_thrown = false;
        try {
            once.init();
        } catch (const lazyonce::error &error) {
            was_thrown = true;
            CHECK(!is_deferred(error));
            CHECK_IS(error.status(), LAZY_E_DEFERRED);
            CHECK_IS(error.code(), -1);
            CHECK_HAS(error.what(), "the cable is broken");
            std::rethrow_if_nested(error); /* nothing */
        }
        CHECK(was_thrown);
    };
    running<decltype(waits)> *waiter = nullptr;
    once.call([&] {
        if (++runs > 1) return;
        waiter = new running(waits);
        waiter->until_asleep();
        throw broken();
    });
    drains([](auto &error) {
        CHECK_IS(error.code(), -1);
        CHECK_HAS(error.what(), "the cable is broken");
        CHECK_HAS(nested<broken>(error).what(), "cable");
    });
    waiter->join();
    delete waiter;
    CHECK_IS(once.init(), LAZY_OK);
    CHECK_IS(runs, 2);
    CHECK_IS(once.reset(), LAZY_OK);
}

static void other_types() {
    once.call([first = true]() mutable {
        if (std::exchange(first, false)) throw refused{17};
    });
    drains([](auto &error) {
        CHECK_HAS(error.what(), "no std::exception");
        CHECK_IS(nested<refused>(error).number, 17);
    });
    CHECK_IS(once.init(), LAZY_OK);
    CHECK_IS(once.reset(), LAZY_OK);

    CHECK_IS(lazy_once_call(once.native_handle(), returns_seven, nullptr), LAZY_QUEUED);
    drains([](auto &error) {
        CHECK_IS(error.code(), 7);
        CHECK_HAS(error.what(), "seven");
        std::rethrow_if_nested(error);
    });
    CHECK_IS(once.cancel(lazy_last_error()->ticket), LAZY_OK);
}

static void drained_by_c() {
    once.call([first = true]() mutable {
        if (std::exchange(first, false)) throw broken();
    });
    CHECK_IS(lazy_once_init(once.native_handle()), LAZY_E_DEFERRED);
    CHECK_IS(lazy_last_error()->code, -1);
    CHECK_HAS(lazy_last_error()->message, "the cable is broken");
    CHECK_IS(lazy_once_init(once.native_handle()), LAZY_OK);
    CHECK_IS(once.reset(), LAZY_OK);
}

/* The error names the line of the call, without a word from the caller; or what the caller says. */
static void names_the_place() {
    lazyonce::options how;
    for (int i = 0; i < 3; i++) {
        auto fails = [] { throw refused{0}; };
        if (i == 2) how.site = {"elsewhere.cpp", 7, "there"};
        const std::uint32_t line = __LINE__ + 1;
        i == 0 ? once.call(fails) : once.submit(fails, how);
        drains([&](auto &error) {
            const lazy_site &site = lazy_last_error()->site;
            CHECK_IS(site.line, i == 2 ? 7 : line);
            CHECK_HAS(site.file, i == 2 ? "elsewhere.cpp" : "cpp_deferred_error.cpp");
            CHECK_HAS(site.function, i == 2 ? "there" : "names_the_place");
            CHECK_HAS(error.what(), i == 2 ? "elsewhere.cpp:7" : "cpp_deferred_error.cpp:");
        });
        CHECK_IS(once.cancel(lazy_last_error()->ticket), LAZY_OK);
    }
    CHECK_IS(once.reset(), LAZY_OK);
}

/* CONTINUE: the first failure is the one that is reported, with its own exception. */
static void the_first_of_several() {
    static lazy_config config = LAZY_CONFIG_INIT;
    config.on_deferred_failure = LAZY_DEFERRED_CONTINUE;
    CHECK_IS(lazy_once_configure(once.native_handle(), &config), LAZY_OK);
    for (int number : {1, 2})
        once.call([number, first = true]() mutable {
            if (std::exchange(first, false)) throw refused{number};
        });
    drains([](auto &error) { CHECK_IS(nested<refused>(error).number, 1); });
    CHECK_IS(once.init(), LAZY_OK);
    CHECK_IS(once.reset(), LAZY_OK);

    for (lazy_fn first : {returns_seven, returns_minus_one}) {
        CHECK_IS(lazy_once_call(once.native_handle(), first, &once), LAZY_QUEUED);
        lazyonce::options how;
        how.owner = &once;
        once.submit([] { throw refused{3}; }, how);
        drains([&](auto &error) {
            CHECK_IS(error.code(), first == returns_seven ? 7 : -1);
            std::rethrow_if_nested(error); /* that of the one behind it is not its own */
        });
        CHECK_IS(once.cancel(lazy_last_error()->ticket), LAZY_OK);
        CHECK_IS(once.cancel_owner(&once), 1);
    }
    CHECK_IS(once.close(), LAZY_OK);
}

/* An inner once's failure, handled in C, is not the outer one's. */
static void another_once() {
    static lazyonce::once inner, outer;
    inner.call([] { throw refused{1}; });
    outer.call([] { CHECK_IS(lazy_once_init(inner.native_handle()), LAZY_E_DEFERRED); });
    CHECK_IS(lazy_once_call(outer.native_handle(), returns_minus_one, nullptr), LAZY_QUEUED);
    bool was_thrown = false;
    try {
        outer.init();
    } catch (const lazyonce::deferred_error &error) {
        was_thrown = true;
        CHECK_IS(error.code(), -1);
        std::rethrow_if_nested(error);
    }
    CHECK(was_thrown);
    CHECK_IS(inner.close(), LAZY_OK);
    CHECK_IS(outer.close(), LAZY_OK);
}

int main() {
    with_waiters();
    other_types();
    drained_by_c();
    names_the_place();
    the_first_of_several();
    another_once();
    CHECK(lazyonce::detail::innermost == nullptr); /* no call that has returned is left for others to find */
    return finish();
}
