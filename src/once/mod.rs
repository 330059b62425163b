//! The heart: a once, its state machine, its queue. Safe code, no I/O.
//!
//! ```text
//! FRESH -> INITIALIZING -> DRAINING -> READY        READY is published last, after the queue was found empty
//!   ^           |              |                    under the same lock that appends take
//!   +--- failed attempt -------+     FAILED: every call returns that error
//! ```
//!
//! | question | answered by |
//! |---|---|
//! | has the whole life cycle finished? | the state word equals READY: [`Once::is_ready`] |
//! | is this the thread that owns the unfinished one? | [`gate::Standing::Mine`] |
//! | did it finish while I was deciding? | [`Once::lock`] gives `None` |
//!
//! No user code runs while a lock is held, and nothing is allocated or freed under one.

mod attempt;
mod call;
mod config;
mod gate;
#[cfg(not(loom))]
pub(crate) mod graph;
#[cfg(not(loom))]
mod inherit;
mod init;
mod queue;
pub(crate) mod registry;
mod wait;
pub(crate) mod word;

pub(crate) use attempt::Progress;
pub(crate) use call::{Decision, call, ready_failed, run};
pub(crate) use config::Config;
pub(crate) use init::{Start, init};

use crate::sys::sized::Foreign;
use crate::sys::word::Word;
use gate::{Body, Counters, Locked, Standing};

/// A once, in the caller's memory: the layout of `lazy_once`.
#[repr(transparent)]
pub(crate) struct Once {
    word: Word<Body>,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Once>() == size_of::<crate::abi::lazy_once>());

impl Once {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        let body = Body {
            config: Foreign::NULL,
            gate: None,
            counters: Counters::NONE,
        };
        Self {
            word: Word::new(word::FRESH, word::ABI, body),
        }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        let body = Body {
            config: Foreign::NULL,
            gate: None,
            counters: Counters::NONE,
        };
        Self {
            word: Word::new(word::FRESH, word::ABI, body),
        }
    }

    /// Is the layout one that this library knows?
    pub(crate) fn is_known(&self) -> bool {
        matches!(self.word.tag(), 0 | word::ABI)
    }

    /// The first look: one acquire load. After true, everything that initializing wrote is visible to this thread.
    #[inline(always)]
    pub(crate) fn is_ready(&self) -> bool {
        self.word.look() == word::READY
    }

    /// Tells a race detector, which has not seen the first look, that it found READY.
    #[inline(always)]
    pub(crate) fn tell_ready(&self) {
        crate::sys::race::acquire(self);
    }

    /// The second look, under the lock that appends take; `None` if it finds READY.
    #[inline]
    fn lock(&self) -> Option<Locked<'_>> {
        self.word.lock_unless(word::READY).map(Locked)
    }

    /// Is this thread inside the attempt?
    pub(crate) fn is_mine(&self) -> bool {
        self.lock()
            .is_some_and(|locked| matches!(locked.standing(), Standing::Mine(_)))
    }

    /// Reads or changes the body in any phase. READY is never locked, and left only under the registry's lock.
    fn with_body<R>(
        &self,
        registry: &mut registry::Held<'_>,
        act: impl FnOnce(u32, &mut Body, &mut registry::Held<'_>) -> R,
    ) -> R {
        match self.lock() {
            Some(mut locked) => {
                let phase = locked.0.payload();
                act(phase, &mut locked.0, registry)
            }
            None => self
                .word
                .settled(word::READY, |body| act(word::READY, body, registry))
                .expect("READY is left only under the registry's lock"),
        }
    }
}
