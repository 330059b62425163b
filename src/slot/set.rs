//! Storing a value: a new one, or another in place of the one that is there.

use super::Slot;
use super::body::Body;
use super::config::Config;
use super::end::Ending;
use super::make::Making;
use super::mine;
use super::value::{Holder, Stage, Value};
use super::wait::wait_for;
use crate::error::Failure;
use crate::host::attached;
use crate::sys::memory::Shared;
use crate::sys::site::Origin;
use std::ffi::c_void;

impl Slot {
    /// Stores a value: in the innermost entered snapshot that has one there, else for this thread or for the process; for a call from there.
    pub(crate) fn set(
        &self,
        index: u32,
        pointer: *mut c_void,
        origin: Origin,
    ) -> Result<(), Failure> {
        let body = self.open()?;
        let entered = mine::find_entered(body.id(index));
        if let Some(value) = entered.filter(|value| value.live().is_some()) {
            return exchange(&value, pointer, &body.config()?, origin);
        }
        while !self.set_own(body, index, pointer, origin)? {}
        Ok(())
    }

    /// For this thread, or the process; false if the configuration has changed meanwhile.
    fn set_own(
        &self,
        body: &'static Body,
        index: u32,
        pointer: *mut c_void,
        origin: Origin,
    ) -> Result<bool, Failure> {
        let config = body.config()?;
        attached(config.bracket()?, body, origin, || {
            loop {
                let there = body.find_held(&config, index);
                match there.as_ref().map(|value| (value, value.stage())) {
                    Some((value, Stage::Live)) => {
                        return exchange(value, pointer, &config, origin).map(|()| true);
                    }
                    Some((value, Stage::Making)) if value.is_worked_on_here() => {
                        return Err(Making::again(value.clone(), "stores"));
                    }
                    Some((value, Stage::Making | Stage::Leaving)) if config.is_process => {
                        wait_for(value, origin)?;
                    }
                    _ => {
                        let value = Value::new(body, index, Body::holder(&config), Stage::Live)
                            .with_pointer(pointer);
                        return Ok(body.begin(value, &config)?.is_some());
                    }
                }
            }
        })
    }
}

/// Puts a pointer in place of the one that is there. A thread's former value is ended at once; others may be using a former value of
/// the process or of a snapshot, so it is ended with the rest.
fn exchange(
    value: &Shared<Value>,
    pointer: *mut c_void,
    config: &Config,
    origin: Origin,
) -> Result<(), Failure> {
    if value.live() == Some(pointer) {
        return Ok(());
    }
    let body = value.body;
    if config.factory.destroy.is_none() {
        return body.with_room(|_| _ = value.replace(pointer));
    }
    let is_ours = matches!(value.holder, Holder::Thread(_));
    let stage = if is_ours { Stage::Leaving } else { Stage::Live };
    let former = Shared::try_new(Value::new(body, value.index, value.holder, stage))?;
    let replaced = body.with_room(|parts| {
        let replaced = value.replace(pointer);
        former.replace(replaced);
        parts.add(former.clone());
        replaced
    })?;
    if is_ours {
        Ending::begun(former, replaced, config.clone()).run_attached(origin);
    }
    Ok(())
}
