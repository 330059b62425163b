//! What onces and slots are called in messages.

use crate::sys::memory::Shared;
use crate::sys::text::Lossy;
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

/// What a message is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Once,
    #[cfg_attr(loom, allow(dead_code))]
    Slot,
    #[cfg_attr(loom, allow(dead_code))]
    Observer,
}

/// It in the text of a message.
pub(crate) struct Called<'a>(pub(crate) Kind, pub(crate) &'a CStr);

impl Display for Called<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let kind = match self.0 {
            Kind::Once => "once",
            Kind::Slot => "slot",
            Kind::Observer => "observer",
        };
        if self.1.is_empty() {
            write!(out, "an unnamed {kind}")
        } else {
            write!(out, "{kind} \"{}\"", Lossy::of(self.1))
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
