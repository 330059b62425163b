// Guards against a once_flag that needs more than its storage: constant-initialized, so usable before main; static, thread_local, on
// the heap, in an array; owning nothing once its call has ended, well or not, so its storage may simply end; usable in exit handlers and
// thread-exit destructors. Both are checked alike where both can say it.
#include "call_once.hpp"
#include <cstdlib>
#include <memory>

template <class Once> struct early {
    static std::atomic<int> ran;
    static typename Once::flag flag;
    early() {
        Once::call(flag, [] { ++ran; });
    }
    static early before_main;
};
template <class Once> early<Once> early<Once>::before_main;
template <class Once> std::atomic<int> early<Once>::ran{0};
template <class Once> typename Once::flag early<Once>::flag;
template struct early<ours>;
template struct early<standard>;

template <class Once> static void places() {
    CHECK_IS(early<Once>::ran, 1);
    static std::atomic<int> ran{0};
    auto thread = [] {
        thread_local typename Once::flag own;
        for (int i = 0; i < 3; i++) Once::call(own, [] { ++ran; });
    };
    running one(thread), two(thread);
    one.join();
    two.join();
    CHECK_IS(ran, 2);
    auto heap = std::make_unique<typename Once::flag[]>(100);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 100; i++) Once::call(heap[static_cast<std::size_t>(i)], [] { ++ran; });
    CHECK_IS(ran, 102);
}

template <class Once> static void at_the_end_of_a_thread() {
    static typename Once::flag flag;
    static std::atomic<int> ran{0};
    struct last {
        ~last() { Once::call(flag, [] { ++ran; }); }
    };
    running thread([] {
        thread_local last object;
        static_cast<void>(&object);
    });
    thread.join();
    CHECK_IS(ran, 1);
}

static void check_owns_nothing(lazyonce::once_flag &flag) {
    lazy_once *once = flag.native_handle();
    CHECK(once->impl == nullptr);
    memset(static_cast<void *>(once), 0xcd, sizeof *once); /* nobody may look at it any more */
}
static void owns_nothing() {
    lazyonce::once_flag called, failed, waited;
    lazyonce::call_once(called, [] {});
    check_owns_nothing(called);
    for (int i = 0; i < 3; i++) caught<refused>([&] { lazyonce::call_once(failed, [] { throw refused{1}; }); });
    check_owns_nothing(failed);
    gate inside = GATE_INIT, go = GATE_INIT;
    bool first = true;
    auto call = [&] {
        try {
            lazyonce::call_once(waited, [&] {
                gate_open(&inside);
                gate_wait(&go);
                if (std::exchange(first, false)) throw refused{2};
            });
        } catch (const refused &) {
        }
    };
    running runner(call);
    gate_wait(&inside);
    running waiter(call);
    waiter.until_asleep();
    gate_open(&go);
    runner.join();
    waiter.join();
    check_owns_nothing(waited);
}

template <class Once> static void in_exit_handler() {
    static typename Once::flag flag;
    static int ran = 0;
    Once::call(flag, [] { ++ran; });
    static typename Once::flag fresh;
    Once::call(fresh, [] { ++ran; });
    CHECK_IS(ran, 2);
}

int main() {
    places<ours>();
    places<standard>();
    at_the_end_of_a_thread<ours>();
    at_the_end_of_a_thread<standard>();
    owns_nothing();
    atexit([] {
        in_exit_handler<ours>();
        in_exit_handler<standard>();
        if (finish()) _exit(1);
    });
    return 0;
}
