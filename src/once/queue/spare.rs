//! Memory for a step of the queue: what is lacking is told under the lock, and brought from outside it.

use super::lane::{Lane, Place};
use super::{Block, Details, Keys, Request};
use crate::sys::invariant::broken;
use crate::sys::memory::{NoMemory, Shared, Unique};
use crate::sys::row::Row;

/// What a step needs, and how much of it.
pub(crate) enum Lack {
    Block(usize),
    Request,
    Lanes(usize),
    Places(usize),
    /// More than this many.
    Keys(usize),
}

/// What was brought. What is left of it is freed outside the lock.
#[derive(Default)]
pub(crate) struct Spare {
    /// All that a plain request needs; so nothing else is made for one.
    pub(super) block: Option<Shared<Block>>,
    pub(super) more: Option<Unique<More>>,
}

#[derive(Default)]
pub(crate) struct More {
    pub(super) request: Option<Shared<Request>>,
    pub(super) lanes: Row<Lane>,
    pub(super) places: Row<Place>,
    pub(super) keys: Keys,
}

impl Spare {
    /// Brings it for a plain request.
    #[cold]
    pub(crate) fn provide(&mut self, lack: Lack) -> Result<(), NoMemory> {
        match lack {
            Lack::Block(capacity) => self.block = Some(Block::try_new(capacity)?),
            Lack::Request => broken("a plain request needs no place"),
            Lack::Lanes(count) => self.more()?.lanes.try_reserve_exact(count)?,
            Lack::Places(count) => self.more()?.places.try_reserve_exact(count)?,
            Lack::Keys(full) => self.more()?.keys = Keys::try_larger(full)?,
        }
        Ok(())
    }

    /// Brings it for this request.
    #[cold]
    pub(crate) fn provide_for(&mut self, details: &Details, lack: Lack) -> Result<(), NoMemory> {
        match lack {
            Lack::Request => self.more()?.request = Some(Request::try_new(*details, 0)?),
            lack => self.provide(lack)?,
        }
        Ok(())
    }

    fn more(&mut self) -> Result<&mut More, NoMemory> {
        if self.more.is_none() {
            self.more = Some(Unique::try_new(More::default())?);
        }
        self.more.as_deref_mut().ok_or(NoMemory)
    }
}

/// The size of what replaces something full.
pub(super) fn larger(full: usize) -> usize {
    (full * 2).max(8)
}
