//! Its id, and whose code it runs.

use crate::sys::atomic::{Ordering::*, compiler_fence};
use crate::sys::local::Local as _;
use crate::sys::noexcept::noexcept;
use crate::sys::{birthmark, errno};
use std::cell::Cell;

struct Local {
    id: Cell<u64>,
    side: Cell<Side>,
    /// How many locks of the library it holds.
    locks: Cell<usize>,
    /// What is to be done when it holds none.
    afterwards: Cell<Option<fn()>>,
    /// A signal handler forked this process while it held some: whoever held the others is gone.
    is_orphan: Cell<bool>,
}

thread_local! {
    static LOCAL: Local = const {
        Local {
            id: Cell::new(0),
            side: Cell::new(Side::Outside),
            locks: Cell::new(0),
            afterwards: Cell::new(None),
            is_orphan: Cell::new(false),
        }
    };
}

/// The kernel's id of this thread.
#[inline(always)]
pub(crate) fn id() -> u64 {
    LOCAL.here(|local| match local.id.get() {
        0 => look_up(local),
        id => id,
    })
}

#[cold]
fn look_up(local: &Local) -> u64 {
    // SAFETY: gettid has no preconditions and cannot fail.
    let id = unsafe { libc::gettid() } as u64;
    local.id.set(id);
    id
}

/// Is there a thread with that id in this process? Where asking is forbidden, there is.
#[cold]
pub(crate) fn exists(id: u64) -> bool {
    // SAFETY: no signal is sent.
    let answer = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), id, 0) };
    answer == 0 || errno::get() != libc::ESRCH
}

/// In a forked child the same thread has another id.
pub(crate) fn forget_id() {
    LOCAL.here(|local| local.id.set(0));
}

/// Whose code a thread runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Everybody else's, or the library's while it sleeps.
    Outside,
    /// The library's, or what that calls for itself, such as the allocator: nothing of it can be begun again by a signal handler
    /// that interrupted it, which could not come to an end before the handler has returned.
    Inside,
}

pub(crate) fn side() -> Side {
    LOCAL.here(|local| local.side.get())
}

/// The compiler must leave the order of this and of the caller's lines as it is, here and below: a signal handler looks in between.
#[inline(always)]
fn replace_side(side: Side) -> Side {
    compiler_fence(SeqCst);
    let before = LOCAL.here(|local| local.side.replace(side));
    compiler_fence(SeqCst);
    before
}

struct Back(Side);

impl Drop for Back {
    #[inline(always)]
    fn drop(&mut self) {
        replace_side(self.0);
    }
}

/// Runs `body` on that side, also when it unwinds.
#[inline(always)]
pub(crate) fn on<R>(side: Side, body: impl FnOnce() -> R) -> R {
    let _back = Back(replace_side(side));
    body()
}

/// Runs `body` as the library's own code; `None` if this thread is in such code already.
#[inline(always)]
pub(crate) fn enter<R>(body: impl FnOnce() -> R) -> Option<R> {
    let is_free = LOCAL
        .here(|local| local.locks.get() == 0 && local.side.replace(Side::Inside) == Side::Outside);
    compiler_fence(SeqCst);
    if !is_free {
        return None;
    }
    let _back = Back(Side::Outside);
    Some(body())
}

/// This thread is about to take a lock.
#[inline(always)]
pub(crate) fn holds_one_more() {
    LOCAL.here(|local| local.locks.set(local.locks.get() + 1));
    compiler_fence(SeqCst);
}

/// This thread has left its latest lock.
#[inline(always)]
pub(crate) fn holds_one_less() {
    compiler_fence(SeqCst);
    LOCAL.here(|local| {
        // A child of a fork that runs no handler may free a lock that its parent's other thread held.
        let locks = local.locks.get().saturating_sub(1);
        local.locks.set(locks);
        if locks == 0
            && let Some(act) = local.afterwards.take()
        {
            local.is_orphan.set(false);
            noexcept(act);
        }
    });
}

pub(crate) fn holds_any() -> bool {
    LOCAL.here(|local| local.locks.get() != 0)
}

/// Does `act` as soon as this thread holds no lock: it is in a signal handler, which may have interrupted the change of something. The
/// latest one, if there are several.
pub(crate) fn when_it_holds_none(act: fn()) {
    if holds_any() {
        LOCAL.here(|local| local.afterwards.set(Some(act)));
    } else {
        act();
    }
}

/// The same in a child that such a handler has forked.
pub(crate) fn inherit_when_it_holds_none(act: fn()) {
    LOCAL.here(|local| local.is_orphan.set(holds_any()));
    when_it_holds_none(act);
}

/// Is this such a child, before that, or one that no handler has seen?
pub(crate) fn is_orphan() -> bool {
    LOCAL.here(|local| local.is_orphan.get()) || birthmark::is_missing()
}

/// Is this thread in the library's own code? Then we were called by a signal handler that interrupted it, or by an allocator.
#[inline]
pub(crate) fn is_inside() -> bool {
    LOCAL.here(|local| local.side.get() == Side::Inside || local.locks.get() != 0)
}
