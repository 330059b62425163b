//! Structs that begin with their size: an older caller's is shorter, a newer one's may be longer.

use crate::abi;

/// A C struct of the interface.
///
/// # Safety
/// `repr(C)`, begins with `size: usize`, and is valid when all of its bytes are zero.
pub(crate) unsafe trait Sized_: Copy {
    /// As far as the first field after `size`.
    const SMALLEST: usize;
    /// Where two fields of four bytes share a word. Elsewhere a size that ends inside a word ends inside a field.
    const PAIRS: &'static [usize] = &[];
}

// SAFETY: repr(C) with `size` first; pointers, optional functions and integers, all valid as zero.
unsafe impl Sized_ for abi::lazy_config {
    const SMALLEST: usize = std::mem::offset_of!(abi::lazy_config, initialize);
    const PAIRS: &'static [usize] = &[
        std::mem::offset_of!(abi::lazy_config, on_failure),
        std::mem::offset_of!(abi::lazy_config, on_fork),
    ];
}

// SAFETY: as above.
unsafe impl Sized_ for abi::lazy_host {
    const SMALLEST: usize = std::mem::offset_of!(abi::lazy_host, ctx);
}

// SAFETY: as above.
unsafe impl Sized_ for abi::lazy_request {
    const SMALLEST: usize = std::mem::offset_of!(abi::lazy_request, ctx);
    const PAIRS: &'static [usize] = &[std::mem::offset_of!(abi::lazy_request, phase)];
}

// SAFETY: as above.
unsafe impl Sized_ for abi::lazy_receipt {
    const SMALLEST: usize = std::mem::offset_of!(abi::lazy_receipt, outcome);
}

// SAFETY: as above.
unsafe impl Sized_ for abi::lazy_info {
    const SMALLEST: usize = std::mem::offset_of!(abi::lazy_info, phase);
}

// SAFETY: as above.
unsafe impl Sized_ for abi::lazy_cuda_options {
    const SMALLEST: usize = std::mem::offset_of!(abi::lazy_cuda_options, flags) + size_of::<u32>();
}

// SAFETY: as above.
unsafe impl Sized_ for abi::lazy_cuda_info {
    const SMALLEST: usize = std::mem::offset_of!(abi::lazy_cuda_info, device_count);
}

// SAFETY: as above.
unsafe impl Sized_ for abi::lazy_slot_config {
    const SMALLEST: usize = std::mem::offset_of!(abi::lazy_slot_config, ctx);
    const PAIRS: &'static [usize] = &[std::mem::offset_of!(abi::lazy_slot_config, scope)];
}

// SAFETY: as above.
unsafe impl Sized_ for abi::lazy_observer {
    // No part of it can be missing.
    const SMALLEST: usize = size_of::<abi::lazy_observer>();
}

/// A pointer to a caller's struct, or NULL. It came through the C interface, whose caller promised that it is valid for
/// as long as the interface says.
#[repr(transparent)]
pub(crate) struct Foreign<T>(*const T);

impl<T> Clone for Foreign<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Foreign<T> {}

impl<T> Default for Foreign<T> {
    fn default() -> Self {
        Self(std::ptr::null())
    }
}

impl<T> Foreign<T> {
    pub(crate) const fn none() -> Self {
        Self(std::ptr::null())
    }

    /// A constant of the library's own.
    #[cfg(not(loom))]
    pub(crate) const fn constant(value: &'static T) -> Self {
        Self(std::ptr::from_ref(value))
    }

    pub(crate) fn as_ptr(self) -> *const T {
        self.0
    }

    /// What [`Self::as_ptr`] gave; the promise made then still holds.
    #[cfg(not(loom))]
    pub(crate) fn again(pointer: *const T) -> Self {
        Self(pointer)
    }

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The same struct in memory?
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

// SAFETY: read only while the C interface says that it is valid, on any thread.
unsafe impl<T> Send for Foreign<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Foreign<T> {}

/// What is wrong with a struct.
#[derive(thiserror::Error, Debug)]
pub(crate) enum Malformed {
    #[error("{0} is too small, it has to be at least {1}")]
    TooSmall(usize, usize),
    #[error("{0} bytes with non-zero ones that this version has no field for")]
    UnknownFields(usize),
}

impl<T: Sized_> Foreign<T> {
    pub(crate) const NULL: Self = Self(std::ptr::null());

    /// # Safety
    /// NULL, or valid for as long as the C interface says of this argument.
    pub(crate) unsafe fn new(pointer: *const T) -> Self {
        Self(pointer)
    }

    /// A copy, with 0 in the fields that the caller does not know; `None` for NULL.
    pub(crate) fn read(self) -> Option<Result<T, Malformed>> {
        // SAFETY: what `new` was promised; a sized struct has as many initialised bytes as its first word says.
        (!self.0.is_null()).then(|| unsafe { read(self.0) })
    }
}

/// A pointer to a caller's struct that is to be filled, or NULL.
#[repr(transparent)]
pub(crate) struct Target<T>(*mut T);

impl<T: Sized_> Target<T> {
    /// # Safety
    /// NULL, or valid to read and write during the call, as many bytes as its first word says.
    pub(crate) unsafe fn new(pointer: *mut T) -> Self {
        Self(pointer)
    }

    /// Is it such a struct? `None` for NULL.
    pub(crate) fn check(&self) -> Option<Result<(), Malformed>> {
        Foreign(self.0.cast_const())
            .read()
            .map(|read| read.map(drop))
    }

    /// Fills what the caller has room for; `size` stays the caller's. Nothing for NULL.
    pub(crate) fn fill(&self, value: &T) {
        if self.0.is_null() {
            return;
        }
        let head = size_of::<usize>();
        // SAFETY: what `new` was promised.
        let size = unsafe { self.0.cast::<usize>().read() }.min(size_of::<T>());
        let bytes = (&raw const *value).cast::<u8>();
        // SAFETY: both have `size` bytes, which is more than the head, as `check` has seen.
        unsafe {
            std::ptr::copy_nonoverlapping(
                bytes.add(head),
                self.0.cast::<u8>().add(head),
                size - head,
            )
        };
    }
}

/// # Safety
/// `from` points to a `usize`, and to as many bytes as that says, which are initialised.
unsafe fn read<T: Sized_>(from: *const T) -> Result<T, Malformed> {
    // SAFETY: the caller's promise.
    let size = unsafe { from.cast::<usize>().read() };
    if size < T::SMALLEST {
        return Err(Malformed::TooSmall(size, T::SMALLEST));
    }
    let bytes = from.cast::<u8>();
    for offset in size_of::<T>()..size {
        // SAFETY: within the size that the caller states.
        if unsafe { bytes.add(offset).read() } != 0 {
            return Err(Malformed::UnknownFields(size));
        }
    }
    // A field that is not whole counts as one that the caller does not know.
    let known = match size.min(size_of::<T>()) {
        known if known % 8 >= 4 && T::PAIRS.contains(&(known & !7)) => known & !3,
        known => known & !7,
    };
    let mut value = std::mem::MaybeUninit::<T>::zeroed();
    // SAFETY: `known` bytes are readable there and fit here.
    unsafe { std::ptr::copy_nonoverlapping(bytes, value.as_mut_ptr().cast(), known) };
    // SAFETY: all zero is a valid T, and what was copied over it is the caller's T.
    Ok(unsafe { value.assume_init() })
}
