//! A once around `fork`. Every function here runs inside a fork handler: no allocation, no user code.

use super::attempt::Attempt;
use super::config::OnFork;
use super::gate::{Body, Gate, Running};
use super::queue::{Block, Request, Work};
use super::{Once, registry, word};
use crate::sys::memory::Shared;
use crate::sys::thread::Mark;
use crate::sys::{clock, process, thread};

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

    /// In the child, the block that this thread was running and runs no more of.
    pub(super) fn leave_block(&self, block: Shared<Block>, position: usize) {
        match self.lock_gate() {
            Some(mut locked) => locked.gate().queue.leave_block(block, position),
            // The queue had it, and is gone.
            None => std::mem::forget(block),
        }
    }

    /// The same of a request that it was about to run.
    pub(super) fn leave_unbegun(&self, request: &Request) {
        if let Some(mut locked) = self.lock_gate() {
            locked.gate().queue.put_back(request);
        }
    }

    fn is_lockable(&self) -> bool {
        self.word.raw().payload() & word::LOCKABLE != 0
    }

    /// The same as `inherit` in a child that no handler has seen, where a thread that is gone may have been in the middle of a change of
    /// this once, of its word or of its place in the registry.
    pub(crate) fn recover(&self, before: u64, slot: registry::Slot) -> bool {
        let is_torn = self.word.raw().is_taken();
        self.word.remake(|payload, body| {
            let mut phase = payload & !word::LOCKABLE;
            let mut is_running = false;
            if let Some(gate) = &mut body.gate {
                gate.slot = slot;
                if is_torn {
                    gate.lose_queue(before);
                }
                is_running = gate.running.is_some();
            }
            if !is_running && matches!(phase, word::INITIALIZING | word::DRAINING) {
                phase = word::FRESH;
            }
            body.payload_in(phase)
        });
        self.inherit(before)
    }

    /// After the fork, in the child, whose only thread was `before` in the parent. False if nothing in this process will ever
    /// need the once.
    pub(crate) fn inherit(&self, before: u64) -> bool {
        let is_preparing = Mark::is_set(self.prepare_key());
        if let Some(mut body) = self.word.settled(word::LOCKABLE) {
            let was = body.payload();
            let (phase, stays) = body.inherit(was, before, is_preparing);
            if phase != was {
                Self::shut(body, phase);
            }
            return stays;
        }
        let mut stays = true;
        self.word.remake(|payload, body| {
            let phase = payload & !word::LOCKABLE;
            let (phase, stays_here) = body.inherit(phase, before, is_preparing);
            stays = stays_here;
            if stays { phase | word::LOCKABLE } else { phase }
        });
        stays
    }
}

/// What becomes of a once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// As in the parent, but for an attempt of a thread that does not exist any more.
    Same,
    Fresh,
    Forked,
}

impl Body {
    /// The phase in the child, and whether the once still needs its gate. An attempt of the forking thread itself goes on where the once
    /// stays the same; any other is nobody's, and its queue is whole, the running request first.
    fn inherit(&mut self, phase: u32, before: u64, is_preparing: bool) -> (u32, bool) {
        let Some(gate) = &mut self.gate else {
            return (phase, false);
        };
        let began = self.counters.is_touched() || gate.prepared || gate.preparing > 0;
        let fate = match gate.config.on_fork {
            _ if matches!(phase, word::CLOSED | word::FORKED) => Fate::Same,
            OnFork::Poison if began => Fate::Forked,
            OnFork::Reset => Fate::Fresh,
            OnFork::Keep | OnFork::Poison => Fate::Same,
        };
        let lost = gate.lose_attempt(before, fate == Fate::Same);
        if lost || fate == Fate::Forked {
            gate.history.since_ns = clock::now_ns();
        }
        gate.preparing = is_preparing.into();
        gate.queue.inherit(before);
        let phase = match fate {
            Fate::Same if lost && phase != word::CLOSED => word::FRESH,
            Fate::Same => phase,
            Fate::Fresh => {
                // Others may have been reading it.
                std::mem::forget(gate.renew());
                self.counters.begin_generation();
                word::FRESH
            }
            Fate::Forked => {
                gate.forked_from = process::parent();
                std::mem::forget(gate.final_error.take());
                word::FORKED
            }
        };
        let stays = gate.is_needed(phase);
        if !stays {
            // Its memory is left to whoever is gone; its storage may be a stack that is gone, too.
            std::mem::forget(self.gate.take());
        }
        (phase, stays)
    }
}

impl Gate {
    /// Somebody was in the middle of a change of it. What the forking thread itself runs is whole; anything else may be half of an attempt,
    /// which is not looked at.
    fn lose_queue(&mut self, before: u64) {
        self.queue.lose();
        if !thread::owns_any() {
            std::mem::forget(self.running.take());
        }
        if let Some(running) = &mut self.running
            && running.attempt.owner() != before
        {
            std::mem::forget(running.work.take());
        }
        self.lost_queue = true;
    }

    /// True if there was an attempt, and it is nobody's any more.
    fn lose_attempt(&mut self, before: u64, keeps_own: bool) -> bool {
        let Some(running) = self.running.take() else {
            return false;
        };
        let is_own = running.attempt.owner() == before;
        if is_own && keeps_own {
            running.attempt.follow_owner();
            self.running = Some(running);
            return false;
        }
        let Running {
            mut attempt, work, ..
        } = running;
        if attempt.outcome.get().is_none() {
            if is_own {
                attempt.take_away();
            } else {
                // The other one is `latest`.
                Attempt::make_void(&mut attempt, 2);
            }
        }
        match work {
            Some(Work::Plain(mut block)) => {
                if is_own {
                    Block::take_away(&mut block);
                } else {
                    block.forget_others(1);
                }
                // A block of which everything has run is freed where the next one is.
                std::mem::forget(self.queue.restore(block));
            }
            // The same: until then it is on its way out.
            Some(Work::One(request)) if is_own => self.queue.release(&request, before),
            _ => {}
        }
        self.queue.end_attempt();
        true
    }
}
