// not-under: asan: it does not clean up after frames that the end of a thread unwinds
// Guards against a thread that ends inside its call and takes the flag with it: by pthread_exit, by cancellation, its destructors run,
// the waiter takes over with its own callable, and a thread's end is not swallowed as an exception. The same inside init and call
// of a once; afterwards the thread's place is not left behind for others to find. Both call_onces are checked alike.
#include "call_once.hpp"

static int marker;
struct notes {
    std::atomic<int> &count;
    ~notes() { ++count; }
};

template <class Once> static void ends_inside(void (*leave)()) {
    typename Once::flag flag;
    gate inside = GATE_INIT, go = GATE_INIT;
    std::atomic<int> destroyed{0}, ran{0};
    running leaver([&] {
        notes outer{destroyed};
        Once::call(flag, [&] {
            notes inner{destroyed};
            gate_open(&inside);
            gate_wait(&go);
            leave();
            CHECK(!"the thread went on");
        });
    });
    gate_wait(&inside);
    running waiter([&] { Once::call(flag, [&] { ++ran; }); });
    waiter.until_asleep();
    gate_open(&go);
    void *result = leaver.join();
    CHECK(result == &marker || result == PTHREAD_CANCELED);
    waiter.join();
    CHECK_IS(destroyed, 2);
    CHECK_IS(ran, 1);
    Once::call(flag, [] { CHECK(!"it ran twice"); });
}
static void exits() { pthread_exit(&marker); }
static void is_cancelled() {
    pthread_cancel(pthread_self());
    pthread_testcancel();
}

static int32_t leaves_once(void *ctx) {
    auto *times = static_cast<std::atomic<int> *>(ctx);
    if (times->fetch_sub(1) > 0) pthread_exit(&marker);
    return 0;
}

/* In the initializer, in a queued callback, and in one that runs at once. */
static void of_a_once() {
    static std::atomic<int> times{1};
    static const lazy_config config = {sizeof(lazy_config), "left", leaves_once, &times, nullptr, nullptr, nullptr, 0, 0, 0, 0, 0};
    static lazyonce::once once(&config);
    static std::atomic<int> queued{1};
    once.call([] { leaves_once(&queued); });
    for (int i = 0; i < 2; i++) {
        running leaver([] { once.init(); });
        CHECK(leaver.join() == &marker);
        CHECK(!once.is_initialized());
    }
    CHECK_IS(once.init(), LAZY_OK);
    running at_once([] { once.call([] { pthread_exit(&marker); }); });
    CHECK(at_once.join() == &marker);
    CHECK_IS(once.init(), LAZY_OK);
}

/* A call that ended by unwinding is not on the list any more: the exception behind it goes to the right one. */
static void list_is_whole() {
    static lazyonce::once once;
    running thread([] {
        pthread_cleanup_push(
            [](void *) {
                CHECK(lazyonce::detail::innermost == nullptr);
                once.call([] { throw refused{2}; });
                bool was_thrown = false;
                try {
                    once.init();
                } catch (const lazyonce::deferred_error &error) {
                    was_thrown = true;
                    CHECK_IS(caught<refused>([&] { std::rethrow_if_nested(error); }).number, 2);
                }
                CHECK(was_thrown);
                CHECK_IS(once.close(), LAZY_OK);
            },
            nullptr);
        once.call([first = true]() mutable {
            if (std::exchange(first, false)) exits();
        });
        once.init();
        pthread_cleanup_pop(0);
    });
    CHECK(thread.join() == &marker);
    throws_status([] { once.init(); }, LAZY_E_CLOSED);
}

int main() {
    ends_inside<ours>(exits);
    ends_inside<ours>(is_cancelled);
    if (standard_survives_exceptions) {
        ends_inside<standard>(exits);
        ends_inside<standard>(is_cancelled);
    }
    of_a_once();
    list_is_whole();
    return finish();
}
