//! The caller's `errno` survives our system calls.

/// Runs `body` and puts `errno` back.
pub(crate) fn preserved<T>(body: impl FnOnce() -> T) -> T {
    // SAFETY: the C library's errno location of this thread is valid for as long as the thread.
    let location = unsafe { libc::__errno_location() };
    // SAFETY: as above; an int, always initialised.
    let saved = unsafe { *location };
    let result = body();
    // SAFETY: as above.
    unsafe { *location = saved };
    result
}
