//! `lazy_init`: own the attempt, or wait for the thread that does.

use super::attempt::{Attempt, Outcome, Progress};
use super::config::OnFailure;
use super::gate::Standing;
use super::{Once, word};
use crate::error::Failure;
use crate::sys::callback::Callback;
use crate::sys::clock::Deadline;
use crate::sys::site::Origin;

/// What a call that initializes asks for.
pub(crate) struct Start {
    /// In place of the configured initializer.
    pub(crate) instead: Option<Callback>,
    pub(crate) origin: Origin,
    /// How long to wait for another thread's attempts, in all; `None` for what is configured.
    pub(crate) limit_ns: Option<u64>,
}

/// Initializes a once that was not READY at the first look.
pub(crate) fn init(once: &Once, start: &Start) -> Result<Progress, Failure> {
    let mut spare = None;
    let mut limit = start.limit_ns.map(Deadline::after);
    loop {
        let Some(mut locked) = once.lock() else {
            return Ok(Progress::Done);
        };
        match locked.standing() {
            Standing::Mine(_) => return Ok(Progress::InProgress),
            Standing::Over(failure) => return Err(failure),
            Standing::Theirs(attempt) => {
                let config = &locked.gate().config;
                let retries = config.on_failure == OnFailure::Retry;
                let limit = *limit.get_or_insert_with(|| config.deadline());
                drop(locked);
                match once.wait_for(&attempt, limit)? {
                    Outcome::Ready => return Ok(Progress::Done),
                    Outcome::Void => {}
                    Outcome::Failed(_) if retries => {}
                    Outcome::Failed(failure) => return Err(failure.clone()),
                }
            }
            Standing::Fresh => {
                debug_assert_eq!(locked.0.payload(), word::FRESH);
                // Both are allocated outside the lock, so each may be missing once.
                match spare.take() {
                    Some(attempt) if locked.0.gate.is_some() => {
                        return locked.claim(once, attempt, start.instead).run();
                    }
                    attempt => {
                        drop(locked);
                        once.furnish()?;
                        spare = Some(attempt.map_or_else(|| Attempt::try_new(start.origin), Ok)?);
                    }
                }
            }
        }
    }
}
