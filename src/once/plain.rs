//! Plain requests, of which a queue can hold a million: they are run by the block, without a lock in between.

use super::attempt::Attempt;
use super::config::OnDeferredFailure;
use super::drain::Ownership;
use super::queue::{Block, Entry, Request, Spare};
use crate::abi;
use crate::error::{Failure, Scope, watch};
use crate::sys::memory::{NoMemory, Shared};
use crate::sys::thread;
use crate::trace;
use std::cell::Cell;
use std::mem::ManuallyDrop;

impl Ownership<'_> {
    /// Whether its requests are reported is decided here, once: a million of them cost no look each.
    pub(super) fn run_block(&mut self, block: Shared<Block>, first: usize) -> Result<(), Failure> {
        if trace::is_on() {
            self.run_entries::<true>(block, first)
        } else {
            self.run_entries::<false>(block, first)
        }
    }

    #[inline(always)]
    fn run_entries<const REPORTED: bool>(
        &mut self,
        block: Shared<Block>,
        first: usize,
    ) -> Result<(), Failure> {
        let block = Lent {
            block: ManuallyDrop::new(block),
            attempt: self.attempt.clone(),
        };
        let scope = Scope::enter();
        // How far it came is a value, not captured: so it stays in a register.
        let run_all = |said: &Cell<bool>| {
            let mut position = first;
            while let Some(entry) = block.at(position) {
                let code = if REPORTED {
                    let span = self.span(entry.origin(), entry.ticket);
                    if self.is_taken_away() {
                        return Ok((position, Err(Failure::Bare(abi::LAZY_E_FORKED))));
                    }
                    span.around(entry.callback)
                } else {
                    entry.callback.run()
                };
                if self.attempt.is_perhaps_void() && self.attempt.is_void() {
                    return Err(Failure::Bare(abi::LAZY_E_FORKED));
                }
                if code != 0 {
                    let (next, goes_on) =
                        self.leave_failed(&block, entry, position, code, &scope)?;
                    if goes_on.is_err() {
                        return Ok((next, goes_on));
                    }
                    position = next;
                    continue;
                }
                position += 1;
                block.advance_to(position);
                scope.forget_if(said);
            }
            Ok((position, Ok(())))
        };
        // All of them as somebody else's: so a million cost no more than one.
        let (position, ran) = thread::outside(|| watch(run_all))?;
        self.give_block_back(block.give_back(), position)?;
        ran
    }

    /// What becomes of a plain request that has failed: which one comes next, and whether it is to run. The failure of the whole where its
    /// attempt has been taken away meanwhile.
    #[cold]
    #[inline(never)]
    fn leave_failed(
        &mut self,
        block: &Block,
        entry: &Entry,
        position: usize,
        code: i32,
        scope: &Scope,
    ) -> Result<(usize, Result<(), Failure>), Failure> {
        if self.is_taken_away() {
            return Err(Failure::Bare(abi::LAZY_E_FORKED));
        }
        Ok(thread::inside(|| {
            let failure = self.plain_failed(entry, code, scope);
            let next = self.leave_plain(block, entry, position);
            let goes_on = next > position && self.policy == OnDeferredFailure::Continue;
            (next, self.failed(failure, goes_on))
        }))
    }

    /// The queue takes back a block of which the request with that number has not begun.
    #[cfg_attr(loom, allow(unused_variables))]
    pub(super) fn give_block_back(
        &self,
        block: Shared<Block>,
        position: usize,
    ) -> Result<(), Failure> {
        let Some(mut locked) = self.locked() else {
            #[cfg(not(loom))]
            self.once.leave_block(block, position);
            return Err(Failure::Bare(abi::LAZY_E_FORKED));
        };
        let work = locked.gate().running_mut().work.take();
        // The queue takes its block back alone.
        drop(work);
        let ran = locked.gate().queue.restore(block);
        drop(locked);
        drop(ran);
        Ok(())
    }

    /// What becomes of a plain request that has failed, and has that number in the block: which one comes next.
    pub(super) fn leave_plain(&self, block: &Block, entry: &Entry, position: usize) -> usize {
        // Without memory it stays at the head of its block, which is where the next attempt begins.
        let is_left = self.policy == OnDeferredFailure::Drop || self.give_place(entry).is_ok();
        let next = position + usize::from(is_left);
        block.advance_to(next);
        next
    }

    /// A plain request that failed gets a place of its own, where it can be passed, and cancelled.
    fn give_place(&self, entry: &Entry) -> Result<(), NoMemory> {
        let request = Request::try_new(entry.details(), entry.ticket)?;
        let mut spare = Spare::default();
        loop {
            let Some(mut locked) = self.locked() else {
                return Ok(());
            };
            match locked.gate().queue.fail_plain(&request, &mut spare) {
                Ok(()) => return Ok(()),
                Err(lack) => {
                    drop(locked);
                    spare.provide(lack)?;
                }
            }
        }
    }
}

/// The block that is being run. If a fork takes the attempt away, the queue has it already, as its only owner.
struct Lent {
    block: ManuallyDrop<Shared<Block>>,
    attempt: Shared<Attempt>,
}

impl Lent {
    fn give_back(self) -> Shared<Block> {
        let mut lent = ManuallyDrop::new(self);
        // SAFETY: each is taken once, and not dropped where it was.
        unsafe {
            std::ptr::drop_in_place(&mut lent.attempt);
            ManuallyDrop::take(&mut lent.block)
        }
    }
}

impl std::ops::Deref for Lent {
    type Target = Shared<Block>;

    fn deref(&self) -> &Shared<Block> {
        &self.block
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if !self.attempt.is_void() {
            // SAFETY: not used any more.
            unsafe { ManuallyDrop::drop(&mut self.block) };
        }
    }
}
