//! This process.

/// Registers the three halves of a fork handler.
pub(crate) fn at_fork(prepare: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) {
    // SAFETY: functions of this library, which is never unloaded. Failure means no memory for the list; then a child
    // finds whatever the fork left, as with any library that has no handler.
    unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
}
