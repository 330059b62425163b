/* What a C++ program checks about exceptions, and threads that it waits for. For C++17. */
#ifndef CAUGHT_HPP
#define CAUGHT_HPP
#include "check.h"
#include <atomic>
#include <lazyonce.hpp>
#include <string>
#include <type_traits>
#include <typeinfo>

/* An exception that is no std::exception, and one that is. */
struct refused { int number; };
struct broken : std::exception {
    const char *what() const noexcept override { return "the cable is broken"; }
};

/* What is thrown, as what it is. */
template <class Thrown, class F> Thrown caught(F f) {
    try {
        f();
    } catch (const Thrown &thrown) {
        return thrown;
    } catch (...) {
        CHECK(!"something else was thrown");
    }
    CHECK(!"nothing was thrown");
    abort();
}
template <class F> void throws_status(F f, lazyonce::status wanted) {
    CHECK_IS(caught<lazyonce::error>(f).status(), wanted);
}
/* Is it an `error` and no more? */
inline bool is_deferred(const lazyonce::error &error) { return dynamic_cast<const lazyonce::deferred_error *>(&error); }

inline lazy_info info_of(lazy_once *once) {
    lazy_info info = LAZY_INFO_INIT;
    CHECK_IS(lazy_once_info(once, &info), LAZY_OK);
    return info;
}

/* A thread that runs `f`, and the moment when it sleeps. */
template <class F> class running {
public:
    explicit running(F f) : f_(f), thread_(start(body, this)) {}
    void until_asleep() {
        while (!id_) sched_yield();
        ::until_asleep(id_);
    }
    void *join() { return ::join(thread_); }
    pthread_t handle() const { return thread_; }

private:
    static void *body(void *self) {
        auto *me = static_cast<running *>(self);
        me->id_ = thread_id();
        me->f_();
        return nullptr;
    }
    F f_;
    std::atomic<int> id_{0};
    pthread_t thread_;
};
#endif
