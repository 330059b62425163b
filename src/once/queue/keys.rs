//! The latest request of each key: a hash table in one row. The standard one ends in a panic where it has to grow.

use crate::sys::invariant::Invariant;
use crate::sys::memory::NoMemory;
use crate::sys::row::Row;

/// The phase and the ticket of a request.
pub(super) type Latest = (i32, u64);

#[derive(Clone, Copy)]
struct Entry {
    key: u64,
    latest: Latest,
}

/// No request has the key 0.
const EMPTY: Entry = Entry {
    key: 0,
    latest: (0, 0),
};

/// The table. An entry stands at its home, or behind it with no empty place in between.
#[derive(Default)]
pub(super) struct Keys {
    /// As many as a power of two, of which at least half are empty; or none at all.
    entries: Row<Entry>,
    len: usize,
}

impl Keys {
    /// An empty table, with room for twice as many as `full` has.
    pub(super) fn try_larger(full: usize) -> Result<Self, NoMemory> {
        let places = (full.max(4) * 4).next_power_of_two();
        let mut entries = Row::new();
        entries.try_reserve_exact(places)?;
        for _ in 0..places {
            entries.push(EMPTY);
        }
        Ok(Self { entries, len: 0 })
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// How many fit in.
    pub(super) fn room(&self) -> usize {
        self.entries.len() / 2
    }

    pub(super) fn get(&self, key: u64) -> Option<Latest> {
        let (_, entry) = self.find(key)?;
        (entry.key != 0).then_some(entry.latest)
    }

    /// The caller has made room.
    pub(super) fn insert(&mut self, key: u64, latest: Latest) {
        let (index, old) = self.find(key).invariant("the table has places");
        self.len += usize::from(old.key == 0);
        self.put(index, Entry { key, latest });
    }

    pub(super) fn remove(&mut self, key: u64) {
        let Some((mut hole, _)) = self.find(key).filter(|(_, entry)| entry.key != 0) else {
            return;
        };
        self.len -= 1;
        let mut index = hole;
        loop {
            index = self.behind(index);
            let entry = self.at(index);
            if entry.key == 0 {
                break;
            }
            // It may go back as far as its home.
            let mask = self.mask();
            if index.wrapping_sub(self.home(entry.key)) & mask >= index.wrapping_sub(hole) & mask {
                self.put(hole, entry);
                hole = index;
            }
        }
        self.put(hole, EMPTY);
    }

    /// Takes all that another one has.
    pub(super) fn take_all(&mut self, other: &Self) {
        for entry in other.entries.iter().filter(|entry| entry.key != 0) {
            self.insert(entry.key, entry.latest);
        }
    }

    /// Where the key stands, or would stand; `None` in a table without places.
    fn find(&self, key: u64) -> Option<(usize, Entry)> {
        let mut index = self.home(key);
        loop {
            let entry = *self.entries.get(index)?;
            if entry.key == key || entry.key == 0 {
                return Some((index, entry));
            }
            index = self.behind(index);
        }
    }

    /// Keys are often addresses, whose low bits are alike.
    fn home(&self, key: u64) -> usize {
        let mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 32) as usize & self.mask()
    }

    fn behind(&self, index: usize) -> usize {
        (index + 1) & self.mask()
    }

    fn mask(&self) -> usize {
        self.entries.len().wrapping_sub(1)
    }

    fn at(&self, index: usize) -> Entry {
        self.entries.get(index).copied().unwrap_or(EMPTY)
    }

    fn put(&mut self, index: usize, entry: Entry) {
        *self.entries.get_mut(index).invariant("it is masked") = entry;
    }
}
