//! Where in memory the things are that a debugger shows: the library that is shipped has no debug information.
//!
//! `cmake/lazyonce-gdb.py` has the same list, in this order. What has a fixed layout of its own, such as `lazy_once`, is not in it.

use super::attempt::Attempt;
use super::gate::{Gate, Running};
use super::queue::{Block, Entry, Queue, Request, Work};
use super::registry;
use crate::sys::memory::{Shared, Unique};
use std::ffi::CString;
use std::mem::offset_of;

// An absent one takes no more room than a present one, which therefore stands at the beginning.
const _: () = assert!(size_of::<Option<Running>>() == size_of::<Running>());
const _: () = assert!(size_of::<Option<Work>>() == size_of::<Work>());
// Pointers, of which NULL is the absent one.
const _: () = assert!(size_of::<Option<Unique<Gate>>>() == size_of::<usize>());
const _: () = assert!(size_of::<Option<Shared<Attempt>>>() == size_of::<usize>());
const _: () = assert!(size_of::<Option<Shared<CString>>>() == size_of::<usize>());

/// In bytes. Those in what is [`Shared`] count from where that points to.
pub(crate) const LAYOUT: [u32; 21] = [
    registry::PLACES as u32,
    registry::PLACES_POINTER as u32,
    registry::PLACE as u32,
    offset_of!(Gate, config.name) as u32,
    offset_of!(Gate, preparing) as u32,
    (offset_of!(Gate, queue) + Queue::PLAIN) as u32,
    (offset_of!(Gate, queue) + Queue::WAITING) as u32,
    (offset_of!(Gate, running) + offset_of!(Running, work)) as u32,
    offset_of!(Gate, latest) as u32,
    offset_of!(Gate, history.since_ns) as u32,
    Shared::<CString>::VALUE as u32,
    (Shared::<Attempt>::VALUE + offset_of!(Attempt, number)) as u32,
    (Shared::<Attempt>::VALUE + Attempt::ORIGIN) as u32,
    (Shared::<Attempt>::VALUE + Attempt::OWNER) as u32,
    (Shared::<Attempt>::VALUE + offset_of!(Attempt, waiters)) as u32,
    (Shared::<Request>::VALUE + offset_of!(Request, details.origin)) as u32,
    (Shared::<Block>::VALUE + Block::ENTRIES) as u32,
    (Shared::<Block>::VALUE + Block::ENTRIES_POINTER) as u32,
    (Shared::<Block>::VALUE + Block::POSITION) as u32,
    size_of::<Entry>() as u32,
    Block::CALLER as u32,
];
