//! Sleeping until somebody else's attempt ends.

use super::attempt::{Attempt, Outcome};
use super::failure::called;
use super::queue::Work;
use super::{Once, word};
use crate::error::{Error, Facts, Failure, since};
use crate::sys::clock::{self, Limit};
use crate::sys::memory::Shared;
use crate::sys::site::Origin;
use crate::sys::text::text;
use crate::sys::thread::Mark;
use std::sync::atomic::Ordering::Relaxed;
#[cfg(not(loom))]
use {super::graph::Waiting, crate::sys::thread};

impl Once {
    /// The outcome of the attempt that was found running, whatever has happened to the once since.
    pub(super) fn wait_for<'a>(
        &self,
        attempt: &'a Shared<Attempt>,
        limit: &Limit,
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
        self.wait_uncounted(attempt, limit)
    }

    /// The same for one that is not waiting to use the once.
    pub(super) fn wait_uncounted<'a>(
        &self,
        attempt: &'a Shared<Attempt>,
        limit: &Limit,
    ) -> Result<&'a Outcome, Failure> {
        let began = clock::now_ns();
        #[cfg(not(loom))]
        let _edge = if limit.is_none() && thread::owns_any() {
            Some(Waiting::begin(attempt)?)
        } else {
            None
        };
        Mark::during(attempt.key(), || self.wait_on(&attempt.outcome, limit))?
            .ok_or_else(|| self.timed_out(attempt, began))
    }

    /// The attempt has not ended by the time that a wait, begun then, had to.
    pub(super) fn timed_out(&self, attempt: &Attempt, began: u64) -> Failure {
        let (phase, origin) = match self.lock_gate() {
            Some(mut locked) => {
                let running = locked.gate().running.as_ref();
                let origin =
                    running.and_then(|running| running.work.as_ref().and_then(Work::origin));
                (locked.phase(), origin)
            }
            None => (word::READY, None),
        };
        let name = self.name();
        let site = origin.map(Origin::resolve);
        let doing = match (phase, &site) {
            (word::INITIALIZING, _) => text!("initializing"),
            (word::DRAINING, Some(site)) => {
                text!("draining: it runs a callback queued by {site}")
            }
            (word::DRAINING, None) => text!("draining"),
            _ => text!("done by now"),
        };
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
