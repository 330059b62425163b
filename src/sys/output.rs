//! Writing to somebody's file descriptor.

use super::text::Lossy;
use std::ffi::CStr;
use std::fmt::{Display, Formatter, Result as Formatted};

/// What a system call said of its failure.
pub(crate) struct SystemError(i32);

/// Writes all of it, or says why not.
pub(crate) fn write_all(fd: i32, mut bytes: &[u8]) -> Result<(), SystemError> {
    while !bytes.is_empty() {
        // SAFETY: so many bytes are readable there; a bad descriptor is an error, not undefined.
        let written = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            // SAFETY: the C library's errno location of this thread.
            Err(_) => match unsafe { *libc::__errno_location() } {
                libc::EINTR => {}
                code => return Err(SystemError(code)),
            },
        }
    }
    Ok(())
}

impl Display for SystemError {
    fn fmt(&self, out: &mut Formatter<'_>) -> Formatted {
        let mut text = [0u8; 128];
        // SAFETY: so many bytes are writable there; the last one stays the NUL that it is.
        unsafe { libc::strerror_r(self.0, text.as_mut_ptr().cast(), text.len() - 1) };
        let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
        write!(out, "{} (os error {})", Lossy::of(text), self.0)
    }
}
