//! How an attempt ends: READY, or a failure that leaves a once that works.

use super::attempt::Outcome;
use super::config::OnFailure;
use super::drain::{Ownership, Stage};
use super::queue::Work;
use super::{registry, word};
use crate::abi;
use crate::error::Failure;
use crate::name::Subject;
use crate::sys::{clock, process, thread};
use crate::trace;

/// How an attempt to publish READY came out.
pub(super) enum End {
    Ready,
    /// Something was appended in the meantime.
    More,
    /// Something has failed, or the once is closed.
    Failed,
    /// The attempt has been taken away.
    Void,
}

impl Ownership<'_> {
    /// DRAINING to READY, if there is still nothing left to run. After the exchange the once is touched no more.
    pub(super) fn publish(&mut self) -> End {
        let now = clock::now_ns();
        let mut registry = registry::lock();
        let (end, unneeded) = self.once.with_body(&mut registry, |phase, body, registry| {
            let gate = body.gate.as_mut().filter(|gate| gate.runs(&self.attempt));
            let Some(gate) = gate else {
                return (End::Void, None);
            };
            if *phase == word::CLOSED {
                return (End::Failed, None);
            }
            if gate.queue.has_next() {
                return (End::More, None);
            }
            if self.first.is_some() {
                return (End::Failed, None);
            }
            let running = gate.running.take();
            gate.history.since_ns = now;
            gate.history.init_ns = now.saturating_sub(self.attempt.since_ns);
            gate.history.init_pid = process::id();
            let memory = gate.queue.take_memory();
            *phase = word::READY;
            let unneeded = body.take_unneeded(registry, word::READY);
            self.stage = Stage::Ended;
            thread::owns(-1);
            (End::Ready, Some((running, memory, unneeded)))
        });
        let is_ready = matches!(end, End::Ready);
        let wakes = is_ready.then(|| self.attempt.outcome.keep(Outcome::Ready));
        drop(registry);
        drop(wakes);
        if is_ready {
            self.tell_end(word::READY, abi::LAZY_OK);
        }
        drop(unneeded);
        end
    }

    /// Ends the attempt as failed, the queue kept: what was running first, then what has not run. The failure is another
    /// one if the once has been closed.
    pub(super) fn end(&mut self, failure: Failure) -> Failure {
        let Some(ran) = self.give_back() else {
            return self.leave_void();
        };
        let now = clock::now_ns();
        let failure = self.first.take().unwrap_or(failure);
        let mut registry = registry::lock();
        let ended = self.once.with_body(&mut registry, |phase, body, registry| {
            let gate = body.gate.as_mut().filter(|gate| gate.runs(&self.attempt))?;
            self.stage = Stage::Ended;
            thread::owns(-1);
            let running = gate.running.take();
            let closed = (*phase == word::CLOSED).then(|| gate.final_error.clone());
            let mut rest = None;
            if closed.is_some() {
                rest = Some(gate.queue.take_plain());
            } else if gate.config.on_failure == OnFailure::Sticky {
                gate.final_error = Some(failure.clone());
                *phase = word::FAILED;
            } else {
                *phase = word::FRESH;
            }
            gate.history.since_ns = now;
            let unneeded = body.take_unneeded(registry, *phase);
            Some((closed, *phase, (running, rest, unneeded)))
        });
        let Some((closed, phase, unneeded)) = ended else {
            drop(registry);
            return self.leave_void();
        };
        let (failure, wakes) = match closed {
            // Whoever closed it has told the waiters.
            Some(closed) => (closed.unwrap_or(failure), None),
            None => {
                let outcome = Outcome::Failed(failure.clone());
                (failure, Some(self.attempt.outcome.keep(outcome)))
            }
        };
        drop(registry);
        drop((wakes, ran, unneeded));
        self.tell_end(phase, failure.status());
        failure
    }

    /// A fork has taken the attempt away, and the policy of the once has decided what becomes of that; or a call of this thread's has ended it,
    /// from a stack inside the thread's own, which looks like a `longjmp`.
    pub(super) fn leave_void(&mut self) -> Failure {
        if let Some(request) = self.current.take() {
            self.leave_in_child(&request);
        }
        self.stage = Stage::Ended;
        thread::owns(-1);
        let failure = match self.attempt.outcome.get() {
            Some(Outcome::Failed(failure)) => failure.clone(),
            _ => self.void(),
        };
        self.tell_end(self.once.phase(), failure.status());
        failure
    }

    /// Of this attempt, which nobody waits for any more.
    #[inline(always)]
    fn tell_end(&self, phase: u32, status: abi::lazy_status) {
        if trace::is_on() {
            self.attempt.report(phase, Some(status));
        }
    }

    /// Puts what has not run back into the queue, under the once's own lock: that takes as long as the queue is.
    fn give_back(&self) -> Option<impl Sized + use<>> {
        let mut locked = self.locked()?;
        let gate = locked.gate();
        let ran = match gate.running_mut().work.take() {
            Some(Work::Plain(block)) => gate.queue.restore(block),
            _ => None,
        };
        gate.queue.end_attempt();
        Some(ran)
    }
}
