//! The state word, the queue and the wake-ups under every interleaving and memory order that loom can reach.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release --test loom --target-dir target/loom`
//!
//! No model has a time limit or a second chance: a wake that is dropped is a thread that sleeps for ever, which loom
//! reports. `tests/mutations.rs` weakens each order and drops each wake and expects one of these to fail.

#![cfg(loom)]
#![allow(missing_docs)]

use core::ffi::c_void;
use lazyonce::abi::*;
use lazyonce::model::{Once, Outcome, Request, Value};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicBool;
use loom::thread;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// What a model works on: a once, what its initializer makes, and what its callbacks count.
struct World {
    once: Once,
    made: UnsafeCell<u32>,
    attempts: AtomicUsize,
    failures: usize,
    ran: UnsafeCell<u32>,
}

/// Written by one initializer, read by callbacks and readers: loom reports a read that is not ordered after the write.
unsafe impl Sync for World {}
unsafe impl Send for World {}

impl World {
    /// A world whose first `failures` attempts fail.
    fn new(failures: usize) -> Arc<Self> {
        Arc::new(Self {
            once: Once::default(),
            made: UnsafeCell::new(0),
            attempts: AtomicUsize::new(0),
            failures,
            ran: UnsafeCell::new(0),
        })
    }

    fn ctx(&self) -> *mut c_void {
        core::ptr::from_ref(self).cast_mut().cast()
    }

    fn init(&self) -> lazy_status {
        self.once.run(initialize, self.ctx())
    }

    fn call(&self, callback: lazyonce::model::Function) -> lazy_status {
        self.once.call(callback, self.ctx())
    }

    fn made(&self) -> u32 {
        self.made.with(|made| unsafe { *made })
    }

    fn attempts(&self) -> usize {
        self.attempts.load(Relaxed)
    }
}

unsafe fn world<'a>(ctx: *mut c_void) -> &'a World {
    unsafe { &*ctx.cast() }
}

/// Writes in every attempt, so that a hand-over from a failed attempt to the next is seen.
unsafe extern "C-unwind" fn initialize(ctx: *mut c_void) -> i32 {
    let world = unsafe { world(ctx) };
    world.made.with_mut(|made| unsafe { *made += 1 });
    (world.attempts.fetch_add(1, Relaxed) < world.failures) as i32
}

/// Reads what the initializer made. Counts without a lock: two at once would be reported.
unsafe extern "C-unwind" fn callback(ctx: *mut c_void) -> i32 {
    let world = unsafe { world(ctx) };
    assert!(world.made() > 0, "a callback ran before the initializer");
    world.ran.with_mut(|ran| unsafe { *ran += 1 });
    0
}

/// Only reads, so that several may run at once on READY.
unsafe extern "C-unwind" fn reader(ctx: *mut c_void) -> i32 {
    assert!(
        unsafe { world(ctx) }.made() > 0,
        "a callback ran before the initializer"
    );
    0
}

/// Every execution with at most two preemptions, as far as the time allows; the output says which of both it was.
fn explore(model: impl Fn() + Sync + Send + 'static) {
    const LIMIT: Duration = Duration::from_secs(30);
    let executions = std::sync::Arc::new(AtomicUsize::new(0));
    let counter = executions.clone();
    let start = Instant::now();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.max_duration = Some(LIMIT);
    builder.check(move || {
        counter.fetch_add(1, Relaxed);
        model();
    });
    let end = if start.elapsed() < LIMIT {
        "all"
    } else {
        "the first"
    };
    println!(
        "{end} {} executions in {:.1} s",
        executions.load(Relaxed),
        start.elapsed().as_secs_f64()
    );
}

#[test]
fn two_initializers() {
    explore(|| {
        let world = World::new(0);
        let other = world.clone();
        let thread = thread::spawn(move || {
            assert_eq!(other.init(), LAZY_OK);
            assert_eq!(other.made(), 1);
        });
        assert_eq!(world.init(), LAZY_OK);
        assert_eq!(world.made(), 1);
        thread.join().unwrap();
    });
}

#[test]
fn init_against_two_callers() {
    explore(|| {
        let world = World::new(0);
        let callers: Vec<_> = (0..2)
            .map(|_| {
                let world = world.clone();
                thread::spawn(move || world.call(reader))
            })
            .collect();
        assert_eq!(world.init(), LAZY_OK);
        for caller in callers {
            assert!(caller.join().unwrap() >= LAZY_OK);
        }
    });
}

#[test]
fn queued_before_init_runs_once() {
    explore(|| {
        let world = World::new(0);
        assert_eq!(world.call(callback), LAZY_QUEUED);
        let other = world.clone();
        let thread = thread::spawn(move || {
            assert_eq!(other.init(), LAZY_OK);
            assert_eq!(other.ran.with(|ran| unsafe { *ran }), 1);
        });
        assert_eq!(world.init(), LAZY_OK);
        assert_eq!(world.ran.with(|ran| unsafe { *ran }), 1);
        thread.join().unwrap();
    });
}

#[test]
fn a_call_against_the_end_of_the_drain_is_never_lost() {
    explore(|| {
        let world = World::new(0);
        let other = world.clone();
        let thread = thread::spawn(move || other.call(callback));
        assert_eq!(world.init(), LAZY_OK);
        assert!(thread.join().unwrap() >= LAZY_OK);
        assert_eq!(world.ran.with(|ran| unsafe { *ran }), 1);
    });
}

#[test]
fn failure_then_retry() {
    explore(|| {
        let world = World::new(1);
        let other = world.clone();
        let thread = thread::spawn(move || other.init());
        let mine = world.init();
        let theirs = thread.join().unwrap();
        // The waiter of the failed attempt shares its error; one that comes later tries again.
        assert!(mine == LAZY_E_INIT || theirs == LAZY_E_INIT);
        assert_eq!(world.init(), LAZY_OK);
        assert_eq!(world.attempts(), 2);
    });
}

#[test]
fn two_failures_and_three_threads() {
    explore(|| {
        let world = World::new(2);
        let others: Vec<_> = (0..2)
            .map(|_| {
                let world = world.clone();
                thread::spawn(move || world.init())
            })
            .collect();
        world.init();
        for other in others {
            other.join().unwrap();
        }
        while world.init() != LAZY_OK {}
        assert_eq!(world.made(), 3);
    });
}

#[test]
fn a_reader_of_ready_sees_everything() {
    explore(|| {
        let world = World::new(0);
        assert_eq!(world.call(callback), LAZY_QUEUED);
        let other = world.clone();
        let thread = thread::spawn(move || {
            if other.once.is_ready() {
                assert_eq!(other.made(), 1);
                assert_eq!(other.ran.with(|ran| unsafe { *ran }), 1);
            }
        });
        assert_eq!(world.init(), LAZY_OK);
        thread.join().unwrap();
    });
}

/// Calls again from inside, as a manual seed does that sets an RNG state.
unsafe extern "C-unwind" fn nested(ctx: *mut c_void) -> i32 {
    let world = unsafe { world(ctx) };
    assert!(!world.once.is_ready());
    assert_eq!(world.init(), LAZY_IN_PROGRESS);
    assert_eq!(world.call(callback), LAZY_OK);
    0
}

#[test]
fn nested_calls_in_a_drain() {
    explore(|| {
        let world = World::new(0);
        assert_eq!(world.call(nested), LAZY_QUEUED);
        let other = world.clone();
        let thread = thread::spawn(move || assert_eq!(other.call(reader).min(LAZY_QUEUED) & !1, 0));
        assert_eq!(world.init(), LAZY_OK);
        assert_eq!(world.ran.with(|ran| unsafe { *ran }), 1);
        thread.join().unwrap();
    });
}

/// Fails the first time it runs.
unsafe extern "C-unwind" fn fails_once(ctx: *mut c_void) -> i32 {
    unsafe { world(ctx) }.ran.with_mut(|ran| {
        let ran = unsafe { &mut *ran };
        *ran += 1;
        (*ran == 1) as i32
    })
}

#[test]
fn a_failing_drained_request_is_run_again_and_the_initializer_is_not() {
    explore(|| {
        let world = World::new(0);
        assert_eq!(world.call(fails_once), LAZY_QUEUED);
        let other = world.clone();
        let thread = thread::spawn(move || other.init());
        let mine = world.init();
        let theirs = thread.join().unwrap();
        assert!(mine == LAZY_E_DEFERRED || theirs == LAZY_E_DEFERRED);
        assert_eq!(world.init(), LAZY_OK);
        assert_eq!(world.attempts(), 1);
        assert_eq!(world.ran.with(|ran| unsafe { *ran }), 2);
    });
}

impl World {
    fn request(&self, function: lazyonce::model::Function) -> Request {
        Request {
            function,
            ctx: self.ctx(),
            key: 0,
            no_wait: false,
        }
    }

    fn ran(&self) -> u32 {
        self.ran.with(|ran| unsafe { *ran })
    }
}

/// Whoever cancels a request looks at what it did, which is ordered only if the request is really gone.
#[test]
fn cancel_against_the_drain() {
    explore(|| {
        let world = World::new(0);
        let (status, ticket) = world.once.submit(world.request(callback));
        assert_eq!(status, LAZY_QUEUED);
        let other = world.clone();
        let thread = thread::spawn(move || {
            let status = other.once.cancel(ticket);
            assert!(status == LAZY_OK || status == LAZY_E_NOT_FOUND);
            assert_eq!(other.ran(), (status == LAZY_E_NOT_FOUND) as u32);
        });
        assert_eq!(world.init(), LAZY_OK);
        thread.join().unwrap();
    });
}

/// One cancels, the other replaces: each withdraws it or finds that it is gone, and what came last runs.
#[test]
fn two_ways_out_of_the_queue() {
    explore(|| {
        let world = World::new(0);
        let request = Request {
            key: 7,
            ..world.request(callback)
        };
        let (_, ticket) = world.once.submit(request);
        let other = world.clone();
        let thread = thread::spawn(move || other.once.cancel(ticket));
        assert_eq!(
            world
                .once
                .submit(Request {
                    key: 7,
                    ..world.request(callback)
                })
                .0,
            LAZY_QUEUED
        );
        let status = thread.join().unwrap();
        assert!(status == LAZY_OK || status == LAZY_E_NOT_FOUND);
        assert_eq!(world.init(), LAZY_OK);
        assert_eq!(world.ran(), 1);
    });
}

/// It is queued for the attempt, runs at once, or is refused; never lost.
#[test]
fn no_wait_against_the_end_of_the_drain() {
    explore(|| {
        let world = World::new(0);
        let other = world.clone();
        let thread = thread::spawn(move || {
            let request = Request {
                no_wait: true,
                ..other.request(callback)
            };
            other.once.submit(request).0
        });
        assert_eq!(world.init(), LAZY_OK);
        let status = thread.join().unwrap();
        assert!([LAZY_OK, LAZY_QUEUED, LAZY_E_NOT_NOW].contains(&status));
        assert_eq!(world.ran(), (status != LAZY_E_NOT_NOW) as u32);
    });
}

#[test]
fn close_against_waiters() {
    explore(|| {
        let world = World::new(0);
        let waiters: Vec<_> = (0..2)
            .map(|_| {
                let world = world.clone();
                thread::spawn(move || world.init())
            })
            .collect();
        assert_eq!(world.once.close(), LAZY_OK);
        for waiter in waiters {
            let status = waiter.join().unwrap();
            assert!(status == LAZY_OK || status == LAZY_E_CLOSED);
        }
        assert_eq!(world.init(), LAZY_E_CLOSED);
    });
}

/// A callback that goes on until somebody has been told that the once is closed: only `close` can tell.
unsafe extern "C-unwind" fn until_closed(ctx: *mut c_void) -> i32 {
    let world = unsafe { world(ctx) };
    let other = Carried(ctx);
    let waiter = thread::spawn(move || {
        let Carried(ctx) = { other };
        unsafe { self::world(ctx) }.init()
    });
    assert_eq!(world.once.close(), LAZY_OK);
    assert_eq!(waiter.join().unwrap(), LAZY_E_CLOSED);
    0
}

struct Carried(*mut c_void);
unsafe impl Send for Carried {}

#[test]
fn close_sends_waiters_away_before_the_attempt_ends() {
    explore(|| {
        let world = World::new(0);
        assert_eq!(world.once.run(until_closed, world.ctx()), LAZY_E_CLOSED);
    });
}

/// Each of two resets begins a generation, in which the initializer runs at most once.
#[test]
fn reset_against_init() {
    explore(|| {
        let world = World::new(0);
        let other = world.clone();
        let thread = thread::spawn(move || other.once.reset());
        assert_eq!(world.init(), LAZY_OK);
        assert_eq!(thread.join().unwrap(), LAZY_OK);
        assert_eq!(world.init(), LAZY_OK);
        assert!((1..=2).contains(&world.attempts()));
        assert_eq!(world.made() as usize, world.attempts());
    });
}

#[test]
fn the_owner_wakes_one_and_the_woken_wake_the_rest() {
    explore(|| {
        let outcome = Arc::new(Outcome::default());
        let waiters: Vec<_> = (0..3)
            .map(|_| {
                let outcome = outcome.clone();
                thread::spawn(move || assert_eq!(outcome.wait(), Some(7)))
            })
            .collect();
        outcome.keep(7);
        for waiter in waiters {
            waiter.join().unwrap();
        }
    });
}

#[test]
fn a_sleeper_that_is_interrupted_wakes_whenever_that_is() {
    explore(|| {
        let outcome = Arc::new(Outcome::default());
        let told = Arc::new(AtomicBool::new(false));
        let sleeper = {
            let (outcome, told) = (outcome.clone(), told.clone());
            thread::spawn(move || outcome.sleep_until(&told))
        };
        let waiter = {
            let outcome = outcome.clone();
            thread::spawn(move || assert_eq!(outcome.wait(), Some(7)))
        };
        outcome.tell(&told);
        sleeper.join().unwrap();
        outcome.keep(7);
        waiter.join().unwrap();
    });
}

#[test]
fn a_waiter_that_gives_up_leaves_nobody_asleep() {
    explore(|| {
        let outcome = Arc::new(Outcome::default());
        let waiters: Vec<_> = (0..2)
            .map(|_| {
                let outcome = outcome.clone();
                thread::spawn(move || assert_eq!(outcome.wait(), Some(7)))
            })
            .collect();
        let hasty = {
            let outcome = outcome.clone();
            thread::spawn(move || assert!(matches!(outcome.wait_a_while(), None | Some(7))))
        };
        outcome.keep(7);
        for waiter in waiters {
            waiter.join().unwrap();
        }
        hasty.join().unwrap();
    });
}

/// A slot's value and one that replaces it: whoever finds a pointer sees what its maker wrote behind it.
#[test]
fn a_value_that_is_found_is_complete() {
    explore(|| {
        let value = Arc::new(Value::default());
        let made = [UnsafeCell::new(0), UnsafeCell::new(0)];
        let made = Arc::new(Cells(made));
        let maker = {
            let (value, made) = (Arc::clone(&value), Arc::clone(&made));
            thread::spawn(move || {
                for (cell, step) in made.0.iter().zip(0..) {
                    cell.with_mut(|cell| unsafe { *cell = 1 });
                    let pointer = core::ptr::from_ref(cell).cast_mut().cast();
                    if step == 0 {
                        value.publish(pointer);
                    } else {
                        value.replace(pointer);
                    }
                }
            })
        };
        if let Some(found) = value.find() {
            let found = unsafe { &*found.cast::<UnsafeCell<u32>>() };
            assert_eq!(found.with(|cell| unsafe { *cell }), 1);
        }
        maker.join().unwrap();
    });
}

/// Each written by one thread before anybody finds it.
struct Cells([UnsafeCell<u32>; 2]);
unsafe impl Sync for Cells {}
unsafe impl Send for Cells {}
