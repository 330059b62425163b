//! The one place that runs user code.

#[cfg(not(loom))]
use super::cancel::uncancelled;
use super::text::{Lossy, Text, text};
use super::thread;
use crate::abi::lazy_event;
use std::ffi::{c_char, c_void};

/// A C callback: 0 is success. It may unwind: a C++ exception, `pthread_exit` and cancellation pass through.
pub(crate) type Function = unsafe extern "C-unwind" fn(*mut c_void) -> i32;

/// Releases a callback's context.
pub(crate) type Release = unsafe extern "C-unwind" fn(*mut c_void);

/// Writes a text about a callback, with its final NUL, into a buffer of so many bytes.
pub(crate) type Describe = unsafe extern "C-unwind" fn(*mut c_void, *mut c_char, usize);

/// Makes a value of a slot.
pub(crate) type Create = unsafe extern "C-unwind" fn(*mut c_void, u32, *mut *mut c_void) -> i32;

/// Ends one.
pub(crate) type Destroy = unsafe extern "C-unwind" fn(*mut c_void, u32, *mut c_void);

/// Makes one for a snapshot of another.
pub(crate) type Share = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void) -> *mut c_void;

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

    /// On the side of whoever calls, since a READY once touches no thread-local storage: by [`thread::outside`] from the library's own.
    #[inline(always)]
    pub(crate) fn run(self) -> i32 {
        // SAFETY: whoever handed it over through the C interface promised a callable function and its context.
        unsafe { (self.function)(self.context) }
    }

    pub(crate) fn release(self, release: Release) {
        // SAFETY: as for `run`; called once, which the queue sees to.
        thread::outside(|| unsafe { release(self.context) });
    }

    /// What it says of itself; a buffer that it left without a NUL is cut.
    pub(crate) fn describe(self, describe: Describe) -> Text {
        let mut buffer = [0u8; LONGEST_DESCRIPTION];
        // SAFETY: as for `run`; the buffer has that many bytes.
        thread::outside(|| unsafe {
            describe(self.context, buffer.as_mut_ptr().cast(), buffer.len())
        });
        let end = buffer.iter().position(|&byte| byte == 0);
        text!("{}", Lossy(&buffer[..end.unwrap_or(buffer.len() - 1)]))
    }
}

/// The callbacks of a slot.
#[derive(Clone, Copy, Default)]
pub(crate) struct Factory {
    pub(crate) context: Context,
    pub(crate) create: Option<Create>,
    pub(crate) destroy: Option<Destroy>,
    pub(crate) share: Option<Share>,
}

/// Is told what happens.
pub(crate) type OnEvent = unsafe extern "C-unwind" fn(*mut c_void, *const lazy_event);

/// Such a function with its context.
#[cfg(not(loom))]
pub(crate) struct Listener {
    pub(crate) on_event: OnEvent,
    pub(crate) context: Context,
}

#[cfg(not(loom))]
impl Listener {
    pub(crate) fn tell(&self, event: &lazy_event) {
        uncancelled(|| {
            // SAFETY: whoever set the observer promised such a function; the event lives until it returns.
            thread::outside(|| unsafe { (self.on_event)(self.context.0, event) });
        });
    }
}

/// A pointer that only callbacks look behind.
#[derive(Clone, Copy)]
pub(crate) struct Context(pub(crate) *mut c_void);

// SAFETY: whoever configures a slot has promised that its callbacks may run on any thread.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Default for Context {
    fn default() -> Self {
        Self(std::ptr::null_mut())
    }
}

impl PartialEq for Factory {
    /// The same functions by address.
    fn eq(&self, other: &Self) -> bool {
        self.addresses() == other.addresses()
    }
}

impl Factory {
    fn addresses(&self) -> [usize; 4] {
        [
            self.context.0.addr(),
            self.create.map_or(0, |function| function as usize),
            self.destroy.map_or(0, |function| function as usize),
            self.share.map_or(0, |function| function as usize),
        ]
    }

    /// A value, or what the factory returned instead; `None` if there is no factory.
    pub(crate) fn create(&self, index: u32) -> Option<Result<*mut c_void, i32>> {
        let create = self.create?;
        let mut value = std::ptr::null_mut();
        // SAFETY: whoever configured the slot promised such a function; `value` is valid to write to.
        let code = thread::outside(|| unsafe { create(self.context.0, index, &mut value) });
        Some(if code == 0 { Ok(value) } else { Err(code) })
    }

    pub(crate) fn has_destructor(&self) -> bool {
        self.destroy.is_some()
    }

    /// Called once for each value, which the slot sees to.
    pub(crate) fn destroy(&self, index: u32, value: *mut c_void) {
        if let Some(destroy) = self.destroy {
            // SAFETY: as for `create`.
            thread::outside(|| unsafe { destroy(self.context.0, index, value) });
        }
    }

    /// What stands for the value in a snapshot; `None` if the slot is not captured.
    pub(crate) fn share(&self, value: *mut c_void) -> Option<*mut c_void> {
        // SAFETY: as for `create`.
        self.share
            .map(|share| thread::outside(|| unsafe { share(self.context.0, value) }))
    }
}
