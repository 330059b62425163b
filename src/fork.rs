//! What a forked child inherits. The three halves run around every `fork` of a process that has loaded the library;
//! `docs/fork.md` says what each lock, list and mark looks like in the child.

use crate::cuda;
use crate::once::{graph, registry};
use crate::slot;
use crate::stay;
use crate::sys::local::Local;
use crate::sys::{birthmark, clock, thread};
use crate::trace::{self, observer};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Set when the handlers are in place, so nobody goes on before they are. Two threads that come first at once both
/// register, which is harmless: the second run of each half finds its work done. Relaxed: what the flag stands for is in the
/// C library, under its own lock, which a fork holds too.
static REGISTERED: AtomicBool = AtomicBool::new(false);

/// What is done once in a process, before the first gate exists: the handlers are registered, and the environment is read.
#[inline]
pub(crate) fn register() {
    if !REGISTERED.load(Relaxed) {
        crate::sys::object::look_up();
        crate::once::word::look_for_detector();
        crate::sys::process::at_fork(prepare, parent, child);
        birthmark::make();
        trace::settings::read();
        REGISTERED.store(true, Relaxed);
    }
}

/// When the latest `prepare` ran. Changes under the registry's lock, which a child inherits.
static FORKING_NS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Has `prepare` taken the locks, on this thread?
    static PREPARED: Cell<bool> = const { Cell::new(false) };
    /// The forks of signal handlers, one inside the other, for which it took none.
    static SKIPPED: Cell<u32> = const { Cell::new(0) };
}

/// Is this a child that no handler has seen?
#[inline(always)]
pub(crate) fn is_new() -> bool {
    birthmark::is_missing()
}

/// At every entry but those that find READY, or a value: such a child is made whole.
#[inline(always)]
pub(crate) fn look() {
    if is_new() {
        birthmark::renew(recover);
    }
}

/// What the handlers do, where none has run, or one that could take no lock. The locks are as they were at the fork; a thread that is
/// gone may have been inside, in the middle of a change.
fn recover() {
    let before = thread::id();
    thread::forget_id();
    observer::inherit();
    trace::forked(before, clock::now_ns());
    stay::inherit(before);
    cuda::inherit();
    graph::recover();
    slot::recover(before);
    registry::recover().inherit(|once, slot| once.recover(before, slot));
}

/// Takes every short lock, in the one order: the registry, then the onces by their places, then the
/// slots, then the graph, then the observer. So queue, registry and
/// attempts are whole in the child. Where a signal handler forks while its thread is inside one of them, waiting for the
/// others could be waiting for ourselves: then nothing is taken.
extern "C" fn prepare() {
    if thread::holds_any() {
        return SKIPPED.here(|skipped| skipped.set(skipped.get() + 1));
    }
    look();
    thread::holds_one_more();
    let registry = registry::lock();
    FORKING_NS.store(clock::now_ns(), Relaxed);
    for once in registry.onces() {
        once.hold_for_fork();
    }
    std::mem::forget(registry);
    slot::hold_for_fork();
    graph::hold_for_fork();
    observer::hold_for_fork();
    PREPARED.here(|prepared| prepared.set(true));
}

/// Is this the later half of a `prepare` that took the locks?
fn is_prepared() -> bool {
    let was_skipped = SKIPPED.here(|skipped| {
        let count = skipped.get();
        skipped.set(count.saturating_sub(1));
        count != 0
    });
    !was_skipped && PREPARED.here(|prepared| prepared.replace(false))
}

extern "C" fn parent() {
    if is_prepared() {
        observer::let_go_after_fork();
        graph::let_go_after_fork();
        slot::let_go_after_fork();
        let registry = registry::resume();
        for once in registry.onces() {
            once.let_go_after_fork();
        }
        drop(registry);
        thread::holds_one_less();
    }
}

/// Allocates nothing and runs no user code. Where nothing was taken, the child is like one that no handler has seen; what was interrupted
/// goes on first, until it has left its locks.
extern "C" fn child() {
    birthmark::mark_child();
    if !is_prepared() {
        return thread::inherit_when_it_holds_none(recover);
    }
    let before = thread::id();
    thread::forget_id();
    trace::forked(before, FORKING_NS.load(Relaxed));
    stay::inherit(before);
    cuda::inherit();
    graph::inherit();
    slot::inherit(before);
    registry::resume().inherit(|once, _| once.inherit(before));
    observer::inherit();
    thread::holds_one_less();
}
