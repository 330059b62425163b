/* A drop-in for std::call_once. A part of lazyonce.hpp, which includes it. */
#ifndef LAZYONCE_CALL_ONCE_HPP
#define LAZYONCE_CALL_ONCE_HPP

namespace lazyonce {

namespace detail {

/* Constant, so a flag is never configured and owns nothing between its calls; every file has its own, which unloads with it. */
constexpr lazy_config take_turns = {sizeof(lazy_config), "once_flag", nullptr, nullptr, nullptr, nullptr, nullptr,
                                    LAZY_FAIL_RETRY,     0,           0,       0,       0};

}  // namespace detail

/**
 * As `std::once_flag`: constant-initialized, nothing to destroy, and it owns nothing once its call has ended, so its storage may simply
 * end.
 */
class once_flag {
public:
    /** Its call has not been made. */
    constexpr once_flag() noexcept : once_ LAZY_ONCE_WITH(&detail::take_turns) {}
    once_flag(const once_flag &) = delete;
    once_flag &operator=(const once_flag &) = delete;
    /** For `lazy_once_info` and the like. */
    constexpr lazy_once *native_handle() noexcept { return &once_; }

private:
    lazy_once once_;
};

namespace detail {

/* A flag, and the place of the call that it is given to: behind a pack of arguments no parameter has a default. */
struct flag_here {
    constexpr flag_here(once_flag &given, const char *in = __builtin_FILE(), std::uint32_t at = __builtin_LINE(),
                        const char *by = __builtin_FUNCTION()) noexcept
        : flag(given.native_handle()), file(in), function(by), line(at) {}

    lazy_once *flag;
    const char *file, *function;
    std::uint32_t line;
};

}  // namespace detail

inline namespace LAZY_MODE_ {

#if LAZY_EXCEPTIONS_
/** What `call_once` returns: nothing, or without exceptions a status. */
using called = void;
#else
using called = status;
#endif

/**
 * As `std::call_once`: invokes `f(args...)`, unless that has been done for this `once_flag`. What it throws reaches its caller, and the
 * next thread that waits takes over.
 *
 * Beyond it: from inside its own call it throws an `error` with LAZY_E_DEADLOCK, as does a call that would close a circle of waits over
 * several flags; a child forked during the call finds the flag untouched. Any other `error` is as `lazy_once_run` says.
 * Blocks while another thread makes the call. Done: one load and a compare.
 * Without exceptions it returns LAZY_OK or the failing status.
 */
template <class F, class... Args> called call_once(detail::flag_here flag, F &&f, Args &&...args) {
    static_assert(std::is_invocable_v<F, Args...>, "call_once: f(args...) cannot be called");
    if (__builtin_expect(lazy_once_is_initialized(flag.flag), 1)) return called(LAZY_OK);
    return called(detail::call(flag.flag, flag.file, flag.line, flag.function, std::forward<F>(f), std::forward<Args>(args)...));
}

}  // namespace LAZY_MODE_
}  // namespace lazyonce

#endif /* LAZYONCE_CALL_ONCE_HPP */
