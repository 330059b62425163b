//! Which onces the library references: those that have a gate. A fork handler and a dump go through them.
//!
//! Its lock is shared by all onces, so it is held for a bounded number of steps and never over an allocation: room is
//! made beforehand, by [`reserve`]. It is taken *before* the lock of a once, never after; and a once that cannot be locked
//! (it has no gate, or is READY) changes only under it.

#[cfg(not(loom))]
pub(crate) use native::*;

#[cfg(loom)]
pub(crate) use model::*;

#[cfg(not(loom))]
mod native {
    use super::super::Once;
    use super::super::named::Named;
    use crate::sys::anchor::Anchor;
    use crate::sys::invariant::{Invariant, broken};
    use crate::sys::lock::{self, Mutex, RawLock};
    use crate::sys::memory::NoMemory;
    use crate::sys::row::Row;
    use lock_api::{MutexGuard, RawMutex};
    use std::ffi::CStr;
    use std::mem::offset_of;

    /// The place of a once in the registry; `NONE` outside it.
    #[derive(Clone, Copy)]
    pub(crate) struct Slot(u32);

    impl Slot {
        /// As a number, for [`Registry::at`].
        pub(crate) fn index(self) -> u64 {
            self.0.into()
        }
    }

    /// No place; the end of the list of free ones.
    const NONE: u32 = u32::MAX;

    impl Default for Slot {
        fn default() -> Self {
            Self(NONE)
        }
    }

    /// A debugger knows this layout: `{ u32 kind; once }` and `{ u32 kind; u32 next }`.
    #[repr(u32)]
    enum Place {
        Taken(Anchor<Once>),
        /// With the next free place.
        Free(u32),
    }

    /// The onces, in places that never move.
    pub(crate) struct Registry {
        places: Row<Place>,
        free: u32,
        /// In the order of their names.
        names: Row<&'static Named>,
        /// The once whose body is being changed with this, which is in no place at some moment of that.
        changing: Option<Anchor<Once>>,
    }

    /// It, with its lock.
    pub(crate) type Shared = Mutex<Registry>;

    pub(crate) static REGISTRY: Shared = Mutex::const_new(
        RawLock::INIT,
        Registry {
            places: Row::new(),
            free: NONE,
            names: Row::new(),
            changing: None,
        },
    );

    /// For a debugger: where in that the row of places is, and how large one is. The value stands last in a mutex, because it may be of a
    /// type without a fixed size.
    pub(crate) const PLACES: usize = size_of::<RawLock>().next_multiple_of(align_of::<Registry>())
        + offset_of!(Registry, places);
    pub(crate) const PLACE: usize = size_of::<Place>();
    pub(crate) const PLACES_POINTER: usize = PLACES + Row::<Place>::POINTER;

    pub(crate) type Held<'a> = MutexGuard<'a, RawLock, Registry>;

    #[inline(never)]
    pub(crate) fn lock<'a>() -> Held<'a> {
        REGISTRY.lock()
    }

    /// Makes room for one more once, and one more name, outside the lock.
    pub(crate) fn reserve() -> Result<(), NoMemory> {
        crate::fork::register();
        // Declared first: what they hold at the end is freed after the lock is released.
        let mut places = Row::new();
        let mut names = Row::new();
        loop {
            let mut registry = lock();
            let has_place = registry.free != NONE || registry.places.has_room_with(&mut places);
            if has_place && registry.names.has_room_with(&mut names) {
                return Ok(());
            }
            let (places_needed, names_needed) = (registry.places.len(), registry.names.len());
            drop(registry);
            places.try_reserve_exact((places_needed * 2).max(16))?;
            names.try_reserve_exact((names_needed * 2).max(16))?;
        }
    }

    impl Registry {
        /// Enters a once; `None` if another thread took the room.
        pub(crate) fn add(&mut self, once: &Once) -> Option<Slot> {
            let place = Place::Taken(Anchor::new(once));
            let index = self.free;
            if let Some(free) = self.places.get_mut(index as usize) {
                let Place::Free(next) = std::mem::replace(free, place) else {
                    broken("the free places are a list of free places")
                };
                self.free = next;
                return Some(Slot(index));
            }
            if !self.places.has_room() {
                return None;
            }
            self.places.push(place);
            Some(Slot(self.places.len() as u32 - 1))
        }

        /// Takes a once out.
        pub(crate) fn remove(&mut self, slot: &mut Slot) {
            let index = std::mem::take(slot).0;
            let place = self.places.get_mut(index as usize);
            *place.invariant("a gate has a place") = Place::Free(self.free);
            self.free = index;
        }

        /// The once at that place; `None` in it if the place is free, and behind the last place.
        pub(crate) fn at(&self, index: usize) -> Option<Option<Anchor<Once>>> {
            self.places.get(index).map(|place| match place {
                Place::Taken(once) => Some(*once),
                Place::Free(_) => None,
            })
        }

        /// Every once in it.
        pub(crate) fn onces(&self) -> impl Iterator<Item = &Once> {
            self.places.iter().filter_map(|place| match place {
                Place::Taken(once) => Some(once.get()),
                Place::Free(_) => None,
            })
        }

        /// The body of that once is about to be changed with this, or has been.
        #[inline(always)]
        pub(crate) fn changes(&mut self, once: Option<&Once>) {
            self.changing = once.map(Anchor::new);
        }

        /// In a forked child: what `inherit`, which is told the place, does not want any more is taken out.
        pub(crate) fn inherit(&mut self, stays: impl Fn(&Once, Slot) -> bool) {
            let left = self.changing.take();
            let left = left.filter(|left| !self.onces().any(|once| std::ptr::eq(once, left.get())));
            let mut index = 0;
            while let Some(place) = self.at(index) {
                let mut slot = Slot(index as u32);
                if place.is_some_and(|once| !stays(once.get(), slot)) {
                    self.remove(&mut slot);
                }
                index += 1;
            }
            if let Some(left) = left {
                stays(left.get(), Slot::default());
            }
        }

        /// Links the free places anew.
        fn mend(&mut self) {
            self.free = NONE;
            for (index, place) in self.places.iter_mut().enumerate() {
                if let Place::Free(next) = place {
                    *next = std::mem::replace(&mut self.free, index as u32);
                }
            }
        }

        /// The once of that name, or where it would stand.
        pub(crate) fn find_name(&self, name: &CStr) -> Result<&'static Once, usize> {
            let place = self
                .names
                .partition_point(|named| named.name.as_c_str() < name);
            match self.names.get(place) {
                Some(named) if named.name.as_c_str() == name => Ok(&named.once),
                _ => Err(place),
            }
        }

        /// Enters a named once, for ever; gives it back if another thread took the room.
        pub(crate) fn add_name(
            &mut self,
            place: usize,
            named: Box<Named>,
        ) -> Result<&'static Once, Box<Named>> {
            let has_place = self.free != NONE || self.places.has_room();
            if !has_place || !self.names.has_room() {
                return Err(named);
            }
            let named = Box::leak(named);
            self.names.insert(place, named);
            Ok(&named.once)
        }
    }

    /// The registry in a child that no handler has seen.
    pub(crate) fn recover<'a>() -> Held<'a> {
        // SAFETY: there is no other thread that could be inside.
        let (mut registry, is_torn) = unsafe { lock::recover(&REGISTRY) };
        if is_torn {
            registry.mend();
        }
        registry
    }

    /// The registry of a thread that forgot its guard: the two later halves of a fork handler.
    pub(crate) fn resume<'a>() -> Held<'a> {
        // SAFETY: `prepare` forgot the guard with the lock held, on this thread.
        unsafe { REGISTRY.make_guard_unchecked() }
    }
}

#[cfg(loom)]
mod model {
    //! In a model nothing is looked up, but the lock counts.

    use super::super::Once;
    use crate::sys::memory::NoMemory;

    #[derive(Clone, Copy, Default)]
    pub(crate) struct Slot;

    pub(crate) struct Registry;

    loom::lazy_static! {
        static ref REGISTRY: loom::sync::Mutex<Registry> = loom::sync::Mutex::new(Registry);
    }

    pub(crate) type Held<'a> = loom::sync::MutexGuard<'a, Registry>;

    pub(crate) fn lock<'a>() -> Held<'a> {
        REGISTRY.lock().unwrap()
    }

    pub(crate) fn reserve() -> Result<(), NoMemory> {
        Ok(())
    }

    impl Registry {
        pub(crate) fn add(&mut self, _once: &Once) -> Option<Slot> {
            Some(Slot)
        }

        pub(crate) fn remove(&mut self, _slot: &mut Slot) {}

        pub(crate) fn changes(&mut self, _once: Option<&Once>) {}
    }
}
