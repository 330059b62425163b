//! Sleeping until somebody else's attempt ends.

use super::attempt::{Attempt, Outcome};
use super::failure::called;
use super::queue::{Request, Work};
use super::{Once, word};
use crate::error::{Error, Facts, Failure, since};
use crate::stay;
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
        let (phase, runs, has_initializer) = self.running_now(attempt);
        let mut text = text!(
            "thread {} is {} (attempt {}, started {} ago at {}",
            attempt.owner(),
            doing(phase, runs.as_ref()),
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

    /// The phase, what the owner of the attempt runs, and whether there is an initializer.
    fn running_now(&self, attempt: &Attempt) -> (u32, Option<Runs>, bool) {
        let Some(mut locked) = self.lock_gate() else {
            return (word::READY, None, true);
        };
        let gate = locked.gate();
        let has_initializer = gate.config.initialize.is_some();
        let work = gate
            .running
            .as_ref()
            .and_then(|running| running.work.as_ref());
        let request = work.and_then(Work::request);
        let origin = work.and_then(Work::origin);
        let phase = locked.phase();
        drop(locked);
        let runs = origin.map(|origin| Runs {
            part: request
                .as_deref()
                .map_or(RUNS, |request| self.part_of(request, attempt.owner())),
            site: origin.resolve(),
        });
        (phase, runs, has_initializer)
    }

    /// What that thread runs of a request.
    pub(super) fn part_of(&self, request: &Request, by: u64) -> &'static str {
        // On a once that has become ready meanwhile, the queue holds what is leaving and nothing else.
        let is_leaving = self
            .lock_gate()
            .is_none_or(|mut locked| locked.gate().queue.is_leaving(request));
        if is_leaving {
            "is inside the drop of a request queued"
        } else if stay::is_describing(std::ptr::from_ref(self).addr(), by) {
            "is inside the describe of a request queued"
        } else {
            RUNS
        }
    }

    /// The attempt has not ended by the time that a wait, begun then, had to.
    pub(super) fn timed_out(&self, attempt: &Attempt, began: u64) -> Failure {
        let (phase, runs, _) = self.running_now(attempt);
        let name = self.name();
        let doing = doing(phase, runs.as_ref());
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
            site: runs.map(|runs| runs.site).unwrap_or_default(),
            init_site,
            owner_thread: attempt.owner(),
            elapsed_ns: clock::now_ns().saturating_sub(attempt.since_ns),
            attempt: attempt.number,
            ..Facts::default()
        };
        Failure::new(Error::Timeout(text), &name, facts)
    }
}

const RUNS: &str = "runs a callback queued";

/// What a thread runs of a request, and where that was handed in.
struct Runs {
    part: &'static str,
    site: Place,
}

/// What the owner of an attempt does, in that phase.
fn doing(phase: u32, runs: Option<&Runs>) -> Text {
    match (phase, runs) {
        (word::INITIALIZING, _) => text!("initializing"),
        (word::DRAINING, Some(Runs { part, site })) => text!("draining: it {part} by {site}"),
        (word::DRAINING, None) => text!("draining"),
        _ => text!("done by now"),
    }
}
