//! The C interface as data: every constant and struct that crosses the boundary, with its layout pinned.
//!
//! The header generator reads this file, so the comments address a C reader. Names and numbers here are frozen: a
//! program compiled against one version of the header runs with every later library of the same SONAME.

#![allow(non_camel_case_types)]

use core::ffi::{c_char, c_void};

/// The result of a call: 0 or positive is success, negative is failure, so `status < 0` is the whole error check.
///
/// To *use* what a once guards, have `LAZY_OK`, or `LAZY_IN_PROGRESS` inside your own queued callback.
pub type lazy_status = i32;

/// Done: the once is initialized, or the callback ran and returned 0.
pub const LAZY_OK: i32 = 0;
/// The callback waits in the queue; the thread that initializes the once will run it. Nothing to do.
pub const LAZY_QUEUED: i32 = 1;
/// This thread is already inside the attempt that it asked for: do not start again, and do not take it for ready.
pub const LAZY_IN_PROGRESS: i32 = 2;

/// An argument is NULL, malformed, or from a header that this library does not know: correct the call.
pub const LAZY_E_INVALID: i32 = -1;
/// No memory for the queue entry: nothing was queued and nothing has changed; free memory and call again.
pub const LAZY_E_NOMEM: i32 = -2;
/// The initializer failed; `lazy_last_error()->code` is what it returned. Call again to try again.
pub const LAZY_E_INIT: i32 = -3;
/// A queued callback failed; the error's `site` says who queued it. The next attempt resumes there.
pub const LAZY_E_DEFERRED: i32 = -4;
/// Your own callback ran at once, or a slot's factory, and returned non-zero; the once is unharmed. Treat it as its failure.
pub const LAZY_E_CALLBACK: i32 = -5;
/// This is a forked child, and what the once or slot guards does not survive fork: the message says what to do.
pub const LAZY_E_FORKED: i32 = -6;
/// Waiting would never end: the message names every once and thread of the circle, and nobody slept. Break the circle.
/// Also, without an error record, what a signal handler gets that interrupted the library on its own thread, and an allocator
/// (`malloc` of a profiler) that calls in while the library allocates.
pub const LAZY_E_DEADLOCK: i32 = -7;
/// The time limit passed while another thread was initializing; the message says what it runs. Wait longer.
pub const LAZY_E_TIMEOUT: i32 = -8;
/// The host interpreter refused this thread, for instance because it is shutting down; nothing was started or lost. Or its
/// hooks broke their contract, which the message says; then what they ran has run.
pub const LAZY_E_HOST: i32 = -9;
/// Not possible at this moment, for instance during a stream capture; the once is unchanged. Call again later.
pub const LAZY_E_NOT_NOW: i32 = -10;
/// There is nothing of that name, number or kind: it was never there, or it has already ended.
pub const LAZY_E_NOT_FOUND: i32 = -11;
/// The once is closed and stays closed: stop using it.
pub const LAZY_E_CLOSED: i32 = -12;
/// The machine lacks what the initializer needs, such as a driver or a device, and the initializer said so: carry on
/// without it.
pub const LAZY_E_UNAVAILABLE: i32 = -13;
/// The once has already been initialized another way; `init_site` says by whom. Configure it earlier.
pub const LAZY_E_TOO_LATE: i32 = -14;
/// The host gave up the wait, as at Ctrl-C; the callback was neither run nor queued. Let the interrupt out.
pub const LAZY_E_INTERRUPTED: i32 = -15;

/// Nobody has initialized the once, or the last attempt failed; calls are queued.
pub const LAZY_FRESH: u32 = 0;
/// The initializer is running.
pub const LAZY_INITIALIZING: u32 = 1;
/// The initializer succeeded and the queued callbacks are running.
pub const LAZY_DRAINING: u32 = 2;
/// An attempt failed and the once is configured to let that be final.
pub const LAZY_FAILED: u32 = 3;
/// Initialized: every effect of the initializer and the queued callbacks is visible. The only value of
/// `lazy_once.state` that has a meaning outside the library.
pub const LAZY_READY: u32 = 4;
/// What was initialized before a fork is unusable in this child.
pub const LAZY_FORKED: u32 = 5;
/// Closed for good.
pub const LAZY_CLOSED: u32 = 6;

/// `on_failure`: the threads that waited for a failed attempt return its error; only a new call tries again.
pub const LAZY_FAIL_SHARE: u32 = 0;
/// `on_failure`: each thread that waited for a failed attempt takes its own turn, as `std::call_once` does.
pub const LAZY_FAIL_RETRY: u32 = 1;
/// `on_failure`: the first failure, of the initializer or of a queued callback, is final.
pub const LAZY_FAIL_STICKY: u32 = 2;

/// `on_deferred_failure`: a queued callback that fails stays at the head of its phase and runs again in the next attempt.
pub const LAZY_DEFERRED_KEEP: u32 = 0;
/// `on_deferred_failure`: a queued callback that fails is reported once and dropped; the next attempt goes on behind it.
pub const LAZY_DEFERRED_DROP: u32 = 1;
/// `on_deferred_failure`: the others run too; then the attempt fails with the first error and keeps what failed,
/// for the next attempt.
pub const LAZY_DEFERRED_CONTINUE: u32 = 2;

/// `on_fork`: an initialized once stays initialized in the child; an attempt of another thread is undone there.
pub const LAZY_FORK_KEEP: u32 = 0;
/// `on_fork`: once an attempt, or its `prepare`, has begun, every init, run, call and submit in a child returns `LAZY_E_FORKED`, and
/// the message names who used the once in the parent. `lazy_once_reset` revives it. An untouched once stays usable.
pub const LAZY_FORK_POISON: u32 = 1;
/// `on_fork`: the child starts with a fresh once and the queue. The initializing thread's own attempt is void in its child, as with
/// `LAZY_FORK_POISON`, and the call that began it returns `LAZY_E_FORKED` there.
pub const LAZY_FORK_RESET: u32 = 2;

/// `contended`: a call that finds another thread's attempt waits for its end.
pub const LAZY_CONTENDED_WAIT: u32 = 0;
/// `contended`: a call that finds another thread's attempt is queued for it instead of waiting. This gives up the rule
/// that a callback handed in during somebody's attempt runs on the thread that handed it in. Once everything has run that was
/// queued when the drain began, further calls wait all the same, so that the drain ends.
pub const LAZY_CONTENDED_QUEUE: u32 = 1;

/// `lazy_request.flags`: never wait for another thread's attempt: be queued for it, or refused with `LAZY_E_NOT_NOW` once
/// everything has run that was queued when its drain began. This gives up the rule that a callback handed in during
/// somebody's attempt runs on the thread that handed it in. For threads that somebody joins before the attempt ends, and for
/// constructors of libraries that are loaded outside `prepare`.
pub const LAZY_REQUEST_NO_WAIT: u32 = 1;
/// `lazy_request.flags`: hold the host lock (such as an interpreter's) while the callback runs, whenever that is: for every
/// callback that touches the host. It is about `fn` alone: a `drop` that touches the host takes the lock itself. A queued callback has it in any case, one that runs at once only if its caller has.
pub const LAZY_REQUEST_HOLD_HOST: u32 = 2;

/// `lazy_request.phase`: the ordinary order, first in, first out.
pub const LAZY_PHASE_NORMAL: i32 = 0;
/// `lazy_request.phase`: after every ordinary request; for seeds and other state that the others may disturb.
pub const LAZY_PHASE_LAST: i32 = 1000;

/// `lazy_receipt.outcome`: it ran at once, on an initialized once.
pub const LAZY_RAN_READY: u32 = 1;
/// `lazy_receipt.outcome`: it ran at once, inside a queued callback of the same once.
pub const LAZY_RAN_REENTRANT: u32 = 2;
/// `lazy_receipt.outcome`: it ran at once, after another thread had finished initializing in the meantime.
pub const LAZY_RAN_AFTER_WAIT: u32 = 3;
/// `lazy_receipt.outcome`: it waits in the queue.
pub const LAZY_OUTCOME_QUEUED: u32 = 4;

/// The layout of `lazy_once` that this header describes; `LAZY_ONCE_INIT` records it in each once.
pub const LAZY_ONCE_ABI: u32 = 1;

/// A callback or an initializer: returns 0 for success, any other value for failure.
///
/// The value is kept as `lazy_last_error()->code`; `return lazy_fail(7, "no such device");` adds a text. A C++ exception
/// may leave it: the attempt counts as failed, the exception reaches the caller, and the once stays usable. `longjmp`
/// must not leave it: the next call on this thread from a frame that is not deeper, or the end of the thread, ends the attempt as
/// failed. A function that returns nothing must not be cast to this type: `LAZY_VOID_FN` wraps it.
pub type lazy_fn = Option<unsafe extern "C-unwind" fn(ctx: *mut c_void) -> i32>;

/// A place in a program: where something was asked for. `LAZY_HERE` makes one.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct lazy_site {
    /// The source file, or the object file if only an address is known; NULL if unknown. What is handed in is read during the call only: what
    /// queues a request or starts an attempt copies it.
    pub file: *const c_char,
    /// The line, counted from 1; 0 if unknown.
    pub line: u32,
    /// The function, or the nearest symbol; NULL if unknown. As `file`.
    pub function: *const c_char,
}

/// One gate: something expensive that is started at most once, and the callbacks that wait for it.
///
/// The memory is yours: 32 bytes, static or inside an object, private to one process, not copied or moved once used.
/// `LAZY_ONCE_INIT` and zeroed memory are both a valid fresh once. A once that was never given to
/// `lazy_once_configure`, has nothing queued and is initialized or untouched owns nothing: its storage may simply end
/// when every call on it has returned.
#[repr(C)]
#[derive(Debug)]
pub struct lazy_once {
    /// Equals `LAZY_READY` exactly when initialized. Read it through `lazy_once_is_initialized`; never write it.
    pub state: u32,
    /// The layout version, `LAZY_ONCE_ABI`; 0 stands for the first.
    pub abi: u32,
    /// What `LAZY_ONCE_WITH` bound, or NULL. Read at first use; must then still be valid.
    pub config: *const lazy_config,
    /// The library's own.
    pub r#impl: *mut c_void,
    /// The library's own.
    pub reserved: *mut c_void,
}

/// What a once does when it is initialized and when that fails. All zero but `size` is a complete configuration.
///
/// Begin with `LAZY_CONFIG_INIT`, which sets `size`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct lazy_config {
    /// `sizeof(lazy_config)`. Fields beyond a smaller size count as 0; non-zero bytes in a larger one are refused.
    pub size: usize,
    /// Names the once in messages; NULL for none. Copied by `lazy_once_configure`.
    pub name: *const c_char,
    /// The initializer; NULL if initializing means only to run the queue.
    pub initialize: lazy_fn,
    /// The argument of `initialize`, `prepare` and `can_init`.
    pub ctx: *mut c_void,
    /// Runs before an attempt is owned, perhaps on several threads at once: load libraries here, because their
    /// constructors may call back in and must find the gate open. Returns 0 for success; another value fails the call with
    /// `LAZY_E_INIT`, or the status of `lazy_fail_status`, without an attempt. Runs again before each attempt until an
    /// initializer has succeeded. Calls on the same once from inside it never wait and do not run it again: while another
    /// thread's attempt runs, `lazy_once_init` and `lazy_once_run` return `LAZY_IN_PROGRESS` there and a call is queued.
    pub prepare: lazy_fn,
    /// Asked before each attempt: non-zero means "not now" (such as during a stream capture): `LAZY_E_NOT_NOW`, no attempt is
    /// made, and calls are still queued. An init of the same once from inside it returns `LAZY_IN_PROGRESS` and starts nothing.
    pub can_init: lazy_fn,
    /// The host lock of this once, in place of the process default; NULL for the default. Kept by pointer. Held are, of the
    /// callbacks: `can_init`, `initialize`, the queued ones and their `drop` after the run. Not held: `prepare`, and the `drop`
    /// of a request that is cancelled, replaced or closed.
    pub host: *const lazy_host,
    /// What those who waited for a failed attempt do: `LAZY_FAIL_SHARE`, `LAZY_FAIL_RETRY`, `LAZY_FAIL_STICKY`.
    pub on_failure: u32,
    /// What becomes of a queued callback that failed: `LAZY_DEFERRED_KEEP`, `LAZY_DEFERRED_DROP`,
    /// `LAZY_DEFERRED_CONTINUE`.
    pub on_deferred_failure: u32,
    /// What a forked child finds: `LAZY_FORK_KEEP`, `LAZY_FORK_POISON`, `LAZY_FORK_RESET`.
    pub on_fork: u32,
    /// What a call does during another thread's attempt: `LAZY_CONTENDED_WAIT`, `LAZY_CONTENDED_QUEUE`.
    pub contended: u32,
    /// The longest a thread waits for another thread's attempt, in nanoseconds; 0 means no limit. The wait for a host lock is the
    /// host's business and does not count.
    pub timeout_ns: u64,
}

/// How to hold and let go the lock of a host: an interpreter lock (GIL, GVL) or an engine's big lock.
///
/// Begin with `LAZY_HOST_INIT`. The table is kept by pointer and must stay valid. Both hooks let unwinding through and
/// put the lock back on the way. errno need not be preserved. Two tables are the same host if they have the same name and the
/// same `ctx`, not NULL.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct lazy_host {
    /// `sizeof(lazy_host)`.
    pub size: usize,
    /// Names the host in messages; must stay valid.
    pub name: *const c_char,
    /// The first argument of both hooks.
    pub ctx: *mut c_void,
    /// Make this thread hold the host lock, whether it held it before or not; call `body(arg)` exactly once on this
    /// thread; put everything back; return 0. Return non-zero without having called it if the host refuses.
    pub run_attached: Option<
        unsafe extern "C-unwind" fn(
            ctx: *mut c_void,
            body: Option<unsafe extern "C-unwind" fn(arg: *mut c_void)>,
            arg: *mut c_void,
        ) -> i32,
    >,
    /// Called only inside `run_attached`: let the host lock go completely, call `park(arg)` once, take the lock back,
    /// return 0; non-zero if the host wants the wait given up. Meanwhile `interrupt(arg)` may be called from any thread,
    /// more than once and also before `park`: it makes `park` return soon. NULL means that sleeping with the lock held
    /// is harmless.
    pub wait_detached: Option<
        unsafe extern "C-unwind" fn(
            ctx: *mut c_void,
            park: Option<unsafe extern "C-unwind" fn(arg: *mut c_void)>,
            interrupt: Option<unsafe extern "C-unwind" fn(arg: *mut c_void)>,
            arg: *mut c_void,
        ) -> i32,
    >,
}

/// A callback with everything that can be said about it. Begin with `LAZY_REQUEST_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct lazy_request {
    /// `sizeof(lazy_request)`.
    pub size: usize,
    /// The callback; not NULL.
    pub r#fn: lazy_fn,
    /// The argument of `fn`, `drop` and `describe`.
    pub ctx: *mut c_void,
    /// Releases `ctx`; called exactly once if the request was taken: after the run, the cancel, the replacement or the
    /// close, with no lock held, on the thread that does that. NULL if there is nothing to release. Not called if the
    /// request was not taken, which is what every negative status but `LAZY_E_CALLBACK` says. An exception out of it comes out
    /// of the call that it ran in; in an attempt, that fails the attempt.
    pub drop: Option<unsafe extern "C-unwind" fn(ctx: *mut c_void)>,
    /// Whom the request belongs to, for `lazy_once_cancel_owner`: any address, which is never followed; NULL for nobody.
    pub owner: *const c_void,
    /// Not 0: a later request with the same key replaces this one while it is queued, and takes the tail of its own phase; one
    /// that runs at once replaces it too, whatever comes of it. What is replaced is released when the later one is queued or has run. Million-fold seeding keeps one entry.
    pub key: u64,
    /// Its place in the order: lower phases run first, first in, first out within one. Meant for a few different values: each
    /// one in use costs a step of every request.
    pub phase: i32,
    /// `LAZY_REQUEST_NO_WAIT`, `LAZY_REQUEST_HOLD_HOST`, or both.
    pub flags: u32,
    /// Where the request was made; `LAZY_HERE`, or zero for the return address.
    pub site: lazy_site,
    /// Writes a text about the request, for the message when it fails in the queue: at most `capacity` bytes (256) with the final NUL. Must
    /// not throw. May be NULL.
    pub describe:
        Option<unsafe extern "C-unwind" fn(ctx: *mut c_void, buffer: *mut c_char, capacity: usize)>,
}

/// What became of a request. Begin with `LAZY_RECEIPT_INIT`; filled whenever the request ran or was queued.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct lazy_receipt {
    /// `sizeof(lazy_receipt)`.
    pub size: usize,
    /// Names the queued request, for `lazy_once_cancel`; 0 if it was never queued.
    pub ticket: u64,
    /// `LAZY_RAN_READY`, `LAZY_RAN_REENTRANT`, `LAZY_RAN_AFTER_WAIT` or `LAZY_OUTCOME_QUEUED`.
    pub outcome: u32,
}

/// A failure in full: what, where, who and why. `lazy_last_error` gives this thread's latest.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct lazy_error {
    /// The size of the struct as the library knows it.
    pub size: usize,
    /// What the failing call returned.
    pub status: lazy_status,
    /// What the callback or initializer returned; 0 if none did.
    pub code: i32,
    /// A sentence that a person can act on; never NULL. Without memory for it, what `lazy_status_string` says, and nothing else is told.
    pub message: *const c_char,
    /// The name of the once or slot; NULL if it has none.
    pub once: *const c_char,
    /// Where the failed callback was handed in.
    pub site: lazy_site,
    /// Where the attempt was started, if the library still knows: a once that owns no memory has forgotten it.
    pub init_site: lazy_site,
    /// The kernel's id of the thread that failed.
    pub thread: u64,
    /// The kernel's id of the initializing thread; 0 if there is none.
    pub owner_thread: u64,
    /// How long the attempt had been running, in nanoseconds.
    pub elapsed_ns: u64,
    /// The ticket of the failed request; 0 if it was never queued.
    pub ticket: u64,
    /// The number of the attempt, counted from 1; 0 if none was made.
    pub attempt: u32,
    /// The last lazy_ call that failed inside the failed callback; NULL if none did.
    pub cause: *const lazy_error,
}

/// A once as it is now. Begin with `LAZY_INFO_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct lazy_info {
    /// `sizeof(lazy_info)`.
    pub size: usize,
    /// The name of the once; NULL if it has none. Valid until the once is configured again, closed, or its storage ends.
    pub name: *const c_char,
    /// `LAZY_FRESH` to `LAZY_CLOSED`.
    pub phase: u32,
    /// How many attempts have begun; saturates.
    pub attempts: u32,
    /// How many times the once has been reset.
    pub generation: u32,
    /// How many threads sleep in init, run, call or submit until the running attempt ends.
    pub waiters: u32,
    /// How many requests are queued.
    pub queued: u64,
    /// The kernel's id of the initializing thread; 0 if there is none.
    pub owner_thread: u64,
    /// When the phase began, in nanoseconds of CLOCK_MONOTONIC; 0 if no attempt has been made since the last reset.
    pub since_ns: u64,
    /// How long the successful attempt took, in nanoseconds.
    pub init_ns: u64,
    /// Where the request that is running now was made. Valid until this thread's next `lazy_once_info`.
    pub running: lazy_site,
    /// Where the latest attempt was started. Valid until the next attempt, the close, or the end of the storage.
    pub init_site: lazy_site,
    /// The process that initialized the once; 0 if none did.
    pub init_pid: i64,
}

/// The right of an initializing thread to re-enter, lent to a worker thread. Plain data: copy it as you like.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct lazy_permit {
    /// The library's own.
    pub opaque: [u64; 4],
}

/// Each thread has its own value for each index.
pub const LAZY_SLOT_THREAD: u32 = 0;
/// The process has one value for each index, which every thread gets.
pub const LAZY_SLOT_PROCESS: u32 = 1;

/// The layout of `lazy_slot` that this header describes; `LAZY_SLOT_INIT` records it in each slot.
pub const LAZY_SLOT_ABI: u32 = 1;

/// State that every thread has, or every device: values by index, each made by a factory when it is first asked for.
///
/// The memory is yours: 32 bytes, static or inside an object, private to one process, not copied or moved once used.
/// `LAZY_SLOT_INIT(&config)` and zeroed memory are both a valid slot; the latter has no factory. Before its storage ends, and before
/// the code of its configuration is unloaded, it is given to `lazy_slot_retire`.
#[repr(C)]
#[derive(Debug)]
pub struct lazy_slot {
    /// The layout version, `LAZY_SLOT_ABI`; 0 stands for the first.
    pub abi: u32,
    /// 0.
    pub flags: u32,
    /// What `LAZY_SLOT_INIT` bound, or NULL. Read at first use; must then still be valid.
    pub config: *const lazy_slot_config,
    /// The library's own.
    pub r#impl: *mut c_void,
    /// The library's own.
    pub reserved: *mut c_void,
}

/// How the values of a slot are made and ended. Begin with `LAZY_SLOT_CONFIG_INIT`, which sets `size`.
///
/// The callbacks run with no lock of the library held, and may call anything of it, also other slots and onces.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct lazy_slot_config {
    /// `sizeof(lazy_slot_config)`. Fields beyond a smaller size count as 0; non-zero bytes in a larger one are refused.
    pub size: usize,
    /// Names the slot in messages; NULL for none. Copied by `lazy_slot_configure`.
    pub name: *const c_char,
    /// The first argument of the callbacks.
    pub ctx: *mut c_void,
    /// The factory: stores a value, which may be NULL, and returns 0; another value is a failure, and nothing is kept. NULL if
    /// values come from `lazy_slot_set` only. A C++ exception out of it comes out of `lazy_slot_get`. `longjmp` out of it is forbidden:
    /// when this thread asks for the value again, or ends, that counts as a failure, which those who wait get then.
    pub create: Option<
        unsafe extern "C-unwind" fn(ctx: *mut c_void, index: u32, value: *mut *mut c_void) -> i32,
    >,
    /// Ends a value, whoever stored it; called exactly once for each, NULL values included. NULL if there is nothing to end. What it
    /// throws comes out of the call that ends the value; at the end of a thread, and where `capture` takes back what it has shared,
    /// nobody can catch it, and the process ends.
    pub destroy:
        Option<unsafe extern "C-unwind" fn(ctx: *mut c_void, index: u32, value: *mut c_void)>,
    /// What `lazy_thread_state_capture` puts into a snapshot for this value, such as the same pointer with one reference more; it
    /// is given to `destroy` by `lazy_thread_state_free`. NULL if the slot is not captured; the process's values never are.
    pub share:
        Option<unsafe extern "C-unwind" fn(ctx: *mut c_void, value: *mut c_void) -> *mut c_void>,
    /// The host lock that the three callbacks hold; NULL for none: they hold what their caller holds (a thread that waits for another's
    /// factory lets the host of `lazy_set_host` go all the same). Callbacks that touch an interpreter need it, since a thread may
    /// end its values without. Kept by pointer.
    pub host: *const lazy_host,
    /// `LAZY_SLOT_THREAD` or `LAZY_SLOT_PROCESS`.
    pub scope: u32,
    /// What a forked child finds: `LAZY_FORK_KEEP` (its thread has its values; those of the threads that it does not have are
    /// gone, without `destroy`), `LAZY_FORK_POISON` (a slot that had a value answers `LAZY_E_FORKED`), `LAZY_FORK_RESET` (no
    /// values, without `destroy`; the factory makes new ones).
    pub on_fork: u32,
}

/// The values of a thread, for other threads: what `lazy_thread_state_capture` makes.
#[derive(Debug)]
pub struct lazy_thread_state {
    _private: (),
}

/// `lazy_event.kind`: a thread initializes a once; `site` says where that was started, `ticket` is the number of the attempt.
pub const LAZY_EVENT_ATTEMPT: u32 = 1;
/// `lazy_event.kind`: a callback runs in the queue of an attempt, or at once inside one or after a wait; `site` says where it was
/// handed in. One that finds its once ready is not reported.
pub const LAZY_EVENT_REQUEST: u32 = 2;
/// `lazy_event.kind`: a thread waits for another one's attempt, request, or value of a slot; `site` says where the attempt was started,
/// or the request handed in.
pub const LAZY_EVENT_WAIT: u32 = 3;
/// `lazy_event.kind`: a thread takes the lock of a host, before it initializes or waits, or after it has slept without; `site` says
/// where its call was made.
pub const LAZY_EVENT_HOST_WAIT: u32 = 4;
/// `lazy_event.kind`: this process has been forked off, at `time_ns`. Has no end.
pub const LAZY_EVENT_FORK: u32 = 5;

/// Something that begins, or has ended. Every pointer in it is valid until `on_event` returns.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct lazy_event {
    /// The size of the struct as the library knows it.
    pub size: usize,
    /// `LAZY_EVENT_ATTEMPT` to `LAZY_EVENT_FORK`.
    pub kind: u32,
    /// The phase of the once when this began; at the end of an attempt, the phase after it. 0 for a slot.
    pub phase: u32,
    /// The name of the once or slot; NULL if it has none.
    pub once: *const c_char,
    /// Which place it is depends on `kind`; all zero if it is not known.
    pub site: lazy_site,
    /// The kernel's id of the thread, which is the one that calls `on_event`.
    pub thread: u64,
    /// When it began, in nanoseconds of CLOCK_MONOTONIC: the same in the end as in the beginning.
    pub time_ns: u64,
    /// 0 if it begins now; how long it took, 1 or more, if it has ended.
    pub duration_ns: u64,
    /// The ticket of a request, 0 if it never queued; the number of an attempt; the index of a slot's value that is waited for;
    /// otherwise 0.
    pub ticket: u64,
    /// How it ended: `LAZY_OK`, or as a call would have failed by it. `LAZY_OK` where it begins.
    pub status: lazy_status,
}

/// Somebody who wants to know what happens. Begin with `LAZY_OBSERVER_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct lazy_observer {
    /// `sizeof(lazy_observer)`.
    pub size: usize,
    /// The first argument of `on_event`.
    pub ctx: *mut c_void,
    /// Called for each event, on the thread that it happens on; not NULL. `lazy_set_observer` says what it may do.
    pub on_event: Option<unsafe extern "C-unwind" fn(ctx: *mut c_void, event: *const lazy_event)>,
}

/// How `lazy_cuda_setup` sets a once up. Begin with `LAZY_CUDA_OPTIONS_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct lazy_cuda_options {
    /// `sizeof(lazy_cuda_options)`.
    pub size: usize,
    /// 0: there are none yet.
    pub flags: u32,
}

/// What is known of the CUDA driver. Begin with `LAZY_CUDA_INFO_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct lazy_cuda_info {
    /// `sizeof(lazy_cuda_info)`.
    pub size: usize,
    /// The newest CUDA version that the driver can do, as it says it: 13020 for 13.2.
    pub driver_version: i32,
    /// How many devices the driver has; -1 until this process has initialized it through a once of `lazy_cuda_setup`, which ends as
    /// unavailable where there are none.
    pub device_count: i32,
    /// The file of the driver's library. It stays valid.
    pub library: *const c_char,
}

/// Pins the size of a struct and the offset of each field that C programs were compiled with.
macro_rules! pin {
    ($name:ident: $size:literal $(, $field:ident $offset:literal)*) => {
        const _: () = assert!(core::mem::size_of::<$name>() == $size);
        $(const _: () = assert!(core::mem::offset_of!($name, $field) == $offset);)*
    };
}

pin!(lazy_site: 24, file 0, line 8, function 16);
pin!(lazy_once: 32, state 0, abi 4, config 8, r#impl 16, reserved 24);
pin!(lazy_config: 80, size 0, name 8, initialize 16, ctx 24, prepare 32, can_init 40, host 48, on_failure 56,
    on_deferred_failure 60, on_fork 64, contended 68, timeout_ns 72);
pin!(lazy_host: 40, size 0, name 8, ctx 16, run_attached 24, wait_detached 32);
pin!(lazy_request: 88, size 0, r#fn 8, ctx 16, drop 24, owner 32, key 40, phase 48, flags 52, site 56, describe 80);
pin!(lazy_receipt: 24, size 0, ticket 8, outcome 16);
pin!(lazy_error: 128, size 0, status 8, code 12, message 16, once 24, site 32, init_site 56, thread 80,
    owner_thread 88, elapsed_ns 96, ticket 104, attempt 112, cause 120);
pin!(lazy_info: 120, size 0, name 8, phase 16, attempts 20, generation 24, waiters 28, queued 32, owner_thread 40,
    since_ns 48, init_ns 56, running 64, init_site 88, init_pid 112);
pin!(lazy_permit: 32, opaque 0);
pin!(lazy_slot: 32, abi 0, flags 4, config 8, r#impl 16, reserved 24);
pin!(lazy_slot_config: 64, size 0, name 8, ctx 16, create 24, destroy 32, share 40, host 48, scope 56, on_fork 60);
pin!(lazy_event: 88, size 0, kind 8, phase 12, once 16, site 24, thread 48, time_ns 56, duration_ns 64, ticket 72, status 80);
pin!(lazy_observer: 24, size 0, ctx 8, on_event 16);
pin!(lazy_cuda_options: 16, size 0, flags 8);
pin!(lazy_cuda_info: 24, size 0, driver_version 8, device_count 12, library 16);
