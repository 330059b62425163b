//! One try at initialising, as those see it who wait for it, and how it begins.

use super::drain::Ownership;
use super::gate::{Locked, Running};
use super::{Once, word};
use crate::abi;
use crate::error::Failure;
use crate::name::{Kind, Name};
use crate::sys::callback::Callback;
use crate::sys::invariant::Invariant;
use crate::sys::memory::{NoMemory, Shared};
use crate::sys::promise::Promise;
use crate::sys::site::{Origin, OwnSite};
#[cfg(not(loom))]
use crate::sys::thread::Mark;
use crate::sys::{clock, thread};
use crate::trace::{self, Event, What};
// Not loom's: the first never changes but in a forked child, the others are counts for messages and for a quick look.
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The attempt as its waiters know it. They hold a reference, so it outlives its once's interest in it.
pub(crate) struct Attempt {
    pub(super) number: u32,
    /// The name of its once.
    name: Option<Shared<CString>>,
    /// Where it was started from.
    site: OwnSite,
    pub(super) since_ns: u64,
    /// The kernel id of the owner. Relaxed: compared for equality with the reader's own id; a thread reads its own write.
    /// In a forked child the owner has a new id.
    owner: AtomicU64,
    /// Where on its stack the owner runs it; 0 before.
    frame: AtomicUsize,
    /// How many times its permit is held. Relaxed: a holder reads its own write; who they are stands under the graph's lock.
    pub(super) lent: AtomicU32,
    /// How many threads sleep until it ends. Relaxed: for people.
    pub(super) waiters: AtomicU32,
    pub(super) outcome: Promise<Outcome>,
}

#[cfg(not(loom))]
impl Attempt {
    /// For a debugger.
    pub(super) const ORIGIN: usize = std::mem::offset_of!(Self, site) + OwnSite::ORIGIN;
    pub(super) const OWNER: usize = std::mem::offset_of!(Self, owner);
}

/// How an attempt ended.
#[derive(Clone)]
pub(crate) enum Outcome {
    Ready,
    Failed(Failure),
    /// In a forked child: its owner does not exist there, or the policy does not leave it to that. Nobody's.
    Void,
}

impl Attempt {
    /// An attempt of this thread's, not yet claimed. It may be asked for its origin when the object that started it has been
    /// unloaded, so it has its own copy.
    pub(super) fn try_new(origin: Origin) -> Result<Shared<Self>, NoMemory> {
        Shared::try_new(Self {
            number: 0,
            name: None,
            site: OwnSite::copy(origin)?,
            since_ns: 0,
            owner: AtomicU64::new(thread::id()),
            frame: AtomicUsize::new(0),
            lent: AtomicU32::new(0),
            waiters: AtomicU32::new(0),
            outcome: Promise::new(),
        })
    }

    /// As an event; `phase` is that of the once.
    #[cold]
    pub(super) fn report(&self, phase: u32, ended: Option<abi::lazy_status>) {
        let what = What {
            kind: abi::LAZY_EVENT_ATTEMPT,
            subject: Kind::Once,
            name: Name(self.name.clone()),
            phase,
            origin: self.origin(),
            caller: Origin::Address(0),
            _kept: None,
            ticket: self.number.into(),
            fails_as: abi::LAZY_E_INIT,
        };
        trace::report(&Event {
            what: &what,
            began_ns: self.since_ns,
            ended_ns: ended.map(|_| clock::now_ns()),
            status: ended.unwrap_or(abi::LAZY_OK),
        });
    }

    pub(super) fn name(&self) -> &CStr {
        self.name.as_deref().map_or(c"", CString::as_c_str)
    }

    /// Where it was started from, for as long as the attempt is there.
    pub(super) fn origin(&self) -> Origin {
        self.site.origin()
    }

    #[inline(always)]
    pub(super) fn owner(&self) -> u64 {
        self.owner.load(Relaxed)
    }

    /// A frame of the owner's, above all that it runs.
    pub(super) fn set_frame(&self, frame: usize) {
        self.frame.store(frame, Relaxed);
    }

    #[cfg(not(loom))]
    pub(super) fn frame(&self) -> usize {
        self.frame.load(Relaxed)
    }

    /// Has a fork taken it from its owner? The owner finds out when its callback returns.
    #[cold]
    pub(super) fn is_void(&self) -> bool {
        matches!(self.outcome.get(), Some(Outcome::Void))
    }

    /// A hint: what has no outcome is not void.
    #[inline(always)]
    pub(super) fn is_perhaps_void(&self) -> bool {
        self.outcome.is_kept()
    }

    /// Does this thread own it, or hold its permit?
    #[inline(always)]
    pub(super) fn is_mine(this: &Shared<Self>) -> bool {
        this.owner() == thread::id() || this.lent.load(Relaxed) > 0 && Self::is_lent_to_me(this)
    }

    #[cfg(not(loom))]
    fn is_lent_to_me(this: &Shared<Self>) -> bool {
        super::graph::is_held(this, thread::id())
    }

    #[cfg(loom)]
    fn is_lent_to_me(_this: &Shared<Self>) -> bool {
        false
    }

    /// The owner does not exist in this forked child. `held` references are left there, unless this very thread forked
    /// in a signal handler, in the middle of something of the library's or while it waited: its own must stay, and so do those of threads
    /// that are gone.
    #[cfg(not(loom))]
    pub(super) fn make_void(this: &mut Shared<Self>, held: usize) {
        if thread::side() == thread::Side::Outside && !Mark::is_set(this.key()) {
            this.forget_others(held);
        }
        this.outcome.keep(Outcome::Void);
    }

    /// The owner forked, and in the child the attempt is not its own any more.
    #[cfg(not(loom))]
    pub(super) fn take_away(&self) {
        self.lent.store(0, Relaxed);
        self.outcome.keep(Outcome::Void);
    }

    /// The owner forked, and this is it in the child, where nobody else is.
    #[cfg(not(loom))]
    pub(super) fn follow_owner(&self) {
        self.owner.store(thread::id(), Relaxed);
        self.lent.store(0, Relaxed);
        self.waiters.store(0, Relaxed);
        self.outcome.forget_sleepers();
    }
}

impl Outcome {
    pub(super) fn status(&self) -> abi::lazy_status {
        match self {
            Self::Ready => abi::LAZY_OK,
            Self::Failed(failure) => failure.status(),
            Self::Void => abi::LAZY_E_FORKED,
        }
    }
}

/// How a call that initializes came out well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    Done,
    /// This thread is inside the attempt already.
    InProgress,
}

impl<'a> Locked<'a> {
    /// FRESH to INITIALIZING. This thread owns the attempt from here, by the compare-exchange that took the lock.
    pub(super) fn claim(
        mut self,
        once: &'a Once,
        mut attempt: Shared<Attempt>,
        instead: Option<Callback>,
    ) -> Ownership<'a> {
        let number = self.0.counters.begin_attempt();
        let gate = self.gate();
        let inner = attempt
            .get_mut()
            .invariant("nobody has seen the attempt yet");
        inner.number = number;
        // In a child that a signal handler has forked since this was made, the same thread has another id.
        inner.owner = AtomicU64::new(thread::id());
        inner.since_ns = clock::now_ns();
        inner.name = gate.config.name.clone();
        let initializer = if gate.native_done {
            None
        } else {
            instead.or(gate.config.initialize)
        };
        let policy = gate.config.on_deferred_failure;
        let old = gate.latest.replace(attempt.clone());
        gate.history.since_ns = attempt.since_ns;
        gate.running = Some(Running {
            attempt: attempt.clone(),
            work: None,
            cancelled: false,
            cut_off: false,
        });
        self.set_phase(word::INITIALIZING);
        drop(self);
        drop(old);
        Ownership::new(once, attempt, initializer, policy)
    }
}
