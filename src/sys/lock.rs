//! The one lock: a futex word that also carries a small payload, so that a once's state and its lock are one word.
//!
//! As a `lock_api::RawMutex` (payload 0) it is the library's ordinary mutex. It is constant-initialised, knows which
//! locks this thread holds (a signal handler must not wait for those) and can be re-made in a forked child.

use super::atomic::Ordering::Relaxed;
use super::clock::Deadline;
use super::futex::{self, Futex};
use super::{order, race, thread};

/// The bits that belong to the user of the word.
pub(crate) const PAYLOAD: u32 = 0xff;
/// Somebody is inside.
const LOCKED: u32 = 0x100;
/// Somebody may be asleep on the word; whoever unlocks wakes one.
const CONTENDED: u32 = 0x200;
/// It was taken over from a thread that is gone, which may have been in the middle of a change.
const TORN: u32 = 0x400;
/// Looks at a taken lock before sleeping. Critical sections are a few dozen instructions; std spins as long.
const SPINS: u32 = if cfg!(loom) { 0 } else { 100 };

/// The lock word.
#[repr(transparent)]
pub(crate) struct RawLock {
    word: Futex,
}

impl RawLock {
    #[cfg(not(loom))]
    pub(crate) const fn new(payload: u32) -> Self {
        Self {
            word: Futex::new(payload),
        }
    }

    #[cfg(loom)]
    pub(crate) fn new(payload: u32) -> Self {
        Self {
            word: Futex::new(payload),
        }
    }

    /// The whole word, with the order of a first look. Equal to a payload only while nobody is inside.
    #[inline(always)]
    pub(crate) fn look(&self) -> u32 {
        self.word.load(order::look_ready())
    }

    /// The payload, as a hint or under the lock.
    pub(crate) fn payload(&self) -> u32 {
        self.word.load(Relaxed) & PAYLOAD
    }

    /// Takes the lock; false if the payload lacks a bit of `needs`, as it may from one moment to the next. Inlined, because finding
    /// this thread's storage is a third of it, which whoever calls has found already.
    #[inline(always)]
    pub(crate) fn lock_if(&self, needs: u32) -> bool {
        self.acquire::<true>(needs)
    }

    /// The same. With `NOTED` this thread is known to be inside from before the exchange that takes the lock, so that a signal
    /// handler finds it so at every moment; a fork handler, which takes more locks than can be noted, goes without.
    #[inline(always)]
    pub(crate) fn acquire<const NOTED: bool>(&self, needs: u32) -> bool {
        let seen = self.word.load(Relaxed);
        let taken = seen & (LOCKED | CONTENDED) == 0
            && seen & needs == needs
            && self.exchange::<NOTED>(seen, seen | LOCKED).is_ok()
            || self.acquire_contended::<NOTED>(needs);
        race::acquire(self);
        taken
    }

    /// Takes the lock if nobody is inside or waits to be, and this is the payload.
    #[inline(always)]
    pub(crate) fn lock_if_free(&self, payload: u32) -> bool {
        let taken = self.exchange::<true>(payload, payload | LOCKED).is_ok();
        if taken {
            race::acquire(self);
        }
        taken
    }

    #[inline(always)]
    fn exchange<const NOTED: bool>(&self, seen: u32, locked: u32) -> Result<u32, u32> {
        if NOTED {
            thread::holds_one_more();
        }
        let result = self
            .word
            .compare_exchange(seen, locked, order::lock(), Relaxed);
        if NOTED && result.is_err() {
            thread::holds_one_less();
        }
        result
    }

    #[cold]
    fn acquire_contended<const NOTED: bool>(&self, needs: u32) -> bool {
        let mut awaiting = None;
        let mut take = LOCKED;
        let mut spins = SPINS;
        let mut seen = self.word.load(Relaxed);
        loop {
            if seen & needs != needs {
                if take & CONTENDED != 0 && order::relay_lock_settled() {
                    self.word.wake(2);
                }
                return false;
            }
            if seen & LOCKED == 0 {
                match self.exchange::<NOTED>(seen, seen | take) {
                    Ok(_) => break,
                    Err(now) => seen = now,
                }
                continue;
            }
            if spins > 0 {
                spins -= 1;
                std::hint::spin_loop();
                seen = self.word.load(Relaxed);
                continue;
            }
            if thread::is_orphan() {
                // In a child that a signal handler has forked: who holds this one is gone.
                if NOTED {
                    thread::holds_one_more();
                }
                self.word.fetch_or(TORN, Relaxed);
                break;
            }
            if seen & CONTENDED == 0
                && let Err(now) =
                    self.word
                        .compare_exchange(seen, seen | CONTENDED, Relaxed, Relaxed)
            {
                seen = now;
                continue;
            }
            awaiting.get_or_insert_with(|| thread::Awaiting::begin(self.word.address()));
            self.word.wait(seen | CONTENDED, Deadline::Never);
            // Others may be asleep beside us, so from now on the lock is taken as a contended one.
            take = LOCKED | CONTENDED;
            seen = self.word.load(Relaxed);
        }
        true
    }

    /// Changes the payload while the lock is held.
    pub(crate) fn set_payload(&self, payload: u32) {
        let old = self.word.load(Relaxed) & PAYLOAD;
        self.word.fetch_xor(old ^ payload, Relaxed);
    }

    /// Releases the lock.
    #[inline(never)]
    pub(crate) fn release(&self) {
        self.release_here();
    }

    /// The same, inlined, for a caller that has found this thread's storage already.
    #[inline(always)]
    pub(crate) fn release_here(&self) {
        self.let_go();
        thread::holds_one_less();
    }

    /// The other half of [`Self::acquire`].
    #[inline(always)]
    pub(crate) fn let_go(&self) {
        race::release(self);
        let address = self.word.address();
        let old = self.word.fetch_and(PAYLOAD | TORN, order::unlock());
        if old & CONTENDED != 0 && order::wake_lock() {
            futex::wake_at(address, 1);
        }
    }

    /// Releases the lock and publishes `payload`, with which it cannot be taken, in one exchange, after which only the
    /// address of the word is used.
    #[inline(never)]
    pub(crate) fn settle(&self, payload: u32) {
        race::release(self);
        let address = self.word.address();
        let old = self.word.swap(payload, order::publish_ready());
        if old & CONTENDED != 0 && order::wake_lock_settled() {
            futex::wake_at(address, 1);
        }
        thread::holds_one_less();
    }

    /// Another payload while the lock cannot be taken. The caller holds the one lock under which that may change.
    pub(crate) fn resettle(&self, payload: u32) {
        race::release(self);
        self.word.store(payload, order::unlock());
    }
}

#[cfg(not(loom))]
impl RawLock {
    /// Is somebody inside, or has a thread that is gone been there?
    pub(crate) fn is_taken(&self) -> bool {
        self.word.load(Relaxed) & (LOCKED | TORN) != 0
    }

    /// The free lock with this payload, whatever it was: for a forked child, whose other threads are gone.
    pub(crate) fn remake(&self, payload: u32) {
        self.word.store(payload, Relaxed);
    }
}

#[cfg(not(loom))]
// SAFETY: `lock_if` that needs nothing returns only with the lock held by this thread; LOCKED is set
// by one compare-exchange at a time.
unsafe impl lock_api::RawMutex for RawLock {
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Self = Self::new(0);
    type GuardMarker = lock_api::GuardNoSend;

    fn lock(&self) {
        self.lock_if(0);
    }

    fn try_lock(&self) -> bool {
        let seen = self.word.load(Relaxed);
        let free = seen & LOCKED == 0 && self.exchange::<true>(seen, seen | LOCKED).is_ok();
        if free {
            race::acquire(self);
        }
        free
    }

    unsafe fn unlock(&self) {
        self.release();
    }
}

/// A mutex for state that several onces share. Held for a bounded number of steps, never over an allocation or a wait.
#[cfg(not(loom))]
pub(crate) type Mutex<T> = lock_api::Mutex<RawLock, T>;

/// The mutex, taken, in a forked child that no fork handler has seen, and whether a thread that is gone was inside, perhaps in
/// the middle of a change.
///
/// # Safety
///
/// No other thread may be inside.
#[cfg(not(loom))]
pub(crate) unsafe fn recover<T>(mutex: &Mutex<T>) -> (lock_api::MutexGuard<'_, RawLock, T>, bool) {
    // SAFETY: the caller's promise.
    let raw = unsafe { mutex.raw() };
    let is_torn = raw.is_taken();
    raw.remake(0);
    (mutex.lock(), is_torn)
}
