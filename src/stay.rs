//! Which threads wait at this moment, or are inside a callback that nothing else names: for the dump, the warnings and debuggers.
//!
//! Each stay has a place in one table, without a lock and without an allocation, so that a signal handler may look and a debugger finds it.
//! What a place holds, belongs to its thread until it is told; whoever looks then pins it, and the thread leaves when nobody does: what a
//! stay refers to is there for as long as the thread is in its call.

use std::ffi::c_char;

#[cfg(not(loom))]
mod place;
#[cfg(not(loom))]
mod table;
#[cfg(not(loom))]
pub(crate) use {place::Stay, table::*};

#[cfg(loom)]
pub(crate) use model::*;

/// What a thread does. A debugger knows this layout: `{ u32 doing; u64 number }`.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(loom, allow(dead_code))]
#[repr(u32)]
pub(crate) enum Doing {
    /// It takes the lock of the host of that name.
    TakingHost(*const c_char),
    /// The same after a wait, for which it let that go.
    TakingHostBack(*const c_char),
    /// It is inside `prepare`.
    Preparing,
    /// It is inside `can_init`.
    Asking,
    /// It waits for the end of an attempt.
    AwaitingAttempt,
    /// It waits until that thread is done with a request.
    AwaitingRequest(u64),
    /// It waits until the value at that index has been made or ended.
    AwaitingValue(u64),
    /// It makes the value at that index.
    Making(u64),
    /// It ends the value at that index.
    Ending(u64),
    /// It waits for calls of an observer.
    AwaitingObserver,
    /// It is inside `on_event` of that observer.
    Observing(u64),
    /// It is inside the `drop` of a request that was handed in at the stay's place.
    Releasing,
    /// It is inside the `describe` of one.
    Describing,
    /// It is inside `share`, for the value at that index.
    Sharing(u64),
    /// It is inside a callback that ran at once, but not where the once was found ready.
    Calling,
}

#[cfg(not(loom))]
impl Doing {
    /// Is it in a callback?
    pub(crate) fn is_inside(self) -> bool {
        matches!(
            self,
            Self::Preparing
                | Self::Asking
                | Self::Making(_)
                | Self::Ending(_)
                | Self::Observing(_)
                | Self::Releasing
                | Self::Describing
                | Self::Sharing(_)
                | Self::Calling
        )
    }
}

#[cfg(loom)]
mod model {
    //! In a model nobody looks.

    use super::Doing;
    use crate::name::Subject;
    use crate::sys::site::Origin;

    pub(crate) struct Staying;

    pub(crate) fn is_describing(_once: usize, _thread: u64) -> bool {
        false
    }

    impl Staying {
        pub(crate) fn begin(_doing: Doing, _subject: &dyn Subject, _origin: Origin) -> Self {
            Self
        }
    }
}
