//! The environment of this process.

use super::memory::try_c_string;
use super::row::Row;
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

/// The path as it is from here, wherever the process goes later.
pub(crate) fn absolute(path: CString) -> Option<CString> {
    if path.to_bytes().starts_with(b"/") {
        return Some(path);
    }
    let mut folder = [0u8; libc::PATH_MAX as usize];
    // SAFETY: so many bytes can be written there.
    if unsafe { libc::getcwd(folder.as_mut_ptr().cast(), folder.len()) }.is_null() {
        return Some(path);
    }
    let folder = CStr::from_bytes_until_nul(&folder).unwrap_or_default();
    let mut whole = Row::new();
    let parts = [folder.to_bytes(), b"/", path.to_bytes()];
    for part in parts {
        whole.try_reserve(part.len()).ok()?;
        whole.extend(part);
    }
    try_c_string(&whole).ok()
}
