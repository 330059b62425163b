//! The requests of one phase, each in a place of its own, in the order of their tickets. They stay there while they run, so
//! that one that fails is still where it was.

use super::Request;
use super::spare::larger;
use crate::sys::invariant::Invariant;
use crate::sys::memory::Shared;
use crate::sys::row::Row;

/// A request that is not plain.
pub(super) struct Place {
    pub(super) ticket: u64,
    pub(super) state: State,
    /// `None` in a place that is `Gone`.
    pub(super) request: Option<Shared<Request>>,
}

impl Place {
    pub(super) fn request(&self) -> &Shared<Request> {
        self.request.as_ref().invariant("it is not gone")
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Queued,
    /// The owner of the attempt runs it.
    Running,
    /// Ran in this attempt and failed; waits for the next one.
    Failed,
    /// That thread has taken it out and releases its context. It still stands here for those who must wait for that.
    Leaving(u64),
    /// Nothing is here any more. Places in the middle are taken out many at a time, since that moves the others.
    Gone,
}

impl State {
    /// Will it run, in this attempt or a later one?
    pub(super) fn waits(self) -> bool {
        matches!(self, Self::Queued | Self::Failed)
    }
}

/// The places.
pub(super) struct Lane {
    pub(super) phase: i32,
    places: Row<Place>,
    /// So many places at the head are not to be run in this attempt.
    passed: usize,
    /// So many places at the head are `Gone`.
    head: usize,
    /// How many places are `Gone`: none at the end, and not more than half of all.
    gone: usize,
}

impl Lane {
    /// An empty one, in memory that was brought.
    pub(super) fn new(phase: i32, memory: Row<Place>) -> Self {
        Self {
            phase,
            places: memory,
            passed: 0,
            head: 0,
            gone: 0,
        }
    }

    /// The first place that is to be run in this attempt.
    pub(super) fn first(&mut self) -> Option<usize> {
        while let Some(place) = self.places.get(self.passed)
            && place.state != State::Queued
        {
            self.passed += 1;
        }
        (self.passed < self.places.len()).then_some(self.passed)
    }

    pub(super) fn find(&self, ticket: u64) -> Option<usize> {
        let index = self.places.partition_point(|place| place.ticket < ticket);
        let place = self.places.get(index)?;
        (place.ticket == ticket && place.state != State::Gone).then_some(index)
    }

    /// The index behind everything up to that ticket.
    pub(super) fn behind(&self, ticket: u64) -> usize {
        self.places.partition_point(|place| place.ticket <= ticket)
    }

    pub(super) fn get(&self, index: usize) -> Option<&Place> {
        self.places.get(index)
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Place> {
        self.places.get_mut(index)
    }

    /// The places from that index on, with their own.
    pub(super) fn iter_from(&self, index: usize) -> impl Iterator<Item = (usize, &Place)> {
        let start = self.head.max(index);
        self.places.iter().enumerate().skip(start)
    }

    /// Has it room for one more, perhaps in the larger memory that was brought? If not, how much it needs.
    pub(super) fn make_room(&mut self, memory: &mut Row<Place>) -> Result<(), usize> {
        match self.places.has_room_with(memory) {
            true => Ok(()),
            false => Err(larger(self.places.len())),
        }
    }

    /// The caller has made room.
    pub(super) fn insert(&mut self, place: Place) {
        let index = self.behind(place.ticket);
        self.passed = self.passed.min(index);
        self.head = self.head.min(index);
        self.places.insert(index, place);
    }

    pub(super) fn remove(&mut self, index: usize) -> Option<Shared<Request>> {
        let place = self.places.get_mut(index)?;
        place.state = State::Gone;
        let request = place.request.take();
        self.gone += 1;
        let is_gone = |place: &Place| place.state == State::Gone;
        while self.places.last().is_some_and(is_gone) {
            self.places.pop();
            self.gone -= 1;
        }
        if self.gone * 2 > self.places.len() {
            self.places.retain(|place| !is_gone(place));
            self.gone = 0;
            self.passed = 0;
            self.head = 0;
        }
        while self.places.get(self.head).is_some_and(is_gone) {
            self.head += 1;
        }
        self.head = self.head.min(self.places.len());
        self.passed = self.passed.min(self.places.len());
        request
    }

    /// The attempt is over: everything that is left is to be run again. How many had been running when their thread was lost.
    pub(super) fn end_attempt(&mut self) -> usize {
        let mut lost = 0;
        for place in self.places.iter_mut() {
            lost += usize::from(place.state == State::Running);
            if let State::Running | State::Failed = place.state {
                place.state = State::Queued;
            }
        }
        self.passed = self.head;
        lost
    }

    /// In a forked child, whose only thread was `before`: what others were releasing is gone with them, and nobody else waits
    /// for anything here. How many are gone with them.
    #[cfg(not(loom))]
    pub(super) fn inherit(&mut self, before: u64) -> usize {
        let all = self.places.len() - self.gone;
        let is_lost = |state| matches!(state, State::Leaving(by) if by != before);
        // Of the lost ones, too: this thread may have been waiting for one when it forked.
        let there = self.places.iter();
        for place in there.filter(|place| place.state != State::Gone) {
            place.request().inherit();
        }
        self.places
            .retain(|place| place.state != State::Gone && !is_lost(place.state));
        for place in self.places.iter_mut() {
            if let State::Leaving(by) = &mut place.state {
                *by = crate::sys::thread::id();
            }
        }
        self.passed = 0;
        self.head = 0;
        self.gone = 0;
        all - self.places.len()
    }
}
