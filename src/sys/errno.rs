//! The caller's `errno` survives our system calls.

/// This thread's.
fn place() -> *mut i32 {
    // SAFETY: the C library's errno location of this thread is valid for as long as the thread.
    unsafe { libc::__errno_location() }
}

pub(crate) fn get() -> i32 {
    // SAFETY: as above; an int, always initialised.
    unsafe { *place() }
}

pub(crate) fn set(errno: i32) {
    // SAFETY: as above.
    unsafe { *place() = errno };
}

/// Runs `body` and puts `errno` back.
pub(crate) fn preserved<T>(body: impl FnOnce() -> T) -> T {
    let saved = get();
    let result = body();
    set(saved);
    result
}
