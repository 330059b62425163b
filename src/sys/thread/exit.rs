//! The end of a thread.

use crate::sys::atomic::{AtomicU32, Ordering::Relaxed};
use crate::sys::local::Local as _;
use std::cell::Cell;
use std::ffi::c_void;

/// `key + 1` once the pthread key exists; 0 before; `u32::MAX` when the process has no key left.
static EXIT_KEY: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static ARMED: Cell<bool> = const { Cell::new(false) };
}

/// It may unwind: a thread can be ended once more at its end.
type AtExit = unsafe extern "C-unwind" fn(*mut c_void);

/// Has `at_exit` run when this thread ends. There is one such function in the library.
pub(crate) fn run_at_exit(at_exit: AtExit) {
    ARMED.here(|armed| {
        if armed.replace(true) {
            return;
        }
        if let Some(key) = exit_key(at_exit) {
            // SAFETY: the key exists; the value only has to differ from NULL.
            unsafe { libc::pthread_setspecific(key, std::ptr::dangling()) };
        }
    });
}

/// Must be called by the function given to [`run_at_exit`]: a later use of the library on this thread arms again.
pub(crate) fn exit_has_run() {
    ARMED.here(|armed| armed.set(false));
}

fn exit_key(at_exit: AtExit) -> Option<libc::pthread_key_t> {
    let known = EXIT_KEY.load(Relaxed);
    if known != 0 {
        return (known != u32::MAX).then(|| known - 1);
    }
    let mut key = 0;
    // SAFETY: to a caller both are the same type.
    let at_exit =
        unsafe { std::mem::transmute::<AtExit, unsafe extern "C" fn(*mut c_void)>(at_exit) };
    // SAFETY: `key` is valid to write to and `at_exit` stays loaded (the library is never unloaded).
    if unsafe { libc::pthread_key_create(&mut key, Some(at_exit)) } != 0 {
        EXIT_KEY.store(u32::MAX, Relaxed);
        return None;
    }
    // Relaxed: the number of the key is all that is handed over.
    match EXIT_KEY.compare_exchange(0, key + 1, Relaxed, Relaxed) {
        Ok(_) => Some(key),
        Err(other) => {
            // SAFETY: ours, just made, and no thread has set it.
            unsafe { libc::pthread_key_delete(key) };
            (other != u32::MAX).then(|| other - 1)
        }
    }
}
