/* The CPython interpreter whose Python.h this file is compiled with, as a host for lazyonce:
 *
 *     config.host = lazy_host_python();
 *
 * For extensions and embedding programs whose libpython is private to them, where lazy_host_cpython() finds none; elsewhere the two
 * are the same host and may be mixed. Ctrl-C, finalising and sub-interpreters are as lazy_host_cpython() says. C99 and C++11, CPython 3.9
 * and newer, also with Py_LIMITED_API. In C, compile with -fexceptions: CPython up to 3.13 ends a daemon thread that waits for
 * the GIL at exit by unwinding it. */
#ifndef LAZYONCE_PYTHON_H
#define LAZYONCE_PYTHON_H

#include <Python.h>
#include <lazyonce.h>

#if defined(__cplusplus)
#define LAZY_PYTHON_THREAD_ thread_local
#else
#define LAZY_PYTHON_THREAD_ __thread
#endif

/* Touching the interpreter now could end this thread, or crash. */
static inline int lazy_python_is_over_(void) {
    if (!Py_IsInitialized()) return 1;
#if defined(Py_LIMITED_API) && Py_LIMITED_API + 0 < 0x030d0000
    return 0;
#elif PY_VERSION_HEX >= 0x030d0000
    return Py_IsFinalizing();
#else
    return _Py_IsFinalizing();
#endif
}

/* Did this thread come in holding the GIL, at each run_attached that it is inside of? Only then may an exception be left. */
static inline int *lazy_python_came_in_without_(void) {
    static LAZY_PYTHON_THREAD_ int came_in_without = 0;
    return &came_in_without;
}

typedef struct lazy_python_held_ {
    PyGILState_STATE state;
    int is_held; /* not where the interpreter ended this thread instead of giving it the GIL */
    int outer;
} lazy_python_held_;

static inline void lazy_python_release_(lazy_python_held_ *held) {
    *lazy_python_came_in_without_() = held->outer;
    if (held->is_held && !lazy_python_is_over_()) PyGILState_Release(held->state);
}

static inline void lazy_python_restore_(PyThreadState **thread) {
    if (*thread && !lazy_python_is_over_()) PyEval_RestoreThread(*thread);
}

static inline int32_t lazy_python_run_attached_(void *ctx, void (*body)(void *arg), void *arg) {
    __attribute__((__cleanup__(lazy_python_release_))) lazy_python_held_ held = { PyGILState_UNLOCKED, 0, 0 };
    (void)ctx;
    /* A cleanup runs on every way out, so the refusal comes before there is something to clean up. */
    held.outer = *lazy_python_came_in_without_();
    held.state = PyGILState_Ensure();
    held.is_held = 1;
    *lazy_python_came_in_without_() = held.outer || held.state != PyGILState_LOCKED;
    body(arg);
    return 0;
}

static inline int32_t lazy_python_attach_(void *ctx, void (*body)(void *arg), void *arg) {
    return lazy_python_is_over_() ? 1 : lazy_python_run_attached_(ctx, body, arg);
}

static inline int32_t lazy_python_wait_detached_(void *ctx, void (*park)(void *arg), void (*interrupt)(void *arg), void *arg) {
    PyThreadState *saved;
    (void)ctx;
    (void)interrupt;
    {
        __attribute__((__cleanup__(lazy_python_restore_))) PyThreadState *thread = PyEval_SaveThread();
        park(arg);
        saved = thread;
        thread = NULL; /* on the way back the interpreter may end this thread, which must not do it again */
    }
    PyEval_RestoreThread(saved);
    return !*lazy_python_came_in_without_() && PyErr_CheckSignals() < 0;
}

/* The table; never NULL. Valid for as long as the object is loaded that this is compiled into. */
static inline const lazy_host *lazy_host_python(void) {
    /* The context tells that two tables speak of one interpreter. */
    static const lazy_host host = { sizeof(lazy_host), "python", __extension__(void *)(size_t)&PyGILState_Ensure,
                                    lazy_python_attach_, lazy_python_wait_detached_ };
    return &host;
}

#undef LAZY_PYTHON_THREAD_
#endif
