//! Chapter 5 of the header: permits, for initializers that have threads work for them.

use super::entry;
use crate::abi::{self, lazy_once, lazy_permit, lazy_status};
use crate::error::Failure;
use crate::once::Permit;

/// Lends the right of the initializing thread to re-enter: an initializer captures it, its worker threads enter it.
///
/// The attempt does not wait for whoever holds the permit: join the workers before the initializer returns, or what they run
/// may still be running when the once is published as initialized. A permit is plain data; copy it as you like, and forget it
/// when the attempt is over.
///
/// - `once`: the once that this thread initializes.
/// - `permit`: filled.
///
/// **Returns**
/// - `LAZY_OK`: filled.
/// - `LAZY_E_INVALID`: this thread is not inside an attempt of `once`, or an argument is NULL.
///
/// **Threads** The initializing thread, or one that has entered its permit.
///
/// **Blocking** Never.
///
/// **Unwinding and fork** Never unwinds. In a forked child nobody holds a permit, and none of the parent's is good for anything.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_permit_capture(
    once: *mut lazy_once,
    permit: *mut lazy_permit,
) -> lazy_status {
    // SAFETY: the C caller passes a once or NULL.
    let once = unsafe { entry::once(once) };
    // SAFETY: the C caller passes a permit that nobody else uses during the call, or NULL.
    let permit = unsafe { permit.as_mut() };
    entry::slow(|| {
        let permit = permit.ok_or_else(|| Failure::invalid(NO_PERMIT))?;
        permit.opaque = entry::owned(once)?.permit()?.words();
        Ok(abi::LAZY_OK)
    })
}

/// From here this thread counts as the initializing thread of the permit's attempt, until `lazy_permit_leave`, the end of the
/// attempt, or its own end, whichever is first.
///
/// Its calls on the once are queued while the initializer runs and run inline while the queue is drained, and its inits return
/// `LAZY_IN_PROGRESS`, exactly as on the initializing thread. Enters of several permits nest; each is left once.
///
/// - `permit`: from `lazy_permit_capture`.
///
/// **Returns**
/// - `LAZY_OK`: entered.
/// - `LAZY_E_NOT_FOUND`: the attempt has ended.
/// - `LAZY_E_INVALID`: `permit` is NULL.
/// - `LAZY_E_NOMEM`: no memory to note it.
///
/// **Threads** Any.
///
/// **Blocking** Never.
///
/// **Unwinding and fork** Never unwinds. For fork, a permit holder is not the initializing thread: its child finds the once as
/// a child of any other thread does.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_permit_enter(permit: *const lazy_permit) -> lazy_status {
    // SAFETY: the C caller passes a permit or NULL.
    let permit = unsafe { permit.as_ref() };
    entry::slow(|| given(permit)?.enter().map(|()| abi::LAZY_OK))
}

/// Ends what `lazy_permit_enter` began; also after the attempt has ended.
///
/// A worker that was refused a wait with `LAZY_E_DEADLOCK` breaks that circle before it leaves: when it is gone, the threads that
/// are left of the attempt may wait for one another for ever, and since none of them goes to sleep then, none is told.
///
/// - `permit`: what this thread has entered.
///
/// **Returns**
/// - `LAZY_OK`: left.
/// - `LAZY_E_NOT_FOUND`: this thread has not entered it.
/// - `LAZY_E_INVALID`: `permit` is NULL.
///
/// **Threads** The one that entered.
///
/// **Blocking** Never.
///
/// **Unwinding and fork** Never unwinds.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_permit_leave(permit: *const lazy_permit) -> lazy_status {
    // SAFETY: the C caller passes a permit or NULL.
    let permit = unsafe { permit.as_ref() };
    entry::slow(|| given(permit)?.leave().map(|()| abi::LAZY_OK))
}

const NO_PERMIT: &str = "the permit is NULL";

fn given(permit: Option<&lazy_permit>) -> Result<Permit, Failure> {
    permit
        .map(|permit| Permit::from_words(permit.opaque))
        .ok_or_else(|| Failure::invalid(NO_PERMIT))
}
