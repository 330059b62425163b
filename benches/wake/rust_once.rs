//! Rust's `Once` as wake.cpp calls it: a shared object of its own, which wake.rs compiles.

use std::ptr::null_mut;
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};

static ONCE: AtomicPtr<Once> = AtomicPtr::new(null_mut());

/// A fresh one in place of the last, which nobody uses any more.
#[unsafe(no_mangle)]
pub extern "C" fn rust_once_make() {
    let last = ONCE.swap(Box::into_raw(Box::new(Once::new())), SeqCst);
    if !last.is_null() {
        // SAFETY: it came from a box, and every call on it has returned.
        drop(unsafe { Box::from_raw(last) });
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn rust_once_run(initialize: extern "C" fn()) {
    // SAFETY: made before the round began, and replaced only after it.
    unsafe { &*ONCE.load(SeqCst) }.call_once(|| initialize());
}
