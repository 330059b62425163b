//! Chapter 1 of the header: the process default and its three functions.

use core::ffi::c_void;

use super::{entry, with_return_address};
use crate::abi::{lazy_fn, lazy_once, lazy_status};
#[cfg(target_arch = "x86_64")]
use crate::once::{self, word};
use crate::sys::site::Origin;

/// Initializes the process default now, unless that has been done, and runs what was queued.
///
/// The default belongs to the application, or to the one framework in it: say first what initializing means, with
/// `lazy_once_configure(lazy_default(), &config)`. A default that nobody configured has no initializer; then this only
/// runs the queue. A library keeps a `static lazy_once` of its own instead.
///
/// **Returns**
/// - `LAZY_OK`: initialized, by this call or before, and every queued callback has run.
/// - `LAZY_IN_PROGRESS`: this thread is inside the attempt already, in the initializer or in a queued callback. Nothing
///   was started again; in a queued callback the thread may use what the initializer has started.
/// - `LAZY_E_INIT`: the initializer failed, here or in the thread that this call waited for. Call again to try again.
/// - `LAZY_E_DEFERRED`: a queued callback failed; the error's `site` says who queued it. The initializer's success is
///   remembered, and the next attempt resumes at that callback.
/// - `LAZY_E_DEADLOCK`: waiting would never end; the message names the circle.
/// - `LAZY_E_TIMEOUT`, `LAZY_E_NOT_NOW`, `LAZY_E_UNAVAILABLE`, `LAZY_E_HOST`, `LAZY_E_INTERRUPTED`, `LAZY_E_FORKED`:
///   as the configuration of the once provides; each is explained beside its number above.
///
/// **Threads** Any, at any time, also before `main` and from constructors. One thread initializes; the others that call
/// this meanwhile wait for it and return the outcome of the attempt that they waited for.
///
/// **Blocking** Not when initialized (one load and a compare). Otherwise for as long as the initializer and the queued
/// callbacks take; waiting threads sleep in the kernel.
///
/// **Unwinding and fork** A C++ exception out of the initializer or a queued callback comes out of this call: the
/// attempt counts as failed and the once stays usable. A child forked while another thread initializes does not hang:
/// it finds the once untouched and the queue whole.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_init() -> lazy_status {
    with_return_address!(init_body, "rdi", "x0")
}

/// Runs `fn(ctx)` once the process default is initialized: at once if it is, else when it gets initialized.
///
/// **A callback that touches an interpreter must take the interpreter's lock itself** (in Python: `PyGILState_Ensure`):
/// a queued callback runs on the thread that initializes, which need not be yours and need not hold the lock.
///
/// - `fn`: the callback; not NULL. Returns 0 for success; `LAZY_VOID_FN` wraps one that returns nothing.
/// - `ctx`: handed to it as it is. If the callback is queued, what `ctx` points to must live until it has run.
///
/// | when this is called | what happens | returns |
/// |---|---|---|
/// | initialized | `fn` runs now, on this thread | `LAZY_OK` |
/// | inside a queued callback of the same once | `fn` runs now, on this thread, inside that callback | `LAZY_OK` |
/// | another thread is initializing | waits; then `fn` runs now, on this thread | `LAZY_OK` |
/// | nobody has initialized yet, or inside the initializer itself | `fn` is queued | `LAZY_QUEUED` |
///
/// Queued callbacks run first in, first out, each exactly once, before anybody sees the once as initialized. Nested
/// calls run inside their caller, depth-first. No lock of the library is held while a callback runs.
///
/// **Not promised** A callback may still recurse for ever, take locks of your own in the wrong order, wait for a device
/// or for something unrelated, or join a thread that itself waits for this once: that hangs, as it would without the
/// library.
///
/// **Returns**
/// - `LAZY_OK`: `fn` has run and returned 0.
/// - `LAZY_QUEUED`: `fn` will run later; neither its result nor its effects exist yet. Also after a wait for an attempt that
///   failed: the next one runs it.
/// - `LAZY_E_CALLBACK`: `fn` ran at once and returned non-zero, which is the error's `code`. The once is unharmed.
/// - `LAZY_E_INVALID`: `fn` is NULL.
/// - `LAZY_E_NOMEM`: the queue cannot grow; `fn` was neither run nor queued.
/// - `LAZY_E_DEADLOCK`: waiting would never end; `fn` was neither run nor queued.
/// - `LAZY_E_TIMEOUT`, `LAZY_E_HOST`, `LAZY_E_INTERRUPTED`, `LAZY_E_FORKED`: as the configuration of the once provides;
///   `fn` was neither run nor queued.
///
/// **Threads** Any, at any time. In a signal handler: only on an initialized once and with a callback that returns 0.
///
/// **Blocking** Only while another thread initializes, asleep in the kernel. On an initialized once it takes no lock and
/// allocates nothing.
///
/// **Unwinding and fork** A C++ exception that leaves a callback run at once comes out of this call; one that leaves a
/// queued callback comes out of the call that initializes, and counts as that callback's failure. The same holds, on
/// glibc, for `pthread_exit` and cancellation. `longjmp` out of a callback is forbidden. A forked child keeps the queue.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_call(r#fn: lazy_fn, ctx: *mut c_void) -> lazy_status {
    // `call_body` for a once that is READY, without the registers in which the compiler keeps the return address for an error:
    // it stays on the stack, where it is. 12 instructions instead of 29.
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!(
        ".cfi_startproc",
        "test rdi, rdi",
        "je 2f",
        "mov eax, dword ptr [rip + {ready}]",
        "cmp eax, dword ptr [rip + {once}]",
        "jne 2f",
        "xchg rdi, rsi",
        // For the stack's alignment. What the callback throws passes through this frame.
        "push rax",
        ".cfi_adjust_cfa_offset 8",
        "call rsi",
        "pop rcx",
        ".cfi_adjust_cfa_offset -8",
        "test eax, eax",
        "jne 3f",
        "ret",
        "2:",
        "mov rdx, qword ptr [rsp]",
        "jmp {body}",
        "3:",
        "mov edi, eax",
        "mov rsi, qword ptr [rsp]",
        "jmp {failed}",
        ".cfi_endproc",
        ready = sym word::UNTOLD_READY,
        once = sym once::DEFAULT,
        body = sym call_body,
        failed = sym call_failed,
    );
    #[cfg(not(target_arch = "x86_64"))]
    with_return_address!(call_body, "rdx", "x2")
}

/// Tells whether the process default is initialized: its initializer has succeeded and every queued callback has run.
///
/// False inside the initializer and inside the queued callbacks, on every thread: whether this thread is the one that
/// initializes is `lazy_once_is_initializing(lazy_default())`.
///
/// **Returns** true or false. After true, this thread sees everything that the initializer and the queued callbacks
/// wrote.
///
/// **Threads** Any, at any time, also in a signal handler.
///
/// **Blocking** Never.
///
/// **Unwinding and fork** Never unwinds. In a forked child the answer is the parent's, unless the once is configured
/// otherwise.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_is_initialized() -> bool {
    entry::default().is_ready()
}

/// The short name of `lazy_is_initialized`, for dlsym and foreign function interfaces. C programs get it from the header
/// as a `static inline`, which never binds to a stranger's function of the same name.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn is_initialized() -> bool {
    entry::default().is_ready()
}

/// The once behind `lazy_init`, `lazy_call` and `lazy_is_initialized`, to be configured and used like any other.
///
/// **Returns** the same address in every call; never NULL. Every copy of the library in a process has its own.
///
/// **Threads** Any, at any time, also in a signal handler.
///
/// **Blocking** Never.
///
/// **Unwinding and fork** Never unwinds; the address is the same in a forked child.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_default() -> *mut lazy_once {
    core::ptr::from_ref(entry::default()).cast_mut().cast()
}

unsafe extern "C-unwind" fn init_body(caller: usize) -> lazy_status {
    match entry::default() {
        once if once.is_ready() => entry::init_ready(once),
        once => entry::init(Some(once), &entry::plain(Origin::Address(caller))),
    }
}

unsafe extern "C-unwind" fn call_body(
    r#fn: lazy_fn,
    ctx: *mut c_void,
    caller: usize,
) -> lazy_status {
    let once = entry::default();
    // SAFETY: the C caller passes a callback that fits `ctx`, or NULL.
    match unsafe { entry::callback(r#fn, ctx) } {
        Some(callback) if once.is_ready() => entry::call_ready(once, callback, caller),
        callback => entry::call(Some(once), callback, caller),
    }
}

#[cfg(target_arch = "x86_64")]
unsafe extern "C-unwind" fn call_failed(code: i32, caller: usize) -> lazy_status {
    entry::callback_failed(entry::default(), code, Origin::Address(caller))
}
