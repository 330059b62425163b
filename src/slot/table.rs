//! Values by slot and index, found in a few steps however many there are.

use super::value::Value;
use crate::sys::memory::{NoMemory, Shared};
use crate::sys::row::Row;

/// No slot has this key.
const EMPTY: u64 = u64::MAX;
const SMALLEST: usize = 8;

/// Where a value is, or was: a place keeps its key until the table grows.
struct Place {
    key: u64,
    value: Option<Shared<Value>>,
}

/// Open addressing. The number of places is a power of two, of which at least a quarter is empty.
#[derive(Default)]
pub(super) struct Table {
    places: Row<Place>,
    used: usize,
}

impl Table {
    #[inline(always)]
    pub(super) fn find(&self, key: u64) -> Option<&Shared<Value>> {
        let mut at = self.first(key);
        let mut place = self.places.get(at)?;
        while place.key != key {
            if place.key == EMPTY {
                return None;
            }
            at = self.next(at);
            place = self.places.get(at)?;
        }
        place.value.as_ref()
    }

    /// Where to look first: the high bits of a product in which every bit of the key counts. Outside an empty table.
    #[inline(always)]
    fn first(&self, key: u64) -> usize {
        let spread = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
        spread & self.places.len().wrapping_sub(1)
    }

    #[inline(always)]
    fn next(&self, at: usize) -> usize {
        (at + 1) & (self.places.len() - 1)
    }

    /// Is there room for one more?
    pub(super) fn has_room(&self) -> bool {
        (self.used + 1) * 4 <= self.places.len() * 3
    }

    /// How many places a table has that takes what is in this one, and as much again; perhaps no more than this one, of which
    /// most may be gone.
    pub(super) fn next_size(&self) -> usize {
        (self.living() * 4).next_power_of_two().max(SMALLEST)
    }

    fn living(&self) -> usize {
        self.values().filter(|value| !value.is_gone()).count()
    }

    pub(super) fn with_places(count: usize) -> Result<Self, NoMemory> {
        let mut places = Row::new();
        places.try_reserve_exact(count)?;
        for _ in 0..count {
            places.push(Place {
                key: EMPTY,
                value: None,
            });
        }
        Ok(Self { places, used: 0 })
    }

    /// Puts a value in, in place of one with the same key, which is returned. There must be room.
    pub(super) fn put(&mut self, key: u64, value: Shared<Value>) -> Option<Shared<Value>> {
        let mut at = self.first(key);
        while let Some(place) = self.places.get_mut(at) {
            if place.key == key {
                return place.value.replace(value);
            }
            if place.key == EMPTY {
                *place = Place {
                    key,
                    value: Some(value),
                };
                self.used += 1;
                return None;
            }
            at = self.next(at);
        }
        Some(value)
    }

    /// Takes one out, if it is still that one.
    pub(super) fn take(&mut self, value: &Shared<Value>) -> Option<Shared<Value>> {
        let mut at = self.first(value.id());
        loop {
            let place = self.places.get_mut(at)?;
            if place.key == EMPTY {
                return None;
            }
            if place.value.as_ref().is_some_and(|there| there.same(value)) {
                return place.value.take();
            }
            at = self.next(at);
        }
    }

    /// Moves all that is not gone into an empty table, if that has room for it and for one more; what it leaves is to be freed
    /// outside every lock.
    pub(super) fn move_into(&mut self, mut empty: Self) -> Self {
        if (self.living() + 1) * 4 <= empty.places.len() * 3 {
            for place in self.places.iter_mut() {
                if let Some(value) = place.value.take_if(|value| !value.is_gone()) {
                    empty.put(place.key, value);
                }
            }
            std::mem::swap(self, &mut empty);
        }
        empty
    }

    /// The values in it.
    pub(super) fn values(&self) -> impl Iterator<Item = &Shared<Value>> + Clone {
        self.places.iter().filter_map(|place| place.value.as_ref())
    }

    /// The value at a place, and behind the last place `None`.
    pub(super) fn at(&self, place: usize) -> Option<Option<&Shared<Value>>> {
        self.places.get(place).map(|place| place.value.as_ref())
    }

    pub(super) fn places(&self) -> usize {
        self.places.len()
    }
}
