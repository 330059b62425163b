//! What onces and slots are called in messages.

use crate::sys::memory::Shared;
use std::ffi::{CStr, CString};
use std::fmt::{Display, Formatter, Write};

/// A name, or none.
#[derive(Clone, Default)]
pub(crate) struct Name(pub(crate) Option<Shared<CString>>);

impl std::ops::Deref for Name {
    type Target = CStr;

    fn deref(&self) -> &CStr {
        self.0.as_deref().map_or(c"", CString::as_c_str)
    }
}

/// What a message is about. A debugger knows the numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Kind {
    Once,
    #[cfg_attr(loom, allow(dead_code))]
    Slot,
    #[cfg_attr(loom, allow(dead_code))]
    Observer,
}

impl Kind {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Slot => "slot",
            Self::Observer => "observer",
        }
    }
}

/// A name in a text: in one line, and no longer than a name of a usual length.
pub(crate) struct Quoted<'a>(pub(crate) &'a CStr);

/// In bytes.
const LONGEST: usize = 200;

/// Does it begin another line, or turn what is around it the other way?
fn moves_text(character: char) -> bool {
    matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

impl Display for Quoted<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let whole = self.0.to_bytes();
        let shown = whole.get(..LONGEST).unwrap_or(whole);
        out.write_char('"')?;
        for chunk in shown.utf8_chunks() {
            for character in chunk.valid().chars() {
                match character {
                    '"' | '\\' => write!(out, "\\{character}")?,
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
        out.write_str(if shown.len() < whole.len() {
            "…\""
        } else {
            "\""
        })
    }
}

/// It in the text of a message.
pub(crate) struct Called<'a>(pub(crate) Kind, pub(crate) &'a CStr);

impl Display for Called<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let kind = self.0.word();
        if self.1.is_empty() {
            write!(out, "an unnamed {kind}")
        } else {
            write!(out, "{kind} {}", Quoted(self.1))
        }
    }
}

/// Who has a name, which is looked up only when a message is written. No lock may be held.
pub(crate) trait Subject {
    fn kind(&self) -> Kind;
    fn name(&self) -> Name;
    /// Of a once, at this moment; 0 for what has none.
    fn phase(&self) -> u32;
}
