//! What a forked child inherits. The three halves run around every `fork` of a process that has loaded the library;
//! `docs/fork.md` says what each lock, list and mark looks like in the child.

use crate::cuda;
use crate::once::{graph, registry};
use crate::slot;
use crate::sys::local::Local;
use crate::sys::{birthmark, thread};
use crate::trace::{self, observer};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Set when the handlers are in place, so nobody goes on before they are. Two threads that come first at once both
/// register, which is harmless: the second run of each half finds its work done. Relaxed: what the flag stands for is in the
/// C library, under its own lock, which a fork holds too.
static REGISTERED: AtomicBool = AtomicBool::new(false);

/// What is done once in a process, before the first gate exists: the handlers are registered, and the environment is read.
#[inline]
pub(crate) fn register() {
    if !REGISTERED.load(Relaxed) {
        crate::once::word::look_for_detector();
        crate::sys::process::at_fork(prepare, parent, child);
        birthmark::make();
        trace::settings::read();
        REGISTERED.store(true, Relaxed);
    }
}

thread_local! {
    /// Did `prepare` take the locks, on this thread?
    static PREPARED: Cell<bool> = const { Cell::new(false) };
}

/// At every entry but those that find READY, or a value: a child that no handler has seen is made whole.
#[inline(always)]
pub(crate) fn look() {
    if birthmark::is_missing() {
        birthmark::renew(recover);
    }
}

/// What the handlers do, where none has run. The locks are as they were at the fork; a thread that is gone may have been inside, in the
/// middle of a change.
fn recover() {
    let before = thread::id();
    thread::forget_id();
    observer::inherit();
    trace::forked();
    cuda::inherit();
    graph::recover();
    slot::recover(before);
    registry::recover().inherit(|once| once.recover(before));
}

/// Takes every short lock, in the one order: the registry, then the onces by their places, then the
/// slots, then the graph, then the observer. So queue, registry and
/// attempts are whole in the child. Where a signal handler forks inside one of our critical sections, waiting for the
/// others could be waiting for ourselves: then nothing is taken, and what was interrupted goes on in both processes.
extern "C" fn prepare() {
    if thread::is_inside() {
        return;
    }
    look();
    let registry = registry::lock();
    for once in registry.onces() {
        once.hold_for_fork();
    }
    std::mem::forget(registry);
    slot::hold_for_fork();
    graph::hold_for_fork();
    observer::hold_for_fork();
    PREPARED.here(|prepared| prepared.set(true));
}

extern "C" fn parent() {
    if PREPARED.here(|prepared| prepared.replace(false)) {
        observer::let_go_after_fork();
        graph::let_go_after_fork();
        slot::let_go_after_fork();
        let registry = registry::resume();
        for once in registry.onces() {
            once.let_go_after_fork();
        }
    }
}

/// Allocates nothing and runs no user code.
extern "C" fn child() {
    birthmark::mark_child();
    let before = thread::id();
    thread::forget_id();
    trace::forked();
    cuda::inherit();
    if PREPARED.here(|prepared| prepared.replace(false)) {
        graph::inherit();
        slot::inherit(before);
        registry::resume().inherit(|once| once.inherit(before));
        observer::inherit();
    }
}
