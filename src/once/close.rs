//! The end of a once: nobody waits any more, nothing queued runs, and it owns nothing.

use super::failure::called;
use super::queue::Work;
use super::{Once, registry, word};
use crate::error::Failure;
use crate::once::attempt::Outcome;
use crate::sys::sized::Foreign;
use crate::sys::text::text;
use crate::sys::{clock, order};

impl Once {
    /// Closes the once, in any phase, without waiting for its attempt: the running callback finishes, and its caller is told.
    pub(crate) fn close(&self) -> Result<(), Failure> {
        let name = self.name();
        let failure = Failure::closed(self, &name);
        let mut error = Some(failure.clone());
        let now = clock::now_ns();
        let mut registry = registry::lock();
        let closed = self.with_body(&mut registry, |phase, body, registry| {
            if body.gate.as_ref().is_some_and(|gate| gate.named) {
                return None;
            }
            let mut attempt = None;
            let mut plain = None;
            if let Some(gate) = body.gate.as_mut()
                && *phase != word::CLOSED
            {
                if let Some(running) = &gate.running {
                    attempt = Some(running.attempt.clone());
                    if let Some(Work::Plain(block)) = &running.work {
                        block.stop();
                    }
                }
                std::mem::swap(&mut gate.final_error, &mut error);
                gate.history.since_ns = now;
                gate.config.forget_pointers();
                plain = Some(gate.queue.take_plain());
            }
            body.config = Foreign::NULL;
            *phase = word::CLOSED;
            Some((attempt, plain, body.take_unneeded(registry, *phase)))
        });
        let running = closed.as_ref().and_then(|(attempt, ..)| attempt.as_ref());
        let running = running.filter(|_| order::tell_waiters());
        let wakes = running.map(|attempt| attempt.outcome.keep(Outcome::Failed(failure)));
        drop(registry);
        drop(wakes);
        if closed.is_none() {
            return Err(Failure::invalid(text!(
                "{} belongs to the whole process and cannot be closed: use lazy_once_cancel_owner and lazy_once_reset",
                called(&name)
            )));
        }
        self.withdraw_all();
        Ok(())
    }
}
