//! The table of the stays.

use super::Doing;
use crate::name::{Kind, Subject};
use crate::sys::local::Local;
use crate::sys::site::Origin;
use crate::sys::{clock, order, process, stack, thread};
use std::cell::{Cell, UnsafeCell};
use std::mem::offset_of;
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
const FREE: u32 = 0;
/// A thread's, which writes it.
const TAKEN: u32 = 1;
/// To be looked at.
const TOLD: u32 = 2;
/// The bits of these. Those above count who is looking.
const STATE: u32 = 3;
const PIN: u32 = 4;

#[repr(C)]
struct Place {
    state: AtomicU32,
    is_warned: AtomicBool,
    /// Whose it is. Relaxed: compared with the reader's own id.
    owner: AtomicU64,
    /// Read with a pin, written by the owner when it is not told.
    stay: UnsafeCell<Stay>,
    /// The owner's: the stay that this one is inside of, and a frame above it.
    outer: Cell<Option<&'static Place>>,
    frame: Cell<usize>,
}

// SAFETY: the state says who may touch the rest.
unsafe impl Sync for Place {}

impl Place {
    const EMPTY: Self = Self {
        state: AtomicU32::new(FREE),
        is_warned: AtomicBool::new(false),
        owner: AtomicU64::new(0),
        stay: UnsafeCell::new(Stay {
            thread: 0,
            since_ns: 0,
            subject: 0,
            doing: Doing::Preparing,
            origin: Origin::Address(0),
            kind: Kind::Once,
        }),
        outer: Cell::new(None),
        frame: Cell::new(0),
    };
}

/// How many stays are told of at a time; of more there is only the count.
const MOST: usize = 256;

pub(crate) struct Table([Place; MOST]);

pub(crate) static TABLE: Table = Table([const { Place::EMPTY }; MOST]);

/// How many stays have no place. Relaxed: for people.
static UNTOLD: AtomicU32 = AtomicU32::new(0);

/// For a debugger: how many places there are and how large one is, and where in it what is told stands.
pub(crate) const LAYOUT: [u32; 9] = [
    MOST as u32,
    size_of::<Place>() as u32,
    offset_of!(Place, state) as u32,
    (offset_of!(Place, stay) + offset_of!(Stay, thread)) as u32,
    (offset_of!(Place, stay) + offset_of!(Stay, since_ns)) as u32,
    (offset_of!(Place, stay) + offset_of!(Stay, subject)) as u32,
    (offset_of!(Place, stay) + offset_of!(Stay, doing)) as u32,
    (offset_of!(Place, stay) + offset_of!(Stay, origin)) as u32,
    (offset_of!(Place, stay) + offset_of!(Stay, kind)) as u32,
];

thread_local! {
    /// This thread's latest.
    static INNERMOST: Cell<Option<&'static Place>> = const { Cell::new(None) };
}

/// A stay of this thread's, until it is dropped.
pub(crate) struct Staying {
    place: Option<&'static Place>,
    since_ns: u64,
}

impl Staying {
    pub(crate) fn begin(doing: Doing, subject: &dyn Subject, origin: Origin) -> Self {
        let stay = Stay {
            thread: thread::id(),
            since_ns: clock::now_ns(),
            subject: std::ptr::from_ref(subject).expose_provenance(),
            doing,
            origin,
            kind: subject.kind(),
        };
        let Some(place) = Place::find(stay.thread) else {
            UNTOLD.fetch_add(1, Relaxed);
            return Self {
                place: None,
                since_ns: stay.since_ns,
            };
        };
        place.owner.store(stay.thread, Relaxed);
        place.outer.set(INNERMOST.here(Cell::get));
        place.frame.set(stack::here());
        place.tell(stay);
        INNERMOST.here(|innermost| innermost.set(Some(place)));
        Self {
            place: Some(place),
            since_ns: stay.since_ns,
        }
    }

    /// From here on it does that, since then.
    pub(crate) fn becomes(&self, doing: Doing, since_ns: u64) {
        if let Some(place) = self.place {
            place.leave(TAKEN);
            // SAFETY: it is not told, and this thread's.
            let stay = unsafe { *place.stay.get() };
            place.tell(Stay {
                doing,
                since_ns,
                ..stay
            });
        }
    }

    /// When it began.
    pub(crate) fn since_ns(&self) -> u64 {
        self.since_ns
    }

    /// Shows the stay, if it is one to be warned of and nobody has been.
    pub(crate) fn look_if_due(&self, after_ns: u64, show: impl FnOnce(&Stay)) {
        if let Some(place) = self.place {
            place.look(|stay| place.if_due(stay, after_ns, show));
        }
    }
}

impl Drop for Staying {
    fn drop(&mut self) {
        match self.place {
            Some(place) => place.end(),
            None => _ = UNTOLD.fetch_sub(1, Relaxed),
        }
    }
}

impl Place {
    /// A free one, which is this thread's then.
    fn find(thread: u64) -> Option<&'static Self> {
        // Threads begin to look in different places.
        let (before, from) = TABLE.0.split_at_checked(thread as usize % MOST)?;
        from.iter().chain(before).find(|place| {
            place.state.load(Relaxed) == FREE
                && place
                    .state
                    .compare_exchange(FREE, TAKEN, order::see_stay(), Relaxed)
                    .is_ok()
        })
    }

    fn tell(&self, stay: Stay) {
        // SAFETY: it is taken, by this thread, and not told.
        unsafe { *self.stay.get() = stay };
        self.is_warned.store(false, Relaxed);
        self.state.store(TOLD, order::publish_stay());
    }

    /// Nobody looks at it any more.
    fn leave(&self, state: u32) {
        while self
            .state
            .compare_exchange(TOLD, state, order::leave_stay(), Relaxed)
            .is_err()
        {
            process::yield_now();
        }
    }

    fn end(&self) {
        INNERMOST.here(|innermost| innermost.set(self.outer.take()));
        self.leave(FREE);
    }

    fn look<R>(&self, show: impl FnOnce(&Stay) -> R) -> Option<R> {
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

    fn if_due(&self, stay: &Stay, after_ns: u64, show: impl FnOnce(&Stay)) {
        let is_due = stay
            .warned_of_at(after_ns)
            .is_some_and(|at_ns| clock::now_ns() >= at_ns);
        if is_due && !self.is_warned.swap(true, Relaxed) {
            show(stay);
        }
    }
}

impl Stay {
    /// When somebody else is to warn of it, because its thread sleeps nowhere in the library and cannot.
    fn warned_of_at(&self, after_ns: u64) -> Option<u64> {
        let is_helpless = matches!(
            self.doing,
            Doing::TakingHost(_) | Doing::TakingHostBack(_) | Doing::Preparing | Doing::Asking
        );
        is_helpless.then(|| self.since_ns.saturating_add(after_ns))
    }
}

/// Shows the stay in that place, if there is one; `None` behind the last place. Nothing may be allocated meanwhile: its thread cannot leave.
pub(crate) fn look<R>(place: usize, show: impl FnOnce(&Stay) -> R) -> Option<Option<R>> {
    TABLE.0.get(place).map(|place| place.look(show))
}

/// The same for one that is to be warned of, if nobody has been.
pub(crate) fn look_if_due(place: usize, after_ns: u64, show: impl FnOnce(&Stay)) -> Option<()> {
    let place = TABLE.0.get(place)?;
    place.look(|stay| place.if_due(stay, after_ns, show));
    Some(())
}

/// When the next one is to be warned of.
pub(crate) fn next_warning_ns(after_ns: u64) -> Option<u64> {
    let at = |place: &Place| {
        let is_open = !place.is_warned.load(Relaxed);
        let at_ns = place.look(|stay| stay.warned_of_at(after_ns)).flatten();
        at_ns.filter(|_| is_open)
    };
    TABLE.0.iter().filter_map(at).min()
}

/// Shows the stay of a thread that does that with a slot.
pub(crate) fn look_for(doing: Doing, subject: usize, mut show: impl FnMut(&Stay)) {
    for place in &TABLE.0 {
        place.look(|stay| {
            if stay.doing == doing && stay.subject == subject {
                show(stay);
            }
        });
    }
}

/// How many have no place.
pub(crate) fn untold() -> u32 {
    UNTOLD.load(Relaxed)
}

/// Forgets the stays whose frames have been left without their ends.
#[inline(always)]
pub(crate) fn cut() {
    if INNERMOST.here(Cell::get).is_some() {
        forget(|place| stack::is_gone(place.frame.get()));
    }
}

/// At the end of a thread: those that were left in that way are over.
pub(crate) fn forget_thread() {
    forget(|_| true);
}

#[cold]
fn forget(is_over: impl Fn(&Place) -> bool) {
    while let Some(place) = INNERMOST.here(Cell::get)
        && is_over(place)
    {
        // Not this thread's: on another stack, the one inside ended first.
        if place.owner.load(Relaxed) != thread::id() {
            return INNERMOST.here(|innermost| innermost.set(None));
        }
        place.end();
    }
}

/// In a forked child, whose only thread was `before`: nobody looks, and the others are gone.
pub(crate) fn inherit(before: u64) {
    UNTOLD.store(0, Relaxed);
    for place in &TABLE.0 {
        let state = place.state.load(Relaxed) & STATE;
        if place.owner.load(Relaxed) == before && state != FREE {
            place.owner.store(thread::id(), Relaxed);
            // SAFETY: this thread's, and there is no other.
            unsafe { (*place.stay.get()).thread = thread::id() };
            place.state.store(state, Relaxed);
        } else {
            place.state.store(FREE, Relaxed);
        }
    }
}
