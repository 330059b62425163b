//! The environment of this process.

use super::memory::try_c_string;
use std::ffi::{CStr, CString, c_char};

unsafe extern "C" {
    fn secure_getenv(name: *const c_char) -> *const c_char;
}

/// A copy of a variable; `None` if it is not there, is empty, or belongs to somebody whose privileges this program does not have.
pub(crate) fn variable(name: &CStr) -> Option<CString> {
    // SAFETY: a C string.
    let value = unsafe { secure_getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: a C string of the C library's, which nobody changes while the program is loaded.
    let value = unsafe { CStr::from_ptr(value) };
    try_c_string(value.to_bytes())
        .ok()
        .filter(|copy| !copy.is_empty())
}
