//! How every once and slot stands, for people who look at a process that hangs.

use crate::abi;
use crate::error::{Failure, since};
use crate::name::{Called, Kind};
use crate::once::{Info, LOST, Once, registry};
use crate::slot;
use crate::sys::output::write_all;
use crate::sys::site::{Origin, copy_text};
use crate::sys::text::{Lossy, Text, append, text};
use std::ffi::CString;

/// Writes a line about each once that the library references, about the process default, and about each slot that has values. No lock is
/// held meanwhile.
pub(crate) fn dump(fd: i32, default: &Once) -> Result<(), Failure> {
    let head = text!(
        "lazyonce {}, process {}\n",
        env!("CARGO_PKG_VERSION"),
        crate::sys::process::id()
    );
    write(fd, &head)?;
    write(fd, &line(address(default), &default.info(), true))?;
    let mut index = 0;
    loop {
        let mut registry = registry::lock();
        let Some(place) = registry.at(index) else {
            drop(registry);
            return dump_slots(fd);
        };
        let once = place.filter(|once| !std::ptr::eq(once.get(), default));
        let info = once.map(|once| (address(once.get()), once.get().info_under(&mut registry)));
        drop(registry);
        if let Some((address, info)) = info {
            write(fd, &line(address, &info, false))?;
        }
        index += 1;
    }
}

fn dump_slots(fd: i32) -> Result<(), Failure> {
    let mut number = 0;
    while let Some(info) = slot::info(number) {
        if let Some(info) = info {
            write(fd, &slot_line(&info))?;
        }
        number += 1;
    }
    Ok(())
}

fn slot_line(info: &slot::Info) -> Text {
    let mut text = text!(
        "{}: {} value{}",
        Called(Kind::Slot, &info.name),
        info.live,
        if info.live == 1 { "" } else { "s" }
    );
    for slot::Busy {
        index,
        thread,
        is_made,
    } in info.busy.iter()
    {
        let does = if *is_made { "makes" } else { "ends" };
        append!(text, ", thread {thread} {does} the one at index {index}");
    }
    if info.is_retiring {
        append!(text, ", being retired");
    }
    append!(text, "\n");
    text
}

fn write(fd: i32, text: &str) -> Result<(), Failure> {
    write_all(fd, text.as_bytes())
        .map_err(|error| Failure::invalid(text!("cannot write to descriptor {fd}: {error}")))
}

fn address(once: &Once) -> usize {
    std::ptr::from_ref(once).addr()
}

fn line(address: usize, info: &Info, is_default: bool) -> Text {
    let mut text = match name(info) {
        Some(name) => text!("once \"{}\"", Lossy::of(&name)),
        None if is_default => text!("the process default"),
        None => text!("an unnamed once"),
    };
    append!(text, " at {:#x}: ", address);
    let phase = match info.phase {
        abi::LAZY_FRESH => "fresh",
        abi::LAZY_INITIALIZING => "initializing",
        abi::LAZY_DRAINING => "draining",
        abi::LAZY_FAILED => "failed for good",
        abi::LAZY_READY => "ready",
        abi::LAZY_FORKED => "unusable since the fork (LAZY_FORK_POISON)",
        abi::LAZY_CLOSED => "closed",
        _ => "unknown",
    };
    append!(text, "{phase}");
    if info.since_ns != 0 {
        append!(text, " for {}", since(info.since_ns));
    }
    if info.owner != 0 {
        append!(text, ", on thread {}", info.owner);
    }
    if info.attempts != 0 {
        append!(text, ", attempt {}", info.attempts);
    }
    if let Some(init) = info.init() {
        append!(text, " started at {}", init.resolve());
    }
    if let Some(running) = info.running.map(Origin::resolve) {
        append!(text, ", running a callback queued by {running}");
    }
    // While one runs there is one, if only `lazy_once_run` brought it.
    let has_initializer = info.has_initializer || info.phase == abi::LAZY_INITIALIZING;
    if !has_initializer && info.phase != abi::LAZY_CLOSED {
        append!(text, ", no initializer");
    }
    append!(text, ", {} waiting, {} queued", info.waiters, info.queued);
    if info.lost_queue {
        append!(text, "; {LOST}");
    }
    append!(text, "\n");
    text
}

fn name(info: &Info) -> Option<CString> {
    copy_text(info.name()).ok().flatten()
}
