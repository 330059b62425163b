// Guards against a call_once that is no drop-in for std::call_once: the same calls with the same arguments. Once and only once, from one
// thread and many; all kinds of callables; arguments forwarded and not copied, by reference, move-only, as members and through smart
// pointers and reference wrappers; not touched when the call has been made; conversions and results ignored. Both are checked alike.
#include "call_once.hpp"
#include <memory>
#include <vector>

static_assert(std::is_trivially_destructible_v<lazyonce::once_flag> && std::is_nothrow_default_constructible_v<lazyonce::once_flag>);
static_assert(!std::is_copy_constructible_v<lazyonce::once_flag> && !std::is_copy_assignable_v<lazyonce::once_flag>);
static_assert(!std::is_move_constructible_v<lazyonce::once_flag>);
static_assert(std::is_void_v<decltype(lazyonce::call_once(std::declval<lazyonce::once_flag &>(), std::declval<void (*)()>()))>);

static std::atomic<int> ran;
static int function(int by) { return ran += by; }
static int changes(int &value) { return ++value; }

/* Copies and moves are counted; an rvalue may be called once. */
struct traced {
    int copies = 0, moves = 0;
    traced() = default;
    traced(const traced &from) : copies(from.copies + 1), moves(from.moves) {}
    traced(traced &&from) noexcept : copies(from.copies), moves(from.moves + 1) {}
    void operator()() & { ran += 1; }
    void operator()() && { ran += 10; }
    void operator()() const & { ran += 100; }
    void operator()(traced &&other) { ran += other.copies + other.moves; }
    void operator()(const traced &other) { ran += 1000 + other.copies + other.moves; }
};
struct account {
    int balance = 0;
    void add(int amount) { balance += amount; }
    virtual int kind() const noexcept { return ran += 1; }
    virtual ~account() = default;
};
struct savings : account {
    int kind() const noexcept override { return ran += 2; }
};

/* How much one call adds to `ran`; a second call with the same flag adds nothing. */
template <class Once, class... Args> static int adds(Args &&...args) {
    typename Once::flag flag;
    ran = 0;
    Once::call(flag, std::forward<Args>(args)...);
    int once = ran;
    Once::call(flag, [] { CHECK(!"it ran twice"); });
    CHECK_IS(ran, once);
    return once;
}

template <class Once> static void callables() {
    CHECK_IS(adds<Once>(function, 3), 3);
    CHECK_IS(adds<Once>(&function, 3), 3);
    CHECK_IS(adds<Once>([](auto... values) { ((ran += values), ...); }, 1, 2, 3, 4, 5), 15);
    traced lvalue;
    const traced constant;
    CHECK_IS(adds<Once>(lvalue), 1);
    CHECK_IS(adds<Once>(traced()), 10);
    CHECK_IS(adds<Once>(constant), 100);
    CHECK_IS(lvalue.copies + lvalue.moves, 0);
    CHECK_IS(adds<Once>(std::ref(lvalue)), 1);
    CHECK_IS(adds<Once>(std::function<int(int)>(function), 4), 4);
    CHECK_IS(adds<Once>(std::bind(function, std::placeholders::_1), 5), 5);
}

template <class Once> static void arguments() {
    traced callable, argument;
    CHECK_IS(adds<Once>(callable, traced()), 0);
    CHECK_IS(adds<Once>(callable, argument), 1000);
    CHECK_IS(adds<Once>(callable, std::move(argument)), 0);
    int value = 1;
    typename Once::flag flag;
    Once::call(flag, changes, value);
    CHECK_IS(value, 2);
    auto owner = std::make_unique<int>(6);
    CHECK_IS(adds<Once>([](std::unique_ptr<int> it) { ran += *it; }, std::move(owner)), 6);
    CHECK(!owner);
    owner = std::make_unique<int>(7);
    Once::call(flag, [](std::unique_ptr<int>) {}, std::move(owner)); /* already called: nothing is moved */
    CHECK(owner && *owner == 7);
    CHECK_IS(adds<Once>([only = std::make_unique<int>(8)](double) { ran += *only; }, 1), 8);
    CHECK_IS(adds<Once>([](const std::string &text) { ran += static_cast<int>(text.size()); }, "four"), 4);
}

template <class Once> static void members() {
    account own;
    typename Once::flag one, two, three;
    Once::call(one, &account::add, own, 5);
    Once::call(two, &account::add, &own, 5);
    Once::call(three, &account::add, std::ref(own), 5);
    CHECK_IS(own.balance, 15);
    auto shared = std::make_shared<savings>();
    CHECK_IS(adds<Once>(&account::kind, shared), 2);
    CHECK_IS(adds<Once>(&account::kind, static_cast<const account &>(*shared)), 2);
    CHECK_IS(adds<Once>(&account::balance, shared), 0);
}

template <class Once> static void many_threads() {
    const long threads = 8, flags = rounds(2000);
    static std::atomic<int> counts[2000];
    static std::vector<typename Once::flag> onces(2000);
    static int values[2000]; /* not atomic: the flag alone makes them visible */
    for (auto &count : counts) count = 0;
    auto all = [flags] {
        for (long i = 0; i < flags; i++) {
            auto at = static_cast<std::size_t>(i);
            Once::call(onces[at], [at] { ++counts[at], values[at] = 42; });
            CHECK_IS(values[at], 42);
        }
    };
    std::vector<std::unique_ptr<running<decltype(all)>>> callers;
    for (long i = 0; i < threads; i++) callers.push_back(std::make_unique<running<decltype(all)>>(all));
    for (auto &caller : callers) caller->join();
    for (long i = 0; i < flags; i++) CHECK_IS(counts[i], 1);
}

template <class Once> static void a_late_one_waits() {
    static typename Once::flag flag;
    static gate inside = GATE_INIT, go = GATE_INIT;
    static int value = 0;
    running first([] {
        Once::call(flag, [] {
            gate_open(&inside);
            gate_wait(&go);
            value = 1;
        });
    });
    gate_wait(&inside);
    running second([] {
        Once::call(flag, [] { CHECK(!"it ran twice"); });
        CHECK_IS(value, 1);
    });
    second.until_asleep();
    gate_open(&go);
    first.join();
    second.join();
}

template <class Once> static void all() {
    callables<Once>();
    arguments<Once>();
    members<Once>();
    many_threads<Once>();
    a_late_one_waits<Once>();
}

int main() {
    all<ours>();
    all<standard>();
    return finish();
}
