//! The once as loom explores it: the very code of `once/` over loom's atomics, without the C interface. Only in a build
//! with `--cfg loom`.

use crate::error::Failure;
use crate::once::{Ask, Cancelled, Decision, Details, Progress};
use crate::sys::callback::Callback;
use crate::sys::clock::Deadline;
use crate::sys::promise::Promise;
use crate::sys::published::Published;
use crate::sys::site::Origin;
use crate::{abi, once};
use core::ffi::c_void;
use loom::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub use crate::sys::order::{ORDERS, STEPS, UNSEEN, WAKES};

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
            Ok((Decision::RunAfterWait, None))
        } else if self.0.queue_in_room(callback, 0) {
            return abi::LAZY_QUEUED;
        } else {
            once::call(&self.0, &Ask::Plain(callback, 0))
        };
        match decision {
            Ok((Decision::Queued(_), _)) => abi::LAZY_QUEUED,
            Ok((Decision::RunAfterWait | Decision::RunReentrant, _)) => {
                status(once::run(&self.0, callback, Origin::Address(0)))
            }
            Err(failure) => failure.status(),
        }
    }

    /// `lazy_once_submit`; with the ticket of what was queued.
    pub fn submit(&self, request: Request) -> (abi::lazy_status, u64) {
        let details = Details {
            key: request.key,
            ..Details::plain(
                Callback::new(request.function, request.ctx),
                Origin::Address(0),
            )
        };
        if self.0.is_ready() {
            return (status(once::run_ready_request(&self.0, &details)), 0);
        }
        let ask = Ask::Request {
            details,
            no_wait: request.no_wait,
        };
        match once::call(&self.0, &ask) {
            Ok((decision, replaced)) => self.0.until_end_of_call(replaced, |end| match decision {
                Decision::Queued(ticket) => (abi::LAZY_QUEUED, ticket),
                Decision::RunAfterWait | Decision::RunReentrant => {
                    end.releases(self.0.superseded(details.key));
                    (status(once::run_request(&self.0, &details)), 0)
                }
            }),
            Err(failure) => (failure.status(), 0),
        }
    }

    /// `lazy_once_cancel`.
    pub fn cancel(&self, ticket: u64) -> abi::lazy_status {
        match self.0.cancel(ticket, Origin::Address(0)) {
            Ok(Cancelled::Withdrawn) => abi::LAZY_OK,
            Ok(Cancelled::Inside) => abi::LAZY_IN_PROGRESS,
            Err(failure) => failure.status(),
        }
    }

    /// `lazy_once_reset`.
    pub fn reset(&self) -> abi::lazy_status {
        match self.0.reset(Origin::Address(0)) {
            Ok(Progress::Done) => abi::LAZY_OK,
            Ok(Progress::InProgress) => abi::LAZY_IN_PROGRESS,
            Err(failure) => failure.status(),
        }
    }

    /// `lazy_once_close`.
    pub fn close(&self) -> abi::lazy_status {
        status(self.0.close())
    }
}

fn status(result: Result<(), Failure>) -> abi::lazy_status {
    result.map_or_else(|failure| failure.status(), |()| abi::LAZY_OK)
}

/// A request of a model.
#[derive(Clone, Copy)]
pub struct Request {
    /// What it runs.
    pub function: Function,
    /// With this.
    pub ctx: *mut c_void,
    /// Not 0: it replaces.
    pub key: u64,
    /// `LAZY_REQUEST_NO_WAIT`.
    pub no_wait: bool,
}

/// A value of a slot, made by one thread and found by others.
pub struct Value(Published);

impl Default for Value {
    fn default() -> Self {
        Self(Published::new(0))
    }
}

impl Value {
    /// It is made.
    pub fn publish(&self, pointer: *mut c_void) {
        self.0.replace(pointer);
        self.0.set_stage(1);
    }

    /// Another one in its place.
    pub fn replace(&self, pointer: *mut c_void) -> *mut c_void {
        self.0.replace(pointer)
    }

    /// It, if it is there.
    pub fn find(&self) -> Option<*mut c_void> {
        self.0.get(1)
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

    /// Sleeps until told, as a host's interrupt tells.
    pub fn sleep_until(&self, told: &AtomicBool) {
        while !told.load(Relaxed) {
            self.0.sleep(Deadline::Never, || told.load(Relaxed));
        }
    }

    /// Tells it.
    pub fn tell(&self, told: &AtomicBool) {
        told.store(true, Relaxed);
        self.0.disturb();
    }

    /// Gives up at some moment, if the attempt has not ended by then.
    pub fn wait_a_while(&self) -> Option<u32> {
        self.0.wait(Deadline::At(0)).copied()
    }
}
