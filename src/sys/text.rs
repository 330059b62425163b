//! Texts for people, without the abort of the standard `format!` when there is no memory: what does not fit is left out.

use std::ffi::{CStr, CString};
use std::fmt::{self, Write};

/// `format!`, cut where memory ends.
macro_rules! text {
    ($($part:tt)*) => { $crate::sys::text::of(format_args!($($part)*)) };
}
pub(crate) use text;

/// Appends to such a text.
macro_rules! append {
    ($text:expr, $($part:tt)*) => { $crate::sys::text::append_to(&mut $text, format_args!($($part)*)) };
}
pub(crate) use append;

pub(crate) fn of(parts: fmt::Arguments) -> String {
    let mut text = String::new();
    append_to(&mut text, parts);
    text
}

pub(crate) fn append_to(text: &mut String, parts: fmt::Arguments) {
    struct Growing<'a>(&'a mut String);
    impl Write for Growing<'_> {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            self.0.try_reserve(part.len()).map_err(|_| fmt::Error)?;
            self.0.push_str(part);
            Ok(())
        }
    }
    // An error says that there was no memory for the rest.
    let _ = Growing(text).write_fmt(parts);
}

/// As a C string: what follows a NUL is cut. `None` without memory.
pub(crate) fn to_c_string(mut text: String) -> Option<CString> {
    text.truncate(text.find('\0').unwrap_or(text.len()));
    text.try_reserve_exact(1).ok()?;
    text.push('\0');
    CString::from_vec_with_nul(text.into_bytes()).ok()
}

/// Bytes of somebody else's, which need not be UTF-8.
pub(crate) struct Lossy<'a>(pub(crate) &'a [u8]);

impl<'a> Lossy<'a> {
    pub(crate) fn of(text: &'a CStr) -> Self {
        Self(text.to_bytes())
    }
}

impl fmt::Display for Lossy<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            out.write_str(chunk.valid())?;
            if !chunk.invalid().is_empty() {
                out.write_char(char::REPLACEMENT_CHARACTER)?;
            }
        }
        Ok(())
    }
}
