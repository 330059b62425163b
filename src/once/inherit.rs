//! A once around `fork`. Every function here runs inside a fork handler: no allocation, no user code.

use super::attempt::Attempt;
use super::gate::Running;
use super::{Once, word};

impl Once {
    /// Before the fork: takes the lock, so that what is behind it is whole in the child. READY is never locked, and stays
    /// READY for as long as the handler holds the registry.
    pub(crate) fn hold_for_fork(&self) {
        self.word.raw().acquire(word::READY);
    }

    /// After the fork, in the parent.
    pub(crate) fn let_go_after_fork(&self) {
        if !self.is_ready() {
            self.word.raw().let_go();
        }
    }

    /// After the fork, in the child, whose only thread was `before` in the parent. An attempt of its own goes on; one of
    /// another thread is nobody's, so the once is FRESH again and its queue whole, the running request first.
    pub(crate) fn inherit(&self, before: u64) {
        if self.is_ready() {
            return;
        }
        self.word.remake(|phase, body| {
            let Some(gate) = &mut body.gate else {
                return phase;
            };
            match gate.running.take() {
                Some(running) if running.attempt.owner() == before => {
                    running.attempt.follow_owner();
                    gate.running = Some(running);
                    phase
                }
                Some(Running { mut attempt, block }) => {
                    // The other one is `gate.latest`.
                    Attempt::make_void(&mut attempt, 2);
                    if let Some(mut block) = block {
                        block.forget_others(1);
                        gate.queue.restore(block);
                    }
                    word::FRESH
                }
                None => phase,
            }
        });
    }
}
