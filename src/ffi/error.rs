//! Chapter 10 of the header: errors, diagnosis and the version.

use core::ffi::{c_char, c_int};

use super::entry;
use crate::abi::{LAZY_E_INIT, lazy_error, lazy_status};

/// Says in words why a callback or initializer fails: `return lazy_fail(7, "no such device");`.
///
/// - `code`: what the callback is about to return; 0 becomes -1, because 0 would mean success.
/// - `message`: copied, the first 1024 bytes of it; NULL for no text. It becomes part of the error's `message`.
///
/// The text counts for the callback that is running now on this thread, if it then returns this code; the last of
/// several wins. On an initialized once nothing marks where a callback begins, so there the thread's latest text with this
/// code counts, once.
///
/// **Returns** `code`, or -1 for 0.
///
/// **Threads** Any; it speaks for the calling thread only.
///
/// **Blocking** Never.
///
/// **Unwinding and fork** Never unwinds.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_fail(code: i32, message: *const c_char) -> i32 {
    // SAFETY: the C caller passes a NUL-terminated string or NULL.
    unsafe { entry::fail(LAZY_E_INIT, code, message) }
}

/// `lazy_fail` for an initializer whose failure has a status of its own, such as `LAZY_E_UNAVAILABLE`.
///
/// - `status`: what the initializing call returns in place of `LAZY_E_INIT`; one that is not a failing status of
///   this header becomes `LAZY_E_INIT`. Without effect in other callbacks.
/// - `code`, `message`: as for `lazy_fail`.
///
/// **Returns** `code`, or -1 for 0: `return lazy_fail_status(LAZY_E_UNAVAILABLE, 100, "no driver");`.
///
/// **Threads** Any; it speaks for the calling thread only.
///
/// **Blocking** Never.
///
/// **Unwinding and fork** Never unwinds.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_fail_status(
    status: lazy_status,
    code: i32,
    message: *const c_char,
) -> i32 {
    // SAFETY: the C caller passes a NUL-terminated string or NULL.
    unsafe { entry::fail(status, code, message) }
}

/// The latest failure of a lazy_ call on this thread.
///
/// **Returns** the error, NULL if no call has failed on this thread. It stays valid, with everything that it points to,
/// until the next lazy_ call on this thread that fails. A call that succeeds leaves it as it is, and so does one that is left
/// by an exception. Ask for it after the failing call, not beside it in one expression, whose order C leaves open.
///
/// **Threads** Any; each has its own. Not in a signal handler.
///
/// **Blocking** Never.
///
/// **Unwinding and fork** Never unwinds. A forked child keeps the error of the thread that forked.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_last_error() -> *const lazy_error {
    entry::last_error()
}

/// What a status means, in a few words, such as for a log line.
///
/// - `status`: any number.
///
/// **Returns** a static string, never NULL; for an unknown number one that says so.
///
/// **Threads** Any, at any time, also in a signal handler.
///
/// **Blocking** Never.
///
/// **Unwinding and fork** Never unwinds.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_status_string(status: lazy_status) -> *const c_char {
    crate::error::status_text(status).as_ptr()
}

/// Writes how every once stands that the library references, one line for each: its name and address, phase, who initializes it, since
/// when and from where, what is running and where that was handed in, how many threads wait for it to be initialized or are inside
/// `prepare` or `can_init`, how many requests are queued. For a process that hangs: `call (int)lazy_dump(2)` in gdb, whose LWP numbers are
/// the thread numbers here, or from a thread of one's own.
///
/// A once that owns no memory, because it is ready or fresh with nothing queued and was never configured, is not listed: it is not what
/// hangs. Behind the onces stands a line for each slot that has values, or whose first one is being made: its name, how many there are,
/// and which threads make, end or share one, up to 16 of them. Then comes a line for each thread that waits, for an attempt, to cancel, for a
/// value, or for a host's lock on its way in or back; and for each that is inside a `prepare`, `can_init`, factory, destructor, `share`,
/// `on_event`, a queued request's `drop` or `describe`, or a callback that ran at once, unless that found its once ready: its number, for how
/// long, and where its call came from, or where the request was handed in. 256 that wait are told, and 256 that are inside something; of
/// more only the count. What a thread is in deeper than the sixteenth is not told. A place that is known by an address only is told by the
/// exported function around it, or as `OBJECT+0xOFFSET`, for `addr2line -e`. The loader is not asked, which may be what hangs. A name is cut
/// after 200 bytes, a line after 1023; in a name quotation marks and backslashes have a backslash before them, and what would end the line
/// or turn it round is told by its number.
///
/// `LAZYONCE_DUMP_SIGNAL=QUIT` in the environment (or `SIGUSR1`, `RTMIN+1`, a number; no signal of a fault) has the same written to stderr
/// whenever the process gets that signal, by whatever thread gets it, unless nobody reads there. What handled the signal before is called
/// then, and ends a blocking call early, or not, as it did; what is installed later takes its place, and its default action is gone; like
/// every handler it ends a `sleep` or `poll` early. It fits on an alternate stack of 8 KiB. A thread that was inside one of the library's
/// short locks writes it a moment later. Read when the library is loaded.
///
/// - `fd`: a file descriptor to write to, such as 2.
///
/// **Returns**
/// - `LAZY_OK`: written.
/// - `LAZY_E_INVALID`: `fd` cannot be written to; the message says why.
/// - `LAZY_E_DEADLOCK`: from a signal handler that interrupted this thread inside one of the library's own locks; nothing was written.
///
/// **Threads** Any, at any time, also in a signal handler: it allocates nothing, unless it fails outside the library's own code, or is this
/// thread's first use of a library that was loaded by `dlopen`. Each line is true in itself; together they are no snapshot.
///
/// **Blocking** As long as writing to `fd` takes; no lock is held meanwhile.
///
/// **Unwinding and fork** Never unwinds, runs no callback.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_dump(fd: c_int) -> lazy_status {
    entry::dump(fd)
}

/// The version of the library that runs, to be compared with `LAZY_VERSION_NUMBER`, the version of this header.
///
/// **Returns** `major << 16 | minor << 8 | patch`.
///
/// **Threads** Any, at any time, also in a signal handler.
///
/// **Blocking** Never.
///
/// **Unwinding and fork** Never unwinds.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_version() -> u32 {
    const PARTS: [u32; 3] = [
        number(env!("CARGO_PKG_VERSION_MAJOR")),
        number(env!("CARGO_PKG_VERSION_MINOR")),
        number(env!("CARGO_PKG_VERSION_PATCH")),
    ];
    PARTS[0] << 16 | PARTS[1] << 8 | PARTS[2]
}

/// A decimal number of Cargo.toml, at compile time.
const fn number(text: &str) -> u32 {
    match u32::from_str_radix(text, 10) {
        Ok(number) => number,
        Err(_) => panic!("a version part is a number"),
    }
}
