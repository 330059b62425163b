//! The one place that runs user code.

use std::ffi::c_void;

/// A C callback: 0 is success. It may unwind: a C++ exception, `pthread_exit` and cancellation pass through.
pub(crate) type Function = unsafe extern "C-unwind" fn(*mut c_void) -> i32;

/// A callback with its context.
#[derive(Clone, Copy)]
pub(crate) struct Callback {
    function: Function,
    context: *mut c_void,
}

// SAFETY: a pointer that only the callback itself looks behind; whoever submits it has promised that it may run on the
// initializing thread.
unsafe impl Send for Callback {}
// SAFETY: as above.
unsafe impl Sync for Callback {}

impl PartialEq for Callback {
    /// The same function by address: what a caller means by the same configuration.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::fn_addr_eq(self.function, other.function) && self.context == other.context
    }
}

impl Callback {
    pub(crate) fn new(function: Function, context: *mut c_void) -> Self {
        Self { function, context }
    }

    /// Runs it. The caller holds no lock of the library, and keeps its promises by guards whose drop assumes the
    /// worst: this may unwind, end the thread, call back in, fork, or never return.
    #[inline(always)]
    pub(crate) fn run(self) -> i32 {
        // SAFETY: whoever handed it over through the C interface promised a callable function and its context.
        unsafe { (self.function)(self.context) }
    }
}
