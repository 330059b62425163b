//! Chapter 8 of the header: diagnosis while things run.

use super::{entry, with_return_address};
use crate::abi::{LAZY_OK, lazy_observer, lazy_status};
use crate::sys::site::Origin;
use crate::sys::sized::Foreign;
use crate::trace::observer;

/// Sets the observer of this process, which is told when attempts, queued callbacks and waits begin and end.
///
/// `on_event` is called on the thread that the event happens on, in the middle of its call: a slow one delays what it reports. The
/// library holds no lock meanwhile. It may be called on several threads at the same time, with or without the lock of a host. It
/// may call anything of this library; what happens inside it is not reported, to nobody, and what fails there is the thread's last error as
/// anywhere. It must return: an exception out of it, or the end of its thread, ends the process. Cancellation is off while it runs.
///
/// The events of one thread nest: of two that overlap, one begins later and ends earlier. An end without a beginning comes from what had
/// begun before the observer was set, or before the fork; a beginning without an end from what goes on, or was left by `longjmp`. A call that finds its once ready,
/// or its slot with a value, has no events.
///
/// Without a program of one's own the same events go into a file: `LAZYONCE_TRACE=file.json` in the environment makes every process that
/// loads the library write them there, as Chrome trace events, which ui.perfetto.dev and chrome://tracing open. `%p` in the name stands for the
/// process id, so that the processes of one job do not overwrite each other's. Each event is written at once: the file is good up to the
/// moment at which a process dies. What has begun and not ended is what it was doing. A slot's factories, `prepare` and `can_init` are in the file only. A forked child goes on in the same file under its own
/// process id, or, with `%p`, in one of its own. So does whoever opens the same name while the process that began the file lives, or any
/// other has it open, such as a forked child of that one: a second copy of the library, the program that it becomes by `exec`, one that it starts.
/// The file is locked for that (`flock`); where there are no such locks only the process that began it is looked for, by its number. What is left
/// of processes that are all gone is written over, and nothing else is: a file that does not begin as a trace stays as it is. That, a
/// pipe or a socket, and a file that cannot be written, or not become larger, is said once on stderr, is no error, and there is no trace. The
/// environment is read when the library is loaded.
///
/// `LAZYONCE_WARN_AFTER=30` (or `0.5`) in the environment has every thread that waits so many seconds for somebody's attempt, request, factory or
/// `on_event` write one line to stderr: for what and for whom it waits; of an attempt, since when that is running, and where it was started. It
/// goes on waiting; where stderr has no room the line is left out. A thread that waits for a host's lock, or is inside `prepare` or `can_init`, cannot
/// look at a clock: another one that waits in the library writes the line; where none does, the thread itself does as soon as it goes on.
/// With 0 nothing is warned of. `LAZYONCE_DUMP_SIGNAL` is told of at `lazy_dump`.
///
/// - `observer`: copied, but for what its `ctx` points to; NULL for none. There is one observer: it replaces the one before.
///
/// **Returns**
/// - `LAZY_OK`: set. No call of the `on_event` that it replaces is running, unless this call was made from inside an `on_event`.
/// - `LAZY_E_INVALID`: `on_event` is NULL, `size` is too small, or there are non-zero bytes beyond what this library knows.
/// - `LAZY_E_NOMEM`: the observer is as it was.
///
/// **Threads** Any, at any time; not in a signal handler that interrupted an `on_event`.
///
/// **Blocking** Until the running calls of the old `on_event` have returned, with the host lock of `lazy_set_host` let go; from inside an
/// `on_event`, never.
///
/// **Unwinding and fork** Never unwinds. A forked child keeps the observer, which is told of the fork when the child next calls something that
/// finds no once ready, before anything else: fork handlers call nothing of yours. The parent is told nothing.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_set_observer(observer: *const lazy_observer) -> lazy_status {
    with_return_address!(set_body, "rsi", "x1")
}

unsafe extern "C-unwind" fn set_body(observer: *const lazy_observer, caller: usize) -> lazy_status {
    // SAFETY: the C caller passes an observer that is valid during the call, or NULL.
    let observer = unsafe { Foreign::new(observer) };
    entry::slow(|| observer::set(observer, Origin::Address(caller)).map(|()| LAZY_OK))
}
