//! One try at initialising: who owns it, what it runs, and how it ends.

use super::gate::{Locked, Running, called};
use super::queue::Block;
use super::{Once, registry, word};
use crate::error::{Error, Facts, Failure, Scope, since};
use crate::once::config::OnFailure;
use crate::sys::callback::Callback;
use crate::sys::memory::{NoMemory, Shared};
use crate::sys::promise::Promise;
use crate::sys::site::Origin;
#[cfg(not(loom))]
use crate::sys::thread::Mark;
use crate::sys::{clock, thread};
// Not loom's: it never changes but in a forked child.
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The attempt as its waiters know it. They hold a reference, so it outlives its once's interest in it.
pub(crate) struct Attempt {
    pub(super) number: u32,
    /// Where it was started from.
    /// The name of its once.
    name: Option<Shared<CString>>,
    pub(super) origin: Origin,
    pub(super) since_ns: u64,
    /// The kernel id of the owner. Relaxed: compared for equality with the reader's own id; a thread reads its own write.
    /// In a forked child the owner has a new id.
    owner: AtomicU64,
    pub(super) outcome: Promise<Outcome>,
}

/// How an attempt ended.
#[derive(Clone)]
pub(crate) enum Outcome {
    Ready,
    Failed(Failure),
    /// In a forked child: its owner does not exist there. Nobody's, so the once is as it was before.
    Void,
}

impl Attempt {
    /// An attempt of this thread's, not yet claimed.
    pub(super) fn try_new(origin: Origin) -> Result<Shared<Self>, NoMemory> {
        Shared::try_new(Self {
            number: 0,
            name: None,
            origin,
            since_ns: clock::now_ns(),
            owner: AtomicU64::new(thread::id()),
            outcome: Promise::new(),
        })
    }

    pub(super) fn name(&self) -> &CStr {
        self.name.as_deref().map_or(c"", CString::as_c_str)
    }

    pub(super) fn owner(&self) -> u64 {
        self.owner.load(Relaxed)
    }

    /// The owner does not exist in this forked child. `held` references are left there, unless this very thread forked,
    /// in a signal handler, while it waited: its own must stay, and so do those of threads that are gone.
    #[cfg(not(loom))]
    pub(super) fn make_void(this: &mut Shared<Self>, held: usize) {
        if !Mark::is_set(this.key()) {
            this.forget_others(held);
        }
        this.outcome.keep(Outcome::Void);
    }

    /// The owner forked, and this is it in the child.
    #[cfg(not(loom))]
    pub(super) fn follow_owner(&self) {
        self.owner.store(thread::id(), Relaxed);
        self.outcome.forget_sleepers();
    }
}

/// How a call that initializes came out well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    Done,
    /// This thread is inside the attempt already.
    InProgress,
}

/// The right and duty of one thread to end an attempt. Unless told otherwise, it ends as failed: whatever unwinds past it
/// (a C++ exception, the end of the thread) leaves a once that works.
pub(super) struct Ownership<'a> {
    once: &'a Once,
    attempt: Shared<Attempt>,
    /// What it is doing.
    stage: Stage,
}

enum Stage {
    /// `None` where there is none, or one has succeeded before.
    Initializer(Option<Callback>),
    Queue,
    Ended,
}

impl<'a> Locked<'a> {
    /// FRESH to INITIALIZING. This thread owns the attempt from here, by the compare-exchange that took the lock.
    pub(super) fn claim(
        mut self,
        once: &'a Once,
        mut attempt: Shared<Attempt>,
        instead: Option<Callback>,
    ) -> Ownership<'a> {
        let number = self.0.counters.begin_attempt();
        let gate = self.gate();
        let inner = attempt.get_mut().expect("nobody has seen the attempt yet");
        inner.number = number;
        inner.name = gate.config.name.clone();
        let initializer = if gate.native_done {
            None
        } else {
            instead.or(gate.config.initialize)
        };
        let old = gate.latest.replace(attempt.clone());
        gate.running = Some(Running {
            attempt: attempt.clone(),
            block: None,
        });
        self.0.set_payload(word::INITIALIZING);
        drop(self);
        drop(old);
        thread::owns(1);
        Ownership {
            once,
            attempt,
            stage: Stage::Initializer(initializer),
        }
    }
}

impl<'a> Ownership<'a> {
    /// Runs the initializer, unless one has succeeded before, and the queue, and publishes READY.
    pub(super) fn run(self) -> Result<Progress, Failure> {
        if let Stage::Initializer(Some(initializer)) = self.stage {
            let scope = Scope::enter();
            let code = initializer.run();
            if code != 0 {
                let failure = self.initializer_failed(code, &scope);
                return Err(self.fail(failure));
            }
        }
        self.drain()
    }

    /// Runs the queue until it is empty under the lock that appends take; then READY.
    fn drain(mut self) -> Result<Progress, Failure> {
        loop {
            let Some(block) = self.next_block() else {
                match self.publish() {
                    Ok(progress) => return Ok(progress),
                    Err(more) => self = more,
                }
                continue;
            };
            if let Err(failure) = self.run_block(&block) {
                drop(block);
                return Err(self.fail(failure));
            }
            self.finish_block(block);
        }
    }

    fn run_block(&self, block: &Block) -> Result<(), Failure> {
        let scope = Scope::enter();
        for entry in block.run() {
            let code = entry.callback.run();
            if code != 0 {
                return Err(self.request_failed(block, code, &scope));
            }
            scope.forget();
        }
        Ok(())
    }

    /// The next requests; the gate keeps a reference, so that whoever ends the attempt finds what did not run. The first
    /// time this is INITIALIZING to DRAINING.
    fn next_block(&mut self) -> Option<Shared<Block>> {
        let mut locked = self.locked();
        if let Stage::Initializer(_) = self.stage {
            self.stage = Stage::Queue;
            locked.gate().native_done = true;
            locked.0.set_payload(word::DRAINING);
        }
        let gate = locked.gate();
        let block = gate.queue.take()?;
        gate.running_mut().block = Some(block.clone());
        Some(block)
    }

    fn finish_block(&self, block: Shared<Block>) {
        let mut locked = self.locked();
        let done = locked.gate().running_mut().block.take();
        drop(locked);
        drop((done, block));
    }

    /// DRAINING to READY, if the queue is still empty. After the exchange the once is touched no more.
    fn publish(mut self) -> Result<Progress, Self> {
        let mut registry = registry::lock();
        let mut locked = self.locked();
        if !locked.gate().queue.is_empty() {
            drop((locked, registry));
            return Err(self);
        }
        let running = locked.gate().running.take();
        let gate = locked.take_unneeded(&mut registry, word::READY);
        self.stage = Stage::Ended;
        thread::owns(-1);
        locked.0.publish(word::READY);
        drop(registry);
        self.attempt.outcome.keep(Outcome::Ready);
        drop((running, gate));
        Ok(Progress::Done)
    }

    /// Ends the attempt as failed, the queue kept: the running request first, then what has not run.
    fn fail(mut self, failure: Failure) -> Failure {
        self.end(failure.clone());
        failure
    }

    fn end(&mut self, failure: Failure) {
        self.stage = Stage::Ended;
        thread::owns(-1);
        let mut registry = registry::lock();
        let mut locked = self.locked();
        let gate = locked.gate();
        let sticky = gate.config.on_failure == OnFailure::Sticky;
        let running = gate.running.take();
        let (attempt, block) = running.map_or((None, None), |running| {
            (Some(running.attempt), running.block)
        });
        if let Some(block) = block {
            gate.queue.restore(block);
        }
        if sticky {
            gate.final_error = Some(failure.clone());
        }
        let phase = if sticky { word::FAILED } else { word::FRESH };
        locked.0.set_payload(phase);
        let unneeded = locked.take_unneeded(&mut registry, phase);
        drop(locked);
        drop(registry);
        self.attempt.outcome.keep(Outcome::Failed(failure));
        drop((attempt, unneeded));
    }

    fn locked(&self) -> Locked<'a> {
        self.once
            .lock()
            .expect("a once becomes ready only through its owner")
    }

    fn initializer_failed(&self, code: i32, scope: &Scope) -> Failure {
        let (said, cause) = scope.take(code);
        let name = self.attempt.name();
        let (status, said) = said.map_or((crate::abi::LAZY_E_INIT, None), |said| {
            (said.status, Some(said.text))
        });
        let mut text = format!(
            "the initializer of {} failed with code {code}",
            called(name)
        );
        if let Some(said) = said {
            text += &format!(": {said}");
        }
        let init_site = self.attempt.origin.resolve();
        text += &format!(
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

    fn request_failed(&self, block: &Block, code: i32, scope: &Scope) -> Failure {
        let (said, cause) = scope.take(code);
        let reason = match said {
            Some(said) => format!("failed with code {code}: {}", said.text),
            None => format!("failed with code {code}"),
        };
        self.deferred(block, code, cause, &reason)
    }

    fn deferred(&self, block: &Block, code: i32, cause: Option<Failure>, reason: &str) -> Failure {
        let name = self.attempt.name();
        let (site, ticket) = block
            .running()
            .map_or_else(Default::default, |(entry, ticket)| {
                (entry.origin().resolve(), ticket)
            });
        let text = format!(
            "a callback queued on {} by {site} {reason} (ticket {ticket}, attempt {} on thread {}, started at {}); \
             {}",
            called(name),
            self.attempt.number,
            self.attempt.owner(),
            self.attempt.origin.resolve(),
            self.prospect("it stays at the head of the queue and the next attempt resumes there")
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
        let sticky = self.locked().gate().config.on_failure == OnFailure::Sticky;
        if sticky {
            "that is final: LAZY_FAIL_STICKY"
        } else {
            usual
        }
    }

    /// What left the attempt without a result.
    fn unwound(&self) -> Failure {
        if let Stage::Queue = self.stage {
            let block = self.locked().gate().running().block.clone();
            if let Some(block) = block {
                return self.deferred(
                    &block,
                    0,
                    None,
                    "was left by an exception or by the end of its thread",
                );
            }
        }
        let name = self.attempt.name();
        let text = format!(
            "the initializer of {} was left by an exception or by the end of its thread (attempt {} on thread {}, \
             started at {})",
            called(name),
            self.attempt.number,
            self.attempt.owner(),
            self.attempt.origin.resolve()
        );
        Failure::new(Error::Init(text), name, self.facts())
    }

    fn facts(&self) -> Facts {
        Facts {
            init_site: self.attempt.origin.resolve(),
            owner_thread: self.attempt.owner(),
            elapsed_ns: clock::now_ns().saturating_sub(self.attempt.since_ns),
            attempt: self.attempt.number,
            ..Facts::default()
        }
    }
}

impl Drop for Ownership<'_> {
    fn drop(&mut self) {
        if !matches!(self.stage, Stage::Ended) {
            let failure = self.unwound();
            self.end(failure);
        }
    }
}

impl Once {
    /// Configuring after the first attempt.
    pub(super) fn too_late(&self, latest: Option<Shared<Attempt>>) -> Failure {
        let name = self.name();
        let mut facts = Facts::default();
        let mut text = format!(
            "{} cannot be configured any more: an attempt to initialize it has been made",
            called(&name)
        );
        if let Some(attempt) = latest {
            facts.init_site = attempt.origin.resolve();
            facts.owner_thread = attempt.owner();
            facts.attempt = attempt.number;
            text += &format!(
                " (attempt {} by thread {}, started at {}, {} ago)",
                attempt.number,
                attempt.owner(),
                facts.init_site,
                since(attempt.since_ns)
            );
        }
        text += "; configure it before its first use";
        Failure::new(Error::TooLate(text), &name, facts)
    }
}
