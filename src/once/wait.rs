//! Sleeping until somebody else's attempt ends.

use super::attempt::{Attempt, Outcome};
use super::gate::called;
use super::{Once, word};
use crate::error::{Error, Facts, Failure, since};
use crate::sys::clock::{self, Deadline};
use crate::sys::memory::Shared;
use crate::sys::thread::Mark;
#[cfg(not(loom))]
use {super::graph::Waiting, crate::sys::thread};

impl Once {
    /// The outcome of the attempt that was found running, whatever has happened to the once since.
    pub(super) fn wait_for<'a>(
        &self,
        attempt: &'a Shared<Attempt>,
        limit: Deadline,
    ) -> Result<&'a Outcome, Failure> {
        let began = clock::now_ns();
        #[cfg(not(loom))]
        let _edge = match limit {
            Deadline::Never if thread::owns_any() => Some(Waiting::begin(attempt)?),
            _ => None,
        };
        Mark::during(attempt.key(), || attempt.outcome.wait(limit))
            .ok_or_else(|| self.timed_out(attempt, began))
    }

    fn timed_out(&self, attempt: &Attempt, began: u64) -> Failure {
        let (phase, request) = match self.lock() {
            Some(locked) => {
                let running = locked
                    .0
                    .gate
                    .as_ref()
                    .and_then(|gate| gate.running.as_ref());
                (
                    locked.0.payload(),
                    running.and_then(|running| running.block.as_ref()?.running()),
                )
            }
            None => (word::READY, None),
        };
        let name = self.name();
        let site = request.map(|(entry, _)| entry.origin().resolve());
        let doing = match (phase, &site) {
            (word::INITIALIZING, _) => "initializing".into(),
            (word::DRAINING, Some(site)) => {
                format!("draining: it runs a callback queued by {site}")
            }
            (word::DRAINING, None) => "draining".into(),
            _ => "done by now".into(),
        };
        let init_site = attempt.origin.resolve();
        let text = format!(
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
