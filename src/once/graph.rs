//! Who waits for whom: a thread that would close a circle of waits is told so instead of sleeping for ever.
//!
//! Only certain deadlocks count. A thread that owns nothing is waited for by nobody, so it has no edge; a wait with a time
//! limit has none either; an edge ends with what is awaited, not with its waiter's waking; and an attempt whose permit is
//! lent is stuck only when its owner and every holder are. Writing an edge and searching are one step under one lock, which
//! is held for as many steps as threads wait while they own something. It is the last lock in the order: it may be taken
//! with others held, and none is taken under it.

use super::attempt::Attempt;
use super::failure::called;
use super::queue::Request;
use crate::error::{Error, Facts, Failure};
use crate::name::{Called, Kind, Name};
use crate::slot::Value;
use crate::sys::clock;
use crate::sys::lock::{self, Mutex, RawLock};
use crate::sys::memory::{NoMemory, Shared};
use crate::sys::row::Row;
use crate::sys::text::{append, text};
use crate::sys::thread;
use lock_api::{MutexGuard, RawMutex};
use std::sync::atomic::Ordering::Relaxed;

/// What a thread sleeps for.
#[derive(Clone)]
enum Awaited {
    Attempt(Shared<Attempt>),
    /// Until it is gone, which is that thread's to do; and the name of its once.
    Request(Shared<Request>, u64, Name),
    /// Until it has been made or ended; and the name of its slot.
    Value(Shared<Value>, Name),
}

/// A thread that sleeps.
struct Edge {
    waiter: u64,
    awaited: Awaited,
}

/// A thread that holds the permit of an attempt. One that has entered twice is here twice.
struct Holder {
    thread: u64,
    attempt: Shared<Attempt>,
}

struct Graph {
    edges: Row<Edge>,
    holders: Row<Holder>,
}

static GRAPH: Mutex<Graph> = Mutex::const_new(
    RawLock::INIT,
    Graph {
        edges: Row::new(),
        holders: Row::new(),
    },
);

/// This thread's edge, for as long as it may sleep.
pub(crate) struct Waiting {
    waiter: u64,
}

impl Waiting {
    /// Writes the edge of a thread that waits for the end of an attempt, unless it closes a circle.
    pub(super) fn begin(attempt: &Shared<Attempt>) -> Result<Self, Failure> {
        Self::write(Awaited::Attempt(attempt.clone()))
    }

    /// The same for one that waits until a request is gone.
    pub(super) fn begin_for_request(
        request: &Shared<Request>,
        by: u64,
        name: Name,
    ) -> Result<Self, Failure> {
        Self::write(Awaited::Request(request.clone(), by, name))
    }

    /// The same for one that waits until a slot's value has been made, or ended.
    pub(crate) fn begin_for_value(value: &Shared<Value>, name: Name) -> Result<Self, Failure> {
        Self::write(Awaited::Value(value.clone(), name))
    }

    fn write(awaited: Awaited) -> Result<Self, Failure> {
        // What these hold is freed after the lock.
        let mut path = Row::new();
        let mut larger = Row::new();
        loop {
            let mut graph = GRAPH.lock();
            let needed = graph.edges.len() + 1;
            if !graph.edges.has_room_with(&mut larger) || path.capacity() < needed {
                drop(graph);
                larger.try_reserve_exact(needed * 2)?;
                path.try_reserve_exact(needed * 2)?;
                continue;
            }
            let waiter = thread::id();
            let edge = Edge { waiter, awaited };
            if graph.closes_circle(&edge, &mut path) {
                drop(graph);
                return Err(deadlock(&edge.awaited, &path));
            }
            graph.edges.push(edge);
            drop(graph);
            return Ok(Self { waiter });
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut graph = GRAPH.lock();
        let edge = graph.edges.take_first(|edge| edge.waiter == self.waiter);
        drop(graph);
        drop(edge);
    }
}

impl Graph {
    /// In a forked child: nobody waits, and a permit was for the parent's attempt.
    fn clear(&mut self) {
        self.edges.clear();
        self.holders.clear();
    }

    /// Would the waiter of this edge wait for ever? `path` gets the edges that say so, this one first: of each thing that is
    /// awaited, everybody who could end it is the waiter itself or waits for a thing of that kind.
    fn closes_circle(&self, first: &Edge, path: &mut Row<Edge>) -> bool {
        path.clear();
        path.push(first.clone());
        let mut next = 0;
        while let Some(edge) = path.get(next) {
            let awaited = edge.awaited.clone();
            if awaited.is_over() {
                return false;
            }
            for party in self.parties(&awaited) {
                if path.iter().any(|edge| edge.waiter == party) {
                    continue;
                }
                match self.edges.iter().find(|edge| edge.waiter == party) {
                    Some(edge) if path.has_room() => path.push(edge.clone()),
                    _ => return false,
                }
            }
            next += 1;
        }
        true
    }

    /// The threads that could end it.
    fn parties<'a>(&'a self, awaited: &'a Awaited) -> impl Iterator<Item = u64> + 'a {
        let (owner, lent) = match awaited {
            Awaited::Attempt(attempt) => (attempt.owner(), Some(attempt)),
            Awaited::Request(_, by, _) => (*by, None),
            Awaited::Value(value, _) => (value.worker(), None),
        };
        let holders = self
            .holders
            .iter()
            .filter(move |holder| lent.is_some_and(|attempt| holder.attempt.same(attempt)))
            .map(|holder| holder.thread);
        std::iter::once(owner).chain(holders)
    }
}

impl Clone for Edge {
    fn clone(&self) -> Self {
        Self {
            waiter: self.waiter,
            awaited: self.awaited.clone(),
        }
    }
}

impl Awaited {
    fn is_over(&self) -> bool {
        match self {
            Self::Attempt(attempt) => attempt.outcome.get().is_some(),
            Self::Request(request, ..) => request.gone.get().is_some(),
            Self::Value(value, _) => value.is_settled(),
        }
    }

    fn name(&self) -> &std::ffi::CStr {
        match self {
            Self::Attempt(attempt) => attempt.name(),
            Self::Request(.., name) | Self::Value(_, name) => name,
        }
    }
}

impl std::fmt::Display for Awaited {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let once = called(self.name());
        match self {
            Self::Attempt(attempt) => write!(
                out,
                "{once}, initialized by thread {} (attempt {}, started at {})",
                attempt.owner(),
                attempt.number,
                attempt.origin().resolve()
            ),
            Self::Request(request, by, _) => write!(
                out,
                "a request of {once}, run by thread {by} (ticket {}, submitted at {})",
                request.ticket,
                request.details.origin.resolve()
            ),
            Self::Value(value, name) => write!(
                out,
                "the value of {} at index {}, which thread {} makes or ends",
                Called(Kind::Slot, name),
                value.index,
                value.worker()
            ),
        }
    }
}

#[cold]
fn deadlock(first: &Awaited, path: &[Edge]) -> Failure {
    let mut text = text!("waiting would never end: ");
    for (step, edge) in path.iter().enumerate() {
        let link = if step == 0 { "" } else { "; " };
        append!(
            text,
            "{link}thread {} waits for {}",
            edge.waiter,
            edge.awaited
        );
    }
    let advice = match first {
        Awaited::Attempt(_) => "Start them in one order, or limit the wait",
        Awaited::Request(..) => "Cancel it where nothing that it needs waits for this thread",
        Awaited::Value(..) => "Make the values before, in one order",
    };
    append!(text, ". Nobody slept. {advice}");
    let facts = match first {
        Awaited::Attempt(attempt) => Facts {
            init_site: attempt.origin().resolve(),
            owner_thread: attempt.owner(),
            attempt: attempt.number,
            elapsed_ns: clock::now_ns().saturating_sub(attempt.since_ns),
            ..Facts::default()
        },
        Awaited::Request(request, by, _) => Facts {
            site: request.details.origin.resolve(),
            owner_thread: *by,
            ticket: request.ticket,
            ..Facts::default()
        },
        Awaited::Value(value, _) => Facts {
            owner_thread: value.worker(),
            ..Facts::default()
        },
    };
    Failure::new(Error::Deadlock(text), first.name(), facts)
}

/// This thread holds the permit of the attempt, once more.
pub(super) fn hold(attempt: Shared<Attempt>) -> Result<(), NoMemory> {
    let mut larger = Row::new();
    loop {
        let mut graph = GRAPH.lock();
        let thread = thread::id();
        let needed = graph.holders.len() + 1;
        if !graph.holders.has_room_with(&mut larger) {
            drop(graph);
            larger.try_reserve_exact(needed * 2)?;
            continue;
        }
        attempt.lent.fetch_add(1, Relaxed);
        graph.holders.push(Holder { thread, attempt });
        drop(graph);
        return Ok(());
    }
}

/// It gives one of them back; false if it has none.
pub(super) fn give_back(which: impl Fn(&Attempt) -> bool) -> bool {
    let thread = thread::id();
    let mut graph = GRAPH.lock();
    let ours = |holder: &Holder| holder.thread == thread && which(&holder.attempt);
    let holder = graph.holders.take_first(ours);
    if let Some(holder) = &holder {
        holder.attempt.lent.fetch_sub(1, Relaxed);
    }
    drop(graph);
    holder.is_some()
}

/// Does that thread hold the permit of the attempt?
pub(super) fn is_held(attempt: &Shared<Attempt>, thread: u64) -> bool {
    let graph = GRAPH.lock();
    let mut holders = graph.holders.iter();
    holders.any(|holder| holder.thread == thread && holder.attempt.same(attempt))
}

/// Before a fork: the last lock in the order.
pub(crate) fn hold_for_fork() {
    std::mem::forget(GRAPH.lock());
}

fn resume<'a>() -> MutexGuard<'a, RawLock, Graph> {
    // SAFETY: `hold_for_fork` forgot the guard with the lock held, on this thread.
    unsafe { GRAPH.make_guard_unchecked() }
}

/// After it, in the parent.
pub(crate) fn let_go_after_fork() {
    drop(resume());
}

/// In a child that no handler has seen.
pub(crate) fn recover() {
    // SAFETY: there is no other thread that could be inside.
    let (mut graph, is_torn) = unsafe { lock::recover(&GRAPH) };
    if is_torn {
        std::mem::forget((
            std::mem::take(&mut graph.edges),
            std::mem::take(&mut graph.holders),
        ));
    } else {
        graph.clear();
    }
}

/// After it, in the child.
pub(crate) fn inherit() {
    resume().clear();
}
