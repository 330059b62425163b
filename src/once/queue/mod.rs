//! What waits to be run: first in, first out within a phase, phases in rising order.
//!
//! Plain requests, of which there may be a million, stand in blocks; the others in the lane of their phase. Everything here
//! happens under the once's lock and allocates nothing: a caller that is told what it [`Lack`]s brings it from outside.

mod block;
mod keys;
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
use crate::sys::invariant::Invariant;
use crate::sys::memory::Shared;
use crate::sys::row::Row;
use block::Blocks;
use keys::Keys;
use lane::{Lane, Place, State};
use running::Drain;
use spare::larger;
// Not loom's: it orders nothing, the onces' locks do.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A place in a lane, by their indices, which hold as long as the lock does.
type Position = (usize, usize);

const POSITION: &str = "a position holds as long as the lock";

/// The queue.
pub(super) struct Queue {
    plain: Blocks,
    /// In the order of their phases.
    lanes: Row<Lane>,
    keys: Keys,
    /// How many places are taken, and how many of them wait to be run.
    places: usize,
    waiting: usize,
    tickets: u64,
    drain: Drain,
}

#[cfg(not(loom))]
impl Queue {
    /// For a debugger.
    pub(super) const PLAIN: usize = std::mem::offset_of!(Self, plain.len);
    pub(super) const WAITING: usize = std::mem::offset_of!(Self, waiting);
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
            lanes: Row::new(),
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
        while !self.append_plain_in_room(callback, caller) {
            self.plain.grow(&mut spare.block)?;
        }
        Ok(self.tickets)
    }

    /// The same if it lacks nothing.
    #[inline(always)]
    pub(super) fn append_plain_in_room(&mut self, callback: Callback, caller: usize) -> bool {
        let ticket = self.tickets + 1;
        let entry = Entry {
            callback,
            caller,
            ticket,
        };
        let has_room = self.plain.append_in_room(entry);
        if has_room {
            self.tickets = ticket;
        }
        has_room
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
        if details.key != 0 && self.keys.len() == self.keys.room() {
            if spare.keys.room() <= self.keys.len() {
                return Err(Lack::Keys(self.keys.len()));
            }
            spare.keys.take_all(&self.keys);
            std::mem::swap(&mut spare.keys, &mut self.keys);
        }
        let mut request = spare.request.take().ok_or(Lack::Request)?;
        self.tickets += 1;
        let ticket = self.tickets;
        request.get_mut().invariant("not queued yet").ticket = ticket;
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
                if !self.lanes.has_room_with(&mut spare.lanes) {
                    return Err(Lack::Lanes(larger(self.lanes.len())));
                }
                let fresh = Lane::new(phase, std::mem::take(&mut spare.places));
                self.lanes.insert(lane, fresh);
                lane
            }
        };
        self.lane_mut(lane)
            .make_room(&mut spare.places)
            .map_err(Lack::Places)?;
        Ok(lane)
    }

    fn lane(&self, lane: usize) -> &Lane {
        self.lanes.get(lane).invariant(POSITION)
    }

    fn lane_mut(&mut self, lane: usize) -> &mut Lane {
        self.lanes.get_mut(lane).invariant(POSITION)
    }

    fn insert(&mut self, lane: usize, state: State, request: Shared<Request>) {
        self.places += 1;
        self.waiting += state.waits() as usize;
        self.lane_mut(lane).insert(Place {
            ticket: request.ticket,
            state,
            request: Some(request),
        });
    }

    /// Takes out the request of that key that waits, if there is one: it is leaving.
    pub(super) fn take_key(&mut self, key: u64, by: u64) -> Option<Shared<Request>> {
        let (phase, ticket) = self.keys.get(key)?;
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
        if self.keys.get(key) == Some((phase, ticket)) {
            self.keys.remove(key);
        }
        let (lane, index) = position;
        self.lane_mut(lane).remove(index)
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

    /// Is its context being released?
    pub(super) fn is_leaving(&self, request: &Request) -> bool {
        matches!(self.find(request.ticket), Found::Leaving(..))
    }

    /// The first request of this owner's behind that phase and ticket, which mean the same place whatever comes and goes.
    pub(super) fn find_owner(&self, owner: usize, behind: (i32, u64)) -> Option<(i32, u64)> {
        let lane = self.lanes.partition_point(|lane| lane.phase < behind.0);
        let same = self.lanes.get(lane).filter(|lane| lane.phase == behind.0);
        let index = same.map_or(0, |lane| lane.behind(behind.1));
        let is_his = |request: &Shared<Request>| request.details.owner == owner;
        let mine = |place: &Place| place.request.as_ref().is_some_and(is_his);
        let (position, ticket) = self.find_from((lane, index), mine)?;
        Some((self.lane(position.0).phase, ticket))
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
                let places = places.iter_from(start);
                places.map(move |(index, place)| ((lane, index), place))
            })
            .find(|(_, place)| wanted(place))
            .map(|(position, place)| (position, place.ticket))
    }

    fn set(&mut self, (lane, index): Position, state: State) {
        let place = self.lanes.get_mut(lane);
        let place = place.and_then(|lane| lane.get_mut(index));
        let place = place.invariant(POSITION);
        let old = std::mem::replace(&mut place.state, state);
        self.waiting = self.waiting + state.waits() as usize - old.waits() as usize;
        if old == State::Queued && place.ticket <= self.drain.began {
            self.drain.earlier -= 1;
        }
    }

    fn place(&self, (lane, index): Position) -> &Place {
        self.lane(lane).get(index).invariant(POSITION)
    }

    fn position(&self, phase: i32, ticket: u64) -> Option<Position> {
        let lane = self
            .lanes
            .binary_search_by_key(&phase, |lane| lane.phase)
            .ok()?;
        let index = self.lane(lane).find(ticket)?;
        Some((lane, index))
    }

    /// By the ticket alone.
    fn search(&self, ticket: u64) -> Option<Position> {
        let mut lanes = self.lanes.iter().enumerate();
        lanes.find_map(|(lane, places)| places.find(ticket).map(|index| (lane, index)))
    }
}
