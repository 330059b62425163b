//! The table of the stays.

use super::Doing;
use super::place::{FREE, Place, Stay};
use crate::name::Subject;
use crate::sys::local::Local;
use crate::sys::site::Origin;
use crate::sys::{clock, stack, thread};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// How many waits are told of at a time, and how many of those that are inside something: what everybody waits for may come last. Of more there is
/// only the count.
const WAITS: usize = 256;
const INSIDES: usize = 256;
const MOST: usize = WAITS + INSIDES;

/// In how many things, one inside the other, a thread is told to be: what it is in may be a callback that calls itself for ever.
const DEEPEST: usize = 16;

pub(crate) struct Table([Place; MOST]);

pub(crate) static TABLE: Table = Table([const { Place::new() }; MOST]);

/// How many stays have no place. Relaxed: for people.
pub(crate) static UNTOLD: AtomicU32 = AtomicU32::new(0);

/// For a debugger: how many places there are, and how large one is; and what it has to know of one.
pub(crate) const LAYOUT: ([u32; 2], [u32; 7]) =
    ([MOST as u32, size_of::<Place>() as u32], Place::LAYOUT);

thread_local! {
    /// This thread's latest.
    static INNERMOST: Cell<Option<&'static Place>> = const { Cell::new(None) };
}

/// A stay of this thread's, until it is dropped.
pub(crate) struct Staying {
    place: Option<&'static Place>,
    since_ns: u64,
    is_untold: bool,
}

impl Staying {
    /// It begins, in the function that this is inlined into, which keeps it.
    #[inline(always)]
    pub(crate) fn begin(doing: Doing, subject: &dyn Subject, origin: Origin) -> Self {
        Self::begin_in(stack::here(), doing, subject, origin)
    }

    fn begin_in(frame: usize, doing: Doing, subject: &dyn Subject, origin: Origin) -> Self {
        let stay = Stay {
            thread: thread::id(),
            since_ns: clock::now_ns(),
            subject: std::ptr::from_ref(subject).expose_provenance(),
            doing,
            origin,
            kind: subject.kind(),
        };
        let mut staying = Self {
            place: None,
            since_ns: stay.since_ns,
            is_untold: false,
        };
        if doing.is_inside() && Place::depth() >= DEEPEST {
            return staying;
        }
        let Some(place) = Place::find(&stay) else {
            UNTOLD.fetch_add(1, Relaxed);
            staying.is_untold = true;
            return staying;
        };
        // Should this be left without an end.
        thread::run_at_exit(crate::exit::thread_exit);
        place.owner.store(stay.thread, Relaxed);
        place.outer.set(INNERMOST.here(Cell::get));
        place.frame.set(frame);
        place.tell(stay);
        INNERMOST.here(|innermost| innermost.set(Some(place)));
        staying.place = Some(place);
        staying
    }

    /// From here on it does that, since then.
    pub(crate) fn becomes(&self, doing: Doing, since_ns: u64) {
        if let Some(place) = self.place {
            place.change(|stay| Stay {
                doing,
                since_ns,
                ..*stay
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
        if let Some(place) = self.place {
            place.end();
        }
        if self.is_untold {
            UNTOLD.fetch_sub(1, Relaxed);
        }
    }
}

impl Place {
    /// A free one for that, which is this thread's then.
    fn find(stay: &Stay) -> Option<&'static Self> {
        let (waits, insides) = TABLE.0.split_at_checked(WAITS)?;
        let places = if stay.doing.is_inside() {
            insides
        } else {
            waits
        };
        // Threads begin to look in different places.
        let (before, from) = places.split_at_checked(stay.thread as usize % places.len())?;
        from.iter().chain(before).find(|place| place.take())
    }

    /// In how many of them this thread is, as far as that matters. A coroutine that ends one on another thread may leave a circle here.
    fn depth() -> usize {
        let outer = |place: &&'static Self| place.outer.get();
        let chain = std::iter::successors(INNERMOST.here(Cell::get), outer);
        chain.take(DEEPEST).count()
    }

    fn end(&self) {
        INNERMOST.here(|innermost| {
            // Coroutines end theirs in any order, and on other threads, which may leave a circle.
            let is_this = |place: &'static Self| std::ptr::eq(place, self);
            let mut link = innermost;
            let mut steps = 0;
            while let Some(place) = link.get()
                && !is_this(place)
                && steps < MOST
            {
                link = &place.outer;
                steps += 1;
            }
            if link.get().is_some_and(is_this) {
                link.set(self.outer.take());
            }
        });
        self.leave(FREE);
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

/// Is that thread inside the `describe` of a request of that once?
pub(crate) fn is_describing(once: usize, thread: u64) -> bool {
    let mut is_inside = false;
    look_for(Doing::Describing, once, |stay| {
        is_inside |= stay.thread == thread
    });
    is_inside
}

/// How many threads do that with it.
pub(crate) fn count(doing: Doing, subject: usize) -> u32 {
    let mut count = 0;
    look_for(doing, subject, |_| count += 1);
    count
}

/// How many have no place.
pub(crate) fn untold() -> u32 {
    UNTOLD.load(Relaxed)
}

/// Forgets the stays whose frames have been left without their ends. Those in which code of others runs are under a mark, but for the hooks
/// of a host.
#[cold]
pub(crate) fn cut() {
    forget(|place| stack::is_gone(place.frame.get()));
}

/// At the end of a thread: those that were left in that way are over.
pub(crate) fn forget_thread() {
    forget(|_| true);
}

fn forget(is_over: impl Fn(&Place) -> bool) {
    while let Some(place) = INNERMOST.here(Cell::get)
        && is_over(place)
    {
        // Not this thread's any more: a coroutine has ended it on another one.
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
        place.inherit(before);
    }
}
