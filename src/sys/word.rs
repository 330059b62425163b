//! A value behind a lock word with a payload: what a `lazy_once` is in memory.

use super::UnsafeCell;
use super::lock::RawLock;

/// `{ u32 word; u32 tag; T }`. The value may be touched only under the lock.
#[repr(C)]
pub(crate) struct Word<T> {
    raw: RawLock,
    tag: u32,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached only through the guard, of which there is one at a time.
unsafe impl<T> Sync for Word<T> {}

impl<T> Word<T> {
    #[cfg(not(loom))]
    pub(crate) const fn new(payload: u32, tag: u32, value: T) -> Self {
        Self {
            raw: RawLock::new(payload),
            tag,
            value: UnsafeCell::new(value),
        }
    }

    #[cfg(loom)]
    pub(crate) fn new(payload: u32, tag: u32, value: T) -> Self {
        Self {
            raw: RawLock::new(payload),
            tag,
            value: UnsafeCell::new(value),
        }
    }

    pub(crate) fn tag(&self) -> u32 {
        self.tag
    }

    #[inline(always)]
    pub(crate) fn look(&self) -> u32 {
        self.raw.look()
    }

    pub(crate) fn raw(&self) -> &RawLock {
        &self.raw
    }

    /// The guard; `None` if the payload lacks a bit of `needs`.
    #[inline]
    pub(crate) fn lock_if(&self, needs: u32) -> Option<Guard<'_, T>> {
        self.raw.lock_if(needs).then(|| Guard::new(self))
    }

    /// Runs `act` on the payload and the value if the payload lacks a bit of `needs`, so that the lock is never taken. The
    /// caller holds the one lock under which that may change; `act` may change it.
    pub(crate) fn settled<R>(
        &self,
        needs: u32,
        act: impl FnOnce(&mut u32, &mut T) -> R,
    ) -> Option<R> {
        let old = self.look();
        if old & needs == needs {
            return None;
        }
        let mut payload = old;
        #[cfg(not(loom))]
        // SAFETY: no guard exists while the payload is such, and it stays so under the caller's lock.
        let result = act(&mut payload, unsafe { &mut *self.value.get() });
        #[cfg(loom)]
        // SAFETY: as above; loom checks it.
        let result = self
            .value
            .with_mut(|value| act(&mut payload, unsafe { &mut *value }));
        if payload != old {
            self.raw.resettle(payload);
        }
        Some(result)
    }

    /// The value in a forked child, whose only thread took this lock with `acquire` before the fork. Frees the lock with
    /// the payload that `change` returns.
    #[cfg(not(loom))]
    pub(crate) fn remake(&self, change: impl FnOnce(u32, &mut T) -> u32) {
        // SAFETY: the lock is held and there is no other thread.
        let payload = change(self.raw.payload(), unsafe { &mut *self.value.get() });
        self.raw.remake(payload);
    }
}

/// The lock, held.
pub(crate) struct Guard<'a, T> {
    word: &'a Word<T>,
    #[cfg(loom)]
    access: Option<loom::cell::MutPtr<T>>,
}

impl<'a, T> Guard<'a, T> {
    #[inline]
    fn new(word: &'a Word<T>) -> Self {
        Self {
            word,
            #[cfg(loom)]
            access: Some(word.value.get_mut()),
        }
    }

    pub(crate) fn payload(&self) -> u32 {
        self.word.raw.payload()
    }

    pub(crate) fn set_payload(&mut self, payload: u32) {
        self.word.raw.set_payload(payload);
    }

    /// Unlocks and publishes `payload`, with which the lock cannot be taken, in one step; the word is not touched
    /// afterwards.
    #[cfg_attr(not(loom), allow(unused_mut))]
    pub(crate) fn settle(mut self, payload: u32) {
        #[cfg(loom)]
        drop(self.access.take());
        self.word.raw.settle(payload);
        std::mem::forget(self);
    }
}

impl<T> std::ops::Deref for Guard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        #[cfg(not(loom))]
        // SAFETY: the lock is held for as long as the guard lives.
        return unsafe { &*self.word.value.get() };
        #[cfg(loom)]
        // SAFETY: as above; loom checks it.
        return unsafe { self.access.as_ref().unwrap().deref() };
    }
}

impl<T> std::ops::DerefMut for Guard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        #[cfg(not(loom))]
        // SAFETY: the lock is held for as long as the guard lives, and the guard is borrowed uniquely.
        return unsafe { &mut *self.word.value.get() };
        #[cfg(loom)]
        // SAFETY: as above; loom checks it.
        return unsafe { self.access.as_ref().unwrap().deref() };
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        #[cfg(loom)]
        drop(self.access.take());
        self.word.raw.release();
    }
}
