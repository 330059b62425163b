//! The queued requests: first in, first out, in blocks that are filled under the once's lock and run without it.
//!
//! Nothing here allocates: a caller that is told [`Full`] brings a block from outside the lock.

use crate::sys::callback::Callback;
use crate::sys::memory::{NoMemory, Shared};
use crate::sys::site::Origin;
// Not loom's: every access that matters is under the once's lock.
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A plain request as it waits: 24 bytes.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) callback: Callback,
    /// The return address of the `lazy_call`.
    caller: usize,
}

impl Entry {
    pub(super) fn new(callback: Callback, caller: usize) -> Self {
        Self { callback, caller }
    }

    pub(super) fn origin(&self) -> Origin {
        Origin::Address(self.caller)
    }
}

/// The smallest and the largest number of requests in a block: one request costs little, a million are run in long rows.
const BLOCK: std::ops::RangeInclusive<usize> = 8..=128;

/// A row of requests with consecutive tickets.
pub(super) struct Block {
    entries: Vec<Entry>,
    first_ticket: u64,
    /// The request that runs now or next. Relaxed: written by the owner only; others read it for messages, or under the
    /// lock after the owner gave the block back.
    position: AtomicUsize,
    next: Option<Shared<Block>>,
}

impl Block {
    fn try_new(capacity: usize) -> Result<Shared<Self>, NoMemory> {
        let mut entries = Vec::new();
        entries.try_reserve_exact(capacity)?;
        Shared::try_new(Self {
            entries,
            first_ticket: 0,
            position: AtomicUsize::new(0),
            next: None,
        })
    }

    /// The requests that have not run yet. Each is the running one from when it is handed out.
    pub(super) fn run(&self) -> impl Iterator<Item = &Entry> {
        let start = self.position.load(Relaxed);
        self.entries[start..]
            .iter()
            .enumerate()
            .map(move |(offset, entry)| {
                self.position.store(start + offset, Relaxed);
                entry
            })
    }

    /// The running request and its ticket.
    pub(super) fn running(&self) -> Option<(Entry, u64)> {
        let position = self.position.load(Relaxed);
        self.entries
            .get(position)
            .map(|entry| (*entry, self.first_ticket + position as u64))
    }
}

/// There is no room for another request: bring a block.
pub(super) struct Full {
    capacity: usize,
}

/// A block for a queue that was full, allocated outside the lock.
#[derive(Default)]
pub(super) struct Spare(Option<Shared<Block>>);

impl Spare {
    pub(super) fn provide(&mut self, full: Full) -> Result<(), NoMemory> {
        self.0 = Some(Block::try_new(full.capacity)?);
        Ok(())
    }
}

/// The queue. `front` is in order; `back` has its latest block first and is turned round when `front` is empty.
#[derive(Default)]
pub(super) struct Queue {
    front: Option<Shared<Block>>,
    back: Option<Shared<Block>>,
    len: usize,
    tickets: u64,
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.front.is_none() && self.back.is_none()
    }

    /// Appends; returns the ticket.
    pub(super) fn append(&mut self, entry: Entry, spare: &mut Spare) -> Result<u64, Full> {
        let room = |block: &mut Block| block.entries.len() < block.entries.capacity();
        if !self
            .back
            .as_mut()
            .and_then(Shared::get_mut)
            .is_some_and(room)
        {
            let Some(mut block) = spare.0.take() else {
                return Err(Full {
                    capacity: self.len.clamp(*BLOCK.start(), *BLOCK.end()),
                });
            };
            let fresh = block.get_mut().expect("nobody else has the spare block");
            fresh.first_ticket = self.tickets + 1;
            fresh.next = self.back.take();
            self.back = Some(block);
        }
        let tail = self
            .back
            .as_mut()
            .and_then(Shared::get_mut)
            .expect("the queue holds its blocks alone");
        tail.entries.push(entry);
        self.len += 1;
        self.tickets += 1;
        Ok(self.tickets)
    }

    /// The first block, to be run outside the lock.
    pub(super) fn take(&mut self) -> Option<Shared<Block>> {
        if self.front.is_none() {
            while let Some(mut block) = self.back.take() {
                let inner = block.get_mut().expect("the queue holds its blocks alone");
                self.back = std::mem::replace(&mut inner.next, self.front.take());
                self.front = Some(block);
            }
        }
        let mut block = self.front.take()?;
        let inner = block.get_mut().expect("the queue holds its blocks alone");
        self.front = inner.next.take();
        self.len -= inner.entries.len() - inner.position.load(Relaxed);
        Some(block)
    }

    /// Puts what did not run back to the head, the running request first.
    pub(super) fn restore(&mut self, mut block: Shared<Block>) {
        let inner = block.get_mut().expect("whoever ran it has let go");
        let rest = inner.entries.len() - inner.position.load(Relaxed);
        if rest > 0 {
            inner.next = self.front.take();
            self.front = Some(block);
            self.len += rest;
        }
    }
}

impl Drop for Queue {
    /// Block by block: a chain that drops itself recurses as deep as it is long.
    fn drop(&mut self) {
        while self.take().is_some() {}
    }
}
