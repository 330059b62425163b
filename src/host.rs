//! Host locks: their hooks around what the library runs, and every wait without them.

use crate::abi;
use crate::error::{Error, Facts, Failure};
use crate::name::{Called, Quoted, Subject};
use crate::stay::{Doing, Staying};
use crate::sys::bracket::{self, Bracket, Fault, Waited};
use crate::sys::clock::{self, Deadline, Limit};
use crate::sys::promise::Promise;
use crate::sys::site::Origin;
use crate::sys::sized::Foreign;
use crate::sys::text::{append, text};
use crate::sys::{order, process, thread};
use crate::trace::{self, Span, Wait, What};
use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::fmt::{Display, Formatter};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};

/// The process default.
static DEFAULT: AtomicPtr<abi::lazy_host> = AtomicPtr::new(std::ptr::null_mut());

/// Hosts look for a reason to give a wait up only on the main thread, where a signal need not end its sleep.
const SLICE_NS: u64 = 100_000_000;

/// Sets the process default; NULL removes it.
pub(crate) fn set_default(table: Foreign<abi::lazy_host>) -> Result<(), Failure> {
    if let Some(Err(problem)) = Bracket::read(table) {
        return Err(Failure::invalid(text!("the host: {problem}")));
    }
    DEFAULT.store(table.as_ptr().cast_mut(), order::set_host());
    Ok(())
}

/// The host that a once uses, by what is configured, at this moment.
pub(crate) fn of(configured: Foreign<abi::lazy_host>) -> Result<Option<Bracket>, Failure> {
    let table = if configured.is_null() {
        Foreign::again(DEFAULT.load(order::read_host()))
    } else {
        configured
    };
    match Bracket::read(table) {
        None => Ok(None),
        Some(Ok(bracket)) => Ok(Some(bracket)),
        Some(Err(problem)) => Err(Failure::invalid(text!("the host: {problem}"))),
    }
}

/// Do both name one host?
pub(crate) fn is_same(ours: Foreign<abi::lazy_host>, theirs: Foreign<abi::lazy_host>) -> bool {
    ours.same(&theirs)
        || match (Bracket::read(ours), Bracket::read(theirs)) {
            (Some(Ok(ours)), Some(Ok(theirs))) => ours.is_same(&theirs),
            _ => false,
        }
}

/// User code runs from here on, inside the host if there is one.
pub(crate) fn share() {
    bracket::share();
}

/// This thread takes a host's lock, which may take for ever.
pub(crate) struct Taking(Span, Staying);

impl Taking {
    #[inline(always)]
    pub(crate) fn begin(host: &Bracket, subject: &dyn Subject, origin: Origin) -> Self {
        Self(
            Span::begin(|| What::host_wait(subject, origin)),
            Staying::begin(Doing::TakingHost(host.name), subject, origin),
        )
    }

    /// It has it.
    pub(crate) fn end(self) {
        let Self(span, staying) = self;
        trace::warn_late(&staying);
        drop(staying);
        span.end(abi::LAZY_OK);
    }
}

/// Runs `body` with the host attached, if there is one, for a call from there.
pub(crate) fn attached<R>(
    host: Option<Bracket>,
    subject: &dyn Subject,
    origin: Origin,
    body: impl FnOnce() -> Result<R, Failure>,
) -> Result<R, Failure> {
    let Some(host) = host else {
        return body();
    };
    let taking = Taking::begin(&host, subject, origin);
    let ran = host.run(move || {
        taking.end();
        body()
    });
    match (ran.result, ran.fault) {
        (Some(result), None) => result,
        (result, fault) => {
            let cause = result.and_then(Result::err);
            Err(failed(
                subject,
                host.name,
                fault.unwrap_or(Fault::NeverCalled),
                cause,
            ))
        }
    }
}

/// The value of a promise, slept for without any host that this thread is inside of; `None` after the limit.
pub(crate) fn wait_on<'p, T: Send + Sync>(
    wait: &Wait,
    promise: &'p Promise<T>,
    limit: &Limit,
) -> Result<Option<&'p T>, Failure> {
    if !bracket::is_inside_any() {
        return Ok(limit.spend(|deadline| wait.on(promise, deadline)));
    }
    loop {
        if let Some(value) = promise.get() {
            return Ok(Some(value));
        }
        match park(wait, promise, limit) {
            Waited::Slept => {}
            Waited::GivenUp(host) => return Err(given_up(wait.subject, host)),
            Waited::Broken(host, fault) => return Err(failed(wait.subject, host, fault, None)),
        }
        if limit.is_spent() && promise.get().is_none() {
            return Ok(None);
        }
    }
}

/// The same without a limit, never given up: where a host does not let go, this thread waits as it is.
pub(crate) fn wait_stubbornly<T: Send + Sync>(wait: &Wait, promise: &Promise<T>) {
    while bracket::is_inside_any() && promise.get().is_none() {
        if let Waited::Broken(..) = park(wait, promise, &Limit::new(u64::MAX)) {
            break;
        }
    }
    wait.on(promise, Deadline::Never);
}

/// Waits as one that is inside the process's host, which is let go then: a thread that came in holding it would keep it otherwise.
pub(crate) fn known_inside<R>(subject: &dyn Subject, origin: Origin, wait: impl Fn() -> R) -> R {
    let Ok(Some(host)) = of(Foreign::default()) else {
        return wait();
    };
    let taking = Taking::begin(&host, subject, origin);
    let ran = host.run(|| {
        taking.end();
        wait()
    });
    // Where it refuses, this thread waits as it is.
    ran.result.unwrap_or_else(wait)
}

#[cold]
fn given_up(subject: &dyn Subject, host: *const c_char) -> Failure {
    let name = subject.name();
    let text = text!(
        "{} gave up the wait for {}, as at Ctrl-C; nothing was run or queued",
        Named(host),
        Called(subject.kind(), &name)
    );
    Failure::new(Error::Interrupted(text), &name, Facts::default())
}

#[cold]
pub(crate) fn failed(
    subject: &dyn Subject,
    host: *const c_char,
    fault: Fault,
    cause: Option<Failure>,
) -> Failure {
    let name = subject.name();
    let code = match fault {
        Fault::Refused(code) | Fault::FailedAfter(code) => code,
        _ => 0,
    };
    let mut text = text!("{}: ", Named(host));
    match fault {
        Fault::Refused(code) => append!(
            text,
            "it refused this thread (its hook returned {code}); {} was not touched",
            Called(subject.kind(), &name)
        ),
        Fault::NeverCalled => append!(
            text,
            "its hook returned 0 without calling back, which a host must do exactly once"
        ),
        Fault::CalledAgain => append!(
            text,
            "its hook called back more than once, which a host must do exactly once; the second did nothing"
        ),
        Fault::FailedAfter(code) => append!(
            text,
            "its hook called back and then returned {code}; after calling back it must return 0"
        ),
    }
    let facts = Facts {
        code,
        cause,
        ..Facts::default()
    };
    Failure::new(Error::Host(text), &name, facts)
}

/// Sleeps once without any host.
fn park<T: Send + Sync>(wait: &Wait, promise: &Promise<T>, limit: &Limit) -> Waited {
    let slice = |deadline: Deadline| match thread::id() == u64::from(process::id()) {
        true => deadline.or_after(clock::now_ns().saturating_add(SLICE_NS)),
        false => deadline,
    };
    // Relaxed: `disturb` and the look before the sleep order it.
    let stop = AtomicBool::new(false);
    let interrupt = || {
        stop.store(true, Relaxed);
        promise.disturb();
    };
    let host = bracket::innermost();
    let slept = Cell::new(false);
    let taking_back = Cell::new(None);
    let sleep = || {
        let is_wanted = !stop.load(Relaxed);
        limit.spend(|deadline| {
            wait.sleep(promise, slice(deadline), || stop.load(Relaxed));
        });
        slept.set(is_wanted);
        taking_back.set(Some(wait.takes_back(host)));
    };
    let began = clock::now_ns();
    let waited = bracket::wait(&sleep, &interrupt);
    if let Some(taking_back) = taking_back.take() {
        taking_back.end(abi::LAZY_OK);
        wait.has_taken_back();
    }
    if !slept.get() {
        // A host that never lets it sleep takes its time, too, or the limit would never come.
        limit.count(clock::now_ns().saturating_sub(began));
    }
    waited
}

/// A host in a message.
pub(crate) struct Named(pub(crate) *const c_char);

impl Display for Named {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        // SAFETY: NULL, or a name that the table's author keeps valid.
        let name = (!self.0.is_null()).then(|| unsafe { CStr::from_ptr(self.0) });
        match name.filter(|name| !name.is_empty()) {
            None => out.write_str("the host"),
            Some(name) => write!(out, "the host {}", Quoted(name)),
        }
    }
}
