//! How a once is set up: a copy of the caller's `lazy_config`, read once.

use crate::abi;
use crate::error::Failure;
use crate::sys::callback::Callback;
use crate::sys::clock::Deadline;
use crate::sys::memory::Shared;
use crate::sys::site::copy_text;
use crate::sys::sized::Foreign;
use std::ffi::CString;

/// What waiters of a failed attempt do.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum OnFailure {
    #[default]
    Share,
    Retry,
    Sticky,
}

/// The copy. The name is ours; what the callbacks point to stays the caller's.
#[derive(Default)]
pub(crate) struct Config {
    pub(crate) name: Option<Shared<CString>>,
    pub(crate) initialize: Option<Callback>,
    pub(crate) on_failure: OnFailure,
    pub(crate) timeout_ns: u64,
}

impl PartialEq for Config {
    fn eq(&self, other: &Self) -> bool {
        self.name.as_deref() == other.name.as_deref()
            && self.initialize == other.initialize
            && self.on_failure == other.on_failure
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
                return Err(Failure::invalid(format!("lazy_config.size: {malformed}")));
            }
        };
        let name = copy_text(raw.name)?;
        Self::check(&raw, name).map(Some)
    }

    fn check(raw: &abi::lazy_config, name: Option<CString>) -> Result<Self, Failure> {
        let refuse = |what: &str, value: u32| {
            Err(Failure::invalid(format!(
                "lazy_config.{what} has no value {value}"
            )))
        };
        let later = |what: &str| {
            Err(Failure::new(
                crate::error::Error::Unavailable(format!(
                    "lazy_config.{what} is not available in this version"
                )),
                name.as_deref().unwrap_or_default(),
                crate::error::Facts::default(),
            ))
        };
        let on_failure = match raw.on_failure {
            abi::LAZY_FAIL_SHARE => OnFailure::Share,
            abi::LAZY_FAIL_RETRY => OnFailure::Retry,
            abi::LAZY_FAIL_STICKY => OnFailure::Sticky,
            other => return refuse("on_failure", other),
        };
        match raw.on_deferred_failure {
            abi::LAZY_DEFERRED_KEEP => {}
            abi::LAZY_DEFERRED_DROP | abi::LAZY_DEFERRED_CONTINUE => {
                return later("on_deferred_failure");
            }
            other => return refuse("on_deferred_failure", other),
        }
        match raw.on_fork {
            abi::LAZY_FORK_KEEP => {}
            abi::LAZY_FORK_POISON | abi::LAZY_FORK_RESET => return later("on_fork"),
            other => return refuse("on_fork", other),
        }
        match raw.contended {
            abi::LAZY_CONTENDED_WAIT => {}
            abi::LAZY_CONTENDED_QUEUE => return later("contended"),
            other => return refuse("contended", other),
        }
        if raw.prepare.is_some() || raw.can_init.is_some() {
            return later("prepare or can_init");
        }
        if !raw.host.is_null() {
            return later("host");
        }
        Ok(Self {
            name: name.map(Shared::try_new).transpose()?,
            initialize: raw
                .initialize
                .map(|function| Callback::new(function, raw.ctx)),
            on_failure,
            timeout_ns: raw.timeout_ns,
        })
    }

    /// When a wait that starts now is given up.
    pub(crate) fn deadline(&self) -> Deadline {
        if self.timeout_ns == 0 {
            Deadline::Never
        } else {
            Deadline::after(self.timeout_ns)
        }
    }
}
