//! Back to fresh, from any phase but CLOSED.

use super::attempt::{Attempt, Progress};
use super::{Once, host, registry, word};
use crate::abi;
use crate::error::Failure;
use crate::sys::clock::Limit;
use crate::sys::memory::Shared;
use crate::sys::site::Origin;
use crate::sys::sized::Foreign;

/// What a look at the once came to.
enum Step {
    Done,
    Inside,
    Wait(Shared<Attempt>, u64, Foreign<abi::lazy_host>),
    Closed(Option<Failure>),
}

impl Once {
    /// Makes the once fresh, its queue kept, in the same step in which it sees that no attempt is running; for a call from there.
    pub(crate) fn reset(&self, origin: Origin) -> Result<Progress, Failure> {
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
                            let config = &gate.config;
                            Step::Wait(attempt.clone(), config.limit_ns(), config.host)
                        };
                        return (step, None);
                    }
                    _ => {}
                }
                body.counters.begin_generation();
                let mut error = None;
                if let Some(gate) = &mut body.gate {
                    error = gate.renew();
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
                Step::Closed(error) => {
                    return Err(error.unwrap_or_else(|| Failure::closed(self, c"")));
                }
                Step::Wait(attempt, limit_ns, host) => {
                    let limit = limit.get_or_insert_with(|| Limit::new(limit_ns));
                    self.attached(host::of(host)?, origin, || {
                        self.wait_uncounted(&attempt, limit, origin).map(drop)
                    })?;
                }
            }
        }
    }
}
