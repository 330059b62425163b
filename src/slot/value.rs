//! One value of a slot, from the moment at which somebody begins to make it until it has been ended.

use super::body::Body;
use crate::error::Failure;
use crate::stay::Doing;
use crate::sys::promise::Promise;
use crate::sys::published::Published;
use crate::sys::thread;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// How far a value is. Changes under the lock of the slots.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Stage {
    /// A thread runs the factory for it.
    Making = 0,
    /// It is there. The only stage that is also looked at without the lock.
    Live = 1,
    /// A thread runs the destructor.
    Leaving = 2,
    /// It is in nobody's list any more, and nobody waits for it.
    Gone = 3,
}

/// Whose values they are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    /// A thread's, by the address of its own storage.
    Thread(usize),
    Process,
    /// A snapshot's, by its address.
    Snapshot(usize),
}

pub(crate) struct Value {
    pub(super) body: &'static Body,
    pub(crate) index: u32,
    pub(super) holder: Holder,
    /// The kernel's id of the thread that makes or ends it.
    worker: AtomicU64,
    /// A frame of that thread's, above the factory. Relaxed: only that thread looks.
    frame: AtomicUsize,
    published: Published,
    /// Its place in the slot's list. Used under the lock of the slots.
    pub(super) place: AtomicU32,
    /// Kept when it has been made, or has not.
    pub(crate) made: Promise<Option<Failure>>,
    /// Kept when it has been ended.
    pub(crate) gone: Promise<()>,
}

impl Value {
    /// With this thread as the one that makes or ends it.
    pub(super) fn new(body: &'static Body, index: u32, holder: Holder, stage: Stage) -> Self {
        Self {
            body,
            index,
            holder,
            worker: AtomicU64::new(thread::id()),
            frame: AtomicUsize::new(0),
            published: Published::new(stage as u32),
            place: AtomicU32::new(0),
            made: Promise::new(),
            gone: Promise::new(),
        }
    }

    /// With this pointer, before anybody else knows it.
    pub(super) fn with_pointer(self, pointer: *mut c_void) -> Self {
        self.replace(pointer);
        self
    }

    pub(super) fn is_gone(&self) -> bool {
        self.stage() == Stage::Gone
    }

    pub(super) fn id(&self) -> u64 {
        self.body.id(self.index)
    }

    /// The thread that makes or ends it.
    pub(crate) fn worker(&self) -> u64 {
        self.worker.load(Relaxed)
    }

    pub(super) fn set_frame(&self, frame: usize) {
        self.frame.store(frame, Relaxed);
    }

    pub(super) fn frame(&self) -> usize {
        self.frame.load(Relaxed)
    }

    pub(super) fn is_worked_on_here(&self) -> bool {
        self.worker() == thread::id()
    }

    /// Is there nothing to wait for any more?
    pub(crate) fn is_settled(&self) -> bool {
        match self.stage() {
            Stage::Making | Stage::Leaving => false,
            Stage::Live | Stage::Gone => true,
        }
    }

    /// This thread makes or ends it from here on.
    pub(super) fn work_here(&self) {
        self.worker.store(thread::id(), Relaxed);
    }

    /// Is it there? What its factory wrote is visible to this thread then.
    #[inline(always)]
    pub(super) fn live(&self) -> Option<*mut c_void> {
        self.published.get(Stage::Live as u32)
    }

    /// The same where no race detector is.
    #[inline(always)]
    pub(super) fn live_unwatched(&self) -> Option<*mut c_void> {
        self.published.get_unwatched(Stage::Live as u32)
    }

    /// Exact under the lock of the slots; without it only a stage that this thread alone can end is certain.
    pub(super) fn stage(&self) -> Stage {
        match self.published.stage() {
            0 => Stage::Making,
            1 => Stage::Live,
            2 => Stage::Leaving,
            _ => Stage::Gone,
        }
    }

    /// What its thread does for it.
    pub(super) fn doing(&self) -> Option<Doing> {
        let index = self.index.into();
        match (self.stage(), self.holder) {
            // A snapshot has nothing from a factory.
            (Stage::Making, Holder::Snapshot(_)) => Some(Doing::Sharing(index)),
            (Stage::Making, _) => Some(Doing::Making(index)),
            (Stage::Leaving, _) => Some(Doing::Ending(index)),
            (Stage::Live | Stage::Gone, _) => None,
        }
    }

    pub(super) fn set_stage(&self, stage: Stage) {
        self.published.set_stage(stage as u32);
    }

    /// Another pointer in place of the one before, which is returned.
    pub(super) fn replace(&self, pointer: *mut c_void) -> *mut c_void {
        self.published.replace(pointer)
    }
}
