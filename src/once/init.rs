//! `lazy_init`: own the attempt, or wait for the thread that does.

use super::Once;
use super::attempt::{Attempt, Outcome, Progress};
use super::config::OnFailure;
use super::failure::{Said, called};
use super::gate::Standing;
use crate::abi;
use crate::error::{Error, Facts, Failure, Scope};
use crate::sys::callback::Callback;
use crate::sys::clock::Deadline;
use crate::sys::site::Origin;
use crate::sys::text::{append, text};
use crate::sys::thread::Mark;

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
    let preparing = once.is_preparing();
    let mut is_prepared = preparing;
    let mut is_asked = false;
    let mut spare = None;
    let mut limit = start.limit_ns.map(Deadline::after);
    if once.is_asking() {
        return Ok(Progress::InProgress);
    }
    loop {
        let Some(mut locked) = once.lock()? else {
            return Ok(Progress::Done);
        };
        match locked.standing() {
            Standing::Mine(_) => return Ok(Progress::InProgress),
            Standing::Over(failure) => return Err(failure),
            Standing::Theirs(_) if preparing => return Ok(Progress::InProgress),
            Standing::Theirs(attempt) => {
                let config = &locked.gate().config;
                let retries = config.on_failure == OnFailure::Retry;
                let limit = *limit.get_or_insert_with(|| config.deadline());
                drop(locked);
                is_asked = false;
                match once.wait_for(&attempt, limit)? {
                    Outcome::Ready => return Ok(Progress::Done),
                    Outcome::Void => {}
                    Outcome::Failed(_) if retries => {}
                    Outcome::Failed(failure) => return Err(failure.clone()),
                }
            }
            Standing::Fresh => {
                let gate = locked.gate();
                let prepare = gate.config.prepare.filter(|_| !gate.native_done);
                let can_init = gate.config.can_init;
                match (prepare, can_init, spare.take()) {
                    (Some(prepare), ..) if !is_prepared => {
                        drop(locked);
                        once.prepare(prepare)?;
                        is_prepared = true;
                    }
                    (_, Some(can_init), attempt) if !is_asked => {
                        drop(locked);
                        spare = attempt;
                        once.ask(can_init)?;
                        is_asked = true;
                    }
                    (.., None) => {
                        drop(locked);
                        spare = Some(Attempt::try_new(start.origin)?);
                    }
                    (.., Some(attempt)) => {
                        return locked.claim(once, attempt, start.instead).run();
                    }
                }
            }
        }
    }
}

/// Callbacks that run before an attempt is owned, each under a mark of its own.
impl Once {
    fn prepare_key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn ask_key(&self) -> usize {
        self.prepare_key() + 1
    }

    /// Is this thread inside `prepare`?
    pub(super) fn is_preparing(&self) -> bool {
        Mark::is_set(self.prepare_key())
    }

    /// Is this thread inside `can_init`?
    fn is_asking(&self) -> bool {
        Mark::is_set(self.ask_key())
    }

    fn prepare(&self, callback: Callback) -> Result<(), Failure> {
        let scope = Scope::enter();
        let code = Mark::during(self.prepare_key(), || callback.run());
        if code == 0 {
            return Ok(());
        }
        let (said, cause) = scope.take(code);
        let name = self.name();
        let mut text = text!("the prepare of {} failed with code {code}", called(&name));
        let mut status = abi::LAZY_E_INIT;
        if let Some(said) = said {
            append!(text, ": {}", said.text);
            status = said.status;
        }
        append!(text, " (no attempt was made; a new call tries again)");
        let facts = Facts {
            code,
            cause,
            ..Facts::default()
        };
        Err(Failure::new(Error::from_status(status, text), &name, facts))
    }

    fn ask(&self, callback: Callback) -> Result<(), Failure> {
        let scope = Scope::enter();
        let code = Mark::during(self.ask_key(), || callback.run());
        if code == 0 {
            return Ok(());
        }
        let (said, cause) = scope.take(code);
        let name = self.name();
        let said = Said(said.as_ref().map(|said| said.text.as_str()));
        let text = text!(
            "{} cannot be initialized now: its can_init answered {code}{} (no attempt was made, nothing queued was lost; try \
             again later)",
            called(&name),
            said
        );
        let facts = Facts {
            code,
            cause,
            ..Facts::default()
        };
        Err(Failure::new(Error::NotNow(text), &name, facts))
    }
}
