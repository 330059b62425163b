//! Who wants to know, and telling them.

use super::{Event, FACTORY, What, file, observer};
use crate::abi;
use crate::name::{Kind, Name};
use crate::sys::errno::preserved;
use crate::sys::local::Local;
use crate::sys::noexcept::noexcept;
use crate::sys::site::Origin;
use crate::sys::thread;
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Who wants to know, as bits. Relaxed: who it is, stands under a lock; a thread that looks too early or too late reports one
/// event fewer or finds nobody.
static WANTED: AtomicU32 = AtomicU32::new(0);

/// An observer.
pub(super) const OBSERVER: u32 = 1;
/// The trace file.
pub(super) const TRACE: u32 = 2;
/// This is a child, and nobody has been told yet.
const FORKED: u32 = 4;

/// When this process was forked off, and by which thread of its parent's.
static FORKED_NS: AtomicU64 = AtomicU64::new(0);
static FORKED_BY: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Inside [`report`], whose own events are not reported.
    static REPORTING: Cell<bool> = const { Cell::new(false) };
}

#[inline(always)]
pub(crate) fn is_on() -> bool {
    WANTED.load(Relaxed) & !FORKED != 0
}

/// Begins or ends to report to them.
pub(super) fn want(who: u32, wanted: bool) {
    if wanted {
        WANTED.fetch_or(who, Relaxed);
    } else {
        WANTED.fetch_and(!who, Relaxed);
    }
}

/// Is this thread inside a call of `on_event`, or about to be?
pub(super) fn is_reporting() -> bool {
    REPORTING.here(Cell::get)
}

/// Tells of an event. No lock of the library may be held.
#[cold]
pub(crate) fn report(event: &Event) {
    tell(|| {
        tell_fork();
        tell_all(event);
    });
}

fn tell_all(event: &Event) {
    let wanted = WANTED.load(Relaxed);
    if wanted & TRACE != 0 {
        file::tell(event);
    }
    if wanted & OBSERVER != 0 && event.what.kind < FACTORY {
        observer::tell(event);
    }
}

fn tell(body: impl FnOnce()) {
    if REPORTING.here(|reporting| reporting.replace(true)) {
        return;
    }
    preserved(|| thread::inside(|| noexcept(body)));
    REPORTING.here(|reporting| reporting.set(false));
}

/// Is the fork that this process came from still to be told?
#[inline(always)]
pub(crate) fn is_news() -> bool {
    WANTED.load(Relaxed) & FORKED != 0
}

/// At every entry but those that find READY, or a value: tells of it.
pub(crate) fn look() {
    if is_news() {
        tell(tell_fork);
    }
}

fn tell_fork() {
    if WANTED.load(Relaxed) & FORKED == 0 || WANTED.fetch_and(!FORKED, Relaxed) & FORKED == 0 {
        return;
    }
    let what = What {
        kind: abi::LAZY_EVENT_FORK,
        subject: Kind::Once,
        name: Name::default(),
        phase: 0,
        origin: Origin::Address(0),
        caller: Origin::Address(0),
        _kept: None,
        ticket: 0,
        fails_as: abi::LAZY_OK,
    };
    tell_all(&Event {
        what: &what,
        began_ns: FORKED_NS.load(Relaxed),
        ended_ns: None,
        status: abi::LAZY_OK,
    });
}

/// In a forked child, where nobody can be told yet.
pub(crate) fn forked(by: u64, at_ns: u64) {
    file::forked();
    FORKED_NS.store(at_ns, Relaxed);
    FORKED_BY.store(by, Relaxed);
    if is_on() {
        want(FORKED, true);
    }
}

/// The thread that has forked this process off.
pub(super) fn forked_by() -> u64 {
    FORKED_BY.load(Relaxed)
}

/// When this process was forked off; 0 if it was not.
pub(super) fn forked_ns() -> u64 {
    FORKED_NS.load(Relaxed)
}
