//! What waits to be run: first in, first out within a phase, phases in rising order.
//!
//! Plain requests, of which there may be a million, stand in blocks; the others in the lane of their phase. Everything here
//! happens under the once's lock and allocates nothing: a caller that is told what it [`Lack`]s brings it from outside.

mod block;
mod lane;
mod request;
mod running;
mod spare;

pub(crate) use block::{Block, Entry};
pub(crate) use request::{Details, Request};
pub(super) use running::Work;
use spare::More;
pub(crate) use spare::{Lack, Spare};

use crate::sys::callback::Callback;
use crate::sys::memory::Shared;
use block::Blocks;
use lane::{Lane, Place, State};
use running::Drain;
use spare::larger;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
// Not loom's: it orders nothing, the onces' locks do.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The phase and the ticket of the latest request with a key.
type Keys = HashMap<u64, (i32, u64), BuildHasherDefault<DefaultHasher>>;

/// A place in a lane, by their indices, which hold as long as the lock does.
type Position = (usize, usize);

/// The queue.
pub(super) struct Queue {
    plain: Blocks,
    /// In the order of their phases.
    lanes: Vec<Lane>,
    keys: Keys,
    /// How many places are taken, and how many of them wait to be run.
    places: usize,
    waiting: usize,
    tickets: u64,
    drain: Drain,
}

/// The latest ticket of a queue that is gone, so that no once ever gives the same ticket twice.
static LATEST: AtomicU64 = AtomicU64::new(0);

/// What `cancel` finds.
pub(super) enum Found {
    Nothing,
    /// It waits to be run.
    Queued,
    /// It is running, in the attempt.
    Running(Shared<Request>),
    /// That thread releases its context.
    Leaving(Shared<Request>, u64),
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            plain: Blocks::default(),
            lanes: Vec::new(),
            keys: Keys::default(),
            places: 0,
            waiting: 0,
            tickets: LATEST.load(Relaxed),
            drain: Drain::default(),
        }
    }
}

impl Queue {
    /// How many requests wait to be run.
    pub(super) fn len(&self) -> usize {
        self.plain.len + self.waiting
    }

    /// Is nothing here at all, not even something that is leaving?
    pub(super) fn is_empty(&self) -> bool {
        self.plain.len == 0 && self.places == 0
    }

    /// Is anything leaving, or running?
    pub(super) fn has_leaving(&self) -> bool {
        self.places > self.waiting
    }

    /// The queue will be gone, under the locks that a later one of the same once is made under.
    pub(super) fn leave_tickets(&self) {
        LATEST.fetch_max(self.tickets, Relaxed);
    }

    /// Appends a plain request.
    #[inline(always)]
    pub(super) fn append_plain(
        &mut self,
        callback: Callback,
        caller: usize,
        spare: &mut Spare,
    ) -> Result<u64, Lack> {
        self.plain
            .append(callback, caller, self.tickets + 1, &mut spare.block)?;
        self.tickets += 1;
        Ok(self.tickets)
    }

    /// Appends a request at the tail of its phase. One that it replaces is given back as leaving.
    pub(super) fn append(
        &mut self,
        details: &Details,
        by: u64,
        spare: &mut Spare,
    ) -> Result<(u64, Option<Shared<Request>>), Lack> {
        let spare = spare.more.as_deref_mut().ok_or(Lack::Request)?;
        let lane = self.lane_with_room(details.phase, spare)?;
        if details.key != 0 && self.keys.len() == self.keys.capacity() {
            let count = larger(self.keys.len());
            if spare.keys.capacity() < count {
                return Err(Lack::Keys(count));
            }
            spare.keys.extend(self.keys.drain());
            std::mem::swap(&mut spare.keys, &mut self.keys);
        }
        let mut request = spare.request.take().ok_or(Lack::Request)?;
        self.tickets += 1;
        let ticket = self.tickets;
        request.get_mut().expect("not queued yet").ticket = ticket;
        let replaced = self.take_key(details.key, by);
        if details.key != 0 {
            self.keys.insert(details.key, (details.phase, ticket));
        }
        self.insert(lane, State::Queued, request);
        Ok((ticket, replaced))
    }

    /// The lane of a phase, with room for one more.
    fn lane_with_room(&mut self, phase: i32, spare: &mut More) -> Result<usize, Lack> {
        let lane = match self.lanes.binary_search_by_key(&phase, |lane| lane.phase) {
            Ok(lane) => lane,
            Err(_) if spare.places.capacity() == 0 => return Err(Lack::Places(larger(0))),
            Err(lane) => {
                if self.lanes.len() == self.lanes.capacity() {
                    let count = larger(self.lanes.len());
                    if spare.lanes.capacity() < count {
                        return Err(Lack::Lanes(count));
                    }
                    spare.lanes.append(&mut self.lanes);
                    std::mem::swap(&mut spare.lanes, &mut self.lanes);
                }
                let fresh = Lane {
                    phase,
                    places: std::mem::take(&mut spare.places),
                    passed: 0,
                    gone: 0,
                };
                self.lanes.insert(lane, fresh);
                lane
            }
        };
        let places = &mut self.lanes[lane].places;
        if places.len() == places.capacity() {
            let count = larger(places.len());
            if spare.places.capacity() < count {
                return Err(Lack::Places(count));
            }
            spare.places.append(places);
            std::mem::swap(&mut spare.places, places);
        }
        Ok(lane)
    }

    fn insert(&mut self, lane: usize, state: State, request: Shared<Request>) {
        self.places += 1;
        self.waiting += state.waits() as usize;
        self.lanes[lane].insert(Place {
            ticket: request.ticket,
            state,
            request: Some(request),
        });
    }

    /// Takes out the request of that key that waits, if there is one: it is leaving.
    pub(super) fn take_key(&mut self, key: u64, by: u64) -> Option<Shared<Request>> {
        let &(phase, ticket) = self.keys.get(&key)?;
        let position = self.position(phase, ticket)?;
        self.place(position)
            .state
            .waits()
            .then(|| self.leave(position, by))
    }

    /// Takes out a request that waits: it is leaving.
    pub(super) fn take(&mut self, ticket: u64, by: u64) -> Option<Shared<Request>> {
        let position = self.search(ticket)?;
        Some(self.leave(position, by))
    }

    fn leave(&mut self, position: Position, by: u64) -> Shared<Request> {
        self.set(position, State::Leaving(by));
        self.place(position).request().clone()
    }

    /// All plain requests, to be freed outside the lock.
    pub(super) fn take_plain(&mut self) -> impl Sized + use<> {
        std::mem::take(&mut self.plain)
    }

    /// The memory of a queue that is empty, to be freed outside the lock.
    pub(super) fn take_memory(&mut self) -> impl Sized + use<> {
        self.is_empty().then(|| {
            (
                std::mem::take(&mut self.lanes),
                std::mem::take(&mut self.keys),
            )
        })
    }

    /// Takes a place away.
    pub(super) fn remove(&mut self, request: &Request) -> Option<Shared<Request>> {
        let (phase, ticket) = (request.details.phase, request.ticket);
        let position = self.position(phase, ticket)?;
        // It waits no more, for the counts.
        self.set(position, State::Running);
        self.places -= 1;
        let key = request.details.key;
        if self.keys.get(&key) == Some(&(phase, ticket)) {
            self.keys.remove(&key);
        }
        let (lane, index) = position;
        self.lanes[lane].remove(index)
    }

    /// Looks a ticket up.
    pub(super) fn find(&self, ticket: u64) -> Found {
        self.search(ticket).map_or(Found::Nothing, |position| {
            let place = self.place(position);
            match place.state {
                State::Queued | State::Failed => Found::Queued,
                State::Running => Found::Running(place.request().clone()),
                State::Leaving(by) => Found::Leaving(place.request().clone(), by),
                State::Gone => Found::Nothing,
            }
        })
    }

    /// The first request of this owner's behind that phase and ticket, which mean the same place whatever comes and goes.
    pub(super) fn find_owner(&self, owner: usize, behind: (i32, u64)) -> Option<(i32, u64)> {
        let lane = self.lanes.partition_point(|lane| lane.phase < behind.0);
        let same = self.lanes.get(lane).filter(|lane| lane.phase == behind.0);
        let index = same.map_or(0, |lane| {
            let is_passed = |place: &Place| place.ticket <= behind.1;
            lane.places.partition_point(is_passed)
        });
        let is_his = |request: &Shared<Request>| request.details.owner == owner;
        let mine = |place: &Place| place.request.as_ref().is_some_and(is_his);
        let (position, ticket) = self.find_from((lane, index), mine)?;
        Some((self.lanes[position.0].phase, ticket))
    }

    /// The first one that waits.
    pub(super) fn find_waiting(&self) -> Option<u64> {
        let (_, ticket) = self.find_from((0, 0), |place| place.state.waits())?;
        Some(ticket)
    }

    fn find_from(
        &self,
        (first, from): Position,
        wanted: impl Fn(&Place) -> bool,
    ) -> Option<(Position, u64)> {
        let lanes = self.lanes.iter().enumerate().skip(first);
        lanes
            .flat_map(|(lane, places)| {
                let start = if lane == first { from } else { 0 };
                let places = places.places.iter().enumerate().skip(start);
                places.map(move |(index, place)| ((lane, index), place))
            })
            .find(|(_, place)| wanted(place))
            .map(|(position, place)| (position, place.ticket))
    }

    fn set(&mut self, (lane, index): Position, state: State) {
        let place = &mut self.lanes[lane].places[index];
        let old = std::mem::replace(&mut place.state, state);
        self.waiting = self.waiting + state.waits() as usize - old.waits() as usize;
        if old == State::Queued && place.ticket <= self.drain.began {
            self.drain.earlier -= 1;
        }
    }

    fn place(&self, (lane, index): Position) -> &Place {
        &self.lanes[lane].places[index]
    }

    fn position(&self, phase: i32, ticket: u64) -> Option<Position> {
        let lane = self
            .lanes
            .binary_search_by_key(&phase, |lane| lane.phase)
            .ok()?;
        self.lanes[lane].find(ticket).map(|index| (lane, index))
    }

    /// By the ticket alone.
    fn search(&self, ticket: u64) -> Option<Position> {
        let mut lanes = self.lanes.iter().enumerate();
        lanes.find_map(|(lane, places)| places.find(ticket).map(|index| (lane, index)))
    }
}
