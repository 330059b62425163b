//! Places where a test can hold a thread. Only in a build with the feature `test-hooks`; in any other these are nothing.

/// In `lazy_call`, after the first look found the once not READY and before the lock is taken.
#[cfg(not(feature = "test-hooks"))]
#[inline(always)]
pub(crate) fn before_lock() {}

#[cfg(feature = "test-hooks")]
pub(crate) use installed::before_lock;

#[cfg(feature = "test-hooks")]
mod installed {
    use core::ffi::c_void;
    use std::sync::Mutex;

    type Hook = unsafe extern "C-unwind" fn(*mut c_void);

    struct Installed(Hook, *mut c_void);

    // SAFETY: the test that installs it has made the context for any thread.
    unsafe impl Send for Installed {}

    static BEFORE_LOCK: Mutex<Option<Installed>> = Mutex::new(None);

    pub(crate) fn before_lock() {
        let hook = BEFORE_LOCK
            .lock()
            .unwrap()
            .as_ref()
            .map(|installed| (installed.0, installed.1));
        if let Some((hook, arg)) = hook {
            // SAFETY: whoever installed it promised a function that fits its argument.
            unsafe { hook(arg) };
        }
    }

    /// Installs the hook of `before_lock`; NULL takes it out.
    #[unsafe(no_mangle)]
    unsafe extern "C-unwind" fn lazy_test_hook(hook: Option<Hook>, arg: *mut c_void) {
        *BEFORE_LOCK.lock().unwrap() = hook.map(|hook| Installed(hook, arg));
    }
}
