/* lazyonce: starts something expensive once, when it is first needed, and runs what had to wait for it.
 *
 * 1. The card
 * ===========
 *
 *     lazy_status lazy_init(void);                        start it now, unless it is started
 *     lazy_status lazy_call(lazy_fn fn, void *ctx);       run fn(ctx) when it is started: now, or as soon as it is
 *     bool        is_initialized(void);                   is it started, and has everything that waited run?
 *
 *     typedef int32_t (*lazy_fn)(void *ctx);              0 is success, anything else a failure code
 *
 *     LAZY_OK           0    done: started, or the callback ran and succeeded
 *     LAZY_QUEUED       1    the callback waits; it runs when somebody calls lazy_init
 *     LAZY_IN_PROGRESS  2    you are inside the start that you asked for; it is not done again
 *     LAZY_E_INIT      -3    the initializer failed; call again to try again
 *     LAZY_E_DEFERRED  -4    a queued callback failed; the next lazy_init goes on from there
 *     LAZY_E_CALLBACK  -5    your callback ran now and failed
 *
 * Every failure is negative, and lazy_last_error()->message says what happened in a sentence. Callbacks may call all
 * of this again, from any depth: lazy_call inside a queued callback runs at once, lazy_init returns LAZY_IN_PROGRESS.
 *
 *     #include <lazyonce.h>
 *     #include <stdio.h>
 *     static int32_t start(void *ctx) { (void)ctx; return puts("driver started") < 0; }
 *     static int32_t seed(void *ctx) { return printf("seed %d\n", *(int *)ctx) < 0; }
 *     int main(void) {
 *         int first = 1, second = 2;
 *         lazy_config config = LAZY_CONFIG_INIT;
 *         config.initialize = start;
 *         if (lazy_once_configure(lazy_default(), &config) < 0 || lazy_call(seed, &first) < 0) return 1;
 *         if (lazy_init() < 0) { puts(lazy_last_error()->message); return 1; }
 *         return lazy_call(seed, &second) < 0;
 *     }
 *
 * It prints "driver started", "seed 1", "seed 2". Build it with: cc program.c -llazyonce;
 * where it is not installed, with -I, -L and -Wl,-rpath for its folders.
 *
 * Everything above is enough for most programs. What follows says it exactly, and adds onces of one's own: a library
 * keeps a `static lazy_once` and leaves the default to the application.
 */

#ifndef LAZYONCE_H
#define LAZYONCE_H

/* Generated from src/abi.rs, src/ffi and cmake/header: change it there. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The version of this header; `lazy_version()` is the version of the library that runs. */
#define LAZY_VERSION_MAJOR 0
/** Higher in a version that has more in it. */
#define LAZY_VERSION_MINOR 1
/** Higher in a version that has faults mended. */
#define LAZY_VERSION_PATCH 0
/** The three in one number, as `lazy_version()` returns it. */
#define LAZY_VERSION_NUMBER (LAZY_VERSION_MAJOR << 16 | LAZY_VERSION_MINOR << 8 | LAZY_VERSION_PATCH)
/** The three as a text. */
#define LAZY_VERSION_STRING "0.1.0"

/** Stands before each function of the library. Define it yourself to replace it. */
#ifndef LAZY_API
#if defined(__GNUC__)
#define LAZY_API __attribute__((__visibility__("default")))
#else
#define LAZY_API
#endif
#endif

/** Done: the once is initialized, or the callback ran and returned 0. */
#define LAZY_OK 0

/** The callback waits in the queue; the thread that initializes the once will run it. Nothing to do. */
#define LAZY_QUEUED 1

/** This thread is already inside the attempt that it asked for: do not start again, and do not take it for ready. */
#define LAZY_IN_PROGRESS 2

/** An argument is NULL, malformed, or from a header that this library does not know: correct the call. */
#define LAZY_E_INVALID -1

/** No memory for the queue entry: nothing was queued and nothing has changed; free memory and call again. */
#define LAZY_E_NOMEM -2

/** The initializer failed; `lazy_last_error()->code` is what it returned. Call again to try again. */
#define LAZY_E_INIT -3

/** A queued callback failed; the error's `site` says who queued it. The next attempt resumes there. */
#define LAZY_E_DEFERRED -4

/** Your own callback ran at once, or a slot's factory, and returned non-zero; the once is unharmed. Treat it as its failure. */
#define LAZY_E_CALLBACK -5

/** This is a forked child, and what the once or slot guards does not survive fork: the message says what to do. */
#define LAZY_E_FORKED -6

/**
 * Waiting would never end: the message names every once and thread of the circle, and nobody slept. Break the circle.
 * Also, without an error record, what a signal handler gets that interrupted the library on its own thread, and an allocator
 * (`malloc` of a profiler) that calls in while the library allocates.
 */
#define LAZY_E_DEADLOCK -7

/** The time limit passed while another thread was initializing; the message says what it runs. Wait longer. */
#define LAZY_E_TIMEOUT -8

/**
 * The host interpreter refused this thread, for instance because it is shutting down; nothing was started or lost. Or its
 * hooks broke their contract, which the message says; then what they ran has run.
 */
#define LAZY_E_HOST -9

/** Not possible at this moment, for instance during a stream capture; the once is unchanged. Call again later. */
#define LAZY_E_NOT_NOW -10

/** There is nothing of that name, number or kind: it was never there, or it has already ended. */
#define LAZY_E_NOT_FOUND -11

/** The once is closed and stays closed: stop using it. */
#define LAZY_E_CLOSED -12

/**
 * The machine lacks what the initializer needs, such as a driver or a device, and the initializer said so: carry on
 * without it.
 */
#define LAZY_E_UNAVAILABLE -13

/** The once has already been initialized another way; `init_site` says by whom. Configure it earlier. */
#define LAZY_E_TOO_LATE -14

/** The host gave up the wait, as at Ctrl-C; the callback was neither run nor queued. Let the interrupt out. */
#define LAZY_E_INTERRUPTED -15

/** Nobody has initialized the once, or the last attempt failed; calls are queued. */
#define LAZY_FRESH 0

/** The initializer is running. */
#define LAZY_INITIALIZING 1

/** The initializer succeeded and the queued callbacks are running. */
#define LAZY_DRAINING 2

/** An attempt failed and the once is configured to let that be final. */
#define LAZY_FAILED 3

/**
 * Initialized: every effect of the initializer and the queued callbacks is visible. The only value of
 * `lazy_once.state` that has a meaning outside the library.
 */
#define LAZY_READY 4

/** What was initialized before a fork is unusable in this child. */
#define LAZY_FORKED 5

/** Closed for good. */
#define LAZY_CLOSED 6

/** `on_failure`: the threads that waited for a failed attempt return its error; only a new call tries again. */
#define LAZY_FAIL_SHARE 0

/** `on_failure`: each thread that waited for a failed attempt takes its own turn, as `std::call_once` does. */
#define LAZY_FAIL_RETRY 1

/** `on_failure`: the first failure, of the initializer or of a queued callback, is final. */
#define LAZY_FAIL_STICKY 2

/** `on_deferred_failure`: a queued callback that fails stays at the head of its phase and runs again in the next attempt. */
#define LAZY_DEFERRED_KEEP 0

/** `on_deferred_failure`: a queued callback that fails is reported once and dropped; the next attempt goes on behind it. */
#define LAZY_DEFERRED_DROP 1

/**
 * `on_deferred_failure`: the others run too; then the attempt fails with the first error and keeps what failed,
 * for the next attempt.
 */
#define LAZY_DEFERRED_CONTINUE 2

/** `on_fork`: an initialized once stays initialized in the child; an attempt of another thread is undone there. */
#define LAZY_FORK_KEEP 0

/**
 * `on_fork`: once an attempt, or its `prepare`, has begun, every init, run, call and submit in a child returns `LAZY_E_FORKED`, and
 * the message names who used the once in the parent. `lazy_once_reset` revives it. An untouched once stays usable.
 */
#define LAZY_FORK_POISON 1

/**
 * `on_fork`: the child starts with a fresh once and the queue. The initializing thread's own attempt is void in its child, as with
 * `LAZY_FORK_POISON`, and the call that began it returns `LAZY_E_FORKED` there.
 */
#define LAZY_FORK_RESET 2

/** `contended`: a call that finds another thread's attempt waits for its end. */
#define LAZY_CONTENDED_WAIT 0

/**
 * `contended`: a call that finds another thread's attempt is queued for it instead of waiting. This gives up the rule
 * that a callback handed in during somebody's attempt runs on the thread that handed it in. Once everything has run that was
 * queued when the drain began, further calls wait all the same, so that the drain ends.
 */
#define LAZY_CONTENDED_QUEUE 1

/**
 * `lazy_request.flags`: never wait for another thread's attempt: be queued for it, or refused with `LAZY_E_NOT_NOW` once
 * everything has run that was queued when its drain began. This gives up the rule that a callback handed in during
 * somebody's attempt runs on the thread that handed it in. For threads that somebody joins before the attempt ends, and for
 * constructors of libraries that are loaded outside `prepare`.
 */
#define LAZY_REQUEST_NO_WAIT 1

/**
 * `lazy_request.flags`: hold the host lock (such as an interpreter's) while the callback runs, whenever that is: for every
 * callback that touches the host. It is about `fn` alone: a `drop` that touches the host takes the lock itself. A queued callback has it in any case, one that runs at once only if its caller has.
 */
#define LAZY_REQUEST_HOLD_HOST 2

/** `lazy_request.phase`: the ordinary order, first in, first out. */
#define LAZY_PHASE_NORMAL 0

/** `lazy_request.phase`: after every ordinary request; for seeds and other state that the others may disturb. */
#define LAZY_PHASE_LAST 1000

/** `lazy_receipt.outcome`: it ran at once, on an initialized once. */
#define LAZY_RAN_READY 1

/** `lazy_receipt.outcome`: it ran at once, inside a queued callback of the same once. */
#define LAZY_RAN_REENTRANT 2

/** `lazy_receipt.outcome`: it ran at once, after another thread had finished initializing in the meantime. */
#define LAZY_RAN_AFTER_WAIT 3

/** `lazy_receipt.outcome`: it waits in the queue. */
#define LAZY_OUTCOME_QUEUED 4

/** The layout of `lazy_once` that this header describes; `LAZY_ONCE_INIT` records it in each once. */
#define LAZY_ONCE_ABI 1

/** Each thread has its own value for each index. */
#define LAZY_SLOT_THREAD 0

/** The process has one value for each index, which every thread gets. */
#define LAZY_SLOT_PROCESS 1

/** The layout of `lazy_slot` that this header describes; `LAZY_SLOT_INIT` records it in each slot. */
#define LAZY_SLOT_ABI 1

/** `lazy_event.kind`: a thread initializes a once; `site` says where that was started, `ticket` is the number of the attempt. */
#define LAZY_EVENT_ATTEMPT 1

/**
 * `lazy_event.kind`: a callback runs in the queue of an attempt, or at once inside one or after a wait; `site` says where it was
 * handed in. One that finds its once ready is not reported.
 */
#define LAZY_EVENT_REQUEST 2

/**
 * `lazy_event.kind`: a thread waits for another one's attempt, request, or value of a slot; `site` says where the attempt was started,
 * or the request handed in.
 */
#define LAZY_EVENT_WAIT 3

/**
 * `lazy_event.kind`: a thread takes the lock of a host, before it initializes or waits, or after it has slept without; `site` says
 * where its call was made.
 */
#define LAZY_EVENT_HOST_WAIT 4

/** `lazy_event.kind`: this process has been forked off, at `time_ns`. Has no end. */
#define LAZY_EVENT_FORK 5

/** The values of a thread, for other threads: what `lazy_thread_state_capture` makes. */
typedef struct lazy_thread_state lazy_thread_state;

/**
 * The result of a call: 0 or positive is success, negative is failure, so `status < 0` is the whole error check.
 *
 * To *use* what a once guards, have `LAZY_OK`, or `LAZY_IN_PROGRESS` inside your own queued callback.
 */
typedef int32_t lazy_status;

/**
 * A callback or an initializer: returns 0 for success, any other value for failure.
 *
 * The value is kept as `lazy_last_error()->code`; `return lazy_fail(7, "no such device");` adds a text. A C++ exception
 * may leave it: the attempt counts as failed, the exception reaches the caller, and the once stays usable. `longjmp`
 * must not leave it: the next call on this thread from a frame that is not deeper, or the end of the thread, ends the attempt as
 * failed. A function that returns nothing must not be cast to this type: `LAZY_VOID_FN` wraps it.
 */
typedef int32_t (*lazy_fn)(void *ctx);

/**
 * How to hold and let go the lock of a host: an interpreter lock (GIL, GVL) or an engine's big lock.
 *
 * Begin with `LAZY_HOST_INIT`. The table is kept by pointer and must stay valid. Both hooks let unwinding through and
 * put the lock back on the way. errno need not be preserved. Two tables are the same host if they have the same name and the
 * same `ctx`, not NULL.
 */
typedef struct lazy_host {
    /** `sizeof(lazy_host)`. */
    size_t size;
    /** Names the host in messages; must stay valid. */
    const char *name;
    /** The first argument of both hooks. */
    void *ctx;
    /**
     * Make this thread hold the host lock, whether it held it before or not; call `body(arg)` exactly once on this
     * thread; put everything back; return 0. Return non-zero without having called it if the host refuses.
     */
    int32_t (*run_attached)(void *ctx, void (*body)(void *arg), void *arg);
    /**
     * Called only inside `run_attached`: let the host lock go completely, call `park(arg)` once, take the lock back,
     * return 0; non-zero if the host wants the wait given up. Meanwhile `interrupt(arg)` may be called from any thread,
     * more than once and also before `park`: it makes `park` return soon. NULL means that sleeping with the lock held
     * is harmless.
     */
    int32_t (*wait_detached)(void *ctx, void (*park)(void *arg), void (*interrupt)(void *arg), void *arg);
} lazy_host;

/**
 * What a once does when it is initialized and when that fails. All zero but `size` is a complete configuration.
 *
 * Begin with `LAZY_CONFIG_INIT`, which sets `size`.
 */
typedef struct lazy_config {
    /** `sizeof(lazy_config)`. Fields beyond a smaller size count as 0; non-zero bytes in a larger one are refused. */
    size_t size;
    /** Names the once in messages; NULL for none. Copied by `lazy_once_configure`. */
    const char *name;
    /** The initializer; NULL if initializing means only to run the queue. */
    lazy_fn initialize;
    /** The argument of `initialize`, `prepare` and `can_init`. */
    void *ctx;
    /**
     * Runs before an attempt is owned, perhaps on several threads at once: load libraries here, because their
     * constructors may call back in and must find the gate open. Returns 0 for success; another value fails the call with
     * `LAZY_E_INIT`, or the status of `lazy_fail_status`, without an attempt. Runs again before each attempt until an
     * initializer has succeeded. Calls on the same once from inside it never wait and do not run it again: while another
     * thread's attempt runs, `lazy_once_init` and `lazy_once_run` return `LAZY_IN_PROGRESS` there and a call is queued.
     */
    lazy_fn prepare;
    /**
     * Asked before each attempt: non-zero means "not now" (such as during a stream capture): `LAZY_E_NOT_NOW`, no attempt is
     * made, and calls are still queued. An init of the same once from inside it returns `LAZY_IN_PROGRESS` and starts nothing.
     */
    lazy_fn can_init;
    /**
     * The host lock of this once, in place of the process default; NULL for the default. Kept by pointer. Held are, of the
     * callbacks: `can_init`, `initialize`, the queued ones and their `drop` after the run. Not held: `prepare`, and the `drop`
     * of a request that is cancelled, replaced or closed.
     */
    const struct lazy_host *host;
    /** What those who waited for a failed attempt do: `LAZY_FAIL_SHARE`, `LAZY_FAIL_RETRY`, `LAZY_FAIL_STICKY`. */
    uint32_t on_failure;
    /**
     * What becomes of a queued callback that failed: `LAZY_DEFERRED_KEEP`, `LAZY_DEFERRED_DROP`,
     * `LAZY_DEFERRED_CONTINUE`.
     */
    uint32_t on_deferred_failure;
    /** What a forked child finds: `LAZY_FORK_KEEP`, `LAZY_FORK_POISON`, `LAZY_FORK_RESET`. */
    uint32_t on_fork;
    /** What a call does during another thread's attempt: `LAZY_CONTENDED_WAIT`, `LAZY_CONTENDED_QUEUE`. */
    uint32_t contended;
    /**
     * The longest a thread waits for another thread's attempt, in nanoseconds; 0 means no limit. The wait for a host lock is the
     * host's business and does not count.
     */
    uint64_t timeout_ns;
} lazy_config;

/**
 * One gate: something expensive that is started at most once, and the callbacks that wait for it.
 *
 * The memory is yours: 32 bytes, static or inside an object, private to one process, not copied or moved once used.
 * `LAZY_ONCE_INIT` and zeroed memory are both a valid fresh once. A once that was never given to
 * `lazy_once_configure`, has nothing queued and is initialized or untouched owns nothing: its storage may simply end
 * when every call on it has returned.
 */
typedef struct lazy_once {
    /** Equals `LAZY_READY` exactly when initialized. Read it through `lazy_once_is_initialized`; never write it. */
    uint32_t state;
    /** The layout version, `LAZY_ONCE_ABI`; 0 stands for the first. */
    uint32_t abi;
    /** What `LAZY_ONCE_WITH` bound, or NULL. Read at first use; must then still be valid. */
    const struct lazy_config *config;
    /** The library's own. */
    void *impl;
    /** The library's own. */
    void *reserved;
} lazy_once;

/** A place in a program: where something was asked for. `LAZY_HERE` makes one. */
typedef struct lazy_site {
    /**
     * The source file, or the object file if only an address is known; NULL if unknown. What is handed in is read during the call only: what
     * queues a request or starts an attempt copies it.
     */
    const char *file;
    /** The line, counted from 1; 0 if unknown. */
    uint32_t line;
    /** The function, or the nearest symbol; NULL if unknown. As `file`. */
    const char *function;
} lazy_site;

/** A callback with everything that can be said about it. Begin with `LAZY_REQUEST_INIT`. */
typedef struct lazy_request {
    /** `sizeof(lazy_request)`. */
    size_t size;
    /** The callback; not NULL. */
    lazy_fn fn;
    /** The argument of `fn`, `drop` and `describe`. */
    void *ctx;
    /**
     * Releases `ctx`; called exactly once if the request was taken: after the run, the cancel, the replacement or the
     * close, with no lock held, on the thread that does that. NULL if there is nothing to release. Not called if the
     * request was not taken, which is what every negative status but `LAZY_E_CALLBACK` says. An exception out of it comes out
     * of the call that it ran in; in an attempt, that fails the attempt.
     */
    void (*drop)(void *ctx);
    /** Whom the request belongs to, for `lazy_once_cancel_owner`: any address, which is never followed; NULL for nobody. */
    const void *owner;
    /**
     * Not 0: a later request with the same key replaces this one while it is queued, and takes the tail of its own phase; one
     * that runs at once replaces it too, whatever comes of it. What is replaced is released when the later one is queued or has run. Million-fold seeding keeps one entry.
     */
    uint64_t key;
    /**
     * Its place in the order: lower phases run first, first in, first out within one. Meant for a few different values: each
     * one in use costs a step of every request.
     */
    int32_t phase;
    /** `LAZY_REQUEST_NO_WAIT`, `LAZY_REQUEST_HOLD_HOST`, or both. */
    uint32_t flags;
    /** Where the request was made; `LAZY_HERE`, or zero for the return address. */
    struct lazy_site site;
    /**
     * Writes a text about the request, for the message when it fails in the queue: at most `capacity` bytes (256) with the final NUL. Must
     * not throw. May be NULL.
     */
    void (*describe)(void *ctx, char *buffer, size_t capacity);
} lazy_request;

/** What became of a request. Begin with `LAZY_RECEIPT_INIT`; filled whenever the request ran or was queued. */
typedef struct lazy_receipt {
    /** `sizeof(lazy_receipt)`. */
    size_t size;
    /** Names the queued request, for `lazy_once_cancel`; 0 if it was never queued. */
    uint64_t ticket;
    /** `LAZY_RAN_READY`, `LAZY_RAN_REENTRANT`, `LAZY_RAN_AFTER_WAIT` or `LAZY_OUTCOME_QUEUED`. */
    uint32_t outcome;
} lazy_receipt;

/** A once as it is now. Begin with `LAZY_INFO_INIT`. */
typedef struct lazy_info {
    /** `sizeof(lazy_info)`. */
    size_t size;
    /** The name of the once; NULL if it has none. Valid until the once is configured again, closed, or its storage ends. */
    const char *name;
    /** `LAZY_FRESH` to `LAZY_CLOSED`. */
    uint32_t phase;
    /** How many attempts have begun; saturates. */
    uint32_t attempts;
    /** How many times the once has been reset. */
    uint32_t generation;
    /** How many threads sleep in init, run, call or submit until the running attempt ends. */
    uint32_t waiters;
    /** How many requests are queued. */
    uint64_t queued;
    /** The kernel's id of the initializing thread; 0 if there is none. */
    uint64_t owner_thread;
    /** When the phase began, in nanoseconds of CLOCK_MONOTONIC; 0 if no attempt has been made since the last reset. */
    uint64_t since_ns;
    /** How long the successful attempt took, in nanoseconds. */
    uint64_t init_ns;
    /** Where the request that is running now was made. Valid until this thread's next `lazy_once_info`. */
    struct lazy_site running;
    /** Where the latest attempt was started. Valid until the next attempt, the close, or the end of the storage. */
    struct lazy_site init_site;
    /** The process that initialized the once; 0 if none did. */
    int64_t init_pid;
} lazy_info;

/** The right of an initializing thread to re-enter, lent to a worker thread. Plain data: copy it as you like. */
typedef struct lazy_permit {
    /** The library's own. */
    uint64_t opaque[4];
} lazy_permit;

/**
 * How the values of a slot are made and ended. Begin with `LAZY_SLOT_CONFIG_INIT`, which sets `size`.
 *
 * The callbacks run with no lock of the library held, and may call anything of it, also other slots and onces.
 */
typedef struct lazy_slot_config {
    /** `sizeof(lazy_slot_config)`. Fields beyond a smaller size count as 0; non-zero bytes in a larger one are refused. */
    size_t size;
    /** Names the slot in messages; NULL for none. Copied by `lazy_slot_configure`. */
    const char *name;
    /** The first argument of the callbacks. */
    void *ctx;
    /**
     * The factory: stores a value, which may be NULL, and returns 0; another value is a failure, and nothing is kept. NULL if
     * values come from `lazy_slot_set` only. A C++ exception out of it comes out of `lazy_slot_get`. `longjmp` out of it is forbidden:
     * when this thread asks for the value again, or ends, that counts as a failure, which those who wait get then.
     */
    int32_t (*create)(void *ctx, uint32_t index, void **value);
    /**
     * Ends a value, whoever stored it; called exactly once for each, NULL values included. NULL if there is nothing to end. What it
     * throws comes out of the call that ends the value; at the end of a thread, and where `capture` takes back what it has shared,
     * nobody can catch it, and the process ends.
     */
    void (*destroy)(void *ctx, uint32_t index, void *value);
    /**
     * What `lazy_thread_state_capture` puts into a snapshot for this value, such as the same pointer with one reference more; it
     * is given to `destroy` by `lazy_thread_state_free`. NULL if the slot is not captured; the process's values never are.
     */
    void *(*share)(void *ctx, void *value);
    /**
     * The host lock that the three callbacks hold; NULL for none: they hold what their caller holds (a thread that waits for another's
     * factory lets the host of `lazy_set_host` go all the same). Callbacks that touch an interpreter need it, since a thread may
     * end its values without. Kept by pointer.
     */
    const struct lazy_host *host;
    /** `LAZY_SLOT_THREAD` or `LAZY_SLOT_PROCESS`. */
    uint32_t scope;
    /**
     * What a forked child finds: `LAZY_FORK_KEEP` (its thread has its values; those of the threads that it does not have are
     * gone, without `destroy`), `LAZY_FORK_POISON` (a slot that had a value answers `LAZY_E_FORKED`), `LAZY_FORK_RESET` (no
     * values, without `destroy`; the factory makes new ones).
     */
    uint32_t on_fork;
} lazy_slot_config;

/**
 * State that every thread has, or every device: values by index, each made by a factory when it is first asked for.
 *
 * The memory is yours: 32 bytes, static or inside an object, private to one process, not copied or moved once used.
 * `LAZY_SLOT_INIT(&config)` and zeroed memory are both a valid slot; the latter has no factory. Before its storage ends, and before
 * the code of its configuration is unloaded, it is given to `lazy_slot_retire`.
 */
typedef struct lazy_slot {
    /** The layout version, `LAZY_SLOT_ABI`; 0 stands for the first. */
    uint32_t abi;
    /** 0. */
    uint32_t flags;
    /** What `LAZY_SLOT_INIT` bound, or NULL. Read at first use; must then still be valid. */
    const struct lazy_slot_config *config;
    /** The library's own. */
    void *impl;
    /** The library's own. */
    void *reserved;
} lazy_slot;

/** How `lazy_cuda_setup` sets a once up. Begin with `LAZY_CUDA_OPTIONS_INIT`. */
typedef struct lazy_cuda_options {
    /** `sizeof(lazy_cuda_options)`. */
    size_t size;
    /** 0: there are none yet. */
    uint32_t flags;
} lazy_cuda_options;

/** What is known of the CUDA driver. Begin with `LAZY_CUDA_INFO_INIT`. */
typedef struct lazy_cuda_info {
    /** `sizeof(lazy_cuda_info)`. */
    size_t size;
    /** The newest CUDA version that the driver can do, as it says it: 13020 for 13.2. */
    int32_t driver_version;
    /**
     * How many devices the driver has; -1 until this process has initialized it through a once of `lazy_cuda_setup`, which ends as
     * unavailable where there are none.
     */
    int32_t device_count;
    /** The file of the driver's library. It stays valid. */
    const char *library;
} lazy_cuda_info;

/** A failure in full: what, where, who and why. `lazy_last_error` gives this thread's latest. */
typedef struct lazy_error {
    /** The size of the struct as the library knows it. */
    size_t size;
    /** What the failing call returned. */
    lazy_status status;
    /** What the callback or initializer returned; 0 if none did. */
    int32_t code;
    /** A sentence that a person can act on; never NULL. Without memory for it, what `lazy_status_string` says, and nothing else is told. */
    const char *message;
    /** The name of the once or slot; NULL if it has none. */
    const char *once;
    /** Where the failed callback was handed in. */
    struct lazy_site site;
    /** Where the attempt was started, if the library still knows: a once that owns no memory has forgotten it. */
    struct lazy_site init_site;
    /** The kernel's id of the thread that failed. */
    uint64_t thread;
    /** The kernel's id of the initializing thread; 0 if there is none. */
    uint64_t owner_thread;
    /** How long the attempt had been running, in nanoseconds. */
    uint64_t elapsed_ns;
    /** The ticket of the failed request; 0 if it was never queued. */
    uint64_t ticket;
    /** The number of the attempt, counted from 1; 0 if none was made. */
    uint32_t attempt;
    /** The last lazy_ call that failed inside the failed callback; NULL if none did. */
    const struct lazy_error *cause;
} lazy_error;

/** Something that begins, or has ended. Every pointer in it is valid until `on_event` returns. */
typedef struct lazy_event {
    /** The size of the struct as the library knows it. */
    size_t size;
    /** `LAZY_EVENT_ATTEMPT` to `LAZY_EVENT_FORK`. */
    uint32_t kind;
    /** The phase of the once when this began; at the end of an attempt, the phase after it. 0 for a slot. */
    uint32_t phase;
    /** The name of the once or slot; NULL if it has none. */
    const char *once;
    /** Which place it is depends on `kind`; all zero if it is not known. */
    struct lazy_site site;
    /** The kernel's id of the thread, which is the one that calls `on_event`. */
    uint64_t thread;
    /** When it began, in nanoseconds of CLOCK_MONOTONIC: the same in the end as in the beginning. */
    uint64_t time_ns;
    /** 0 if it begins now; how long it took, 1 or more, if it has ended. */
    uint64_t duration_ns;
    /**
     * The ticket of a request, 0 if it never queued; the number of an attempt; the index of a slot's value that is waited for;
     * otherwise 0.
     */
    uint64_t ticket;
    /** How it ended: `LAZY_OK`, or as a call would have failed by it. `LAZY_OK` where it begins. */
    lazy_status status;
} lazy_event;

/** Somebody who wants to know what happens. Begin with `LAZY_OBSERVER_INIT`. */
typedef struct lazy_observer {
    /** `sizeof(lazy_observer)`. */
    size_t size;
    /** The first argument of `on_event`. */
    void *ctx;
    /** Called for each event, on the thread that it happens on; not NULL. `lazy_set_observer` says what it may do. */
    void (*on_event)(void *ctx, const struct lazy_event *event);
} lazy_observer;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Initializes the process default now, unless that has been done, and runs what was queued.
 *
 * The default belongs to the application, or to the one framework in it: say first what initializing means, with
 * `lazy_once_configure(lazy_default(), &config)`. A default that nobody configured has no initializer; then this only
 * runs the queue. A library keeps a `static lazy_once` of its own instead.
 *
 * **Returns**
 * - `LAZY_OK`: initialized, by this call or before, and every queued callback has run.
 * - `LAZY_IN_PROGRESS`: this thread is inside the attempt already, in the initializer or in a queued callback. Nothing
 *   was started again; in a queued callback the thread may use what the initializer has started.
 * - `LAZY_E_INIT`: the initializer failed, here or in the thread that this call waited for. Call again to try again.
 * - `LAZY_E_DEFERRED`: a queued callback failed; the error's `site` says who queued it. The initializer's success is
 *   remembered, and the next attempt resumes at that callback.
 * - `LAZY_E_DEADLOCK`: waiting would never end; the message names the circle.
 * - `LAZY_E_TIMEOUT`, `LAZY_E_NOT_NOW`, `LAZY_E_UNAVAILABLE`, `LAZY_E_HOST`, `LAZY_E_INTERRUPTED`, `LAZY_E_FORKED`:
 *   as the configuration of the once provides; each is explained beside its number above.
 *
 * **Threads** Any, at any time, also before `main` and from constructors. One thread initializes; the others that call
 * this meanwhile wait for it and return the outcome of the attempt that they waited for.
 *
 * **Blocking** Not when initialized (one load and a compare). Otherwise for as long as the initializer and the queued
 * callbacks take; waiting threads sleep in the kernel.
 *
 * **Unwinding and fork** A C++ exception out of the initializer or a queued callback comes out of this call: the
 * attempt counts as failed and the once stays usable. A child forked while another thread initializes does not hang:
 * it finds the once untouched and the queue whole.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_init(void);

/**
 * Runs `fn(ctx)` once the process default is initialized: at once if it is, else when it gets initialized.
 *
 * **A callback that touches an interpreter must take the interpreter's lock itself** (in Python: `PyGILState_Ensure`):
 * a queued callback runs on the thread that initializes, which need not be yours and need not hold the lock.
 *
 * - `fn`: the callback; not NULL. Returns 0 for success; `LAZY_VOID_FN` wraps one that returns nothing.
 * - `ctx`: handed to it as it is. If the callback is queued, what `ctx` points to must live until it has run.
 *
 * | when this is called | what happens | returns |
 * |---|---|---|
 * | initialized | `fn` runs now, on this thread | `LAZY_OK` |
 * | inside a queued callback of the same once | `fn` runs now, on this thread, inside that callback | `LAZY_OK` |
 * | another thread is initializing | waits; then `fn` runs now, on this thread | `LAZY_OK` |
 * | nobody has initialized yet, or inside the initializer itself | `fn` is queued | `LAZY_QUEUED` |
 *
 * Queued callbacks run first in, first out, each exactly once, before anybody sees the once as initialized. Nested
 * calls run inside their caller, depth-first. No lock of the library is held while a callback runs.
 *
 * **Not promised** A callback may still recurse for ever, take locks of your own in the wrong order, wait for a device
 * or for something unrelated, or join a thread that itself waits for this once: that hangs, as it would without the
 * library.
 *
 * **Returns**
 * - `LAZY_OK`: `fn` has run and returned 0.
 * - `LAZY_QUEUED`: `fn` will run later; neither its result nor its effects exist yet. Also after a wait for an attempt that
 *   failed: the next one runs it.
 * - `LAZY_E_CALLBACK`: `fn` ran at once and returned non-zero, which is the error's `code`. The once is unharmed.
 * - `LAZY_E_INVALID`: `fn` is NULL.
 * - `LAZY_E_NOMEM`: the queue cannot grow; `fn` was neither run nor queued.
 * - `LAZY_E_DEADLOCK`: waiting would never end; `fn` was neither run nor queued.
 * - `LAZY_E_TIMEOUT`, `LAZY_E_HOST`, `LAZY_E_INTERRUPTED`, `LAZY_E_FORKED`: as the configuration of the once provides;
 *   `fn` was neither run nor queued.
 *
 * **Threads** Any, at any time. In a signal handler: only on an initialized once and with a callback that returns 0.
 *
 * **Blocking** Only while another thread initializes, asleep in the kernel. On an initialized once it takes no lock and
 * allocates nothing.
 *
 * **Unwinding and fork** A C++ exception that leaves a callback run at once comes out of this call; one that leaves a
 * queued callback comes out of the call that initializes, and counts as that callback's failure. The same holds, on
 * glibc, for `pthread_exit` and cancellation. `longjmp` out of a callback is forbidden. A forked child keeps the queue.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_call(lazy_fn fn, void *ctx);

/**
 * Tells whether the process default is initialized: its initializer has succeeded and every queued callback has run.
 *
 * False inside the initializer and inside the queued callbacks, on every thread: whether this thread is the one that
 * initializes is `lazy_once_is_initializing(lazy_default())`.
 *
 * **Returns** true or false. After true, this thread sees everything that the initializer and the queued callbacks
 * wrote.
 *
 * **Threads** Any, at any time, also in a signal handler.
 *
 * **Blocking** Never.
 *
 * **Unwinding and fork** Never unwinds. In a forked child the answer is the parent's, unless the once is configured
 * otherwise.
 *
 * **Since** 0.1.0
 */
LAZY_API bool lazy_is_initialized(void);

/**
 * The once behind `lazy_init`, `lazy_call` and `lazy_is_initialized`, to be configured and used like any other.
 *
 * **Returns** the same address in every call; never NULL. Every copy of the library in a process has its own.
 *
 * **Threads** Any, at any time, also in a signal handler.
 *
 * **Blocking** Never.
 *
 * **Unwinding and fork** Never unwinds; the address is the same in a forked child.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_once *lazy_default(void);

/**
 * Says what initializing `once` means and how it treats failures, forks and contention; before the first attempt.
 *
 * - `once`: the once to configure.
 * - `config`: copied, and the name in it too; what its other pointers lead to must stay valid. NULL withdraws every
 *   pointer of the present configuration: for code that may be unloaded, before it is. What is initialized stays so.
 *
 * A once that is configured owns memory, until `lazy_once_close`. `LAZY_ONCE_WITH(&config)` binds a constant configuration
 * without a call. After `lazy_once_reset` configuring is allowed again, until the next attempt.
 *
 * **Returns**
 * - `LAZY_OK`: configured; also if the once already has an equal configuration, whatever has happened since.
 * - `LAZY_E_TOO_LATE`: an attempt has already been made; the error's `init_site` says by whom, if the once was configured
 *   before. Or the once is a named one that somebody else has configured in another way; then `init_site` is the call that
 *   did. Nothing has changed.
 * - `LAZY_E_CLOSED`: the once is closed, and `config` is not NULL.
 * - `LAZY_E_INVALID`: `once` is NULL, or `config` has an unknown policy value, a `size` that does not cover
 *   `name`, or non-zero bytes beyond what this library knows.
 * - `LAZY_E_NOMEM`: no memory for the copy. Nothing has changed.
 *
 * **Threads** Any, at any time, also before `main`.
 *
 * **Blocking** Never for an attempt.
 *
 * **Unwinding and fork** Runs no callback, never unwinds. A forked child keeps the configuration.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_once_configure(lazy_once *once, const lazy_config *config);

/**
 * Initializes `once` now, unless that has been done, and runs what was queued: `lazy_init` for any once.
 *
 * In C and C++ this is an inline test that enters the library only while not initialized; `LAZY_INIT(once)` also
 * records the place in the source. The address of this function is the library's.
 *
 * - `once`: the once. The inline test reads it without checking for NULL.
 *
 * **Returns**
 * - `LAZY_OK`: initialized, by this call or before, and every queued callback has run.
 * - `LAZY_IN_PROGRESS`: this thread is inside the attempt already. Nothing was started again.
 * - `LAZY_E_INIT`: the initializer failed, here or in the thread that this call waited for. Call again to try again.
 * - `LAZY_E_DEFERRED`: a queued callback failed; the next attempt resumes at that callback.
 * - `LAZY_E_DEADLOCK`: waiting would never end; the message names the circle.
 * - `LAZY_E_TIMEOUT`: the configured limit passed while another thread was initializing.
 * - `LAZY_E_NOT_NOW`, `LAZY_E_UNAVAILABLE`: the initializer, or the configuration's `can_init`, said so.
 * - `LAZY_E_HOST`, `LAZY_E_INTERRUPTED`: the host refused this thread, or gave up its wait.
 * - `LAZY_E_FORKED`: this is a forked child and what `once` guards does not survive that.
 * - `LAZY_E_CLOSED`: the once is closed.
 * - `LAZY_E_INVALID`: `once` is NULL or not a once that this library knows.
 *
 * **Threads** Any, at any time; in a signal handler only when initialized. One thread initializes; the others wait for it and
 * return the outcome of the attempt that they waited for.
 *
 * **Blocking** Not when initialized. Otherwise for as long as the initializer and the queued callbacks take.
 *
 * **Unwinding and fork** A C++ exception out of the initializer or a queued callback comes out of this call: the
 * attempt counts as failed and the once stays usable. A child forked while another thread initializes does not hang:
 * it finds the once untouched and the queue whole, unless configured otherwise.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_once_init(lazy_once *once);

/**
 * `lazy_once_init` with the place in the source: what `LAZY_INIT(once)` calls while the once is not initialized.
 *
 * - `once`: the once.
 * - `site`: the place, as `LAZY_HERE` makes it; copied. NULL for none.
 *
 * **Returns** as `lazy_once_init`.
 *
 * **Threads**, **Blocking**, **Unwinding and fork** as `lazy_once_init`.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_once_init_slow(lazy_once *once, const lazy_site *site);

/**
 * `lazy_once_init` with a limit of its own for waiting; with 0 it tries and never waits.
 *
 * - `once`: the once.
 * - `timeout_ns`: the longest time, in nanoseconds, to wait for another thread's attempts, in place of the configured
 *   one. 0: only initialize if nobody else is doing so. `UINT64_MAX`: no limit. It does not limit the initializer or the
 *   queued callbacks that this call itself runs.
 *
 * **Returns** as `lazy_once_init`. `LAZY_E_TIMEOUT`: another thread was still initializing; the message names it, how
 * long it has been at it, and the place of the callback that it is running.
 *
 * **Threads** Any, at any time.
 *
 * **Blocking** For another thread's attempt at most `timeout_ns`; otherwise for as long as the initializer and the queued
 * callbacks take. Not when initialized.
 *
 * **Unwinding and fork** As `lazy_once_init`.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_once_init_timeout(lazy_once *once, uint64_t timeout_ns);

/**
 * Initializes `once` with this initializer in place of the configured one: the shape of `pthread_once`.
 *
 * In C and C++ this is an inline test that enters the library only while not initialized. The address of this function
 * is the library's.
 *
 * - `once`: the once. The inline test reads it without checking for NULL.
 * - `initializer`: what to run, for this attempt; not NULL. Not run if an initializer has already succeeded, so that
 *   only the queue is left. A thread that waited for another's failed attempt under `LAZY_FAIL_RETRY` runs its own.
 * - `ctx`: handed to it as it is.
 *
 * **Returns** as `lazy_once_init`; also `LAZY_E_INVALID` if `initializer` is NULL.
 *
 * **Threads** Any, at any time. One thread initializes; the others wait for it and return the outcome of the attempt
 * that they waited for.
 *
 * **Blocking** Not when initialized. Otherwise for as long as the initializer and the queued callbacks take.
 *
 * **Unwinding and fork** As `lazy_once_init`.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_once_run(lazy_once *once, lazy_fn initializer, void *ctx);

/**
 * `lazy_once_run` with a limit and the place in the source: for bindings, and what lazyonce.hpp calls while the once is not initialized.
 *
 * - `once`: the once.
 * - `initializer`: as for `lazy_once_run`; NULL for the configured one.
 * - `ctx`: handed to `initializer` as it is.
 * - `timeout_ns`: the longest time to wait, as for `lazy_once_init_timeout`; read during the call only. NULL for the configured one.
 * - `site`: the place, as `LAZY_HERE` makes it; copied. NULL for none.
 *
 * **Returns** as `lazy_once_init_timeout`.
 *
 * **Threads**, **Blocking**, **Unwinding and fork** as `lazy_once_init_timeout`.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_once_run_slow(lazy_once *once, lazy_fn initializer, void *ctx, const uint64_t *timeout_ns, const lazy_site *site);

/**
 * Runs `fn(ctx)` once `once` is initialized: at once if it is, else when it gets initialized: `lazy_call` for any once.
 *
 * **A callback that touches an interpreter must take the interpreter's lock itself**: a queued callback runs on the
 * thread that initializes. When it runs where, and what is not promised, is said at `lazy_call`.
 *
 * In C and C++ this is an inline test and a direct call of `fn`; it enters the library only while not initialized, or
 * when `fn` fails. The address of this function is the library's.
 *
 * - `once`: the once. The inline test reads it without checking for NULL.
 * - `fn`: the callback; not NULL.
 * - `ctx`: handed to it as it is. If the callback is queued, what `ctx` points to must live until it has run.
 *
 * **Returns**
 * - `LAZY_OK`: `fn` has run and returned 0.
 * - `LAZY_QUEUED`: `fn` will run later; neither its result nor its effects exist yet. Also after a wait for an attempt that
 *   failed: the next one runs it.
 * - `LAZY_E_CALLBACK`: `fn` ran at once and returned non-zero, which is the error's `code`. The once is unharmed.
 * - `LAZY_E_INVALID`: `once` or `fn` is NULL, or `once` is not a once that this library knows.
 * - `LAZY_E_NOMEM`: the queue cannot grow.
 * - `LAZY_E_DEADLOCK`: waiting would never end; the message names the circle.
 * - `LAZY_E_TIMEOUT`, `LAZY_E_HOST`, `LAZY_E_INTERRUPTED`: the wait for another thread's attempt ended that way.
 * - `LAZY_E_INIT`, `LAZY_E_DEFERRED`: an attempt failed and `LAZY_FAIL_STICKY` makes that final.
 * - `LAZY_E_FORKED`: this is a forked child and what `once` guards does not survive that.
 * - `LAZY_E_CLOSED`: the once is closed.
 *
 * With a negative status other than `LAZY_E_CALLBACK`, `fn` was neither run nor queued.
 *
 * **Threads** Any, at any time. In a signal handler: only on an initialized once and with a callback that returns 0.
 *
 * **Blocking** Only while another thread initializes, asleep in the kernel. On an initialized once it takes no lock and
 * allocates nothing.
 *
 * **Unwinding and fork** A C++ exception that leaves a callback run at once comes out of this call; one that leaves a
 * queued callback comes out of the call that initializes, and counts as that callback's failure. `longjmp` out of a
 * callback is forbidden: the next call on this thread ends the attempt that was left, and returns `LAZY_E_DEADLOCK`. A forked child
 * keeps the queue.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_once_call(lazy_once *once, lazy_fn fn, void *ctx);

/**
 * Records the failure of a callback that an inline path of this header ran; programs have no need to call it.
 *
 * - `once`: the initialized once.
 * - `code`: what the callback returned.
 * - `site`: where it was handed in; NULL for the return address.
 *
 * **Returns** `LAZY_E_CALLBACK`; `LAZY_E_INVALID` if `once` is not a once.
 *
 * **Threads** The one that ran the callback.
 *
 * **Blocking** Never.
 *
 * **Unwinding and fork** Never unwinds.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_once_callback_failed(const lazy_once *once, int32_t code, const lazy_site *site);

/**
 * Tells whether `once` is initialized: its initializer has succeeded and every queued callback has run.
 *
 * In C and C++ this is inline: one load and a compare. The address of this function is the library's.
 *
 * - `once`: the once. The inline test reads it without checking for NULL; the library's function answers false to NULL.
 *
 * **Returns** true or false. After true, this thread sees everything that the initializer and the queued callbacks
 * wrote. False inside the initializer and inside the queued callbacks, on every thread.
 *
 * **Threads** Any, at any time, also in a signal handler.
 *
 * **Blocking** Never.
 *
 * **Unwinding and fork** Never unwinds. In a forked child the answer is the parent's, unless configured otherwise; a
 * child made by `_Fork` or raw `clone` keeps the parent's answer in every case.
 *
 * **Since** 0.1.0
 */
LAZY_API bool lazy_once_is_initialized(const lazy_once *once);

/**
 * Tells whether this thread is inside an unfinished attempt of `once`: in its initializer or in a queued callback.
 *
 * - `once`: the once.
 *
 * **Returns** true inside the attempt, on the thread that initializes or holds its permit; false otherwise, and for
 * NULL. True does not say that the initializer has succeeded: inside the initializer itself it has not.
 *
 * **Threads** Any, at any time. The answer is about the calling thread only.
 *
 * **Blocking** Never.
 *
 * **Unwinding and fork** Never unwinds. A thread that forks inside an attempt is still inside it in the child, unless
 * configured otherwise.
 *
 * **Since** 0.1.0
 */
LAZY_API bool lazy_once_is_initializing(const lazy_once *once);

/**
 * `lazy_once_call` for a request with a place, a key, a phase, an owner, and something that releases its context.
 *
 * When it runs, and on which thread, is said at `lazy_call`. Queued requests run in rising phases, first in, first out within
 * one; plain `lazy_call`s are of phase 0. `LAZY_CALL(once, fn, ctx)` is the short form that records the line.
 *
 * - `once`: the once.
 * - `request`: read during the call only. Begin with `LAZY_REQUEST_INIT` and fill in what is needed.
 * - `receipt`: filled whenever the request ran or was queued, also with `LAZY_E_CALLBACK`; only `size` bytes of it. May be
 *   NULL.
 *
 * **Returns**
 * - `LAZY_OK`: `fn` has run and returned 0, and `drop` has run.
 * - `LAZY_QUEUED`: it will run later; the receipt's `ticket` cancels it.
 * - `LAZY_E_CALLBACK`: `fn` ran at once and returned non-zero, which is the error's `code`; `drop` has run.
 * - `LAZY_E_NOT_NOW`: it has `LAZY_REQUEST_NO_WAIT`, another thread is initializing, and that attempt takes no more.
 * - `LAZY_E_INVALID`: `once`, `request` or `fn` is NULL; unknown flags; a `size` that does not cover `fn` (of the receipt:
 *   `ticket`), or non-zero bytes beyond what this library knows.
 * - `LAZY_E_HOST`: also if it has `LAZY_REQUEST_HOLD_HOST` and the host refused this thread.
 * - `LAZY_E_NOMEM`, `LAZY_E_DEADLOCK`, `LAZY_E_TIMEOUT`, `LAZY_E_HOST`, `LAZY_E_INTERRUPTED`, `LAZY_E_INIT`,
 *   `LAZY_E_DEFERRED`, `LAZY_E_FORKED`, `LAZY_E_CLOSED`: as for `lazy_once_call`.
 *
 * With a negative status other than `LAZY_E_CALLBACK` the request was not taken: neither `fn` nor `drop` is ever called.
 *
 * **Threads** Any, at any time; not in a signal handler.
 *
 * **Blocking** Only while another thread initializes, and not with `LAZY_REQUEST_NO_WAIT`. On an initialized once it takes no
 * lock and allocates nothing.
 *
 * **Unwinding and fork** As `lazy_once_call`. `drop` also runs when `fn` is left by an exception, and must not throw then.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_once_submit(lazy_once *once, const lazy_request *request, lazy_receipt *receipt);

/**
 * Withdraws a queued request, or waits until it is gone.
 *
 * When it has returned, from outside the request, nothing of the request will ever run: neither `fn` nor `drop` nor
 * `describe`. That is what a plugin needs before it is unloaded; `lazy_once_cancel_owner` does it for all of its requests.
 * Requests that run at once, or wait inside `lazy_once_submit` to be run there, are their submitter's to account for.
 *
 * - `once`: the once it was submitted to.
 * - `ticket`: of the receipt; or of the error of a queued callback that failed and stays queued.
 *
 * **Returns**
 * - `LAZY_OK`: it was queued, will never run, and its `drop` has run, on this thread.
 * - `LAZY_IN_PROGRESS`: this thread is inside it, or inside its `drop` or `describe`, or holds the permit of the attempt that
 *   runs it. Nothing was waited for; if it fails it is not kept.
 * - `LAZY_E_NOT_FOUND`: there is no such request any more: it has run, or was running and is now gone.
 * - `LAZY_E_DEADLOCK`: it is running, and waiting for it would never end. It is not kept if it fails.
 * - `LAZY_E_INVALID`: `once` is NULL or not a once that this library knows.
 * - `LAZY_E_NOMEM`: no memory to find out whether waiting would ever end.
 *
 * **Threads** Any, at any time; not in a signal handler.
 *
 * **Blocking** While the request is running; without a limit. With a host, its lock is let go meanwhile; where the host refuses,
 * or wants the wait given up, the wait goes on, and an interrupt stays pending.
 *
 * **Unwinding and fork** An exception out of `drop`, or of a host's hook, comes out of this call. A forked child can cancel what it inherited.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_once_cancel(lazy_once *once, uint64_t ticket);

/**
 * Withdraws everything that an owner has submitted, and waits until what is running of it is gone: before a plugin is
 * unloaded.
 *
 * - `once`: the once.
 * - `owner`: the address in `lazy_request.owner`; not NULL.
 *
 * **Returns** how many requests were withdrawn before they ran. `SIZE_MAX`: the owner must not be unloaded, because waiting would
 * never end (`LAZY_E_DEADLOCK`), there is no memory to find that out (`LAZY_E_NOMEM`), or `once` belongs to another copy of the
 * library (`LAZY_E_INVALID`). 0 with the error `LAZY_E_INVALID` if an argument is NULL, or `once` is none that the library knows.
 *
 * **Threads** Any, at any time; not in a signal handler. From inside one of these requests, or its `drop` or `describe`, it
 * does not wait for that one.
 *
 * **Blocking** While one of them is running; without a limit, and with a host as `lazy_once_cancel` does.
 *
 * **Unwinding and fork** An exception out of a `drop` comes out of this call, and what had not been withdrawn yet stays.
 *
 * **Since** 0.1.0
 */
LAZY_API size_t lazy_once_cancel_owner(lazy_once *once, const void *owner);

/**
 * `lazy_once_cancel_owner` with the place in the source: for bindings, whose own call is not what people look for.
 *
 * - `once`, `owner`: as for `lazy_once_cancel_owner`.
 * - `site`: the place, as `LAZY_HERE` makes it, for the trace, the dump and the warnings; read during the call only. NULL for none.
 *
 * **Returns**, **Threads**, **Blocking**, **Unwinding and fork** as `lazy_once_cancel_owner`.
 *
 * **Since** 0.1.0
 */
LAZY_API size_t lazy_once_cancel_owner_slow(lazy_once *once, const void *owner, const lazy_site *site);

/**
 * The once of that name, the same for everybody in the process: how two frameworks share "cuda".
 *
 * It is made by whoever asks first, and never freed. Whoever configures it first decides: an equal configuration is
 * `LAZY_OK` afterwards, a different one `LAZY_E_TOO_LATE`, whose `init_site` is the first's call. It keeps its own name, whatever
 * the configuration says. `lazy_once_configure(once, NULL)`, by a configurer that is unloaded, lets the next one decide, if no
 * attempt has been made.
 *
 * - `name`: not empty; copied.
 *
 * **Returns** the once; NULL if `name` is NULL or empty (`LAZY_E_INVALID`) or there is no memory (`LAZY_E_NOMEM`).
 *
 * **Threads** Any, at any time; not in a signal handler.
 *
 * **Blocking** Never.
 *
 * **Unwinding and fork** Never unwinds; the address is the same in a forked child. Every copy of the library in a process
 * has its own.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_once *lazy_once_named(const char *name);

/**
 * Makes `once` fresh again: the next init runs the initializer, and calls are queued until then.
 *
 * The queue is kept; what has run is not run again; the generation rises by one, and configuring is allowed until the next attempt. It
 * also revives a once that is unusable in a forked child (`LAZY_FORK_POISON`): only where what it guards can be started there. For a backend that was
 * shut down, such as an interpreter that is started again. It does not undo what the initializer did, and it does not wait
 * for callbacks that other threads run at once on the initialized once: keeping users away is the caller's part.
 *
 * - `once`: the once.
 *
 * **Returns**
 * - `LAZY_OK`: fresh, whatever it was before.
 * - `LAZY_IN_PROGRESS`: this thread is inside an attempt; nothing has changed.
 * - `LAZY_E_TIMEOUT`: another thread's attempt did not end within the configured limit; nothing has changed.
 * - `LAZY_E_DEADLOCK`: waiting for it would never end; nothing has changed.
 * - `LAZY_E_CLOSED`: the once is closed.
 * - `LAZY_E_INVALID`: `once` is NULL or not a once that this library knows.
 * - `LAZY_E_HOST`, `LAZY_E_INTERRUPTED`: the wait ended that way; nothing has changed.
 *
 * **Threads** Any, at any time; not in a signal handler.
 *
 * **Blocking** While another thread initializes.
 *
 * **Unwinding and fork** Runs no callback, never unwinds.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_once_reset(lazy_once *once);

/**
 * `lazy_once_reset` with the place in the source: for bindings, whose own call is not what people look for.
 *
 * - `once`: as for `lazy_once_reset`.
 * - `site`: the place, as `LAZY_HERE` makes it, for the trace, the dump and the warnings; read during the call only. NULL for none.
 *
 * **Returns**, **Threads**, **Blocking**, **Unwinding and fork** as `lazy_once_reset`.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_once_reset_slow(lazy_once *once, const lazy_site *site);

/**
 * Ends `once` for good: drops its queue, sends its waiters away, and frees what it owns.
 *
 * It does not wait for a running attempt. Threads that wait in init, run, call, submit or reset return `LAZY_E_CLOSED` at
 * once; the running callback finishes, its `drop` runs, and whoever initializes gets `LAZY_E_CLOSED`. Queued requests never
 * run; their `drop`s run on this thread, before this returns. Afterwards the library reaches the once only through calls that
 * have not returned yet: when they have, its storage may end. Close a once before its storage ends unless it was never given
 * to `lazy_once_configure`, has nothing queued, and is initialized or untouched.
 *
 * - `once`: the once.
 *
 * **Returns**
 * - `LAZY_OK`: closed, by this call or before.
 * - `LAZY_E_INVALID`: `once` is NULL, not a once that this library knows, or belongs to the whole process
 *   (`lazy_default()`, a named once): for those there are `lazy_once_cancel_owner` and `lazy_once_reset`. Nothing has changed.
 *
 * **Threads** Any, at any time, also inside the attempt; not in a signal handler.
 *
 * **Blocking** Never for an attempt; for as long as the `drop`s take.
 *
 * **Unwinding and fork** An exception out of a `drop` comes out of this call; the once is closed, and a second call goes on
 * with the other requests.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_once_close(lazy_once *once);

/**
 * Tells how `once` stands at this moment.
 *
 * A once that owns no memory (see `lazy_once_close`) knows its name, phase, attempts and generation; the rest is 0 or NULL.
 *
 * - `once`: the once.
 * - `info`: filled, only `size` bytes of it. Begin with `LAZY_INFO_INIT`.
 *
 * **Returns**
 * - `LAZY_OK`: filled.
 * - `LAZY_E_INVALID`: an argument is NULL, `once` is not a once that this library knows, or `size` does not cover `name` or is
 *   larger than this library knows, with non-zero bytes there. Nothing was written.
 *
 * **Threads** Any, at any time; not in a signal handler. What it tells may have changed by the time it returns.
 *
 * **Blocking** Never.
 *
 * **Unwinding and fork** Never unwinds, runs no callback, and spoils nothing for a later fork.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_once_info(const lazy_once *once, lazy_info *info);

/**
 * Lends the right of the initializing thread to re-enter: an initializer captures it, its worker threads enter it.
 *
 * The attempt does not wait for whoever holds the permit: join the workers before the initializer returns, or what they run
 * may still be running when the once is published as initialized. A permit is plain data; copy it as you like, and forget it
 * when the attempt is over.
 *
 * - `once`: the once that this thread initializes.
 * - `permit`: filled.
 *
 * **Returns**
 * - `LAZY_OK`: filled.
 * - `LAZY_E_INVALID`: this thread is not inside an attempt of `once`, or an argument is NULL.
 *
 * **Threads** The initializing thread, or one that has entered its permit.
 *
 * **Blocking** Never.
 *
 * **Unwinding and fork** Never unwinds. In a forked child nobody holds a permit, and none of the parent's is good for anything.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_permit_capture(lazy_once *once, lazy_permit *permit);

/**
 * From here this thread counts as the initializing thread of the permit's attempt, until `lazy_permit_leave`, the end of the
 * attempt, or its own end, whichever is first.
 *
 * Its calls on the once are queued while the initializer runs and run inline while the queue is drained, and its inits return
 * `LAZY_IN_PROGRESS`, exactly as on the initializing thread. Enters of several permits nest; each is left once.
 *
 * - `permit`: from `lazy_permit_capture`.
 *
 * **Returns**
 * - `LAZY_OK`: entered.
 * - `LAZY_E_NOT_FOUND`: the attempt has ended.
 * - `LAZY_E_INVALID`: `permit` is NULL.
 * - `LAZY_E_NOMEM`: no memory to note it.
 *
 * **Threads** Any.
 *
 * **Blocking** Never.
 *
 * **Unwinding and fork** Never unwinds. For fork, a permit holder is not the initializing thread: its child finds the once as
 * a child of any other thread does.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_permit_enter(const lazy_permit *permit);

/**
 * Ends what `lazy_permit_enter` began; also after the attempt has ended.
 *
 * A worker that was refused a wait with `LAZY_E_DEADLOCK` breaks that circle before it leaves: when it is gone, the threads that
 * are left of the attempt may wait for one another for ever, and since none of them goes to sleep then, none is told.
 *
 * - `permit`: what this thread has entered.
 *
 * **Returns**
 * - `LAZY_OK`: left.
 * - `LAZY_E_NOT_FOUND`: this thread has not entered it.
 * - `LAZY_E_INVALID`: `permit` is NULL.
 *
 * **Threads** The one that entered.
 *
 * **Blocking** Never.
 *
 * **Unwinding and fork** Never unwinds.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_permit_leave(const lazy_permit *permit);

/**
 * Sets the host of every once whose configuration names none: whose lock is held while initializers and queued callbacks run,
 * and let go while a thread waits.
 *
 * The order is: host lock, then guard; and nobody waits for the guard while holding the host lock. So an initializer may let
 * the lock go and take it back as often as it likes (a Python import does), and a thread that holds the lock may call in at the
 * same time:
 *
 * ```text
 *  the guard inside the lock, waiting with the lock held:     here:
 *
 *  A           guard    host lock    B                        A           guard    host lock    B
 *  |--- take ------------->|         |                        |--- take ------------->|         |
 *  |--- own ---->|         |         |                        |--- own ---->|         |         |
 *  |--- let go ----------->|         |                        |--- let go ----------->|         |
 *  |             |         |<- take -|                        |             |         |<- take -|
 *  |             |<-- wait ----------|  holds the lock        |             |<-- busy? --------|
 *  |--- take: for ever --->|         |                        |             |         |<- let go|  sleeps
 *                                                             |--- take ------------->|         |
 *                                                             |--- ready -->|--- wake ----------|
 * ```
 *
 * Of several hosts, a program takes the locks in one order: a once of one host whose initializer starts a once of another, and the
 * other way round, hang like any two locks.
 *
 * A once that is ready calls no hook. A call that is queued calls none either, and a callback that runs at once has the host
 * lock as its caller has it; one that needs it is submitted with `LAZY_REQUEST_HOLD_HOST`.
 *
 * - `host`: kept by pointer: it must stay valid and unchanged until another one is set and every call that may use it has
 *   returned. NULL for none. Each call reads it once, when it begins.
 *
 * **Returns**
 * - `LAZY_OK`: set.
 * - `LAZY_E_INVALID`: `run_attached` is NULL, `size` is too small, or there are non-zero bytes beyond what this library knows.
 *
 * **Threads** Any, at any time.
 *
 * **Blocking** Never; calls no hook.
 *
 * **Unwinding and fork** Never unwinds. A forked child keeps it.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_set_host(const lazy_host *host);

/**
 * The CPython interpreter of this process as a host, found at run time: `lazy_set_host(lazy_host_cpython())`, or in one once's
 * configuration.
 *
 * It uses the stable interface only, of 3.9 and newer, with and without the GIL, and no Python header. Ctrl-C ends a wait with
 * `LAZY_E_INTERRUPTED` and leaves the KeyboardInterrupt pending, if the caller came in holding the GIL; a caller that came in
 * without it, as through `ctypes.CDLL`, is never interrupted and gets no exception. While the interpreter is finalising, and
 * afterwards, it refuses (`LAZY_E_HOST`). A once that is used from sub-interpreters needs 3.12: before that, CPython's own
 * PyGILState_Ensure hangs there. Objects of one interpreter are of no use in another: give each its own once. After an
 * interpreter was ended and started again, `lazy_once_reset` makes the once fresh.
 *
 * **Returns** the table, the same in every call, as soon as the process has loaded Python, also before `Py_Initialize`; NULL if
 * it has not, or only privately (`dlopen` with `RTLD_LOCAL`).
 *
 * **Threads** Any, at any time.
 *
 * **Blocking** Never, but for the dynamic loader.
 *
 * **Unwinding and fork** Never unwinds.
 *
 * **Since** 0.1.0
 */
LAZY_API const lazy_host *lazy_host_cpython(void);

/**
 * Says how the values of `slot` are made and ended; before its first value.
 *
 * - `slot`: the slot to configure.
 * - `config`: copied, and the name in it too; what its other pointers lead to must stay valid until `lazy_slot_retire`. A slot
 *   from `lazy_slot_named` keeps its own name.
 *
 * `LAZY_SLOT_INIT(&config)` binds a constant configuration without a call.
 *
 * **Returns**
 * - `LAZY_OK`: configured; also if the slot already has an equal configuration.
 * - `LAZY_E_TOO_LATE`: the slot has a value, or is a named one that somebody else has configured in another way. Nothing has
 *   changed.
 * - `LAZY_E_CLOSED`: the slot is retired. `LAZY_E_FORKED`: as `lazy_slot_get`.
 * - `LAZY_E_INVALID`: an argument is NULL, or `config` has an unknown scope or policy, a `size` that does not cover `name`,
 *   or non-zero bytes beyond what this library knows.
 * - `LAZY_E_NOMEM`: no memory for the copy. Nothing has changed.
 *
 * **Threads** Any, at any time, but not in a signal handler.
 *
 * **Blocking** Never.
 *
 * **Unwinding and fork** Runs no callback, never unwinds. A forked child keeps the configuration.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_slot_configure(lazy_slot *slot, const lazy_slot_config *config);

/**
 * Gives this thread's value at `index`, or the process's, and makes it now if there is none: on any thread, however it was
 * started.
 *
 * The look goes: the innermost entered snapshot that has a value there; this thread's own (`LAZY_SLOT_THREAD`), or the process's
 * (`LAZY_SLOT_PROCESS`); the factory. Of a process's value one is made for each index, by whoever comes first; the others
 * wait for it, and share its failure. Different indices are made in parallel. A value found costs no lock, however many slots
 * there are.
 *
 * - `slot`: the slot.
 * - `index`: any number, such as a device ordinal; 0 if there is one value.
 * - `value`: where to store it. Not touched if the call fails. Valid until its thread ends, another is stored in its place, the
 *   snapshot that it is from is freed, or the slot is retired. The end of the process ends no values: neither the process's nor those
 *   of the main thread, unless that calls `pthread_exit`. What destructors make at a thread's end is ended too, in a few rounds.
 *
 * **Returns**
 * - `LAZY_OK`: stored.
 * - `LAZY_E_CALLBACK`: the factory failed, here or in the thread that this call waited for; the error's `code` is what it
 *   returned. Nothing is kept; the next call tries again.
 * - `LAZY_E_NOT_FOUND`: no value and no factory.
 * - `LAZY_E_DEADLOCK`: this is the factory that makes that very value, or waiting would never end; the message names the circle.
 * - `LAZY_E_CLOSED`: the slot is retired.
 * - `LAZY_E_FORKED`: this is a forked child, and the slot's values do not survive that (`LAZY_FORK_POISON`).
 * - `LAZY_E_HOST`, `LAZY_E_INTERRUPTED`: the host refused this thread, or gave up its wait.
 * - `LAZY_E_NOMEM`: no memory for what the library keeps of the value. The factory has not run.
 * - `LAZY_E_INVALID`: `slot` or `value` is NULL, or `slot` is not a slot that this library knows.
 *
 * **Threads** Any, at any time, also in destructors at thread exit; not in a signal handler.
 *
 * **Blocking** For the factory, on this thread or, with `LAZY_SLOT_PROCESS`, on another; asleep in the kernel, and without
 * any host that this thread is inside of.
 *
 * **Unwinding and fork** A C++ exception out of the factory comes out of this call, and whoever waited for it gets
 * `LAZY_E_CALLBACK`. What a child finds is the configuration's `on_fork`. A value that another thread was making at the fork
 * is made anew.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_slot_get(lazy_slot *slot, uint32_t index, void **value);

/**
 * `lazy_slot_get` with the place in the source: for bindings, whose own call is not what people look for.
 *
 * - `slot`, `index`, `value`: as for `lazy_slot_get`.
 * - `site`: the place, as `LAZY_HERE` makes it, for the trace, the dump and the warnings; its strings are read during the call only. NULL
 *   for none.
 *
 * **Returns** as `lazy_slot_get`.
 *
 * **Threads**, **Blocking**, **Unwinding and fork** as `lazy_slot_get`.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_slot_get_slow(lazy_slot *slot, uint32_t index, void **value, const lazy_site *site);

/**
 * Stores a value: in the innermost entered snapshot that has one there, else for this thread, or for the process.
 *
 * The value is the slot's from then on: `destroy` is called for it. So it is for the one that it replaces: a thread's own
 * is ended at once; one of the process or of a snapshot, which other threads may be using, by `lazy_slot_retire` or
 * `lazy_thread_state_free`. Storing the same pointer again changes nothing.
 *
 * - `slot`: the slot.
 * - `index`: any number.
 * - `value`: any pointer; NULL is a value like another.
 *
 * **Returns** `LAZY_OK`; `LAZY_E_DEADLOCK` from inside the factory of that very value; otherwise as `lazy_slot_get`. The
 * value was taken if the status is `LAZY_OK`, and not otherwise.
 *
 * **Threads** Any, at any time, but not in a signal handler.
 *
 * **Blocking** For another thread's factory that makes the process's value there. For `destroy` of the replaced value.
 *
 * **Unwinding and fork** As `lazy_slot_get`.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_slot_set(lazy_slot *slot, uint32_t index, void *value);

/**
 * Tells whether `lazy_slot_get` would find a value without making one.
 *
 * - `slot`: the slot.
 * - `index`: any number.
 *
 * **Returns** true or false; false for NULL, for a retired slot, and while the value is being made.
 *
 * **Threads** Any, at any time, but not in a signal handler.
 *
 * **Blocking** Never.
 *
 * **Unwinding and fork** Never unwinds. In a forked child as `lazy_slot_get`.
 *
 * **Since** 0.1.0
 */
LAZY_API bool lazy_slot_has(const lazy_slot *slot, uint32_t index);

/**
 * Ends every value of `slot`, whoever holds it, on this thread, and makes sure that none of its callbacks runs or will ever run:
 * before `dlclose` of the code that they are in, or the end of the slot's storage.
 *
 * Call it from a function of what is to be unloaded, and unload nothing unless it returned `LAZY_OK`. From an ELF destructor, which
 * holds the loader's lock, only if no running callback may load a library.
 *
 * It waits for factories and destructors that run on other threads. It is final: nobody gets a value afterwards. No thread may
 * still be using one. The library keeps some fifty bytes of each slot that was used, and not its name.
 *
 * - `slot`: the slot.
 *
 * **Returns**
 * - `LAZY_OK`: retired, now or before.
 * - `LAZY_IN_PROGRESS`: this thread is inside one of the slot's callbacks. Nothing has changed.
 * - `LAZY_E_DEADLOCK`: a callback that it would have to wait for waits for this thread. The slot is closed, but must not be
 *   unloaded; call again when the circle is broken.
 * - `LAZY_E_HOST`: the slot's host refuses this thread. Nothing has changed.
 * - `LAZY_E_NOMEM`: no memory to note it.
 * - `LAZY_E_INVALID`: `slot` is NULL, or not a slot that this library knows.
 *
 * **Threads** Any, but not in a signal handler.
 *
 * **Blocking** For running callbacks of the slot, without a limit, and without any host that this thread is inside of.
 *
 * **Unwinding and fork** An exception out of `destroy` comes out of this call; call again for the rest. In a forked child it
 * ends what the child has.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_slot_retire(lazy_slot *slot);

/**
 * The slot of that name, the same one for the same name in this process: for dynamic languages, which have no memory to put one
 * in, and for libraries that share one.
 *
 * Whoever configures it first decides. `lazy_slot_retire` ends it for all of them.
 *
 * - `name`: compared byte by byte, and copied.
 *
 * **Returns** the slot, valid for ever. NULL for a NULL name, or without memory; then `lazy_last_error` says which.
 *
 * **Threads** Any, at any time, but not in a signal handler.
 *
 * **Blocking** Never.
 *
 * **Unwinding and fork** Never unwinds. A forked child has the same slots.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_slot *lazy_slot_named(const char *name);

/**
 * Makes a snapshot of this thread's values, for threads that it starts: of every slot with a `share` that has a value here, in an
 * entered snapshot or of its own.
 *
 * What this thread has not asked for yet is not in it, nor is what has no `share`, nor the process's values: each worker makes those for
 * itself. So ask for every device first.
 *
 * - `state`: where to store it.
 *
 * **Returns**
 * - `LAZY_OK`: stored; give it to `lazy_thread_state_free` in the end.
 * - `LAZY_E_HOST`: a slot's host refused this thread.
 * - `LAZY_E_NOMEM`: no memory.
 * - `LAZY_E_INVALID`: `state` is NULL.
 *
 * After a failure nothing is kept: what had been shared was given to `destroy`.
 *
 * **Threads** Any, but not in a signal handler.
 *
 * **Blocking** For the slots' hosts and their `share`.
 *
 * **Unwinding and fork** An exception out of `share` comes out of this call. A forked child has its parent's snapshots.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_thread_state_capture(lazy_thread_state **state);

/**
 * Lays a snapshot over this thread: what it has, this thread finds instead of its own, until `lazy_thread_state_leave` or its
 * end.
 *
 * Many threads may have entered one at a time, and find the same values. Enters nest; the innermost snapshot that has a value
 * counts.
 *
 * - `state`: from `lazy_thread_state_capture`, and not yet freed.
 *
 * **Returns** `LAZY_OK`; `LAZY_E_NOMEM`: not entered; `LAZY_E_INVALID`: `state` is NULL.
 *
 * **Threads** Any, but not in a signal handler.
 *
 * **Blocking** Never.
 *
 * **Unwinding and fork** Never unwinds. A child of a thread that has entered one has entered it.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_thread_state_enter(lazy_thread_state *state);

/**
 * Takes a snapshot off this thread again: its latest enter, also if others have been entered since.
 *
 * What was stored meanwhile stays where `lazy_slot_set` put it.
 *
 * - `state`: what this thread has entered.
 *
 * **Returns** `LAZY_OK`; `LAZY_E_NOT_FOUND`: this thread has not entered it; `LAZY_E_INVALID`: `state` is NULL.
 *
 * **Threads** The one that entered.
 *
 * **Blocking** Never; unless the snapshot has been freed and this is the last thread that leaves, which then ends its values.
 *
 * **Unwinding and fork** Never unwinds, but for an exception out of `destroy` there.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_thread_state_leave(lazy_thread_state *state);

/**
 * Ends a snapshot: `destroy` is called once for each value that `share` returned, and for each that was stored in it since; at once,
 * or by the last thread that leaves it.
 *
 * - `state`: from `lazy_thread_state_capture`, once, and not before the last thread that is to enter it has entered. NULL is fine.
 *
 * **Returns** nothing. Where a slot's host refuses this thread, that value is leaked.
 *
 * **Threads** Any, but not in a signal handler.
 *
 * **Blocking** For the slots' hosts and their `destroy`.
 *
 * **Unwinding and fork** An exception out of `destroy` comes out of this call; what had not been ended by then is ended by
 * `lazy_slot_retire`. A child frees what it has inherited for itself.
 *
 * **Since** 0.1.0
 */
LAZY_API void lazy_thread_state_free(lazy_thread_state *state);

/**
 * Makes the CUDA driver what initializing `once` starts: `cuInit(0)` and the count of devices, and nothing else: no context, no
 * memory, no stream.
 *
 * It sets `initialize`, `ctx`, `prepare`, and `on_fork` to `LAZY_FORK_POISON`; the rest of the configuration stays, a `can_init` with
 * the `ctx` that it came with. On a once of `lazy_once_named` the first configuration is the only one, by this or by `lazy_once_configure`:
 * who wants a `can_init`, a limit or a host of its own as well sets up a once of its own, and configures the named one with those,
 * `LAZY_FORK_POISON`, and an `initialize` that calls `lazy_once_init` on it; what the driver said is then the error's cause. A once
 * without a name is called "cuda". Nothing is loaded: the first attempt opens `libcuda.so.1`, or else `libcuda.so`, at run time,
 * before it is owned, and has every entry before it calls one. The library itself needs no driver.
 *
 * ```text
 * lazy_once *cuda = lazy_once_named("cuda");
 * if (lazy_cuda_setup(cuda, NULL) < 0 || lazy_once_init(cuda) < 0) puts(lazy_last_error()->message);
 * ```
 *
 * An attempt ends, beside what `lazy_once_init` says, with these; the error's `code` is the driver's result, 0 if the driver gave none:
 *
 * - `LAZY_E_UNAVAILABLE`: there is no driver library, no device (100, or a count of 0), a symbol is missing, or the library is a stub
 *   to link with (34); the message says which.
 * - `LAZY_E_NOT_NOW`: the system or its MPS server is not ready (802, 805 to 808): try again later.
 * - `LAZY_E_FORKED`: 3, in a child that was forked after the driver's library was loaded, as far as can be known; or it was forked in the
 *   middle of that.
 * - `LAZY_E_INIT`: any other result.
 *
 * Each loses nothing that is queued, and can be tried again. A library that was loaded stays for the process: what lacks a symbol, or is a
 * stub, does so at every try. In a library that was built without its feature `cuda`, `lazy_cuda_setup` is `LAZY_OK` all the same, the
 * attempt and `lazy_cuda_query` are `LAZY_E_UNAVAILABLE`, and `lazy_cuda_bind_thread` is `LAZY_E_NOT_NOW`.
 *
 * - `once`: the once, before its first attempt.
 * - `options`: NULL for the defaults.
 *
 * **Returns**
 * - `LAZY_OK`: set up, now or before.
 * - `LAZY_E_TOO_LATE`, `LAZY_E_CLOSED`, `LAZY_E_NOMEM`: as `lazy_once_configure`; the first also on a named once that was configured.
 * - `LAZY_E_INVALID`: `once` is NULL or not a once that this library knows, or `options` has unknown flags, a `size` that does not cover
 *   `flags`, or non-zero bytes beyond what this library knows.
 *
 * **Threads** Any, at any time, also before `main`; not in a signal handler.
 *
 * **Blocking** Never.
 *
 * **Unwinding and fork** Runs no callback, never unwinds. A forked child keeps the configuration.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_cuda_setup(lazy_once *once, const lazy_cuda_options *options);

/**
 * Tells what is known of the CUDA driver without initializing it; opens its library if nobody has.
 *
 * - `info`: filled, only `size` bytes of it. Begin with `LAZY_CUDA_INFO_INIT`.
 *
 * **Returns**
 * - `LAZY_OK`: filled.
 * - `LAZY_E_UNAVAILABLE`: there is no driver library, a symbol is missing, or it is a stub; the message says which. Nothing was written,
 *   here and below.
 * - `LAZY_E_NOT_NOW`, `LAZY_E_FORKED`, `LAZY_E_INIT`: the driver refused to tell its version, as with `lazy_cuda_setup`.
 * - `LAZY_E_INVALID`: `info` is NULL, its `size` does not cover `driver_version`, or is larger than this library knows, with non-zero
 *   bytes there.
 * - `LAZY_E_NOMEM`: no memory for the driver's entries.
 *
 * **Threads** Any; not in a signal handler.
 *
 * **Blocking** As long as loading the library takes; no lock is held meanwhile.
 *
 * **Unwinding and fork** Spoils nothing for a later fork.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_cuda_query(lazy_cuda_info *info);

/**
 * Makes the primary context of a device current on this thread, and retains it first if this process has not: once for each device,
 * whichever thread comes first.
 *
 * It initializes nothing. A context is never given back, not at exit either, where the driver may be gone; somebody who resets a
 * primary context takes it from everybody.
 *
 * - `device`: its ordinal, as `CUDA_VISIBLE_DEVICES` counts, from 0.
 *
 * **Returns**
 * - `LAZY_OK`: it is this thread's.
 * - `LAZY_E_NOT_NOW`: this process has not initialized the driver through a once of `lazy_cuda_setup`; its queued callbacks may bind. It
 *   may not be able to, where the parent had initialized it: the message says so. Or the driver is not ready, as with
 *   `lazy_cuda_setup`.
 * - `LAZY_E_INVALID`: there is no device of that ordinal.
 * - `LAZY_E_INIT`, `LAZY_E_UNAVAILABLE`, `LAZY_E_FORKED`: the driver refused, as with `lazy_cuda_setup`; the error's `code` is its
 *   result. The thread's context is as it was; the next call tries again.
 * - `LAZY_E_DEADLOCK`: waiting for the thread that retains it would never end.
 * - `LAZY_E_HOST`, `LAZY_E_INTERRUPTED`: the host refused this thread, or gave up its wait.
 * - `LAZY_E_NOMEM`: no memory for what the library keeps of the context.
 *
 * **Threads** Any, for itself; not in a signal handler.
 *
 * **Blocking** For as long as the driver takes to make the context, here or on another thread.
 *
 * **Unwinding and fork** A forked child has no contexts, and has not initialized the driver.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_cuda_bind_thread(int32_t device);

/**
 * Says in words why a callback or initializer fails: `return lazy_fail(7, "no such device");`.
 *
 * - `code`: what the callback is about to return; 0 becomes -1, because 0 would mean success.
 * - `message`: copied, the first 1024 bytes of it; NULL for no text. It becomes part of the error's `message`.
 *
 * The text counts for the callback that is running now on this thread, if it then returns this code; the last of
 * several wins. On an initialized once nothing marks where a callback begins, so there the thread's latest text with this
 * code counts, once.
 *
 * **Returns** `code`, or -1 for 0.
 *
 * **Threads** Any; it speaks for the calling thread only.
 *
 * **Blocking** Never.
 *
 * **Unwinding and fork** Never unwinds.
 *
 * **Since** 0.1.0
 */
LAZY_API int32_t lazy_fail(int32_t code, const char *message);

/**
 * `lazy_fail` for an initializer whose failure has a status of its own, such as `LAZY_E_UNAVAILABLE`.
 *
 * - `status`: what the initializing call returns in place of `LAZY_E_INIT`; one that is not a failing status of
 *   this header becomes `LAZY_E_INIT`. Without effect in other callbacks.
 * - `code`, `message`: as for `lazy_fail`.
 *
 * **Returns** `code`, or -1 for 0: `return lazy_fail_status(LAZY_E_UNAVAILABLE, 100, "no driver");`.
 *
 * **Threads** Any; it speaks for the calling thread only.
 *
 * **Blocking** Never.
 *
 * **Unwinding and fork** Never unwinds.
 *
 * **Since** 0.1.0
 */
LAZY_API int32_t lazy_fail_status(lazy_status status, int32_t code, const char *message);

/**
 * The latest failure of a lazy_ call on this thread.
 *
 * **Returns** the error, NULL if no call has failed on this thread. It stays valid, with everything that it points to,
 * until the next lazy_ call on this thread that fails. A call that succeeds leaves it as it is, and so does one that is left
 * by an exception. Ask for it after the failing call, not beside it in one expression, whose order C leaves open.
 *
 * **Threads** Any; each has its own. Not in a signal handler.
 *
 * **Blocking** Never.
 *
 * **Unwinding and fork** Never unwinds. A forked child keeps the error of the thread that forked.
 *
 * **Since** 0.1.0
 */
LAZY_API const lazy_error *lazy_last_error(void);

/**
 * What a status means, in a few words, such as for a log line.
 *
 * - `status`: any number.
 *
 * **Returns** a static string, never NULL; for an unknown number one that says so.
 *
 * **Threads** Any, at any time, also in a signal handler.
 *
 * **Blocking** Never.
 *
 * **Unwinding and fork** Never unwinds.
 *
 * **Since** 0.1.0
 */
LAZY_API const char *lazy_status_string(lazy_status status);

/**
 * Writes how every once stands that the library references, one line for each: its name and address, phase, who initializes it, since
 * when and from where, what is running and where that was handed in, how many threads wait for it to be initialized or are inside
 * `prepare` or `can_init`, how many requests are queued. For a process that hangs: `call (int)lazy_dump(2)` in gdb, whose LWP numbers are
 * the thread numbers here, or from a thread of one's own.
 *
 * A once that owns no memory, because it is ready or fresh with nothing queued and was never configured, is not listed: it is not what
 * hangs. Behind the onces stands a line for each slot that has values, or whose first one is being made: its name, how many there are,
 * and which threads make, end or share one, up to 16 of them. Then comes a line for each thread that waits, for an attempt, to cancel, for a
 * value, or for a host's lock on its way in or back; and for each that is inside a `prepare`, `can_init`, factory, destructor, `share`,
 * `on_event`, a queued request's `drop` or `describe`, or a callback that ran at once, unless that found its once ready: its number, for how
 * long, and where its call came from, or where the request was handed in. 256 that wait are told, and 256 that are inside something; of
 * more only the count. What a thread is in deeper than the sixteenth is not told. A place that is known by an address only is told by the
 * exported function around it, or as `OBJECT+0xOFFSET`, for `addr2line -e`. The loader is not asked, which may be what hangs. A name is cut
 * after 200 bytes, a line after 1023; in a name quotation marks and backslashes have a backslash before them, and what would end the line
 * or turn it round is told by its number.
 *
 * `LAZYONCE_DUMP_SIGNAL=QUIT` in the environment (or `SIGUSR1`, `RTMIN+1`, a number; no signal of a fault) has the same written to stderr
 * whenever the process gets that signal, by whatever thread gets it, unless nobody reads there. What handled the signal before is called
 * then, and ends a blocking call early, or not, as it did; what is installed later takes its place, and its default action is gone; like
 * every handler it ends a `sleep` or `poll` early. It fits on an alternate stack of 8 KiB. A thread that was inside one of the library's
 * short locks writes it a moment later. Read when the library is loaded.
 *
 * - `fd`: a file descriptor to write to, such as 2.
 *
 * **Returns**
 * - `LAZY_OK`: written.
 * - `LAZY_E_INVALID`: `fd` cannot be written to; the message says why.
 * - `LAZY_E_DEADLOCK`: from a signal handler that interrupted this thread inside one of the library's own locks; nothing was written.
 *
 * **Threads** Any, at any time, also in a signal handler: it allocates nothing, unless it fails outside the library's own code, or is this
 * thread's first use of a library that was loaded by `dlopen`. Each line is true in itself; together they are no snapshot.
 *
 * **Blocking** As long as writing to `fd` takes; no lock is held meanwhile.
 *
 * **Unwinding and fork** Never unwinds, runs no callback.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_dump(int fd);

/**
 * The version of the library that runs, to be compared with `LAZY_VERSION_NUMBER`, the version of this header.
 *
 * **Returns** `major << 16 | minor << 8 | patch`.
 *
 * **Threads** Any, at any time, also in a signal handler.
 *
 * **Blocking** Never.
 *
 * **Unwinding and fork** Never unwinds.
 *
 * **Since** 0.1.0
 */
LAZY_API uint32_t lazy_version(void);

/**
 * Sets the observer of this process, which is told when attempts, queued callbacks and waits begin and end.
 *
 * `on_event` is called on the thread that the event happens on, in the middle of its call: a slow one delays what it reports. The
 * library holds no lock meanwhile. It may be called on several threads at the same time, with or without the lock of a host. It
 * may call anything of this library; what happens inside it is not reported, to nobody, and what fails there is the thread's last error as
 * anywhere. It must return: an exception out of it, or the end of its thread, ends the process. Cancellation is off while it runs.
 *
 * The events of one thread nest: of two that overlap, one begins later and ends earlier. An end without a beginning comes from what had
 * begun before the observer was set, or before the fork; a beginning without an end from what goes on, or was left by `longjmp`. A call that finds its once ready,
 * or its slot with a value, has no events.
 *
 * Without a program of one's own the same events go into a file: `LAZYONCE_TRACE=file.json` in the environment makes every process that
 * loads the library write them there, as Chrome trace events, which ui.perfetto.dev and chrome://tracing open. `%p` in the name stands for the
 * process id, so that the processes of one job do not overwrite each other's. Each event is written at once: the file is good up to the
 * moment at which a process dies. What has begun and not ended is what it was doing. A slot's factories, `prepare` and `can_init` are in the file only. A forked child goes on in the same file under its own
 * process id, or, with `%p`, in one of its own. So does whoever opens the same name while the process that began the file lives, or any
 * other has it open, such as a forked child of that one: a second copy of the library, the program that it becomes by `exec`, one that it starts.
 * The file is locked for that (`flock`); where there are no such locks only the process that began it is looked for, by its number. What is left
 * of processes that are all gone is written over, and nothing else is: a file that does not begin as a trace stays as it is. That, a
 * pipe or a socket, and a file that cannot be written, or not become larger, is said once on stderr, is no error, and there is no trace. The
 * environment is read when the library is loaded.
 *
 * `LAZYONCE_WARN_AFTER=30` (or `0.5`) in the environment has every thread that waits so many seconds for somebody's attempt, request, factory or
 * `on_event` write one line to stderr: for what and for whom it waits; of an attempt, since when that is running, and where it was started. It
 * goes on waiting; where stderr has no room the line is left out. A thread that waits for a host's lock, or is inside `prepare` or `can_init`, cannot
 * look at a clock: another one that waits in the library writes the line; where none does, the thread itself does as soon as it goes on.
 * With 0 nothing is warned of. `LAZYONCE_DUMP_SIGNAL` is told of at `lazy_dump`.
 *
 * - `observer`: copied, but for what its `ctx` points to; NULL for none. There is one observer: it replaces the one before.
 *
 * **Returns**
 * - `LAZY_OK`: set. No call of the `on_event` that it replaces is running, unless this call was made from inside an `on_event`.
 * - `LAZY_E_INVALID`: `on_event` is NULL, `size` is too small, or there are non-zero bytes beyond what this library knows.
 * - `LAZY_E_NOMEM`: the observer is as it was.
 *
 * **Threads** Any, at any time; not in a signal handler that interrupted an `on_event`.
 *
 * **Blocking** Until the running calls of the old `on_event` have returned, with the host lock of `lazy_set_host` let go; from inside an
 * `on_event`, never.
 *
 * **Unwinding and fork** Never unwinds. A forked child keeps the observer, which is told of the fork when the child next calls something that
 * finds no once ready, before anything else: fork handlers call nothing of yours. The parent is told nothing.
 *
 * **Since** 0.1.0
 */
LAZY_API lazy_status lazy_set_observer(const lazy_observer *observer);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/** A fresh once: `static lazy_once once = LAZY_ONCE_INIT;`. It has no initializer of its own. */
#define LAZY_ONCE_INIT { 0, LAZY_ONCE_ABI, NULL, NULL, NULL }

/** A fresh once with a constant configuration: `static lazy_once once = LAZY_ONCE_WITH(&config);`. */
#define LAZY_ONCE_WITH(config) { 0, LAZY_ONCE_ABI, (config), NULL, NULL }

/** A `lazy_config` with `size` set and the rest zero: `lazy_config config = LAZY_CONFIG_INIT;`. */
#define LAZY_CONFIG_INIT { sizeof(lazy_config), NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0 }
/** The same for a `lazy_host`. */
#define LAZY_HOST_INIT { sizeof(lazy_host), NULL, NULL, NULL, NULL }
/** The same for a `lazy_request`. */
#define LAZY_REQUEST_INIT { sizeof(lazy_request), NULL, NULL, NULL, NULL, 0, 0, 0, { NULL, 0, NULL }, NULL }
/** The same for a `lazy_receipt`. */
#define LAZY_RECEIPT_INIT { sizeof(lazy_receipt), 0, 0 }
/** The same for a `lazy_info`. */
#define LAZY_INFO_INIT \
    { sizeof(lazy_info), NULL, 0, 0, 0, 0, 0, 0, 0, 0, { NULL, 0, NULL }, { NULL, 0, NULL }, 0 }
/** A `lazy_observer` with `size` set and the rest zero. */
#define LAZY_OBSERVER_INIT { sizeof(lazy_observer), NULL, NULL }

/** A `lazy_cuda_options` with `size` set and the rest zero. */
#define LAZY_CUDA_OPTIONS_INIT { sizeof(lazy_cuda_options), 0 }
/** A `lazy_cuda_info` with `size` set and the rest zero. */
#define LAZY_CUDA_INFO_INIT { sizeof(lazy_cuda_info), 0, 0, NULL }

/** A slot with a constant configuration: `static lazy_slot slot = LAZY_SLOT_INIT(&config);`. */
#define LAZY_SLOT_INIT(config) { LAZY_SLOT_ABI, 0, (config), NULL, NULL }
/** A `lazy_slot_config` with `size` set and the rest zero. */
#define LAZY_SLOT_CONFIG_INIT { sizeof(lazy_slot_config), NULL, NULL, NULL, NULL, NULL, NULL, 0, 0 }

/** This place in the program, as an expression of type `lazy_site`; inside a function only. */
#ifdef __cplusplus
#define LAZY_HERE (lazy_site{ __FILE__, __LINE__, __func__ })
#else
#define LAZY_HERE ((lazy_site){ __FILE__, __LINE__, __func__ })
#endif

/**
 * Makes a `lazy_fn` of a function that returns nothing: after `LAZY_VOID_FN(refresh);` at file scope,
 * `lazy_call(refresh_lazy_fn, ctx)` calls `refresh(ctx)` and counts it as a success. A cast instead would read a result
 * that was never written.
 */
#define LAZY_VOID_FN(name) \
    static int32_t name##_lazy_fn(void *ctx) { \
        name(ctx); \
        return 0; \
    } \
    struct lazy_site

#if defined(__GNUC__)

/*
 * The inline paths: one load and a compare when initialized, the library otherwise. They are laid over the prototypes
 * above as gnu_inline definitions, which never become functions of their own: the address of each is the library's.
 * For the same reason the library's function needs a second name here, or a definition would call itself.
 */
#define LAZY_INLINE_ extern inline __attribute__((__gnu_inline__, __always_inline__))

/* clang takes a plain label of the same name for a recursion and drops the definition; it reads \01 as "literally". */
#if defined(__clang__)
#define LAZY_SYMBOL_(name) __asm__("\01" name)
#else
#define LAZY_SYMBOL_(name) __asm__(name)
#endif

#if defined(__SANITIZE_THREAD__)
#define LAZY_TSAN_ 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LAZY_TSAN_ 1
#endif
#endif

/* Programs that compile with -Wzero-as-null-pointer-constant have this code in theirs. */
#ifdef __cplusplus
#define LAZY_NULL_ nullptr
extern "C" {
#else
#define LAZY_NULL_ NULL
#endif

LAZY_API extern lazy_status lazy_once_init_exported_(lazy_once *once) LAZY_SYMBOL_("lazy_once_init");
LAZY_API extern lazy_status lazy_once_run_exported_(lazy_once *once, lazy_fn initializer, void *ctx)
    LAZY_SYMBOL_("lazy_once_run");
LAZY_API extern lazy_status lazy_once_call_exported_(lazy_once *once, lazy_fn fn, void *ctx)
    LAZY_SYMBOL_("lazy_once_call");

/* A NULL that the compiler can see goes to the library, which answers LAZY_E_INVALID; another one is not looked for. */
#ifdef __OPTIMIZE__
#define LAZY_IS_NULL_(fn) (__builtin_constant_p((fn) == NULL) && (fn) == NULL)
#else
#define LAZY_IS_NULL_(fn) ((fn) == NULL)
#endif

LAZY_INLINE_ bool lazy_once_is_initialized(const lazy_once *once) {
    return __atomic_load_n(&once->state, __ATOMIC_ACQUIRE) == LAZY_READY;
}

LAZY_INLINE_ lazy_status lazy_once_init(lazy_once *once) {
    return __builtin_expect(lazy_once_is_initialized(once), 1) ? LAZY_OK : lazy_once_init_exported_(once);
}

LAZY_INLINE_ lazy_status lazy_once_run(lazy_once *once, lazy_fn initializer, void *ctx) {
    if (LAZY_IS_NULL_(initializer) || __builtin_expect(!lazy_once_is_initialized(once), 0))
        return lazy_once_run_exported_(once, initializer, ctx);
    return LAZY_OK;
}

LAZY_INLINE_ lazy_status lazy_once_call(lazy_once *once, lazy_fn fn, void *ctx) {
    int32_t code;
    if (LAZY_IS_NULL_(fn) || __builtin_expect(!lazy_once_is_initialized(once), 0))
        return lazy_once_call_exported_(once, fn, ctx);
    code = fn(ctx);
    return __builtin_expect(code == 0, 1) ? LAZY_OK : lazy_once_callback_failed(once, code, LAZY_NULL_);
}

/* The parts of a LAZY_HERE, put together only where they are needed: as a struct they would be stored on every call. */
LAZY_INLINE_ lazy_status lazy_once_init_at_(lazy_once *once, const char *file, uint32_t line, const char *function) {
    if (__builtin_expect(!lazy_once_is_initialized(once), 0)) {
        lazy_site site;
        site.file = file;
        site.line = line;
        site.function = function;
        return lazy_once_init_slow(once, &site);
    }
    return LAZY_OK;
}

LAZY_INLINE_ lazy_status lazy_once_submit_at_(lazy_once *once, lazy_fn fn, void *ctx, uint32_t flags,
                                              const char *file, uint32_t line, const char *function) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = fn;
    request.ctx = ctx;
    request.flags = flags;
    request.site.file = file;
    request.site.line = line;
    request.site.function = function;
    return lazy_once_submit(once, &request, LAZY_NULL_);
}

LAZY_INLINE_ lazy_status lazy_once_call_at_(lazy_once *once, lazy_fn fn, void *ctx,
                                            const char *file, uint32_t line, const char *function) {
    lazy_site site;
    int32_t code;
    if (LAZY_IS_NULL_(fn) || __builtin_expect(!lazy_once_is_initialized(once), 0))
        return lazy_once_submit_at_(once, fn, ctx, 0, file, line, function);
    code = fn(ctx);
    if (__builtin_expect(code == 0, 1)) return LAZY_OK;
    site.file = file;
    site.line = line;
    site.function = function;
    return lazy_once_callback_failed(once, code, &site);
}

#ifdef LAZY_TSAN_
/*
 * ThreadSanitizer sees the acquire only where the load is compiled with it, so the three short names take the inline paths as well.
 * The library itself tells the sanitizer the rest.
 */
LAZY_INLINE_ bool lazy_is_initialized(void) { return lazy_once_is_initialized(lazy_default()); }
LAZY_INLINE_ lazy_status lazy_init(void) { return lazy_once_init(lazy_default()); }
LAZY_INLINE_ lazy_status lazy_call(lazy_fn fn, void *ctx) { return lazy_once_call(lazy_default(), fn, ctx); }
#endif

#ifdef __cplusplus
}
#endif

/** `lazy_once_init(once)` that also records this place in the program, for errors. An expression. */
#define LAZY_INIT(once) lazy_once_init_at_((once), __FILE__, __LINE__, __func__)

/** `lazy_once_call(once, fn, ctx)` that also records this place in the program, for errors. An expression. */
#define LAZY_CALL(once, fn, ctx) lazy_once_call_at_((once), (fn), (ctx), __FILE__, __LINE__, __func__)

/** `LAZY_CALL` with `LAZY_REQUEST_HOLD_HOST`: `fn` holds the host lock whenever it runs. An expression. */
#define LAZY_CALL_HELD(once, fn, ctx) \
    lazy_once_submit_at_((once), (fn), (ctx), LAZY_REQUEST_HOLD_HOST, __FILE__, __LINE__, __func__)

#else

#define LAZY_INIT(once) lazy_once_init((once))
#define LAZY_CALL(once, fn, ctx) lazy_once_call((once), (fn), (ctx))

#endif

/**
 * The short name of `lazy_is_initialized`. It is the header's own and binds to no symbol, so a function of that name in
 * somebody else's library is never called by mistake. A file with its own `is_initialized` defines
 * `LAZY_NO_SHORT_NAMES` before it includes this header; and it links the shared library, because the static one brings the
 * symbol that dlsym users ask for.
 */
#ifndef LAZY_NO_SHORT_NAMES
static inline bool is_initialized(void) { /* yours? define LAZY_NO_SHORT_NAMES before the include */
    return lazy_is_initialized();
}
#endif

#endif  /* LAZYONCE_H */
