/* What the C++ programs about slots share: a value that can be neither moved nor copied, and counts of those. For C++17. */
#ifndef CPP_SLOTS_HPP
#define CPP_SLOTS_HPP
#include "caught.hpp"
#include <mutex>

static std::atomic<int> made, destroyed;

struct fixed {
    explicit fixed(std::uint32_t number) : index(number), maker(thread_id()) { ++made; }
    fixed(const fixed &) = delete;
    fixed &operator=(const fixed &) = delete;
    ~fixed() {
        CHECK_IS(std::exchange(mark, 0), 1234);
        ++destroyed;
    }

    std::mutex lock{};
    std::uint32_t index;
    int maker;
    std::atomic<int> uses{0};
    int mark = 1234;
};
inline fixed make_fixed(std::uint32_t index) { return fixed(index); }

/* A function on a thread of its own, to its end. */
template <class F> void on_a_thread(F f) {
    running thread(f);
    thread.join();
}
#endif
