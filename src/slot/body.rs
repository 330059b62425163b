//! What the library keeps of each slot, for ever: retiring a slot leaves a few words behind, so that nobody who looks at the same
//! moment looks at memory that is gone.
//!
//! One lock guards all slots. It is held for a bounded number of steps, never over an allocation or user code, and not at all where a value is
//! found. No other lock is taken with it.

use super::config::Config;
use super::named::Named;
use super::snapshot::Snapshot;
use super::table::Table;
use super::value::{Stage, Value};
use crate::error::{Error, Facts, Failure};
use crate::name::{Called, Kind, Name, Subject};
use crate::sys::anchor::Anchor;
use crate::sys::copy::LibraryCopy;
use crate::sys::lock::{self, Mutex, RawLock};
use crate::sys::memory::{NoMemory, Shared, Unique, try_box};
use crate::sys::row::Row;
use crate::sys::text::text;
use crate::sys::{order, process};
use lock_api::{MutexGuard, RawMutex};
use std::cell::UnsafeCell;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{self, Relaxed},
};

/// It can be used.
const OPEN: u64 = 0;
/// Nobody gets a value of it any more.
const RETIRED: u64 = 1;
/// This is a forked child, and its values do not survive that.
const FORKED: u64 = 2;
const STATE: u64 = 0xffff_ffff;

#[repr(C)]
pub(crate) struct Body {
    /// The copy of the library that owns it: the first word, which every copy looks at before it touches the rest.
    copy: LibraryCopy,
    /// OPEN, RETIRED or FORKED, and in the upper half its place in the list of slots, which is written before anybody else knows it. In one
    /// word, since both are read where a value is found, without the lock under which the first changes.
    state: AtomicU64,
    /// Until it is retired.
    parts: UnsafeCell<Option<Unique<Parts>>>,
}

// Pointers, of which NULL is the absent one.
const _: () = assert!(size_of::<UnsafeCell<Option<Unique<Parts>>>>() == size_of::<usize>());
const _: () = assert!(size_of::<Name>() == size_of::<usize>());

/// For a debugger: where in the body of a slot its parts are, and in those its name.
pub(crate) const LAYOUT: [u32; 2] = [
    std::mem::offset_of!(Body, parts) as u32,
    std::mem::offset_of!(Parts, config.name.0) as u32,
];

// SAFETY: the parts are reached only with the lock held.
unsafe impl Sync for Body {}

/// What changes only under the lock.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) config: Config,
    /// Shared by name: whoever configures it first decides.
    pub(super) is_named: bool,
    pub(super) is_configured: bool,
    /// The process that made the first value; 0 before.
    pub(super) pid: u32,
    /// Every value that is not gone, whoever holds it.
    pub(super) values: Row<Shared<Value>>,
    /// Those that the process holds.
    pub(super) process: Table,
}

/// Every slot, by its number, and the named ones in the order of their names.
pub(super) struct Slots {
    bodies: Row<&'static Body>,
    pub(super) names: Row<&'static Named>,
    /// Those that are not ended.
    pub(super) snapshots: Row<Anchor<Snapshot>>,
}

static SLOTS: Mutex<Slots> = Mutex::const_new(
    RawLock::INIT,
    Slots {
        bodies: Row::new(),
        names: Row::new(),
        snapshots: Row::new(),
    },
);

pub(super) type Held = MutexGuard<'static, RawLock, Slots>;

#[inline(never)]
pub(super) fn lock() -> Held {
    SLOTS.lock()
}

/// The lock in the two later halves of a fork handler.
pub(super) fn resume() -> Held {
    // SAFETY: the first half forgot the guard with the lock held, on this thread.
    unsafe { SLOTS.make_guard_unchecked() }
}

/// Every slot with its parts.
pub(super) fn each(held: &mut Held, mut body: impl FnMut(&Body, &mut Parts)) {
    let mut number = 0;
    while let Some(slot) = held.body(number) {
        if let Some(parts) = slot.parts(held) {
            body(slot, parts);
        }
        number += 1;
    }
}

impl Slots {
    /// The slot of that number, from 0 on.
    pub(super) fn body(&self, number: usize) -> Option<&'static Body> {
        self.bodies.get(number).copied()
    }

    /// Has it room for one more of each, perhaps in what was brought?
    fn take_room(&mut self, larger: &mut Larger) -> bool {
        self.bodies.has_room_with(&mut larger.bodies)
            && self.names.has_room_with(&mut larger.names)
            && self.snapshots.has_room_with(&mut larger.snapshots)
    }
}

/// The lock in a child that no handler has seen, and whether somebody was inside.
pub(super) fn recover() -> (Held, bool) {
    // SAFETY: there is no other thread that could be inside.
    unsafe { lock::recover(&SLOTS) }
}

/// Room that is brought to the lock. What is left of it is freed outside.
#[derive(Default)]
struct Larger {
    bodies: Row<&'static Body>,
    names: Row<&'static Named>,
    snapshots: Row<Anchor<Snapshot>>,
}

/// Takes the lock with room for one more of each.
pub(super) fn lock_with_room() -> Result<Held, NoMemory> {
    crate::fork::register();
    let mut larger = Larger::default();
    loop {
        let mut held = lock();
        if held.take_room(&mut larger) {
            return Ok(held);
        }
        let (bodies, names, snapshots) =
            (held.bodies.len(), held.names.len(), held.snapshots.len());
        drop(held);
        larger.bodies.try_reserve_exact((bodies * 2).max(16))?;
        larger.names.try_reserve_exact((names * 2).max(16))?;
        larger
            .snapshots
            .try_reserve_exact((snapshots * 2).max(16))?;
    }
}

impl Body {
    pub(super) fn try_new(parts: Parts) -> Result<Box<Self>, NoMemory> {
        try_box(Self {
            copy: LibraryCopy::this(),
            state: AtomicU64::new(OPEN),
            parts: UnsafeCell::new(Some(Unique::try_new(parts)?)),
        })
    }

    /// Enters a slot, for ever. There must be room.
    pub(super) fn enter(held: &mut Held, body: Box<Self>) -> &'static Self {
        let body = Box::leak(body);
        let number = held.bodies.len() as u64;
        body.state.store(number << 32 | OPEN, Relaxed);
        held.bodies.push(body);
        body
    }

    /// Names a value of it, in this process, for ever.
    pub(super) fn id(&self, index: u32) -> u64 {
        self.state.load(Relaxed) & !STATE | u64::from(index)
    }

    /// The same where it is open.
    #[inline(always)]
    pub(super) fn open_id(&self, index: u32) -> Option<u64> {
        let state = self.state.load(order::see_value());
        (state & STATE == OPEN).then_some(state | u64::from(index))
    }

    /// What stands for this slot among the marks of a thread.
    pub(super) fn mark(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    #[inline(always)]
    pub(super) fn is_ours(&self) -> bool {
        self.copy == LibraryCopy::this()
    }

    pub(super) fn of_another_copy(&self) -> Failure {
        Failure::of_another_copy(self.copy)
    }

    pub(super) fn is_open(&self) -> bool {
        self.open_id(0).is_some()
    }

    /// With the lock held, or where no other thread is.
    fn set_state(&self, state: u64, order: Ordering) {
        let number = self.state.load(Relaxed) & !STATE;
        self.state.store(number | state, order);
    }

    /// `None` if it is retired.
    pub(super) fn parts<'a>(&self, held: &'a mut Held) -> Option<&'a mut Parts> {
        self.place(held).as_deref_mut()
    }

    fn place<'a>(&self, _held: &'a mut Held) -> &'a mut Option<Unique<Parts>> {
        // SAFETY: the lock is held, and its guard is borrowed for as long as this is.
        unsafe { &mut *self.parts.get() }
    }

    /// How an open slot is set up.
    pub(super) fn config(&self) -> Result<Config, Failure> {
        let config = self.parts(&mut lock()).map(|parts| parts.config.clone());
        config
            .filter(|_| self.is_open())
            .ok_or_else(|| self.refusal())
    }

    /// Nobody gets a value any more.
    pub(super) fn shut(&self) {
        let _held = lock();
        self.set_state(RETIRED, order::publish_value());
    }

    /// Every value is gone, and so is what there was to make them; what it is freed.
    pub(super) fn forget_parts(&self) {
        let parts = self.place(&mut lock()).take();
        drop(parts);
    }

    /// This is a forked child, in which its values are of no use.
    pub(super) fn poison(&self) {
        if self.is_open() {
            self.set_state(FORKED, Relaxed);
        }
    }

    /// Why it is not open.
    #[cold]
    pub(super) fn refusal(&self) -> Failure {
        let known = self
            .parts(&mut lock())
            .map(|parts| (parts.config.name.clone(), parts.pid));
        let (name, pid) = known.unwrap_or_default();
        let called = Called(Kind::Slot, &name);
        let error = match self.state.load(Relaxed) & STATE {
            FORKED => Error::Forked(text!(
                "{called} had values in process {pid}, of which this one is a forked child, and they do not survive that: \
                 start the child with exec, or set on_fork to LAZY_FORK_RESET"
            )),
            RETIRED => Error::Closed(text!("the slot has been retired: stop using it")),
            _ => Error::Forked(text!(
                "process {} forked this one while a value of {called} was being made here, which is void in the child: ask \
                 for it again",
                process::parent()
            )),
        };
        Failure::new(error, &name, Facts::default())
    }
}

impl Subject for Body {
    fn kind(&self) -> Kind {
        Kind::Slot
    }

    fn name(&self) -> Name {
        let name = self
            .parts(&mut lock())
            .map(|parts| parts.config.name.clone());
        name.unwrap_or_default()
    }

    fn phase(&self) -> u32 {
        0
    }
}

/// Room for a value that is brought to the lock. What is left of it is freed outside.
#[derive(Default)]
pub(super) struct Room {
    values: Row<Shared<Value>>,
    process: Table,
}

impl Room {
    /// Brings what those parts had none of.
    pub(super) fn provide(&mut self, lack: Lack) -> Result<(), NoMemory> {
        self.values.try_reserve_exact(lack.values)?;
        self.process = Table::with_places(lack.places)?;
        Ok(())
    }
}

/// What there is no room in.
pub(super) struct Lack {
    values: usize,
    places: usize,
}

impl Parts {
    /// Has it room for one more value, perhaps in what was brought?
    pub(super) fn take_room(&mut self, room: &mut Room) -> Result<(), Lack> {
        let listed = self.values.has_room_with(&mut room.values);
        if !self.process.has_room() {
            room.process = self.process.move_into(std::mem::take(&mut room.process));
        }
        if listed && self.process.has_room() {
            return Ok(());
        }
        Err(Lack {
            values: (self.values.len() * 2).max(4),
            places: self.process.next_size(),
        })
    }

    /// Lists a value. There must be room.
    pub(super) fn add(&mut self, value: Shared<Value>) {
        value.place.store(self.values.len() as u32, Relaxed);
        self.values.push(value);
    }

    /// Takes a value off the list; it is gone, and is to be dropped outside the lock.
    pub(super) fn remove(&mut self, value: &Value) -> Option<Shared<Value>> {
        value.set_stage(Stage::Gone);
        let place = value.place.load(Relaxed);
        let last = self.values.pop()?;
        match self.values.get_mut(place as usize) {
            Some(removed) => {
                last.place.store(place, Relaxed);
                Some(std::mem::replace(removed, last))
            }
            None => Some(last),
        }
    }
}
