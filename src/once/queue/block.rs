//! Plain requests, first in, first out, in blocks that are filled under the once's lock and run without it.

use super::{Details, Lack};
use crate::sys::callback::Callback;
use crate::sys::invariant::Invariant;
use crate::sys::memory::{NoMemory, Shared};
use crate::sys::row::Row;
use crate::sys::site::Origin;
// Not loom's: every access that matters is under the once's lock.
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// A plain request as it waits.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) callback: Callback,
    /// The return address of the `lazy_call`.
    caller: usize,
    pub(crate) ticket: u64,
}

/// One million of them fit in 48 MB, with room for what holds the blocks.
#[cfg(not(loom))]
const _: () = assert!(size_of::<Entry>() == 32);

impl Entry {
    pub(crate) fn origin(&self) -> Origin {
        Origin::Address(self.caller)
    }

    /// The same as a request with a place of its own.
    pub(crate) fn details(&self) -> Details {
        Details::plain(self.callback, self.origin())
    }
}

#[cfg(not(loom))]
impl Block {
    /// For a debugger: the row of entries and its pointer, the running one's number, and what it needs of an entry.
    pub(crate) const ENTRIES: usize = std::mem::offset_of!(Self, entries);
    pub(crate) const ENTRIES_POINTER: usize = Self::ENTRIES + Row::<Entry>::POINTER;
    pub(crate) const POSITION: usize = std::mem::offset_of!(Self, position);
    pub(crate) const CALLER: usize = std::mem::offset_of!(Entry, caller);
}

/// The smallest and the largest number of requests in a block: one request costs little, a million are run in long rows.
const BLOCK: std::ops::RangeInclusive<usize> = 8..=128;

/// A row of requests with rising tickets.
pub(crate) struct Block {
    entries: Row<Entry>,
    /// The request that runs now or next. Relaxed: written by the owner only; others read it for messages, or under the
    /// lock after the owner gave the block back.
    position: AtomicUsize,
    /// A request with this ticket, or a later one, has to wait for one that is not in this block.
    until: u64,
    /// Give the block back before the next request. Relaxed: a late look costs one more request of this block.
    stop: AtomicBool,
    next: Option<Shared<Block>>,
}

impl Block {
    pub(super) fn try_new(capacity: usize) -> Result<Shared<Self>, NoMemory> {
        let mut entries = Row::new();
        entries.try_reserve_exact(capacity)?;
        Shared::try_new(Self {
            entries,
            position: AtomicUsize::new(0),
            until: u64::MAX,
            stop: AtomicBool::new(false),
            next: None,
        })
    }

    /// The request to be run now; `None` when another one has to come first or there is none left.
    #[inline(always)]
    pub(crate) fn current(&self) -> Option<&Entry> {
        let entry = self.entries.get(self.position.load(Relaxed))?;
        (entry.ticket < self.until && !self.stop.load(Relaxed)).then_some(entry)
    }

    /// The running request, for messages.
    pub(crate) fn running(&self) -> Option<&Entry> {
        self.entries.get(self.position.load(Relaxed))
    }

    /// The current request is done with.
    #[inline(always)]
    pub(crate) fn advance(&self) {
        self.position
            .store(self.position.load(Relaxed) + 1, Relaxed);
    }

    pub(crate) fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// How many are left in it.
    pub(super) fn rest(&self) -> usize {
        self.entries.len() - self.position.load(Relaxed)
    }
}

/// The blocks. `front` is in order; `back` has its latest block first and is turned round when `front` is empty.
#[derive(Default)]
pub(super) struct Blocks {
    front: Option<Shared<Block>>,
    back: Option<Shared<Block>>,
    pub(super) len: usize,
}

impl Blocks {
    #[inline(always)]
    pub(super) fn append(
        &mut self,
        callback: Callback,
        caller: usize,
        ticket: u64,
        spare: &mut Option<Shared<Block>>,
    ) -> Result<(), Lack> {
        let room = |block: &mut Block| block.entries.has_room();
        if !self
            .back
            .as_mut()
            .and_then(Shared::get_mut)
            .is_some_and(room)
        {
            let Some(mut block) = spare.take() else {
                return Err(Lack::Block(self.len.clamp(*BLOCK.start(), *BLOCK.end())));
            };
            let fresh = block.get_mut().invariant("nobody else has the spare block");
            fresh.next = self.back.take();
            self.back = Some(block);
        }
        let tail = self
            .back
            .as_mut()
            .and_then(Shared::get_mut)
            .invariant("the queue holds its blocks alone");
        tail.entries.push(Entry {
            callback,
            caller,
            ticket,
        });
        self.len += 1;
        Ok(())
    }

    /// The ticket of the first request.
    pub(super) fn first_ticket(&mut self) -> Option<u64> {
        self.turn();
        Some(self.front.as_ref()?.running()?.ticket)
    }

    fn turn(&mut self) {
        if self.front.is_none() {
            while let Some(mut block) = self.back.take() {
                let inner = block
                    .get_mut()
                    .invariant("the queue holds its blocks alone");
                self.back = std::mem::replace(&mut inner.next, self.front.take());
                self.front = Some(block);
            }
        }
    }

    /// The first block, to be run outside the lock as far as the request with the ticket `until`.
    pub(super) fn take(&mut self, until: u64) -> Option<Shared<Block>> {
        self.turn();
        let mut block = self.front.take()?;
        let inner = block
            .get_mut()
            .invariant("the queue holds its blocks alone");
        self.front = inner.next.take();
        inner.until = until;
        inner.stop = AtomicBool::new(false);
        self.len -= inner.rest();
        Some(block)
    }

    /// Puts what did not run back to the head. Gives back a block of which all ran, to be freed outside the lock.
    pub(super) fn restore(&mut self, mut block: Shared<Block>) -> Option<Shared<Block>> {
        let inner = block.get_mut().invariant("whoever ran it has let go");
        if inner.rest() == 0 {
            return Some(block);
        }
        self.len += inner.rest();
        inner.next = self.front.take();
        self.front = Some(block);
        None
    }
}

impl Drop for Blocks {
    /// Block by block: a chain that drops itself recurses as deep as it is long.
    fn drop(&mut self) {
        while self.take(0).is_some() {}
    }
}
