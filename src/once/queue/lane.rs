//! The requests of one phase, each in a place of its own, in the order of their tickets. They stay there while they run, so
//! that one that fails is still where it was.

use super::Request;
use crate::sys::memory::Shared;
use std::collections::VecDeque;

/// A request that is not plain.
pub(super) struct Place {
    pub(super) ticket: u64,
    pub(super) state: State,
    /// `None` in a place that is `Gone`.
    pub(super) request: Option<Shared<Request>>,
}

impl Place {
    pub(super) fn request(&self) -> &Shared<Request> {
        self.request.as_ref().expect("it is not gone")
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
    pub(super) places: VecDeque<Place>,
    /// So many places at the head are not to be run in this attempt.
    pub(super) passed: usize,
    /// How many places are `Gone`: none at either end, and not more than half of all.
    pub(super) gone: usize,
}

impl Lane {
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
        self.places
            .binary_search_by_key(&ticket, |place| place.ticket)
            .ok()
            .filter(|&index| self.places[index].state != State::Gone)
    }

    /// The caller has made room.
    pub(super) fn insert(&mut self, place: Place) {
        let index = self
            .places
            .partition_point(|other| other.ticket < place.ticket);
        self.passed = self.passed.min(index);
        self.places.insert(index, place);
    }

    pub(super) fn remove(&mut self, index: usize) -> Option<Shared<Request>> {
        let place = &mut self.places[index];
        place.state = State::Gone;
        let request = place.request.take();
        self.gone += 1;
        let is_gone = |place: Option<&Place>| place.is_some_and(|place| place.state == State::Gone);
        while is_gone(self.places.front()) {
            self.places.pop_front();
            self.gone -= 1;
            self.passed = self.passed.saturating_sub(1);
        }
        while is_gone(self.places.back()) {
            self.places.pop_back();
            self.gone -= 1;
        }
        if self.gone * 2 > self.places.len() {
            self.places.retain(|place| place.state != State::Gone);
            self.gone = 0;
            self.passed = 0;
        }
        self.passed = self.passed.min(self.places.len());
        request
    }
}
