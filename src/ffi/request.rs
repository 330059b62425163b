//! Chapter 3 of the header: requests with everything that can be said about them.

use core::ffi::c_void;

use super::entry::own;
use super::{entry, origin, with_return_address};
use crate::abi::{self, lazy_once, lazy_receipt, lazy_request, lazy_site, lazy_status};
use crate::error::{self, Failure};
use crate::once::{self, Ask, Cancelled, Decision, Details, Once, Replaced};
use crate::sys::callback::Callback;
use crate::sys::errno::preserved;
use crate::sys::site::Origin;
use crate::sys::sized::{Foreign, Target};
use crate::sys::text::text;
use crate::sys::thread;

/// `lazy_once_call` for a request with a place, a key, a phase, an owner, and something that releases its context.
///
/// When it runs, and on which thread, is said at `lazy_call`. Queued requests run in rising phases, first in, first out within
/// one; plain `lazy_call`s are of phase 0. `LAZY_CALL(once, fn, ctx)` is the short form that records the line.
///
/// - `once`: the once.
/// - `request`: read during the call only. Begin with `LAZY_REQUEST_INIT` and fill in what is needed.
/// - `receipt`: filled whenever the request ran or was queued, also with `LAZY_E_CALLBACK`; only `size` bytes of it. May be
///   NULL.
///
/// **Returns**
/// - `LAZY_OK`: `fn` has run and returned 0, and `drop` has run.
/// - `LAZY_QUEUED`: it will run later; the receipt's `ticket` cancels it.
/// - `LAZY_E_CALLBACK`: `fn` ran at once and returned non-zero, which is the error's `code`; `drop` has run.
/// - `LAZY_E_NOT_NOW`: it has `LAZY_REQUEST_NO_WAIT`, another thread is initializing, and that attempt takes no more.
/// - `LAZY_E_INVALID`: `once`, `request` or `fn` is NULL; unknown flags; a `size` that does not cover `fn` (of the receipt:
///   `ticket`), or non-zero bytes beyond what this library knows.
/// - `LAZY_E_HOST`: also if it has `LAZY_REQUEST_HOLD_HOST` and the host refused this thread.
/// - `LAZY_E_NOMEM`, `LAZY_E_DEADLOCK`, `LAZY_E_TIMEOUT`, `LAZY_E_HOST`, `LAZY_E_INTERRUPTED`, `LAZY_E_INIT`,
///   `LAZY_E_DEFERRED`, `LAZY_E_FORKED`, `LAZY_E_CLOSED`: as for `lazy_once_call`.
///
/// With a negative status other than `LAZY_E_CALLBACK` the request was not taken: neither `fn` nor `drop` is ever called.
///
/// **Threads** Any, at any time; not in a signal handler.
///
/// **Blocking** Only while another thread initializes, and not with `LAZY_REQUEST_NO_WAIT`. On an initialized once it takes no
/// lock and allocates nothing.
///
/// **Unwinding and fork** As `lazy_once_call`. `drop` also runs when `fn` is left by an exception, and must not throw then.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_once_submit(
    once: *mut lazy_once,
    request: *const lazy_request,
    receipt: *mut lazy_receipt,
) -> lazy_status {
    with_return_address!(submit_body, "rcx", "x3")
}

/// Withdraws a queued request, or waits until it is gone.
///
/// When it has returned, from outside the request, nothing of the request will ever run: neither `fn` nor `drop` nor
/// `describe`. That is what a plugin needs before it is unloaded; `lazy_once_cancel_owner` does it for all of its requests.
/// Requests that run at once, or wait inside `lazy_once_submit` to be run there, are their submitter's to account for.
///
/// - `once`: the once it was submitted to.
/// - `ticket`: of the receipt; or of the error of a queued callback that failed and stays queued.
///
/// **Returns**
/// - `LAZY_OK`: it was queued, will never run, and its `drop` has run, on this thread.
/// - `LAZY_IN_PROGRESS`: this thread is inside it, or inside its `drop` or `describe`, or holds the permit of the attempt that
///   runs it. Nothing was waited for; if it fails it is not kept.
/// - `LAZY_E_NOT_FOUND`: there is no such request any more: it has run, or was running and is now gone.
/// - `LAZY_E_DEADLOCK`: it is running, and waiting for it would never end. It is not kept if it fails.
/// - `LAZY_E_INVALID`: `once` is NULL or not a once that this library knows.
/// - `LAZY_E_NOMEM`: no memory to find out whether waiting would ever end.
///
/// **Threads** Any, at any time; not in a signal handler.
///
/// **Blocking** While the request is running; without a limit. With a host, its lock is let go meanwhile; where the host refuses,
/// or wants the wait given up, the wait goes on, and an interrupt stays pending.
///
/// **Unwinding and fork** An exception out of `drop`, or of a host's hook, comes out of this call. A forked child can cancel what it inherited.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_once_cancel(once: *mut lazy_once, ticket: u64) -> lazy_status {
    with_return_address!(cancel_body, "rdx", "x2")
}

unsafe extern "C-unwind" fn cancel_body(
    once: *mut lazy_once,
    ticket: u64,
    caller: usize,
) -> lazy_status {
    // SAFETY: the C caller passes a once or NULL.
    let once = unsafe { entry::once(once) };
    entry::slow(|| {
        entry::owned(once)?
            .cancel(ticket, Origin::Address(caller))
            .map(|cancelled| match cancelled {
                Cancelled::Withdrawn => abi::LAZY_OK,
                Cancelled::Inside => abi::LAZY_IN_PROGRESS,
            })
    })
}

/// Withdraws everything that an owner has submitted, and waits until what is running of it is gone: before a plugin is
/// unloaded.
///
/// - `once`: the once.
/// - `owner`: the address in `lazy_request.owner`; not NULL.
///
/// **Returns** how many requests were withdrawn before they ran. `SIZE_MAX`: the owner must not be unloaded, because waiting would
/// never end (`LAZY_E_DEADLOCK`), there is no memory to find that out (`LAZY_E_NOMEM`), or `once` belongs to another copy of the
/// library (`LAZY_E_INVALID`). 0 with the error `LAZY_E_INVALID` if an argument is NULL, or `once` is none that the library knows.
///
/// **Threads** Any, at any time; not in a signal handler. From inside one of these requests, or its `drop` or `describe`, it
/// does not wait for that one.
///
/// **Blocking** While one of them is running; without a limit, and with a host as `lazy_once_cancel` does.
///
/// **Unwinding and fork** An exception out of a `drop` comes out of this call, and what had not been withdrawn yet stays.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_once_cancel_owner(
    once: *mut lazy_once,
    owner: *const c_void,
) -> usize {
    with_return_address!(cancel_owner_body, "rdx", "x2")
}

unsafe extern "C-unwind" fn cancel_owner_body(
    once: *mut lazy_once,
    owner: *const c_void,
    caller: usize,
) -> usize {
    // SAFETY: as in `lazy_once_cancel_owner`.
    unsafe { cancel_owner(once, owner, Origin::Address(caller)) }
}

/// `lazy_once_cancel_owner` with the place in the source: for bindings, whose own call is not what people look for.
///
/// - `once`, `owner`: as for `lazy_once_cancel_owner`.
/// - `site`: the place, as `LAZY_HERE` makes it, for the trace, the dump and the warnings; read during the call only. NULL for none.
///
/// **Returns**, **Threads**, **Blocking**, **Unwinding and fork** as `lazy_once_cancel_owner`.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_once_cancel_owner_slow(
    once: *mut lazy_once,
    owner: *const c_void,
    site: *const lazy_site,
) -> usize {
    with_return_address!(cancel_owner_slow_body, "rcx", "x3")
}

unsafe extern "C-unwind" fn cancel_owner_slow_body(
    once: *mut lazy_once,
    owner: *const c_void,
    site: *const lazy_site,
    caller: usize,
) -> usize {
    // SAFETY: as in `lazy_once_cancel_owner`, and the C caller passes a site or NULL.
    unsafe { cancel_owner(once, owner, origin(site, caller)) }
}

/// # Safety
/// As `lazy_once_cancel_owner`; what the origin points to is there during the call.
unsafe fn cancel_owner(once: *mut lazy_once, owner: *const c_void, origin: Origin) -> usize {
    // SAFETY: the C caller passes a once or NULL.
    let Some(once) = (unsafe { entry::once(once) }).filter(|_| !owner.is_null()) else {
        entry::invalid(
            "the once or the owner is NULL, or the once's abi is one that this library does not know",
        );
        return 0;
    };
    // What another copy of the library owns may hold requests of this owner's: that is no "none".
    let mut withdrawn = usize::MAX;
    entry::slow(|| {
        let once = entry::owned(Some(once))?;
        withdrawn = once.cancel_owner(owner.addr(), origin)?;
        Ok(abi::LAZY_OK)
    });
    withdrawn
}

unsafe extern "C-unwind" fn submit_body(
    once: *mut lazy_once,
    request: *const lazy_request,
    receipt: *mut lazy_receipt,
    caller: usize,
) -> lazy_status {
    // SAFETY: the C caller passes a once, and structs of at least `size` bytes, or NULL.
    let (once, request, receipt) = unsafe {
        (
            entry::once(once),
            Foreign::new(request),
            Target::new(receipt),
        )
    };
    if thread::is_inside() {
        return abi::LAZY_E_DEADLOCK;
    }
    let checked = own(|| {
        let once = entry::given(once)?;
        if let Some(Err(malformed)) = receipt.check() {
            return Err(Failure::invalid(text!("lazy_receipt.size: {malformed}")));
        }
        let (details, no_wait) = checked_request(request, caller)?;
        Ok((once, details, no_wait))
    });
    match checked {
        Ok((once, details, _)) if once.is_ready() => {
            once.tell_ready();
            act(
                once,
                &details,
                true,
                (Decision::RunAfterWait, None),
                &receipt,
            )
        }
        Ok((once, details, no_wait)) => {
            thread::inside(|| submit(once, &details, no_wait, &receipt))
        }
        Err(failure) => own(|| error::raise(failure)),
    }
}

/// What was handed in, and whether it never waits.
fn checked_request(
    request: Foreign<lazy_request>,
    caller: usize,
) -> Result<(Details, bool), Failure> {
    let raw = match request.read() {
        None => return Err(Failure::invalid("the request is NULL")),
        Some(Err(malformed)) => {
            return Err(Failure::invalid(text!("lazy_request.size: {malformed}")));
        }
        Some(Ok(raw)) => raw,
    };
    let Some(function) = raw.r#fn else {
        return Err(Failure::invalid("lazy_request.fn is NULL"));
    };
    let known = abi::LAZY_REQUEST_NO_WAIT | abi::LAZY_REQUEST_HOLD_HOST;
    if raw.flags & !known != 0 {
        return Err(Failure::invalid(text!(
            "lazy_request.flags has unknown bits: {:#x}",
            raw.flags & !known
        )));
    }
    let details = Details {
        callback: Callback::new(function, raw.ctx),
        release: raw.drop,
        describe: raw.describe,
        owner: raw.owner.addr(),
        key: raw.key,
        phase: raw.phase,
        held: raw.flags & abi::LAZY_REQUEST_HOLD_HOST != 0,
        // SAFETY: a copy of the caller's site.
        origin: unsafe { origin(&raw.site, caller) },
    };
    Ok((details, raw.flags & abi::LAZY_REQUEST_NO_WAIT != 0))
}

fn submit(
    once: &Once,
    details: &Details,
    no_wait: bool,
    receipt: &Target<lazy_receipt>,
) -> lazy_status {
    let ask = Ask::Request {
        details: *details,
        no_wait,
    };
    let decide = || {
        entry::enter();
        once.check_frames()?;
        once::call(once, &ask)
    };
    match preserved(|| decide().map_err(error::raise)) {
        Ok(decided) => act(once, details, false, decided, receipt),
        Err(status) => status,
    }
}

/// What has been decided.
fn act(
    once: &Once,
    details: &Details,
    ready: bool,
    (decision, replaced): (Decision, Replaced),
    receipt: &Target<lazy_receipt>,
) -> lazy_status {
    let fill = |ticket, outcome| {
        receipt.fill(&lazy_receipt {
            size: 0,
            ticket,
            outcome,
        });
    };
    // What this one replaces is released last: an exception out of that finds this one queued or run, and the receipt filled.
    once.until_end_of_call(replaced, |end| {
        let outcome = match decision {
            Decision::Queued(ticket) => {
                fill(ticket, abi::LAZY_OUTCOME_QUEUED);
                return abi::LAZY_QUEUED;
            }
            Decision::RunReentrant => abi::LAZY_RAN_REENTRANT,
            Decision::RunAfterWait if ready => abi::LAZY_RAN_READY,
            Decision::RunAfterWait => abi::LAZY_RAN_AFTER_WAIT,
        };
        let run = || {
            if decision == Decision::RunReentrant {
                end.releases(once.superseded(details.key));
            }
            if ready {
                once::run_ready_request(once, details)
            } else {
                thread::outside(|| once::run_request(once, details))
            }
        };
        let (result, fault) = if details.held {
            match once.held(details.origin, run) {
                Ok(ran) => ran,
                // The host did not let it run: it was not taken.
                Err(failure) => return own(|| error::raise(failure)),
            }
        } else {
            (run(), None)
        };
        fill(0, outcome);
        own(|| {
            let status = result.map_or_else(error::raise, |()| abi::LAZY_OK);
            // The request's own status counts; what was wrong with the hooks is left for whoever looks.
            if let Some(fault) = fault {
                error::raise(fault);
            }
            status
        })
    })
}
