//! A pointer that is read without a lock, once a stage beside it says that it is there.

use super::atomic::{AtomicPtr, AtomicU32};
use super::{order, race};
use std::ffi::c_void;
use std::sync::atomic::Ordering::Relaxed;

/// Written under a lock of its owner's.
pub(crate) struct Published {
    stage: AtomicU32,
    pointer: AtomicPtr<c_void>,
}

impl Published {
    pub(crate) fn new(stage: u32) -> Self {
        Self {
            stage: AtomicU32::new(stage),
            pointer: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// The pointer, in that stage. What was written before the stage or the pointer was set is visible to this thread then.
    #[inline(always)]
    pub(crate) fn get(&self, stage: u32) -> Option<*mut c_void> {
        let pointer = self.get_unwatched(stage)?;
        race::acquire(self);
        Some(pointer)
    }

    /// The same where no race detector is.
    #[inline(always)]
    pub(crate) fn get_unwatched(&self, stage: u32) -> Option<*mut c_void> {
        if self.stage.load(order::see_value()) != stage {
            return None;
        }
        Some(self.pointer.load(order::see_value()))
    }

    /// The stage: exact under the lock.
    pub(crate) fn stage(&self) -> u32 {
        self.stage.load(Relaxed)
    }

    pub(crate) fn set_stage(&self, stage: u32) {
        race::release(self);
        self.stage.store(stage, order::publish_value());
    }

    /// Another pointer; the one before.
    pub(crate) fn replace(&self, pointer: *mut c_void) -> *mut c_void {
        race::release(self);
        self.pointer.swap(pointer, order::publish_value())
    }
}
