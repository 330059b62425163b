//! What happens, for whoever wants to know: each event has a beginning and, but for a fork, an end, on one thread.
//!
//! Nothing is reported while a lock of the library is held. Where nobody wants to know, a place that could report costs one relaxed load.

#[cfg(not(loom))]
mod file;
#[cfg(not(loom))]
mod line;
#[cfg(not(loom))]
pub(crate) mod observer;
#[cfg(not(loom))]
mod report;
#[cfg(not(loom))]
pub(crate) mod settings;
#[cfg(not(loom))]
mod wait;

use crate::abi;
use crate::name::{Kind, Name, Subject};
use crate::sys::callback::Callback;
use crate::sys::clock;
use crate::sys::noexcept::noexcept;
use crate::sys::site::{Origin, OwnSite};
use crate::sys::thread;

#[cfg(not(loom))]
pub(crate) use file::say;
#[cfg(not(loom))]
pub(crate) use report::{forked, is_news, is_on, look, report};
#[cfg(not(loom))]
pub(crate) use wait::{Wait, warn_late};

/// What only the trace has: an observer's kinds are a promise. Above all of those.
pub(crate) const FACTORY: u32 = 1 << 16;
/// The same.
pub(crate) const PREPARE: u32 = FACTORY + 1;
/// The same.
pub(crate) const ASK: u32 = FACTORY + 2;

/// What an event is about.
pub(crate) struct What {
    pub(crate) kind: u32,
    #[cfg_attr(loom, allow(dead_code))]
    pub(crate) subject: Kind,
    pub(crate) name: Name,
    pub(crate) phase: u32,
    pub(crate) origin: Origin,
    /// Of a wait, the call that waits.
    pub(crate) caller: Origin,
    /// What `origin` points to, where that could go before this does.
    pub(crate) _kept: Option<OwnSite>,
    pub(crate) ticket: u64,
    /// The status of a failure that is not known any closer, such as that of what was left by an exception.
    pub(crate) fails_as: abi::lazy_status,
}

/// One moment of it.
pub(crate) struct Event<'a> {
    pub(crate) what: &'a What,
    pub(crate) began_ns: u64,
    /// `None` in the beginning.
    pub(crate) ended_ns: Option<u64>,
    pub(crate) status: abi::lazy_status,
}

impl What {
    fn of(kind: u32, subject: &dyn Subject, origin: Origin, fails_as: abi::lazy_status) -> Self {
        Self {
            kind,
            subject: subject.kind(),
            name: subject.name(),
            phase: subject.phase(),
            origin,
            caller: Origin::Address(0),
            _kept: None,
            ticket: 0,
            fails_as,
        }
    }

    /// The call that it comes from.
    #[cfg(not(loom))]
    fn asked_at(&self) -> Origin {
        if self.caller.is_known() {
            self.caller
        } else {
            self.origin
        }
    }

    /// A callback of a once. `fails_as` is also the status where it returns a failure.
    pub(crate) fn request(
        once: &dyn Subject,
        origin: Origin,
        ticket: u64,
        fails_as: abi::lazy_status,
    ) -> Self {
        Self {
            ticket,
            ..Self::of(abi::LAZY_EVENT_REQUEST, once, origin, fails_as)
        }
    }

    /// A wait for what was started, or handed in, at `origin`.
    pub(crate) fn wait(subject: &dyn Subject, origin: Origin, caller: Origin) -> Self {
        Self {
            caller,
            ..Self::of(
                abi::LAZY_EVENT_WAIT,
                subject,
                origin,
                abi::LAZY_E_INTERRUPTED,
            )
        }
    }

    /// A wait for the factory that was called for that index at `site`, or for a destructor.
    #[cfg(not(loom))]
    pub(crate) fn wait_for_value(
        subject: &dyn Subject,
        index: u32,
        site: Option<OwnSite>,
        caller: Origin,
    ) -> Self {
        let origin = site.as_ref().map_or(Origin::Address(0), OwnSite::origin);
        Self {
            _kept: site,
            ticket: index.into(),
            ..Self::wait(subject, origin, caller)
        }
    }

    /// The making of a slot's value.
    #[cfg(not(loom))]
    pub(crate) fn factory(subject: &dyn Subject, index: u32, origin: Origin) -> Self {
        Self {
            ticket: index.into(),
            ..Self::of(FACTORY, subject, origin, abi::LAZY_E_CALLBACK)
        }
    }

    /// A `prepare` (`PREPARE`) or a `can_init` (`ASK`).
    pub(crate) fn early(kind: u32, subject: &dyn Subject, origin: Origin) -> Self {
        Self::of(kind, subject, origin, abi::LAZY_E_INIT)
    }

    #[cfg(not(loom))]
    pub(crate) fn host_wait(subject: &dyn Subject, caller: Origin) -> Self {
        Self::of(abi::LAZY_EVENT_HOST_WAIT, subject, caller, abi::LAZY_E_HOST)
    }
}

/// Something between its beginning and its end, which comes where this is dropped at the latest: then it was left by an exception or by the
/// end of the thread.
pub(crate) struct Span(Option<(What, u64)>);

impl Span {
    #[inline(always)]
    pub(crate) fn begin(what: impl FnOnce() -> What) -> Self {
        if is_on() {
            Self::start(what())
        } else {
            Self(None)
        }
    }

    #[cold]
    fn start(what: What) -> Self {
        let began_ns = clock::now_ns();
        report(&Event {
            what: &what,
            began_ns,
            ended_ns: None,
            status: abi::LAZY_OK,
        });
        Self(Some((what, began_ns)))
    }

    #[inline(always)]
    pub(crate) fn end(mut self, status: abi::lazy_status) {
        if self.0.is_some() {
            self.finish(Some(status));
        }
    }

    /// Runs a callback, by whose result it ends.
    #[inline(always)]
    pub(crate) fn around(self, callback: Callback) -> i32 {
        let code = thread::outside(|| callback.run());
        if code == 0 {
            self.end(abi::LAZY_OK);
        }
        code
    }

    #[cold]
    fn finish(&mut self, status: Option<abi::lazy_status>) {
        if let Some((what, began_ns)) = self.0.take() {
            report(&Event {
                began_ns,
                ended_ns: Some(clock::now_ns()),
                status: status.unwrap_or(what.fails_as),
                what: &what,
            });
        }
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        if self.0.is_some() {
            noexcept(|| self.finish(None));
        }
    }
}

/// Models report nothing.
#[cfg(loom)]
pub(crate) fn is_on() -> bool {
    false
}

#[cfg(loom)]
pub(crate) fn report(_event: &Event) {}

#[cfg(loom)]
pub(crate) fn warn_late(_staying: &crate::stay::Staying) {}
