//! This thread: its kernel id, whether it is in the library's own code, and its end.
//!
//! Thread-local storage here is constant-initialised and has no destructor; a pthread key runs the end of a thread.

#[cfg(not(loom))]
pub(crate) use native::*;

#[cfg(loom)]
pub(crate) use model::*;

/// Runs `body` as the library's own code.
#[inline(always)]
pub(crate) fn inside<R>(body: impl FnOnce() -> R) -> R {
    on(Side::Inside, body)
}

/// Runs code of somebody else's, or a sleep.
#[inline(always)]
pub(crate) fn outside<R>(body: impl FnOnce() -> R) -> R {
    on(Side::Outside, body)
}

#[cfg(not(loom))]
mod native {
    use super::super::atomic::{AtomicU32, Ordering::*, compiler_fence};
    use super::super::birthmark;
    use super::super::errno;
    use super::super::futex::{Address, wake_at};
    use super::super::local::Local as _;
    use super::super::noexcept::noexcept;
    use super::super::stack;
    use std::cell::Cell;
    use std::ffi::c_void;

    struct Local {
        id: Cell<u64>,
        side: Cell<Side>,
        /// How many locks of the library it holds.
        locks: Cell<usize>,
        /// What is to be done when it holds none.
        afterwards: Cell<Option<fn()>>,
        /// A signal handler forked this process while it held some: whoever held the others is gone.
        is_orphan: Cell<bool>,
        armed: Cell<bool>,
    }

    thread_local! {
        static LOCAL: Local = const {
            Local {
                id: Cell::new(0),
                side: Cell::new(Side::Outside),
                locks: Cell::new(0),
                afterwards: Cell::new(None),
                is_orphan: Cell::new(false),
                armed: Cell::new(false),
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
        let is_free = LOCAL.here(|local| {
            local.locks.get() == 0 && local.side.replace(Side::Inside) == Side::Outside
        });
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

    thread_local! {
        /// What this thread is inside of, by keys and frames. Not a list on its stack, where a `longjmp` would leave it dangling.
        static MARKS: [(Cell<usize>, Cell<usize>); DEEPEST] =
            const { [const { (Cell::new(0), Cell::new(0)) }; DEEPEST] };
        static DEPTH: Cell<usize> = const { Cell::new(0) };
        /// How many attempts this thread owns.
        static OWNED: Cell<u32> = const { Cell::new(0) };
        /// The locks that this thread sleeps for: the first one, then those of the signal handlers that interrupted that.
        static AWAITED: [Cell<Option<Address>>; NESTED] = const { [const { Cell::new(None) }; NESTED] };
        static AWAITING: Cell<usize> = const { Cell::new(0) };
    }

    /// Deeper nesting is not known of: there a callback is taken for one that is outside. What the library has of each thread is to stay
    /// small: see `pointer`.
    const DEEPEST: usize = 16;

    /// So many are known of.
    const NESTED: usize = 4;

    /// This thread sleeps for a lock, until this ends.
    pub(crate) struct Awaiting {
        outer: usize,
    }

    impl Awaiting {
        /// Where it is a signal handler that is about to sleep, it may have interrupted this thread just woken for another lock, which it cannot
        /// take now; whoever holds the handler's one may be asleep beside it. So that wake goes to the next.
        pub(crate) fn begin(lock: Address) -> Self {
            let outer = AWAITING.here(Cell::get);
            AWAITED.here(|awaited| {
                awaited.iter().take(outer).for_each(|each| {
                    if let Some(lock) = each.get() {
                        wake_at(lock, 1);
                    }
                });
                if let Some(place) = awaited.get(outer) {
                    place.set(Some(lock));
                }
            });
            compiler_fence(SeqCst);
            AWAITING.here(|awaiting| awaiting.set(outer + 1));
            compiler_fence(SeqCst);
            Self { outer }
        }
    }

    impl Drop for Awaiting {
        fn drop(&mut self) {
            compiler_fence(SeqCst);
            AWAITING.here(|awaiting| awaiting.set(self.outer));
        }
    }

    /// This thread is inside something that a key stands for, until the mark ends. Marks end in the reverse order.
    pub(crate) struct Mark {
        outer: usize,
    }

    impl Mark {
        /// Runs `body` under a mark, also when it unwinds.
        pub(crate) fn during<R>(key: usize, body: impl FnOnce() -> R) -> R {
            let outer = DEPTH.here(Cell::get);
            let mark = Self { outer };
            let frame = (&raw const mark).addr();
            MARKS.here(|marks| {
                if let Some((its_key, its_frame)) = marks.get(outer) {
                    its_key.set(key);
                    its_frame.set(frame);
                }
            });
            DEPTH.here(|depth| depth.set(outer + 1));
            body()
        }

        /// Is this thread inside one with that key?
        pub(crate) fn is_set(key: usize) -> bool {
            let depth = DEPTH.here(Cell::get);
            MARKS.here(|marks| {
                let mut set = marks.iter().take(depth);
                set.any(|(its_key, _)| its_key.get() == key)
            })
        }
    }

    impl Drop for Mark {
        fn drop(&mut self) {
            DEPTH.here(|depth| depth.set(self.outer));
        }
    }

    /// Is this thread inside anything that a key stands for?
    #[inline(always)]
    pub(crate) fn has_marks() -> bool {
        DEPTH.here(Cell::get) != 0
    }

    /// Forgets the marks whose frames have been left without their ends.
    pub(crate) fn cut_marks() {
        DEPTH.here(|depth| {
            let is_left = |place: usize| {
                let frame = MARKS.here(|marks| marks.get(place).map(|(_, frame)| frame.get()));
                frame.is_some_and(stack::is_gone)
            };
            while let Some(place) = depth.get().checked_sub(1).filter(|&place| is_left(place)) {
                depth.set(place);
            }
        });
    }

    /// This thread owns one attempt more, or fewer.
    pub(crate) fn owns(change: i32) {
        OWNED.here(|owned| owned.set(owned.get().saturating_add_signed(change)));
    }

    /// Does this thread own any attempt? One that owns none is waited for by nobody.
    pub(crate) fn owns_any() -> bool {
        OWNED.here(Cell::get) != 0
    }

    /// `key + 1` once the pthread key exists; 0 before; `u32::MAX` when the process has no key left.
    static EXIT_KEY: AtomicU32 = AtomicU32::new(0);

    /// It may unwind: a thread can be ended once more at its end.
    type AtExit = unsafe extern "C-unwind" fn(*mut c_void);

    /// Has `at_exit` run when this thread ends. There is one such function in the library.
    pub(crate) fn run_at_exit(at_exit: AtExit) {
        LOCAL.here(|local| {
            if local.armed.replace(true) {
                return;
            }
            if let Some(key) = exit_key(at_exit) {
                // SAFETY: the key exists; the value only has to differ from NULL.
                unsafe { libc::pthread_setspecific(key, std::ptr::dangling()) };
            }
        });
    }

    /// Must be called by the function given to [`run_at_exit`]: a later use of the library on this thread arms again.
    pub(crate) fn exit_has_run() {
        LOCAL.here(|local| local.armed.set(false));
    }

    fn exit_key(at_exit: AtExit) -> Option<libc::pthread_key_t> {
        let known = EXIT_KEY.load(Relaxed);
        if known != 0 {
            return (known != u32::MAX).then(|| known - 1);
        }
        let mut key = 0;
        // SAFETY: to a caller both are the same type.
        let at_exit =
            unsafe { std::mem::transmute::<AtExit, unsafe extern "C" fn(*mut c_void)>(at_exit) };
        // SAFETY: `key` is valid to write to and `at_exit` stays loaded (the library is never unloaded).
        if unsafe { libc::pthread_key_create(&mut key, Some(at_exit)) } != 0 {
            EXIT_KEY.store(u32::MAX, Relaxed);
            return None;
        }
        // Relaxed: the number of the key is all that is handed over.
        match EXIT_KEY.compare_exchange(0, key + 1, Relaxed, Relaxed) {
            Ok(_) => Some(key),
            Err(other) => {
                // SAFETY: ours, just made, and no thread has set it.
                unsafe { libc::pthread_key_delete(key) };
                (other != u32::MAX).then(|| other - 1)
            }
        }
    }
}

#[cfg(loom)]
mod model {
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
        pub(crate) fn begin(_lock: super::super::futex::Address) -> Self {
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
}
