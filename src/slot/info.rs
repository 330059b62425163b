//! A slot as it is now, for people.

use super::body::{self, Body};
use super::value::{Stage, Value};
use crate::stay::Doing;
use std::ffi::CStr;

/// What the dump tells of a slot, but for its name.
pub(crate) struct Info {
    /// Its values are being ended, for good.
    pub(crate) is_retiring: bool,
    /// How many values are there.
    pub(crate) live: usize,
    /// The first of those that a thread makes or ends, and how many there are.
    pub(crate) busy: [Option<Busy>; MOST],
    pub(crate) all_busy: usize,
}

/// What a thread does for the value at that index.
#[derive(Clone, Copy)]
pub(crate) struct Busy {
    pub(crate) index: u32,
    pub(crate) thread: u64,
    pub(crate) doing: Doing,
}

/// How many of those are told.
const MOST: usize = 16;

/// How many values are looked at before others get the lock.
const STEPS: usize = 64;

/// The slot of that number, whose name is told first, under the lock; `None` behind the last one, and in it for one that has no values.
/// Without an allocation, for a signal handler.
pub(crate) fn info(number: usize, mut name: impl FnMut(&CStr)) -> Option<Option<Info>> {
    let mut info = Info {
        is_retiring: false,
        live: 0,
        busy: [None; MOST],
        all_busy: 0,
    };
    let mut place = 0;
    loop {
        let mut held = body::lock();
        let body = held.body(number)?;
        let Some(parts) = body.parts(&mut held) else {
            return Some(None);
        };
        // A slot that is poisoned in a forked child has no values.
        info.is_retiring = !body.is_open();
        let mut seen = 0;
        for value in parts.values.iter().skip(place).take(STEPS) {
            seen += 1;
            info.count(value);
        }
        if place == 0 && seen > 0 {
            name(&parts.config.name);
        }
        drop(held);
        place += seen;
        if seen < STEPS {
            return Some((place > 0).then_some(info));
        }
    }
}

/// Tells the name of the slot whose body that is, under the lock; none where it is retired.
///
/// # Safety
/// The address of a body of this library's.
pub(crate) unsafe fn with_name(body: usize, tell: impl FnOnce(&CStr)) {
    let mut held = body::lock();
    // SAFETY: the caller's promise; a body is never freed.
    let body = unsafe { &*std::ptr::with_exposed_provenance::<Body>(body) };
    match body.parts(&mut held) {
        Some(parts) => tell(&parts.config.name),
        None => tell(c""),
    }
}

impl Info {
    fn count(&mut self, value: &Value) {
        self.live += usize::from(value.stage() == Stage::Live);
        if let Some(doing) = value.doing() {
            if let Some(place) = self.busy.get_mut(self.all_busy) {
                *place = Some(Busy {
                    index: value.index,
                    thread: value.worker(),
                    doing,
                });
            }
            self.all_busy += 1;
        }
    }
}
