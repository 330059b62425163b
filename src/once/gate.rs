//! What stands behind a once while it owns memory, and how the once gets and gives up that memory.
//!
//! Invariants, each under the once's lock:
//! - `gate.running` is there exactly in INITIALIZING and DRAINING, and its owner is a living thread of this process.
//! - A once whose `gate` is `None` is referenced by nobody, and is FRESH or READY.
//! - A gate stands in the registry from the moment it is put into its once until it is taken out.

use super::attempt::Attempt;
use super::config::Config;
use super::queue::{Block, Entry, Full, Queue, Spare};
use super::{Once, registry, word};
use crate::abi;
use crate::error::Failure;
use crate::sys::memory::{Shared, try_box};
use crate::sys::sized::Foreign;
use crate::sys::thread;
use crate::sys::word::Guard;
use std::ffi::{CStr, CString};

/// The part of a once that is touched under its lock only.
#[repr(C)]
pub(crate) struct Body {
    /// What `LAZY_ONCE_WITH` bound.
    pub(super) config: Foreign<abi::lazy_config>,
    pub(super) gate: Option<Box<Gate>>,
    pub(super) counters: Counters,
}

/// Kept in the once itself, so that it survives the gate. Saturates.
#[repr(C)]
pub(super) struct Counters {
    attempts: u32,
    _spare: u32,
}

impl Counters {
    pub(super) const NONE: Self = Self {
        attempts: 0,
        _spare: 0,
    };

    /// The number of the attempt that begins now.
    pub(super) fn begin_attempt(&mut self) -> u32 {
        self.attempts = self.attempts.saturating_add(1);
        self.attempts
    }

    /// Has an attempt begun?
    pub(super) fn is_touched(&self) -> bool {
        self.attempts > 0
    }
}

/// What a once that is configured, in use or has a queue owns.
#[repr(C)]
pub(crate) struct Gate {
    pub(super) slot: registry::Slot,
    pub(super) config: Config,
    /// Given to `configure`: the gate stays when the once is ready, until `close`.
    pub(super) configured: bool,
    /// An initializer has succeeded; only the queue is left to run.
    pub(super) native_done: bool,
    pub(super) queue: Queue,
    pub(super) running: Option<Running>,
    /// The last attempt, for messages.
    pub(super) latest: Option<Shared<Attempt>>,
    /// Why a FAILED once is so.
    pub(super) final_error: Option<Failure>,
}

/// The attempt that is running.
pub(super) struct Running {
    pub(super) attempt: Shared<Attempt>,
    /// What the owner took out of the queue and is running.
    pub(super) block: Option<Shared<Block>>,
}

impl Gate {
    fn new(config: Config) -> Self {
        Self {
            slot: registry::Slot::default(),
            config,
            configured: false,
            native_done: false,
            queue: Queue::default(),
            running: None,
            latest: None,
            final_error: None,
        }
    }

    /// Must this stay when no attempt is running?
    fn is_needed(&self, phase: u32) -> bool {
        match phase {
            word::READY => self.configured,
            word::FRESH => self.configured || self.native_done || !self.queue.is_empty(),
            _ => true,
        }
    }
}

/// How things stand for the calling thread.
pub(super) enum Standing {
    /// Nobody is initializing.
    Fresh,
    /// This thread owns the attempt; the phase says whether the native side is up.
    Mine(u32),
    /// Another thread owns it. The reference is taken here, before anything can delay this thread, because an outcome
    /// belongs to its attempt.
    Theirs(Shared<Attempt>),
    /// Every call returns this.
    Over(Failure),
}

/// Why a step under the lock could not be taken: memory must be brought from outside it.
pub(super) enum Lack {
    Gate,
    Block(Full),
}

/// A once that is not ready, locked.
pub(super) struct Locked<'a>(pub(super) Guard<'a, Body>);

impl Locked<'_> {
    pub(super) fn standing(&self) -> Standing {
        let phase = self.0.payload();
        match (&self.0.gate, phase) {
            (None, _) | (_, word::FRESH) => Standing::Fresh,
            (Some(gate), word::INITIALIZING | word::DRAINING) => {
                let attempt = &gate.running().attempt;
                if attempt.owner() == thread::id() {
                    Standing::Mine(phase)
                } else {
                    Standing::Theirs(attempt.clone())
                }
            }
            (Some(gate), _) => Standing::Over(
                gate.final_error
                    .clone()
                    .unwrap_or(Failure::Bare(abi::LAZY_E_INVALID)),
            ),
        }
    }

    /// Appends a request; the drain runs it.
    pub(super) fn append(&mut self, entry: Entry, spare: &mut Spare) -> Result<u64, Lack> {
        let gate = self.0.gate.as_mut().ok_or(Lack::Gate)?;
        gate.queue.append(entry, spare).map_err(Lack::Block)
    }

    pub(super) fn gate(&mut self) -> &mut Gate {
        self.0
            .gate
            .as_mut()
            .expect("a running attempt keeps the gate")
    }

    /// Takes the gate out if the once may own nothing now. The caller drops it after every lock.
    #[must_use]
    pub(super) fn take_unneeded(
        &mut self,
        registry: &mut registry::Held<'_>,
        phase: u32,
    ) -> Option<Box<Gate>> {
        let mut gate = self.0.gate.take_if(|gate| !gate.is_needed(phase))?;
        registry.remove(&mut gate.slot);
        Some(gate)
    }
}

impl Gate {
    pub(super) fn running(&self) -> &Running {
        self.running
            .as_ref()
            .expect("an attempt is running in these phases")
    }

    pub(super) fn running_mut(&mut self) -> &mut Running {
        self.running
            .as_mut()
            .expect("an attempt is running in these phases")
    }
}

impl Once {
    /// Sees to it that the once has a gate, unless it is ready. Allocates, so no lock is held when it begins.
    pub(super) fn furnish(&self) -> Result<(), Failure> {
        let bound = match self.lock() {
            Some(locked) if locked.0.gate.is_none() => locked.0.config,
            _ => return Ok(()),
        };
        // Declared before the locks, so that a gate that was not needed is freed after them.
        let mut gate = Some(try_box(Gate::new(
            Config::copy(bound)?.unwrap_or_default(),
        ))?);
        loop {
            registry::reserve()?;
            let mut registry = registry::lock();
            let Some(mut locked) = self.lock() else {
                return Ok(());
            };
            if locked.0.gate.is_some() {
                return Ok(());
            }
            // Another thread may have taken the place that was reserved.
            if let Some(slot) = registry.add(self) {
                locked.0.gate = gate.take();
                locked.gate().slot = slot;
                return Ok(());
            }
        }
    }

    /// Copies a configuration into the once, before its first attempt.
    pub(crate) fn configure(&self, config: Config) -> Result<(), Failure> {
        let mut offered = Some(try_box(Gate {
            configured: true,
            ..Gate::new(config)
        })?);
        loop {
            registry::reserve()?;
            let mut registry = registry::lock();
            let verdict = self.with_body(&mut registry, |phase, body, registry| {
                let ours = offered.as_mut().expect("offered until it is taken");
                match &mut body.gate {
                    Some(gate) if gate.config == ours.config => Verdict::Done,
                    gate if phase != word::FRESH || body.counters.is_touched() => {
                        Verdict::TooLate(gate.as_ref().and_then(|gate| gate.latest.clone()))
                    }
                    Some(gate) => {
                        gate.configured = true;
                        std::mem::swap(&mut gate.config, &mut ours.config);
                        Verdict::Done
                    }
                    gate => match registry.add(self) {
                        Some(slot) => {
                            ours.slot = slot;
                            *gate = offered.take();
                            Verdict::Done
                        }
                        None => Verdict::Again,
                    },
                }
            });
            drop(registry);
            match verdict {
                Verdict::Done => return Ok(()),
                Verdict::Again => {}
                Verdict::TooLate(latest) => return Err(self.too_late(latest)),
            }
        }
    }

    /// Forgets every pointer of its configuration, in any phase: the code behind them may be unloaded.
    pub(crate) fn withdraw(&self) {
        let mut registry = registry::lock();
        self.with_body(&mut registry, |_, body, _| {
            body.config = Foreign::NULL;
            if let Some(gate) = &mut body.gate {
                gate.config.initialize = None;
            }
        });
    }

    /// Its name for messages. No lock may be held.
    pub(super) fn name(&self) -> CString {
        let mut registry = registry::lock();
        let (known, bound) = self.with_body(&mut registry, |_, body, _| {
            (
                body.gate.as_ref().map(|gate| gate.config.name.clone()),
                body.config,
            )
        });
        drop(registry);
        let name = known.unwrap_or_else(|| {
            Config::copy(bound)
                .ok()
                .flatten()
                .and_then(|config| config.name)
        });
        name.map(|name| CString::clone(&name)).unwrap_or_default()
    }
}

enum Verdict {
    Done,
    Again,
    TooLate(Option<Shared<Attempt>>),
}

/// A once in the text of a message.
pub(super) fn called(name: &CStr) -> String {
    if name.is_empty() {
        "an unnamed once".into()
    } else {
        format!("once \"{}\"", name.to_string_lossy())
    }
}
