//! The same for models.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static NEXT: AtomicU64 = AtomicU64::new(1);

loom::thread_local! {
    static ID: u64 = NEXT.fetch_add(1, Relaxed);
}

pub(crate) fn id() -> u64 {
    ID.with(|id| *id)
}

#[derive(Clone, Copy)]
pub(crate) enum Side {
    Inside,
    Outside,
}

pub(crate) fn on<R>(_side: Side, body: impl FnOnce() -> R) -> R {
    body()
}

pub(crate) fn enter<R>(body: impl FnOnce() -> R) -> Option<R> {
    Some(body())
}

pub(crate) fn exists(_id: u64) -> bool {
    true
}

pub(crate) fn holds_one_more() {}

pub(crate) fn holds_one_less() {}

pub(crate) fn is_orphan() -> bool {
    false
}

/// Models have no signal handlers.
pub(crate) struct Awaiting;

impl Awaiting {
    pub(crate) fn begin(_lock: crate::sys::futex::Address) -> Self {
        Self
    }
}

pub(crate) fn is_inside() -> bool {
    false
}

/// Models have no `prepare`.
pub(crate) struct Mark;

impl Mark {
    pub(crate) fn during<R>(_key: usize, body: impl FnOnce() -> R) -> R {
        body()
    }

    pub(crate) fn is_set(_key: usize) -> bool {
        false
    }
}

pub(crate) fn owns(_change: i32) {}

pub(crate) fn owns_any() -> bool {
    false
}
