//! From C arguments to the safe core and back: the checks and translations that several exported functions share.

use core::ffi::{CStr, c_char, c_int, c_void};

use super::view;
use crate::abi::{self, lazy_config, lazy_error, lazy_fn, lazy_once, lazy_status};
use crate::dump::To;
use crate::error::{self, Failure, Said};
use crate::fork;
pub(super) use crate::once::default;
use crate::once::{self, Ask, Config, Decision, Once, Progress, Start};
use crate::slot::Slot;
use crate::stay;
use crate::sys::callback::Callback;
use crate::sys::errno::preserved;
use crate::sys::site::Origin;
use crate::sys::sized::Foreign;
use crate::sys::text::{Lossy, text};
use crate::sys::{bracket, stack, thread};
use crate::trace;

/// A caller's once; `None` if it is NULL or has a layout that this library does not know.
///
/// # Safety
/// NULL, or a once that stays valid during the call.
#[inline(always)]
pub(super) unsafe fn once<'a>(pointer: *const lazy_once) -> Option<&'a Once> {
    // SAFETY: the caller's promise; a Once has the layout of a lazy_once and is never borrowed mutably.
    unsafe { pointer.cast::<Once>().as_ref() }.filter(|once| once.is_known())
}

/// A caller's callback; `None` for NULL.
///
/// # Safety
/// A function that fits `ctx`, or NULL.
#[inline(always)]
pub(super) unsafe fn callback(function: lazy_fn, ctx: *mut c_void) -> Option<Callback> {
    function.map(|function| Callback::new(function, ctx))
}

/// A bad argument.
#[cold]
pub(super) fn invalid(text: &str) -> lazy_status {
    if thread::is_inside() {
        return abi::LAZY_E_INVALID;
    }
    own(|| error::raise(Failure::invalid(text)))
}

/// Work of the library's own: a signal handler that interrupts it is refused, and the caller's `errno` survives.
pub(super) fn own<R>(work: impl FnOnce() -> R) -> R {
    preserved(|| thread::inside(work))
}

const NO_ONCE: &str = "the once is NULL, or its abi is one that this library does not know: memory that is no lazy_once, \
                       or a header newer than the library";

/// Every way into the library but those that find READY, or a value: what happened to this thread or process behind the
/// library's back is noticed here.
#[inline(always)]
pub(super) fn enter() {
    stack::enter();
    if thread::has_marks() || bracket::is_inside_any() || fork::is_new() || trace::is_news() {
        notice();
    }
}

#[cold]
fn notice() {
    preserved(|| {
        if thread::has_marks() {
            thread::cut_marks();
            stay::cut();
        }
        bracket::cut();
        fork::look();
        trace::look();
    });
}

/// The slow path, refused to a signal handler that interrupted the library on this thread: what it needs may be taken by the
/// code beneath it, which cannot go on before the handler has returned.
pub(super) fn slow(act: impl FnOnce() -> Result<lazy_status, Failure>) -> lazy_status {
    let act = || {
        enter();
        act().unwrap_or_else(error::raise)
    };
    preserved(|| thread::enter(act)).unwrap_or(abi::LAZY_E_DEADLOCK)
}

#[cold]
pub(super) fn init(once: Option<&Once>, start: &Start) -> lazy_status {
    slow(|| {
        let once = given(once)?;
        once.check_frames()?;
        once::init(once, start).map(|progress| match progress {
            Progress::Done => abi::LAZY_OK,
            Progress::InProgress => abi::LAZY_IN_PROGRESS,
        })
    })
}

/// An initialization with the configured initializer and limit.
pub(super) fn plain(origin: Origin) -> Start {
    Start {
        instead: None,
        origin,
        limit_ns: None,
    }
}

/// Initializing a once that was found READY.
#[inline(always)]
pub(super) fn init_ready(once: &Once) -> lazy_status {
    once.tell_ready();
    abi::LAZY_OK
}

/// The once, if this copy of the library may touch what it owns.
pub(super) fn owned(once: Option<&Once>) -> Result<&Once, Failure> {
    let once = given(once)?;
    once.check_copy()?;
    Ok(once)
}

/// The once, or why there is none.
pub(super) fn given(once: Option<&Once>) -> Result<&Once, Failure> {
    once.ok_or_else(|| Failure::invalid(NO_ONCE))
}

/// A callback on a once that was found READY: no lock, no allocation, no thread-local storage unless it fails. What it saves over
/// the callback is not to be saved where it is queued.
#[inline(never)]
pub(super) fn call_ready(once: &Once, callback: Callback, caller: usize) -> lazy_status {
    once.tell_ready();
    match callback.run() {
        0 => abi::LAZY_OK,
        code => callback_failed(once, code, Origin::Address(caller)),
    }
}

#[cold]
pub(super) fn callback_failed(once: &Once, code: i32, origin: Origin) -> lazy_status {
    if thread::is_inside() {
        return abi::LAZY_E_CALLBACK;
    }
    own(|| error::raise(once::ready_failed(once, code, origin)))
}

/// The rest of `lazy_call`.
#[cold]
pub(super) fn call(once: Option<&Once>, callback: Option<Callback>, caller: usize) -> lazy_status {
    let queue = || {
        enter();
        let in_room = |once: &Once, callback| once.queue_in_room(callback, caller);
        once.zip(callback)
            .is_some_and(|(once, callback)| in_room(once, callback))
    };
    match thread::enter(queue) {
        Some(true) => abi::LAZY_QUEUED,
        Some(false) => decide(once, callback, caller),
        None => abi::LAZY_E_DEADLOCK,
    }
}

/// Decides, then runs with nothing held. Only the callback itself may change `errno`.
#[inline(never)]
fn decide(once: Option<&Once>, callback: Option<Callback>, caller: usize) -> lazy_status {
    let decide = || {
        let once = given(once)?;
        once.check_frames()?;
        let callback = callback.ok_or_else(|| Failure::invalid("the callback is NULL"))?;
        let decision = once::call(once, &Ask::Plain(callback, caller))?;
        Ok((once, callback, decision))
    };
    let decided = preserved(|| thread::enter(|| decide().map_err(error::raise)));
    match decided.unwrap_or(Err(abi::LAZY_E_DEADLOCK)) {
        Ok((.., (Decision::Queued(_), _))) => abi::LAZY_QUEUED,
        Ok((once, callback, (Decision::RunAfterWait | Decision::RunReentrant, _))) => {
            once::run(once, callback, Origin::Address(caller))
                .map_or_else(|failure| own(|| error::raise(failure)), |()| abi::LAZY_OK)
        }
        Err(status) => status,
    }
}

/// Is this thread inside the attempt? A signal handler that interrupted the library cannot know.
pub(super) fn is_initializing(once: &Once) -> bool {
    if thread::is_inside() {
        return false;
    }
    own(enter);
    once.is_mine()
}

pub(super) fn configure(
    once: Option<&Once>,
    config: Foreign<lazy_config>,
    caller: usize,
) -> lazy_status {
    slow(|| {
        let once = owned(once)?;
        match Config::copy(config)? {
            Some(config) => once.configure(config, Origin::Address(caller))?,
            None => once.withdraw_config(),
        }
        Ok(abi::LAZY_OK)
    })
}

/// What is kept of a callback's text, in bytes.
const LONGEST_TEXT: usize = 1024;

/// # Safety
/// `message` is NULL or a C string.
pub(super) unsafe fn fail(status: lazy_status, code: i32, message: *const c_char) -> i32 {
    let status = if status < 0 { status } else { abi::LAZY_E_INIT };
    let code = if code == 0 { -1 } else { code };
    if !thread::is_inside() && !message.is_null() {
        own(|| {
            // SAFETY: the caller's promise.
            let bytes = unsafe { CStr::from_ptr(message) }.to_bytes();
            let text = text!("{}", Lossy(&bytes[..bytes.len().min(LONGEST_TEXT)]));
            error::say(Said {
                status,
                code,
                shown: code,
                text,
            });
        });
    }
    code
}

/// The one function besides those of a READY once that a signal handler may call anywhere: it needs no memory. But for the locks that its
/// thread may have been interrupted in.
pub(super) fn dump(fd: c_int) -> lazy_status {
    if thread::holds_any() {
        return abi::LAZY_E_DEADLOCK;
    }
    let is_interrupted = thread::is_inside();
    preserved(|| {
        fork::look();
        match crate::dump::dump(To::Waiting(fd)) {
            Ok(()) => abi::LAZY_OK,
            Err(_) if is_interrupted => abi::LAZY_E_INVALID,
            Err(problem) => own(|| {
                error::raise(Failure::invalid(text!(
                    "cannot write to descriptor {fd}: {problem}"
                )))
            }),
        }
    })
}

/// A signal handler that interrupted the library finds none.
pub(super) fn last_error() -> *const lazy_error {
    if thread::is_inside() {
        return core::ptr::null();
    }
    own(view::last_error)
}

/// Is there a value? A signal handler that interrupted the library cannot know.
pub(super) fn has(slot: &Slot, index: u32) -> bool {
    !thread::is_inside() && slot.has(index)
}
