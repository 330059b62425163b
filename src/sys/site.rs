//! Where in somebody's program something was asked for.

use super::memory::{NoMemory, try_c_string};
#[cfg(not(loom))]
use super::object;
use super::row::Row;
use super::text::OneLine;
use std::ffi::{CStr, CString, c_char};
use std::fmt::{Display, Formatter};

/// As recorded: free to make, resolved only when an error or a dump is written.
///
/// A debugger knows this layout: `{ u32 kind; u32 line; file; function }` and `{ u32 kind; address }`.
#[derive(Clone, Copy)]
#[repr(u32)]
pub(crate) enum Origin {
    /// Given by the caller (`LAZY_HERE`); the strings are there for as long as the call, or whatever has copied them.
    Here {
        line: u32,
        file: *const c_char,
        function: *const c_char,
    },
    /// The return address of the call; 0 where it is not known.
    Address(usize),
}

// SAFETY: the strings are literals, never written to.
unsafe impl Send for Origin {}
// SAFETY: as above.
unsafe impl Sync for Origin {}

/// As told to people: owned copies, since the object that asked may be unloaded later.
#[derive(Default, Debug)]
pub(crate) struct Place {
    pub(crate) file: Option<CString>,
    pub(crate) line: u32,
    pub(crate) function: Option<CString>,
    /// Where no function is known: the place in the object, for `addr2line -e FILE`.
    pub(crate) offset: usize,
}

/// Where an origin is, by strings that last as long as the object that asked is loaded.
#[cfg(not(loom))]
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) file: *const c_char,
    pub(crate) line: u32,
    pub(crate) function: *const c_char,
    /// Of an address: how far into the object.
    pub(crate) offset: usize,
}

/// Neither allocates, nor waits for the lock that the loader holds while it runs somebody's constructors, which may wait for this very thread.
#[cfg(not(loom))]
impl Origin {
    /// With the function.
    pub(crate) fn locate(self) -> Seen {
        self.see(object::and_function)
    }

    /// For what is told while things run: an address is found in its object only.
    pub(crate) fn glimpse(self) -> Seen {
        self.see(object::of)
    }

    /// Is there anything to be told?
    pub(crate) fn is_known(self) -> bool {
        !matches!(self, Self::Address(0))
    }

    /// The address, where that is all that is known; else 0.
    pub(crate) fn address(self) -> usize {
        match self {
            Self::Here { .. } => 0,
            Self::Address(address) => address,
        }
    }

    fn see(self, find: fn(usize) -> object::Found) -> Seen {
        match self {
            Self::Here {
                file,
                line,
                function,
            } => Seen {
                file,
                line,
                function,
                offset: 0,
            },
            Self::Address(address) => {
                // The call itself lies before its return address, which may already be the next function's first byte.
                let found = find(address.saturating_sub(1));
                Seen {
                    file: found.file,
                    line: 0,
                    function: found.function,
                    offset: found.offset,
                }
            }
        }
    }

    pub(crate) fn resolve(self) -> Place {
        self.locate().into()
    }

    /// What `glimpse` sees, for a text.
    pub(crate) fn spot(self) -> Place {
        self.glimpse().into()
    }
}

/// Models have no loader.
#[cfg(loom)]
impl Origin {
    pub(crate) fn resolve(self) -> Place {
        match self {
            Self::Here { file, line, .. } => Place {
                file: text_of(file),
                line,
                ..Place::default()
            },
            Self::Address(_) => Place::default(),
        }
    }

    pub(crate) fn spot(self) -> Place {
        self.resolve()
    }
}

#[cfg(not(loom))]
impl From<Seen> for Place {
    fn from(seen: Seen) -> Self {
        Self {
            file: text_of(seen.file),
            line: seen.line,
            function: text_of(seen.function),
            offset: seen.offset,
        }
    }
}

/// An origin with its own copies of the strings.
pub(crate) struct OwnSite {
    origin: Origin,
    /// What `origin` points to.
    _strings: Row<u8>,
}

impl OwnSite {
    /// For a debugger.
    #[cfg(not(loom))]
    pub(crate) const ORIGIN: usize = std::mem::offset_of!(Self, origin);

    pub(crate) fn copy(origin: Origin) -> Result<Self, NoMemory> {
        let mut strings = Row::new();
        let Origin::Here {
            file,
            line,
            function,
        } = origin
        else {
            return Ok(Self {
                origin,
                _strings: strings,
            });
        };
        let texts = [file, function].map(bytes_with_end);
        strings.try_reserve_exact(texts.iter().flatten().map(|text| text.len()).sum())?;
        let [file, function] = texts.map(|text| {
            let Some(text) = text else {
                return std::ptr::null();
            };
            let begin = strings.len();
            strings.extend(text);
            strings.get(begin..).unwrap_or_default().as_ptr().cast()
        });
        Ok(Self {
            origin: Origin::Here {
                file,
                line,
                function,
            },
            _strings: strings,
        })
    }

    /// The origin, for as long as this is there.
    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }
}

/// An origin with as much of its strings as fits: for who may not allocate where they are certain to be there.
#[cfg(not(loom))]
pub(crate) struct Cut {
    origin: Origin,
    file: [u8; 1024],
    function: [u8; 256],
}

#[cfg(not(loom))]
impl Cut {
    pub(crate) fn of(origin: Origin) -> Self {
        let mut cut = Self {
            origin,
            file: [0; _],
            function: [0; _],
        };
        if let Origin::Here { file, function, .. } = origin {
            fill(&mut cut.file, file);
            fill(&mut cut.function, function);
        }
        cut
    }

    pub(crate) fn own(&self) -> Result<OwnSite, NoMemory> {
        OwnSite::copy(self.origin())
    }

    /// The origin, for as long as this is there.
    pub(crate) fn origin(&self) -> Origin {
        let text = |part: &[u8], was: *const c_char| match was.is_null() {
            true => std::ptr::null(),
            false => part.as_ptr().cast(),
        };
        match self.origin {
            Origin::Here {
                line,
                file,
                function,
            } => Origin::Here {
                line,
                file: text(&self.file, file),
                function: text(&self.function, function),
            },
            address @ Origin::Address(_) => address,
        }
    }
}

/// The beginning of a C string, or nothing of NULL, with an end.
#[cfg(not(loom))]
fn fill(room: &mut [u8], text: *const c_char) {
    if text.is_null() {
        return;
    }
    // SAFETY: a C string, for as long as the thread that gave it is in its call.
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes();
    let count = bytes.len().min(room.len() - 1);
    for (place, byte) in room.iter_mut().zip(&bytes[..count]) {
        *place = *byte;
    }
}

/// A C string of somebody else's, with its end; `None` for NULL.
fn bytes_with_end<'a>(text: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: a C string that the caller or the loader keeps alive during this call.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes_with_nul())
}

/// A C string of somebody else's, copied; `None` for NULL.
pub(crate) fn copy_text(text: *const c_char) -> Result<Option<CString>, NoMemory> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: a C string that the caller or the loader keeps alive during this call.
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes();
    try_c_string(bytes).map(Some)
}

/// The same for a message, which goes without what there is no memory for.
fn text_of(text: *const c_char) -> Option<CString> {
    copy_text(text).ok().flatten()
}

/// " at" a place, or nothing if it is not known.
#[cfg(not(loom))]
pub(crate) struct At(pub(crate) Origin);

#[cfg(not(loom))]
impl Display for At {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        if self.0.is_known() {
            write!(out, " at {}", self.0.spot())?;
        }
        Ok(())
    }
}

impl Display for Place {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let (file, function) = (self.file.as_deref(), self.function.as_deref());
        show(out, file, self.line, function, self.offset)
    }
}

#[cfg(not(loom))]
impl Display for Seen {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        // SAFETY: C strings, or NULL, for as long as the object that asked is loaded.
        let text = |part: *const c_char| (!part.is_null()).then(|| unsafe { CStr::from_ptr(part) });
        let (file, function) = (text(self.file), text(self.function));
        show(out, file, self.line, function, self.offset)
    }
}

/// The one way in which people are told a place.
fn show(
    out: &mut Formatter<'_>,
    file: Option<&CStr>,
    line: u32,
    function: Option<&CStr>,
    offset: usize,
) -> std::fmt::Result {
    let [file, function] = [file, function].map(|part| Some(OneLine(part?.to_bytes(), &[])));
    match (file, line, function) {
        (None, ..) => out.write_str("an unknown place"),
        (Some(file), 0, None) => write!(out, "{file}+{offset:#x}"),
        (Some(file), 0, Some(function)) => write!(out, "{function} in {file}"),
        (Some(file), line, None) => write!(out, "{file}:{line}"),
        (Some(file), line, Some(function)) => write!(out, "{file}:{line} ({function})"),
    }
}
