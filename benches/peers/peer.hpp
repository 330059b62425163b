// What a library shows to the bench: loops that are timed and counted, and onces that a crowd waits for.
#ifndef PEER_HPP
#define PEER_HPP
#include <cstddef>
#include <cstdint>
#include <optional>

#define SHOWN extern "C" __attribute__((visibility("default")))

// Does something `times` times. With `which` two threads can each have an object of their own, or share one.
struct loop {
    const char *name;  // NULL ends a table
    void (*run)(uint64_t times, unsigned which);
    void (*before)(uint64_t times);  // not measured, nor is `after`; each may be NULL
    void (*after)();
};

// A once of which there is a fresh one in each round.
struct gate {
    const char *name;  // NULL ends a table
    void (*make)();
    void (*run)(void (*initialize)());
};

// The compiler must go through each turn of a loop, and keeps nothing of the last one.
inline void turn() { __asm__ volatile("" ::: "memory"); }

// On lines of their own, so that two threads share what they are given to share and nothing else.
template <class T> struct alignas(128) apart {
    T it;
};

__attribute__((noinline)) inline void nothing() { turn(); }

// The loop and the gate of a kind of once. `Call` uses one with whatever can be called.
template <class Once, class Call> struct peer {
    static constexpr Call call{};
    static inline apart<Once> ready[2]{};
    static inline std::optional<Once> fresh;
    static void before(uint64_t) {
        for (auto &once : ready) call(once.it, nothing);
    }
    static void run(uint64_t times, unsigned which) {
        Once &once = ready[which].it;
        for (; times; times--) {
            turn();
            call(once, nothing);
        }
    }
    static void make() { fresh.emplace(); }
    static void start(void (*initialize)()) { call(*fresh, initialize); }
};

// The tables of a file that has one kind of once.
#define SHOW(name, Once, Call)                                                                              \
    using shown = peer<Once, Call>;                                                                         \
    SHOWN const loop loops[] = {{name, shown::run, shown::before, nullptr}, {nullptr, nullptr, nullptr, nullptr}}; \
    SHOWN const gate gates[] = {{name, shown::make, shown::start}, {nullptr, nullptr, nullptr}};
#endif
