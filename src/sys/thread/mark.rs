//! What a thread is inside of, and what it owns.

use crate::sys::local::Local as _;
use crate::sys::stack;
use std::cell::Cell;

/// Deeper nesting is not known of: there a callback is taken for one that is outside. What the library has of each thread is to stay
/// small: see `pointer`.
const DEEPEST: usize = 16;

thread_local! {
    /// What this thread is inside of, by keys and frames. Not a list on its stack, where a `longjmp` would leave it dangling.
    static MARKS: [(Cell<usize>, Cell<usize>); DEEPEST] =
        const { [const { (Cell::new(0), Cell::new(0)) }; DEEPEST] };
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// How many attempts this thread owns.
    static OWNED: Cell<u32> = const { Cell::new(0) };
}

/// This thread is inside something that a key stands for, until the mark ends. Marks end in the reverse order.
pub(crate) struct Mark {
    outer: usize,
}

impl Mark {
    /// Runs `body` under a mark, also when it unwinds.
    pub(crate) fn during<R>(key: usize, body: impl FnOnce() -> R) -> R {
        let outer = DEPTH.here(Cell::get);
        let mark = Self { outer };
        let frame = (&raw const mark).addr();
        MARKS.here(|marks| {
            if let Some((its_key, its_frame)) = marks.get(outer) {
                its_key.set(key);
                its_frame.set(frame);
            }
        });
        DEPTH.here(|depth| depth.set(outer + 1));
        body()
    }

    /// Is this thread inside one with that key?
    pub(crate) fn is_set(key: usize) -> bool {
        let depth = DEPTH.here(Cell::get);
        MARKS.here(|marks| {
            let mut set = marks.iter().take(depth);
            set.any(|(its_key, _)| its_key.get() == key)
        })
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        DEPTH.here(|depth| depth.set(self.outer));
    }
}

/// Is this thread inside anything that a key stands for?
#[inline(always)]
pub(crate) fn has_marks() -> bool {
    DEPTH.here(Cell::get) != 0
}

/// Forgets the marks whose frames have been left without their ends.
pub(crate) fn cut_marks() {
    DEPTH.here(|depth| {
        let is_left = |place: usize| {
            let frame = MARKS.here(|marks| marks.get(place).map(|(_, frame)| frame.get()));
            frame.is_some_and(stack::is_gone)
        };
        while let Some(place) = depth.get().checked_sub(1).filter(|&place| is_left(place)) {
            depth.set(place);
        }
    });
}

/// This thread owns one attempt more, or fewer.
pub(crate) fn owns(change: i32) {
    OWNED.here(|owned| owned.set(owned.get().saturating_add_signed(change)));
}

/// Does this thread own any attempt? One that owns none is waited for by nobody.
pub(crate) fn owns_any() -> bool {
    OWNED.here(Cell::get) != 0
}
