//! Chapter 2 of the header: onces of one's own.

use core::ffi::c_void;

use super::{entry, origin, with_return_address};
use crate::abi::{lazy_config, lazy_fn, lazy_once, lazy_site, lazy_status};
use crate::once::{Once, Start};
use crate::sys::site::Origin;
use crate::sys::sized::Foreign;

/// Says what initializing `once` means and how it treats failures, forks and contention; before the first attempt.
///
/// - `once`: the once to configure.
/// - `config`: copied, and the name in it too; what its other pointers lead to must stay valid. NULL withdraws every
///   pointer of the present configuration: for code that may be unloaded, before it is. What is initialized stays so.
///
/// A once that is configured owns memory, until `lazy_once_close`. `LAZY_ONCE_WITH(&config)` binds a constant configuration
/// without a call. After `lazy_once_reset` configuring is allowed again, until the next attempt.
///
/// **Returns**
/// - `LAZY_OK`: configured; also if the once already has an equal configuration, whatever has happened since.
/// - `LAZY_E_TOO_LATE`: an attempt has already been made; the error's `init_site` says by whom, if the once was configured
///   before. Or the once is a named one that somebody else has configured in another way; then `init_site` is the call that
///   did. Nothing has changed.
/// - `LAZY_E_CLOSED`: the once is closed, and `config` is not NULL.
/// - `LAZY_E_INVALID`: `once` is NULL, or `config` has an unknown policy value, a `size` that does not cover
///   `name`, or non-zero bytes beyond what this library knows.
/// - `LAZY_E_NOMEM`: no memory for the copy. Nothing has changed.
///
/// **Threads** Any, at any time, also before `main`.
///
/// **Blocking** Never for an attempt.
///
/// **Unwinding and fork** Runs no callback, never unwinds. A forked child keeps the configuration.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_once_configure(
    once: *mut lazy_once,
    config: *const lazy_config,
) -> lazy_status {
    with_return_address!(configure_body, "rdx", "x2")
}

/// Initializes `once` now, unless that has been done, and runs what was queued: `lazy_init` for any once.
///
/// In C and C++ this is an inline test that enters the library only while not initialized; `LAZY_INIT(once)` also
/// records the place in the source. The address of this function is the library's.
///
/// - `once`: the once. The inline test reads it without checking for NULL.
///
/// **Returns**
/// - `LAZY_OK`: initialized, by this call or before, and every queued callback has run.
/// - `LAZY_IN_PROGRESS`: this thread is inside the attempt already. Nothing was started again.
/// - `LAZY_E_INIT`: the initializer failed, here or in the thread that this call waited for. Call again to try again.
/// - `LAZY_E_DEFERRED`: a queued callback failed; the next attempt resumes at that callback.
/// - `LAZY_E_DEADLOCK`: waiting would never end; the message names the circle.
/// - `LAZY_E_TIMEOUT`: the configured limit passed while another thread was initializing.
/// - `LAZY_E_NOT_NOW`, `LAZY_E_UNAVAILABLE`: the initializer, or the configuration's `can_init`, said so.
/// - `LAZY_E_HOST`, `LAZY_E_INTERRUPTED`: the host refused this thread, or gave up its wait.
/// - `LAZY_E_FORKED`: this is a forked child and what `once` guards does not survive that.
/// - `LAZY_E_CLOSED`: the once is closed.
/// - `LAZY_E_INVALID`: `once` is NULL or not a once that this library knows.
///
/// **Threads** Any, at any time; in a signal handler only when initialized. One thread initializes; the others wait for it and
/// return the outcome of the attempt that they waited for.
///
/// **Blocking** Not when initialized. Otherwise for as long as the initializer and the queued callbacks take.
///
/// **Unwinding and fork** A C++ exception out of the initializer or a queued callback comes out of this call: the
/// attempt counts as failed and the once stays usable. A child forked while another thread initializes does not hang:
/// it finds the once untouched and the queue whole, unless configured otherwise.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_once_init(once: *mut lazy_once) -> lazy_status {
    with_return_address!(init_body, "rsi", "x1")
}

/// `lazy_once_init` with the place in the source: what `LAZY_INIT(once)` calls while the once is not initialized.
///
/// - `once`: the once.
/// - `site`: the place, as `LAZY_HERE` makes it; copied. NULL for none.
///
/// **Returns** as `lazy_once_init`.
///
/// **Threads**, **Blocking**, **Unwinding and fork** as `lazy_once_init`.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_once_init_slow(
    once: *mut lazy_once,
    site: *const lazy_site,
) -> lazy_status {
    with_return_address!(init_slow_body, "rdx", "x2")
}

/// `lazy_once_init` with a limit of its own for waiting; with 0 it tries and never waits.
///
/// - `once`: the once.
/// - `timeout_ns`: the longest time, in nanoseconds, to wait for another thread's attempts, in place of the configured
///   one. 0: only initialize if nobody else is doing so. `UINT64_MAX`: no limit. It does not limit the initializer or the
///   queued callbacks that this call itself runs.
///
/// **Returns** as `lazy_once_init`. `LAZY_E_TIMEOUT`: another thread was still initializing; the message names it, how
/// long it has been at it, and the place of the callback that it is running.
///
/// **Threads** Any, at any time.
///
/// **Blocking** For another thread's attempt at most `timeout_ns`; otherwise for as long as the initializer and the queued
/// callbacks take. Not when initialized.
///
/// **Unwinding and fork** As `lazy_once_init`.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_once_init_timeout(
    once: *mut lazy_once,
    timeout_ns: u64,
) -> lazy_status {
    with_return_address!(init_timeout_body, "rdx", "x2")
}

/// Initializes `once` with this initializer in place of the configured one: the shape of `pthread_once`.
///
/// In C and C++ this is an inline test that enters the library only while not initialized. The address of this function
/// is the library's.
///
/// - `once`: the once. The inline test reads it without checking for NULL.
/// - `initializer`: what to run, for this attempt; not NULL. Not run if an initializer has already succeeded, so that
///   only the queue is left. A thread that waited for another's failed attempt under `LAZY_FAIL_RETRY` runs its own.
/// - `ctx`: handed to it as it is.
///
/// **Returns** as `lazy_once_init`; also `LAZY_E_INVALID` if `initializer` is NULL.
///
/// **Threads** Any, at any time. One thread initializes; the others wait for it and return the outcome of the attempt
/// that they waited for.
///
/// **Blocking** Not when initialized. Otherwise for as long as the initializer and the queued callbacks take.
///
/// **Unwinding and fork** As `lazy_once_init`.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_once_run(
    once: *mut lazy_once,
    initializer: lazy_fn,
    ctx: *mut c_void,
) -> lazy_status {
    with_return_address!(run_body, "rcx", "x3")
}

/// `lazy_once_run` with a limit and the place in the source: for bindings, and what lazyonce.hpp calls while the once is not initialized.
///
/// - `once`: the once.
/// - `initializer`: as for `lazy_once_run`; NULL for the configured one.
/// - `ctx`: handed to `initializer` as it is.
/// - `timeout_ns`: the longest time to wait, as for `lazy_once_init_timeout`; read during the call only. NULL for the configured one.
/// - `site`: the place, as `LAZY_HERE` makes it; copied. NULL for none.
///
/// **Returns** as `lazy_once_init_timeout`.
///
/// **Threads**, **Blocking**, **Unwinding and fork** as `lazy_once_init_timeout`.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_once_run_slow(
    once: *mut lazy_once,
    initializer: lazy_fn,
    ctx: *mut c_void,
    timeout_ns: *const u64,
    site: *const lazy_site,
) -> lazy_status {
    with_return_address!(run_slow_body, "r9", "x5")
}

/// Runs `fn(ctx)` once `once` is initialized: at once if it is, else when it gets initialized: `lazy_call` for any once.
///
/// **A callback that touches an interpreter must take the interpreter's lock itself**: a queued callback runs on the
/// thread that initializes. When it runs where, and what is not promised, is said at `lazy_call`.
///
/// In C and C++ this is an inline test and a direct call of `fn`; it enters the library only while not initialized, or
/// when `fn` fails. The address of this function is the library's.
///
/// - `once`: the once. The inline test reads it without checking for NULL.
/// - `fn`: the callback; not NULL.
/// - `ctx`: handed to it as it is. If the callback is queued, what `ctx` points to must live until it has run.
///
/// **Returns**
/// - `LAZY_OK`: `fn` has run and returned 0.
/// - `LAZY_QUEUED`: `fn` will run later; neither its result nor its effects exist yet. Also after a wait for an attempt that
///   failed: the next one runs it.
/// - `LAZY_E_CALLBACK`: `fn` ran at once and returned non-zero, which is the error's `code`. The once is unharmed.
/// - `LAZY_E_INVALID`: `once` or `fn` is NULL, or `once` is not a once that this library knows.
/// - `LAZY_E_NOMEM`: the queue cannot grow.
/// - `LAZY_E_DEADLOCK`: waiting would never end; the message names the circle.
/// - `LAZY_E_TIMEOUT`, `LAZY_E_HOST`, `LAZY_E_INTERRUPTED`: the wait for another thread's attempt ended that way.
/// - `LAZY_E_INIT`, `LAZY_E_DEFERRED`: an attempt failed and `LAZY_FAIL_STICKY` makes that final.
/// - `LAZY_E_FORKED`: this is a forked child and what `once` guards does not survive that.
/// - `LAZY_E_CLOSED`: the once is closed.
///
/// With a negative status other than `LAZY_E_CALLBACK`, `fn` was neither run nor queued.
///
/// **Threads** Any, at any time. In a signal handler: only on an initialized once and with a callback that returns 0.
///
/// **Blocking** Only while another thread initializes, asleep in the kernel. On an initialized once it takes no lock and
/// allocates nothing.
///
/// **Unwinding and fork** A C++ exception that leaves a callback run at once comes out of this call; one that leaves a
/// queued callback comes out of the call that initializes, and counts as that callback's failure. `longjmp` out of a
/// callback is forbidden: the next call on this thread ends the attempt that was left, and returns `LAZY_E_DEADLOCK`. A forked child
/// keeps the queue.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_once_call(
    once: *mut lazy_once,
    r#fn: lazy_fn,
    ctx: *mut c_void,
) -> lazy_status {
    with_return_address!(call_body, "rcx", "x3")
}

/// Records the failure of a callback that an inline path of this header ran; programs have no need to call it.
///
/// - `once`: the initialized once.
/// - `code`: what the callback returned.
/// - `site`: where it was handed in; NULL for the return address.
///
/// **Returns** `LAZY_E_CALLBACK`; `LAZY_E_INVALID` if `once` is not a once.
///
/// **Threads** The one that ran the callback.
///
/// **Blocking** Never.
///
/// **Unwinding and fork** Never unwinds.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_once_callback_failed(
    once: *const lazy_once,
    code: i32,
    site: *const lazy_site,
) -> lazy_status {
    with_return_address!(callback_failed_body, "rcx", "x3")
}

/// Tells whether `once` is initialized: its initializer has succeeded and every queued callback has run.
///
/// In C and C++ this is inline: one load and a compare. The address of this function is the library's.
///
/// - `once`: the once. The inline test reads it without checking for NULL; the library's function answers false to NULL.
///
/// **Returns** true or false. After true, this thread sees everything that the initializer and the queued callbacks
/// wrote. False inside the initializer and inside the queued callbacks, on every thread.
///
/// **Threads** Any, at any time, also in a signal handler.
///
/// **Blocking** Never.
///
/// **Unwinding and fork** Never unwinds. In a forked child the answer is the parent's, unless configured otherwise; a
/// child made by `_Fork` or raw `clone` keeps the parent's answer in every case.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_once_is_initialized(once: *const lazy_once) -> bool {
    // SAFETY: the C caller passes a once or NULL.
    unsafe { entry::once(once) }.is_some_and(Once::is_ready)
}

/// Tells whether this thread is inside an unfinished attempt of `once`: in its initializer or in a queued callback.
///
/// - `once`: the once.
///
/// **Returns** true inside the attempt, on the thread that initializes or holds its permit; false otherwise, and for
/// NULL. True does not say that the initializer has succeeded: inside the initializer itself it has not.
///
/// **Threads** Any, at any time. The answer is about the calling thread only.
///
/// **Blocking** Never.
///
/// **Unwinding and fork** Never unwinds. A thread that forks inside an attempt is still inside it in the child, unless
/// configured otherwise.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_once_is_initializing(once: *const lazy_once) -> bool {
    // SAFETY: the C caller passes a once or NULL.
    unsafe { entry::once(once) }.is_some_and(entry::is_initializing)
}

unsafe extern "C-unwind" fn configure_body(
    once: *mut lazy_once,
    config: *const lazy_config,
    caller: usize,
) -> lazy_status {
    // SAFETY: the C caller passes a once, and a configuration of at least `size` bytes, or NULL for either.
    let (once, config) = unsafe { (entry::once(once), Foreign::new(config)) };
    entry::configure(once, config, caller)
}

unsafe extern "C-unwind" fn init_body(once: *mut lazy_once, caller: usize) -> lazy_status {
    // SAFETY: the C caller passes a once or NULL.
    unsafe { init(once, entry::plain(Origin::Address(caller))) }
}

unsafe extern "C-unwind" fn init_timeout_body(
    once: *mut lazy_once,
    timeout_ns: u64,
    caller: usize,
) -> lazy_status {
    let start = Start {
        limit_ns: Some(timeout_ns),
        ..entry::plain(Origin::Address(caller))
    };
    // SAFETY: the C caller passes a once or NULL.
    unsafe { init(once, start) }
}

unsafe extern "C-unwind" fn init_slow_body(
    once: *mut lazy_once,
    site: *const lazy_site,
    caller: usize,
) -> lazy_status {
    // SAFETY: the C caller passes a once or NULL, and a site or NULL.
    unsafe { init(once, entry::plain(origin(site, caller))) }
}

/// # Safety
/// A once that stays valid during the call, or NULL.
#[inline(always)]
unsafe fn init(once: *mut lazy_once, start: Start) -> lazy_status {
    // SAFETY: the caller's promise.
    match unsafe { entry::once(once) } {
        Some(once) if once.is_ready() => entry::init_ready(once),
        once => entry::init(once, &start),
    }
}

unsafe extern "C-unwind" fn run_body(
    once: *mut lazy_once,
    initializer: lazy_fn,
    ctx: *mut c_void,
    caller: usize,
) -> lazy_status {
    // SAFETY: the C caller passes a once or NULL, and an initializer that fits `ctx` or NULL.
    let (once, initializer) = unsafe { (entry::once(once), entry::callback(initializer, ctx)) };
    match (once, initializer) {
        (_, None) => entry::invalid("the initializer is NULL"),
        (Some(once), _) if once.is_ready() => entry::init_ready(once),
        (once, instead) => {
            let start = Start {
                instead,
                ..entry::plain(Origin::Address(caller))
            };
            entry::init(once, &start)
        }
    }
}

unsafe extern "C-unwind" fn run_slow_body(
    once: *mut lazy_once,
    initializer: lazy_fn,
    ctx: *mut c_void,
    timeout_ns: *const u64,
    site: *const lazy_site,
    caller: usize,
) -> lazy_status {
    // SAFETY: the C caller passes a once, an initializer that fits `ctx`, a limit and a site, or NULL for any.
    unsafe {
        let start = Start {
            instead: entry::callback(initializer, ctx),
            limit_ns: timeout_ns.as_ref().copied(),
            ..entry::plain(origin(site, caller))
        };
        init(once, start)
    }
}

unsafe extern "C-unwind" fn call_body(
    once: *mut lazy_once,
    r#fn: lazy_fn,
    ctx: *mut c_void,
    caller: usize,
) -> lazy_status {
    // SAFETY: the C caller passes a once or NULL, and a callback that fits `ctx` or NULL.
    let (once, callback) = unsafe { (entry::once(once), entry::callback(r#fn, ctx)) };
    match (once, callback) {
        (Some(once), Some(callback)) if once.is_ready() => {
            entry::call_ready(once, callback, caller)
        }
        (once, callback) => entry::call(once, callback, caller),
    }
}

unsafe extern "C-unwind" fn callback_failed_body(
    once: *const lazy_once,
    code: i32,
    site: *const lazy_site,
    caller: usize,
) -> lazy_status {
    // SAFETY: the C caller passes the once on which it has just run the callback, and a site or NULL.
    match unsafe { (entry::once(once), origin(site, caller)) } {
        (Some(once), origin) => entry::callback_failed(once, code, origin),
        (None, _) => entry::invalid("the once is NULL"),
    }
}
