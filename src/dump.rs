//! How every once and slot stands, for people who look at a process that hangs. Nothing here allocates, asks the loader for a name or waits
//! for more than a few steps of another thread's: it is also what a signal handler may do.

use crate::abi;
use crate::error::since;
use crate::name::{Called, Kind, Quoted};
use crate::once::{self, Info, LOST, Once, registry};
use crate::slot;
use crate::stay::{self, Doing};
use crate::sys::anchor::Anchor;
use crate::sys::line::Line;
use crate::sys::output::{STANDARD_ERROR, SystemError, has_room, write_all};
use crate::sys::site::{Origin, Seen};
use crate::sys::text::{Lossy, append, text};
use crate::sys::{process, signal, thread};
use crate::trace::say;
use std::ffi::CStr;

mod stays;

pub(crate) use stays::append_stay;

/// Writes a line about each once that the library references, about the process default, about each slot that has values, and about each thread
/// that waits. No lock is held while it is written.
pub(crate) fn dump(to: To) -> Result<(), SystemError> {
    dump_head(to)?;
    let default = Anchor::new(once::default());
    dump_once(to, |_| Some(default))?;
    let mut index = 0;
    while registry::lock().at(index).is_some() {
        dump_once(to, |registry| {
            let once = registry.at(index).flatten();
            once.filter(|once| !std::ptr::eq(once.get(), default.get()))
        })?;
        index += 1;
    }
    dump_slots(to)?;
    stays::dump(to)
}

/// Where a dump goes.
#[derive(Clone, Copy)]
pub(crate) enum To {
    /// To that descriptor, however long it takes.
    Waiting(i32),
    /// To stderr, for as long as there is room.
    Reader,
}

impl To {
    fn write(self, line: &[u8]) -> Result<(), SystemError> {
        match self {
            Self::Waiting(fd) => write_all(fd, line),
            Self::Reader if has_room(STANDARD_ERROR) => write_all(STANDARD_ERROR, line),
            Self::Reader => Err(SystemError::would_wait()),
        }
    }
}

// Not inlined, and so are those below: there is a line on the stack in each, and a signal handler's is small.
#[inline(never)]
fn dump_head(to: To) -> Result<(), SystemError> {
    let mut line = Line::new();
    let (version, process) = (env!("CARGO_PKG_VERSION"), process::id());
    append!(line, "lazyonce {version}, process {process}");
    to.write(line.finish())
}

/// An address, 0 for none, and where that is.
type Known = (usize, Seen);

/// A line about the once that is found, if one is. Where addresses are is looked up in between, without a lock.
#[inline(never)]
fn dump_once(
    to: To,
    find: impl Fn(&registry::Held<'_>) -> Option<Anchor<Once>>,
) -> Result<(), SystemError> {
    let (mut init, mut running) = (0, 0);
    let mut registry = registry::lock();
    if let Some(once) = find(&registry) {
        once.get().inspect(&mut registry, |info| {
            init = info.init().map_or(0, Origin::address);
            running = info.running.map_or(0, Origin::address);
        });
    }
    drop(registry);
    let known = [init, running].map(|address| (address, Origin::Address(address).locate()));
    let mut line = Line::new();
    let mut registry = registry::lock();
    let once = find(&registry);
    if let Some(once) = once {
        let once = once.get();
        once.inspect(&mut registry, |info| {
            append_once(&mut line, once, info, &known);
        });
    }
    drop(registry);
    match once {
        Some(_) => to.write(line.finish()),
        None => Ok(()),
    }
}

#[inline(never)]
fn dump_slots(to: To) -> Result<(), SystemError> {
    let mut number = 0;
    loop {
        let mut line = Line::new();
        match slot::info(number, |name| append!(line, "{}", Called(Kind::Slot, name))) {
            Some(Some(info)) => {
                append_slot(&mut line, &info);
                to.write(line.finish())?;
            }
            Some(None) => {}
            None => return Ok(()),
        }
        number += 1;
    }
}

fn append_slot(line: &mut Line, info: &slot::Info) {
    append!(
        *line,
        ": {} value{}",
        info.live,
        if info.live == 1 { "" } else { "s" }
    );
    for busy in info.busy.iter().flatten() {
        let does = match busy.doing {
            Doing::Ending(_) => "ends",
            Doing::Sharing(_) => "shares",
            _ => "makes",
        };
        let (thread, index) = (busy.thread, busy.index);
        append!(*line, ", thread {thread} {does} the one at index {index}");
    }
    if let Some(more @ 1..) = info.all_busy.checked_sub(info.busy.len()) {
        append!(*line, " and so on, {more} more");
    }
    if info.is_retiring {
        append!(*line, ", being retired");
    }
}

/// What it is called, and where it is; under the once's lock, where nothing that is referred to can go away.
fn append_called(line: &mut Line, once: &Once, info: &Info) {
    let name = info.name();
    // SAFETY: a C string for as long as the once is locked, or NULL.
    let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) });
    match name.filter(|name| !name.is_empty()) {
        Some(name) => append!(*line, "once {}", Quoted(name)),
        None if std::ptr::eq(once, once::default()) => append!(*line, "the process default"),
        None => append!(*line, "an unnamed once"),
    }
    append!(*line, " at {:#x}", std::ptr::from_ref(once).addr());
}

/// Under the same lock.
fn append_once(line: &mut Line, once: &Once, info: &Info, known: &[Known]) {
    append_called(line, once, info);
    append!(*line, ": {}", phase(info.phase));
    if info.since_ns != 0 {
        append!(*line, " for {}", since(info.since_ns));
    }
    if info.owner != 0 {
        append!(*line, ", on thread {}", info.owner);
    }
    if info.attempts != 0 {
        append!(*line, ", attempt {}", info.attempts);
    }
    if let Some(init) = info.init() {
        append!(*line, " started at {}", place(init, known));
    }
    let is_describing = stay::is_describing(std::ptr::from_ref(once).addr(), info.owner);
    if let Some(running) = info.running.filter(|_| !is_describing) {
        append!(
            *line,
            ", running a callback queued by {}",
            place(running, known)
        );
    }
    // While one runs there is one, if only `lazy_once_run` brought it.
    let has_initializer = info.has_initializer || info.phase == abi::LAZY_INITIALIZING;
    if !has_initializer && info.phase != abi::LAZY_CLOSED {
        append!(*line, ", no initializer");
    }
    if info.preparing != 0 {
        append!(*line, ", {} inside prepare", info.preparing);
    }
    match stay::count(Doing::Asking, std::ptr::from_ref(once).addr()) {
        0 => {}
        asking => append!(*line, ", {asking} inside can_init"),
    }
    append!(*line, ", {} waiting, {} queued", info.waiters, info.queued);
    if info.lost_queue {
        append!(*line, "; {LOST}");
    }
}

fn place(origin: Origin, known: &[Known]) -> Seen {
    let known = known
        .iter()
        .find(|(address, _)| *address == origin.address());
    match known {
        Some((1.., seen)) => *seen,
        _ => origin.glimpse(),
    }
}

fn phase(phase: u32) -> &'static str {
    match phase {
        abi::LAZY_FRESH => "fresh",
        abi::LAZY_INITIALIZING => "initializing",
        abi::LAZY_DRAINING => "draining",
        abi::LAZY_FAILED => "failed for good",
        abi::LAZY_READY => "ready",
        abi::LAZY_FORKED => "unusable since the fork (LAZY_FORK_POISON)",
        abi::LAZY_CLOSED => "closed",
        _ => "unknown",
    }
}

/// Has the dump written to stderr at that signal (`LAZYONCE_DUMP_SIGNAL`).
pub(crate) fn at_signal(name: &CStr) {
    let installed = match signal::number(name.to_bytes()) {
        Some(number) => signal::handle(number, || thread::when_it_holds_none(to_standard_error)),
        None => {
            return refuse(
                name,
                "it is to be a name such as QUIT, SIGUSR1 or RTMIN+1, or a number, and of no fault",
            );
        }
    };
    if let Err(problem) = installed {
        refuse(name, problem);
    }
}

fn refuse(name: &CStr, why: impl std::fmt::Display) {
    say(&text!(
        "lazyonce: no dump will be written at signal \"{}\" (LAZYONCE_DUMP_SIGNAL): {why}\n",
        Lossy::of(name)
    ));
}

/// Nobody is there to be told of a failure, and no thread is held up where nobody reads, or stops to.
fn to_standard_error() {
    crate::fork::look();
    let _ = dump(To::Reader);
}
