//! A place for one stay, and the protocol between the thread whose it is and those who look.

use super::Doing;
use crate::name::Kind;
use crate::sys::site::Origin;
use crate::sys::{clock, order, process, thread};
use std::cell::{Cell, UnsafeCell};
use std::mem::offset_of;
use std::ptr::null;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

/// One, as it was told. A debugger knows where these are.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Stay {
    pub(crate) thread: u64,
    pub(crate) since_ns: u64,
    /// The address of the once, or of what the library keeps of the slot.
    pub(crate) subject: usize,
    pub(crate) doing: Doing,
    /// Where that thread's call comes from.
    pub(crate) origin: Origin,
    pub(crate) kind: Kind,
}

/// Nobody's.
pub(super) const FREE: u32 = 0;
/// A thread's, which writes it.
const TAKEN: u32 = 1;
/// To be looked at.
const TOLD: u32 = 2;
/// The bits of these. Those above count who is looking.
const STATE: u32 = 3;
const PIN: u32 = 4;

#[repr(C)]
pub(super) struct Place {
    state: AtomicU32,
    pub(super) is_warned: AtomicBool,
    /// Whose it is. Relaxed: compared with the reader's own id.
    pub(super) owner: AtomicU64,
    /// Read with a pin, written by the owner when it is not told.
    stay: UnsafeCell<Stay>,
    /// The owner's: the stay that this one is inside of, and its frame, which is above all that runs in it.
    pub(super) outer: Cell<Option<&'static Place>>,
    pub(super) frame: Cell<usize>,
}

// SAFETY: the state says who may touch the rest.
unsafe impl Sync for Place {}

impl Place {
    /// For a debugger: where in it its state is, and what is told.
    pub(super) const LAYOUT: [u32; 7] = [
        offset_of!(Self, state) as u32,
        (offset_of!(Self, stay) + offset_of!(Stay, thread)) as u32,
        (offset_of!(Self, stay) + offset_of!(Stay, since_ns)) as u32,
        (offset_of!(Self, stay) + offset_of!(Stay, subject)) as u32,
        (offset_of!(Self, stay) + offset_of!(Stay, doing)) as u32,
        (offset_of!(Self, stay) + offset_of!(Stay, origin)) as u32,
        (offset_of!(Self, stay) + offset_of!(Stay, kind)) as u32,
    ];

    /// Nobody's: zeros all over, which take no room in the file.
    pub(super) const fn new() -> Self {
        Self {
            state: AtomicU32::new(FREE),
            is_warned: AtomicBool::new(false),
            owner: AtomicU64::new(0),
            stay: UnsafeCell::new(Stay {
                thread: 0,
                since_ns: 0,
                subject: 0,
                doing: Doing::TakingHost(null()),
                origin: Origin::Here {
                    line: 0,
                    file: null(),
                    function: null(),
                },
                kind: Kind::Once,
            }),
            outer: Cell::new(None),
            frame: Cell::new(0),
        }
    }

    /// Makes it this thread's, if it is free.
    pub(super) fn take(&self) -> bool {
        self.state.load(Relaxed) == FREE
            && self
                .state
                .compare_exchange(FREE, TAKEN, order::see_stay(), Relaxed)
                .is_ok()
    }

    pub(super) fn tell(&self, stay: Stay) {
        // SAFETY: it is taken, by this thread, and not told.
        unsafe { *self.stay.get() = stay };
        self.is_warned.store(false, Relaxed);
        self.state.store(TOLD, order::publish_stay());
    }

    /// Nobody looks at it any more; nor if it is over.
    pub(super) fn leave(&self, state: u32) {
        let left = || {
            let left = self
                .state
                .compare_exchange(TOLD, state, order::leave_stay(), Relaxed);
            left.map_or_else(|seen| seen & STATE != TOLD, |_| true)
        };
        while !left() {
            process::yield_now();
        }
    }

    /// Tells something else.
    pub(super) fn change(&self, change: impl FnOnce(&Stay) -> Stay) {
        self.leave(TAKEN);
        // SAFETY: it is not told, and this thread's.
        self.tell(change(unsafe { &*self.stay.get() }));
    }

    pub(super) fn look<R>(&self, show: impl FnOnce(&Stay) -> R) -> Option<R> {
        let pinned = |state: u32| (state & STATE == TOLD).then_some(state + PIN);
        self.state
            .fetch_update(order::see_stay(), Relaxed, pinned)
            .ok()?;
        // SAFETY: pinned.
        let shown = show(unsafe { &*self.stay.get() });
        // Not in a forked child, where nobody looks any more.
        let unpinned = |state: u32| state.checked_sub(PIN);
        let _ = self
            .state
            .fetch_update(order::publish_stay(), Relaxed, unpinned);
        Some(shown)
    }

    pub(super) fn if_due(&self, stay: &Stay, after_ns: u64, show: impl FnOnce(&Stay)) {
        let is_due = stay
            .warned_of_at(after_ns)
            .is_some_and(|at_ns| clock::now_ns() >= at_ns);
        if is_due && !self.is_warned.swap(true, Relaxed) {
            show(stay);
        }
    }
}

impl Place {
    /// In a forked child.
    pub(super) fn inherit(&self, before: u64) {
        let state = self.state.load(Relaxed) & STATE;
        if self.owner.load(Relaxed) == before && state != FREE {
            self.owner.store(thread::id(), Relaxed);
            // SAFETY: this thread's, and there is no other.
            unsafe { (*self.stay.get()).thread = thread::id() };
            self.state.store(state, Relaxed);
        } else {
            self.state.store(FREE, Relaxed);
        }
    }
}

impl Stay {
    /// When somebody else is to warn of it, because its thread sleeps nowhere in the library and cannot.
    pub(super) fn warned_of_at(&self, after_ns: u64) -> Option<u64> {
        let is_helpless = matches!(
            self.doing,
            Doing::TakingHost(_) | Doing::TakingHostBack(_) | Doing::Preparing | Doing::Asking
        );
        is_helpless.then(|| self.since_ns.saturating_add(after_ns))
    }
}
