//! What cannot be, unless this library or its memory is broken.
//!
//! A broken invariant ends the process, with one line that names it. It never unwinds: a Rust panic would pass through the
//! frames of whoever called us, with locks held and other threads asleep behind them. So no code of ours may panic either:
//! no index, no `expect`, no growth of a standard collection, and nothing from std that does one of these. Then the shared
//! library holds no panic handler at all, which would be more than half of it; `.ci/run` sees to that.

/// A value that is there, by an invariant.
pub(crate) trait Invariant<T> {
    /// The value; without one the process ends.
    fn invariant(self, what: &'static str) -> T;
}

impl<T> Invariant<T> for Option<T> {
    #[inline(always)]
    #[cfg_attr(loom, track_caller)]
    fn invariant(self, what: &'static str) -> T {
        match self {
            Some(value) => value,
            None => broken(what),
        }
    }
}

/// Ends the process.
#[cfg(not(loom))]
#[cold]
#[inline(never)]
pub(crate) fn broken(what: &'static str) -> ! {
    end_process(["lazyonce: broken invariant: ", what, "\n"])
}

/// The same, with this line.
#[cfg(not(loom))]
pub(crate) fn end_process(line: [&'static str; 3]) -> ! {
    let line = line.map(|part| libc::iovec {
        iov_base: part.as_ptr().cast_mut().cast(),
        iov_len: part.len(),
    });
    // SAFETY: so many parts, each readable; nobody is left to hear of a failure.
    unsafe { libc::writev(libc::STDERR_FILENO, line.as_ptr(), line.len() as i32) };
    // SAFETY: no preconditions.
    unsafe { libc::abort() }
}

/// Fails the model.
#[cfg(loom)]
#[track_caller]
pub(crate) fn broken(what: &'static str) -> ! {
    panic!("{what}")
}
