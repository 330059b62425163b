//! Permits: an initializing thread lends its right to re-enter to threads that work for it.

use super::attempt::Attempt;
use super::failure::called;
use super::gate::Standing;
use super::{Once, graph, registry, word};
use crate::error::{Error, Facts, Failure};
use crate::sys::memory::Shared;
use crate::sys::noexcept::noexcept;
use crate::sys::text::text;
use crate::sys::thread;

/// Names an attempt, for as long as somebody keeps it: once and attempt may both be gone by then, so nothing here is a
/// pointer that is followed.
#[derive(Clone, Copy)]
pub(crate) struct Permit {
    place: u64,
    once: u64,
    attempt: u64,
    since_ns: u64,
}

impl Permit {
    pub(crate) fn from_words([place, once, attempt, since_ns]: [u64; 4]) -> Self {
        Self {
            place,
            once,
            attempt,
            since_ns,
        }
    }

    pub(crate) fn words(self) -> [u64; 4] {
        [self.place, self.once, self.attempt, self.since_ns]
    }

    fn is_of(&self, attempt: &Attempt) -> bool {
        u64::from(attempt.number) == self.attempt && attempt.since_ns == self.since_ns
    }

    /// The attempt, if it is still running.
    fn attempt(&self) -> Option<Shared<Attempt>> {
        let registry = registry::lock();
        let once = registry.at(usize::try_from(self.place).ok()?)??;
        let once = once.get();
        if once.address() != self.once {
            return None;
        }
        let mut locked = once.lock_gate()?;
        if locked.phase() == word::CLOSED {
            return None;
        }
        let attempt = locked.gate().running.as_ref()?.attempt.clone();
        drop(locked);
        self.is_of(&attempt).then_some(attempt)
    }

    /// This thread counts as the initializing one from here.
    pub(crate) fn enter(&self) -> Result<(), Failure> {
        let attempt = self.attempt().ok_or_else(|| {
            not_found("the attempt of this permit has ended, or it is no permit of a running one")
        })?;
        graph::hold(attempt)?;
        thread::owns(1);
        thread::run_at_exit(crate::exit::thread_exit);
        Ok(())
    }

    /// And no longer.
    pub(crate) fn leave(&self) -> Result<(), Failure> {
        if !graph::give_back(|attempt| self.is_of(attempt)) {
            return Err(not_found("this thread has not entered that permit"));
        }
        thread::owns(-1);
        Ok(())
    }
}

fn not_found(text: &str) -> Failure {
    Failure::new(Error::NotFound(text!("{text}")), c"", Facts::default())
}

impl Once {
    fn address(&self) -> u64 {
        std::ptr::from_ref(self).addr() as u64
    }

    /// The permit of the attempt that this thread is inside.
    pub(crate) fn permit(&self) -> Result<Permit, Failure> {
        let permit = self.lock_gate().and_then(|mut locked| {
            let Standing::Mine(_) = locked.standing() else {
                return None;
            };
            let gate = locked.gate();
            let attempt = &gate.running().attempt;
            Some(Permit {
                place: gate.slot.index(),
                once: self.address(),
                attempt: attempt.number.into(),
                since_ns: attempt.since_ns,
            })
        });
        permit.ok_or_else(|| {
            let name = self.name();
            let text = text!(
                "this thread is not inside an attempt of {}: only the initializing thread can lend its permit",
                called(&name)
            );
            Failure::new(Error::Invalid(text), &name, Facts::default())
        })
    }
}

/// The end of this thread: what it still holds is given back.
pub(crate) fn forget_thread() {
    if thread::owns_any() {
        noexcept(super::abandoned::end_own);
        while graph::give_back(|_| true) {
            thread::owns(-1);
        }
    }
}
