//! Attempts whose frames are gone: a callback was left by `longjmp`, which is forbidden, or its thread has ended without unwinding.

use super::drain::Ownership;
use super::failure::called;
use super::queue::Work;
use super::{Once, registry, word};
use crate::error::{Error, Facts, Failure};
use crate::sys::text::text;
use crate::sys::{stack, thread};

impl Once {
    /// Ends an attempt of this thread's that this call cannot be inside of, and says so.
    #[inline(always)]
    pub(crate) fn check_frames(&self) -> Result<(), Failure> {
        if thread::owns_any() {
            self.check_own()
        } else {
            Ok(())
        }
    }

    #[cold]
    fn check_own(&self) -> Result<(), Failure> {
        let Some(left) = self.abandoned(stack::is_gone) else {
            return Ok(());
        };
        let name = self.name();
        let attempt = left.attempt.clone();
        let text = text!(
            "a callback of {} was left by longjmp, which is forbidden: attempt {}, started at {}, is ended as failed, with what was \
             queued kept. Call again to try again",
            called(&name),
            attempt.number,
            attempt.origin().resolve()
        );
        // Ends it as failed.
        drop(left);
        let facts = Facts {
            init_site: attempt.origin().resolve(),
            owner_thread: attempt.owner(),
            attempt: attempt.number,
            ..Facts::default()
        };
        Err(Failure::new(Error::Deadlock(text), &name, facts))
    }

    /// The attempt of this thread's, if the frame that runs it is gone: this is its owner now.
    fn abandoned(&self, is_gone: impl Fn(usize) -> bool) -> Option<Ownership<'_>> {
        let mut locked = self.lock_gate()?;
        let phase = locked.phase();
        let gate = locked.gate();
        let policy = gate.config.on_deferred_failure;
        let running = gate.running.as_mut()?;
        if running.attempt.owner() != thread::id() || !is_gone(running.attempt.frame()) {
            return None;
        }
        let attempt = running.attempt.clone();
        let mut is_released = false;
        match &mut running.work {
            // The frame that ran it had it, too.
            Some(Work::Plain(block)) => block.forget_others(1),
            Some(Work::One(request)) => {
                is_released = gate.queue.is_leaving(request);
            }
            None => {}
        }
        let is_queue = phase == word::DRAINING || gate.native_done;
        Some(Ownership::adopt(
            self,
            attempt,
            policy,
            is_queue,
            is_released,
        ))
    }
}

/// The end of this thread: what it owns ends as failed.
pub(super) fn end_own() {
    let mut place = 0;
    while thread::owns_any() {
        let registry = registry::lock();
        let Some(once) = registry.at(place) else {
            return;
        };
        // Its storage is there: the call that owns the attempt has not returned.
        let left = once
            .as_ref()
            .and_then(|once| once.get().abandoned(|_| true));
        drop(registry);
        drop(left);
        place += 1;
    }
}
