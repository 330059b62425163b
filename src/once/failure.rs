//! What went wrong with an attempt, in words.

use super::Once;
use super::attempt::Attempt;
use super::config::{OnDeferredFailure, OnFailure};
use super::drain::Ownership;
use super::gate::Configured;
use super::queue::{Entry, Request};
use crate::error::{Error, Facts, Failure, Scope, since};
use crate::name::{Called, Kind};
use crate::sys::clock;
use crate::sys::copy::LibraryCopy;
use crate::sys::memory::Shared;
use crate::sys::site::Origin;
use crate::sys::text::{Lossy, Text, append, text};
use std::ffi::CStr;
use std::fmt::{Display, Formatter};

/// A once in the text of a message.
pub(super) fn called(name: &CStr) -> Called<'_> {
    Called(Kind::Once, name)
}

/// What a callback said of its failure, if anything.
pub(super) struct Said<'a>(pub(super) Option<&'a str>);

impl Display for Said<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        self.0.map_or(Ok(()), |said| write!(out, ": {said}"))
    }
}

/// Of a once in a child that was made without fork handlers while another thread was changing it.
pub(crate) const LOST: &str =
    "what was queued in its parent is lost, since _Fork and clone run no fork handlers";

/// What a callback returned, if there is anything to tell by it.
pub(super) struct Code(pub(super) i32);

impl Display for Code {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            0 => Ok(()),
            code => write!(out, " with code {code}"),
        }
    }
}

/// What left a callback without a result.
const UNWOUND: &str = "was left by an exception or by the end of its thread";

/// A request that failed, as its message tells of it.
struct Failed<'a> {
    origin: Origin,
    ticket: u64,
    description: &'a str,
}

impl Ownership<'_> {
    /// What its caller gets in the child.
    pub(super) fn void(&self) -> Failure {
        let name = self.attempt.name();
        let text = text!(
            "a callback of {} forked this process, in which the attempt is void, as on_fork says: with LAZY_FORK_RESET initialize \
             again, with LAZY_FORK_POISON start the child with exec",
            called(name)
        );
        let facts = Facts {
            init_site: self.attempt.origin().resolve(),
            owner_thread: self.attempt.owner(),
            attempt: self.attempt.number,
            ..Facts::default()
        };
        Failure::new(Error::Forked(text), name, facts)
    }

    pub(super) fn initializer_failed(&self, code: i32, scope: &Scope) -> Failure {
        let (said, cause) = scope.take(code);
        let name = self.attempt.name();
        let (status, code, said) = said.map_or((crate::abi::LAZY_E_INIT, code, None), |said| {
            (said.status, said.shown, Some(said.text))
        });
        let mut text = text!("the initializer of {} failed{}", called(name), Code(code));
        if let Some(said) = said {
            append!(text, ": {said}");
        }
        let init_site = self.attempt.origin().resolve();
        append!(
            text,
            " (attempt {} on thread {}, started at {init_site}, after {}; {})",
            self.attempt.number,
            self.attempt.owner(),
            since(self.attempt.since_ns),
            self.prospect("nothing queued was lost, a new call tries again")
        );
        let facts = Facts {
            code,
            cause,
            ..self.facts()
        };
        Failure::new(Error::from_status(status, text), name, facts)
    }

    pub(super) fn plain_failed(&self, entry: &Entry, code: i32, scope: &Scope) -> Failure {
        self.callback_failed(Failed::plain(entry), code, scope)
    }

    pub(super) fn request_failed(
        &self,
        request: &Shared<Request>,
        code: i32,
        scope: &Scope,
    ) -> Failure {
        // What the callback said is taken before the description can say something.
        let (said, cause) = scope.take(code);
        let description = Request::description(request, self.once);
        let reason = Self::reason(code, said.map(|said| said.text));
        self.deferred(Failed::request(request, &description), code, cause, &reason)
    }

    fn callback_failed(&self, failed: Failed, code: i32, scope: &Scope) -> Failure {
        let (said, cause) = scope.take(code);
        let reason = Self::reason(code, said.map(|said| said.text));
        self.deferred(failed, code, cause, &reason)
    }

    fn reason(code: i32, said: Option<Text>) -> Text {
        text!("failed with code {code}{}", Said(said.as_deref()))
    }

    fn deferred(&self, failed: Failed, code: i32, cause: Option<Failure>, reason: &str) -> Failure {
        let name = self.attempt.name();
        let site = failed.origin.resolve();
        let ticket = failed.ticket;
        let what = match failed.description {
            "" => Text::default(),
            description => text!(" ({description})"),
        };
        let prospect = match self.policy {
            OnDeferredFailure::Keep => {
                "it stays at the head of the queue and the next attempt resumes there"
            }
            OnDeferredFailure::Drop => "it was dropped and the next attempt goes on without it",
            OnDeferredFailure::Continue => "it stays in the queue, for the next attempt",
        };
        let text = text!(
            "a callback{what} queued on {} by {site} {reason} (ticket {ticket}, attempt {} on thread {}, started at {}); \
             {}",
            called(name),
            self.attempt.number,
            self.attempt.owner(),
            self.attempt.origin().resolve(),
            self.prospect(prospect)
        );
        let facts = Facts {
            code,
            cause,
            site,
            ticket,
            ..self.facts()
        };
        Failure::new(Error::Deferred(text), name, facts)
    }

    /// What comes after this failure, for its text.
    fn prospect(&self, usual: &'static str) -> &'static str {
        // Not there where a description has forked.
        let Some(mut locked) = self.once.lock_gate() else {
            return usual;
        };
        let gate = locked.gate();
        if gate.config.on_failure == OnFailure::Sticky {
            "that is final: LAZY_FAIL_STICKY"
        } else if gate
            .running
            .as_ref()
            .is_some_and(|running| running.cancelled)
        {
            "it was cancelled while it ran and is not kept"
        } else {
            usual
        }
    }

    pub(super) fn plain_unwound(&self, entry: &Entry) -> Failure {
        self.deferred(Failed::plain(entry), 0, None, UNWOUND)
    }

    pub(super) fn request_unwound(&self, request: &Shared<Request>) -> Failure {
        let description = Request::description(request, self.once);
        self.deferred(Failed::request(request, &description), 0, None, UNWOUND)
    }

    pub(super) fn initializer_unwound(&self) -> Failure {
        let name = self.attempt.name();
        let text = text!(
            "the initializer of {} {UNWOUND} (attempt {} on thread {}, started at {})",
            called(name),
            self.attempt.number,
            self.attempt.owner(),
            self.attempt.origin().resolve()
        );
        Failure::new(Error::Init(text), name, self.facts())
    }

    fn facts(&self) -> Facts {
        Facts {
            init_site: self.attempt.origin().resolve(),
            owner_thread: self.attempt.owner(),
            elapsed_ns: clock::now_ns().saturating_sub(self.attempt.since_ns),
            attempt: self.attempt.number,
            ..Facts::default()
        }
    }
}

impl<'a> Failed<'a> {
    fn plain(entry: &Entry) -> Self {
        Self {
            origin: entry.origin(),
            ticket: entry.ticket,
            description: "",
        }
    }

    fn request(request: &Request, description: &'a str) -> Self {
        Self {
            origin: request.details.origin,
            ticket: request.ticket,
            description,
        }
    }
}

impl Failure {
    /// Using a once that is closed; from then on it has no name.
    pub(crate) fn closed(once: &Once, name: &CStr) -> Self {
        let at = std::ptr::from_ref(once);
        let text = text!("{} at {at:p} is closed, and stays so", called(name));
        Self::new(Error::Closed(text), name, Facts::default())
    }
}

impl Failure {
    /// What another copy of the library owns.
    #[cold]
    pub(crate) fn of_another_copy(owner: LibraryCopy) -> Self {
        let [theirs, ours] = [owner, LibraryCopy::this()].map(LibraryCopy::file);
        Self::invalid(text!(
            "it belongs to another copy of the library, in {}; this is the one in {}: have one copy in the process, as a shared \
             library",
            Lossy::of(theirs.as_deref().unwrap_or_default()),
            Lossy::of(ours.as_deref().unwrap_or_default())
        ))
    }
}

impl Once {
    /// This is a forked child, and what the once guards does not survive that.
    #[cold]
    pub(super) fn forked(&self) -> Failure {
        let name = self.name();
        let known = self.lock_gate().map(|mut locked| {
            let gate = locked.gate();
            (gate.forked_from, gate.latest.clone())
        });
        let (parent, latest) = known.unwrap_or_default();
        let mut facts = Facts::default();
        let mut text = text!(
            "{} cannot be used in this forked child: process {parent} used it before the fork",
            called(&name)
        );
        if let Some(attempt) = latest {
            facts.init_site = attempt.origin().resolve();
            facts.owner_thread = attempt.owner();
            facts.attempt = attempt.number;
            facts.elapsed_ns = clock::now_ns().saturating_sub(attempt.since_ns);
            append!(
                text,
                " (attempt {} by its thread {}, started at {}, {} ago)",
                attempt.number,
                attempt.owner(),
                facts.init_site,
                since(attempt.since_ns)
            );
        }
        append!(
            text,
            ". Start the child with exec (in Python's multiprocessing: \"spawn\"); only if what it guards can be started twice after a \
             fork, lazy_once_reset makes it fresh"
        );
        Failure::new(Error::Forked(text), &name, facts)
    }

    /// Configuring after the first attempt; or, on a named once, after the first who did, in another way.
    pub(super) fn too_late(
        &self,
        latest: Option<Shared<Attempt>>,
        first: Option<Configured>,
    ) -> Failure {
        let name = self.name();
        let mut facts = Facts::default();
        let mut text = text!("{} cannot be configured any more", called(&name));
        if let Some(first) = &first {
            facts.init_site = first.by.resolve();
            append!(
                text,
                ": {} has configured it in another way",
                facts.init_site
            );
            if let Some(name) = &first.name {
                append!(text, ", as \"{}\"", Lossy::of(name));
            }
        }
        if latest.is_some() || first.is_none() {
            let link = if first.is_some() { ", and" } else { ":" };
            append!(text, "{link} an attempt to initialize it has been made");
        }
        if let Some(attempt) = latest {
            facts.init_site = attempt.origin().resolve();
            facts.owner_thread = attempt.owner();
            facts.attempt = attempt.number;
            append!(
                text,
                " (attempt {} by thread {}, started at {}, {} ago)",
                attempt.number,
                attempt.owner(),
                facts.init_site,
                since(attempt.since_ns)
            );
        }
        let advice = match first {
            Some(_) => "share that configuration, or use another name",
            None => "configure it before its first use",
        };
        append!(text, "; {advice}");
        Failure::new(Error::TooLate(text), &name, facts)
    }
}
