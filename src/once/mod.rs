//! The heart: a once, its state machine, its queue. Safe code, no I/O.
//!
//! ```text
//! FRESH -> INITIALIZING -> DRAINING -> READY        READY is published last, after the queue was found empty
//!   ^           |              |                    under the same lock that appends take
//!   +--- failed attempt -------+     FAILED, CLOSED: every call returns that error
//! ```
//!
//! | question | answered by |
//! |---|---|
//! | has the whole life cycle finished? | the state word equals READY: [`Once::is_ready`] |
//! | is this the thread that owns the unfinished one? | [`gate::Standing::Mine`] |
//! | did it finish while I was deciding? | [`Once::lock`] gives `None` |
//!
//! No user code runs while a lock is held, and nothing is allocated or freed under one.

#[cfg(not(loom))]
mod abandoned;
mod attempt;
mod call;
mod close;
mod config;
mod configure;
mod drain;
mod end;
mod failure;
mod gate;
#[cfg(not(loom))]
pub(crate) mod graph;
#[cfg(not(loom))]
mod host;
#[cfg(loom)]
#[path = "host_model.rs"]
mod host;
#[cfg(not(loom))]
mod info;
#[cfg(not(loom))]
mod inherit;
mod init;
#[cfg(not(loom))]
mod layout;
#[cfg(not(loom))]
mod named;
#[cfg(not(loom))]
mod permit;
mod plain;
mod prepare;
mod queue;
pub(crate) mod registry;
mod reset;
mod wait;
mod withdraw;
pub(crate) mod word;

pub(crate) use attempt::Progress;
pub(crate) use call::{
    Ask, Decision, Replaced, call, ready_failed, run, run_ready_request, run_request,
};
pub(crate) use config::Config;
#[cfg(not(loom))]
pub(crate) use config::OnFork;
pub(crate) use failure::LOST;
#[cfg(not(loom))]
pub(crate) use info::{Info, Kept};
pub(crate) use init::{Start, init};
#[cfg(not(loom))]
pub(crate) use layout::LAYOUT;
#[cfg(not(loom))]
pub(crate) use named::{DEFAULT, default, named};
#[cfg(not(loom))]
pub(crate) use permit::{Permit, forget_thread};
pub(crate) use queue::Details;
pub(crate) use withdraw::Cancelled;

use crate::error::Failure;
use crate::name::{Kind, Name, Subject};
use crate::sys::copy::LibraryCopy;
use crate::sys::invariant::Invariant;
use crate::sys::sized::Foreign;
use crate::sys::text::text;
use crate::sys::word::{Guard, Word};
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

    /// The second look, under the lock that appends take; `None` if it finds READY. The once has a gate from here on.
    #[inline(always)]
    fn lock(&self) -> Result<Option<Locked<'_>>, Failure> {
        loop {
            if let Some(locked) = self.lock_gate() {
                let copy = locked.copy();
                if copy == LibraryCopy::this() {
                    return Ok(Some(locked));
                }
                drop(locked);
                return Err(Failure::of_another_copy(copy));
            }
            match self.word.look() {
                word::READY => return Ok(None),
                word::CLOSED => return Err(Failure::closed(self, c"")),
                word::FRESH => self.furnish()?,
                // It has become lockable meanwhile.
                word if word & word::LOCKABLE != 0 => {}
                word => {
                    return Err(Failure::invalid(text!(
                        "memory that is no lazy_once: its state is {word}"
                    )));
                }
            }
        }
    }

    /// Refuses a once that another copy of the library owns. One that is ready and owns memory must not be closed meanwhile by
    /// that one.
    pub(crate) fn check_copy(&self) -> Result<(), Failure> {
        let copy = match self.lock_gate() {
            Some(locked) => Some(locked.copy()),
            None => {
                let body = self.word.settled(word::LOCKABLE);
                body.and_then(|body| body.gate.as_ref().map(|gate| gate.copy))
            }
        };
        match copy {
            Some(copy) if copy != LibraryCopy::this() => Err(Failure::of_another_copy(copy)),
            _ => Ok(()),
        }
    }

    /// The lock of a once that has a gate and is not ready.
    #[inline(always)]
    fn lock_gate(&self) -> Option<Locked<'_>> {
        self.word.lock_if(word::LOCKABLE).map(Locked)
    }

    /// Is this thread inside the attempt?
    pub(crate) fn is_mine(&self) -> bool {
        self.lock_gate().is_some_and(|locked| {
            locked.copy() == LibraryCopy::this() && matches!(locked.standing(), Standing::Mine(_))
        })
    }

    /// Reads or changes the phase and the body, in any phase; the word says afterwards what they are, in one exchange that
    /// also releases the lock, if there is one.
    fn with_body<R>(
        &self,
        registry: &mut registry::Held<'_>,
        act: impl FnOnce(&mut u32, &mut Body, &mut registry::Held<'_>) -> R,
    ) -> R {
        registry.changes(Some(self));
        let mut body = self.open();
        let mut phase = body.payload() & !word::LOCKABLE;
        let result = act(&mut phase, &mut body, registry);
        Self::shut(body, phase);
        registry.changes(None);
        result
    }

    #[inline(never)]
    fn open(&self) -> Guard<'_, Body> {
        match self.lock_gate() {
            Some(locked) => locked.0,
            None => self
                .word
                .settled(word::LOCKABLE)
                .invariant("a once becomes lockable only under the registry's lock"),
        }
    }

    #[inline(never)]
    fn shut(body: Guard<'_, Body>, phase: u32) {
        let payload = body.payload_in(phase);
        body.shut(payload, word::LOCKABLE);
    }
}

impl Subject for Once {
    fn kind(&self) -> Kind {
        Kind::Once
    }

    fn name(&self) -> Name {
        Once::name(self)
    }

    fn phase(&self) -> u32 {
        self.word.raw().payload() & !word::LOCKABLE
    }
}
