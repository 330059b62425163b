//! How a slot is set up: a copy of the caller's `lazy_slot_config`, read once.

use crate::abi;
use crate::error::Failure;
use crate::host;
use crate::name::Name;
use crate::once::OnFork;
use crate::sys::bracket::Bracket;
use crate::sys::callback::{Context, Factory};
use crate::sys::memory::Shared;
use crate::sys::site::copy_text;
use crate::sys::sized::Foreign;
use crate::sys::text::text;

/// The copy. The name is ours; what the callbacks point to stays the caller's.
#[derive(Clone, Default)]
pub(crate) struct Config {
    pub(super) name: Name,
    pub(super) factory: Factory,
    pub(super) host: Foreign<abi::lazy_host>,
    /// One value for the process instead of one for each thread.
    pub(super) is_process: bool,
    pub(super) on_fork: OnFork,
    /// How many there were before it in its slot.
    pub(super) number: u32,
}

impl PartialEq for Config {
    fn eq(&self, other: &Self) -> bool {
        *self.name == *other.name
            && self.factory == other.factory
            && host::is_same(self.host, other.host)
            && self.is_process == other.is_process
            && self.on_fork == other.on_fork
    }
}

impl Config {
    /// Checks a configuration and copies it; `None` for NULL.
    pub(crate) fn copy(foreign: Foreign<abi::lazy_slot_config>) -> Result<Option<Self>, Failure> {
        let raw = match foreign.read() {
            None => return Ok(None),
            Some(Ok(raw)) => raw,
            Some(Err(malformed)) => {
                return Err(Failure::invalid(text!(
                    "lazy_slot_config.size: {malformed}"
                )));
            }
        };
        let refuse = |what: &str, value: u32| {
            Err(Failure::invalid(text!(
                "lazy_slot_config.{what} has no value {value}"
            )))
        };
        let is_process = match raw.scope {
            abi::LAZY_SLOT_THREAD => false,
            abi::LAZY_SLOT_PROCESS => true,
            other => return refuse("scope", other),
        };
        let Some(on_fork) = OnFork::of(raw.on_fork) else {
            return refuse("on_fork", raw.on_fork);
        };
        // SAFETY: the C interface says that the table stays valid for as long as it is configured.
        let host: Foreign<abi::lazy_host> = unsafe { Foreign::new(raw.host) };
        if let Some(Err(problem)) = Bracket::read(host) {
            return Err(Failure::invalid(text!("lazy_slot_config.host: {problem}")));
        }
        let name = copy_text(raw.name)?.map(Shared::try_new).transpose()?;
        Ok(Some(Self {
            name: Name(name),
            factory: Factory {
                context: Context(raw.ctx),
                create: raw.create,
                destroy: raw.destroy,
                share: raw.share,
            },
            host,
            is_process,
            on_fork,
            number: 0,
        }))
    }

    pub(super) fn of_name(name: Name) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }
}
