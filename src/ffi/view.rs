//! The C view of a thread's last error, structs with pointers into the record, which they keep alive; and of a once.

use core::cell::Cell;
use core::ffi::c_char;
use core::mem::ManuallyDrop;
use core::ptr::null;

use crate::abi::{LAZY_E_NOMEM, lazy_error, lazy_info, lazy_site, lazy_status};
use crate::error::{self, Failure};
use crate::once::{Info, Kept};
use crate::sys::local::Local;
use crate::sys::memory::{NoMemory, try_box};
use crate::sys::row::Row;
use crate::sys::site::{Origin, Place};
use crate::sys::thread;

/// The error and its causes, each pointing to the next.
struct View {
    errors: Row<lazy_error>,
    failure: Failure,
}

thread_local! {
    /// Without a destructor: [`forget`] frees it when the thread ends.
    static VIEW: Cell<ManuallyDrop<Option<Box<View>>>> = const { Cell::new(ManuallyDrop::new(None)) };
    /// What the strings of this thread's latest `lazy_info` belong to. The same.
    static KEPT: Cell<ManuallyDrop<Kept>> = const { Cell::new(ManuallyDrop::new(Kept::NOTHING)) };
}

fn replace(view: Option<Box<View>>) -> Option<Box<View>> {
    ManuallyDrop::into_inner(VIEW.here(|shown| shown.replace(ManuallyDrop::new(view))))
}

/// This thread's last error, or NULL. The same pointer until the next failing call.
pub(super) fn last_error() -> *const lazy_error {
    let Some(failure) = error::last() else {
        return null();
    };
    let old = replace(None);
    let view = match old {
        Some(view) if view.failure.same(&failure) => view,
        old => {
            drop(old);
            let status = failure.status();
            match View::try_new(failure).and_then(try_box) {
                Ok(view) => view,
                Err(NoMemory) => return bare_error(status),
            }
        }
    };
    let first = view.errors.as_ptr();
    replace(Some(view));
    first
}

struct Constant(lazy_error);

// SAFETY: never written to, and what it points to is static.
unsafe impl Sync for Constant {}

/// How many statuses there are, with that of success.
const STATUSES: usize = 16;

/// The errors where there is no memory to show one, by the numbers of their statuses.
static BARE: [Constant; STATUSES] = {
    let mut errors = [const { Constant(bare(LAZY_E_NOMEM)) }; STATUSES];
    let mut number = 1;
    while number < STATUSES {
        errors[number] = Constant(bare(-(number as lazy_status)));
        number += 1;
    }
    errors
};

fn bare_error(status: lazy_status) -> *const lazy_error {
    let known = usize::try_from(-status)
        .ok()
        .and_then(|number| BARE.get(number));
    known.map_or(null(), |error| &raw const error.0)
}

/// The end of this thread.
pub(crate) fn forget() {
    drop(replace(None));
    keep(Kept::NOTHING);
}

fn keep(kept: Kept) {
    drop(ManuallyDrop::into_inner(
        KEPT.here(|shown| shown.replace(ManuallyDrop::new(kept))),
    ));
}

impl View {
    fn try_new(failure: Failure) -> Result<Self, NoMemory> {
        let mut errors = Row::new();
        let mut next = Some(&failure);
        while let Some(failure) = next {
            errors.try_reserve(1)?;
            errors.push(translate(failure));
            next = failure.cause();
        }
        let mut cause = null();
        for error in errors.iter_mut().rev() {
            error.cause = cause;
            cause = error;
        }
        Ok(Self { errors, failure })
    }
}

/// An error of which only the status is known.
const fn bare(status: lazy_status) -> lazy_error {
    let unknown = lazy_site {
        file: null(),
        line: 0,
        function: null(),
    };
    lazy_error {
        size: size_of::<lazy_error>(),
        status,
        code: 0,
        message: error::status_text(status).as_ptr(),
        once: null(),
        site: unknown,
        init_site: unknown,
        thread: 0,
        owner_thread: 0,
        elapsed_ns: 0,
        ticket: 0,
        attempt: 0,
        cause: null(),
    }
}

fn translate(failure: &Failure) -> lazy_error {
    let mut error = bare(failure.status());
    if let Failure::Recorded(record) = failure {
        let facts = &record.facts;
        error.code = facts.code;
        error.message = record.message.as_ptr();
        error.once = if record.once.is_empty() {
            null()
        } else {
            record.once.as_ptr()
        };
        error.site = site(&facts.site);
        error.init_site = site(&facts.init_site);
        error.thread = record.thread;
        error.owner_thread = facts.owner_thread;
        error.elapsed_ns = facts.elapsed_ns;
        error.ticket = facts.ticket;
        error.attempt = facts.attempt;
    }
    error
}

/// A once as C sees it, until this thread looks at another one.
pub(super) fn info(info: Info) -> lazy_info {
    let shown = lazy_info {
        size: 0,
        name: info.name(),
        phase: info.phase,
        attempts: info.attempts,
        generation: info.generation,
        waiters: info.waiters,
        queued: info.queued,
        owner_thread: info.owner,
        since_ns: info.since_ns,
        init_ns: info.init_ns,
        running: located(info.running),
        init_site: located(info.init()),
        init_pid: info.init_pid.into(),
    };
    thread::run_at_exit(crate::exit::thread_exit);
    keep(info.kept);
    shown
}

/// A place by the strings of the object that it lies in, which last as long as the object is loaded.
fn located(origin: Option<Origin>) -> lazy_site {
    let seen = origin.unwrap_or(Origin::Address(0)).locate();
    lazy_site {
        file: seen.file,
        line: seen.line,
        function: seen.function,
    }
}

fn site(place: &Place) -> lazy_site {
    let text = |part: &Option<_>| {
        part.as_ref()
            .map_or(null::<c_char>(), |text: &std::ffi::CString| text.as_ptr())
    };
    lazy_site {
        file: text(&place.file),
        line: place.line,
        function: text(&place.function),
    }
}
