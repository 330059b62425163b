//! The timeline, in a file of Chrome trace events, which Perfetto opens.
//!
//! Each event is a line of its own, written at once and appended by the kernel. So the lines of several threads, and of forked children that
//! share the file, do not mix, nothing is lost when the process dies, and no lock is needed. The array is never closed, which the format
//! allows for just that.
//!
//! The first line names the process that has begun the file, by its number and by when it was started. While that lives, whoever comes with the
//! same name goes on in its file: another copy of the library, the program that it has become by `exec`, a program that it has started. So it
//! does while any process has the file open, which the lock on it says, across namespaces as well: a child of one that is gone. What is left of
//! processes that are all gone is written over, and nothing else is: a file that does not begin with that line is somebody else's.

use super::Event;
use super::line::{END, line};
use super::report::{TRACE, forked_ns, want};
use crate::sys::file::{self, FileId, Others, Target};
use crate::sys::memory::{try_box, try_c_string};
use crate::sys::output::{self, SystemError, write_all};
use crate::sys::row::Row;
use crate::sys::text::{Lossy, text};
use crate::sys::{order, process};
use std::ffi::{CStr, CString};
use std::fmt::{Display, Formatter};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64, Ordering::Relaxed};

/// Not opened in this process yet.
const SHUT: i32 = -1;
/// A thread opens it; the others wait for it.
const OPENING: i32 = -2;
/// It cannot be written; nothing more is tried.
const BROKEN: i32 = -3;

/// Of the array.
const OPENING_LINE: &str = "[\n";
/// The first line: metadata of its process, which a viewer shows beside that.
const HEAD: &str = r#"{"ph":"M","pid":"#;
const NAME: &str = r#""name":"process_labels","args":{"labels":"lazyonce","#;
const STARTED: &str = r#""started":"#;

struct File {
    /// As it stands in the environment.
    path: CString,
    /// The descriptor, or one of the above. Relaxed, like the rest: the kernel orders what is written.
    descriptor: AtomicI32,
    /// Which file that was: a program that closes every descriptor has perhaps another file there now.
    device: AtomicU64,
    number: AtomicU64,
}

/// Written once, and for ever.
static FILE: AtomicPtr<File> = AtomicPtr::new(null_mut());

fn file() -> Option<&'static File> {
    // SAFETY: NULL, or a box that was leaked.
    unsafe { FILE.load(order::see_trace()).as_ref() }
}

/// From here on every event is written to this file, opened now.
pub(super) fn begin(path: CString) {
    let file = File {
        path,
        descriptor: AtomicI32::new(SHUT),
        device: AtomicU64::new(0),
        number: AtomicU64::new(0),
    };
    let Ok(file) = try_box(file) else {
        return;
    };
    let file = Box::leak(file);
    file.descriptor();
    FILE.store(file, order::publish_trace());
    want(TRACE, true);
}

/// Writes an event, but for the end of what began before this process was forked off.
pub(super) fn tell(event: &Event) {
    let Some(file) = file() else {
        return;
    };
    let Some(descriptor) = file.descriptor() else {
        return;
    };
    if event.ended_ns.is_some() && event.began_ns < forked_ns() {
        return;
    }
    let line = line(event);
    // Without memory it is cut.
    if line.ends_with(END) {
        file.write(descriptor, &line);
    }
}

/// In a forked child: where the name has the process in it, the child's file is another one.
pub(super) fn forked() {
    if let Some(file) = file()
        && file.descriptor.load(Relaxed) != BROKEN
        && file.name_parts().count() > 1
    {
        file.descriptor.store(SHUT, Relaxed);
    }
}

impl File {
    fn name_parts(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = Some(self.path.to_bytes());
        std::iter::from_fn(move || {
            let bytes = rest?;
            let place = bytes.windows(2).position(|two| two == b"%p");
            let (part, behind) = match place {
                Some(place) => (bytes.get(..place)?, bytes.get(place + 2..)),
                None => (bytes, None),
            };
            rest = behind;
            Some(part)
        })
    }

    fn descriptor(&self) -> Option<i32> {
        loop {
            let known = self.descriptor.load(Relaxed);
            match known {
                BROKEN => return None,
                SHUT => {
                    let taken = self
                        .descriptor
                        .compare_exchange(SHUT, OPENING, Relaxed, Relaxed);
                    if taken.is_ok() {
                        self.open();
                    }
                }
                OPENING => process::yield_now(),
                descriptor => return Some(descriptor),
            }
        }
    }

    #[cold]
    fn open(&self) {
        let path = self.path();
        let Some(path) = path else {
            return self.give_up("out of memory");
        };
        match file::open(&path) {
            Ok((descriptor, FileId { device, number })) => {
                self.device.store(device, Relaxed);
                self.number.store(number, Relaxed);
                match begin_at(&path, descriptor) {
                    Ok(()) => self.descriptor.store(descriptor, Relaxed),
                    Err(refusal) => {
                        file::close(descriptor);
                        self.give_up(refusal);
                    }
                }
            }
            Err(problem) => self.give_up(problem),
        }
    }

    /// With the number of this process where the name has a place for it.
    fn path(&self) -> Option<CString> {
        let mut path = Row::new();
        let process = text!("{}", process::id());
        for (index, part) in self.name_parts().enumerate() {
            let number: &[u8] = if index == 0 { b"" } else { process.as_bytes() };
            path.try_reserve(number.len() + part.len()).ok()?;
            path.extend(number);
            path.extend(part);
        }
        try_c_string(&path).ok()
    }

    fn write(&self, descriptor: i32, text: &str) {
        let id = FileId {
            device: self.device.load(Relaxed),
            number: self.number.load(Relaxed),
        };
        if FileId::of(descriptor).ok() != Some(id) {
            return self.give_up("its descriptor has been closed");
        }
        if let Err(problem) = file::append(descriptor, text.as_bytes()) {
            self.give_up(problem);
        }
    }

    #[cold]
    fn give_up(&self, problem: impl Display) {
        if self.descriptor.swap(BROKEN, Relaxed) != BROKEN {
            say(&text!(
                "lazyonce: the trace \"{}\" (LAZYONCE_TRACE) goes no further: {problem}\n",
                Lossy::of(&self.path)
            ));
        }
    }
}

/// Why a file is left alone.
enum Refusal {
    Failed(SystemError),
    /// It is no file, nor a character device.
    Sort,
    /// It has something in it that is no trace.
    Content,
}

impl From<SystemError> for Refusal {
    fn from(problem: SystemError) -> Self {
        Self::Failed(problem)
    }
}

impl Display for Refusal {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failed(problem) => problem.fmt(out),
            Self::Sort => out.write_str("it is neither a file nor a character device"),
            Self::Content => out.write_str("it has something in it that is no trace, and stays so"),
        }
    }
}

/// Writes the first line, unless it is to go on behind what is there.
fn begin_at(path: &CStr, descriptor: i32) -> Result<(), Refusal> {
    match Target::of(descriptor)? {
        Target::Other => Err(Refusal::Sort),
        Target::CharacterDevice => write_head(descriptor),
        Target::File | Target::EmptyFile => {
            let others = file::lock(descriptor);
            let begun = begin_file(path, descriptor, others != Others::Some);
            file::share(descriptor);
            begun
        }
    }
}

/// While it is locked: nobody else does this with it.
fn begin_file(path: &CStr, descriptor: i32, is_alone: bool) -> Result<(), Refusal> {
    if !matches!(Target::of(descriptor)?, Target::EmptyFile) {
        let mut room = [0; 128];
        let there = file::beginning(path, &mut room);
        let behind = there.strip_prefix(OPENING_LINE.as_bytes());
        let head = behind.and_then(|behind| behind.strip_prefix(HEAD.as_bytes()));
        let head = head.ok_or(Refusal::Content)?;
        if !contains(head, NAME) {
            return Err(Refusal::Content);
        }
        let number = |number: Option<u64>| number.filter(|&number| number != 0);
        let process = number(process::number_at(head));
        let started = number(number_behind(head, STARTED));
        let lives = started.is_some() && process.and_then(process::started) == started;
        if lives || !is_alone {
            return Ok(());
        }
        file::empty(descriptor)?;
    }
    write_head(descriptor)
}

fn write_head(descriptor: i32) -> Result<(), Refusal> {
    let process = process::id();
    let started = process::started(process.into()).unwrap_or(0);
    let head = text!("{OPENING_LINE}{HEAD}{process},{NAME}{STARTED}{started}{END}");
    Ok(file::append(descriptor, head.as_bytes())?)
}

fn contains(text: &[u8], part: &str) -> bool {
    text.windows(part.len())
        .any(|place| place == part.as_bytes())
}

/// The number that follows a name.
fn number_behind(text: &[u8], name: &str) -> Option<u64> {
    let mut places = text.windows(name.len());
    let at = places.position(|place| place == name.as_bytes())?;
    process::number_at(text.get(at + name.len()..)?)
}

/// A line for people. There is nobody left to tell if that fails, and nobody to wait for if it has to wait.
pub(crate) fn say(line: &str) {
    if output::has_room(output::STANDARD_ERROR) {
        let _ = write_all(output::STANDARD_ERROR, line.as_bytes());
    }
}
