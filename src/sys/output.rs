//! Writing to a file descriptor.

use super::cancel::uncancelled;
use super::errno;
use super::text::Lossy;
use std::ffi::CStr;
use std::fmt::{Display, Formatter, Result as Formatted};
use std::mem::MaybeUninit;

/// What a system call said of its failure.
pub(crate) struct SystemError(i32);

impl SystemError {
    /// Of this thread's latest one.
    pub(crate) fn latest() -> Self {
        Self(errno::get())
    }

    /// Nothing can be written there now.
    pub(crate) fn would_wait() -> Self {
        Self(libc::EAGAIN)
    }
}

/// Writes all of it, or says why not. A pipe that nobody reads is an error like any other, and no SIGPIPE; so is a file that
/// has become as large as it may, and no SIGXFSZ.
pub(crate) fn write_all(fd: i32, bytes: &[u8]) -> Result<(), SystemError> {
    let mut rest = bytes;
    write_most(fd, &mut rest)
}

/// The same; `bytes` is what has not been written.
pub(super) fn write_most(fd: i32, bytes: &mut &[u8]) -> Result<(), SystemError> {
    let _unbroken = Unbroken::begin();
    while !bytes.is_empty() {
        // SAFETY: so many bytes are readable there; a bad descriptor is an error, not undefined.
        let written =
            uncancelled(|| unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) });
        match usize::try_from(written) {
            Ok(written) => *bytes = bytes.get(written..).unwrap_or_default(),
            Err(_) => match errno::get() {
                libc::EINTR => {}
                code => return Err(SystemError(code)),
            },
        }
    }
    Ok(())
}

/// What a write that fails may send to its thread.
const SENT: [libc::c_int; 2] = [libc::SIGPIPE, libc::SIGXFSZ];

/// Those are blocked on this thread until it ends, and taken back then if they have come meanwhile.
struct Unbroken {
    before: libc::sigset_t,
    were_pending: [bool; 2],
}

impl Unbroken {
    fn begin() -> Self {
        let mut before = MaybeUninit::zeroed();
        // SAFETY: sets that are there to be read and written.
        unsafe {
            let were_pending = SENT.map(is_pending);
            libc::pthread_sigmask(libc::SIG_BLOCK, &set_of(&SENT), before.as_mut_ptr());
            Self {
                before: before.assume_init(),
                were_pending,
            }
        }
    }
}

impl Drop for Unbroken {
    fn drop(&mut self) {
        let error = errno::get();
        // SAFETY: as above; nobody else takes a signal that is this thread's.
        unsafe {
            for (signal, was_pending) in SENT.into_iter().zip(self.were_pending) {
                if !was_pending && is_pending(signal) {
                    let at_once = MaybeUninit::<libc::timespec>::zeroed();
                    let alone = set_of(&[signal]);
                    libc::sigtimedwait(&alone, std::ptr::null_mut(), at_once.as_ptr());
                }
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut());
        }
        errno::set(error);
    }
}

fn set_of(signals: &[libc::c_int]) -> libc::sigset_t {
    let mut set = MaybeUninit::zeroed();
    // SAFETY: a set that is there to be written.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for &signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

fn is_pending(signal: libc::c_int) -> bool {
    let mut pending = MaybeUninit::zeroed();
    // SAFETY: a set that is there to be written, and then read.
    unsafe {
        libc::sigpending(pending.as_mut_ptr()) == 0
            && libc::sigismember(pending.as_ptr(), signal) == 1
    }
}

/// Can a line be written there now without waiting? A pipe that is full has no reader that looks, and nobody is to wait for one.
pub(crate) fn has_room(fd: i32) -> bool {
    let mut asked = libc::pollfd {
        fd,
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: one descriptor, which may be a bad one.
    let found = uncancelled(|| unsafe { libc::poll(&mut asked, 1, 0) });
    found == 1 && asked.revents & libc::POLLOUT != 0
}

/// Where lines for people go.
pub(crate) const STANDARD_ERROR: i32 = libc::STDERR_FILENO;

impl Display for SystemError {
    fn fmt(&self, out: &mut Formatter<'_>) -> Formatted {
        let mut text = [0u8; 128];
        // SAFETY: so many bytes are writable there; the last one stays the NUL that it is.
        unsafe { libc::strerror_r(self.0, text.as_mut_ptr().cast(), text.len() - 1) };
        let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
        write!(out, "{} (os error {})", Lossy::of(text), self.0)
    }
}
