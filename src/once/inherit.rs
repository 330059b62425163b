//! A once around `fork`. Every function here runs inside a fork handler: no allocation, no user code.

use super::attempt::Attempt;
use super::gate::{Gate, Running};
use super::queue::Work;
use super::{Once, word};

impl Once {
    /// Before the fork: takes the lock, so that what is behind it is whole in the child. A once that cannot be locked stays
    /// as it is for as long as the handler holds the registry.
    pub(crate) fn hold_for_fork(&self) {
        self.word.raw().acquire::<false>(word::LOCKABLE);
    }

    /// After the fork, in the parent.
    pub(crate) fn let_go_after_fork(&self) {
        if self.is_lockable() {
            self.word.raw().let_go();
        }
    }

    fn is_lockable(&self) -> bool {
        self.word.raw().payload() & word::LOCKABLE != 0
    }

    /// After the fork, in the child, whose only thread was `before` in the parent. An attempt of its own goes on; one of
    /// another thread is nobody's, so the once is FRESH again and its queue whole, the running request first. False if nothing
    /// in this process will ever need the once.
    pub(crate) fn inherit(&self, before: u64) -> bool {
        if !self.is_lockable() {
            return self.inherit_ready(before);
        }
        let mut stays = true;
        self.word.remake(|payload, body| {
            let Some(gate) = &mut body.gate else {
                return payload;
            };
            let mut phase = payload & !word::LOCKABLE;
            if gate.lose_attempt(before) && phase != word::CLOSED {
                phase = word::FRESH;
            }
            gate.queue.inherit(before);
            if phase == word::CLOSED && gate.running.is_none() && gate.queue.is_empty() {
                // Whoever would have freed it does not exist here.
                std::mem::forget(body.gate.take());
                stays = false;
                return phase;
            }
            phase | word::LOCKABLE
        });
        stays
    }

    /// One that is ready, and has a gate because it is configured, or because something is leaving its queue.
    fn inherit_ready(&self, before: u64) -> bool {
        let Some(mut body) = self.word.settled(word::LOCKABLE) else {
            return true;
        };
        let phase = body.payload();
        let Some(gate) = &mut body.gate else {
            return true;
        };
        gate.queue.inherit(before);
        if gate.is_needed(phase) {
            return true;
        }
        // Its memory is left to whoever is gone.
        std::mem::forget(body.gate.take());
        false
    }
}

impl Gate {
    /// True if there was an attempt, and its owner does not exist any more.
    fn lose_attempt(&mut self, before: u64) -> bool {
        match self.running.take() {
            Some(running) if running.attempt.owner() == before => {
                running.attempt.follow_owner();
                self.running = Some(running);
                false
            }
            Some(Running {
                mut attempt, work, ..
            }) => {
                if attempt.outcome.get().is_none() {
                    // The other one is `latest`.
                    Attempt::make_void(&mut attempt, 2);
                }
                if let Some(Work::Plain(mut block)) = work {
                    block.forget_others(1);
                    // A block of which everything has run is freed where the next one is.
                    std::mem::forget(self.queue.restore(block));
                }
                self.queue.end_attempt();
                true
            }
            None => false,
        }
    }
}
