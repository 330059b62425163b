//! A once as it is now, for people.

use super::attempt::Attempt;
use super::config::Config;
use super::gate::Body;
use super::queue::{Request, Work};
use super::{Once, registry};
use crate::abi;
use crate::sys::memory::Shared;
use crate::sys::site::Origin;
use crate::sys::sized::Foreign;
use std::ffi::{CString, c_char};
use std::sync::atomic::Ordering::Relaxed;

/// What `lazy_once_info` tells, before addresses are looked up.
pub(crate) struct Info {
    name: Option<Shared<CString>>,
    /// Where the name stands if the once has no copy of it.
    bound: Foreign<abi::lazy_config>,
    pub(crate) has_initializer: bool,
    pub(crate) phase: u32,
    pub(crate) attempts: u32,
    pub(crate) generation: u32,
    pub(crate) waiters: u32,
    /// How many threads are inside `prepare`.
    pub(crate) preparing: u32,
    pub(crate) queued: u64,
    pub(crate) owner: u64,
    pub(crate) since_ns: u64,
    pub(crate) init_ns: u64,
    pub(crate) init_pid: u32,
    /// Where the running request comes from.
    pub(crate) running: Option<Origin>,
    /// What has the strings of that.
    pub(crate) kept: Kept,
    latest: Option<Shared<Attempt>>,
    pub(crate) lost_queue: bool,
}

/// A request whose place somebody looks at, if there is one.
pub(crate) struct Kept {
    _request: Option<Shared<Request>>,
}

impl Kept {
    pub(crate) const NOTHING: Self = Self { _request: None };
}

impl Info {
    /// The name, for as long as the once keeps its configuration; NULL for none.
    pub(crate) fn name(&self) -> *const c_char {
        match &self.name {
            Some(name) => name.as_ptr(),
            None => self.bound().map_or(std::ptr::null(), |config| config.name),
        }
    }

    /// Where the latest attempt was started, for as long as the once remembers it.
    pub(crate) fn init(&self) -> Option<Origin> {
        self.latest.as_ref().map(|attempt| attempt.origin())
    }

    /// What is bound, where the once has no copy.
    fn bound(&self) -> Option<abi::lazy_config> {
        self.bound.read()?.ok()
    }
}

impl Once {
    /// Tells how the once stands.
    pub(crate) fn info(&self) -> Info {
        let mut registry = registry::lock();
        self.with_body(&mut registry, |phase, body, _| body.info(*phase))
    }

    /// The same for a look under the lock, so that nothing is freed by it.
    pub(crate) fn inspect(&self, registry: &mut registry::Held<'_>, look: impl FnOnce(&Info)) {
        self.with_body(registry, |phase, body, _| look(&body.info(*phase)));
    }
}

impl Body {
    fn info(&self, phase: u32) -> Info {
        let mut info = Info {
            name: None,
            bound: self.config,
            has_initializer: false,
            phase,
            attempts: self.counters.attempts(),
            generation: self.counters.generation(),
            waiters: 0,
            preparing: 0,
            queued: 0,
            owner: 0,
            since_ns: 0,
            init_ns: 0,
            init_pid: 0,
            running: None,
            kept: Kept::NOTHING,
            latest: None,
            lost_queue: false,
        };
        let Some(gate) = &self.gate else {
            info.has_initializer = info
                .bound()
                .is_some_and(|config| config.initialize.is_some());
            return info;
        };
        let Config {
            name, initialize, ..
        } = &gate.config;
        info.name = name.clone();
        info.bound = Foreign::NULL;
        info.has_initializer = initialize.is_some();
        let taken = gate
            .running
            .as_ref()
            .and_then(|running| running.work.as_ref());
        info.queued = (gate.queue.len() + taken.map_or(0, Work::waiting)) as u64;
        info.since_ns = gate.history.since_ns;
        info.init_ns = gate.history.init_ns;
        info.init_pid = gate.history.init_pid;
        info.latest = gate.latest.clone();
        info.lost_queue = gate.lost_queue;
        info.preparing = gate.preparing;
        if let Some(running) = &gate.running {
            info.owner = running.attempt.owner();
            info.waiters = running.attempt.waiters.load(Relaxed);
            let has_run =
                |work: &&Work| matches!(work, Work::One(request) if gate.queue.is_leaving(request));
            let runs = running.work.as_ref().filter(|work| !has_run(work));
            info.running = runs.and_then(Work::origin);
            info.kept = Kept {
                _request: runs.and_then(Work::request),
            };
        }
        info
    }
}
