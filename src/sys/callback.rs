//! The one place that runs user code.

use super::text::{Lossy, text};
use std::ffi::{c_char, c_void};

/// A C callback: 0 is success. It may unwind: a C++ exception, `pthread_exit` and cancellation pass through.
pub(crate) type Function = unsafe extern "C-unwind" fn(*mut c_void) -> i32;

/// Releases a callback's context.
pub(crate) type Release = unsafe extern "C-unwind" fn(*mut c_void);

/// Writes a text about a callback, with its final NUL, into a buffer of so many bytes.
pub(crate) type Describe = unsafe extern "C-unwind" fn(*mut c_void, *mut c_char, usize);

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

/// What a description may take, in bytes with the final NUL.
const LONGEST_DESCRIPTION: usize = 256;

/// All of these run user code. The caller holds no lock of the library, and keeps its promises by guards whose drop assumes
/// the worst: a callback may unwind, end the thread, call back in, fork, or never return.
impl Callback {
    pub(crate) fn new(function: Function, context: *mut c_void) -> Self {
        Self { function, context }
    }

    #[inline(always)]
    pub(crate) fn run(self) -> i32 {
        // SAFETY: whoever handed it over through the C interface promised a callable function and its context.
        unsafe { (self.function)(self.context) }
    }

    pub(crate) fn release(self, release: Release) {
        // SAFETY: as for `run`; called once, which the queue sees to.
        unsafe { release(self.context) }
    }

    /// What it says of itself; a buffer that it left without a NUL is cut.
    pub(crate) fn describe(self, describe: Describe) -> String {
        let mut buffer = [0u8; LONGEST_DESCRIPTION];
        // SAFETY: as for `run`; the buffer has that many bytes.
        unsafe { describe(self.context, buffer.as_mut_ptr().cast(), buffer.len()) };
        let end = buffer.iter().position(|&byte| byte == 0);
        text!("{}", Lossy(&buffer[..end.unwrap_or(buffer.len() - 1)]))
    }
}
