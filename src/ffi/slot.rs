//! Chapter 7 of the header: slots, state that every thread or every device has.

use core::cell::Cell;
use core::ffi::{CStr, c_char, c_void};

use super::{entry, origin, with_return_address};
use crate::abi::{self, lazy_site, lazy_slot, lazy_slot_config, lazy_status};
use crate::error::Failure;
use crate::slot::{self, Config, Retired, Slot};
use crate::sys::errno;
use crate::sys::site::Origin;
use crate::sys::sized::Foreign;

/// Says how the values of `slot` are made and ended; before its first value.
///
/// - `slot`: the slot to configure.
/// - `config`: copied, and the name in it too; what its other pointers lead to must stay valid until `lazy_slot_retire`. A slot
///   from `lazy_slot_named` keeps its own name.
///
/// `LAZY_SLOT_INIT(&config)` binds a constant configuration without a call.
///
/// **Returns**
/// - `LAZY_OK`: configured; also if the slot already has an equal configuration.
/// - `LAZY_E_TOO_LATE`: the slot has a value, or is a named one that somebody else has configured in another way. Nothing has
///   changed.
/// - `LAZY_E_CLOSED`: the slot is retired. `LAZY_E_FORKED`: as `lazy_slot_get`.
/// - `LAZY_E_INVALID`: an argument is NULL, or `config` has an unknown scope or policy, a `size` that does not cover `name`,
///   or non-zero bytes beyond what this library knows.
/// - `LAZY_E_NOMEM`: no memory for the copy. Nothing has changed.
///
/// **Threads** Any, at any time, but not in a signal handler.
///
/// **Blocking** Never.
///
/// **Unwinding and fork** Runs no callback, never unwinds. A forked child keeps the configuration.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_slot_configure(
    slot: *mut lazy_slot,
    config: *const lazy_slot_config,
) -> lazy_status {
    // SAFETY: the C caller passes a slot or NULL.
    let slot = unsafe { given(slot) };
    // SAFETY: the C caller passes a configuration or NULL.
    let config = unsafe { Foreign::new(config) };
    entry::slow(|| {
        let config = Config::copy(config)?;
        let config = config.ok_or_else(|| Failure::invalid("the configuration is NULL"))?;
        slot.ok_or_else(no_slot)?.configure(config)?;
        Ok(abi::LAZY_OK)
    })
}

/// Gives this thread's value at `index`, or the process's, and makes it now if there is none: on any thread, however it was
/// started.
///
/// The look goes: the innermost entered snapshot that has a value there; this thread's own (`LAZY_SLOT_THREAD`), or the process's
/// (`LAZY_SLOT_PROCESS`); the factory. Of a process's value one is made for each index, by whoever comes first; the others
/// wait for it, and share its failure. Different indices are made in parallel. A value found costs no lock, however many slots
/// there are.
///
/// - `slot`: the slot.
/// - `index`: any number, such as a device ordinal; 0 if there is one value.
/// - `value`: where to store it. Not touched if the call fails. Valid until its thread ends, another is stored in its place, the
///   snapshot that it is from is freed, or the slot is retired. The end of the process ends no values: neither the process's nor those
///   of the main thread, unless that calls `pthread_exit`. What destructors make at a thread's end is ended too, in a few rounds.
///
/// **Returns**
/// - `LAZY_OK`: stored.
/// - `LAZY_E_CALLBACK`: the factory failed, here or in the thread that this call waited for; the error's `code` is what it
///   returned. Nothing is kept; the next call tries again.
/// - `LAZY_E_NOT_FOUND`: no value and no factory.
/// - `LAZY_E_DEADLOCK`: this is the factory that makes that very value, or waiting would never end; the message names the circle.
/// - `LAZY_E_CLOSED`: the slot is retired.
/// - `LAZY_E_FORKED`: this is a forked child, and the slot's values do not survive that (`LAZY_FORK_POISON`).
/// - `LAZY_E_HOST`, `LAZY_E_INTERRUPTED`: the host refused this thread, or gave up its wait.
/// - `LAZY_E_NOMEM`: no memory for what the library keeps of the value. The factory has not run.
/// - `LAZY_E_INVALID`: `slot` or `value` is NULL, or `slot` is not a slot that this library knows.
///
/// **Threads** Any, at any time, also in destructors at thread exit; not in a signal handler.
///
/// **Blocking** For the factory, on this thread or, with `LAZY_SLOT_PROCESS`, on another; asleep in the kernel, and without
/// any host that this thread is inside of.
///
/// **Unwinding and fork** A C++ exception out of the factory comes out of this call, and whoever waited for it gets
/// `LAZY_E_CALLBACK`. What a child finds is the configuration's `on_fork`. A value that another thread was making at the fork
/// is made anew.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_slot_get(
    slot: *mut lazy_slot,
    index: u32,
    value: *mut *mut c_void,
) -> lazy_status {
    // SAFETY: the C caller passes a slot or NULL, and a place to write to or NULL.
    let (known, place) = unsafe { (given(slot), value.as_mut()) };
    match (known.and_then(|slot| slot.find(index)), place) {
        (Some(found), Some(place)) => {
            *place = found;
            abi::LAZY_OK
        }
        // SAFETY: what the caller passed.
        _ => unsafe { get_rest(slot, index, value) },
    }
}

/// The rest of that. A jump to it leaves the caller's return address in place, which costs a value that is found nothing; where a compiler
/// makes it a call, the place that it finds is `lazy_slot_get`.
#[cold]
#[unsafe(naked)]
unsafe extern "C-unwind" fn get_rest(
    slot: *const lazy_slot,
    index: u32,
    value: *mut *mut c_void,
) -> lazy_status {
    with_return_address!(get_body, "rcx", "x3")
}

unsafe extern "C-unwind" fn get_body(
    slot: *const lazy_slot,
    index: u32,
    value: *mut *mut c_void,
    caller: usize,
) -> lazy_status {
    // SAFETY: as in `lazy_slot_get`.
    unsafe { get(slot, index, value, Origin::Address(caller)) }
}

/// `lazy_slot_get` with the place in the source: for bindings, whose own call is not what people look for.
///
/// - `slot`, `index`, `value`: as for `lazy_slot_get`.
/// - `site`: the place, as `LAZY_HERE` makes it, for the trace, the dump and the warnings; its strings are read during the call only. NULL
///   for none.
///
/// **Returns** as `lazy_slot_get`.
///
/// **Threads**, **Blocking**, **Unwinding and fork** as `lazy_slot_get`.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_slot_get_slow(
    slot: *mut lazy_slot,
    index: u32,
    value: *mut *mut c_void,
    site: *const lazy_site,
) -> lazy_status {
    with_return_address!(get_slow_body, "r8", "x4")
}

unsafe extern "C-unwind" fn get_slow_body(
    slot: *const lazy_slot,
    index: u32,
    value: *mut *mut c_void,
    site: *const lazy_site,
    caller: usize,
) -> lazy_status {
    // SAFETY: as in `lazy_slot_get`, and the C caller passes a site or NULL.
    unsafe { get(slot, index, value, origin(site, caller)) }
}

/// # Safety
/// As `lazy_slot_get`; what the origin points to is there during the call.
unsafe fn get(
    slot: *const lazy_slot,
    index: u32,
    value: *mut *mut c_void,
    origin: Origin,
) -> lazy_status {
    // SAFETY: the caller's promise.
    let (slot, place) = unsafe { (given(slot), value.as_mut()) };
    let errno = Cell::new(None);
    let status = entry::slow(|| {
        let place = place.ok_or_else(|| Failure::invalid("the place for the value is NULL"))?;
        *place = slot.ok_or_else(no_slot)?.get(index, origin, &errno)?;
        Ok(abi::LAZY_OK)
    });
    if let Some(number) = errno.get() {
        errno::set(number);
    }
    status
}

/// Stores a value: in the innermost entered snapshot that has one there, else for this thread, or for the process.
///
/// The value is the slot's from then on: `destroy` is called for it. So it is for the one that it replaces: a thread's own
/// is ended at once; one of the process or of a snapshot, which other threads may be using, by `lazy_slot_retire` or
/// `lazy_thread_state_free`. Storing the same pointer again changes nothing.
///
/// - `slot`: the slot.
/// - `index`: any number.
/// - `value`: any pointer; NULL is a value like another.
///
/// **Returns** `LAZY_OK`; `LAZY_E_DEADLOCK` from inside the factory of that very value; otherwise as `lazy_slot_get`. The
/// value was taken if the status is `LAZY_OK`, and not otherwise.
///
/// **Threads** Any, at any time, but not in a signal handler.
///
/// **Blocking** For another thread's factory that makes the process's value there. For `destroy` of the replaced value.
///
/// **Unwinding and fork** As `lazy_slot_get`.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_slot_set(
    slot: *mut lazy_slot,
    index: u32,
    value: *mut c_void,
) -> lazy_status {
    with_return_address!(set_body, "rcx", "x3")
}

unsafe extern "C-unwind" fn set_body(
    slot: *mut lazy_slot,
    index: u32,
    value: *mut c_void,
    caller: usize,
) -> lazy_status {
    // SAFETY: the C caller passes a slot or NULL.
    let slot = unsafe { given(slot) };
    entry::slow(|| {
        slot.ok_or_else(no_slot)?
            .set(index, value, Origin::Address(caller))?;
        Ok(abi::LAZY_OK)
    })
}

/// Tells whether `lazy_slot_get` would find a value without making one.
///
/// - `slot`: the slot.
/// - `index`: any number.
///
/// **Returns** true or false; false for NULL, for a retired slot, and while the value is being made.
///
/// **Threads** Any, at any time, but not in a signal handler.
///
/// **Blocking** Never.
///
/// **Unwinding and fork** Never unwinds. In a forked child as `lazy_slot_get`.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_slot_has(slot: *const lazy_slot, index: u32) -> bool {
    // SAFETY: the C caller passes a slot or NULL.
    unsafe { given(slot) }.is_some_and(|slot| entry::has(slot, index))
}

/// Ends every value of `slot`, whoever holds it, on this thread, and makes sure that none of its callbacks runs or will ever run:
/// before `dlclose` of the code that they are in, or the end of the slot's storage.
///
/// Call it from a function of what is to be unloaded, and unload nothing unless it returned `LAZY_OK`. From an ELF destructor, which
/// holds the loader's lock, only if no running callback may load a library.
///
/// It waits for factories and destructors that run on other threads. It is final: nobody gets a value afterwards. No thread may
/// still be using one. The library keeps some fifty bytes of each slot that was used, and not its name.
///
/// - `slot`: the slot.
///
/// **Returns**
/// - `LAZY_OK`: retired, now or before.
/// - `LAZY_IN_PROGRESS`: this thread is inside one of the slot's callbacks. Nothing has changed.
/// - `LAZY_E_DEADLOCK`: a callback that it would have to wait for waits for this thread. The slot is closed, but must not be
///   unloaded; call again when the circle is broken.
/// - `LAZY_E_HOST`: the slot's host refuses this thread. Nothing has changed.
/// - `LAZY_E_NOMEM`: no memory to note it.
/// - `LAZY_E_INVALID`: `slot` is NULL, or not a slot that this library knows.
///
/// **Threads** Any, but not in a signal handler.
///
/// **Blocking** For running callbacks of the slot, without a limit, and without any host that this thread is inside of.
///
/// **Unwinding and fork** An exception out of `destroy` comes out of this call; call again for the rest. In a forked child it
/// ends what the child has.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_slot_retire(slot: *mut lazy_slot) -> lazy_status {
    with_return_address!(retire_body, "rsi", "x1")
}

unsafe extern "C-unwind" fn retire_body(slot: *mut lazy_slot, caller: usize) -> lazy_status {
    // SAFETY: the C caller passes a slot or NULL.
    let slot = unsafe { given(slot) };
    entry::slow(|| {
        Ok(
            match slot.ok_or_else(no_slot)?.retire(Origin::Address(caller))? {
                Retired::Done => abi::LAZY_OK,
                Retired::Inside => abi::LAZY_IN_PROGRESS,
            },
        )
    })
}

/// The slot of that name, the same one for the same name in this process: for dynamic languages, which have no memory to put one
/// in, and for libraries that share one.
///
/// Whoever configures it first decides. `lazy_slot_retire` ends it for all of them.
///
/// - `name`: compared byte by byte, and copied.
///
/// **Returns** the slot, valid for ever. NULL for a NULL name, or without memory; then `lazy_last_error` says which.
///
/// **Threads** Any, at any time, but not in a signal handler.
///
/// **Blocking** Never.
///
/// **Unwinding and fork** Never unwinds. A forked child has the same slots.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_slot_named(name: *const c_char) -> *mut lazy_slot {
    let mut slot = core::ptr::null();
    entry::slow(|| {
        if name.is_null() {
            return Err(Failure::invalid("the name of a slot is NULL"));
        }
        // SAFETY: the C caller passes a C string or NULL.
        slot = core::ptr::from_ref(slot::named(unsafe { CStr::from_ptr(name) })?);
        Ok(abi::LAZY_OK)
    });
    slot.cast_mut().cast()
}

/// A caller's slot; `None` if it is NULL or has a layout that this library does not know.
///
/// # Safety
/// NULL, or a slot that stays valid during the call.
#[inline(always)]
unsafe fn given<'a>(pointer: *const lazy_slot) -> Option<&'a Slot> {
    // SAFETY: the caller's promise; a Slot has the layout of a lazy_slot and is never borrowed mutably.
    unsafe { pointer.cast::<Slot>().as_ref() }.filter(|slot| slot.is_known())
}

#[cold]
fn no_slot() -> Failure {
    Failure::invalid(
        "the slot is NULL, or its abi or flags are ones that this library does not know: memory that is no lazy_slot, or a header \
         newer than the library",
    )
}
