//! This thread: its values, and the snapshots that it has entered.
//!
//! Only the thread itself looks here, so nothing is locked. It is looked at in short steps, between which user code may run and come
//! back here; and allocators are user code.

use super::end::Ending;
use super::snapshot::{Entered, Snapshot};
use super::table::Table;
use super::value::{Holder, Stage, Value};
use crate::sys::memory::{NoMemory, Shared, try_box};
use crate::sys::pointer;
use crate::sys::race;
use crate::sys::row::Row;
use crate::sys::site::Origin;
use crate::sys::thread;
use std::ffi::c_void;

/// Allocated when a thread first needs it, freed when it ends.
#[derive(Default)]
struct Mine {
    /// Its own, and those of the process that it has asked for.
    table: Table,
    /// The innermost last.
    entered: Row<Entered>,
    /// The table is all there is to look at: no snapshot is entered, and there is no race detector to be told.
    is_plain: bool,
}

impl Mine {
    fn see_what_is_entered(&mut self) {
        self.is_plain = self.entered.is_empty() && !race::is_watched();
    }
}

/// This thread's; [`forget_thread`] frees it.
#[inline(always)]
fn get() -> *mut Mine {
    pointer::get().cast()
}

fn replace(mine: *mut Mine) -> *mut Mine {
    // SAFETY: only this thread looks there.
    unsafe { pointer::place().replace(mine.cast()).cast() }
}

/// A look at this thread's part, or a change of it. `body` calls nothing that could come back here.
#[inline(always)]
fn with<R>(body: impl FnOnce(&mut Mine) -> R) -> Option<R> {
    // SAFETY: this thread's own, and `body` is the only one that looks, as its callers see to.
    unsafe { get().as_mut() }.map(body)
}

/// The value, where a look at this thread's table is all there is to do.
#[inline(always)]
pub(super) fn find(key: u64) -> Option<*mut c_void> {
    with(|mine| {
        if !mine.is_plain {
            return None;
        }
        mine.table
            .find(key)
            .and_then(|value| value.live_unwatched())
    })
    .flatten()
}

/// The value in the innermost entered snapshot that has one.
pub(super) fn find_entered(key: u64) -> Option<Shared<Value>> {
    with(|mine| {
        let mut entered = mine.entered.iter().rev();
        entered.find_map(|entered| entered.find(key))
    })
    .flatten()
}

/// The value of this thread itself.
pub(super) fn find_own(key: u64) -> Option<Shared<Value>> {
    with(|mine| mine.table.find(key).cloned()).flatten()
}

/// As whose this thread's values are listed. The same in a child that it forks.
pub(super) fn holder() -> Holder {
    Holder::Thread(pointer::place().addr())
}

fn provide() -> Result<(), NoMemory> {
    if get().is_null() {
        let mut fresh = try_box(Mine::default())?;
        fresh.see_what_is_entered();
        // The allocator may have come here meanwhile.
        if get().is_null() {
            replace(Box::into_raw(fresh));
        }
    }
    thread::run_at_exit(crate::exit::thread_exit);
    Ok(())
}

/// Makes room for one more value.
pub(super) fn reserve() -> Result<(), NoMemory> {
    provide()?;
    while let Some(places) =
        with(|mine| (!mine.table.has_room()).then(|| mine.table.next_size())).flatten()
    {
        let larger = Table::with_places(places)?;
        drop(with(|mine| mine.table.move_into(larger)));
    }
    Ok(())
}

/// Keeps a value, for which room has been made.
pub(super) fn put(value: Shared<Value>) {
    let key = value.id();
    drop(with(|mine| mine.table.put(key, value)));
}

/// Gives up a value, if it is there.
pub(super) fn take(value: &Shared<Value>) {
    drop(with(|mine| mine.table.take(value)));
}

/// Enters a snapshot, in front of the others.
pub(super) fn enter(entered: Entered) -> Result<(), NoMemory> {
    provide()?;
    while let Some(count) =
        with(|mine| (!mine.entered.has_room()).then_some(mine.entered.len())).flatten()
    {
        let mut larger = Row::new();
        larger.try_reserve_exact((count * 2).max(4))?;
        drop(with(|mine| {
            if larger.capacity() > mine.entered.len() {
                larger.append(&mut mine.entered);
                std::mem::swap(&mut larger, &mut mine.entered);
            }
            larger
        }));
    }
    with(|mine| {
        mine.entered.push(entered);
        mine.see_what_is_entered();
    });
    Ok(())
}

/// Leaves the innermost that `which` names.
pub(super) fn leave(which: impl Fn(&Entered) -> bool) -> Option<Entered> {
    with(|mine| {
        let left = mine.entered.take_last(which);
        mine.see_what_is_entered();
        left
    })
    .flatten()
}

/// How often this thread has entered that one.
pub(super) fn entered(snapshot: &Snapshot) -> usize {
    let count = |mine: &mut Mine| {
        let ours = mine.entered.iter();
        ours.filter(|entered| entered.is_of(snapshot)).count()
    };
    with(count).unwrap_or(0)
}

/// The values that this thread sees, those of the innermost snapshot first and its own last.
pub(super) fn seen() -> Result<Row<Shared<Value>>, NoMemory> {
    let mut seen = Row::new();
    loop {
        let lack = with(|mine| {
            let entered = mine.entered.iter().rev().flat_map(Entered::values);
            let all = || {
                let all = entered.clone().chain(mine.table.values());
                all.filter(|value| !value.is_gone())
            };
            let count = all().count();
            if seen.capacity() < count {
                return Some(count);
            }
            all().for_each(|value| seen.push(value.clone()));
            None
        });
        match lack.flatten() {
            Some(count) => seen.try_reserve_exact(count)?,
            None => return Ok(seen),
        }
    }
}

/// How many rounds of destructors that make new values a thread's end has: POSIX's `PTHREAD_DESTRUCTOR_ITERATIONS`.
const ROUNDS: u32 = 4;

/// The end of this thread. Its values are found by their destructors until each one's turn comes, and what those make is ended
/// too, in as many rounds as POSIX has.
pub(crate) fn forget_thread() {
    while let Some(entered) = leave(|_| true) {
        entered.leave(Origin::Address(0));
    }
    for _ in 0..ROUNDS {
        if !end_own() {
            return forget_table();
        }
    }
}

/// Ends this thread's values in one walk; false if there were none.
fn end_own() -> bool {
    let holder = holder();
    let mut any = false;
    let mut place = 0;
    let mut places = 0;
    while let Some(value) = with(|mine| {
        if mine.table.places() != places {
            places = mine.table.places();
            place = 0;
        }
        let value = mine.table.at(place).map(|value| value.cloned());
        place += 1;
        value
    })
    .flatten()
    {
        let own = value.filter(|value| value.holder == holder && value.stage() == Stage::Live);
        if let Some(ending) = own.and_then(Ending::claim) {
            any = true;
            take(&ending.value);
            // A host that refuses this thread has the value leaked.
            let _ = ending.run(Origin::Address(0));
        }
    }
    any
}

/// Has this thread anything left here?
pub(crate) fn is_left() -> bool {
    !get().is_null()
}

fn forget_table() {
    let mine = replace(std::ptr::null_mut());
    if !mine.is_null() {
        // SAFETY: made by `provide`, and this thread's own.
        drop(unsafe { Box::from_raw(mine) });
    }
}
