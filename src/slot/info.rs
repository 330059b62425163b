//! A slot as it is now, for people.

use super::body;
use super::value::Stage;
use crate::name::Name;
use crate::sys::row::Row;

/// What the dump tells of a slot.
pub(crate) struct Info {
    pub(crate) name: Name,
    /// Its values are being ended, for good.
    pub(crate) is_retiring: bool,
    /// How many values are there.
    pub(crate) live: usize,
    /// Those that a thread makes or ends.
    pub(crate) busy: Row<Busy>,
}

#[derive(Clone, Copy)]
pub(crate) struct Busy {
    pub(crate) index: u32,
    pub(crate) thread: u64,
    pub(crate) is_made: bool,
}

/// How many values are looked at before others get the lock.
const STEPS: usize = 64;

/// The slot of that number; `None` behind the last one, and in it for one that has no values.
pub(crate) fn info(number: usize) -> Option<Option<Info>> {
    let mut info = Info {
        name: Name::default(),
        is_retiring: false,
        live: 0,
        busy: Row::new(),
    };
    let mut place = 0;
    loop {
        // Without memory it is a shorter list.
        let _ = info.busy.try_reserve(STEPS);
        let mut held = body::lock();
        let body = held.body(number)?;
        let Some(parts) = body.parts(&mut held) else {
            return Some(None);
        };
        if place == 0 {
            info.name = parts.config.name.clone();
        }
        // A slot that is poisoned in a forked child has no values.
        info.is_retiring = !body.is_open();
        let values = parts.values.iter().skip(place).take(STEPS);
        let mut seen = 0;
        for value in values {
            seen += 1;
            match value.stage() {
                Stage::Live => info.live += 1,
                Stage::Gone => {}
                stage if info.busy.has_room() => info.busy.push(Busy {
                    index: value.index,
                    thread: value.worker(),
                    is_made: stage == Stage::Making,
                }),
                _ => {}
            }
        }
        drop(held);
        place += seen;
        if seen < STEPS {
            return Some((place > 0).then_some(info));
        }
    }
}
