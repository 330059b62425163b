//! `lazy_call`: the decision, and the runs at once.

use super::gate::{Lack, Standing, called};
use super::queue::{Entry, Spare};
use super::{Once, word};
use crate::error::{Error, Facts, Failure, Scope, take_said};
use crate::sys::callback::Callback;
use crate::sys::errno::preserved;
use crate::sys::site::Origin;

/// What the caller of `lazy_call` does now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decision {
    /// Inside its own drain: run the callback, depth-first.
    RunReentrant,
    /// Somebody else has finished in the meantime: run the callback; no lock is held any more.
    RunAfterWait,
    /// The drain runs it.
    Queued,
}

/// The decision of `lazy_call`, for a once that was not READY at the first look. In PyTorch's words:
///
/// ```text
/// if is_initialized():        callable()             # the first look, before this function
/// elif _tls.is_initializing:  callable()             # Mine(DRAINING)
/// else:
///     with _initialization_lock:                     # the lock, or Theirs: wait for the end of the attempt
///         if is_initialized():  run_now = True       # the lock gives None
///         else:                 _queued_calls.append(callable)
///     if run_now:               callable()           # by our caller, after the lock is released
/// ```
pub(crate) fn call(once: &Once, callback: Callback, caller: usize) -> Result<Decision, Failure> {
    let mut spare = Spare::default();
    crate::hooks::before_lock();
    loop {
        let Some(mut locked) = once.lock() else {
            return Ok(Decision::RunAfterWait);
        };
        match locked.standing() {
            Standing::Mine(word::DRAINING) => return Ok(Decision::RunReentrant),
            Standing::Fresh | Standing::Mine(_) => {
                match locked.append(Entry::new(callback, caller), &mut spare) {
                    Ok(_) => return Ok(Decision::Queued),
                    Err(lack) => {
                        drop(locked);
                        bring(once, lack, &mut spare)?;
                    }
                }
            }
            Standing::Theirs(attempt) => {
                let limit = locked.gate().config.deadline();
                drop(locked);
                once.wait_for(&attempt, limit)?;
            }
            Standing::Over(failure) => return Err(failure),
        }
    }
}

/// Allocates what the append lacked, outside the lock.
fn bring(once: &Once, lack: Lack, spare: &mut Spare) -> Result<(), Failure> {
    match lack {
        Lack::Gate => once.furnish(),
        Lack::Block(full) => Ok(spare.provide(full)?),
    }
}

/// Runs a callback at once, inside a drain or after a wait. What it says of a failure is its own.
pub(crate) fn run(once: &Once, callback: Callback, origin: Origin) -> Result<(), Failure> {
    let scope = Scope::enter();
    let code = callback.run();
    if code == 0 {
        return Ok(());
    }
    let (said, cause) = scope.take(code);
    Err(preserved(|| {
        callback_failed(once, code, origin, said.map(|said| said.text), cause)
    }))
}

/// The failure of a callback that ran on READY, where nothing marked its beginning.
#[cold]
pub(crate) fn ready_failed(once: &Once, code: i32, origin: Origin) -> Failure {
    callback_failed(
        once,
        code,
        origin,
        take_said(code).map(|said| said.text),
        None,
    )
}

fn callback_failed(
    once: &Once,
    code: i32,
    origin: Origin,
    said: Option<String>,
    cause: Option<Failure>,
) -> Failure {
    let name = once.name();
    let site = origin.resolve();
    let said = said.map(|said| format!(": {said}")).unwrap_or_default();
    let text = format!(
        "a callback given to {} by {site} ran at once and failed with code {code}{said}",
        called(&name)
    );
    Failure::new(
        Error::Callback(text),
        &name,
        Facts {
            code,
            site,
            cause,
            ..Facts::default()
        },
    )
}
