/* What stands between lazyonce.hpp and the C functions: the callbacks of the library that catch what C++ throws below it, and the calls
 * that throw it again above. A part of lazyonce.hpp, which includes it. */
#ifndef LAZYONCE_DETAIL_HPP
#define LAZYONCE_DETAIL_HPP

namespace lazyonce {

namespace detail {

#if LAZY_EXCEPTIONS_
/* One call of this thread that may run requests of a once, or the factory of a slot at an index: what they throw is left here for
 * it. */
struct collector {
    explicit collector(const void *source, std::uint32_t index = 0) noexcept;
    ~collector();
    collector(const collector &) = delete;
    collector &operator=(const collector &) = delete;

    const void *source;
    std::uint32_t index;
    collector *outer;
    std::exception_ptr thrown{};
};

/* Weak and not inline: an inline variable would be unique in the process, and keep a plugin from being unloaded. */
__attribute__((__weak__)) LAZY_VISIBLE_ __thread collector *innermost = nullptr;

inline collector::collector(const void *from, std::uint32_t at) noexcept : source(from), index(at), outer(innermost) {
    innermost = this;
}
inline collector::~collector() { innermost = outer; }

/* Of several failures the first is reported. */
inline void collect(const void *source, std::uint32_t index, std::exception_ptr thrown) noexcept {
    for (collector *at = innermost; at; at = at->outer) {
        if (at->source != source || at->index != index) continue;
        if (!at->thrown) at->thrown = std::move(thrown);
        return;
    }
}
#endif

inline namespace LAZY_MODE_ {

#if LAZY_EXCEPTIONS_
/* What is thrown has a table of functions for each mode, since the table tells of RTTI: a file without it has none to give. */
template <class Error> struct raised : Error {
    using Error::Error;
};
template <class Error> struct raised_with_nested : Error, std::nested_exception {
    using Error::Error;
};

/* Throws the failure of this thread's latest call. */
[[noreturn]] LAZY_COLD_ inline void raise(status failed, const std::exception_ptr &nested = nullptr) {
    const lazy_error *last = lazy_last_error();
    bool is_recorded = last && last->status == failed;
    std::int32_t code = is_recorded ? last->code : 0;
    const char *message = is_recorded ? last->message : lazy_status_string(failed);
    bool ran_here = is_recorded && last->owner_thread == static_cast<std::uint64_t>(::syscall(SYS_gettid));
    if (failed != LAZY_E_DEFERRED || !ran_here) throw raised<error>(failed, code, message);
    /* Another code is a callback's that returned it and had failed before this one threw. */
    if (!nested || code != -1) throw raised<deferred_error>(failed, code, message);
    try {
        std::rethrow_exception(nested);
    } catch (...) {
        throw raised_with_nested<deferred_error>(failed, code, message);
    }
}

/* Runs a callback below the library. What has no pointer is no C++ exception, and passes. */
template <class Body, class Keep> std::int32_t guarded(const Body &body, Keep keep) {
    try {
        return body();
    } catch (const std::exception &thrown) {
        keep(std::current_exception());
        return lazy_fail(-1, thrown.what());
    } catch (...) {
        std::exception_ptr thrown = std::current_exception();
        if (!thrown) throw;
        keep(std::move(thrown));
        return lazy_fail(-1, "an exception that is no std::exception");
    }
}

/* A call that brings its initializer. */
template <class Body> struct attempt {
    const Body &body;
    std::exception_ptr thrown{};

    static std::int32_t run(void *ctx) {
        auto *self = static_cast<attempt *>(ctx);
        return guarded(self->body, [self](std::exception_ptr caught) { self->thrown = std::move(caught); });
    }
};

template <class Body> LAZY_COLD_ status run(lazy_once *once, const Body &body) {
    attempt<Body> ours{body};
    collector requests(once);
    status result = lazy_once_run(once, attempt<Body>::run, &ours);
    if (ours.thrown && result < 0) std::rethrow_exception(std::move(ours.thrown));
    if (result < 0) raise(result, requests.thrown);
    return result;
}

inline status checked(status result) {
    if (result < 0) raise(result);
    return result;
}
#else
template <class Body, class Keep> std::int32_t guarded(const Body &body, Keep) { return body(); }

template <class Body> LAZY_COLD_ status run(lazy_once *once, const Body &body) {
    auto initializer = [](void *ctx) -> std::int32_t { return (**static_cast<const Body **>(ctx))(); };
    const Body *at = &body;
    return lazy_once_run(once, initializer, &at);
}

inline status checked(status result) { return result; }
#endif

/* A `call_once` that has not been made yet, as far as it knows. */
template <class F, class... Args> LAZY_COLD_ status call(lazy_once *once, F &&f, Args &&...args) {
    status result = run(once, [&] {
        static_cast<void>(std::invoke(std::forward<F>(f), std::forward<Args>(args)...));
        return std::int32_t{0};
    });
    if (result != LAZY_IN_PROGRESS) return result;
#if LAZY_EXCEPTIONS_
    throw raised<error>(LAZY_E_DEADLOCK, 0, "call_once was entered again from inside its own call");
#else
    return LAZY_E_DEADLOCK;
#endif
}

LAZY_COLD_ inline status init(lazy_once *once) {
#if LAZY_EXCEPTIONS_
    const lazy_config *config = __atomic_load_n(&once->config, __ATOMIC_RELAXED);
    bool has_one = config && config->size >= offsetof(lazy_config, prepare) && config->initialize;
    if (has_one) return run(once, [config] { return config->initialize(config->ctx); });
    collector requests(once);
    status result = lazy_once_init(once);
    if (result < 0) raise(result, requests.thrown);
    return result;
#else
    return lazy_once_init(once);
#endif
}

LAZY_COLD_ inline status init_for(lazy_once *once, std::chrono::nanoseconds limit) {
    bool has_limit = limit != std::chrono::nanoseconds::max();
    std::uint64_t ns = !has_limit ? UINT64_MAX : limit.count() < 0 ? 0 : static_cast<std::uint64_t>(limit.count());
#if LAZY_EXCEPTIONS_
    collector requests(once);
    status result = lazy_once_init_timeout(once, ns);
    if (result < 0 && result != LAZY_E_TIMEOUT) raise(result, requests.thrown);
    return result;
#else
    return lazy_once_init_timeout(once, ns);
#endif
}

/* A callable on the heap, until it has run or will never run. */
template <class F> struct boxed {
    const lazy_once *once;
    F f;

    static std::int32_t run(void *ctx) {
        auto *self = static_cast<boxed *>(ctx);
        auto body = [self] { return static_cast<void>(self->f()), std::int32_t{0}; };
        return guarded(body, [self](auto thrown) { collect(self->once, 0, std::move(thrown)); });
    }
    static void drop(void *ctx) noexcept { delete static_cast<boxed *>(ctx); }
};

template <class F> LAZY_COLD_ status submit(lazy_once *once, F &&f, const options &how, lazy_receipt *receipt) {
    using box = boxed<std::decay_t<F>>;
    box *ctx = new (std::nothrow) box{once, std::forward<F>(f)};
    if (!ctx) return checked(LAZY_E_NOMEM);
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = box::run;
    request.ctx = ctx;
    request.drop = box::drop;
    request.owner = how.owner;
    request.key = how.key;
    request.phase = how.phase;
    request.flags = how.flags;
    request.site = how.site;
#if LAZY_EXCEPTIONS_
    collector requests(once);
#endif
    status result = lazy_once_submit(once, &request, receipt);
    std::unique_ptr<box> untaken(result < 0 && result != LAZY_E_CALLBACK ? ctx : nullptr);
#if LAZY_EXCEPTIONS_
    if (result == LAZY_E_CALLBACK && requests.thrown) std::rethrow_exception(std::move(requests.thrown));
#endif
    return checked(result);
}

}  // namespace LAZY_MODE_
}  // namespace detail

}  // namespace lazyonce

#endif /* LAZYONCE_DETAIL_HPP */
