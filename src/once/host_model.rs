//! Models have no host: every body runs as it is, and every wait is a plain one.

use super::Once;
use crate::abi;
use crate::error::Failure;
use crate::sys::clock::{Deadline, Limit};
use crate::sys::promise::Promise;
use crate::sys::site::Origin;
use crate::sys::sized::Foreign;
use crate::sys::text::Text;

pub(super) struct Bracket;

pub(super) fn of(_configured: Foreign<abi::lazy_host>) -> Result<Option<Bracket>, Failure> {
    Ok(None)
}

pub(super) fn share() {}

pub(super) fn is_same(_ours: Foreign<abi::lazy_host>, _theirs: Foreign<abi::lazy_host>) -> bool {
    true
}

impl Once {
    pub(super) fn attached<R>(
        &self,
        _host: Option<Bracket>,
        _origin: Origin,
        body: impl FnOnce() -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        body()
    }

    pub(super) fn wait_on<'p, T>(
        &self,
        promise: &'p Promise<T>,
        limit: &Limit,
        _origin: Origin,
        _whom: &dyn Fn() -> Text,
        _lose: &dyn Fn(),
    ) -> Result<Option<&'p T>, Failure> {
        Ok(limit.spend(|deadline| promise.wait(deadline)))
    }

    pub(super) fn wait_stubbornly<T>(
        &self,
        promise: &Promise<T>,
        _by: u64,
        _origin: Origin,
        _whom: &dyn Fn() -> Text,
        _lose: &dyn Fn(),
    ) {
        promise.wait(Deadline::Never);
    }
}
