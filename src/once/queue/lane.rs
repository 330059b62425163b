//! The requests of one phase, each in a place of its own, in the order of their tickets. They stay there while they run, so
//! that one that fails is still where it was.

use super::Request;
use crate::sys::memory::Shared;
use std::collections::VecDeque;

/// A request that is not plain.
pub(super) struct Place {
    pub(super) ticket: u64,
    pub(super) state: State,
    pub(super) request: Shared<Request>,
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
    }

    /// The caller has made room.
    pub(super) fn insert(&mut self, place: Place) {
        let index = self
            .places
            .partition_point(|other| other.ticket < place.ticket);
        self.passed = self.passed.min(index);
        self.places.insert(index, place);
    }

    pub(super) fn remove(&mut self, index: usize) -> Option<Place> {
        self.passed -= (index < self.passed) as usize;
        self.places.remove(index)
    }
}
