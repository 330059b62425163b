//! Getting a value: found, made by this thread, or waited for while another thread makes it.

use super::Slot;
use super::body::{self, Body, Parts, Room};
use super::config::Config;
use super::failure;
use super::mine;
use super::value::{Holder, Stage, Value};
use super::wait::wait_for;
use crate::abi::{LAZY_E_CALLBACK, LAZY_OK};
use crate::error::{Failure, Scope};
use crate::fork;
use crate::host::attached;
use crate::stay::{Doing, Staying};
use crate::sys::bracket;
use crate::sys::errno;
use crate::sys::memory::Shared;
use crate::sys::process;
use crate::sys::site::Origin;
use crate::sys::stack;
use crate::sys::thread::{self, Mark};
use crate::trace::{Span, What};
use std::cell::Cell;
use std::ffi::c_void;

/// A look for a value that has to be made.
enum Look {
    There(*mut c_void),
    /// Somebody makes it or ends it.
    Busy(Shared<Value>),
    /// It is this thread's to make.
    Ours(Making),
    /// Something has changed: from the top.
    Again,
}

impl Slot {
    /// The value at an index, made now if it is not there, for a call from there. `errno` is what a factory of this thread has left there.
    pub(crate) fn get(
        &self,
        index: u32,
        origin: Origin,
        errno: &Cell<Option<i32>>,
    ) -> Result<*mut c_void, Failure> {
        let body = self.open()?;
        let key = body.id(index);
        let entered = mine::find_entered(key);
        if let Some(pointer) = entered.and_then(|value| value.live()) {
            return Ok(pointer);
        }
        let own = mine::find_own(key);
        if let Some(pointer) = own.and_then(|value| value.live()) {
            return Ok(pointer);
        }
        loop {
            let config = body.config()?;
            if let Some(pointer) = body.shared_value(&config, index)? {
                return Ok(pointer);
            }
            if config.factory.create.is_none() {
                return Err(failure::not_found(body, index));
            }
            // Attached before the making is owned: whoever waits for it does so without the host.
            let made = attached(config.bracket()?, body, origin, || {
                // A hook of the host may have forked.
                fork::look();
                loop {
                    match body.look(&config, index)? {
                        Look::There(pointer) => return Ok(Some(pointer)),
                        Look::Busy(value) => wait_for(&value, origin)?,
                        Look::Ours(making) => return making.run(&config, origin, errno).map(Some),
                        Look::Again => return Ok(None),
                    }
                }
            })?;
            if let Some(pointer) = made {
                return Ok(pointer);
            }
        }
    }

    /// Is there a value? Makes none.
    pub(crate) fn has(&self, index: u32) -> bool {
        let body = self
            .known_body()
            .filter(|body| body.is_ours() && body.is_open());
        let Some(body) = body else {
            return false;
        };
        let key = body.id(index);
        let is_live = |value: Shared<Value>| value.live().is_some();
        mine::find_entered(key).is_some_and(is_live)
            || mine::find_own(key).is_some_and(is_live)
            || body.find_shared(index).is_some_and(is_live)
    }
}

impl Body {
    /// The process's value at an index.
    pub(super) fn find_shared(&self, index: u32) -> Option<Shared<Value>> {
        let mut held = body::lock();
        self.parts(&mut held)?.process.find(self.id(index)).cloned()
    }

    /// The value of the process or of this thread itself, in any stage.
    pub(super) fn find_held(&self, config: &Config, index: u32) -> Option<Shared<Value>> {
        if config.is_process {
            self.find_shared(index)
        } else {
            mine::find_own(self.id(index))
        }
    }

    /// The process's value, if it is there; this thread finds it by itself from now on.
    fn shared_value(&self, config: &Config, index: u32) -> Result<Option<*mut c_void>, Failure> {
        if !config.is_process {
            return Ok(None);
        }
        let value = self.find_shared(index);
        let Some(pointer) = value.as_ref().and_then(|value| value.live()) else {
            return Ok(None);
        };
        if let Some(value) = value
            && mine::reserve().is_ok()
        {
            mine::put(value);
        }
        Ok(Some(pointer))
    }

    /// Looks once more, and makes the value this thread's to make if nobody has it.
    fn look(&'static self, config: &Config, index: u32) -> Result<Look, Failure> {
        if let Some(value) = self.find_held(config, index) {
            match (value.stage(), value.live()) {
                (_, Some(pointer)) => return Ok(Look::There(pointer)),
                (Stage::Making, _) if value.is_worked_on_here() => {
                    return Err(Making::again(value, "asks for"));
                }
                (Stage::Making | Stage::Leaving, _) if config.is_process => {
                    return Ok(Look::Busy(value));
                }
                _ => {}
            }
        }
        let value = Value::new(self, index, Self::holder(config), Stage::Making);
        let begun = self.begin(value, config)?;
        Ok(begun.map_or(Look::Again, |value| Look::Ours(Making::begun(value))))
    }

    /// Lists a new value; `None` if it is the process's and the process has one by now, or the configuration is not this one
    /// any more.
    pub(super) fn begin(
        &'static self,
        value: Value,
        config: &Config,
    ) -> Result<Option<Shared<Value>>, Failure> {
        let value = Shared::try_new(value)?;
        mine::reserve()?;
        let listed = self.with_room(|parts| {
            let there = parts.process.find(value.id());
            let is_first =
                value.holder != Holder::Process || there.is_none_or(|there| there.is_gone());
            (is_first && parts.config.number == config.number).then(|| {
                value.work_here();
                if value.live().is_some() {
                    parts.pid = process::id();
                }
                parts.add(value.clone());
                (value.holder == Holder::Process)
                    .then(|| parts.process.put(value.id(), value.clone()))
            })
        })?;
        // What it replaces is freed here.
        let Some(_replaced) = listed else {
            return Ok(None);
        };
        if !matches!(value.holder, Holder::Snapshot(_)) {
            mine::put(value.clone());
        }
        Ok(Some(value))
    }

    /// Changes the parts of an open slot with room for one more value.
    pub(super) fn with_room<R>(&self, change: impl FnOnce(&mut Parts) -> R) -> Result<R, Failure> {
        // Declared first: what is left of it is freed after the lock.
        let mut room = Room::default();
        loop {
            let mut held = body::lock();
            let Some(parts) = self.parts(&mut held).filter(|_| self.is_open()) else {
                drop(held);
                return Err(self.refusal());
            };
            match parts.take_room(&mut room) {
                Ok(()) => return Ok(change(parts)),
                Err(lack) => {
                    drop(held);
                    room.provide(lack)?;
                }
            }
        }
    }

    /// Whose a new value is.
    pub(super) fn holder(config: &Config) -> Holder {
        if config.is_process {
            Holder::Process
        } else {
            mine::holder()
        }
    }
}

/// A value that this thread makes. Unless that comes to an end, nothing is left of it.
pub(super) struct Making {
    value: Shared<Value>,
    failure: Option<Failure>,
    is_done: bool,
}

impl Making {
    pub(super) fn begun(value: Shared<Value>) -> Self {
        // Others may wait for this thread now.
        thread::owns(1);
        Self {
            value,
            failure: None,
            is_done: false,
        }
    }

    fn run(
        mut self,
        config: &Config,
        origin: Origin,
        errno: &Cell<Option<i32>>,
    ) -> Result<*mut c_void, Failure> {
        let (body, index) = (self.value.body, self.value.index);
        let scope = Scope::enter();
        self.value.set_frame(stack::here());
        let span = Span::begin(|| What::factory(body, index, origin));
        let staying = Staying::begin(Doing::Making(index.into()), body, origin);
        let created = Mark::during(body.mark(), || {
            bracket::share();
            config.factory.create(index)
        });
        errno.set(Some(errno::get()));
        fork::look();
        drop(staying);
        span.end(match created {
            Some(Ok(_)) => LAZY_OK,
            _ => LAZY_E_CALLBACK,
        });
        match created {
            Some(Ok(pointer)) => self.finish(pointer),
            Some(Err(code)) => {
                let failure = failure::failed(body, index, code, &scope);
                self.failure = Some(failure.clone());
                Err(failure)
            }
            None => Err(failure::not_found(body, index)),
        }
    }

    /// What this thread gets that makes that value and asks for it: inside the factory, or where a `longjmp` has left that. Then it ends here.
    /// Asking is what `does` says.
    pub(super) fn again(value: Shared<Value>, does: &str) -> Failure {
        if !stack::is_gone(value.frame()) {
            return failure::recursive(value.body, value.index, does);
        }
        let left = failure::left(value.body, value.index);
        drop(Self::left(value, left.clone()));
        left
    }

    /// The making of one whose factory has been left, which ends in that where this is dropped.
    pub(super) fn left(value: Shared<Value>, failure: Failure) -> Self {
        Self {
            value,
            failure: Some(failure),
            is_done: false,
        }
    }

    /// It is made.
    pub(super) fn finish(&mut self, pointer: *mut c_void) -> Result<*mut c_void, Failure> {
        let body = self.value.body;
        let mut held = body::lock();
        // Not if a fork has forgotten it.
        if self.value.stage() == Stage::Making
            && let Some(parts) = body.parts(&mut held)
        {
            self.value.replace(pointer);
            self.value.set_stage(Stage::Live);
            parts.pid = process::id();
            self.is_done = true;
        }
        let wakes = self.is_done.then(|| self.value.made.keep(None));
        drop(held);
        drop(wakes);
        if self.is_done && body.is_open() {
            Ok(pointer)
        } else {
            Err(body.refusal())
        }
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        let value = &self.value;
        if !self.is_done {
            let failure = self.failure.take();
            let failure = failure.unwrap_or_else(|| failure::unwound(value.body, value.index));
            let mut held = body::lock();
            let removed = value.body.parts(&mut held).map(|parts| {
                let listed = (value.stage() == Stage::Making).then(|| parts.remove(value));
                (listed, parts.process.take(value))
            });
            let wakes = value.made.keep(Some(failure));
            drop(held);
            drop((wakes, removed));
            mine::take(value);
        }
        thread::owns(-1);
    }
}
