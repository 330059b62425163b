//! A wait that is warned of, once, when it has lasted as long as `LAZYONCE_WARN_AFTER` says.

use super::file::say;
use super::{Span, What};
use crate::dump::append_stay;
use crate::error::since;
use crate::fork;
use crate::name::{Called, Subject};
use crate::stay::{self, Doing, Staying};
use crate::sys::birthmark;
use crate::sys::clock::{self, Deadline};
use crate::sys::errno::preserved;
use crate::sys::line::Line;
use crate::sys::process;
use crate::sys::promise::Promise;
use crate::sys::site::Origin;
use crate::sys::text::{Text, append, text};
use crate::sys::thread;
use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How long a wait may last before somebody is told; 0 for ever. Relaxed: written when the library is loaded.
static WARN_AFTER_NS: AtomicU64 = AtomicU64::new(0);

/// Not to be warned of, or not again.
const NEVER: u64 = u64::MAX;

/// A wait of this thread's.
pub(crate) struct Wait<'a> {
    pub(crate) subject: &'a dyn Subject,
    origin: Origin,
    /// Who is waited for, and what that does: looked up only for the warning. No lock may be held.
    whom: &'a dyn Fn() -> Text,
    /// Keeps the promise if it is owed by a thread that is not in this process.
    lose: &'a dyn Fn(),
    doing: Doing,
    staying: Staying,
    warn_at_ns: Cell<u64>,
}

impl<'a> Wait<'a> {
    /// It begins, in a call from there.
    #[inline(always)]
    pub(crate) fn new(
        doing: Doing,
        subject: &'a dyn Subject,
        origin: Origin,
        whom: &'a dyn Fn() -> Text,
        lose: &'a dyn Fn(),
    ) -> Self {
        let staying = Staying::begin(doing, subject, origin);
        let warn_at_ns = match WARN_AFTER_NS.load(Relaxed) {
            0 => NEVER,
            after_ns => staying.since_ns().saturating_add(after_ns),
        };
        Self {
            subject,
            origin,
            whom,
            lose,
            doing,
            staying,
            warn_at_ns: Cell::new(warn_at_ns),
        }
    }

    /// It is over, but for the host of that name, which has to be taken back.
    pub(crate) fn takes_back(&self, host: *const c_char) -> Span {
        self.staying
            .becomes(Doing::TakingHostBack(host), clock::now_ns());
        Span::begin(|| What::host_wait(self.subject, self.origin))
    }

    /// That has been.
    pub(crate) fn has_taken_back(&self) {
        warn_late(&self.staying);
        self.staying.becomes(self.doing, self.staying.since_ns());
    }

    /// When somebody is to be warned of: this wait, or a thread that cannot do it by itself. One that comes there now is to be warned of no
    /// sooner than after the whole time.
    fn next_warning_ns(&self) -> u64 {
        let after_ns = WARN_AFTER_NS.load(Relaxed);
        if after_ns == 0 {
            return NEVER;
        }
        let others_ns = stay::next_warning_ns(after_ns).unwrap_or(NEVER);
        let whole_ns = clock::now_ns().saturating_add(after_ns);
        self.warn_at_ns.get().min(others_ns).min(whole_ns)
    }

    /// Sleeps once, as [`Promise::sleep`] does, but for the warnings, for which a host need not be taken back. In a child that a signal handler
    /// has forked since this thread found out whom it waits for, nobody else keeps the promise.
    pub(crate) fn sleep<T>(
        &self,
        promise: &Promise<T>,
        deadline: Deadline,
        stop: impl Fn() -> bool,
    ) {
        loop {
            let warning_ns = self.next_warning_ns();
            let until = match warning_ns {
                NEVER => deadline,
                at_ns => deadline.or_after(at_ns),
            };
            if birthmark::is_child() {
                (self.lose)();
            }
            promise.sleep(until, &stop);
            fork::look();
            if warning_ns == NEVER || promise.is_kept() || clock::now_ns() < warning_ns {
                return;
            }
            preserved(|| self.warn_of_all());
            if stop() || deadline.has_passed() {
                return;
            }
        }
    }

    /// Of whom it is time to warn. No lock is held, and no host's lock if that was let go for the wait.
    #[cold]
    fn warn_of_all(&self) {
        if clock::now_ns() >= self.warn_at_ns.get() {
            self.warn_at_ns.set(NEVER);
            self.warn();
        }
        warn_of_others(WARN_AFTER_NS.load(Relaxed));
    }

    #[cold]
    fn warn(&self) {
        let mut line = text!(
            "lazyonce: process {}: thread {} has waited {} for {}",
            process::id(),
            thread::id(),
            since(self.staying.since_ns()),
            Called(self.subject.kind(), &self.subject.name())
        );
        if self.origin.is_known() {
            append!(line, ", called at {}", self.origin.spot());
        }
        append!(line, ": {}\n", (self.whom)());
        say(&line);
    }

    /// The value, or `None` after the deadline.
    pub(crate) fn on<'p, T: Send + Sync>(
        &self,
        promise: &'p Promise<T>,
        deadline: Deadline,
    ) -> Option<&'p T> {
        loop {
            self.sleep(promise, deadline, || false);
            if let Some(value) = promise.get() {
                return Some(value);
            }
            if deadline.has_passed() {
                return None;
            }
        }
    }
}

/// Warns of every thread that stays where it cannot warn by itself.
#[cold]
fn warn_of_others(after_ns: u64) {
    let mut place = 0;
    loop {
        let mut line = Line::new();
        if stay::look_if_due(place, after_ns, |stay| append_stay(&mut line, stay)).is_none() {
            return;
        }
        tell(&line);
        place += 1;
    }
}

/// Warns of such a stay of this thread's that ends now, if nobody else could.
pub(crate) fn warn_late(staying: &Staying) {
    let after_ns = WARN_AFTER_NS.load(Relaxed);
    if after_ns != 0 {
        let mut line = Line::new();
        staying.look_if_due(after_ns, |stay| append_stay(&mut line, stay));
        preserved(|| tell(&line));
    }
}

fn tell(line: &Line) {
    if !line.is_empty() {
        say(&text!("lazyonce: process {}: {line}\n", process::id()));
    }
}

/// Warns of every wait that lasts so many seconds: digits, perhaps with a point among them.
pub(super) fn warn_after(seconds: &CStr) {
    match nanoseconds(seconds.to_bytes()) {
        Some(after_ns) => WARN_AFTER_NS.store(after_ns, Relaxed),
        None => say(
            "lazyonce: LAZYONCE_WARN_AFTER is no number of seconds, such as 30 or 0.5: nothing is warned of\n",
        ),
    }
}

fn nanoseconds(text: &[u8]) -> Option<u64> {
    let mut parts = text.splitn(2, |&byte| byte == b'.');
    let (whole, fraction) = (parts.next()?, parts.next().unwrap_or_default());
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let padding = std::iter::repeat_n(&b'0', 9);
    if !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digits = whole.iter().chain(fraction.iter().chain(padding).take(9));
    digits.copied().try_fold(0u64, |sum, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        Some(sum.saturating_mul(10).saturating_add(digit))
    })
}
