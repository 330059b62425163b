//! Allocations that can fail, and a reference count over them. The standard ones abort when memory runs out.

use super::noexcept::noexcept;
use super::{order, race};
use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{CStr, CString};
use std::ptr::NonNull;
// Not loom's: the count orders nothing but the free, which loom does not see, and would only multiply the interleavings.
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The allocator refused.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoMemory;

/// Memory for one `T`.
fn allocate<T>() -> Result<NonNull<T>, NoMemory> {
    const { assert!(size_of::<T>() > 0) };
    // SAFETY: the layout has a size, as asserted.
    NonNull::new(unsafe { alloc(Layout::new::<T>()) }.cast()).ok_or(NoMemory)
}

/// `Box::new` that reports failure.
pub(crate) fn try_box<T>(value: T) -> Result<Box<T>, NoMemory> {
    let memory = allocate::<T>()?;
    // SAFETY: fresh, sized and aligned for T, from the global allocator, as Box requires; written before it is owned.
    unsafe {
        memory.write(value);
        Ok(Box::from_raw(memory.as_ptr()))
    }
}

/// `CString::new` that reports failure, of the bytes as far as the first NUL.
pub(crate) fn try_c_string(bytes: &[u8]) -> Result<CString, NoMemory> {
    let text = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    let layout = Layout::array::<u8>(text.len() + 1).map_err(|_| NoMemory)?;
    // SAFETY: the layout has a size.
    let memory = NonNull::new(unsafe { alloc(layout) }).ok_or(NoMemory)?;
    let whole = NonNull::slice_from_raw_parts(memory, layout.size());
    // SAFETY: fresh, from the global allocator, with room for the text and its NUL, which are written before it is owned; the
    // text has no other NUL.
    unsafe {
        memory.copy_from_nonoverlapping(NonNull::from(text).cast(), text.len());
        memory.add(text.len()).write(0);
        Ok(Box::from_raw(whole.as_ptr() as *mut CStr).into())
    }
}

/// A box that is made without an abort and whose end is one function, not a part of everybody who drops one.
pub(crate) struct Unique<T>(NonNull<T>);

// SAFETY: like Box: it owns the one T.
unsafe impl<T: Send> Send for Unique<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Unique<T> {}

impl<T> Unique<T> {
    pub(crate) fn try_new(value: T) -> Result<Self, NoMemory> {
        let memory = allocate::<T>()?;
        // SAFETY: fresh and sized for it.
        unsafe { memory.write(value) };
        Ok(Self(memory))
    }
}

impl<T> std::ops::Deref for Unique<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: ours, and written when it was made.
        unsafe { self.0.as_ref() }
    }
}

impl<T> std::ops::DerefMut for Unique<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and borrowed uniquely.
        unsafe { self.0.as_mut() }
    }
}

impl<T> Drop for Unique<T> {
    #[inline(never)]
    fn drop(&mut self) {
        // SAFETY: ours, and nobody has it any more.
        unsafe {
            noexcept(|| self.0.drop_in_place());
            dealloc(self.0.as_ptr().cast(), Layout::new::<T>());
        }
    }
}

struct Counted<T> {
    references: AtomicUsize,
    value: T,
}

/// A value that several threads hold; the last one frees it.
pub(crate) struct Shared<T> {
    counted: NonNull<Counted<T>>,
}

// SAFETY: like Arc: a clone hands out `&T` and the last one drops T, on any thread.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

#[cfg(not(loom))]
impl<T> Shared<T> {
    /// For a debugger: where in what it points to the value is.
    pub(crate) const VALUE: usize = std::mem::offset_of!(Counted<T>, value);
}

impl<T> Shared<T> {
    pub(crate) fn try_new(value: T) -> Result<Self, NoMemory> {
        let counted = allocate::<Counted<T>>()?;
        // SAFETY: fresh and sized for it.
        unsafe {
            counted.write(Counted {
                references: AtomicUsize::new(1),
                value,
            })
        };
        Ok(Self { counted })
    }

    #[inline(always)]
    fn counted(&self) -> &Counted<T> {
        // SAFETY: our reference keeps the allocation alive.
        unsafe { self.counted.as_ref() }
    }

    /// The value, if nobody else holds it.
    #[inline(always)]
    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        if self.counted().references.load(order::last_reference()) != 1 {
            return None;
        }
        race::acquire(self.counted.as_ptr());
        // SAFETY: the only reference is ours, and it is borrowed uniquely.
        Some(unsafe { &mut self.counted.as_mut().value })
    }

    /// Are both the same value in memory?
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.counted == other.counted
    }

    /// Only so many references are left: in a forked child, whose other threads held the others.
    #[cfg(not(loom))]
    pub(crate) fn forget_others(&mut self, held: usize) {
        self.counted().references.store(held, Relaxed);
    }

    /// The address, as a key.
    pub(crate) fn key(&self) -> usize {
        self.counted.addr().get()
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        // Relaxed: a new reference is made from a live one, which keeps the count above zero.
        self.counted().references.fetch_add(1, Relaxed);
        Self {
            counted: self.counted,
        }
    }
}

impl<T> std::ops::Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.counted().value
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        race::release(self.counted.as_ptr());
        if self
            .counted()
            .references
            .fetch_sub(1, order::drop_reference())
            == 1
        {
            self.free();
        }
    }
}

impl<T> Shared<T> {
    /// The last one is gone. Not inlined: it would be the larger part of whoever drops one. `noexcept`, since the compiler does not
    /// see by itself that a value which ends another one of its own kind unwinds nowhere.
    #[inline(never)]
    fn free(&mut self) {
        self.counted().references.load(order::last_reference());
        race::acquire(self.counted.as_ptr());
        // SAFETY: the count is zero: nobody else can reach the value or make a new reference.
        unsafe {
            noexcept(|| self.counted.drop_in_place());
            dealloc(self.counted.as_ptr().cast(), Layout::new::<Counted<T>>());
        }
    }
}
