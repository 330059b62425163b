//! The C view of a thread's last error: structs with pointers into the record, which they keep alive.

use core::cell::Cell;
use core::ffi::c_char;
use core::mem::ManuallyDrop;
use core::ptr::null;

use crate::abi::{lazy_error, lazy_site};
use crate::error::{self, Failure};
use crate::sys::site::Place;

/// The error and its causes, each pointing to the next.
struct View {
    errors: Vec<lazy_error>,
    failure: Failure,
}

thread_local! {
    /// Without a destructor: [`forget`] frees it when the thread ends.
    static VIEW: Cell<ManuallyDrop<Option<Box<View>>>> = const { Cell::new(ManuallyDrop::new(None)) };
}

fn replace(view: Option<Box<View>>) -> Option<Box<View>> {
    ManuallyDrop::into_inner(VIEW.replace(ManuallyDrop::new(view)))
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
            Box::new(View::new(failure))
        }
    };
    let first = view.errors.as_ptr();
    replace(Some(view));
    first
}

/// The end of this thread.
pub(crate) fn forget() {
    drop(replace(None));
}

impl View {
    fn new(failure: Failure) -> Self {
        let mut errors = Vec::new();
        let mut next = Some(&failure);
        while let Some(failure) = next {
            errors.push(translate(failure));
            next = failure.cause();
        }
        for index in (1..errors.len()).rev() {
            errors[index - 1].cause = &raw const errors[index];
        }
        Self { errors, failure }
    }
}

fn translate(failure: &Failure) -> lazy_error {
    let unknown = lazy_site {
        file: null(),
        line: 0,
        function: null(),
    };
    let mut error = lazy_error {
        size: size_of::<lazy_error>(),
        status: failure.status(),
        code: 0,
        message: error::status_text(failure.status()).as_ptr(),
        once: null(),
        site: unknown,
        init_site: unknown,
        thread: 0,
        owner_thread: 0,
        elapsed_ns: 0,
        ticket: 0,
        attempt: 0,
        cause: null(),
    };
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
