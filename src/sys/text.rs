//! Texts for people, without the abort of the standard `format!` when there is no memory: what does not fit is left out.

use super::noexcept::noexcept;
use super::row::Row;
use std::ffi::CStr;
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

/// Such a text.
#[derive(Default)]
pub(crate) struct Text(Row<u8>);

pub(crate) fn of(parts: fmt::Arguments) -> Text {
    let mut text = Text::default();
    append_to(&mut text, parts);
    text
}

pub(crate) fn append_to(text: &mut dyn Write, parts: fmt::Arguments) {
    // An error says that there was no room for the rest. No formatter of ours throws, which the compiler cannot see.
    let _ = noexcept(|| text.write_fmt(parts));
}

impl Write for Text {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.0.try_reserve(part.len()).map_err(|_| fmt::Error)?;
        self.0.extend(part.as_bytes());
        Ok(())
    }
}

impl std::ops::Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        // SAFETY: whole parts of it are all that is ever appended.
        unsafe { str::from_utf8_unchecked(&self.0) }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self)
    }
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

/// The same on one line of what it stands in: what would begin another, or turn what is around it the other way, is written out, and so are
/// these characters.
pub(crate) struct OneLine<'a>(pub(crate) &'a [u8], pub(crate) &'a [char]);

/// Does it begin another line, or turn what is around it the other way?
fn moves_text(character: char) -> bool {
    matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                match character {
                    named if self.1.contains(&named) => write!(out, "\\{named}")?,
                    control if control.is_control() => {
                        write!(out, "\\x{:02x}", u32::from(control))?;
                    }
                    moving if moves_text(moving) => {
                        write!(out, "\\u{:04x}", u32::from(moving))?;
                    }
                    character => out.write_char(character)?,
                }
            }
            if !chunk.invalid().is_empty() {
                out.write_char(char::REPLACEMENT_CHARACTER)?;
            }
        }
        Ok(())
    }
}
