//! Back to fresh, from any phase but CLOSED.

use super::attempt::{Attempt, Progress};
use super::{Once, registry, word};
use crate::error::Failure;
use crate::once::gate::History;
use crate::sys::clock::Deadline;
use crate::sys::memory::Shared;

/// What a look at the once came to.
enum Step {
    Done,
    Inside,
    Wait(Shared<Attempt>, Deadline),
    Closed(Option<Failure>),
}

impl Once {
    /// Makes the once fresh, its queue kept, in the same step in which it sees that no attempt is running.
    pub(crate) fn reset(&self) -> Result<Progress, Failure> {
        let mut limit = None;
        loop {
            let mut registry = registry::lock();
            let (step, unneeded) = self.with_body(&mut registry, |phase, body, registry| {
                let gate = body.gate.as_mut();
                match (*phase, gate) {
                    (word::CLOSED, gate) => {
                        let error = gate.and_then(|gate| gate.final_error.clone());
                        return (Step::Closed(error), None);
                    }
                    (word::INITIALIZING | word::DRAINING, Some(gate)) => {
                        let attempt = &gate.running().attempt;
                        let step = if Attempt::is_mine(attempt) {
                            Step::Inside
                        } else {
                            Step::Wait(attempt.clone(), gate.config.deadline())
                        };
                        return (step, None);
                    }
                    _ => {}
                }
                body.counters.begin_generation();
                let mut error = None;
                if let Some(gate) = &mut body.gate {
                    gate.native_done = false;
                    gate.history = History::default();
                    error = gate.final_error.take();
                    if gate.named {
                        gate.configured = None;
                    }
                }
                *phase = word::FRESH;
                let gate = body.take_unneeded(registry, *phase);
                (Step::Done, Some((error, gate)))
            });
            drop(registry);
            drop(unneeded);
            match step {
                Step::Done => return Ok(Progress::Done),
                Step::Inside => return Ok(Progress::InProgress),
                Step::Closed(error) => return Err(error.unwrap_or_else(|| Failure::closed(c""))),
                Step::Wait(attempt, deadline) => {
                    self.wait_uncounted(&attempt, *limit.get_or_insert(deadline))?;
                }
            }
        }
    }
}
