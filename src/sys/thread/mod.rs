//! This thread: its kernel id, whether it is in the library's own code, and its end.
//!
//! Thread-local storage here is constant-initialised and has no destructor; a pthread key runs the end of a thread.

#[cfg(not(loom))]
mod asleep;
#[cfg(not(loom))]
mod exit;
#[cfg(not(loom))]
mod mark;
#[cfg(loom)]
mod model;
#[cfg(not(loom))]
mod native;

#[cfg(not(loom))]
pub(crate) use {asleep::*, exit::*, mark::*, native::*};

#[cfg(loom)]
pub(crate) use model::*;

/// Runs `body` as the library's own code.
#[inline(always)]
pub(crate) fn inside<R>(body: impl FnOnce() -> R) -> R {
    on(Side::Inside, body)
}

/// Runs code of somebody else's, or a sleep.
#[inline(always)]
pub(crate) fn outside<R>(body: impl FnOnce() -> R) -> R {
    on(Side::Outside, body)
}
