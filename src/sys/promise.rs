//! A value that is written once, and threads that sleep until it is. Waking goes in relay: whoever writes wakes one
//! sleeper, the first few wake two more each, and the next one all the others: the writer pays for one wake-up however many
//! wait, and is back before a crowd competes for its CPU.

use super::UnsafeCell;
use super::atomic::Ordering::Relaxed;
use super::clock::Deadline;
use super::futex::Futex;
use super::{order, race, thread};

/// Nothing written, nobody asleep.
const PENDING: u32 = 0;
/// Nothing written, somebody may be asleep.
const WAITING: u32 = 1;
/// Written; nobody will sleep again.
const KEPT: u32 = 2;
/// The bits of these. Those above count how often a sleeper has been disturbed, so that whoever is about to sleep does not; in KEPT,
/// how many have woken.
const STATE: u32 = 3;
const DISTURBED: u32 = 4;
/// How many of those that wake first wake two more. A call of each for two costs the last of 64 a quarter more than one for all.
const RELAYS: u32 = 3;
/// In a model there are few sleepers.
const ALL: i32 = if cfg!(loom) { 3 } else { i32::MAX };

/// The promise.
pub(crate) struct Promise<T> {
    state: Futex,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value is written by the one caller of `keep` before KEPT, and only read after it.
unsafe impl<T: Send + Sync> Sync for Promise<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Send for Promise<T> {}

/// Wakes whoever sleeps for a promise that has been kept.
pub(crate) struct Awakening<'a>(Option<&'a Futex>);

impl Drop for Awakening<'_> {
    fn drop(&mut self) {
        if let Some(state) = self.0
            && order::wake_waiter()
        {
            state.wake(1);
        }
    }
}

#[cfg(loom)]
impl<T> Default for Promise<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Promise<T> {
    pub(crate) fn new() -> Self {
        Self {
            state: Futex::new(PENDING),
            value: UnsafeCell::new(None),
        }
    }

    /// Writes the value; what it returns wakes the sleepers when it is dropped. Called once, by the one thread that owes the value: under the
    /// lock under which it is known that somebody does, so that a thread which forks while it sleeps finds either in its child.
    pub(crate) fn keep(&self, value: T) -> Awakening<'_> {
        debug_assert_ne!(
            self.state.load(Relaxed) & STATE,
            KEPT,
            "a promise is kept once"
        );
        self.write(value);
        race::release(self);
        let waiting = self.state.swap(KEPT, order::write_outcome()) & STATE == WAITING;
        Awakening(waiting.then_some(&self.state))
    }

    /// Writes the value in place of that thread, which owes it, if it does not exist in this process.
    pub(crate) fn lose(&self, by: u64, value: T) {
        if !self.is_kept() && !thread::exists(by) {
            drop(self.keep(value));
        }
    }

    /// Is it there? A hint, for a thread that looks by [`Self::get`] then.
    #[inline(always)]
    pub(crate) fn is_kept(&self) -> bool {
        self.state.load(Relaxed) & STATE == KEPT
    }

    /// The value, if it is there.
    pub(crate) fn get(&self) -> Option<&T> {
        if self.state.load(order::read_outcome()) & STATE != KEPT {
            return None;
        }
        race::acquire(self);
        self.read()
    }

    /// The value, or `None` after the deadline. In a model nobody warns, is interrupted or forks.
    #[cfg(loom)]
    pub(crate) fn wait(&self, deadline: Deadline) -> Option<&T> {
        loop {
            self.sleep(deadline, || false);
            if let Some(value) = self.get() {
                return Some(value);
            }
            if deadline.has_passed() {
                return None;
            }
        }
    }

    /// Sleeps once, until the value is there, the deadline, a signal, or [`Self::disturb`] after `stop` became true.
    pub(crate) fn sleep(&self, deadline: Deadline, stop: impl Fn() -> bool) {
        let mut seen = self.state.load(order::see_disturbed());
        loop {
            match seen & STATE {
                KEPT => return,
                WAITING => break,
                _ => {}
            }
            let waiting = seen | WAITING;
            match self
                .state
                .compare_exchange(seen, waiting, Relaxed, order::see_disturbed())
            {
                Ok(_) => seen = waiting,
                Err(now) => seen = now,
            }
        }
        if stop() {
            return;
        }
        thread::outside(|| self.state.wait(seen, deadline));
        // Whoever slept may have been the one that was woken for the others: too many wakes cost a look, too few a hang.
        if self.state.load(Relaxed) & STATE == KEPT && order::relay_waiter() {
            match self.state.fetch_add(DISTURBED, Relaxed) / DISTURBED {
                0..RELAYS => self.state.wake(2),
                RELAYS => self.state.wake(ALL),
                _ => {}
            }
        }
    }

    /// Makes every sleeper look again, and whoever is about to sleep.
    pub(crate) fn disturb(&self) {
        self.state.fetch_add(DISTURBED, order::disturb());
        self.state.wake(ALL);
    }

    /// As before it was kept, in a forked child where it was for nothing but to end this thread's sleep.
    #[cfg(not(loom))]
    pub(crate) fn renew(&self) {
        self.state.store(PENDING, Relaxed);
    }

    /// No sleepers, in a forked child that has none of them.
    #[cfg(not(loom))]
    pub(crate) fn forget_sleepers(&self) {
        if self.state.load(Relaxed) & STATE == WAITING {
            self.state.store(PENDING, Relaxed);
        }
    }

    #[cfg(not(loom))]
    fn write(&self, value: T) {
        // SAFETY: before KEPT nobody reads, and there is one writer.
        unsafe { *self.value.get() = Some(value) };
    }

    #[cfg(not(loom))]
    fn read(&self) -> Option<&T> {
        // SAFETY: after KEPT nobody writes.
        unsafe { (*self.value.get()).as_ref() }
    }

    #[cfg(loom)]
    fn write(&self, value: T) {
        // SAFETY: before KEPT nobody reads, and there is one writer; loom checks it.
        self.value.with_mut(|place| unsafe { *place = Some(value) });
    }

    #[cfg(loom)]
    fn read(&self) -> Option<&T> {
        // SAFETY: after KEPT nobody writes; loom checks that each read comes after the write.
        self.value.with(|place| unsafe { (*place).as_ref() })
    }
}
