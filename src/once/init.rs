//! `lazy_init`: own the attempt, or wait for the thread that does.

use super::attempt::{Attempt, Outcome, Progress};
use super::config::{Config, OnFailure};
use super::gate::{Gate, Standing};
use super::{Once, host};
use crate::abi;
use crate::error::Failure;
use crate::sys::callback::Callback;
use crate::sys::clock::{self, Limit};
use crate::sys::memory::Shared;
use crate::sys::process;
use crate::sys::site::Origin;
use crate::sys::sized::Foreign;

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
    if once.is_asking() {
        return Ok(Progress::InProgress);
    }
    let mut turn = Turn::new(once, start);
    loop {
        let next = match turn.look()? {
            Look::Over(progress) => return Ok(progress),
            Look::Prepare(callback) => Next::Prepare(callback),
            Look::Go(host) => once.attached(host::of(host)?, start.origin, || turn.take())?,
        };
        match next {
            // A hook of the host forked, or a signal handler while this thread slept: this is a child of the process that came so far.
            Next::Over(Progress::Done) if turn.process != process::noticed() => {
                turn = Turn::new(once, start);
            }
            Next::Over(progress) => return Ok(progress),
            Next::Prepare(callback) => {
                once.prepare(callback, start.origin)?;
                turn.is_prepared = true;
            }
        }
    }
}

/// One call that initializes, on its way.
struct Turn<'a> {
    once: &'a Once,
    start: &'a Start,
    /// Inside `prepare` of the same once, where nobody waits.
    is_preparing: bool,
    is_prepared: bool,
    is_asked: bool,
    /// Where it began.
    process: u32,
    /// An attempt that was found running. It is waited for however long it takes to get there, since an outcome belongs to
    /// its attempt.
    awaited: Option<Awaited>,
    limit: Option<Limit>,
}

struct Awaited {
    attempt: Shared<Attempt>,
    /// Its waiters take turns if it fails.
    take_turns: bool,
}

/// What the first look came to, before any hook of a host.
enum Look {
    Over(Progress),
    /// Runs as the caller is, without the host lock.
    Prepare(Callback),
    Go(Foreign<abi::lazy_host>),
}

/// What is left to do, once the host has been left.
enum Next {
    Over(Progress),
    Prepare(Callback),
}

impl<'a> Turn<'a> {
    fn new(once: &'a Once, start: &'a Start) -> Self {
        let is_preparing = once.is_preparing();
        Self {
            once,
            start,
            is_preparing,
            is_prepared: is_preparing,
            is_asked: false,
            process: process::noticed(),
            awaited: None,
            limit: start.limit_ns.map(Limit::new),
        }
    }

    /// Looks without waiting. A call that only tries ends here if somebody else is at it.
    fn look(&mut self) -> Result<Look, Failure> {
        let Some(mut locked) = self.once.lock()? else {
            return Ok(Look::Over(Progress::Done));
        };
        match locked.standing() {
            Standing::Mine(_) => Ok(Look::Over(Progress::InProgress)),
            Standing::Over(failure) => Err(failure),
            Standing::Forked => {
                drop(locked);
                Err(self.once.forked())
            }
            Standing::Theirs(_) if self.is_preparing => Ok(Look::Over(Progress::InProgress)),
            Standing::Theirs(attempt) => {
                let config = &locked.gate().config;
                let host = config.host;
                let is_spent = self.found(attempt.clone(), config).is_spent();
                drop(locked);
                if is_spent {
                    return Err(self.once.timed_out(&attempt, clock::now_ns()));
                }
                Ok(Look::Go(host))
            }
            Standing::Fresh => {
                let host = locked.gate().config.host;
                Ok(match self.to_prepare(locked.gate()) {
                    Some(callback) => Look::Prepare(callback),
                    None => Look::Go(host),
                })
            }
        }
    }

    /// Owns the attempt, or waits for the thread that does. The host is attached, if there is one.
    fn take(&mut self) -> Result<Next, Failure> {
        let mut spare = None;
        loop {
            if let Some(outcome) = self.wait()? {
                return Ok(Next::Over(outcome));
            }
            let Some(mut locked) = self.once.lock()? else {
                return Ok(Next::Over(Progress::Done));
            };
            match locked.standing() {
                Standing::Mine(_) => return Ok(Next::Over(Progress::InProgress)),
                Standing::Over(failure) => return Err(failure),
                Standing::Forked => {
                    drop(locked);
                    return Err(self.once.forked());
                }
                Standing::Theirs(_) if self.is_preparing => {
                    return Ok(Next::Over(Progress::InProgress));
                }
                Standing::Theirs(attempt) => {
                    self.found(attempt, &locked.gate().config);
                }
                Standing::Fresh => {
                    if let Some(callback) = self.to_prepare(locked.gate()) {
                        return Ok(Next::Prepare(callback));
                    }
                    match (locked.gate().config.can_init, spare.take()) {
                        (Some(can_init), attempt) if !self.is_asked => {
                            drop(locked);
                            spare = attempt;
                            host::share();
                            self.once.ask(can_init, self.start.origin)?;
                            self.is_asked = true;
                        }
                        (_, None) => {
                            drop(locked);
                            spare = Some(Attempt::try_new(self.start.origin)?);
                        }
                        (_, Some(attempt)) => {
                            host::share();
                            let owned = locked.claim(self.once, attempt, self.start.instead);
                            return owned.run().map(Next::Over);
                        }
                    }
                }
            }
        }
    }

    /// Another thread's attempt is running: it is to be waited for, for so long.
    fn found(&mut self, attempt: Shared<Attempt>, config: &Config) -> &Limit {
        self.is_asked = false;
        self.awaited = Some(Awaited {
            attempt,
            take_turns: config.on_failure == OnFailure::Retry,
        });
        self.limit
            .get_or_insert_with(|| Limit::new(config.limit_ns()))
    }

    /// What has to be run before the attempt is owned.
    fn to_prepare(&self, gate: &Gate) -> Option<Callback> {
        gate.config
            .prepare
            .filter(|_| !gate.native_done && !self.is_prepared)
    }

    /// Waits for what was found; `None` if this call goes on.
    fn wait(&mut self) -> Result<Option<Progress>, Failure> {
        let Some(awaited) = self.awaited.take() else {
            return Ok(None);
        };
        let limit = self.limit.get_or_insert_with(|| Limit::new(u64::MAX));
        match self
            .once
            .wait_for(&awaited.attempt, limit, self.start.origin)?
        {
            Outcome::Ready => Ok(Some(Progress::Done)),
            Outcome::Failed(failure) if !awaited.take_turns => Err(failure.clone()),
            Outcome::Failed(_) | Outcome::Void => Ok(None),
        }
    }
}
