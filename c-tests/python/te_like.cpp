/* An extension that does what TransformerEngine's init_extension does: bindings, with and without the GIL released, whose
   first call imports modules in C++. In five variants of "once", for the rows of run.py; a process is for one row. */
#include <lazyonce.h>

#include <pybind11/gil_safe_call_once.h>
#include <pybind11/pybind11.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace py = pybind11;

enum variant { LAZYONCE, NONE, INSIDE, OUTSIDE, PYBIND }; /* where the GIL is taken: see once_of below */

/* Who has come in, so that an initializer can wait for a caller of a kind. Never waited for with the GIL held. */
struct caller { int thread, once; bool held; };
static std::mutex callers_lock;
static std::condition_variable callers_changed;
static std::vector<caller> callers;
static bool inside[2];

static int thread_id() { return static_cast<int>(syscall(SYS_gettid)); }

static bool is_asleep(int thread, char *before, size_t size) {
    char path[64], now[256];
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", thread);
    int fd = open(path, O_RDONLY);
    if (fd < 0) return true; /* it has ended */
    ssize_t length = read(fd, now, sizeof now - 1);
    close(fd);
    now[length > 0 ? length : 0] = 0;
    bool same = length > 0 && now[0] != 'r' && atol(now) == SYS_futex && !strcmp(now, before);
    snprintf(before, size, "%s", now);
    return same;
}
static void until_asleep(int thread) {
    char before[256] = "";
    for (int same = 0; same < 3; sched_yield()) same = is_asleep(thread, before, sizeof before) ? same + 1 : 0;
}
static void announce(int once, bool held) {
    std::lock_guard<std::mutex> guard(callers_lock);
    callers.push_back({thread_id(), once, held});
    callers_changed.notify_all();
}
static void open_inside(int once) {
    std::lock_guard<std::mutex> guard(callers_lock);
    inside[once] = true;
    callers_changed.notify_all();
}
static void wait_inside(int once) {
    std::unique_lock<std::mutex> guard(callers_lock);
    callers_changed.wait(guard, [once] { return inside[once]; });
}
static int find_caller(int once, bool held) {
    int me = thread_id();
    for (const caller &each : callers)
        if (each.once == once && each.held == held && each.thread != me) return each.thread;
    return 0;
}
static void wait_for_caller(int once, bool held) {
    int thread = 0;
    {
        std::unique_lock<std::mutex> guard(callers_lock);
        callers_changed.wait(guard, [&] { return (thread = find_caller(once, held)) != 0; });
    }
    until_asleep(thread);
}
static void wait_for_thread(int thread) {
    {
        std::unique_lock<std::mutex> guard(callers_lock);
        callers_changed.wait(guard, [thread] {
            return std::any_of(callers.begin(), callers.end(), [thread](caller each) { return each.thread == thread; });
        });
    }
    until_asleep(thread);
}
/* The same as a question that keeps the GIL, for an initializer in Python that never lets it go of its own accord. */
static bool caller_is_asleep(int once, bool held) {
    static char before[256];
    std::lock_guard<std::mutex> guard(callers_lock);
    int thread = find_caller(once, held);
    return thread && is_asleep(thread, before, sizeof before);
}

/* What the initializer does besides importing; set before the first call. */
static struct {
    int failures = 0;       /* so many runs of the first once raise */
    int waits_for = -1;     /* its first run waits for another caller: 0 a released one, 1 a held one */
    bool nested = false;    /* the first once uses the second, in the variant below */
    bool imports = true;    /* all of them, or the first only */
    PyObject *also = nullptr; /* a callable, or NULL */
} plan;
static std::atomic<int> runs[2];

static void (*use_nested)(int) = nullptr;

static void import(const char *name) { py::module_::import(name).release(); /* kept for good, as there */ }

static void initialize(int which) {
    int run = ++runs[which];
    import("decimal");
    open_inside(which);
    bool outer = which == 0 && plan.nested;
    if (run == 1 && plan.waits_for >= 0 && !outer) {
        py::gil_scoped_release released;
        wait_for_caller(which, plan.waits_for == 1);
    }
    if (outer) {
        announce(1, true);
        use_nested(1);
    }
    if (which == 0 && run <= plan.failures) import("te_like_lacks_this_module");
    if (plan.also) py::reinterpret_borrow<py::object>(plan.also)();
    if (!plan.imports) return;
    import("email.mime.multipart");
    import("http.client");
    import("xml.dom.minidom");
}

static lazy_once lazy_onces[2];
static std::once_flag flags[2];
static py::gil_safe_call_once_and_store<int> stores[2];

/* The caller came in attached, or it has no Python exception to look for. */
static void check(lazy_status status, bool held) {
    if (status == LAZY_E_INTERRUPTED && held) throw py::error_already_set();
    if (status < 0) throw std::runtime_error(lazy_last_error()->message);
}
template <variant v> static void once_of(int which, bool held) {
    if constexpr (v == LAZYONCE) {
        check(LAZY_INIT(&lazy_onces[which]), held);
    } else if constexpr (v == NONE) {
        std::call_once(flags[which], initialize, which);
    } else if constexpr (v == INSIDE) {
        std::call_once(flags[which], [which] {
            py::gil_scoped_acquire gil;
            initialize(which);
        });
    } else if constexpr (v == OUTSIDE) {
        py::gil_scoped_acquire gil;
        std::call_once(flags[which], initialize, which);
    } else {
        py::gil_scoped_acquire gil;
        stores[which].call_once_and_store_result([which] {
            initialize(which);
            return which;
        });
    }
}
template <variant v, bool held> static int use(int which) {
    announce(which, held);
    once_of<v>(which, held);
    return runs[which];
}
template <variant v> static void nested(int which) { once_of<v>(which, true); }

static int32_t initialize_lazily(void *which) {
    initialize(static_cast<int>(reinterpret_cast<intptr_t>(which)));
    return 0;
}
static bool configure(uint32_t on_failure) {
    static const char *const names[] = {"te_like", "te_like.nested"};
    for (intptr_t which = 0; which < 2; which++) {
        lazy_config config = LAZY_CONFIG_INIT;
        config.name = names[which];
        config.initialize = initialize_lazily;
        config.ctx = reinterpret_cast<void *>(which);
        config.host = lazy_host_cpython();
        config.on_failure = on_failure;
        if (!config.host || lazy_once_configure(&lazy_onces[which], &config) < 0) return false;
    }
    return true;
}
template <bool held> static int try_init(int which) {
    announce(which, held);
    return LAZY_INIT(&lazy_onces[which]);
}
static lazy_info info() {
    lazy_info now = LAZY_INFO_INIT;
    lazy_once_info(&lazy_onces[0], &now);
    return now;
}

/* Threads that Python knows nothing of. */
static std::vector<std::thread> foreign;
static std::atomic<int> foreign_done;

template <variant v> static void foreign_start(int count) {
    for (int i = 0; i < count; i++)
        foreign.emplace_back([] {
            use<v, false>(0);
            ++foreign_done;
        });
}
static int foreign_join() {
    for (std::thread &each : foreign) each.join();
    return foreign_done;
}

/* A callback that touches Python. It leaves what it has imported, and how, for imported(). */
struct request_context { std::string module, inner; bool hold; };
static std::atomic<int> imported, inner_outcome;

static std::pair<int, int> hand_in(const std::string &module, const std::string &inner, bool hold);
static int32_t import_it(void *ctx) {
    auto request = static_cast<request_context *>(ctx);
    import(request->module.c_str());
    ++imported;
    if (!request->inner.empty()) inner_outcome = hand_in(request->inner, "", request->hold).second;
    return 0;
}
static std::pair<int, int> hand_in(const std::string &module, const std::string &inner, bool hold) {
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    request.fn = import_it;
    request.ctx = new request_context{module, inner, hold};
    request.drop = [](void *ctx) { delete static_cast<request_context *>(ctx); };
    request.flags = hold ? LAZY_REQUEST_HOLD_HOST : 0;
    request.site = LAZY_HERE;
    lazy_status status = lazy_once_submit(&lazy_onces[0], &request, &receipt);
    if (status < 0 && status != LAZY_E_CALLBACK) request.drop(request.ctx);
    return {status, static_cast<int>(receipt.outcome)};
}
template <bool held> static std::pair<int, int> submit(const std::string &module, const std::string &inner, bool hold) {
    announce(0, held);
    auto outcome = hand_in(module, inner, hold);
    if (held && outcome.first == LAZY_E_INTERRUPTED) throw py::error_already_set();
    return outcome;
}

/* The median of one call on an initialized once, in nanoseconds, with a millisecond before each batch in which a busy thread can
   take the GIL. */
template <variant v> static double ready_cost(int batches, int calls) {
    using clock = std::chrono::steady_clock;
    lazy_status (*volatile init)(lazy_once *) = lazy_once_init; /* the library's own, not the inline path */
    std::vector<double> costs;
    for (int i = 0; i < batches; i++) {
        usleep(1000);
        auto begin = clock::now();
        for (int j = 0; j < calls; j++) {
            if (v == LAZYONCE) init(&lazy_onces[0]);
            else once_of<v>(0, false);
        }
        costs.push_back(std::chrono::duration<double, std::nano>(clock::now() - begin).count() / calls);
    }
    std::sort(costs.begin(), costs.end());
    return costs[costs.size() / 2];
}

template <variant v> static void add(py::module_ &m, const std::string &name) {
    using release = py::call_guard<py::gil_scoped_release>;
    m.def((name + "_held").c_str(), use<v, true>);
    m.def((name + "_released").c_str(), use<v, false>, release());
    m.def((name + "_foreign_start").c_str(), foreign_start<v>);
    m.def((name + "_ready_cost").c_str(), ready_cost<v>, release());
    m.def((name + "_nests").c_str(), [] { use_nested = nested<v>; });
}

PYBIND11_MODULE(te_like, m) {
    using release = py::call_guard<py::gil_scoped_release>;
    add<LAZYONCE>(m, "lazyonce");
    add<NONE>(m, "none");
    add<INSIDE>(m, "inside");
    add<OUTSIDE>(m, "outside");
    add<PYBIND>(m, "pybind");
    m.def("plan", [](int failures, int waits_for, bool nested, bool imports, py::object also) {
        plan.failures = failures;
        plan.waits_for = waits_for;
        plan.nested = nested;
        plan.imports = imports;
        plan.also = also.is_none() ? nullptr : also.release().ptr();
    }, py::arg("failures") = 0, py::arg("waits_for") = -1, py::arg("nested") = false, py::arg("imports") = true,
          py::arg("also") = py::none());
    m.def("configure", configure);
    m.def("try_init_held", try_init<true>);
    m.def("try_init_released", try_init<false>, release());
    m.def("submit_held", submit<true>);
    m.def("submit_released", submit<false>, release());
    m.def("imported", [] { return imported.load(); });
    m.def("inner_outcome", [] { return inner_outcome.load(); });
    m.def("runs", [](int which) { return runs[which].load(); });
    m.def("phase", [] { return info().phase; });
    m.def("waiters", [] { return info().waiters; });
    m.def("last_error", [] { return lazy_last_error() ? lazy_last_error()->message : "none"; });
    m.def("foreign_join", foreign_join, release());
    m.def("wait_inside", wait_inside, release());
    m.def("wait_for_caller", wait_for_caller, release());
    m.def("wait_for_thread", wait_for_thread, release());
    m.def("until_asleep", until_asleep, release());
    m.def("caller_is_asleep", caller_is_asleep);
}
