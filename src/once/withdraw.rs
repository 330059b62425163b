//! Taking requests out of the queue before they run, and waiting until one that runs is gone.

use super::Once;
use super::attempt::Attempt;
use super::call::Replaced;
use super::failure::{LOST, called};
use super::gate::{Gate, Running};
use super::queue::{Found, Queue, Request, Work};
use super::{host, registry};
use crate::abi;
use crate::error::{Error, Facts, Failure};
use crate::sys::memory::Shared;
use crate::sys::noexcept::noexcept;
use crate::sys::order;
#[cfg(not(loom))]
use crate::sys::process;
use crate::sys::site::Origin;
use crate::sys::text::{append, text};
use crate::sys::thread::{self, Mark};
use crate::trace::{Span, What};
use std::cell::Cell;

/// How a cancellation came out well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cancelled {
    /// It never runs.
    Withdrawn,
    /// This thread is inside it.
    Inside,
}

/// What was done about one request.
enum Step {
    Nothing,
    /// It is out, and its context is to be released, outside every lock.
    Withdrawn(Shared<Request>),
    Inside,
    /// That thread runs it, or releases its context.
    Busy(Shared<Request>, u64),
}

impl Once {
    /// Withdraws a request. One that is running is waited for, and then there is none.
    pub(crate) fn cancel(&self, ticket: u64, origin: Origin) -> Result<Cancelled, Failure> {
        loop {
            match self.take_out(&mut |_| Some(ticket)) {
                Step::Withdrawn(request) => {
                    self.release_all([request]);
                    return Ok(Cancelled::Withdrawn);
                }
                Step::Inside => return Ok(Cancelled::Inside),
                // In a child that a signal handler forks meanwhile, it may wait to be run again.
                Step::Busy(request, by) => self.wait_until_gone(&request, by, origin)?,
                Step::Nothing => break,
            }
        }
        let name = self.name();
        let mut text = text!(
            "{} has no request with the ticket {ticket}: it has run, has been cancelled, or was never queued",
            called(&name)
        );
        if self
            .lock_gate()
            .is_some_and(|mut locked| locked.gate().lost_queue)
        {
            append!(text, "; {LOST}");
        }
        let facts = Facts {
            ticket,
            ..Facts::default()
        };
        Err(Failure::new(Error::NotFound(text), &name, facts))
    }

    /// Withdraws everything of this owner's, then waits for what runs, unless this thread is inside it. The number of
    /// requests that will never run.
    pub(crate) fn cancel_owner(&self, owner: usize, origin: Origin) -> Result<usize, Failure> {
        let mut withdrawn = 0;
        for waits in [false, true] {
            let mut from = (i32::MIN, 0);
            loop {
                let mut choose = |queue: &Queue| {
                    from = queue.find_owner(owner, from)?;
                    Some(from.1)
                };
                match self.take_out(&mut choose) {
                    Step::Nothing => break,
                    Step::Withdrawn(request) => {
                        self.release_all([request]);
                        withdrawn += 1;
                    }
                    Step::Busy(request, by) if waits => {
                        self.wait_until_gone(&request, by, origin)?;
                        from = (i32::MIN, 0);
                    }
                    Step::Busy(..) | Step::Inside => {}
                }
            }
        }
        Ok(withdrawn)
    }

    /// Takes out what waits, whoever submitted it.
    pub(super) fn withdraw_all(&self) {
        while let Step::Withdrawn(request) = self.take_out(&mut Queue::find_waiting) {
            self.release_all([request]);
        }
    }

    /// Under the once's own lock where it can be locked: a search is as long as the queue, and others need the registry's.
    fn take_out(&self, choose: &mut dyn FnMut(&Queue) -> Option<u64>) -> Step {
        if let Some(mut locked) = self.lock_gate() {
            return locked.gate().take_out(choose);
        }
        let mut registry = registry::lock();
        self.with_body(&mut registry, |_, body, _| {
            body.gate
                .as_mut()
                .map_or(Step::Nothing, |gate| gate.take_out(choose))
        })
    }

    /// Takes out what a request with this key replaces, which is about to run at once.
    pub(crate) fn superseded(&self, key: u64) -> Replaced {
        let mut locked = self.lock_gate().filter(|_| key != 0)?;
        locked.gate().queue.take_key(key, thread::id())
    }

    /// Runs the rest of a call and then releases what the call replaces, also when the rest unwinds.
    pub(crate) fn until_end_of_call<R>(
        &self,
        replaced: Replaced,
        rest: impl FnOnce(&EndOfCall) -> R,
    ) -> R {
        let end = EndOfCall(self, Cell::new(replaced));
        let result = rest(&end);
        self.release_all(end.1.take());
        result
    }

    /// Releases what was taken out; after that it is gone.
    pub(super) fn release_all(&self, requests: impl IntoIterator<Item = Shared<Request>>) {
        for request in requests {
            // Others may wait for this thread now.
            thread::owns(1);
            let leaving = Leaving {
                once: self,
                request,
            };
            Request::release(&leaving.request, self);
        }
    }

    fn wait_until_gone(
        &self,
        request: &Shared<Request>,
        by: u64,
        origin: Origin,
    ) -> Result<(), Failure> {
        let span = Span::begin(|| What::wait(self, request.details.origin, origin));
        #[cfg(not(loom))]
        let process = process::noticed();
        let result = self.wait_for_request(request, by, origin);
        #[cfg(not(loom))]
        if process != process::noticed() {
            self.look_again_at(request);
        }
        span.end(
            result
                .as_ref()
                .map_or_else(Failure::status, |()| abi::LAZY_OK),
        );
        result
    }

    /// In a child that this thread forked while it waited: a request that is back in the queue is not gone.
    #[cfg(not(loom))]
    fn look_again_at(&self, request: &Shared<Request>) {
        if let Some(mut locked) = self.lock_gate()
            && !matches!(locked.gate().queue.find(request.ticket), Found::Nothing)
        {
            request.gone.renew();
        }
    }

    fn wait_for_request(
        &self,
        request: &Shared<Request>,
        by: u64,
        origin: Origin,
    ) -> Result<(), Failure> {
        #[cfg(not(loom))]
        let _edge = if thread::owns_any() {
            Some(super::graph::Waiting::begin_for_request(
                request,
                by,
                self.name(),
            )?)
        } else {
            None
        };
        let host = host::of(self.configured_host()).ok().flatten();
        Mark::during(request.wait_key(), || {
            let whom = || {
                let (part, site) = (self.part_of(request, by), request.details.origin.spot());
                text!("thread {by} {part} by {site}, which a cancellation waits for")
            };
            let lose = || request.gone.lose(by, ());
            let wait = || {
                self.wait_stubbornly(&request.gone, by, origin, &whom, &lose);
                Ok(())
            };
            // A host that refuses this thread has not let it wait without: it waits as it is.
            if self.attached(host, origin, wait).is_err() {
                self.wait_stubbornly(&request.gone, by, origin, &whom, &lose);
            }
        });
        Ok(())
    }
}

impl Gate {
    /// Is this thread inside what a request still runs: in its `drop`, or working for the attempt that runs it?
    fn is_inside(&self, request: &Shared<Request>) -> bool {
        let runs_it = |running: &&Running| matches!(&running.work, Some(Work::One(work)) if work.same(request));
        let running = self.running.as_ref().filter(runs_it);
        Mark::is_set(request.key())
            || running.is_some_and(|running| Attempt::is_mine(&running.attempt))
    }

    fn take_out(&mut self, choose: &mut dyn FnMut(&Queue) -> Option<u64>) -> Step {
        let Some(ticket) = choose(&self.queue) else {
            return Step::Nothing;
        };
        match self.queue.find(ticket) {
            Found::Nothing => Step::Nothing,
            Found::Queued => self
                .queue
                .take(ticket, thread::id())
                .map_or(Step::Nothing, Step::Withdrawn),
            Found::Running(_) if !order::find_running() => Step::Nothing,
            Found::Running(request) => {
                let running = self.running_mut();
                running.cancelled = true;
                if Attempt::is_mine(&running.attempt) {
                    Step::Inside
                } else {
                    let owner = running.attempt.owner();
                    Step::Busy(request, owner)
                }
            }
            Found::Leaving(request, _) if self.is_inside(&request) => Step::Inside,
            Found::Leaving(request, by) => Step::Busy(request, by),
        }
    }
}

/// The end of a call that replaces a request.
pub(crate) struct EndOfCall<'a>(&'a Once, Cell<Replaced>);

impl EndOfCall<'_> {
    pub(crate) fn releases(&self, replaced: Replaced) {
        self.1.set(replaced);
    }
}

impl Drop for EndOfCall<'_> {
    fn drop(&mut self) {
        // Something is left where the call unwinds.
        noexcept(|| self.0.release_all(self.1.take()));
    }
}

/// A request whose context is being released, on this thread; gone when this ends, also by unwinding.
struct Leaving<'a> {
    once: &'a Once,
    request: Shared<Request>,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let taken = self.once.take_leaving(&self.request);
        thread::owns(-1);
        drop(taken);
    }
}

impl Once {
    /// Takes a request off the queue whose context has been released: it is gone. What that frees, and who waits for it, is to be seen to
    /// outside every lock.
    pub(super) fn take_leaving<'a>(&self, request: &'a Request) -> impl Sized + use<'a> {
        let place = self
            .lock_gate()
            .and_then(|mut locked| locked.gate().queue.remove(request));
        let mut registry = registry::lock();
        self.with_body(&mut registry, |phase, body, registry| {
            // On a once that has become ready meanwhile, the queue holds what is leaving and nothing else.
            let late = body
                .gate
                .as_mut()
                .filter(|_| place.is_none())
                .and_then(|gate| gate.queue.remove(request));
            let wakes = request.gone.keep(());
            (wakes, place, late, body.take_unneeded(registry, *phase))
        })
    }
}
