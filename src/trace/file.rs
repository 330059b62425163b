//! The timeline, in a file of Chrome trace events, which Perfetto opens.
//!
//! Each event is a line of its own, written at once and appended by the kernel. So the lines of several threads, and of forked children that
//! share the file, do not mix, nothing is lost when the process dies, and no lock is needed. The array is never closed, which the format
//! allows for just that.
//!
//! The first line names the process that has begun the file, by its number and by when it was started. While that lives, whoever comes with the
//! same name goes on in its file: another copy of the library, the program that it has become by `exec`, a program that it has started. What
//! a process has left that is gone is written over.

use super::Event;
use super::line::{END, line};
use super::report::{TRACE, forked_ns, want};
use crate::sys::memory::{try_box, try_c_string};
use crate::sys::output::{self, FileId, write_all};
use crate::sys::row::Row;
use crate::sys::text::{Lossy, text};
use crate::sys::{order, process};
use std::ffi::{CStr, CString};
use std::fmt::Display;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64, Ordering::Relaxed};

/// Not opened in this process yet.
const SHUT: i32 = -1;
/// A thread opens it; the others wait for it.
const OPENING: i32 = -2;
/// It cannot be written; nothing more is tried.
const BROKEN: i32 = -3;

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
        match output::open(&path) {
            Ok((descriptor, FileId { device, number })) => {
                self.device.store(device, Relaxed);
                self.number.store(number, Relaxed);
                self.descriptor.store(descriptor, Relaxed);
                self.begin(&path, descriptor);
            }
            Err(problem) => self.give_up(problem),
        }
    }

    /// Unless a process that lives has begun it.
    fn begin(&self, path: &CStr, descriptor: i32) {
        let mut room = [0; 128];
        let there = output::beginning(path, &mut room);
        let number = |name: &str| number_behind(there, name).filter(|&number| number != 0);
        if let (Some(process), Some(started)) = (number(r#""pid":"#), number(STARTED))
            && process::started(process) == Some(started)
        {
            return;
        }
        if !there.is_empty() {
            output::empty(descriptor);
        }
        let process = process::id();
        let started = process::started(process.into()).unwrap_or(0);
        let head = text!("[\n{HEAD}{process},{NAME}{STARTED}{started}{END}");
        self.write(descriptor, &head);
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
        if let Err(problem) = write_all(descriptor, text.as_bytes()) {
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
