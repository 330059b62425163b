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
        self.raw.lock_if(needs).then(|| Guard::new(self, true))
    }

    /// The guard, if nobody is inside or waits to be, and this is the payload.
    #[inline(always)]
    pub(crate) fn lock_if_free(&self, payload: u32) -> Option<Guard<'_, T>> {
        self.raw
            .lock_if_free(payload)
            .then(|| Guard::new(self, true))
    }

    /// The value without the lock, if the payload lacks a bit of `needs`, so that the lock is never taken. The caller holds the
    /// one lock under which that may change.
    pub(crate) fn settled(&self, needs: u32) -> Option<Guard<'_, T>> {
        (self.look() & needs != needs).then(|| Guard::new(self, false))
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

/// The value: with the lock held, or where it cannot be taken.
pub(crate) struct Guard<'a, T> {
    word: &'a Word<T>,
    is_locked: bool,
    #[cfg(loom)]
    access: Option<loom::cell::MutPtr<T>>,
}

impl<'a, T> Guard<'a, T> {
    #[inline]
    fn new(word: &'a Word<T>, is_locked: bool) -> Self {
        Self {
            word,
            is_locked,
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

    /// Ends it, of a lock that was taken: [`RawLock::release_here`].
    #[cfg_attr(not(loom), allow(unused_mut))]
    #[inline(always)]
    pub(crate) fn end_here(mut self) {
        #[cfg(loom)]
        drop(self.access.take());
        self.word.raw.release_here();
        std::mem::forget(self);
    }

    /// Ends it with this payload, in one exchange; where it lacks a bit of `needs`, the lock cannot be taken any more, and the
    /// word is not touched afterwards.
    #[cfg_attr(not(loom), allow(unused_mut))]
    pub(crate) fn shut(mut self, payload: u32, needs: u32) {
        if self.is_locked && payload & needs == needs {
            return self.set_payload(payload);
        }
        #[cfg(loom)]
        drop(self.access.take());
        if self.is_locked {
            self.word.raw.settle(payload);
        } else if payload != self.payload() {
            self.word.raw.resettle(payload);
        }
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
    #[inline(always)]
    fn drop(&mut self) {
        #[cfg(loom)]
        drop(self.access.take());
        if self.is_locked {
            self.word.raw.release();
        }
    }
}
