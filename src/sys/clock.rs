//! Monotonic time in nanoseconds.

use std::cell::Cell;

/// Now, on `CLOCK_MONOTONIC`.
pub(crate) fn now_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid timespec to write to; this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// How long a call may wait, in all its waits together. What it does in between, and what it waits for that has no limit, does
/// not count.
pub(crate) struct Limit {
    /// `u64::MAX` for no limit.
    left_ns: Cell<u64>,
}

impl Limit {
    pub(crate) fn new(limit_ns: u64) -> Self {
        Self {
            left_ns: Cell::new(limit_ns),
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.left_ns.get() == u64::MAX
    }

    /// Nothing is left: whoever only tries comes here at once.
    pub(crate) fn is_spent(&self) -> bool {
        self.left_ns.get() == 0
    }

    /// Waits, and counts it.
    pub(crate) fn spend<R>(&self, wait: impl FnOnce(Deadline) -> R) -> R {
        if self.is_none() {
            return wait(Deadline::Never);
        }
        let began = now_ns();
        let result = wait(Deadline::after(self.left_ns.get()));
        self.count(now_ns().saturating_sub(began));
        result
    }

    pub(crate) fn count(&self, spent_ns: u64) {
        if !self.is_none() {
            self.left_ns
                .set(self.left_ns.get().saturating_sub(spent_ns));
        }
    }
}

/// A point in time after which a wait is given up.
#[derive(Clone, Copy)]
pub(crate) enum Deadline {
    Never,
    At(u64),
}

impl Deadline {
    /// `limit_ns` from now; `u64::MAX` is no limit.
    pub(crate) fn after(limit_ns: u64) -> Self {
        if limit_ns == u64::MAX {
            Self::Never
        } else {
            Self::At(now_ns().saturating_add(limit_ns))
        }
    }

    /// This one, or that point in time if it comes first.
    #[cfg(not(loom))]
    pub(crate) fn or_after(self, at_ns: u64) -> Self {
        match self {
            Self::At(at) => Self::At(at.min(at_ns)),
            Self::Never => Self::At(at_ns),
        }
    }

    pub(crate) fn has_passed(self) -> bool {
        match self {
            Self::Never => false,
            Self::At(at) => now_ns() >= at,
        }
    }
}
