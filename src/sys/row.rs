//! A vector that grows only when it is told to, and then says so when it cannot.

use super::invariant::Invariant;
use super::memory::NoMemory;
use super::noexcept::noexcept;
use std::alloc::{Layout, dealloc};
use std::mem::ManuallyDrop;

/// The standard vector without what ends in a panic or in an abort.
pub(crate) struct Row<T>(ManuallyDrop<Vec<T>>);

impl<T> Default for Row<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(not(loom))]
impl<T> Row<T> {
    /// For a debugger: where in it its pointer is. Of the two other words the length is the one that is not larger.
    pub(crate) const POINTER: usize = {
        let empty = ManuallyDrop::new(Vec::<T>::new());
        const { assert!(size_of::<Vec<T>>() == 3 * size_of::<usize>()) };
        // SAFETY: three words; the pointer of an empty vector is a bare number that is not 0, the others are 0.
        let words: [usize; 3] = unsafe { std::mem::transmute_copy(&empty) };
        let word = if words[0] != 0 {
            0
        } else {
            1 + (words[2] != 0) as usize
        };
        word * size_of::<usize>()
    };
}

impl<T> Row<T> {
    pub(crate) const fn new() -> Self {
        Self(ManuallyDrop::new(Vec::new()))
    }

    /// Makes room for so many more.
    pub(crate) fn try_reserve(&mut self, count: usize) -> Result<(), NoMemory> {
        self.0.try_reserve(count).map_err(|_| NoMemory)
    }

    /// The same, for no more than these.
    pub(crate) fn try_reserve_exact(&mut self, count: usize) -> Result<(), NoMemory> {
        self.0.try_reserve_exact(count).map_err(|_| NoMemory)
    }

    pub(crate) fn capacity(&self) -> usize {
        self.0.capacity()
    }

    pub(crate) fn has_room(&self) -> bool {
        self.0.len() < self.0.capacity()
    }

    /// Has it room for one more, perhaps in the memory of a larger one that was brought?
    pub(crate) fn has_room_with(&mut self, larger: &mut Self) -> bool {
        if !self.has_room() && larger.capacity() > self.len() {
            larger.append(self);
            std::mem::swap(larger, self);
        }
        self.has_room()
    }

    /// The length, after a check that there is room for so many more behind it.
    #[inline(always)]
    fn end(&self, count: usize) -> usize {
        (self.0.capacity() - self.0.len() >= count)
            .then_some(self.0.len())
            .invariant("room was made beforehand")
    }

    /// Like the ones below, for a caller that has made room.
    #[inline(always)]
    pub(crate) fn push(&mut self, value: T) {
        let end = self.end(1);
        // SAFETY: there is room for it.
        unsafe {
            self.0.as_mut_ptr().add(end).write(value);
            self.0.set_len(end + 1);
        }
    }

    pub(crate) fn insert(&mut self, index: usize, value: T) {
        let end = self.end(1);
        let behind = end.checked_sub(index);
        let behind = behind.invariant("an index is not behind the end");
        // SAFETY: so many stand from `index` on, and there is room for one more behind them.
        unsafe {
            let place = self.0.as_mut_ptr().add(index);
            place.copy_to(place.add(1), behind);
            place.write(value);
            self.0.set_len(end + 1);
        }
    }

    pub(crate) fn extend(&mut self, values: &[T])
    where
        T: Copy,
    {
        let end = self.end(values.len());
        // SAFETY: there is room for them, and they can be copied.
        unsafe {
            let place = self.0.as_mut_ptr().add(end);
            place.copy_from_nonoverlapping(values.as_ptr(), values.len());
            self.0.set_len(end + values.len());
        }
    }

    /// Takes all that another one has.
    pub(crate) fn append(&mut self, other: &mut Self) {
        let (end, count) = (self.end(other.len()), other.len());
        // SAFETY: there is room for them, and the other one has them no more.
        unsafe {
            other.0.set_len(0);
            let place = self.0.as_mut_ptr().add(end);
            place.copy_from_nonoverlapping(other.0.as_ptr(), count);
            self.0.set_len(end + count);
        }
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    /// Takes out the first one that is wanted; the last one takes its place.
    pub(crate) fn take_first(&mut self, wanted: impl FnMut(&T) -> bool) -> Option<T> {
        let index = self.iter().position(wanted)?;
        Some(self.0.swap_remove(index))
    }

    /// Takes out the last one that is wanted; those behind it move up.
    pub(crate) fn take_last(&mut self, wanted: impl Fn(&T) -> bool) -> Option<T> {
        let index = self.iter().rposition(wanted)?;
        let last = self.len() - 1;
        // SAFETY: `index` was found, so it is at most the last; it is read out, and so many behind it move up.
        unsafe {
            let place = self.0.as_mut_ptr().add(index);
            let value = place.read();
            place.copy_from(place.add(1), last - index);
            self.0.set_len(last);
            Some(value)
        }
    }

    pub(crate) fn retain(&mut self, stays: impl FnMut(&T) -> bool) {
        self.0.retain(stays);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

impl<T> std::ops::Deref for Row<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> std::ops::DerefMut for Row<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T> Drop for Row<T> {
    #[inline(never)]
    fn drop(&mut self) {
        let elements: *mut [T] = &mut **self;
        if std::mem::needs_drop::<T>() {
            // SAFETY: ours, and not used any more.
            noexcept(|| unsafe { elements.drop_in_place() });
        }
        // By hand, since the compiler does not see that the standard one's end unwinds nowhere.
        if let Ok(layout) = Layout::array::<T>(self.capacity())
            && layout.size() > 0
        {
            // SAFETY: a vector's memory, which has this layout.
            unsafe { dealloc(self.0.as_mut_ptr().cast(), layout) };
        }
    }
}
