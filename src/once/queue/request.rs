//! A request with everything that can be said about it.

use crate::sys::callback::{Callback, Describe, Release};
use crate::sys::memory::{NoMemory, Shared};
use crate::sys::promise::Promise;
use crate::sys::site::Origin;
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

    /// Releases the context when it is dropped, also by unwinding.
    pub(crate) fn released_at_the_end(&self) -> impl Drop + '_ {
        struct End<'a>(&'a Details);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                if let Some(release) = self.0.release {
                    self.0.callback.release(release);
                }
            }
        }
        End(self)
    }
}

/// A request that has been queued.
pub(crate) struct Request {
    pub(crate) details: Details,
    pub(crate) ticket: u64,
    /// Kept when nothing of it can run any more: neither the callback nor what releases its context.
    pub(crate) gone: Promise<()>,
}

impl Request {
    pub(crate) fn try_new(details: Details, ticket: u64) -> Result<Shared<Self>, NoMemory> {
        Shared::try_new(Self {
            details,
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
    pub(crate) fn description(this: &Shared<Self>) -> String {
        let details = &this.details;
        details.describe.map_or_else(String::new, |describe| {
            Mark::during(this.key(), || details.callback.describe(describe))
        })
    }

    /// Runs what releases its context.
    pub(crate) fn release(this: &Shared<Self>) {
        if let Some(release) = this.details.release {
            Mark::during(this.key(), || this.details.callback.release(release));
        }
    }
}
