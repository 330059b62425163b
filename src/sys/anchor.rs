//! A pointer to something that its owner takes out of every list before it ends.

use std::ptr::NonNull;

/// The pointer. What it points to stays in place until the anchor has been dropped, which is the invariant of whoever
/// makes one.
pub(crate) struct Anchor<T>(NonNull<T>);

impl<T> Clone for Anchor<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Anchor<T> {}

// SAFETY: hands out `&T` only.
unsafe impl<T: Sync> Send for Anchor<T> {}

impl<T> Anchor<T> {
    pub(crate) fn new(of: &T) -> Self {
        Self(NonNull::from(of))
    }

    pub(crate) fn get(&self) -> &T {
        // SAFETY: the maker's invariant: alive and in place for as long as this anchor exists.
        unsafe { self.0.as_ref() }
    }
}
