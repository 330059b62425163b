// Guards against flags that get into each other's way: calls nested over several flags, flags that threads cross without a circle, one
// flag whose call takes long beside another; an exception through several nested calls fails them all. Both are checked alike. What hangs
// with std is an error here: a call inside its own call, and a circle over two flags and two threads.
#include "call_once.hpp"

template <class Once> static void nested() {
    static typename Once::flag outer, middle, inner;
    static int order = 0;
    Once::call(outer, [] {
        Once::call(middle, [] {
            Once::call(inner, [] { CHECK_IS(order++, 0); });
            CHECK_IS(order++, 1);
        });
        Once::call(inner, [] { CHECK(!"it ran twice"); });
        CHECK_IS(order++, 2);
    });
    CHECK_IS(order, 3);
}

template <class Once> static void nested_exception() {
    static typename Once::flag outer, middle, inner;
    static int ran = 0;
    auto all = [](bool throws) {
        Once::call(outer, [throws] {
            Once::call(middle, [throws] {
                Once::call(inner, [throws] {
                    ++ran;
                    if (throws) throw refused{9};
                });
            });
        });
    };
    CHECK_IS(caught<refused>([&] { all(true); }).number, 9);
    all(false);
    CHECK_IS(ran, 2);
    all(true);
    CHECK_IS(ran, 2);
}

template <class Once> static void independent() {
    static typename Once::flag slow, fast;
    static gate inside = GATE_INIT, go = GATE_INIT;
    running holder([] {
        Once::call(slow, [] {
            gate_open(&inside);
            gate_wait(&go);
        });
    });
    gate_wait(&inside);
    int ran = 0;
    Once::call(fast, [&] { ++ran; });
    CHECK_IS(ran, 1);
    gate_open(&go);
    holder.join();
}

static void recursion() {
    static lazyonce::once_flag flag;
    static int ran = 0;
    lazyonce::call_once(flag, [] {
        auto error = caught<lazyonce::error>([] { lazyonce::call_once(flag, [] { ++ran; }); });
        CHECK_IS(error.status(), LAZY_E_DEADLOCK);
        CHECK_HAS(error.what(), "inside its own call");
    });
    CHECK_IS(ran, 0);

    static lazyonce::once_flag left;
    throws_status([] { lazyonce::call_once(left, [] { lazyonce::call_once(left, [] {}); }); }, LAZY_E_DEADLOCK);
    lazyonce::call_once(left, [] { ++ran; });
    CHECK_IS(ran, 1);
}

static void circle() {
    static lazyonce::once_flag one, two;
    static gate has_one = GATE_INIT, has_two = GATE_INIT;
    static std::atomic<int> refused_waits{0};
    running other([] {
        lazyonce::call_once(two, [] {
            gate_open(&has_two);
            gate_wait(&has_one);
            try {
                lazyonce::call_once(one, [] {});
            } catch (const lazyonce::error &error) {
                CHECK_IS(error.status(), LAZY_E_DEADLOCK);
                ++refused_waits;
            }
        });
    });
    lazyonce::call_once(one, [] {
        gate_open(&has_one);
        gate_wait(&has_two);
        try {
            lazyonce::call_once(two, [] {});
        } catch (const lazyonce::error &error) {
            CHECK_IS(error.status(), LAZY_E_DEADLOCK);
            ++refused_waits;
        }
    });
    other.join();
    CHECK_IS(refused_waits, 1);
}

int main() {
    nested<ours>();
    nested<standard>();
    nested_exception<ours>();
    if (standard_survives_exceptions) nested_exception<standard>();
    independent<ours>();
    independent<standard>();
    recursion();
    circle();
    return finish();
}
