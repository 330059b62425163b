//! Which onces the library references: those that have a gate. A fork handler and a dump go through them.
//!
//! Its lock is shared by all onces, so it is held for a bounded number of steps and never over an allocation: room is
//! made beforehand, by [`reserve`]. It is taken *before* the lock of a once, never after; and a once leaves READY only
//! under it.

#[cfg(not(loom))]
pub(crate) use native::*;

#[cfg(loom)]
pub(crate) use model::*;

#[cfg(not(loom))]
mod native {
    use super::super::Once;
    use crate::sys::anchor::Anchor;
    use crate::sys::lock::{Mutex, RawLock};
    use crate::sys::memory::NoMemory;
    use lock_api::{MutexGuard, RawMutex};

    /// The place of a once in the registry; `NONE` outside it.
    #[derive(Clone, Copy)]
    pub(crate) struct Slot(u32);

    /// No place; the end of the list of free ones.
    const NONE: u32 = u32::MAX;

    impl Default for Slot {
        fn default() -> Self {
            Self(NONE)
        }
    }

    enum Place {
        Taken(Anchor<Once>),
        /// With the next free place.
        Free(u32),
    }

    /// The onces, in places that never move.
    pub(crate) struct Registry {
        places: Vec<Place>,
        free: u32,
    }

    static REGISTRY: Mutex<Registry> = Mutex::const_new(
        RawLock::INIT,
        Registry {
            places: Vec::new(),
            free: NONE,
        },
    );

    pub(crate) type Held<'a> = MutexGuard<'a, RawLock, Registry>;

    pub(crate) fn lock<'a>() -> Held<'a> {
        REGISTRY.lock()
    }

    /// Makes room for one more once, outside the lock.
    pub(crate) fn reserve() -> Result<(), NoMemory> {
        crate::fork::register();
        // Declared first: what it holds at the end is freed after the lock is released.
        let mut larger = Vec::new();
        loop {
            let mut registry = lock();
            let len = registry.places.len();
            if registry.free != NONE || len < registry.places.capacity() {
                return Ok(());
            }
            if larger.capacity() > len {
                larger.append(&mut registry.places);
                std::mem::swap(&mut larger, &mut registry.places);
                return Ok(());
            }
            drop(registry);
            larger.try_reserve_exact((len * 2).max(16))?;
        }
    }

    impl Registry {
        /// Enters a once; `None` if another thread took the room.
        pub(crate) fn add(&mut self, once: &Once) -> Option<Slot> {
            let place = Place::Taken(Anchor::new(once));
            let index = self.free;
            if let Some(free) = self.places.get_mut(index as usize) {
                let Place::Free(next) = std::mem::replace(free, place) else {
                    unreachable!("a free place")
                };
                self.free = next;
                return Some(Slot(index));
            }
            if self.places.len() == self.places.capacity() {
                return None;
            }
            self.places.push(place);
            Some(Slot(self.places.len() as u32 - 1))
        }

        /// Takes a once out.
        pub(crate) fn remove(&mut self, slot: &mut Slot) {
            let index = std::mem::take(slot).0;
            self.places[index as usize] = Place::Free(self.free);
            self.free = index;
        }

        /// Every once in it.
        pub(crate) fn onces(&self) -> impl Iterator<Item = &Once> {
            self.places.iter().filter_map(|place| match place {
                Place::Taken(once) => Some(once.get()),
                Place::Free(_) => None,
            })
        }
    }

    /// The registry of a thread that forgot its guard: the two later halves of a fork handler.
    pub(crate) fn resume<'a>() -> Held<'a> {
        // SAFETY: `prepare` forgot the guard with the lock held, on this thread.
        unsafe { REGISTRY.make_guard_unchecked() }
    }
}

#[cfg(loom)]
mod model {
    //! In a model each once stands alone.

    use super::super::Once;
    use crate::sys::memory::NoMemory;

    #[derive(Clone, Copy, Default)]
    pub(crate) struct Slot;

    pub(crate) struct Registry;

    pub(crate) struct Held<'a>(Registry, std::marker::PhantomData<&'a ()>);

    impl std::ops::Deref for Held<'_> {
        type Target = Registry;

        fn deref(&self) -> &Registry {
            &self.0
        }
    }

    impl std::ops::DerefMut for Held<'_> {
        fn deref_mut(&mut self) -> &mut Registry {
            &mut self.0
        }
    }

    pub(crate) fn lock<'a>() -> Held<'a> {
        Held(Registry, std::marker::PhantomData)
    }

    pub(crate) fn reserve() -> Result<(), NoMemory> {
        Ok(())
    }

    impl Registry {
        pub(crate) fn add(&mut self, _once: &Once) -> Option<Slot> {
            Some(Slot)
        }

        pub(crate) fn remove(&mut self, _slot: &mut Slot) {}
    }
}
