//! The state word: its phases, who may change them, and what each one promises to whoever reads it.
//!
//! | from | to | who, and under what | what breaks without it |
//! |---|---|---|---|
//! | FRESH | INITIALIZING | any thread, under the lock that its compare-exchange took | two initializers |
//! | INITIALIZING | DRAINING | the owner, under the lock | a call would run before the native side is up |
//! | DRAINING | READY | the owner, queue empty, by the exchange that unlocks (`settle`) | a call lost between drain and flag |
//! | INITIALIZING, DRAINING | FRESH, FAILED | the owner, under the lock | a once that nobody can initialize again |
//! | READY, FAILED, FORKED, FRESH | FRESH | `reset` | a reset that an attempt in between undoes |
//! | any but FRESH and CLOSED | FORKED, FRESH | the fork handler in a child, by `on_fork` | a child that uses what is not its own |
//! | any | CLOSED | `close` | a waiter that sleeps for ever |
//!
//! All but the first two also under the registry's lock. The lock's bits stand above the phase in the same word, and READY
//! never carries any: the word *equals* READY exactly when the once is initialized, and no thread is inside the lock. The
//! orders and their reasons are in `sys/order.rs`.

use crate::abi;
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Nobody is initializing and nobody has succeeded; calls are queued.
pub(crate) const FRESH: u32 = abi::LAZY_FRESH;
/// One thread owns the attempt and the native side is not up.
pub(crate) const INITIALIZING: u32 = abi::LAZY_INITIALIZING;
/// The native side is up and the owner runs the queue.
pub(crate) const DRAINING: u32 = abi::LAZY_DRAINING;
/// An attempt failed and its error is final.
pub(crate) const FAILED: u32 = abi::LAZY_FAILED;
/// Everything has run, and everything it wrote is visible to whoever reads this.
pub(crate) const READY: u32 = abi::LAZY_READY;
/// This is a forked child, and what the once guards does not survive that.
pub(crate) const FORKED: u32 = abi::LAZY_FORKED;
/// Closed for good.
pub(crate) const CLOSED: u32 = abi::LAZY_CLOSED;

/// READY, where a look at the word is all that there is to do; nothing that a word ever is where a race detector must be told
/// of the look as well. Relaxed: written before the first once can be ready.
#[cfg(not(loom))]
pub(crate) static UNTOLD_READY: AtomicU32 = AtomicU32::new(READY);

/// Looks for a race detector.
#[cfg(not(loom))]
pub(crate) fn look_for_detector() {
    if crate::sys::race::look_up() {
        UNTOLD_READY.store(u32::MAX, Relaxed);
    }
}

/// The once can be locked: it has a gate and is not READY. Without this bit the word and what is behind it change only
/// under the registry's lock, so a thread that forks never leaves a lock behind that its child does not know of.
pub(crate) const LOCKABLE: u32 = 0x80;

/// The layout of a once that this library knows. Zeroed memory has 0 there and is accepted as this layout.
pub(crate) const ABI: u32 = abi::LAZY_ONCE_ABI;
