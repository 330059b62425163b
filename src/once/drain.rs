//! What the owner of an attempt does: runs the initializer and the queue, and ends the attempt, one way or the other.

use super::attempt::{Attempt, Progress};
use super::config::OnDeferredFailure;
use super::end::End;
use super::gate::Locked;
use super::queue::{Block, Request, Work};
use super::{Once, word};
use crate::abi;
use crate::error::{Failure, Scope};
use crate::sys::callback::Callback;
use crate::sys::memory::Shared;
use crate::sys::noexcept::noexcept;
use crate::sys::site::Origin;
use crate::sys::thread::Mark;
use crate::sys::{clock, thread};
use crate::trace::{self, Span, What};

/// The right and duty of one thread to end an attempt. Unless told otherwise, it ends as failed: whatever unwinds past it
/// (a C++ exception, the end of the thread) leaves a once that works.
pub(super) struct Ownership<'a> {
    pub(super) once: &'a Once,
    pub(super) attempt: Shared<Attempt>,
    /// What it is doing.
    pub(super) stage: Stage,
    pub(super) policy: OnDeferredFailure,
    /// The failure that comes out in the end, while the others still run.
    pub(super) first: Option<Failure>,
    /// The running request, and whether its context has been released, or is being.
    pub(super) current: Option<Shared<Request>>,
    released: bool,
}

/// What is to be done next.
enum Next {
    /// As many of the block as are not done with, from that one on.
    Block(Shared<Block>, usize),
    Request(Shared<Request>),
    Nothing,
    /// The attempt has been taken away.
    Void,
}

pub(super) enum Stage {
    /// `None` where there is none, or one has succeeded before.
    Initializer(Option<Callback>),
    Queue,
    Ended,
}

impl<'a> Ownership<'a> {
    pub(super) fn new(
        once: &'a Once,
        attempt: Shared<Attempt>,
        initializer: Option<Callback>,
        policy: OnDeferredFailure,
    ) -> Self {
        thread::owns(1);
        Self {
            once,
            attempt,
            stage: Stage::Initializer(initializer),
            policy,
            first: None,
            current: None,
            released: false,
        }
    }

    /// Runs the initializer, unless one has succeeded before, and the queue until it is empty under the lock that appends
    /// take; then READY.
    pub(super) fn run(mut self) -> Result<Progress, Failure> {
        #[cfg(not(loom))]
        self.watch();
        if trace::is_on() {
            self.attempt.report(word::INITIALIZING, None);
        }
        let mut result = self.initialize();
        loop {
            if let Err(failure) = result {
                return Err(self.end(failure));
            }
            result = match self.next() {
                Next::Block(block, first) => self.run_block(block, first),
                Next::Request(request) => self.run_request(request),
                Next::Void => return Err(self.leave_void()),
                Next::Nothing => match self.publish() {
                    End::Ready => return Ok(Progress::Done),
                    End::More => Ok(()),
                    End::Failed => Err(Failure::Bare(abi::LAZY_E_CLOSED)),
                    End::Void => return Err(self.leave_void()),
                },
            };
        }
    }

    /// Should the frames from here on be gone without having been left, the next call on this thread or its end finds the attempt.
    #[cfg(not(loom))]
    #[inline(always)]
    fn watch(&self) {
        self.attempt.set_frame(crate::sys::stack::here());
        thread::run_at_exit(crate::exit::thread_exit);
    }

    /// The attempt of frames that are gone. To be dropped, which ends it.
    #[cfg(not(loom))]
    pub(super) fn adopt(
        once: &'a Once,
        attempt: Shared<Attempt>,
        policy: OnDeferredFailure,
        is_queue: bool,
        released: bool,
    ) -> Self {
        let stage = if is_queue {
            Stage::Queue
        } else {
            Stage::Initializer(None)
        };
        Self {
            once,
            attempt,
            stage,
            policy,
            first: None,
            current: None,
            released,
        }
    }

    fn initialize(&mut self) -> Result<(), Failure> {
        let Stage::Initializer(Some(initializer)) = self.stage else {
            return Ok(());
        };
        let scope = Scope::enter();
        let ran = thread::outside(|| (!self.is_taken_away()).then(|| initializer.run()));
        match ran {
            Some(0) => Ok(()),
            Some(code) if !self.is_taken_away() => Err(self.initializer_failed(code, &scope)),
            _ => Err(Failure::Bare(abi::LAZY_E_FORKED)),
        }
    }

    /// In a child of a fork that was made since, perhaps one that no handler has seen.
    pub(super) fn is_taken_away(&self) -> bool {
        #[cfg(not(loom))]
        crate::fork::look();
        self.attempt.is_perhaps_void() && self.attempt.is_void()
    }

    /// The next requests; the gate keeps a reference, so that whoever ends the attempt finds what did not run. The first
    /// time this is INITIALIZING to DRAINING.
    fn next(&mut self) -> Next {
        let began = matches!(self.stage, Stage::Initializer(_)).then(clock::now_ns);
        let Some(mut locked) = self.locked() else {
            return Next::Void;
        };
        if locked.phase() == word::CLOSED {
            return Next::Nothing;
        }
        if let Some(now) = began {
            self.stage = Stage::Queue;
            let gate = locked.gate();
            gate.native_done = true;
            gate.history.since_ns = now;
            gate.queue.begin_drain();
            locked.set_phase(word::DRAINING);
        }
        let gate = locked.gate();
        let cut_off = gate.queue.is_past_its_beginning();
        let work = gate.queue.next();
        // From here on a fork takes the first of a block for running.
        let next = match &work {
            Some(Work::Plain(block)) => Next::Block(block.clone(), block.position()),
            Some(Work::One(request)) => Next::Request(request.clone()),
            None => Next::Nothing,
        };
        let running = gate.running_mut();
        running.cut_off |= cut_off;
        running.cancelled = false;
        running.work = work;
        self.released = false;
        next
    }

    pub(super) fn span(&self, origin: Origin, ticket: u64) -> Span {
        Span::begin(|| What::request(self.once, origin, ticket, abi::LAZY_E_DEFERRED))
    }

    fn run_request(&mut self, request: Shared<Request>) -> Result<(), Failure> {
        let scope = Scope::enter();
        self.current = Some(request.clone());
        let details = &request.details;
        let span = self.span(details.origin, request.ticket);
        if self.is_taken_away() {
            self.current = None;
            #[cfg(not(loom))]
            self.once.leave_unbegun(&request);
            return Err(Failure::Bare(abi::LAZY_E_FORKED));
        }
        let code = Mark::during(request.key(), || span.around(details.callback));
        if code == 0 || self.is_taken_away() {
            self.leave(&request, false);
            return Ok(());
        }
        let failure = self.request_failed(&request, code, &scope);
        self.leave(&request, self.policy != OnDeferredFailure::Drop);
        self.failed(failure, self.policy == OnDeferredFailure::Continue)
    }

    /// Keeps the first failure while the others run, or gives it out.
    pub(super) fn failed(&mut self, failure: Failure, goes_on: bool) -> Result<(), Failure> {
        let first = self.first.take().unwrap_or(failure);
        if goes_on {
            self.first = Some(first);
            return Ok(());
        }
        Err(first)
    }

    /// The running request is done with, and stays if it may: not when somebody waits until it is gone. Whoever looks for
    /// it finds it running until its context has been released.
    fn leave(&mut self, request: &Shared<Request>, may_stay: bool) {
        loop {
            let Some(mut locked) = self.locked() else {
                return self.leave_in_child(request);
            };
            let closed = locked.phase() == word::CLOSED;
            let gate = locked.gate();
            let may_stay = may_stay && !self.released;
            if may_stay
                && !closed
                && !gate.running().cancelled
                && !gate.queue.is_superseded(request)
            {
                gate.queue.fail(request);
                gate.running_mut().work = None;
                drop(locked);
                self.current = None;
                return;
            }
            if self.released {
                let work = gate.running_mut().work.take();
                let place = gate.queue.remove(request);
                let wakes = request.gone.keep(());
                drop(locked);
                drop((wakes, work, place));
                self.current = None;
                return;
            }
            gate.queue.release(request, thread::id());
            drop(locked);
            self.released = true;
            Request::release(request, self.once);
        }
    }

    /// The same where a fork has taken the attempt away meanwhile: it has run, whatever came of it, and nobody runs it again.
    pub(super) fn leave_in_child(&mut self, request: &Shared<Request>) {
        self.current = None;
        if !std::mem::replace(&mut self.released, true) {
            Request::release(request, self.once);
        }
        drop(self.once.take_leaving(request));
    }

    /// `None` where the attempt has been taken away: by a fork, or by a call that took its frames for gone. That is known under the lock only: a
    /// signal handler may fork at any moment before.
    pub(super) fn locked(&self) -> Option<Locked<'a>> {
        let mut locked = self.once.lock_gate()?;
        locked.gate().runs(&self.attempt).then_some(locked)
    }

    /// Left without a result, by an exception or by the end of the thread.
    fn unwound(&mut self) -> Failure {
        let work = match self.stage {
            Stage::Queue => self
                .locked()
                .and_then(|mut locked| locked.gate().running().work.clone()),
            _ => None,
        };
        match work {
            Some(Work::Plain(block)) => match block.running() {
                Some(entry) => {
                    let position = block.position();
                    let failure = self.plain_unwound(entry);
                    let next = self.leave_plain(&block, entry, position);
                    // `end` finds it out if there is nothing to give back to.
                    let _ = self.give_block_back(block, next);
                    failure
                }
                None => self.initializer_unwound(),
            },
            Some(Work::One(request)) => {
                let failure = self.request_unwound(&request);
                self.leave(&request, self.policy != OnDeferredFailure::Drop);
                failure
            }
            None => self.initializer_unwound(),
        }
    }
}

impl Drop for Ownership<'_> {
    fn drop(&mut self) {
        if !matches!(self.stage, Stage::Ended) {
            noexcept(|| {
                let failure = self.unwound();
                self.end(failure);
            });
        }
    }
}
