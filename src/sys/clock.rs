//! Monotonic time in nanoseconds.

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

    pub(crate) fn has_passed(self) -> bool {
        match self {
            Self::Never => false,
            Self::At(at) => now_ns() >= at,
        }
    }
}
