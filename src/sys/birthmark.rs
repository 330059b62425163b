//! A word that a forked child finds wiped, whoever made the child and however: `_Fork` and a bare `clone` run no handler.
//!
//! It lies in a page of its own with `MADV_WIPEONFORK`, so looking costs a load. Where the kernel does not know that (before Linux
//! 4.14), or a child has found it not wiped, as under an emulator that only says so, process ids are compared instead.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering::Relaxed};

// Relaxed throughout: a child has one thread until it makes more, and what it finds was written before it was made.

static WORD: AtomicPtr<AtomicU32> = AtomicPtr::new(null_mut());
/// The process that was marked last.
static PROCESS: AtomicU32 = AtomicU32::new(0);
static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// Which process this is, as far as has been noticed.
pub(crate) fn process() -> u32 {
    PROCESS.load(Relaxed)
}

/// Has this process been forked from one that was marked, as far as has been noticed?
#[inline(always)]
pub(crate) fn is_child() -> bool {
    IS_CHILD.load(Relaxed)
}

/// A child that nobody has looked at yet.
const WIPED: u32 = 0;
const MARKED: u32 = 1;
/// Some thread of such a child is at it.
const TAKEN: u32 = 2;

fn word() -> Option<&'static AtomicU32> {
    // SAFETY: NULL or the page, which is never unmapped.
    unsafe { WORD.load(Relaxed).as_ref() }
}

/// Once in a process, before anything is to be noticed.
pub(crate) fn make() {
    if PROCESS.load(Relaxed) != 0 {
        return;
    }
    let page = page();
    // SAFETY: just mapped, and marked before anybody knows it.
    if let Some(word) = page.and_then(|page| unsafe { page.as_ref() }) {
        word.store(MARKED, Relaxed);
    }
    // Of two threads that come first at once, one does not get to use its page.
    let page = page.unwrap_or(null_mut());
    let _ = WORD.compare_exchange(null_mut(), page, Relaxed, Relaxed);
    PROCESS.store(super::process::id(), Relaxed);
}

/// The size of a page is a multiple of it everywhere.
const SIZE: usize = 4096;

fn page() -> Option<*mut AtomicU32> {
    let (access, kind) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
    );
    // SAFETY: a mapping of its own, wherever there is room.
    let page = unsafe { libc::mmap(null_mut(), SIZE, access, kind, -1, 0) };
    if page == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: just mapped.
    if unsafe { libc::madvise(page, SIZE, libc::MADV_WIPEONFORK) } != 0 {
        // SAFETY: as above, and nobody has seen it.
        unsafe { libc::munmap(page, SIZE) };
        return None;
    }
    Some(page.cast())
}

/// This process is known.
pub(crate) fn mark() {
    PROCESS.store(super::process::id(), Relaxed);
    if let Some(word) = word() {
        word.store(MARKED, Relaxed);
    }
}

/// The same by a handler that runs in every ordinary child: it finds out whether pages are wiped here.
pub(crate) fn mark_child() {
    IS_CHILD.store(true, Relaxed);
    if word().is_some_and(|word| word.load(Relaxed) != WIPED) {
        WORD.store(null_mut(), Relaxed);
    }
    mark();
}

/// Is this a child that has not been marked?
#[inline(always)]
pub(crate) fn is_missing() -> bool {
    match word() {
        Some(word) => word.load(Relaxed) != MARKED,
        None => is_another_process(),
    }
}

#[cold]
fn is_another_process() -> bool {
    ![0, super::process::id()].contains(&PROCESS.load(Relaxed))
}

/// Has `body` run by one thread, which then marks the process; others wait for it.
#[cold]
pub(crate) fn renew(body: impl FnOnce()) {
    let is_first = word().is_none_or(|word| {
        let taken = word.compare_exchange(WIPED, TAKEN, Relaxed, Relaxed);
        taken.is_ok()
    });
    if is_first {
        IS_CHILD.store(true, Relaxed);
        body();
        return mark();
    }
    while word().is_some_and(|word| word.load(Relaxed) == TAKEN) {
        // SAFETY: no preconditions.
        unsafe { libc::sched_yield() };
    }
}
