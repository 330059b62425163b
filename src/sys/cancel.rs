//! Cancellation of this thread, put off: much that is likely to be called for somebody who only wants to know is a cancellation point, and
//! must not change what happens.

use std::ffi::c_int;

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
}

const DISABLED: c_int = 1;

/// Runs `body`, which does not unwind, to its end.
pub(crate) fn uncancelled<R>(body: impl FnOnce() -> R) -> R {
    let mut before = 0;
    // SAFETY: a state that there is, and a place for the one before.
    unsafe { pthread_setcancelstate(DISABLED, &mut before) };
    let result = body();
    // SAFETY: the state as it was.
    unsafe { pthread_setcancelstate(before, &mut before) };
    result
}
