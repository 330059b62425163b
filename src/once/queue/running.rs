//! In which order the queue is run, and what becomes of what has run.

use super::lane::{Place, State};
use super::spare::larger;
use super::{Block, Entry, Lack, Position, Queue, Request, Spare};
use crate::sys::memory::Shared;
use crate::sys::site::Origin;

/// How many requests that came during the drain may run one after another before one of those that were there when it began:
/// enough for every order that somebody meant, and few enough that two producers that never stop cannot keep it from ending.
const PATIENCE: usize = 256;

/// A drain, between its beginning and the end of its attempt.
#[derive(Default)]
pub(super) struct Drain {
    /// The latest ticket when it began.
    pub(super) began: u64,
    /// How many places of that time are still to be run.
    pub(super) earlier: usize,
    /// How many later ones have been taken since the last earlier one.
    later: usize,
}

/// What the owner of the attempt runs next.
///
/// A debugger knows this layout: `{ u32 kind; pointer }`; neither kind is `None`.
#[derive(Clone)]
#[repr(u32)]
pub(crate) enum Work {
    Plain(Shared<Block>),
    One(Shared<Request>),
}

impl Work {
    /// How many requests wait in it behind the running one.
    #[cfg(not(loom))]
    pub(crate) fn waiting(&self) -> usize {
        match self {
            Self::Plain(block) => block.rest().saturating_sub(1),
            Self::One(_) => 0,
        }
    }

    /// Where the running request comes from; for as long as it is in the queue.
    pub(crate) fn origin(&self) -> Option<Origin> {
        match self {
            Self::Plain(block) => block.running().map(Entry::origin),
            Self::One(request) => Some(request.details.origin),
        }
    }

    /// What has that, to be dropped outside every lock unless it is still in the queue.
    pub(crate) fn request(&self) -> Option<Shared<Request>> {
        match self {
            Self::Plain(_) => None,
            Self::One(request) => Some(request.clone()),
        }
    }
}

impl Queue {
    /// The drain begins: what comes from now on is later.
    pub(crate) fn begin_drain(&mut self) {
        self.drain = Drain {
            began: self.tickets,
            earlier: self.waiting,
            later: 0,
        };
    }

    /// Has everything been taken that was here when the drain began?
    pub(crate) fn is_past_its_beginning(&mut self) -> bool {
        let began = self.drain.began;
        self.drain.earlier == 0
            && self
                .plain
                .first_ticket()
                .is_none_or(|ticket| ticket > began)
    }

    /// What comes next; it stays the running one until it is removed, has failed, or is restored.
    pub(crate) fn next(&mut self) -> Option<Work> {
        let began = self.drain.began;
        let has_earlier = !self.is_past_its_beginning();
        let plain = self.plain.first_ticket();
        let place = self.first_place();
        let key = |position: Position| (self.lane(position.0).phase, self.place(position).ticket);
        let place = place.map(|position| (key(position), position));
        let takes_plain = match (plain, place) {
            (None, None) => return None,
            (Some(ticket), Some((place, _))) => (0, ticket) < place,
            (plain, None) => plain.is_some(),
            (None, Some(_)) => false,
        };
        let ticket = if takes_plain { plain? } else { place?.0.1 };
        if ticket <= began {
            self.drain.later = 0;
        } else if has_earlier && self.drain.later >= PATIENCE {
            self.drain.later = 0;
            return self.next_earlier();
        }
        if !takes_plain {
            self.drain.later += 1;
            return Some(self.start(place?.1));
        }
        // Not beyond a request of the same phase, nor, in this block, from the earlier ones to the later.
        let until = match place {
            Some(((0, ticket), _)) => ticket,
            _ => u64::MAX,
        };
        let until = if ticket <= began {
            until.min(began + 1)
        } else {
            until
        };
        let block = self.plain.take(until)?;
        self.drain.later += block.rest();
        Some(Work::Plain(block))
    }

    /// The first of those that were here when the drain began.
    fn next_earlier(&mut self) -> Option<Work> {
        let began = self.drain.began;
        if self
            .plain
            .first_ticket()
            .is_some_and(|ticket| ticket <= began)
        {
            return self.plain.take(began + 1).map(Work::Plain);
        }
        let wanted = |place: &Place| place.state == State::Queued && place.ticket <= began;
        let (position, _) = self.find_from((0, 0), wanted)?;
        Some(self.start(position))
    }

    fn start(&mut self, position: Position) -> Work {
        self.set(position, State::Running);
        Work::One(self.place(position).request().clone())
    }

    fn first_place(&mut self) -> Option<Position> {
        let mut lanes = self.lanes.iter_mut().enumerate();
        lanes.find_map(|(lane, places)| places.first().map(|index| (lane, index)))
    }

    /// Is there anything left to run in this attempt?
    pub(crate) fn has_next(&mut self) -> bool {
        self.plain.len > 0 || self.first_place().is_some()
    }

    /// In a forked child, the block that was being run.
    #[cfg(not(loom))]
    pub(crate) fn leave_block(&mut self, block: Shared<Block>, position: usize) {
        self.plain.leave(block, position);
    }

    /// Puts back what did not run; what is given back is freed outside the lock.
    pub(crate) fn restore(&mut self, block: Shared<Block>) -> Option<Shared<Block>> {
        self.plain.restore(block)
    }

    /// A request whose context its owner is about to release: it will never run again, in a forked child neither.
    pub(crate) fn release(&mut self, request: &Request, by: u64) {
        if let Some(position) = self.position(request.details.phase, request.ticket) {
            self.set(position, State::Leaving(by));
        }
    }

    /// In a forked child, a request that was taken to be on its way out and has not run.
    #[cfg(not(loom))]
    pub(crate) fn put_back(&mut self, request: &Request) {
        if let Some(position) = self.position(request.details.phase, request.ticket) {
            self.set(position, State::Queued);
        }
    }

    /// A request that ran and failed, and stays.
    pub(crate) fn fail(&mut self, request: &Request) {
        if let Some(position) = self.position(request.details.phase, request.ticket) {
            self.set(position, State::Failed);
        }
    }

    /// The same for a plain one, which gets a place of its own.
    pub(crate) fn fail_plain(
        &mut self,
        request: &Shared<Request>,
        spare: &mut Spare,
    ) -> Result<(), Lack> {
        let more = spare.more.as_deref_mut().ok_or(Lack::Places(larger(0)))?;
        let lane = self.lane_with_room(request.details.phase, more)?;
        self.insert(lane, State::Failed, request.clone());
        Ok(())
    }

    /// Has a later request with its key come while it ran?
    pub(crate) fn is_superseded(&self, request: &Request) -> bool {
        let key = request.details.key;
        let place = (request.details.phase, request.ticket);
        key != 0 && self.keys.get(key) != Some(place)
    }

    /// The attempt is over: what has failed is to be run again, and so is what was running when its thread was lost.
    pub(crate) fn end_attempt(&mut self) {
        self.drain = Drain::default();
        for lane in self.lanes.iter_mut() {
            self.waiting += lane.end_attempt();
        }
    }

    /// Forgets everything but which tickets have been given: somebody was in the middle of a change.
    #[cfg(not(loom))]
    pub(crate) fn lose(&mut self) {
        let tickets = self.tickets;
        std::mem::forget(std::mem::take(self));
        self.tickets = tickets;
    }

    /// In a forked child, whose only thread was `before`: what others were releasing is gone with them, and nobody else waits
    /// for anything here.
    #[cfg(not(loom))]
    pub(crate) fn inherit(&mut self, before: u64) {
        for lane in self.lanes.iter_mut() {
            self.places -= lane.inherit(before);
        }
    }
}
