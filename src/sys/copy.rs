//! This copy of the library: a process may have several, when a static one is linked into a shared object.

use super::site::Origin;
use std::ffi::CString;
use std::sync::atomic::AtomicU8;

/// Something of which each copy has its own, that no linker merges with another thing.
static HERE: AtomicU8 = AtomicU8::new(0);

/// A copy, by an address inside it.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct LibraryCopy(usize);

impl LibraryCopy {
    #[inline(always)]
    pub(crate) fn this() -> Self {
        Self(std::ptr::from_ref(&HERE).addr())
    }

    /// The object that it is in.
    pub(crate) fn file(self) -> Option<CString> {
        // As the return address of a call there, which the next byte would be.
        Origin::Address(self.0 + 1).resolve().file
    }
}
