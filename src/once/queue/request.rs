//! A request with everything that can be said about it.

use crate::name::Subject;
use crate::stay::{Doing, Staying};
use crate::sys::callback::{Callback, Describe, Release};
use crate::sys::memory::{NoMemory, Shared};
use crate::sys::noexcept::noexcept;
use crate::sys::promise::Promise;
use crate::sys::site::{Origin, OwnSite};
use crate::sys::text::Text;
use crate::sys::thread::Mark;

/// As handed in.
#[derive(Clone, Copy)]
pub(crate) struct Details {
    pub(crate) callback: Callback,
    pub(crate) release: Option<Release>,
    pub(crate) describe: Option<Describe>,
    /// Whom it belongs to: an address, 0 for nobody.
    pub(crate) owner: usize,
    /// Not 0: a later request with the key replaces this one.
    pub(crate) key: u64,
    pub(crate) phase: i32,
    /// Runs with the host lock held, whenever that is. In a drain it is, for every request.
    pub(crate) held: bool,
    pub(crate) origin: Origin,
}

impl Details {
    pub(crate) fn plain(callback: Callback, origin: Origin) -> Self {
        Self {
            callback,
            release: None,
            describe: None,
            owner: 0,
            key: 0,
            phase: 0,
            held: false,
            origin,
        }
    }

    /// Runs `body` and then releases the context, also when `body` unwinds.
    pub(crate) fn released_after<R>(&self, body: impl FnOnce() -> R) -> R {
        struct Unwound<'a>(&'a Details);
        impl Drop for Unwound<'_> {
            fn drop(&mut self) {
                noexcept(|| self.0.release());
            }
        }
        let unwound = Unwound(self);
        let result = body();
        std::mem::forget(unwound);
        self.release();
        result
    }

    fn release(&self) {
        if let Some(release) = self.release {
            self.callback.release(release);
        }
    }
}

/// A request that has been queued.
pub(crate) struct Request {
    /// Their origin is a copy: others ask for it, while it runs and also while its context is released, with which the caller's may go.
    pub(crate) details: Details,
    /// What that points to.
    _site: OwnSite,
    pub(crate) ticket: u64,
    /// Kept when nothing of it can run any more: neither the callback nor what releases its context.
    pub(crate) gone: Promise<()>,
}

impl Request {
    pub(crate) fn try_new(details: Details, ticket: u64) -> Result<Shared<Self>, NoMemory> {
        let site = OwnSite::copy(details.origin)?;
        Shared::try_new(Self {
            details: Details {
                origin: site.origin(),
                ..details
            },
            _site: site,
            ticket,
            gone: Promise::new(),
        })
    }

    /// The mark of a thread that waits until it is gone.
    pub(crate) fn wait_key(&self) -> usize {
        std::ptr::from_ref(&self.gone).addr()
    }

    /// In a forked child: nobody waits, unless this very thread forked in a signal handler while it did; then it looks again.
    #[cfg(not(loom))]
    pub(crate) fn inherit(&self) {
        if Mark::is_set(self.wait_key()) {
            self.gone.keep(());
        } else {
            self.gone.forget_sleepers();
        }
    }

    /// What it says of itself; empty if it has nothing to say.
    pub(crate) fn description(this: &Shared<Self>, once: &dyn Subject) -> Text {
        let details = &this.details;
        details.describe.map_or_else(Text::default, |describe| {
            let _staying = Staying::begin(Doing::Describing, once, details.origin);
            Mark::during(this.key(), || details.callback.describe(describe))
        })
    }

    /// Runs what releases its context.
    pub(crate) fn release(this: &Shared<Self>, once: &dyn Subject) {
        if this.details.release.is_some() {
            let _staying = Staying::begin(Doing::Releasing, once, this.details.origin);
            Mark::during(this.key(), || this.details.release());
        }
    }
}
