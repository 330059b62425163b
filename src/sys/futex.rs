//! A 32-bit word that threads sleep on in the kernel.

use super::atomic::AtomicU32;
use super::clock::Deadline;

/// The word. `wait` may return for any reason, so callers look at the word again and infer nothing from the return.
#[repr(transparent)]
pub(crate) struct Futex {
    #[cfg(not(loom))]
    word: AtomicU32,
    #[cfg(loom)]
    model: model::Model,
}

impl std::ops::Deref for Futex {
    type Target = AtomicU32;

    #[inline(always)]
    fn deref(&self) -> &AtomicU32 {
        #[cfg(not(loom))]
        return &self.word;
        #[cfg(loom)]
        return &self.model.word;
    }
}

#[cfg(not(loom))]
impl Futex {
    pub(crate) const fn new(value: u32) -> Self {
        Self {
            word: AtomicU32::new(value),
        }
    }

    /// Sleeps while the word is `expected`, until a wake, a signal or the deadline. A sleep that has a deadline is not restarted behind a signal
    /// handler, whatever its SA_RESTART says, and the handler may have forked by a `_Fork` or `clone`, which is to be noticed: so each has one.
    #[inline(never)]
    pub(crate) fn wait(&self, expected: u32, deadline: Deadline) {
        let at_ns = match deadline {
            Deadline::Never => u64::MAX,
            Deadline::At(at_ns) => at_ns,
        };
        let time = libc::timespec {
            tv_sec: (at_ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (at_ns % 1_000_000_000) as libc::c_long,
        };
        super::errno::preserved(|| {
            // SAFETY: the word is valid for the whole call (we borrow it), and so is the time.
            // FUTEX_WAIT_BITSET takes an absolute CLOCK_MONOTONIC time; a raw futex call is no cancellation point.
            unsafe {
                libc::syscall(
                    libc::SYS_futex,
                    self.word.as_ptr(),
                    libc::FUTEX_WAIT_BITSET | libc::FUTEX_PRIVATE_FLAG,
                    expected,
                    &raw const time,
                    std::ptr::null::<u32>(),
                    libc::FUTEX_BITSET_MATCH_ANY,
                );
            }
        });
    }

    /// Where [`wake_at`] finds the sleepers, also after the word itself may be gone.
    pub(crate) fn address(&self) -> Address {
        Address(self.word.as_ptr())
    }

    /// Wakes up to `count` sleepers.
    pub(crate) fn wake(&self, count: i32) {
        wake_at(self.address(), count);
    }
}

/// The address of a futex, as a key only: nothing is read or written through it.
#[cfg(not(loom))]
#[derive(Clone, Copy)]
pub(crate) struct Address(*mut u32);

/// Wakes up to `count` sleepers at an address that may no longer hold the word: at worst a stranger wakes for nothing.
#[cfg(not(loom))]
#[inline(never)]
pub(crate) fn wake_at(address: Address, count: i32) {
    super::errno::preserved(|| {
        // SAFETY: the kernel uses the address as a key and answers EFAULT where nothing is mapped.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                address.0,
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                count,
            )
        };
    });
}

#[cfg(loom)]
pub(crate) use model::{Address, wake_at};

#[cfg(loom)]
mod model {
    //! The same word for loom: sleepers on a condition variable, the value checked under its mutex, as the kernel does.

    use super::{AtomicU32, Deadline, Futex};
    use loom::sync::{Condvar, Mutex};
    use std::sync::Arc;
    use std::sync::atomic::Ordering::Relaxed;

    pub(crate) struct Model {
        pub(super) word: AtomicU32,
        sleepers: Arc<(Mutex<()>, Condvar)>,
    }

    /// Outlives the word, as a kernel key does.
    #[derive(Clone)]
    pub(crate) struct Address(Arc<(Mutex<()>, Condvar)>);

    impl Futex {
        pub(crate) fn new(value: u32) -> Self {
            Self {
                model: Model {
                    word: AtomicU32::new(value),
                    sleepers: Arc::new((Mutex::new(()), Condvar::new())),
                },
            }
        }

        /// A limited wait returns at once: to loom a time-out may come at any moment, the earliest included.
        pub(crate) fn wait(&self, expected: u32, deadline: Deadline) {
            let sleep = self.model.sleepers.0.lock().unwrap();
            if self.model.word.load(Relaxed) != expected {
                return;
            }
            match deadline {
                Deadline::Never => drop(self.model.sleepers.1.wait(sleep).unwrap()),
                Deadline::At(_) => drop(sleep),
            }
        }

        pub(crate) fn address(&self) -> Address {
            Address(self.model.sleepers.clone())
        }

        pub(crate) fn wake(&self, count: i32) {
            wake_at(self.address(), count);
        }
    }

    pub(crate) fn wake_at(address: Address, count: i32) {
        let _sleepers = address.0.0.lock().unwrap();
        for _ in 0..count {
            address.0.1.notify_one();
        }
    }
}
