//! The dynamic loader: libraries and functions that are found at run time.

use super::text::{Lossy, Text, text};
use super::thread;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null;

/// What the loader keeps of a library: the public part.
#[repr(C)]
pub(super) struct LinkMap {
    pub(super) base: usize,
    pub(super) name: *const c_char,
    pub(super) dynamic: usize,
}

/// An open library. It is never closed: what was found in it stays valid.
pub(crate) struct Library(*mut c_void);

impl Library {
    /// By the loader's own search, with everything resolved at once and its names for nobody else. Runs the library's constructors, so no lock
    /// may be held. The loader's text, if it fails.
    pub(crate) fn open(name: &CStr) -> Result<Self, Text> {
        match load(name, libc::RTLD_NOW | libc::RTLD_LOCAL) {
            Some(handle) => Ok(Self(handle)),
            None => Err(problem()),
        }
    }

    /// Has the process loaded it?
    pub(crate) fn is_loaded(name: &CStr) -> bool {
        load(name, libc::RTLD_LAZY | libc::RTLD_NOLOAD).is_some()
    }

    /// Where it was found.
    pub(crate) fn file(&self) -> Option<&'static CStr> {
        let mut map: *const LinkMap = null();
        // SAFETY: a handle that is open, and a place for the pointer that this request gives.
        let refused = unsafe { libc::dlinfo(self.0, libc::RTLD_DI_LINKMAP, (&raw mut map).cast()) };
        // SAFETY: NULL, or the loader's own, of a library that is never closed.
        let name = unsafe { map.as_ref() }.filter(|_| refused == 0)?.name;
        // SAFETY: as above.
        let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) })?;
        (!name.is_empty()).then_some(name)
    }

    /// One of its functions.
    ///
    /// # Safety
    /// As [`symbol`].
    pub(crate) unsafe fn symbol<F: Copy>(&self, name: &CStr) -> Option<F> {
        // SAFETY: a handle that is open; the rest is as the caller says.
        unsafe { symbol(self.0, name) }
    }
}

fn load(name: &CStr, mode: c_int) -> Option<*mut c_void> {
    // SAFETY: a C string; what the library's constructors do is its own business.
    let handle = thread::outside(|| unsafe { libc::dlopen(name.as_ptr(), mode) });
    (!handle.is_null()).then_some(handle)
}

/// What the loader says of its last failure on this thread.
fn problem() -> Text {
    // SAFETY: no preconditions.
    let said = unsafe { libc::dlerror() };
    if said.is_null() {
        return text!("the loader gives no reason");
    }
    // SAFETY: a C string, valid until this thread's next call of the loader.
    text!("{}", Lossy::of(unsafe { CStr::from_ptr(said) }))
}

/// A function by its name, in an open library, or with `RTLD_DEFAULT` in the whole process.
///
/// # Safety
/// `F` is the type of that function.
pub(crate) unsafe fn symbol<F: Copy>(handle: *mut c_void, name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: a handle, and a name with its NUL.
    let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
    // SAFETY: the caller says that it is a function of this type.
    (!address.is_null()).then(|| unsafe { core::mem::transmute_copy::<*mut c_void, F>(&address) })
}
