/* lazyonce for C++17: the functions of lazyonce.h as classes. Header-only; link with -llazyonce as in C.
 *
 *     #include <lazyonce.hpp>
 *     #include <iostream>
 *     static int32_t start(void *) { std::cout << "driver started\n"; return 0; }
 *     static const lazy_config config = { sizeof(lazy_config), "driver", start, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
 *     static lazyonce::once driver(&config);
 *     int main() try {
 *         driver.call([] { std::cout << "first\n"; });       // queued
 *         driver.init();                                     // "driver started", "first"
 *         driver.call([] { std::cout << "second\n"; });      // at once
 *     } catch (const lazyonce::error &error) {
 *         std::cerr << error.what() << '\n';
 *     }
 *
 * A failing status is thrown as an `error`; a status that is returned is 0 or positive. What a callable throws never crosses a
 * frame of the library: it is caught below, counts as the failure of its callback (code -1, what() in the message), and is thrown
 * again in the caller. Whatever is no C++ exception, such as the end of a thread, passes through.
 *
 * With -fno-exceptions nothing is thrown: a failing status is returned, `init_for` is false and `slot::get` NULL on any failure, and
 * `lazy_last_error()` tells which. Files with and without exceptions, RTTI and ThreadSanitizer may be linked together and share
 * their onces; but beside files without RTTI, what those throw and copies of an error may have none: catch them by type, and ask
 * nothing else. Threads, blocking and fork are as lazyonce.h says for the function that each member names.
 *
 * Tried with libstdc++. With libc++ all of it works but the end of a thread inside a callable, which libc++abi cannot pass on: the process
 * ends. Files of both may be in one process, each with its own exceptions. Whoever throws through the library (a C callback, an
 * initializer given to `lazy_once_configure`) needs the unwinder that it uses, the shared libgcc_s: a program linked with
 * -static-libgcc, or with LLVM's libunwind, has two, and its process ends.
 */

#ifndef LAZYONCE_HPP
#define LAZYONCE_HPP

#include <lazyonce.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#ifdef __cpp_exceptions
#define LAZY_EXCEPTIONS_ 1
#else
#define LAZY_EXCEPTIONS_ 0
#endif
#ifdef __cpp_rtti
#define LAZY_RTTI_ 1
#else
#define LAZY_RTTI_ 0
#endif
#ifdef LAZY_TSAN_
#define LAZY_RACES_ 1
#else
#define LAZY_RACES_ 0
#endif
#ifdef _LIBCPP_VERSION
#define LAZY_LIBRARY_ libcxx
#else
#define LAZY_LIBRARY_ libstdcxx
#endif

/*
 * One program may hold files of several modes, whose inline functions differ: those stand in a namespace for each mode, and
 * members carry its name as a tag, so that the linker never takes one for the other. The classes are the same in all of them, but for
 * those that hold something of the C++ library, of which a process may have two.
 */
#define LAZY_PASTE_(library, exceptions, rtti, races) library##_##exceptions##rtti##races
#define LAZY_EXPAND_(library, exceptions, rtti, races) LAZY_PASTE_(library, exceptions, rtti, races)
#define LAZY_QUOTE_(name) #name
#define LAZY_TEXT_(name) LAZY_QUOTE_(name)
#define LAZY_MODE_ LAZY_EXPAND_(LAZY_LIBRARY_, LAZY_EXCEPTIONS_, LAZY_RTTI_, LAZY_RACES_)
#define LAZY_MEMBER_ __attribute__((__abi_tag__(LAZY_TEXT_(LAZY_MODE_))))
#define LAZY_VISIBLE_ __attribute__((__visibility__("default")))
/* Of a variable that a process has once, as far as its dynamic symbols are shared; an inline one would keep a plugin from being
 * unloaded. */
#define LAZY_SHARED_ __attribute__((__weak__)) LAZY_VISIBLE_
#define LAZY_COLD_ __attribute__((__noinline__, __cold__))

/** The functions of lazyonce.h as classes. */
namespace lazyonce {

/** A `lazy_status`: 0 or positive is success, negative is failure. */
using status = lazy_status;

inline namespace LAZY_LIBRARY_ {

/** A failed call. Also thrown as something derived from it: catch it by reference. */
class LAZY_VISIBLE_ error : public std::exception {
public:
    /** One of one's own, such as for a test; `message` is copied. */
    error(lazy_status status, std::int32_t code, const char *message)
        : status_(status), code_(code), message_(message) {}
    /** The negative status, such as LAZY_E_TIMEOUT. */
    lazy_status status() const noexcept { return status_; }
    /** What the failed callback returned; -1 if it threw, 0 if none failed. */
    std::int32_t code() const noexcept { return code_; }
    /** The message of `lazy_last_error()`, kept. */
    const char *what() const noexcept override { return message_.what(); }

private:
    lazy_status status_;
    std::int32_t code_;
    std::runtime_error message_; /* a text whose copy cannot throw */
};

/**
 * A queued callback failed (LAZY_E_DEFERRED), in the thread that ran it; the threads that waited get an `error`. If it threw,
 * `std::rethrow_if_nested` throws that again, provided that whoever queued it and whoever ran it share their weak symbols: a plugin
 * loaded with RTLD_LOCAL, or by a program that was linked without -rdynamic, has its own.
 */
class LAZY_VISIBLE_ deferred_error : public error {
public:
    /** As an `error`. */
    using error::error;
};

}  // namespace LAZY_LIBRARY_

/** What can be said about a request, as in `lazy_request`. */
struct options {
    /** Whom it belongs to, for `cancel_owner`; never followed. */
    const void *owner = nullptr;
    /** Not 0: a later request with the same key replaces this one while it is queued. */
    std::uint64_t key = 0;
    /** Lower phases run first. */
    std::int32_t phase = LAZY_PHASE_NORMAL;
    /** LAZY_REQUEST_NO_WAIT, LAZY_REQUEST_HOLD_HOST, or both. */
    std::uint32_t flags = 0;
    /** Where it was made; none for the place of the call. */
    lazy_site site = {nullptr, 0, nullptr};
};

/**
 * One gate, as a `static` or a member: constant-initialized, and nothing to destroy. Close it before its storage ends unless it has
 * no configuration, has nothing queued, and is initialized or untouched; the destructor does not do it.
 */
class once {
public:
    /** No initializer of its own: initializing runs the queue. */
    constexpr once() noexcept : once_ LAZY_ONCE_INIT {}
    /**
     * Bound to a configuration, which is read at first use and must then still be valid. One that `lazy_once_configure` gives it
     * before the first attempt takes its place.
     */
    explicit constexpr once(const lazy_config *config) noexcept : once_ LAZY_ONCE_WITH(config) {}
    once(const once &) = delete;
    once &operator=(const once &) = delete;

    /**
     * `lazy_once_init`: initializes now, unless that has been done, and runs the queue.
     *
     * Returns LAZY_OK; or LAZY_IN_PROGRESS, inside the attempt itself. Throws what the bound configuration's initializer throws, as
     * itself, in the thread that ran it; a `deferred_error` where a queued callback failed; an `error` otherwise.
     * Blocks for as long as the initializer and the queue take, here or in another thread. Initialized: one load and a compare.
     * `file`, `line` and `function` are the place of the call, which errors and `lazy_dump` name. Here and below they are given by a
     * function that has such parameters itself, for its own caller.
     */
    LAZY_MEMBER_ status init(const char *file = __builtin_FILE(), std::uint32_t line = __builtin_LINE(),
                             const char *function = __builtin_FUNCTION());

    /**
     * `lazy_once_init_timeout`: the same, but waits for other threads no longer than this; zero and less: not at all,
     * `nanoseconds::max()`: without a limit. It does not limit what this call itself runs.
     *
     * Returns true where `init` would have returned, false if the time passed. Throws as `init`.
     */
    LAZY_MEMBER_ bool init_for(std::chrono::nanoseconds limit, const char *file = __builtin_FILE(),
                               std::uint32_t line = __builtin_LINE(), const char *function = __builtin_FUNCTION());

    /**
     * `lazy_once_call`: runs `f()` when initialized: now, or as soon as it is. When it runs on which thread is said at `lazy_call`.
     *
     * `f` is invoked as an lvalue, perhaps again after it has failed, and its result is ignored. Where it cannot run at once it is moved
     * (or copied) to the heap, so it may be move-only, and is destroyed once it has run or will never run. Its destructor must not throw.
     * Returns LAZY_OK: it has run; LAZY_QUEUED: it will. Throws what `f` throws when it runs at once, as itself; an `error` if `f` was
     * neither run nor queued, which names the place of this call, as does the one of a queued `f` that fails.
     * Blocks only while another thread initializes. Initialized: a direct call, no lock, no allocation.
     */
    template <class F>
    LAZY_MEMBER_ status call(F &&f, const char *file = __builtin_FILE(), std::uint32_t line = __builtin_LINE(),
                             const char *function = __builtin_FUNCTION());

    /**
     * `lazy_once_submit`: `call` with options. The receipt, if given, is filled whenever `f` ran or was queued; its `ticket` is for `cancel`.
     *
     * Returns and throws as `call`; LAZY_E_NOT_NOW as `lazy_once_submit`.
     */
    template <class F>
    LAZY_MEMBER_ status submit(F &&f, const options &how = {}, lazy_receipt *receipt = nullptr,
                               const char *file = __builtin_FILE(), std::uint32_t line = __builtin_LINE(),
                               const char *function = __builtin_FUNCTION());

    /** `lazy_once_is_initialized`: one load and a compare. Never blocks, never throws. */
    LAZY_MEMBER_ bool is_initialized() const noexcept { return lazy_once_is_initialized(&once_); }

    /** `lazy_once_close`: ends it for good and destroys what is queued. Returns LAZY_OK. Does not wait for an attempt. */
    LAZY_MEMBER_ status close();
    /** `lazy_once_reset`: fresh again, the queue kept. Returns LAZY_OK, or LAZY_IN_PROGRESS inside an attempt. Waits for another's. */
    LAZY_MEMBER_ status reset();
    /**
     * `lazy_once_cancel`: withdraws a request, or waits until it is gone. Returns LAZY_OK: withdrawn; LAZY_IN_PROGRESS: called from
     * inside it. Throws an `error` with LAZY_E_NOT_FOUND if there is none any more, or with LAZY_E_DEADLOCK.
     */
    LAZY_MEMBER_ status cancel(std::uint64_t ticket);
    /**
     * `lazy_once_cancel_owner`: withdraws all of an owner's requests and waits until they are gone. Returns how many had not run. Throws an
     * `error`, and the owner must stay, if waiting would never end (LAZY_E_DEADLOCK) or the once belongs to another copy of the library
     * (LAZY_E_INVALID); or for NULL. Without exceptions as in C.
     */
    LAZY_MEMBER_ std::size_t cancel_owner(const void *owner);

    /** For everything that lazyonce.h has beyond this. */
    constexpr lazy_once *native_handle() noexcept { return &once_; }

private:
    lazy_once once_;
};

}  // namespace lazyonce

#include <lazyonce/detail.hpp>
#include <lazyonce/call_once.hpp>
#include <lazyonce/ending.hpp>
#include <lazyonce/slot.hpp>

namespace lazyonce {

LAZY_MEMBER_ inline status once::init(const char *file, std::uint32_t line, const char *function) {
    return __builtin_expect(is_initialized(), 1) ? LAZY_OK : detail::init(&once_, file, line, function);
}

LAZY_MEMBER_ inline bool once::init_for(std::chrono::nanoseconds limit, const char *file, std::uint32_t line,
                                        const char *function) {
    return __builtin_expect(is_initialized(), 1) || detail::init_for(&once_, limit, file, line, function) >= 0;
}

template <class F>
LAZY_MEMBER_ status once::call(F &&f, const char *file, std::uint32_t line, const char *function) {
    if (__builtin_expect(!is_initialized(), 0))
        return detail::submit(&once_, std::forward<F>(f), {nullptr, 0, 0, 0, {file, line, function}}, nullptr);
    static_cast<void>(f());
    return LAZY_OK;
}

template <class F>
LAZY_MEMBER_ status once::submit(F &&f, const options &how, lazy_receipt *receipt, const char *file, std::uint32_t line,
                                 const char *function) {
    options placed = how;
    if (!placed.site.file) placed.site = {file, line, function};
    return detail::submit(&once_, std::forward<F>(f), placed, receipt);
}

LAZY_MEMBER_ inline status once::close() { return detail::checked(lazy_once_close(&once_)); }
LAZY_MEMBER_ inline status once::reset() { return detail::checked(lazy_once_reset(&once_)); }
LAZY_MEMBER_ inline status once::cancel(std::uint64_t ticket) {
    return detail::checked(lazy_once_cancel(&once_, ticket));
}
LAZY_MEMBER_ inline std::size_t once::cancel_owner(const void *owner) {
    std::size_t withdrawn = lazy_once_cancel_owner(&once_, owner);
    if (withdrawn != SIZE_MAX && owner) return withdrawn;
    const lazy_error *last = lazy_last_error();
    detail::checked(last ? last->status : LAZY_E_DEADLOCK);
    return withdrawn;
}

}  // namespace lazyonce

#undef LAZY_PASTE_
#undef LAZY_EXPAND_
#undef LAZY_QUOTE_
#undef LAZY_TEXT_
#undef LAZY_MODE_
#undef LAZY_MEMBER_
#undef LAZY_VISIBLE_
#undef LAZY_SHARED_
#undef LAZY_LIBRARY_
#undef LAZY_COLD_
#undef LAZY_EXCEPTIONS_
#undef LAZY_RTTI_
#undef LAZY_RACES_

#endif /* LAZYONCE_HPP */
