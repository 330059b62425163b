//! `lazy_init`: own the attempt, or wait for the thread that does.

use super::attempt::{Attempt, Outcome, Progress};
use super::config::OnFailure;
use super::gate::Standing;
use super::{Once, word};
use crate::error::Failure;
use crate::sys::callback::Callback;
use crate::sys::site::Origin;

/// Initializes a once that was not READY at the first look, with `instead` in place of its initializer if there is one.
pub(crate) fn init(
    once: &Once,
    instead: Option<Callback>,
    origin: Origin,
) -> Result<Progress, Failure> {
    let mut spare = None;
    loop {
        let Some(mut locked) = once.lock() else {
            return Ok(Progress::Done);
        };
        match locked.standing() {
            Standing::Mine(_) => return Ok(Progress::InProgress),
            Standing::Over(failure) => return Err(failure),
            Standing::Theirs(attempt) => {
                let config = &locked.gate().config;
                let (retries, limit) = (config.on_failure == OnFailure::Retry, config.deadline());
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
                        return locked.claim(once, attempt, instead).run();
                    }
                    attempt => {
                        drop(locked);
                        once.furnish()?;
                        spare = Some(attempt.map_or_else(|| Attempt::try_new(origin), Ok)?);
                    }
                }
            }
        }
    }
}
