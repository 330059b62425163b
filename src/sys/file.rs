//! Files on a disk, and what else has a path: which one it is, whether others have it open, and what it begins with.

use super::cancel::uncancelled;
use super::errno;
use super::output::{SystemError, write_most};
use std::ffi::CStr;
use std::mem::MaybeUninit;

/// Which file it is.
#[derive(PartialEq, Eq)]
pub(crate) struct FileId {
    pub(crate) device: u64,
    pub(crate) number: u64,
}

impl FileId {
    /// Of an open file.
    pub(crate) fn of(descriptor: i32) -> Result<Self, SystemError> {
        let status = status(descriptor)?;
        Ok(Self {
            device: status.st_dev,
            number: status.st_ino,
        })
    }
}

fn status(descriptor: i32) -> Result<libc::stat, SystemError> {
    let mut status = MaybeUninit::uninit();
    // SAFETY: a bad descriptor is an error.
    if unsafe { libc::fstat(descriptor, status.as_mut_ptr()) } != 0 {
        return Err(SystemError::latest());
    }
    // SAFETY: filled if it returns 0.
    Ok(unsafe { status.assume_init() })
}

/// What stands behind a descriptor.
pub(crate) enum Target {
    /// A file on a disk, with nothing in it.
    EmptyFile,
    /// One with something in it.
    File,
    /// A terminal, or one that swallows everything.
    CharacterDevice,
    /// A pipe, which may have no reader, or the like.
    Other,
}

impl Target {
    pub(crate) fn of(descriptor: i32) -> Result<Self, SystemError> {
        let status = status(descriptor)?;
        Ok(match status.st_mode & libc::S_IFMT {
            libc::S_IFREG if status.st_size == 0 => Self::EmptyFile,
            libc::S_IFREG => Self::File,
            libc::S_IFCHR => Self::CharacterDevice,
            _ => Self::Other,
        })
    }
}

/// Does anybody else have a file open that all who write to it lock?
#[derive(PartialEq, Eq)]
pub(crate) enum Others {
    /// Nobody, and nobody comes until [`share`].
    None,
    Some,
    /// There are no locks for that file.
    Unknown,
}

/// How often a lock that somebody has for a moment is tried for, a millisecond each.
const TRIES: u32 = 500;

/// Makes this process the only one that has the file locked, if it can be.
pub(crate) fn lock(descriptor: i32) -> Others {
    for _ in 0..TRIES {
        match try_lock(descriptor, libc::LOCK_EX) {
            None => return Others::None,
            Some(libc::EWOULDBLOCK) => {}
            Some(_) => return Others::Unknown,
        }
        match try_lock(descriptor, libc::LOCK_SH) {
            Some(libc::EWOULDBLOCK) => doze(),
            _ => break,
        }
    }
    Others::Some
}

/// From here on it is one of those that have it locked, until it and every child that has the descriptor from it are gone.
pub(crate) fn share(descriptor: i32) {
    for _ in 0..TRIES {
        if try_lock(descriptor, libc::LOCK_SH) != Some(libc::EWOULDBLOCK) {
            return;
        }
        doze();
    }
}

/// Why not, as the number of an error.
fn try_lock(descriptor: i32, how: i32) -> Option<i32> {
    // SAFETY: a bad descriptor is an error.
    let failed = unsafe { libc::flock(descriptor, how | libc::LOCK_NB) } != 0;
    failed.then(errno::get)
}

fn doze() {
    let time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 1_000_000,
    };
    // SAFETY: a time; who is interrupted sleeps less.
    uncancelled(|| unsafe { libc::nanosleep(&time, std::ptr::null_mut()) });
}

/// Opens a file, made if there is none, to which every write appends. Nobody is waited for who might read what it is.
pub(crate) fn open(path: &CStr) -> Result<(i32, FileId), SystemError> {
    let how = libc::O_WRONLY
        | libc::O_CREAT
        | libc::O_APPEND
        | libc::O_CLOEXEC
        | libc::O_NOCTTY
        | libc::O_NONBLOCK;
    // SAFETY: a C string.
    let descriptor = uncancelled(|| unsafe { libc::open(path.as_ptr(), how, 0o666) });
    let descriptor = above_standard(descriptor)?;
    // SAFETY: ours.
    unsafe { libc::fcntl(descriptor, libc::F_SETFL, libc::O_APPEND) };
    Ok((descriptor, FileId::of(descriptor)?))
}

/// Appends all of a line, or nothing, as far as that can be seen to: what a disk that is full has taken of it is taken back, unless somebody has
/// appended more meanwhile.
pub(crate) fn append(descriptor: i32, line: &[u8]) -> Result<(), SystemError> {
    let mut rest = line;
    let result = write_most(descriptor, &mut rest);
    let written = line.len() - rest.len();
    if result.is_err() && written != 0 {
        take_back(descriptor, written);
    }
    result
}

fn take_back(descriptor: i32, count: usize) {
    // SAFETY: a bad descriptor is an error.
    let end = unsafe { libc::lseek(descriptor, 0, libc::SEEK_CUR) };
    let size = status(descriptor).map_or(0, |status| status.st_size);
    if let Ok(count) = i64::try_from(count)
        && end == size
    {
        // SAFETY: as above.
        uncancelled(|| unsafe { libc::ftruncate(descriptor, size - count) });
    }
}

/// It is not used any more.
pub(crate) fn close(descriptor: i32) {
    // SAFETY: the caller's, who has it from `open`.
    uncancelled(|| unsafe { libc::close(descriptor) });
}

/// The same file by a descriptor that no program takes for one of its first three, one of which was free.
fn above_standard(descriptor: i32) -> Result<i32, SystemError> {
    let moved = match descriptor {
        0..=libc::STDERR_FILENO => {
            let least = libc::STDERR_FILENO + 1;
            // SAFETY: ours, which nobody else knows yet.
            unsafe {
                let moved = libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, least);
                let error = errno::get();
                uncancelled(|| libc::close(descriptor));
                errno::set(error);
                moved
            }
        }
        _ => descriptor,
    };
    if moved < 0 {
        return Err(SystemError::latest());
    }
    Ok(moved)
}

/// Nothing is left in it.
pub(crate) fn empty(descriptor: i32) -> Result<(), SystemError> {
    // SAFETY: a bad descriptor is an error.
    match uncancelled(|| unsafe { libc::ftruncate(descriptor, 0) }) {
        0 => Ok(()),
        _ => Err(SystemError::latest()),
    }
}

/// The first bytes of a file; none if it cannot be read.
pub(crate) fn beginning<'a>(path: &CStr, room: &'a mut [u8]) -> &'a [u8] {
    let how = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_CLOEXEC;
    let count = uncancelled(|| {
        // SAFETY: a C string; so many bytes can be written there; a bad descriptor is an error.
        unsafe {
            let descriptor = libc::open(path.as_ptr(), how);
            let count = libc::read(descriptor, room.as_mut_ptr().cast(), room.len());
            if descriptor >= 0 {
                libc::close(descriptor);
            }
            count
        }
    });
    let count = usize::try_from(count).unwrap_or(0);
    room.get(..count).unwrap_or_default()
}

/// Does that text stand in a file? `None` if it cannot be read. The text has its first byte only there, so a try that fails begins anew.
pub(crate) fn contains(path: &CStr, text: &[u8]) -> Option<bool> {
    let mut room = [0u8; 4096];
    let mut matched = 0;
    // SAFETY: a C string.
    let open = || unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    let descriptor = uncancelled(open);
    // SAFETY: so many bytes can be written there; a bad descriptor is an error.
    let read =
        |room: &mut [u8]| unsafe { libc::read(descriptor, room.as_mut_ptr().cast(), room.len()) };
    let found = loop {
        let count = uncancelled(|| read(&mut room));
        let Ok(count) = usize::try_from(count) else {
            break None;
        };
        for &byte in room.iter().take(count) {
            if matched < text.len() {
                let is_next = text.get(matched) == Some(&byte);
                let is_first = text.first() == Some(&byte);
                matched = if is_next {
                    matched + 1
                } else {
                    is_first.into()
                };
            }
        }
        if matched == text.len() || count == 0 {
            break Some(matched == text.len());
        }
    };
    if descriptor >= 0 {
        // SAFETY: ours.
        uncancelled(|| unsafe { libc::close(descriptor) });
    }
    found
}
