//! Who waits for whom: a thread that would close a circle of waits is told so instead of sleeping for ever.
//!
//! Only certain deadlocks count. A thread that owns no attempt is waited for by nobody, so it has no edge; a wait with a
//! time limit has none either; and an edge ends with the attempt that is awaited, not with its waiter's waking. Writing an
//! edge and searching are one step under one lock, which is held for as many steps as threads wait while they own
//! something. The lock is taken with no other held.

use super::attempt::Attempt;
use super::gate::called;
use crate::error::{Error, Facts, Failure};
use crate::sys::lock::{Mutex, RawLock};
use crate::sys::memory::{NoMemory, Shared};
use crate::sys::thread;
use lock_api::{MutexGuard, RawMutex};

/// A thread that sleeps until an attempt ends.
struct Edge {
    waiter: u64,
    awaited: Shared<Attempt>,
}

static EDGES: Mutex<Vec<Edge>> = Mutex::const_new(RawLock::INIT, Vec::new());

/// This thread's edge, for as long as it may sleep.
pub(super) struct Waiting {
    waiter: u64,
}

impl Waiting {
    /// Writes the edge, unless it closes a circle.
    pub(super) fn begin(awaited: &Shared<Attempt>) -> Result<Self, Failure> {
        let waiter = thread::id();
        // What these hold is freed after the lock.
        let mut path = Vec::new();
        let mut larger = Vec::new();
        loop {
            let mut edges = EDGES.lock();
            let needed = edges.len() + 1;
            if edges.capacity() < needed && larger.capacity() >= needed {
                larger.append(&mut edges);
                std::mem::swap(&mut larger, &mut edges);
            }
            if edges.capacity() < needed || path.capacity() < needed {
                drop(edges);
                make_room(&mut larger, &mut path, needed)?;
                continue;
            }
            if closes_circle(&edges, waiter, awaited, &mut path) {
                drop(edges);
                return Err(deadlock(waiter, &path));
            }
            edges.push(Edge {
                waiter,
                awaited: awaited.clone(),
            });
            return Ok(Self { waiter });
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut edges = EDGES.lock();
        let ours = edges.iter().position(|edge| edge.waiter == self.waiter);
        let edge = ours.map(|index| edges.swap_remove(index));
        drop(edges);
        drop(edge);
    }
}

fn make_room(
    edges: &mut Vec<Edge>,
    path: &mut Vec<Shared<Attempt>>,
    needed: usize,
) -> Result<(), NoMemory> {
    edges.try_reserve_exact(needed * 2)?;
    Ok(path.try_reserve_exact(needed * 2)?)
}

/// Follows the owners from the awaited attempt; `path` gets the attempts on the way, the awaited one first.
fn closes_circle(
    edges: &[Edge],
    waiter: u64,
    awaited: &Shared<Attempt>,
    path: &mut Vec<Shared<Attempt>>,
) -> bool {
    path.clear();
    let mut next = awaited;
    loop {
        if next.outcome.get().is_some() || path.len() == path.capacity() {
            return false;
        }
        path.push(next.clone());
        let owner = next.owner();
        if owner == waiter {
            return true;
        }
        match edges.iter().find(|edge| edge.waiter == owner) {
            Some(edge) => next = &edge.awaited,
            None => return false,
        }
    }
}

#[cold]
fn deadlock(waiter: u64, path: &[Shared<Attempt>]) -> Failure {
    let mut text = String::from("waiting would never end: ");
    let mut thread = waiter;
    for (step, attempt) in path.iter().enumerate() {
        let link = if step == 0 { "" } else { ", which " };
        text += &format!(
            "{link}thread {thread} waits for {}, initialized by thread {} (attempt {}, started at {})",
            called(attempt.name()),
            attempt.owner(),
            attempt.number,
            attempt.origin.resolve()
        );
        thread = attempt.owner();
    }
    text += "; nobody slept. Start them in one order, or limit the wait";
    let first = &path[0];
    let facts = Facts {
        init_site: first.origin.resolve(),
        owner_thread: first.owner(),
        attempt: first.number,
        ..Facts::default()
    };
    Failure::new(Error::Deadlock(text), first.name(), facts)
}

/// Before a fork: the last lock in the order.
pub(crate) fn hold_for_fork() {
    std::mem::forget(EDGES.lock());
}

fn resume<'a>() -> MutexGuard<'a, RawLock, Vec<Edge>> {
    // SAFETY: `hold_for_fork` forgot the guard with the lock held, on this thread.
    unsafe { EDGES.make_guard_unchecked() }
}

/// After it, in the parent.
pub(crate) fn let_go_after_fork() {
    drop(resume());
}

/// After it, in the child: nobody waits.
pub(crate) fn inherit() {
    resume().clear();
}
