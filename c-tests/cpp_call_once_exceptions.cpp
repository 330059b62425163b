// Guards against an exception that answers for the next caller: it reaches the caller that ran, as itself, std or not; the flag stays
// uncalled; the thread that waits takes over with its own callable and arguments, one after the other; what the failed try wrote
// is seen by the next; nobody is woken for nothing and left. Both call_onces are checked alike.
#include "call_once.hpp"
#include <memory>
#include <vector>

enum { threads = 6, failures = 4 };

template <class Once> static void types() {
    typename Once::flag flag;
    CHECK_HAS(caught<broken>([&] { Once::call(flag, [] { throw broken(); }); }).what(), "cable");
    CHECK_IS(caught<int>([&] { Once::call(flag, [](int number) { throw number; }, 7); }), 7);
    CHECK(caught<std::string>([&] { Once::call(flag, [] { throw std::string("text"); }); }) == "text");
    auto pointer = std::make_shared<int>(1);
    CHECK(caught<std::shared_ptr<int>>([&] { Once::call(flag, [&] { throw pointer; }); }) == pointer);
    CHECK_IS(pointer.use_count(), 1); /* no copy is kept */
    CHECK_IS(caught<refused>([&] { Once::call(flag, [](refused by_value) { throw by_value; }, refused{3}); }).number, 3);
    int ran = 0;
    Once::call(flag, [&] { ++ran; });
    Once::call(flag, [&] { ++ran; });
    CHECK_IS(ran, 1);
}

template <class Once> static void waiters_take_over() {
    static typename Once::flag flag;
    static std::atomic<int> tries{0}, caught_own{0}, fine{0};
    static int seen = 0; /* not atomic: one try is over before the next begins */
    static gate inside = GATE_INIT, go = GATE_INIT;
    auto call = [](int number) {
        try {
            Once::call(flag, [number] {
                int mine = ++tries;
                if (mine == 1) {
                    gate_open(&inside);
                    gate_wait(&go);
                }
                CHECK_IS(++seen, mine);
                if (mine <= failures) throw refused{number};
            });
            ++fine;
        } catch (const refused &error) {
            CHECK_IS(error.number, number);
            ++caught_own;
        }
    };
    auto first = [call] { call(0); };
    running opener(first);
    gate_wait(&inside);
    std::vector<std::unique_ptr<running<std::function<void()>>>> waiters;
    for (int i = 1; i < threads; i++) {
        waiters.push_back(std::make_unique<running<std::function<void()>>>([call, i] { call(i); }));
        waiters.back()->until_asleep();
    }
    gate_open(&go);
    opener.join();
    for (auto &waiter : waiters) waiter->join();
    CHECK_IS(tries, failures + 1);
    CHECK_IS(caught_own, failures);
    CHECK_IS(fine, threads - failures);
    CHECK_IS(seen, failures + 1);
}

template <class Once> static void unwinding_runs_destructors() {
    typename Once::flag flag;
    int destroyed = 0;
    struct notes {
        int &count;
        ~notes() { ++count; }
    };
    CHECK_IS(caught<refused>([&] {
        notes outside{destroyed};
        Once::call(flag, [&] {
            notes inside{destroyed};
            throw refused{1};
        });
    }).number,
             1);
    CHECK_IS(destroyed, 2);
    try { /* inside a handler, and with a call that handles one of its own */
        throw refused{5};
    } catch (const refused &) {
        Once::call(flag, [] { caught<broken>([] { throw broken(); }); });
        CHECK(std::current_exception() != nullptr);
    }
}

template <class Once> static void all() {
    types<Once>();
    waiters_take_over<Once>();
    unwinding_runs_destructors<Once>();
}

int main() {
    all<ours>();
    if (standard_survives_exceptions) all<standard>();
    return finish();
}
