//! Plain requests, first in, first out, in blocks that are filled under the once's lock and run without it.

use super::{Details, Lack};
use crate::sys::callback::Callback;
use crate::sys::invariant::Invariant;
use crate::sys::memory::{NoMemory, Shared};
use crate::sys::row::Row;
use crate::sys::site::Origin;
// Not loom's: every access that matters is under the once's lock.
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A plain request as it waits.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) callback: Callback,
    /// The return address of the `lazy_call`.
    pub(super) caller: usize,
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
const BLOCK: std::ops::RangeInclusive<usize> = 8..=512;

/// A row of requests with rising tickets.
pub(crate) struct Block {
    entries: Row<Entry>,
    /// The request that runs now or next. Relaxed: written by the owner only; others read it for messages, or under the
    /// lock after the owner gave the block back.
    position: AtomicUsize,
    /// The block is given back before the request with this number, which has to wait for one that is not in this block.
    /// Relaxed: a late look costs one more request of this block.
    end: AtomicUsize,
    next: Option<Shared<Block>>,
    /// This is a forked child, whose thread was running it, and may look at it once more: it is never freed.
    is_seen: bool,
}

impl Block {
    pub(super) fn try_new(capacity: usize) -> Result<Shared<Self>, NoMemory> {
        let mut entries = Row::new();
        entries.try_reserve_exact(capacity)?;
        Shared::try_new(Self {
            entries,
            position: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            next: None,
            is_seen: false,
        })
    }

    /// Which request runs now or next. Its owner need not ask again after each: what was stored a moment ago is slow to load.
    #[inline(always)]
    pub(crate) fn position(&self) -> usize {
        self.position.load(Relaxed)
    }

    /// The request with that number; `None` when another one has to come first or there is none left.
    #[inline(always)]
    pub(crate) fn at(&self, position: usize) -> Option<&Entry> {
        if position < self.end.load(Relaxed) {
            self.entries.get(position)
        } else {
            None
        }
    }

    /// The running request, for messages.
    pub(crate) fn running(&self) -> Option<&Entry> {
        self.entries.get(self.position())
    }

    /// The request before that one is done with.
    #[inline(always)]
    pub(crate) fn advance_to(&self, position: usize) {
        self.position.store(position, Relaxed);
    }

    pub(crate) fn stop(&self) {
        self.end.store(0, Relaxed);
    }

    /// In a forked child, whose thread runs the first of it: that ends there and is not run again, and this thread runs nothing more of it.
    #[cfg(not(loom))]
    pub(crate) fn take_away(block: &mut Shared<Self>) {
        block.forget_others(1);
        if let Some(block) = block.get_mut() {
            block.stop();
            block.is_seen = true;
            if block.running().is_some() {
                block.advance_to(block.position() + 1);
            }
        }
    }

    /// To be freed.
    fn if_unseen(block: Shared<Self>) -> Option<Shared<Self>> {
        if block.is_seen {
            std::mem::forget(block);
            return None;
        }
        Some(block)
    }

    /// How many are left in it.
    pub(super) fn rest(&self) -> usize {
        self.entries.len() - self.position()
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
    /// Makes room for more.
    pub(super) fn grow(&mut self, spare: &mut Option<Shared<Block>>) -> Result<(), Lack> {
        let Some(mut block) = spare.take() else {
            return Err(Lack::Block(self.len.clamp(*BLOCK.start(), *BLOCK.end())));
        };
        let fresh = block.get_mut().invariant("nobody else has the spare block");
        fresh.next = self.back.take();
        self.back = Some(block);
        Ok(())
    }

    /// Appends if the last block has room.
    #[inline(always)]
    pub(super) fn append_in_room(&mut self, entry: Entry) -> bool {
        let Some(tail) = self.back.as_mut().and_then(Shared::get_mut) else {
            return false;
        };
        let has_room = tail.entries.has_room();
        if has_room {
            tail.entries.push(entry);
            self.len += 1;
        }
        has_room
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
        // Nearly always all of them: a search in a row of pages is slow.
        let runs = |entry: &Entry| entry.ticket < until;
        let end = if inner.entries.last().is_none_or(runs) {
            inner.entries.len()
        } else {
            inner.entries.partition_point(runs)
        };
        inner.end = AtomicUsize::new(end);
        self.len -= inner.rest();
        Some(block)
    }

    /// In a forked child, the block of whoever runs no more of it. A fork between two requests took the second for running; it is put back.
    #[cfg(not(loom))]
    pub(super) fn leave(&mut self, block: Shared<Block>, position: usize) {
        let is_first = self.front.as_ref().is_some_and(|first| first.same(&block));
        // Nobody has taken it since.
        let is_left = block.end.load(Relaxed) == 0;
        if is_left && block.position() == position + 1 {
            block.advance_to(position);
            if is_first {
                self.len += 1;
            } else {
                // All of it was taken to have run.
                std::mem::forget(self.restore(block));
                return;
            }
        }
        std::mem::forget(block);
    }

    /// Puts what did not run back to the head. Gives back a block of which all ran, to be freed outside the lock.
    pub(super) fn restore(&mut self, mut block: Shared<Block>) -> Option<Shared<Block>> {
        let inner = block.get_mut().invariant("whoever ran it has let go");
        if inner.rest() == 0 {
            return Block::if_unseen(block);
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
        while let Some(block) = self.take(0) {
            drop(Block::if_unseen(block));
        }
    }
}
