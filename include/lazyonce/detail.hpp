/* What stands between lazyonce.hpp and the C functions: the callbacks of the library that catch what C++ throws below it, and the calls
 * that throw it again above. A part of lazyonce.hpp, which includes it. */
#ifndef LAZYONCE_DETAIL_HPP
#define LAZYONCE_DETAIL_HPP

namespace lazyonce {

namespace detail {

#if LAZY_EXCEPTIONS_
inline namespace LAZY_LIBRARY_ {

/* One call of this thread that may run requests of a once, or the factory of a slot at an index: what they throw is left here for
 * it, with the place of the request. */
struct collector {
    explicit collector(const void *source, std::uint32_t index = 0) noexcept;
    ~collector();
    collector(const collector &) = delete;
    collector &operator=(const collector &) = delete;

    const void *source;
    std::uint32_t index;
    collector *outer;
    std::exception_ptr thrown{};
    lazy_site site{};
};

extern LAZY_SHARED_ __thread collector *innermost;
LAZY_SHARED_ __thread collector *innermost = nullptr;

inline collector::collector(const void *from, std::uint32_t at) noexcept : source(from), index(at), outer(innermost) {
    innermost = this;
}
inline collector::~collector() { innermost = outer; }

/* Of several failures the first is reported. */
inline void collect(const void *source, std::uint32_t index, std::exception_ptr thrown, const lazy_site &site = {}) noexcept {
    for (collector *at = innermost; at; at = at->outer) {
        if (at->source != source || at->index != index) continue;
        if (at->thrown) return;
        at->thrown = std::move(thrown);
        at->site = site;
        return;
    }
}

}  // namespace LAZY_LIBRARY_
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

inline bool is_same(const char *a, const char *b) { return a == b || (a && b && !std::strcmp(a, b)); }

/* Is this what the request threw that failed first? Others may have failed beside it, or before, by returning a code. */
inline bool is_cause(const collector &requests, const lazy_error &failure) {
    const lazy_site &a = requests.site, &b = failure.site;
    return requests.thrown && failure.code == -1 && a.line == b.line && is_same(a.file, b.file) && is_same(a.function, b.function);
}

/* Throws the failure of this thread's latest call. */
[[noreturn]] LAZY_COLD_ inline void raise(status failed, const collector *requests = nullptr) {
    const lazy_error *last = lazy_last_error();
    bool is_recorded = last && last->status == failed;
    std::int32_t code = is_recorded ? last->code : 0;
    const char *message = is_recorded ? last->message : lazy_status_string(failed);
    bool ran_here = is_recorded && last->owner_thread == static_cast<std::uint64_t>(::syscall(SYS_gettid));
    if (failed != LAZY_E_DEFERRED || !ran_here) throw raised<error>(failed, code, message);
    if (!requests || !is_cause(*requests, *last)) throw raised<deferred_error>(failed, code, message);
    try {
        std::rethrow_exception(requests->thrown);
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

/* Who gave a limit wants to know that it has passed. */
inline status initialized(status result, const collector &requests, bool is_limited) {
    if (result < 0 && !(is_limited && result == LAZY_E_TIMEOUT)) raise(result, &requests);
    return result;
}

template <class Body>
LAZY_COLD_ status run(lazy_once *once, const Body &body, const lazy_site &site, const std::uint64_t *limit = nullptr) {
    attempt<Body> ours{body};
    collector requests(once);
    status result = lazy_once_run_slow(once, attempt<Body>::run, &ours, limit, &site);
    if (ours.thrown && result < 0) std::rethrow_exception(std::move(ours.thrown));
    return initialized(result, requests, limit);
}

inline status checked(status result) {
    if (result < 0) raise(result);
    return result;
}
#else
template <class Body, class Keep> std::int32_t guarded(const Body &body, Keep) { return body(); }

template <class Body> LAZY_COLD_ status run(lazy_once *once, const Body &body, const lazy_site &site) {
    auto initializer = [](void *ctx) -> std::int32_t { return (**static_cast<const Body **>(ctx))(); };
    const Body *at = &body;
    return lazy_once_run_slow(once, initializer, &at, nullptr, &site);
}

inline status checked(status result) { return result; }
#endif

/* A `call_once` that has not been made yet, as far as it knows. The parts of a site are put together here: its caller would keep room for a
 * struct on every call. */
template <class F, class... Args>
LAZY_COLD_ status call(lazy_once *once, const char *file, std::uint32_t line, const char *function, F &&f, Args &&...args) {
    auto body = [&] {
        static_cast<void>(std::invoke(std::forward<F>(f), std::forward<Args>(args)...));
        return std::int32_t{0};
    };
    status result = run(once, body, {file, line, function});
    if (result != LAZY_IN_PROGRESS) return result;
#if LAZY_EXCEPTIONS_
    throw raised<error>(LAZY_E_DEADLOCK, 0, "call_once was entered again from inside its own call");
#else
    return LAZY_E_DEADLOCK;
#endif
}

LAZY_COLD_ inline status init(lazy_once *once, const char *file, std::uint32_t line, const char *function,
                              const std::uint64_t *limit = nullptr) {
    lazy_site site = {file, line, function};
#if LAZY_EXCEPTIONS_
    const lazy_config *config = __atomic_load_n(&once->config, __ATOMIC_RELAXED);
    bool has_one = config && config->size >= offsetof(lazy_config, prepare) && config->initialize;
    if (has_one) return run(once, [config] { return config->initialize(config->ctx); }, site, limit);
    collector requests(once);
    return initialized(lazy_once_run_slow(once, nullptr, nullptr, limit, &site), requests, limit);
#else
    return lazy_once_run_slow(once, nullptr, nullptr, limit, &site);
#endif
}

LAZY_COLD_ inline status init_for(lazy_once *once, std::chrono::nanoseconds limit, const char *file, std::uint32_t line,
                                  const char *function) {
    bool has_limit = limit != std::chrono::nanoseconds::max();
    std::uint64_t ns = !has_limit ? UINT64_MAX : limit.count() < 0 ? 0 : static_cast<std::uint64_t>(limit.count());
    return init(once, file, line, function, &ns);
}

/* A callable on the heap, until it has run or will never run. */
template <class F> struct boxed {
    const lazy_once *once;
    F f;
    lazy_site site;

    static std::int32_t run(void *ctx) {
        auto *self = static_cast<boxed *>(ctx);
        auto body = [self] { return static_cast<void>(self->f()), std::int32_t{0}; };
        return guarded(body, [self](auto thrown) { collect(self->once, 0, std::move(thrown), self->site); });
    }
    static void drop(void *ctx) noexcept { delete static_cast<boxed *>(ctx); }
};

template <class F> LAZY_COLD_ status submit(lazy_once *once, F &&f, const options &how, lazy_receipt *receipt) {
    using box = boxed<std::decay_t<F>>;
    box *ctx = new (std::nothrow) box{once, std::forward<F>(f), how.site};
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
