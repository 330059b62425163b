/* The two call_onces under one interface, so that what is checked of one is checked of the other. For C++17. */
#ifndef CALL_ONCE_HPP
#define CALL_ONCE_HPP
#include "caught.hpp"
#include <mutex>

struct ours {
    using flag = lazyonce::once_flag;
    static constexpr const char *name = "lazyonce";
    template <class... Args> static void call(flag &once, Args &&...args) {
        lazyonce::call_once(once, std::forward<Args>(args)...);
    }
};
struct standard {
    using flag = std::once_flag;
    static constexpr const char *name = "std";
    template <class... Args> static void call(flag &once, Args &&...args) {
        std::call_once(once, std::forward<Args>(args)...);
    }
};

/* std::call_once over pthread_once hangs under ThreadSanitizer as soon as its call does not return. */
#ifdef LAZY_TSAN_
constexpr bool standard_survives_exceptions = false;
#else
constexpr bool standard_survives_exceptions = true;
#endif
#endif
