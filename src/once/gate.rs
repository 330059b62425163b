//! What stands behind a once while it owns memory, and how the once gets and gives up that memory.
//!
//! Invariants, each under the once's lock:
//! - `gate.running` is there in INITIALIZING and DRAINING, and its owner is a living thread of this process; also in CLOSED,
//!   until that owner has noticed.
//! - A once whose `gate` is `None` is referenced by nobody, and is FRESH, READY or CLOSED.
//! - A gate stands in the registry from the moment it is put into its once until it is taken out.

use super::attempt::Attempt;
use super::config::{Config, OnFork};
use super::queue::{Queue, Work};
use super::{registry, word};
use crate::abi;
use crate::error::Failure;
use crate::sys::copy::LibraryCopy;
use crate::sys::invariant::Invariant;
use crate::sys::memory::{Shared, Unique};
use crate::sys::site::Origin;
use crate::sys::sized::Foreign;
use crate::sys::word::Guard;
use std::ffi::CString;

/// The part of a once that is touched under its lock only.
#[repr(C)]
pub(crate) struct Body {
    /// What `LAZY_ONCE_WITH` bound.
    pub(super) config: Foreign<abi::lazy_config>,
    pub(super) gate: Option<Unique<Gate>>,
    pub(super) counters: Counters,
}

/// Kept in the once itself, so that it survives the gate. Saturates.
#[repr(C)]
pub(super) struct Counters {
    attempts: u32,
    generation: u32,
}

/// Beside the generation: an attempt has begun in it.
const TOUCHED: u32 = 1 << 31;

impl Counters {
    pub(super) const NONE: Self = Self {
        attempts: 0,
        generation: 0,
    };

    /// The number of the attempt that begins now.
    pub(super) fn begin_attempt(&mut self) -> u32 {
        self.attempts = self.attempts.saturating_add(1);
        self.generation |= TOUCHED;
        self.attempts
    }

    pub(super) fn begin_generation(&mut self) {
        self.generation = (self.generation() + 1).min(TOUCHED - 1);
    }

    pub(super) fn attempts(&self) -> u32 {
        self.attempts
    }

    pub(super) fn generation(&self) -> u32 {
        self.generation & !TOUCHED
    }

    /// Has an attempt begun since the last reset?
    pub(super) fn is_touched(&self) -> bool {
        self.generation & TOUCHED != 0
    }
}

/// What a once that is configured, in use or has a queue owns.
#[repr(C)]
pub(crate) struct Gate {
    /// The copy of the library that owns it: the first word, which every copy looks at before it touches the rest.
    pub(super) copy: LibraryCopy,
    pub(super) slot: registry::Slot,
    pub(super) config: Config,
    /// Given to `configure`, there: the gate stays when the once is ready, until `close`.
    pub(super) configured: Option<Configured>,
    /// The once is the library's own and is there for ever, under the name in its configuration.
    pub(super) named: bool,
    /// How many threads are inside `prepare`.
    pub(super) preparing: u32,
    /// A `prepare` has succeeded.
    pub(super) prepared: bool,
    /// Of a FORKED once: the process that used it.
    pub(super) forked_from: u32,
    /// This is a child that no fork handler has seen, and what was queued is lost.
    pub(super) lost_queue: bool,
    /// An initializer has succeeded; only the queue is left to run.
    pub(super) native_done: bool,
    pub(super) queue: Queue,
    pub(super) running: Option<Running>,
    /// The last attempt, for messages.
    pub(super) latest: Option<Shared<Attempt>>,
    /// Why a FAILED or CLOSED once is so.
    pub(super) final_error: Option<Failure>,
    pub(super) history: History,
}

/// Who has configured a once.
#[derive(Clone)]
pub(super) struct Configured {
    /// The name in the configuration, which a named once does not take.
    pub(super) name: Option<Shared<CString>>,
    pub(super) by: Origin,
}

/// When, for how long and in which process.
#[derive(Default)]
pub(super) struct History {
    /// When the phase began; 0 if nothing has happened yet.
    pub(super) since_ns: u64,
    /// How long the attempt that succeeded took.
    pub(super) init_ns: u64,
    /// The process that it succeeded in.
    pub(super) init_pid: u32,
}

/// The attempt that is running.
pub(super) struct Running {
    pub(super) attempt: Shared<Attempt>,
    /// What the owner took out of the queue and is running.
    pub(super) work: Option<Work>,
    /// Somebody waits until the running request is gone: it is not kept if it fails.
    pub(super) cancelled: bool,
    /// Everything that was queued when the drain began has run: nobody else may append any more.
    pub(super) cut_off: bool,
}

impl Gate {
    pub(super) fn new(config: Config) -> Self {
        Self {
            copy: LibraryCopy::this(),
            slot: registry::Slot::default(),
            config,
            configured: None,
            named: false,
            preparing: 0,
            prepared: false,
            forked_from: 0,
            lost_queue: false,
            native_done: false,
            queue: Queue::default(),
            running: None,
            latest: None,
            final_error: None,
            history: History::default(),
        }
    }

    /// Is that attempt the one that is running?
    pub(super) fn runs(&self, attempt: &Shared<Attempt>) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|running| running.attempt.same(attempt))
    }

    /// Must this stay?
    pub(super) fn is_needed(&self, phase: u32) -> bool {
        let kept = self.named || self.configured.is_some() || self.config.on_fork != OnFork::Keep;
        match phase {
            word::READY => kept || self.queue.has_leaving(),
            word::FRESH => kept || self.native_done || !self.queue.is_empty() || self.lost_queue,
            word::CLOSED => self.running.is_some() || !self.queue.is_empty(),
            _ => true,
        }
    }
}

impl Gate {
    /// As if nothing had been initialized. What made it final is to be freed outside the lock.
    #[must_use]
    pub(super) fn renew(&mut self) -> Option<Failure> {
        self.native_done = false;
        self.prepared = false;
        self.forked_from = 0;
        self.lost_queue = false;
        self.history = History::default();
        self.final_error.take()
    }
}

/// How things stand for the calling thread.
pub(super) enum Standing {
    /// Nobody is initializing.
    Fresh,
    /// This thread owns the attempt or holds a permit of it; the phase says whether the native side is up.
    Mine(u32),
    /// Another thread owns it. The reference is taken here, before anything can delay this thread, because an outcome
    /// belongs to its attempt.
    Theirs(Shared<Attempt>),
    /// Every call returns this.
    Over(Failure),
    /// Every call returns what [`super::Once::forked`] makes.
    Forked,
}

/// A once that has a gate and is not ready, locked.
pub(super) struct Locked<'a>(pub(super) Guard<'a, Body>);

impl Locked<'_> {
    #[inline(always)]
    pub(super) fn phase(&self) -> u32 {
        self.0.payload() & !word::LOCKABLE
    }

    pub(super) fn set_phase(&mut self, phase: u32) {
        self.0.set_payload(phase | word::LOCKABLE);
    }

    #[inline(always)]
    pub(super) fn standing(&self) -> Standing {
        let phase = self.phase();
        let gate = self.gate_ref();
        match phase {
            word::FRESH => Standing::Fresh,
            word::INITIALIZING | word::DRAINING => {
                let attempt = &gate.running().attempt;
                if Attempt::is_mine(attempt) {
                    Standing::Mine(phase)
                } else {
                    Standing::Theirs(attempt.clone())
                }
            }
            word::FORKED => Standing::Forked,
            _ => Standing::Over(
                gate.final_error
                    .clone()
                    .unwrap_or(Failure::Bare(abi::LAZY_E_INVALID)),
            ),
        }
    }

    pub(super) fn copy(&self) -> LibraryCopy {
        self.gate_ref().copy
    }

    fn gate_ref(&self) -> &Gate {
        self.0
            .gate
            .as_ref()
            .invariant("what is lockable has a gate")
    }

    #[inline(always)]
    pub(super) fn gate(&mut self) -> &mut Gate {
        self.0
            .gate
            .as_mut()
            .invariant("what is lockable has a gate")
    }
}

impl Body {
    /// What the word says in that phase.
    pub(super) fn payload_in(&self, phase: u32) -> u32 {
        if self.gate.is_some() && phase != word::READY {
            phase | word::LOCKABLE
        } else {
            phase
        }
    }

    /// Takes the gate out if the once may own nothing in this phase. The caller drops it after every lock.
    #[must_use]
    #[inline(never)]
    pub(super) fn take_unneeded(
        &mut self,
        registry: &mut registry::Held<'_>,
        phase: u32,
    ) -> Option<Unique<Gate>> {
        let mut gate = self.gate.take_if(|gate| !gate.is_needed(phase))?;
        gate.queue.leave_tickets();
        registry.remove(&mut gate.slot);
        Some(gate)
    }
}

impl Gate {
    #[inline(always)]
    pub(super) fn running(&self) -> &Running {
        self.running
            .as_ref()
            .invariant("an attempt is running in these phases")
    }

    pub(super) fn running_mut(&mut self) -> &mut Running {
        self.running
            .as_mut()
            .invariant("an attempt is running in these phases")
    }
}
