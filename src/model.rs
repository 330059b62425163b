//! The once as loom explores it: the very code of `once/` over loom's atomics, without the C interface. Only in a build
//! with `--cfg loom`.

use crate::once::{Decision, Progress};
use crate::sys::callback::Callback;
use crate::sys::clock::Deadline;
use crate::sys::promise::Promise;
use crate::sys::site::Origin;
use crate::{abi, once};
use core::ffi::c_void;

pub use crate::sys::order::{ORDERS, UNSEEN, WAKES};

/// A callback of a model: 0 is success.
pub type Function = unsafe extern "C-unwind" fn(*mut c_void) -> i32;

/// A once.
pub struct Once(once::Once);

impl Default for Once {
    fn default() -> Self {
        Self(once::Once::new())
    }
}

impl Once {
    /// `lazy_once_is_initialized`.
    pub fn is_ready(&self) -> bool {
        self.0.is_ready()
    }

    /// `lazy_once_run`.
    pub fn run(&self, initializer: Function, ctx: *mut c_void) -> abi::lazy_status {
        if self.0.is_ready() {
            return abi::LAZY_OK;
        }
        let start = once::Start {
            instead: Some(Callback::new(initializer, ctx)),
            origin: Origin::Address(0),
            limit_ns: None,
        };
        match once::init(&self.0, &start) {
            Ok(Progress::Done) => abi::LAZY_OK,
            Ok(Progress::InProgress) => abi::LAZY_IN_PROGRESS,
            Err(failure) => failure.status(),
        }
    }

    /// `lazy_once_call`.
    pub fn call(&self, function: Function, ctx: *mut c_void) -> abi::lazy_status {
        let callback = Callback::new(function, ctx);
        let decision = if self.0.is_ready() {
            Ok(Decision::RunAfterWait)
        } else {
            once::call(&self.0, callback, 0)
        };
        match decision {
            Ok(Decision::Queued) => abi::LAZY_QUEUED,
            Ok(Decision::RunAfterWait | Decision::RunReentrant) => {
                once::run(&self.0, callback, Origin::Address(0))
                    .map_or_else(|failure| failure.status(), |()| abi::LAZY_OK)
            }
            Err(failure) => failure.status(),
        }
    }
}

/// What the waiters of an attempt sleep on.
#[derive(Default)]
pub struct Outcome(Promise<u32>);

impl Outcome {
    /// The attempt ends.
    pub fn keep(&self, value: u32) {
        self.0.keep(value);
    }

    /// Sleeps until then.
    pub fn wait(&self) -> Option<u32> {
        self.0.wait(Deadline::Never).copied()
    }

    /// Gives up at some moment, if the attempt has not ended by then.
    pub fn wait_a_while(&self) -> Option<u32> {
        self.0.wait(Deadline::At(0)).copied()
    }
}
