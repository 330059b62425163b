//! What onces and slots are called in messages.

use crate::sys::memory::Shared;
use crate::sys::text::OneLine;
use std::ffi::{CStr, CString};
use std::fmt::{Display, Formatter};

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

impl Display for Quoted<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let whole = self.0.to_bytes();
        let shown = whole.get(..LONGEST).unwrap_or(whole);
        write!(out, "\"{}", OneLine(shown, &['"', '\\']))?;
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
