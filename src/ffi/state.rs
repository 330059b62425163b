//! Chapter 8 of the header: a thread's values for other threads.

use super::{entry, with_return_address};
use crate::abi::{self, lazy_status, lazy_thread_state};
use crate::error::Failure;
use crate::slot::Snapshot;
use crate::sys::site::Origin;

/// Makes a snapshot of this thread's values, for threads that it starts: of every slot with a `share` that has a value here, in an
/// entered snapshot or of its own.
///
/// What this thread has not asked for yet is not in it, nor is what has no `share`, nor the process's values: each worker makes those for
/// itself. So ask for every device first.
///
/// - `state`: where to store it.
///
/// **Returns**
/// - `LAZY_OK`: stored; give it to `lazy_thread_state_free` in the end.
/// - `LAZY_E_HOST`: a slot's host refused this thread.
/// - `LAZY_E_NOMEM`: no memory.
/// - `LAZY_E_INVALID`: `state` is NULL.
///
/// After a failure nothing is kept: what had been shared was given to `destroy`.
///
/// **Threads** Any, but not in a signal handler.
///
/// **Blocking** For the slots' hosts and their `share`.
///
/// **Unwinding and fork** An exception out of `share` comes out of this call. A forked child has its parent's snapshots.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_thread_state_capture(
    state: *mut *mut lazy_thread_state,
) -> lazy_status {
    with_return_address!(capture_body, "rsi", "x1")
}

unsafe extern "C-unwind" fn capture_body(
    state: *mut *mut lazy_thread_state,
    caller: usize,
) -> lazy_status {
    // SAFETY: the C caller passes a place to write to or NULL.
    let place = unsafe { state.as_mut() };
    entry::slow(|| {
        let place = place.ok_or_else(|| Failure::invalid("the place for the snapshot is NULL"))?;
        *place = Box::into_raw(Snapshot::capture(Origin::Address(caller))?).cast();
        Ok(abi::LAZY_OK)
    })
}

/// Lays a snapshot over this thread: what it has, this thread finds instead of its own, until `lazy_thread_state_leave` or its
/// end.
///
/// Many threads may have entered one at a time, and find the same values. Enters nest; the innermost snapshot that has a value
/// counts.
///
/// - `state`: from `lazy_thread_state_capture`, and not yet freed.
///
/// **Returns** `LAZY_OK`; `LAZY_E_NOMEM`: not entered; `LAZY_E_INVALID`: `state` is NULL.
///
/// **Threads** Any, but not in a signal handler.
///
/// **Blocking** Never.
///
/// **Unwinding and fork** Never unwinds. A child of a thread that has entered one has entered it.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_thread_state_enter(
    state: *mut lazy_thread_state,
) -> lazy_status {
    // SAFETY: the C caller passes a state or NULL.
    let state = unsafe { given(state) };
    entry::slow(|| {
        state.ok_or_else(no_state)?.enter()?;
        Ok(abi::LAZY_OK)
    })
}

/// Takes a snapshot off this thread again: its latest enter, also if others have been entered since.
///
/// What was stored meanwhile stays where `lazy_slot_set` put it.
///
/// - `state`: what this thread has entered.
///
/// **Returns** `LAZY_OK`; `LAZY_E_NOT_FOUND`: this thread has not entered it; `LAZY_E_INVALID`: `state` is NULL.
///
/// **Threads** The one that entered.
///
/// **Blocking** Never; unless the snapshot has been freed and this is the last thread that leaves, which then ends its values.
///
/// **Unwinding and fork** Never unwinds, but for an exception out of `destroy` there.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_thread_state_leave(
    state: *mut lazy_thread_state,
) -> lazy_status {
    with_return_address!(leave_body, "rsi", "x1")
}

unsafe extern "C-unwind" fn leave_body(
    state: *mut lazy_thread_state,
    caller: usize,
) -> lazy_status {
    // SAFETY: the C caller passes a state or NULL.
    let state = unsafe { given(state) };
    entry::slow(|| {
        state.ok_or_else(no_state)?.leave(Origin::Address(caller))?;
        Ok(abi::LAZY_OK)
    })
}

/// Ends a snapshot: `destroy` is called once for each value that `share` returned, and for each that was stored in it since; at once,
/// or by the last thread that leaves it.
///
/// - `state`: from `lazy_thread_state_capture`, once, and not before the last thread that is to enter it has entered. NULL is fine.
///
/// **Returns** nothing. Where a slot's host refuses this thread, that value is leaked.
///
/// **Threads** Any, but not in a signal handler.
///
/// **Blocking** For the slots' hosts and their `destroy`.
///
/// **Unwinding and fork** An exception out of `destroy` comes out of this call; what had not been ended by then is ended by
/// `lazy_slot_retire`. A child frees what it has inherited for itself.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_thread_state_free(state: *mut lazy_thread_state) {
    with_return_address!(free_body, "rsi", "x1")
}

unsafe extern "C-unwind" fn free_body(state: *mut lazy_thread_state, caller: usize) {
    // SAFETY: the C caller passes a state or NULL.
    let state = unsafe { given(state) };
    entry::slow(|| {
        if let Some(state) = state {
            state.free(Origin::Address(caller));
        }
        Ok(abi::LAZY_OK)
    });
}

/// # Safety
/// NULL, or a state that has not been freed, or has been entered by this thread.
unsafe fn given<'a>(pointer: *mut lazy_thread_state) -> Option<&'a Snapshot> {
    // SAFETY: the caller's promise; `capture` made it of a Snapshot.
    unsafe { pointer.cast::<Snapshot>().as_ref() }
}

#[cold]
fn no_state() -> Failure {
    Failure::invalid("the snapshot (lazy_thread_state) is NULL")
}
