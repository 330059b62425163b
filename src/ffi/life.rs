//! Chapter 4 of the header: the life of a once: by name, again, to its end, and how it stands.

use core::ffi::{CStr, c_char};
use core::ptr::null_mut;

use super::{entry, origin, view, with_return_address};
use crate::abi::{self, lazy_info, lazy_once, lazy_site, lazy_status};
use crate::error::Failure;
use crate::once::{self, Progress};
use crate::sys::site::Origin;
use crate::sys::sized::Target;
use crate::sys::text::text;

/// The once of that name, the same for everybody in the process: how two frameworks share "cuda".
///
/// It is made by whoever asks first, and never freed. Whoever configures it first decides: an equal configuration is
/// `LAZY_OK` afterwards, a different one `LAZY_E_TOO_LATE`, whose `init_site` is the first's call. It keeps its own name, whatever
/// the configuration says. `lazy_once_configure(once, NULL)`, by a configurer that is unloaded, lets the next one decide, if no
/// attempt has been made.
///
/// - `name`: not empty; copied.
///
/// **Returns** the once; NULL if `name` is NULL or empty (`LAZY_E_INVALID`) or there is no memory (`LAZY_E_NOMEM`).
///
/// **Threads** Any, at any time; not in a signal handler.
///
/// **Blocking** Never.
///
/// **Unwinding and fork** Never unwinds; the address is the same in a forked child. Every copy of the library in a process
/// has its own.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_once_named(name: *const c_char) -> *mut lazy_once {
    let mut found = null_mut();
    entry::slow(|| {
        // SAFETY: the C caller passes a NUL-terminated string or NULL.
        let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) });
        let name = name
            .filter(|name| !name.is_empty())
            .ok_or_else(|| Failure::invalid("the name is NULL or empty"))?;
        found = core::ptr::from_ref(once::named(name)?).cast_mut().cast();
        Ok(abi::LAZY_OK)
    });
    found
}

/// Makes `once` fresh again: the next init runs the initializer, and calls are queued until then.
///
/// The queue is kept; what has run is not run again; the generation rises by one, and configuring is allowed until the next attempt. It
/// also revives a once that is unusable in a forked child (`LAZY_FORK_POISON`): only where what it guards can be started there. For a backend that was
/// shut down, such as an interpreter that is started again. It does not undo what the initializer did, and it does not wait
/// for callbacks that other threads run at once on the initialized once: keeping users away is the caller's part.
///
/// - `once`: the once.
///
/// **Returns**
/// - `LAZY_OK`: fresh, whatever it was before.
/// - `LAZY_IN_PROGRESS`: this thread is inside an attempt; nothing has changed.
/// - `LAZY_E_TIMEOUT`: another thread's attempt did not end within the configured limit; nothing has changed.
/// - `LAZY_E_DEADLOCK`: waiting for it would never end; nothing has changed.
/// - `LAZY_E_CLOSED`: the once is closed.
/// - `LAZY_E_INVALID`: `once` is NULL or not a once that this library knows.
/// - `LAZY_E_HOST`, `LAZY_E_INTERRUPTED`: the wait ended that way; nothing has changed.
///
/// **Threads** Any, at any time; not in a signal handler.
///
/// **Blocking** While another thread initializes.
///
/// **Unwinding and fork** Runs no callback, never unwinds.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_once_reset(once: *mut lazy_once) -> lazy_status {
    with_return_address!(reset_body, "rsi", "x1")
}

unsafe extern "C-unwind" fn reset_body(once: *mut lazy_once, caller: usize) -> lazy_status {
    // SAFETY: as in `lazy_once_reset`.
    unsafe { reset(once, Origin::Address(caller)) }
}

/// `lazy_once_reset` with the place in the source: for bindings, whose own call is not what people look for.
///
/// - `once`: as for `lazy_once_reset`.
/// - `site`: the place, as `LAZY_HERE` makes it, for the trace, the dump and the warnings; read during the call only. NULL for none.
///
/// **Returns**, **Threads**, **Blocking**, **Unwinding and fork** as `lazy_once_reset`.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_once_reset_slow(
    once: *mut lazy_once,
    site: *const lazy_site,
) -> lazy_status {
    with_return_address!(reset_slow_body, "rdx", "x2")
}

unsafe extern "C-unwind" fn reset_slow_body(
    once: *mut lazy_once,
    site: *const lazy_site,
    caller: usize,
) -> lazy_status {
    // SAFETY: as in `lazy_once_reset`, and the C caller passes a site or NULL.
    unsafe { reset(once, origin(site, caller)) }
}

/// # Safety
/// As `lazy_once_reset`; what the origin points to is there during the call.
unsafe fn reset(once: *mut lazy_once, origin: Origin) -> lazy_status {
    // SAFETY: the C caller passes a once or NULL.
    let once = unsafe { entry::once(once) };
    entry::slow(|| {
        let once = entry::owned(once)?;
        once.check_frames()?;
        once.reset(origin).map(|progress| match progress {
            Progress::Done => abi::LAZY_OK,
            Progress::InProgress => abi::LAZY_IN_PROGRESS,
        })
    })
}

/// Ends `once` for good: drops its queue, sends its waiters away, and frees what it owns.
///
/// It does not wait for a running attempt. Threads that wait in init, run, call, submit or reset return `LAZY_E_CLOSED` at
/// once; the running callback finishes, its `drop` runs, and whoever initializes gets `LAZY_E_CLOSED`. Queued requests never
/// run; their `drop`s run on this thread, before this returns. Afterwards the library reaches the once only through calls that
/// have not returned yet: when they have, its storage may end. Close a once before its storage ends unless it was never given
/// to `lazy_once_configure`, has nothing queued, and is initialized or untouched.
///
/// - `once`: the once.
///
/// **Returns**
/// - `LAZY_OK`: closed, by this call or before.
/// - `LAZY_E_INVALID`: `once` is NULL, not a once that this library knows, or belongs to the whole process
///   (`lazy_default()`, a named once): for those there are `lazy_once_cancel_owner` and `lazy_once_reset`. Nothing has changed.
///
/// **Threads** Any, at any time, also inside the attempt; not in a signal handler.
///
/// **Blocking** Never for an attempt; for as long as the `drop`s take.
///
/// **Unwinding and fork** An exception out of a `drop` comes out of this call; the once is closed, and a second call goes on
/// with the other requests.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_once_close(once: *mut lazy_once) -> lazy_status {
    // SAFETY: the C caller passes a once or NULL.
    let once = unsafe { entry::once(once) };
    entry::slow(|| {
        let once = entry::owned(once)?;
        if core::ptr::eq(once, entry::default()) {
            return Err(Failure::invalid(
                "the process default cannot be closed: use lazy_once_cancel_owner and lazy_once_reset",
            ));
        }
        once.close().map(|()| abi::LAZY_OK)
    })
}

/// Tells how `once` stands at this moment.
///
/// A once that owns no memory (see `lazy_once_close`) knows its name, phase, attempts and generation; the rest is 0 or NULL.
///
/// - `once`: the once.
/// - `info`: filled, only `size` bytes of it. Begin with `LAZY_INFO_INIT`.
///
/// **Returns**
/// - `LAZY_OK`: filled.
/// - `LAZY_E_INVALID`: an argument is NULL, `once` is not a once that this library knows, or `size` does not cover `name` or is
///   larger than this library knows, with non-zero bytes there. Nothing was written.
///
/// **Threads** Any, at any time; not in a signal handler. What it tells may have changed by the time it returns.
///
/// **Blocking** Never.
///
/// **Unwinding and fork** Never unwinds, runs no callback, and spoils nothing for a later fork.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_once_info(
    once: *const lazy_once,
    info: *mut lazy_info,
) -> lazy_status {
    // SAFETY: the C caller passes a once, and a struct of at least `size` bytes, or NULL for either.
    let (once, info) = unsafe { (entry::once(once), Target::new(info)) };
    entry::slow(|| {
        let once = entry::owned(once)?;
        match info.check() {
            None => return Err(Failure::invalid("the info is NULL")),
            Some(Err(malformed)) => {
                return Err(Failure::invalid(text!("lazy_info.size: {malformed}")));
            }
            Some(Ok(())) => {}
        }
        info.fill(&view::info(once.info()));
        Ok(abi::LAZY_OK)
    })
}
