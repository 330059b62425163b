//! Chapter 6 of the header: the host lock.

use super::{cpython, entry};
use crate::abi::{LAZY_OK, lazy_host, lazy_status};
use crate::host;
use crate::sys::sized::Foreign;

/// Sets the host of every once whose configuration names none: whose lock is held while initializers and queued callbacks run,
/// and let go while a thread waits.
///
/// The order is: host lock, then guard; and nobody waits for the guard while holding the host lock. So an initializer may let
/// the lock go and take it back as often as it likes (a Python import does), and a thread that holds the lock may call in at the
/// same time:
///
/// ```text
///  the guard inside the lock, waiting with the lock held:     here:
///
///  A           guard    host lock    B                        A           guard    host lock    B
///  |--- take ------------->|         |                        |--- take ------------->|         |
///  |--- own ---->|         |         |                        |--- own ---->|         |         |
///  |--- let go ----------->|         |                        |--- let go ----------->|         |
///  |             |         |<- take -|                        |             |         |<- take -|
///  |             |<-- wait ----------|  holds the lock        |             |<-- busy? --------|
///  |--- take: for ever --->|         |                        |             |         |<- let go|  sleeps
///                                                             |--- take ------------->|         |
///                                                             |--- ready -->|--- wake ----------|
/// ```
///
/// Of several hosts, a program takes the locks in one order: a once of one host whose initializer starts a once of another, and the
/// other way round, hang like any two locks.
///
/// A once that is ready calls no hook. A call that is queued calls none either, and a callback that runs at once has the host
/// lock as its caller has it; one that needs it is submitted with `LAZY_REQUEST_HOLD_HOST`.
///
/// - `host`: kept by pointer: it must stay valid and unchanged until another one is set and every call that may use it has
///   returned. NULL for none. Each call reads it once, when it begins.
///
/// **Returns**
/// - `LAZY_OK`: set.
/// - `LAZY_E_INVALID`: `run_attached` is NULL, `size` is too small, or there are non-zero bytes beyond what this library knows.
///
/// **Threads** Any, at any time.
///
/// **Blocking** Never; calls no hook.
///
/// **Unwinding and fork** Never unwinds. A forked child keeps it.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_set_host(host: *const lazy_host) -> lazy_status {
    // SAFETY: the C caller passes a table that stays valid, or NULL.
    let host = unsafe { Foreign::new(host) };
    entry::slow(|| host::set_default(host).map(|()| LAZY_OK))
}

/// The CPython interpreter of this process as a host, found at run time: `lazy_set_host(lazy_host_cpython())`, or in one once's
/// configuration.
///
/// It uses the stable interface only, of 3.9 and newer, with and without the GIL, and no Python header. Ctrl-C ends a wait with
/// `LAZY_E_INTERRUPTED` and leaves the KeyboardInterrupt pending, if the caller came in holding the GIL; a caller that came in
/// without it, as through `ctypes.CDLL`, is never interrupted and gets no exception. While the interpreter is finalising, and
/// afterwards, it refuses (`LAZY_E_HOST`). A once that is used from sub-interpreters needs 3.12: before that, CPython's own
/// PyGILState_Ensure hangs there. Objects of one interpreter are of no use in another: give each its own once. After an
/// interpreter was ended and started again, `lazy_once_reset` makes the once fresh.
///
/// **Returns** the table, the same in every call, as soon as the process has loaded Python, also before `Py_Initialize`; NULL if
/// it has not, or only privately (`dlopen` with `RTLD_LOCAL`).
///
/// **Threads** Any, at any time.
///
/// **Blocking** Never, but for the dynamic loader.
///
/// **Unwinding and fork** Never unwinds.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_host_cpython() -> *const lazy_host {
    cpython::host()
}
