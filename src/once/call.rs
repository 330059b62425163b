//! `lazy_call`: the decision, and the runs at once.

use super::failure::{Said, called};
use super::gate::{Locked, Standing};
use super::queue::{Details, Lack, Request, Spare, Work};
use super::{Once, host, word};
use crate::abi;
use crate::error::{Error, Facts, Failure, Scope, take_said};
use crate::stay::{Doing, Staying};
use crate::sys::callback::Callback;
use crate::sys::clock::Limit;
use crate::sys::copy::LibraryCopy;
use crate::sys::errno::preserved;
use crate::sys::memory::{NoMemory, Shared};
use crate::sys::site::Origin;
use crate::sys::text::{Text, text};
use crate::sys::thread::{self, Mark};
use crate::trace::{Span, What};

/// What the caller of `lazy_call` does now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decision {
    /// Inside its own drain: run the callback, depth-first.
    RunReentrant,
    /// Somebody else has finished in the meantime: run the callback; no lock is held any more.
    RunAfterWait,
    /// The drain runs it, under this ticket.
    Queued(u64),
}

/// A request that a later one replaces. It is still to be released, after everything else that this call does.
pub(crate) type Replaced = Option<Shared<Request>>;

/// What is handed in.
pub(crate) enum Ask {
    /// A callback, by a call that returns to this address.
    Plain(Callback, usize),
    Request {
        details: Details,
        no_wait: bool,
    },
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
#[inline(always)]
pub(crate) fn call(once: &Once, ask: &Ask) -> Result<(Decision, Replaced), Failure> {
    let mut spare = Spare::default();
    let mut limit = None;
    if let Ask::Request { .. } = ask {
        crate::hooks::before_lock();
    }
    loop {
        let Some(mut locked) = once.lock()? else {
            return Ok((Decision::RunAfterWait, None));
        };
        match locked.standing() {
            Standing::Mine(word::DRAINING) => return Ok((Decision::RunReentrant, None)),
            Standing::Over(failure) => return Err(failure),
            Standing::Forked => {
                drop(locked);
                return Err(once.forked());
            }
            Standing::Fresh | Standing::Mine(_) => {}
            Standing::Theirs(attempt) => match locked.door(once, ask) {
                Door::Open => {}
                Door::Shut => {
                    let config = &locked.gate().config;
                    let (limit_ns, host) = (config.limit_ns(), config.host);
                    let limit = limit.get_or_insert_with(|| Limit::new(limit_ns));
                    drop(locked);
                    let origin = ask.origin();
                    let wait = || once.wait_for(&attempt, limit, origin).map(drop);
                    once.attached(host::of(host)?, origin, wait)?;
                    continue;
                }
                Door::Refused => {
                    drop(locked);
                    return Err(once.no_more());
                }
            },
        }
        match locked.append(ask, &mut spare) {
            Ok((ticket, replaced)) => return Ok((Decision::Queued(ticket), replaced)),
            Err(lack) => {
                drop(locked);
                ask.bring(&mut spare, lack)?;
            }
        }
    }
}

impl Once {
    /// What [`call`] decides for nearly every plain request that is queued, without what it needs for any other: nobody
    /// initializes, nobody is in the way, and the queue has room. False if it is not so.
    #[inline(always)]
    pub(crate) fn queue_in_room(&self, callback: Callback, caller: usize) -> bool {
        crate::hooks::before_lock();
        let Some(body) = self.word.lock_if_free(word::FRESH | word::LOCKABLE) else {
            return false;
        };
        let mut locked = Locked(body);
        let is_queued = locked.copy() == LibraryCopy::this()
            && locked.gate().queue.append_plain_in_room(callback, caller);
        locked.0.end_here();
        is_queued
    }
}

/// Whether a request may join the queue of somebody else's attempt.
enum Door {
    Open,
    /// Not this one: it waits for the end of the attempt.
    Shut,
    /// It does not want to wait, and the attempt takes no more.
    Refused,
}

impl Locked<'_> {
    fn door(&mut self, once: &Once, ask: &Ask) -> Door {
        let no_wait = matches!(ask, Ask::Request { no_wait: true, .. });
        let gate = self.gate();
        if once.is_preparing() {
            // A wait here may hold the loader's lock, which the owner may need.
            Door::Open
        } else if !no_wait && !gate.config.queues_when_contended {
            Door::Shut
        } else if !gate.running().cut_off {
            Door::Open
        } else if no_wait {
            Door::Refused
        } else {
            Door::Shut
        }
    }

    /// Appends; gives the ticket, and what the request replaces.
    #[inline(always)]
    fn append(&mut self, ask: &Ask, spare: &mut Spare) -> Result<(u64, Replaced), Lack> {
        let gate = self.gate();
        let details = match ask {
            Ask::Plain(callback, caller) => {
                return Ok((gate.queue.append_plain(*callback, *caller, spare)?, None));
            }
            Ask::Request { details, .. } => details,
        };
        let appended = gate.queue.append(details, thread::id(), spare)?;
        // It comes before the plain ones that are being run.
        if details.phase < 0
            && let Some(running) = &gate.running
            && let Some(Work::Plain(block)) = &running.work
        {
            block.stop();
        }
        Ok(appended)
    }
}

impl Ask {
    fn origin(&self) -> Origin {
        match self {
            Self::Plain(_, caller) => Origin::Address(*caller),
            Self::Request { details, .. } => details.origin,
        }
    }

    /// Allocates what the append lacked, outside the lock.
    fn bring(&self, spare: &mut Spare, lack: Lack) -> Result<(), NoMemory> {
        match self {
            Self::Plain(..) => spare.provide(lack),
            Self::Request { details, .. } => spare.provide_for(details, lack),
        }
    }
}

impl Once {
    /// The attempt takes no more requests, and this one does not wait for its end.
    #[cold]
    fn no_more(&self) -> Failure {
        let name = self.name();
        let text = text!(
            "{} is being initialized and takes no more requests until that has ended, and this one does not wait \
             (LAZY_REQUEST_NO_WAIT); submit it again later",
            called(&name)
        );
        Failure::new(Error::NotNow(text), &name, Facts::default())
    }
}

/// Runs a request at once, after which its context is released, also by unwinding.
pub(crate) fn run_request(once: &Once, details: &Details) -> Result<(), Failure> {
    details.released_after(|| run(once, details.callback, details.origin))
}

/// The same on READY, where nothing marks the beginning of a callback.
pub(crate) fn run_ready_request(once: &Once, details: &Details) -> Result<(), Failure> {
    details.released_after(|| match details.callback.run() {
        0 => Ok(()),
        code => Err(preserved(|| {
            thread::inside(|| ready_failed(once, code, details.origin))
        })),
    })
}

/// Runs a callback at once, inside a drain or after a wait. What it says of a failure is its own.
pub(crate) fn run(once: &Once, callback: Callback, origin: Origin) -> Result<(), Failure> {
    let scope = Scope::enter();
    let span = Span::begin(|| What::request(once, origin, 0, abi::LAZY_E_CALLBACK));
    let staying = Staying::begin(Doing::Calling, once, origin);
    // By which a frame that is left is noticed; it stands for nothing else.
    let code = Mark::during((&raw const callback).addr(), || span.around(callback));
    drop(staying);
    if code == 0 {
        return Ok(());
    }
    let (said, cause) = scope.take(code);
    let said = said.map(|said| said.text);
    Err(preserved(|| {
        thread::inside(|| callback_failed(once, code, origin, said, cause))
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
    said: Option<Text>,
    cause: Option<Failure>,
) -> Failure {
    let name = once.name();
    let site = origin.resolve();
    let said = Said(said.as_deref());
    let text = text!(
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
