//! This process.

/// Its id.
#[cfg(not(loom))]
pub(crate) fn id() -> u32 {
    // SAFETY: no preconditions; cannot fail.
    unsafe { libc::getpid() as u32 }
}

/// The one that forked it.
#[cfg(not(loom))]
pub(crate) fn parent() -> u32 {
    // SAFETY: no preconditions; cannot fail.
    unsafe { libc::getppid() as u32 }
}

/// Lets another thread run.
#[cfg(not(loom))]
pub(crate) fn yield_now() {
    // SAFETY: no preconditions.
    unsafe { libc::sched_yield() };
}

/// In a model there is one.
#[cfg(loom)]
pub(crate) fn id() -> u32 {
    1
}

/// The same, and it forks nobody.
#[cfg(loom)]
pub(crate) fn noticed() -> u32 {
    1
}

/// Its id, which a child has as soon as its fork has been noticed.
#[cfg(not(loom))]
pub(crate) fn noticed() -> u32 {
    super::birthmark::process()
}

/// Registers the three halves of a fork handler.
#[cfg(not(loom))]
pub(crate) fn at_fork(prepare: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) {
    // SAFETY: functions of this library, which is never unloaded. Failure means no memory for the list; then a child
    // finds whatever the fork left, as with any library that has no handler.
    unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
}
