//! Snapshots: the values of a thread, for other threads.

use super::body;
use super::end::Ending;
use super::make::Making;
use super::mine;
use super::table::Table;
use super::value::{Holder, Stage, Value};
use crate::error::{Error, Facts, Failure};
use crate::host::attached;
use crate::stay::{Doing, Staying};
use crate::sys::anchor::Anchor;
use crate::sys::memory::{NoMemory, Shared, try_box};
use crate::sys::noexcept::noexcept;
use crate::sys::site::Origin;
use crate::sys::text::text;
use crate::sys::thread::Mark;
use crate::sys::{bracket, order};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Whoever captured it has it until `free`, each thread that entered it until it leaves. The last one ends its values.
pub(crate) struct Snapshot {
    /// Complete before anybody enters it.
    table: Table,
    users: AtomicUsize,
    /// `free` has been called.
    is_freed: AtomicBool,
}

/// A thread's use of a snapshot, which is there until that has been given up.
pub(super) struct Entered(Anchor<Snapshot>);

impl Entered {
    pub(super) fn find(&self, key: u64) -> Option<Shared<Value>> {
        self.0.get().table.find(key).cloned()
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Shared<Value>> + Clone {
        self.0.get().table.values()
    }

    pub(super) fn is_of(&self, snapshot: &Snapshot) -> bool {
        std::ptr::eq(self.0.get(), snapshot)
    }

    /// The end of this use; perhaps of the snapshot, by a call from there.
    pub(super) fn leave(self, origin: Origin) {
        self.0.get().give_up(origin);
    }
}

/// Ends what has been captured so far, unless it gets away.
struct Capture(Option<Box<Snapshot>>, Origin);

impl Drop for Capture {
    fn drop(&mut self) {
        if let Some(snapshot) = self.0.take() {
            noexcept(|| snapshot.end(self.1));
        }
    }
}

impl Snapshot {
    /// What this thread sees of the slots that can be shared; for a call from there.
    pub(crate) fn capture(origin: Origin) -> Result<Box<Self>, Failure> {
        let seen = mine::seen()?;
        let snapshot = try_box(Self {
            table: Table::default(),
            users: AtomicUsize::new(1),
            is_freed: AtomicBool::new(false),
        })?;
        let mut capture = Capture(Some(snapshot), origin);
        for value in seen.iter() {
            if let Some(snapshot) = &mut capture.0
                && value.holder != Holder::Process
                && snapshot.table.find(value.id()).is_none()
            {
                snapshot.take_in(value, origin)?;
            }
        }
        let mut held = body::lock_with_room()?;
        let snapshot = capture.0.take().ok_or(NoMemory)?;
        held.snapshots.push(Anchor::new(&snapshot));
        Ok(snapshot)
    }

    fn take_in(&mut self, value: &Value, origin: Origin) -> Result<(), Failure> {
        let body = value.body;
        let Ok(config) = body.config() else {
            return Ok(());
        };
        if config.factory.share.is_none() || value.live().is_none() {
            return Ok(());
        }
        if !self.table.has_room() {
            let larger = Table::with_places(self.table.next_size())?;
            drop(self.table.move_into(larger));
        }
        let shared = Value::new(body, value.index, self.holder(), Stage::Making);
        let shared = attached(config.bracket()?, body, origin, || {
            let Some(shared) = body.begin(shared, &config)? else {
                return Ok(None);
            };
            let mut making = Making::begun(shared.clone());
            bracket::share();
            let doing = Doing::Sharing(value.index.into());
            let staying = Staying::begin(doing, body, origin);
            let pointer = value
                .live()
                .and_then(|pointer| Mark::during(body.mark(), || config.factory.share(pointer)));
            drop(staying);
            match pointer {
                Some(pointer) => making.finish(pointer).map(|_| Some(shared)),
                None => Ok(None),
            }
        });
        match shared {
            Ok(Some(shared)) => drop(self.table.put(value.id(), shared)),
            // Retired meanwhile: then it has no values, and there is nothing to capture.
            Ok(None) => {}
            Err(_) if !body.is_open() => {}
            Err(failure) => return Err(failure),
        }
        Ok(())
    }

    /// As whose its values are listed.
    fn holder(&self) -> Holder {
        Holder::Snapshot(std::ptr::from_ref(self).addr())
    }

    /// Lays it over this thread.
    pub(crate) fn enter(&self) -> Result<(), Failure> {
        mine::enter(Entered(Anchor::new(self)))?;
        // Relaxed: whoever enters has it from somebody who has not given it up.
        self.users.fetch_add(1, Relaxed);
        Ok(())
    }

    /// Takes it off this thread again.
    pub(crate) fn leave(&self, origin: Origin) -> Result<(), Failure> {
        let entered = mine::leave(|entered| entered.is_of(self));
        let entered = entered.ok_or_else(|| {
            let text =
                "this thread has not entered that snapshot, or has left it as often as it entered";
            Failure::new(Error::NotFound(text!("{text}")), c"", Facts::default())
        })?;
        entered.leave(origin);
        Ok(())
    }

    /// Nobody enters it any more.
    pub(crate) fn free(&self, origin: Origin) {
        self.is_freed.store(true, Relaxed);
        self.give_up(origin);
    }

    /// In a forked child, where nobody but its only thread is inside.
    pub(super) fn inherit(&self) {
        let kept = !self.is_freed.load(Relaxed);
        self.users
            .store(usize::from(kept) + mine::entered(self), Relaxed);
    }

    /// One user fewer.
    fn give_up(&self, origin: Origin) {
        if self.users.fetch_sub(1, order::drop_reference()) == 1 {
            self.users.load(order::last_reference());
            // SAFETY: it was made as a box by `capture`, and this was the last one that used it.
            let last = unsafe { Box::from_raw(std::ptr::from_ref(self).cast_mut()) };
            body::lock()
                .snapshots
                .take_first(|listed| std::ptr::eq(listed.get(), self));
            last.end(origin);
        }
    }

    /// Ends the values.
    fn end(&self, origin: Origin) {
        for value in self.table.values() {
            while let Some(held) = value.body.live_of(self.holder()) {
                if let Some(ending) = Ending::claim(held) {
                    // A host that refuses this thread has the value leaked.
                    let _ = ending.run(origin);
                }
            }
        }
    }
}

impl body::Body {
    /// A value that this snapshot holds.
    fn live_of(&self, holder: Holder) -> Option<Shared<Value>> {
        let mut held = body::lock();
        let mut values = self.parts(&mut held)?.values.iter();
        values
            .find(|value| value.holder == holder && value.stage() == Stage::Live)
            .cloned()
    }
}
