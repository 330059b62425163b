//! How a once is set up: a copy of the caller's `lazy_config`, read once.

use super::host;
use crate::abi;
use crate::error::Failure;
#[cfg(not(loom))]
use crate::sys::bracket::Bracket;
use crate::sys::callback::Callback;
use crate::sys::memory::Shared;
use crate::sys::site::copy_text;
use crate::sys::sized::Foreign;
use crate::sys::text::text;
use std::ffi::CString;

/// What waiters of a failed attempt do.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum OnFailure {
    #[default]
    Share,
    Retry,
    Sticky,
}

/// What becomes of a queued callback that failed, and of those behind it.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum OnDeferredFailure {
    #[default]
    Keep,
    Drop,
    Continue,
}

/// What a forked child finds.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum OnFork {
    #[default]
    Keep,
    Poison,
    Reset,
}

impl OnFork {
    /// `None` for a number that stands for no policy.
    pub(crate) fn of(number: u32) -> Option<Self> {
        match number {
            abi::LAZY_FORK_KEEP => Some(Self::Keep),
            abi::LAZY_FORK_POISON => Some(Self::Poison),
            abi::LAZY_FORK_RESET => Some(Self::Reset),
            _ => None,
        }
    }
}

/// The copy. The name is ours; what the callbacks point to stays the caller's.
#[derive(Default)]
pub(crate) struct Config {
    pub(crate) name: Option<Shared<CString>>,
    pub(crate) initialize: Option<Callback>,
    pub(crate) prepare: Option<Callback>,
    pub(crate) can_init: Option<Callback>,
    pub(crate) on_failure: OnFailure,
    pub(crate) on_deferred_failure: OnDeferredFailure,
    pub(crate) on_fork: OnFork,
    /// A call that finds another thread's attempt is queued for it instead of waiting.
    pub(crate) queues_when_contended: bool,
    /// NULL for the process's.
    pub(crate) host: Foreign<abi::lazy_host>,
    pub(crate) timeout_ns: u64,
}

impl PartialEq for Config {
    fn eq(&self, other: &Self) -> bool {
        self.name.as_deref() == other.name.as_deref()
            && self.initialize == other.initialize
            && self.prepare == other.prepare
            && self.can_init == other.can_init
            && self.on_failure == other.on_failure
            && self.on_deferred_failure == other.on_deferred_failure
            && self.on_fork == other.on_fork
            && self.queues_when_contended == other.queues_when_contended
            && host::is_same(self.host, other.host)
            && self.timeout_ns == other.timeout_ns
    }
}

impl Config {
    /// Checks a configuration and copies it; `None` for NULL.
    pub(crate) fn copy(foreign: Foreign<abi::lazy_config>) -> Result<Option<Self>, Failure> {
        let raw = match foreign.read() {
            None => return Ok(None),
            Some(Ok(raw)) => raw,
            Some(Err(malformed)) => {
                return Err(Failure::invalid(text!("lazy_config.size: {malformed}")));
            }
        };
        let name = copy_text(raw.name)?;
        Self::check(&raw, name).map(Some)
    }

    fn check(raw: &abi::lazy_config, name: Option<CString>) -> Result<Self, Failure> {
        let refuse = |what: &str, value: u32| {
            Err(Failure::invalid(text!(
                "lazy_config.{what} has no value {value}"
            )))
        };
        let on_failure = match raw.on_failure {
            abi::LAZY_FAIL_SHARE => OnFailure::Share,
            abi::LAZY_FAIL_RETRY => OnFailure::Retry,
            abi::LAZY_FAIL_STICKY => OnFailure::Sticky,
            other => return refuse("on_failure", other),
        };
        let on_deferred_failure = match raw.on_deferred_failure {
            abi::LAZY_DEFERRED_KEEP => OnDeferredFailure::Keep,
            abi::LAZY_DEFERRED_DROP => OnDeferredFailure::Drop,
            abi::LAZY_DEFERRED_CONTINUE => OnDeferredFailure::Continue,
            other => return refuse("on_deferred_failure", other),
        };
        let Some(on_fork) = OnFork::of(raw.on_fork) else {
            return refuse("on_fork", raw.on_fork);
        };
        let queues_when_contended = match raw.contended {
            abi::LAZY_CONTENDED_WAIT => false,
            abi::LAZY_CONTENDED_QUEUE => true,
            other => return refuse("contended", other),
        };
        // SAFETY: the C interface says that the table stays valid for as long as it is configured.
        let host: Foreign<abi::lazy_host> = unsafe { Foreign::new(raw.host) };
        #[cfg(not(loom))]
        if let Some(Err(problem)) = Bracket::read(host) {
            return Err(Failure::invalid(text!("lazy_config.host: {problem}")));
        }
        let callback =
            |function: abi::lazy_fn| function.map(|function| Callback::new(function, raw.ctx));
        Ok(Self {
            name: name.map(Shared::try_new).transpose()?,
            initialize: callback(raw.initialize),
            prepare: callback(raw.prepare),
            can_init: callback(raw.can_init),
            on_failure,
            on_deferred_failure,
            on_fork,
            queues_when_contended,
            host,
            timeout_ns: raw.timeout_ns,
        })
    }

    /// A configuration that has a name and nothing else.
    #[cfg(not(loom))]
    pub(crate) fn of_name(name: CString) -> Result<Self, Failure> {
        Ok(Self {
            name: Some(Shared::try_new(name)?),
            ..Self::default()
        })
    }

    /// Takes over from another configuration what a backend that sets a once up leaves alone; a callback keeps its own `ctx`.
    #[cfg(not(loom))]
    pub(super) fn keep_rest(&mut self, present: &Self) {
        if present.name.is_some() {
            self.name = present.name.clone();
        }
        self.can_init = present.can_init;
        self.on_failure = present.on_failure;
        self.on_deferred_failure = present.on_deferred_failure;
        self.queues_when_contended = present.queues_when_contended;
        self.host = present.host;
        self.timeout_ns = present.timeout_ns;
    }

    /// The host in a configuration that is bound and has not been copied.
    pub(crate) fn host_of(bound: Foreign<abi::lazy_config>) -> Foreign<abi::lazy_host> {
        match bound.read() {
            // SAFETY: as in `check`.
            Some(Ok(raw)) => unsafe { Foreign::new(raw.host) },
            _ => Foreign::NULL,
        }
    }

    /// What it points to may go away.
    pub(crate) fn forget_pointers(&mut self) {
        self.initialize = None;
        self.prepare = None;
        self.can_init = None;
        self.host = Foreign::NULL;
    }

    /// How long a call waits; `u64::MAX` for no limit.
    pub(crate) fn limit_ns(&self) -> u64 {
        if self.timeout_ns == 0 {
            u64::MAX
        } else {
            self.timeout_ns
        }
    }
}
