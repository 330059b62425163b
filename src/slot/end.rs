//! Ending values: at the end of their thread, by `retire`, with a snapshot.

use super::Slot;
use super::body::{self, Body};
use super::config::Config;
use super::value::{Stage, Value};
use super::wait::wait_for_end;
use crate::error::Failure;
use crate::host::attached;
use crate::stay::{Doing, Staying};
use crate::sys::bracket::{self, Bracket};
use crate::sys::memory::Shared;
use crate::sys::site::Origin;
use crate::sys::text::text;
use crate::sys::thread::{self, Mark};
use std::ffi::c_void;

/// A value that this thread has taken out of use and owes an end. However that comes about, it is gone afterwards.
pub(super) struct Ending {
    pub(super) value: Shared<Value>,
    pointer: *mut c_void,
    config: Config,
}

impl Ending {
    /// Takes a value out of use, unless somebody else has.
    pub(super) fn claim(value: Shared<Value>) -> Option<Self> {
        let mut held = body::lock();
        let pointer = value.live()?;
        let config = value.body.parts(&mut held)?.config.clone();
        value.work_here();
        value.set_stage(Stage::Leaving);
        drop(held);
        Some(Self::begun(value, pointer, config))
    }

    /// The end of a value that this thread has taken out of use already.
    pub(super) fn begun(value: Shared<Value>, pointer: *mut c_void, config: Config) -> Self {
        // Others may wait for this thread now.
        thread::owns(1);
        Self {
            value,
            pointer,
            config,
        }
    }

    /// The same of one whose destructor has been left.
    pub(super) fn left(value: Shared<Value>) -> Self {
        Self {
            value,
            pointer: std::ptr::null_mut(),
            config: Config::default(),
        }
    }

    /// Runs the destructor, for a call from there. Where the host refuses, the value is leaked. Without a destructor no host is entered, which at
    /// the end of a thread may be past that: CPython's is, in a child that another thread than its main one has forked.
    pub(super) fn run(self, origin: Origin) -> Result<(), Failure> {
        if !self.config.factory.has_destructor() {
            return Ok(());
        }
        let body = self.value.body;
        attached(self.config.bracket()?, body, origin, || {
            self.run_attached(origin);
            Ok(())
        })
    }

    /// The same inside the host.
    pub(super) fn run_attached(&self, origin: Origin) {
        bracket::share();
        let doing = Doing::Ending(self.value.index.into());
        let _staying = Staying::begin(doing, self.value.body, origin);
        Mark::during(self.value.body.mark(), || {
            self.config.factory.destroy(self.value.index, self.pointer);
        });
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let mut held = body::lock();
        // Not if a fork has forgotten it.
        let parts = self.value.body.parts(&mut held);
        let removed = parts
            .filter(|_| self.value.stage() == Stage::Leaving)
            .and_then(|parts| parts.remove(&self.value));
        let wakes = self.value.gone.keep(());
        drop(held);
        drop((wakes, removed));
        thread::owns(-1);
    }
}

/// How retiring came out well.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retired {
    Done,
    /// This thread is inside one of its factories or destructors.
    Inside,
}

impl Slot {
    /// Ends every value, on this thread, and makes sure that no callback of the slot runs or will run; for a call from there.
    pub(crate) fn retire(&self, origin: Origin) -> Result<Retired, Failure> {
        let body = self.body()?;
        if Mark::is_set(body.mark()) {
            return Ok(Retired::Inside);
        }
        let known = body
            .parts(&mut body::lock())
            .map(|parts| parts.config.clone());
        if let Some(config) = known {
            attached(config.bracket()?, body, origin, || {
                body.shut();
                body.end_all(origin)
            })?;
            body.forget_parts();
        }
        Ok(Retired::Done)
    }
}

impl Body {
    fn end_all(&'static self, origin: Origin) -> Result<(), Failure> {
        loop {
            let last = self
                .parts(&mut body::lock())
                .and_then(|parts| parts.values.last().cloned());
            let Some(value) = last else {
                return Ok(());
            };
            match Ending::claim(value.clone()) {
                Some(ending) => ending.run_attached(origin),
                None => wait_for_end(&value, origin)?,
            }
        }
    }
}

impl Config {
    /// The hooks of the host, if there is one.
    pub(super) fn bracket(&self) -> Result<Option<Bracket>, Failure> {
        match Bracket::read(self.host) {
            None => Ok(None),
            Some(Ok(bracket)) => Ok(Some(bracket)),
            Some(Err(problem)) => Err(Failure::invalid(text!("the host of a slot: {problem}"))),
        }
    }
}
