//! The locks that a thread sleeps for, one inside the other through signal handlers.

use crate::sys::atomic::{Ordering::*, compiler_fence};
use crate::sys::futex::{Address, wake_at};
use crate::sys::local::Local as _;
use std::cell::Cell;

/// So many are known of.
const NESTED: usize = 4;

thread_local! {
    /// The first one, then those of the signal handlers that interrupted that.
    static AWAITED: [Cell<Option<Address>>; NESTED] = const { [const { Cell::new(None) }; NESTED] };
    static AWAITING: Cell<usize> = const { Cell::new(0) };
}

/// This thread sleeps for a lock, until this ends.
pub(crate) struct Awaiting {
    outer: usize,
}

impl Awaiting {
    /// Where it is a signal handler that is about to sleep, it may have interrupted this thread just woken for another lock, which it cannot
    /// take now; whoever holds the handler's one may be asleep beside it. So that wake goes to the next.
    pub(crate) fn begin(lock: Address) -> Self {
        let outer = AWAITING.here(Cell::get);
        AWAITED.here(|awaited| {
            awaited.iter().take(outer).for_each(|each| {
                if let Some(lock) = each.get() {
                    wake_at(lock, 1);
                }
            });
            if let Some(place) = awaited.get(outer) {
                place.set(Some(lock));
            }
        });
        compiler_fence(SeqCst);
        AWAITING.here(|awaiting| awaiting.set(outer + 1));
        compiler_fence(SeqCst);
        Self { outer }
    }
}

impl Drop for Awaiting {
    fn drop(&mut self) {
        compiler_fence(SeqCst);
        AWAITING.here(|awaiting| awaiting.set(self.outer));
    }
}
