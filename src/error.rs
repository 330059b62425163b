//! What went wrong: one error type, one to one with the statuses, and the record that travels with it.
//!
//! A record is made once, where the failure happens, and never changes: every waiter of a failed attempt shares it, and
//! it may be read while later attempts run.

use crate::abi;
use crate::sys::local::Local;
use crate::sys::memory::{NoMemory, Shared, try_c_string};
use crate::sys::site::{Place, copy_text};
use crate::sys::text::{Text, text};
use crate::sys::{clock, thread};
use std::cell::Cell;
use std::ffi::{CStr, CString};
use std::mem::ManuallyDrop;

/// Declares the error type and its statuses from one list.
macro_rules! errors {
    ($($(#[doc = $doc:literal])+ $name:ident = $status:ident, $short:literal;)+) => {
        /// Why a call failed. The text says what happened, to which once, and what to do.
        #[derive(thiserror::Error, Debug)]
        pub(crate) enum Error {
            $($(#[doc = $doc])+ #[error("{0}")] $name(Text),)+
        }

        impl Error {
            /// The status that a C caller sees.
            pub(crate) fn status(&self) -> abi::lazy_status {
                match self { $(Self::$name(_) => abi::$status,)+ }
            }

            /// The error of a failing status with its text; any other status is a failed initialization.
            pub(crate) fn from_status(status: abi::lazy_status, text: Text) -> Self {
                match status { $(abi::$status => Self::$name(text),)+ _ => Self::Init(text) }
            }
        }

        /// What a status means, in a few words; static, for any number.
        pub(crate) const fn status_text(status: abi::lazy_status) -> &'static CStr {
            match status {
                abi::LAZY_OK => c"success",
                abi::LAZY_QUEUED => c"queued: the callback runs when the once is initialized",
                abi::LAZY_IN_PROGRESS => c"this thread is already initializing the once",
                $(abi::$status => $short,)+
                _ => c"unknown status",
            }
        }
    };
}

errors! {
    /// A bad argument.
    Invalid = LAZY_E_INVALID, c"invalid argument";
    /// No memory.
    NoMemory = LAZY_E_NOMEM, c"out of memory";
    /// The initializer failed.
    Init = LAZY_E_INIT, c"the initializer failed";
    /// A queued callback failed.
    Deferred = LAZY_E_DEFERRED, c"a queued callback failed during initialization";
    /// A callback that ran at once failed.
    Callback = LAZY_E_CALLBACK, c"the callback failed";
    /// Initialized before a fork, used after it.
    Forked = LAZY_E_FORKED, c"not usable in a forked child";
    /// Waiting would never end.
    Deadlock = LAZY_E_DEADLOCK, c"waiting would deadlock";
    /// The limit passed.
    Timeout = LAZY_E_TIMEOUT, c"timed out";
    /// The host lock was refused, or its hooks broke their contract.
    Host = LAZY_E_HOST, c"the host lock was refused";
    /// Not possible at this moment.
    NotNow = LAZY_E_NOT_NOW, c"not possible now; try again later";
    /// Nothing there.
    NotFound = LAZY_E_NOT_FOUND, c"not found";
    /// Closed.
    Closed = LAZY_E_CLOSED, c"closed";
    /// The backend does not exist here.
    Unavailable = LAZY_E_UNAVAILABLE, c"unavailable on this machine";
    /// Changed after it was used.
    TooLate = LAZY_E_TOO_LATE, c"too late: already in use";
    /// The host gave up a wait.
    Interrupted = LAZY_E_INTERRUPTED, c"interrupted";
}

/// One failure with all that is known of it.
pub(crate) struct Record {
    pub(crate) error: Error,
    pub(crate) message: CString,
    pub(crate) once: CString,
    pub(crate) thread: u64,
    pub(crate) facts: Facts,
}

/// What only some failures have.
#[derive(Default)]
pub(crate) struct Facts {
    pub(crate) code: i32,
    pub(crate) site: Place,
    pub(crate) init_site: Place,
    pub(crate) owner_thread: u64,
    pub(crate) elapsed_ns: u64,
    pub(crate) ticket: u64,
    pub(crate) attempt: u32,
    pub(crate) cause: Option<Failure>,
}

/// A failure on its way to whoever called.
#[derive(Clone)]
pub(crate) enum Failure {
    Recorded(Shared<Record>),
    /// Where a record cannot be made: there is no memory for it, or none at all.
    Bare(abi::lazy_status),
}

impl Failure {
    /// A failure of this thread's.
    pub(crate) fn new(error: Error, once: &CStr, facts: Facts) -> Self {
        let status = error.status();
        let record = || {
            Shared::try_new(Record {
                message: try_c_string(text!("{error}").as_bytes()).ok()?,
                error,
                once: copy_text(once.as_ptr()).ok()??,
                thread: thread::id(),
                facts,
            })
            .ok()
        };
        record().map_or(Self::Bare(status), Self::Recorded)
    }

    /// A failure that belongs to no once.
    pub(crate) fn invalid(text: impl std::fmt::Display) -> Self {
        Self::new(Error::Invalid(text!("{text}")), c"", Facts::default())
    }

    pub(crate) fn status(&self) -> abi::lazy_status {
        match self {
            Self::Recorded(record) => record.error.status(),
            Self::Bare(status) => *status,
        }
    }

    /// What the callback returned that failed; 0 if none did.
    #[cfg(not(loom))]
    pub(crate) fn code(&self) -> i32 {
        match self {
            Self::Recorded(record) => record.facts.code,
            Self::Bare(_) => 0,
        }
    }

    /// The failure that this one came from.
    pub(crate) fn cause(&self) -> Option<&Failure> {
        match self {
            Self::Recorded(record) => record.facts.cause.as_ref(),
            Self::Bare(_) => None,
        }
    }

    /// The very same failure, not one that looks alike.
    pub(crate) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Recorded(ours), Self::Recorded(theirs)) => Shared::same(ours, theirs),
            (Self::Bare(ours), Self::Bare(theirs)) => ours == theirs,
            _ => false,
        }
    }
}

impl From<NoMemory> for Failure {
    fn from(_: NoMemory) -> Self {
        Self::Bare(abi::LAZY_E_NOMEM)
    }
}

/// What a callback said of its failure: `lazy_fail`, `lazy_fail_status`.
pub(crate) struct Said {
    pub(crate) status: abi::lazy_status,
    pub(crate) code: i32,
    /// What the error has for a code: the same, but for a callback of the library's own that has none.
    pub(crate) shown: i32,
    pub(crate) text: Text,
}

/// One value a thread, without a destructor: [`forget_thread`] frees it when the thread ends.
type PerThread<T> = Cell<ManuallyDrop<Option<T>>>;

thread_local! {
    static LAST: PerThread<Failure> = const { Cell::new(ManuallyDrop::new(None)) };
    static SAID: PerThread<Box<Said>> = const { Cell::new(ManuallyDrop::new(None)) };
    /// The last failing call since the innermost [`Scope`] began.
    static CAUSE: PerThread<Failure> = const { Cell::new(ManuallyDrop::new(None)) };
    /// Is there anything in `SAID` or `CAUSE`? One look after each callback of a drain.
    static DIRTY: Cell<bool> = const { Cell::new(false) };
}

#[inline(always)]
fn replace<T>(place: &'static std::thread::LocalKey<PerThread<T>>, value: Option<T>) -> Option<T> {
    ManuallyDrop::into_inner(place.here(|place| place.replace(ManuallyDrop::new(value))))
}

/// Makes a failure this thread's last error; returns its status. A signal handler that interrupted the library on this
/// thread does not come here: what it interrupted may be the change of these very cells.
#[cold]
pub(crate) fn raise(failure: Failure) -> abi::lazy_status {
    let status = failure.status();
    arm();
    DIRTY.here(|dirty| dirty.set(true));
    drop(replace(&CAUSE, Some(failure.clone())));
    drop(replace(&LAST, Some(failure)));
    status
}

/// This thread's last error.
pub(crate) fn last() -> Option<Failure> {
    let last = replace(&LAST, None);
    let copy = last.clone();
    drop(replace(&LAST, last));
    copy
}

/// Keeps what a callback says of its failure until it returns.
pub(crate) fn say(said: Said) {
    arm();
    DIRTY.here(|dirty| dirty.set(true));
    drop(replace(&SAID, crate::sys::memory::try_box(said).ok()));
}

/// What was said last, if it was about this code; said once.
pub(crate) fn take_said(code: i32) -> Option<Box<Said>> {
    replace(&SAID, None).filter(|said| said.code == code)
}

/// The text and the cause belong to the callback that failed, not to its caller nor to the callback before it.
pub(crate) struct Scope {
    said: Option<Box<Said>>,
    cause: Option<Failure>,
    dirty: bool,
}

impl Scope {
    pub(crate) fn enter() -> Self {
        if !DIRTY.here(|dirty| dirty.replace(false)) {
            return Self {
                said: None,
                cause: None,
                dirty: false,
            };
        }
        Self {
            said: replace(&SAID, None),
            cause: replace(&CAUSE, None),
            dirty: true,
        }
    }

    /// After a callback that succeeded: what it said is nobody's.
    fn forget(&self) {
        DIRTY.here(|dirty| self.forget_if(dirty));
    }

    /// The same with the flag of [`watch`].
    #[inline(always)]
    pub(crate) fn forget_if(&self, dirty: &Cell<bool>) {
        if dirty.get() {
            dirty.set(false);
            drop((replace(&SAID, None), replace(&CAUSE, None)));
        }
    }

    /// What the callback that failed with `code` left behind.
    pub(crate) fn take(&self, code: i32) -> (Option<Box<Said>>, Option<Failure>) {
        (take_said(code), replace(&CAUSE, None))
    }
}

/// Finds this thread's flag once, for a million callbacks in a row.
#[inline]
pub(crate) fn watch<R>(body: impl FnOnce(&Cell<bool>) -> R) -> R {
    DIRTY.here(body)
}

impl Drop for Scope {
    fn drop(&mut self) {
        self.forget();
        if self.dirty {
            drop((
                replace(&SAID, self.said.take()),
                replace(&CAUSE, self.cause.take()),
            ));
            DIRTY.here(|dirty| dirty.set(true));
        }
    }
}

/// The end of this thread.
pub(crate) fn forget_thread() {
    drop((
        replace(&LAST, None),
        replace(&SAID, None),
        replace(&CAUSE, None),
    ));
}

#[cfg(not(loom))]
fn arm() {
    thread::run_at_exit(crate::exit::thread_exit);
}

#[cfg(loom)]
fn arm() {}

/// "2.5 s", for messages.
pub(crate) fn since(start_ns: u64) -> Since {
    Since(clock::now_ns().saturating_sub(start_ns))
}

/// A time in nanoseconds.
pub(crate) struct Since(u64);

impl std::fmt::Display for Since {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not as a floating-point number, whose formatting is larger than all of this file.
        let ms = self.0 / 1_000_000;
        write!(out, "{}.{:03} s", ms / 1000, ms % 1000)
    }
}
