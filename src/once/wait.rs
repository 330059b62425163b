//! Sleeping until somebody else's attempt ends.

use super::attempt::{Attempt, Outcome};
use super::failure::called;
use super::queue::Work;
use super::{Once, word};
use crate::error::{Error, Facts, Failure, since};
use crate::sys::clock::{self, Limit};
use crate::sys::memory::Shared;
use crate::sys::site::{Origin, Place};
use crate::sys::text::{Text, append, text};
use crate::sys::thread::Mark;
use crate::trace::{Span, What};
use std::sync::atomic::Ordering::Relaxed;
#[cfg(not(loom))]
use {super::graph::Waiting, crate::sys::thread};

impl Once {
    /// The outcome of the attempt that was found running, whatever has happened to the once since; for a call from there.
    pub(super) fn wait_for<'a>(
        &self,
        attempt: &'a Shared<Attempt>,
        limit: &Limit,
        origin: Origin,
    ) -> Result<&'a Outcome, Failure> {
        /// Counts also where a host's hook unwinds.
        struct Counted<'a>(&'a Attempt);
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                self.0.waiters.fetch_sub(1, Relaxed);
            }
        }
        attempt.waiters.fetch_add(1, Relaxed);
        let _counted = Counted(attempt);
        self.wait_uncounted(attempt, limit, origin)
    }

    /// The same for one that is not waiting to use the once.
    pub(super) fn wait_uncounted<'a>(
        &self,
        attempt: &'a Shared<Attempt>,
        limit: &Limit,
        origin: Origin,
    ) -> Result<&'a Outcome, Failure> {
        let span = Span::begin(|| What::wait(self, attempt.origin(), origin));
        let result = self.wait_unseen(attempt, limit, origin);
        span.end(match &result {
            Ok(outcome) => outcome.status(),
            Err(failure) => failure.status(),
        });
        result
    }

    fn wait_unseen<'a>(
        &self,
        attempt: &'a Shared<Attempt>,
        limit: &Limit,
        origin: Origin,
    ) -> Result<&'a Outcome, Failure> {
        let began = clock::now_ns();
        #[cfg(not(loom))]
        let _edge = if limit.is_none() && thread::owns_any() {
            Some(Waiting::begin(attempt)?)
        } else {
            None
        };
        Mark::during(attempt.key(), || {
            let whom = || self.whom(attempt);
            let lose = || attempt.outcome.lose(attempt.owner(), Outcome::Void);
            self.wait_on(&attempt.outcome, limit, origin, &whom, &lose)
        })?
        .ok_or_else(|| self.timed_out(attempt, began))
    }

    /// The owner of an attempt and what it does, for the warning of a wait.
    #[cold]
    fn whom(&self, attempt: &Attempt) -> Text {
        let (phase, origin, has_initializer) = self.running_now();
        let mut text = text!(
            "thread {} is {} (attempt {}, started {} ago at {}",
            attempt.owner(),
            doing(phase, origin.map(Origin::resolve).as_ref()),
            attempt.number,
            since(attempt.since_ns),
            attempt.origin().resolve()
        );
        if !has_initializer && phase != word::INITIALIZING {
            append!(text, ", no initializer");
        }
        append!(text, ")");
        text
    }

    /// The phase, where the running request comes from, and whether there is an initializer.
    fn running_now(&self) -> (u32, Option<Origin>, bool) {
        let Some(mut locked) = self.lock_gate() else {
            return (word::READY, None, true);
        };
        let gate = locked.gate();
        let running = gate.running.as_ref();
        let origin = running.and_then(|running| running.work.as_ref().and_then(Work::origin));
        let has_initializer = gate.config.initialize.is_some();
        (locked.phase(), origin, has_initializer)
    }

    /// The attempt has not ended by the time that a wait, begun then, had to.
    pub(super) fn timed_out(&self, attempt: &Attempt, began: u64) -> Failure {
        let (phase, origin, _) = self.running_now();
        let name = self.name();
        let site = origin.map(Origin::resolve);
        let doing = doing(phase, site.as_ref());
        let init_site = attempt.origin().resolve();
        let text = text!(
            "waited {} for {}: thread {} is {doing} (attempt {}, started {} ago at {init_site})",
            since(began),
            called(&name),
            attempt.owner(),
            attempt.number,
            since(attempt.since_ns)
        );
        let facts = Facts {
            site: site.unwrap_or_default(),
            init_site,
            owner_thread: attempt.owner(),
            elapsed_ns: clock::now_ns().saturating_sub(attempt.since_ns),
            attempt: attempt.number,
            ..Facts::default()
        };
        Failure::new(Error::Timeout(text), &name, facts)
    }
}

/// What the owner of an attempt does, in that phase.
fn doing(phase: u32, site: Option<&Place>) -> Text {
    match (phase, site) {
        (word::INITIALIZING, _) => text!("initializing"),
        (word::DRAINING, Some(site)) => {
            text!("draining: it runs a callback queued by {site}")
        }
        (word::DRAINING, None) => text!("draining"),
        _ => text!("done by now"),
    }
}
