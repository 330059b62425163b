//! CPython as a host, by the functions that the running process exports. Only the stable interface.

use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::mem::ManuallyDrop;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::abi::lazy_host;
use crate::sys::loader::symbol;
use crate::sys::local::Local;
use crate::sys::memory::try_box;
use crate::sys::noexcept::noexcept;

type Body = unsafe extern "C-unwind" fn(arg: *mut c_void);

/// The interpreter's functions. Each may end this thread where the interpreter is finalising, by unwinding it.
struct Python {
    is_initialized: unsafe extern "C-unwind" fn() -> c_int,
    ensure: unsafe extern "C-unwind" fn() -> c_int,
    release: unsafe extern "C-unwind" fn(c_int),
    save: unsafe extern "C-unwind" fn() -> *mut c_void,
    restore: unsafe extern "C-unwind" fn(*mut c_void),
    check_signals: unsafe extern "C-unwind" fn() -> c_int,
    /// Not in every version.
    is_finalizing: Option<unsafe extern "C-unwind" fn() -> c_int>,
    host: lazy_host,
}

// SAFETY: functions, and a table that is never written to.
unsafe impl Sync for Python {}
// SAFETY: as above.
unsafe impl Send for Python {}

/// Made by whoever asks first and never freed. Release and Acquire: the table behind the pointer.
static PYTHON: AtomicPtr<Python> = AtomicPtr::new(null_mut());

/// What PyGILState_Ensure answers to a thread that holds the GIL already.
const LOCKED: c_int = 0;

thread_local! {
    /// Did this thread hold the GIL whenever it entered a `run_attached` that it is inside of? Only then may a signal's exception
    /// be left with it.
    static HELD_ON_ENTRY: Cell<bool> = const { Cell::new(true) };
}

pub(super) fn host() -> *const lazy_host {
    python().map_or(null(), |python| &raw const python.host)
}

fn python() -> Option<&'static Python> {
    // SAFETY: NULL, or made below and never freed.
    if let Some(python) = unsafe { PYTHON.load(Ordering::Acquire).as_ref() } {
        return Some(python);
    }
    let fresh = Box::into_raw(try_box(find()?).ok()?);
    match PYTHON.compare_exchange(null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: ours until now, and never freed.
        Ok(_) => Some(unsafe { &*fresh }),
        Err(other) => {
            // SAFETY: ours, and nobody has seen it; the other one is never freed.
            unsafe {
                drop(Box::from_raw(fresh));
                Some(&*other)
            }
        }
    }
}

fn find() -> Option<Python> {
    // SAFETY: the functions have had these types since 3.2 (Py_IsFinalizing since 3.13, the other since 3.7).
    unsafe {
        Some(Python {
            is_initialized: symbol(libc::RTLD_DEFAULT, c"Py_IsInitialized")?,
            ensure: symbol(libc::RTLD_DEFAULT, c"PyGILState_Ensure")?,
            release: symbol(libc::RTLD_DEFAULT, c"PyGILState_Release")?,
            save: symbol(libc::RTLD_DEFAULT, c"PyEval_SaveThread")?,
            restore: symbol(libc::RTLD_DEFAULT, c"PyEval_RestoreThread")?,
            check_signals: symbol(libc::RTLD_DEFAULT, c"PyErr_CheckSignals")?,
            is_finalizing: symbol(libc::RTLD_DEFAULT, c"Py_IsFinalizing")
                .or_else(|| symbol(libc::RTLD_DEFAULT, c"_Py_IsFinalizing")),
            host: lazy_host {
                size: size_of::<lazy_host>(),
                name: c"python".as_ptr(),
                // What tells that `lazyonce/python.h` speaks of the same interpreter.
                ctx: symbol(libc::RTLD_DEFAULT, c"PyGILState_Ensure")?,
                run_attached: Some(run_attached),
                wait_detached: Some(wait_detached),
            },
        })
    }
}

impl Python {
    /// Touching it now could end this thread, or crash.
    fn is_over(&self) -> bool {
        // SAFETY: both may be called at any time, from any thread.
        unsafe {
            (self.is_initialized)() == 0
                || self
                    .is_finalizing
                    .is_some_and(|is_finalizing| is_finalizing() != 0)
        }
    }
}

/// The GIL, held; let go when this ends, also by unwinding, unless the interpreter is going away.
struct Held {
    python: &'static Python,
    state: c_int,
    outer: bool,
}

impl Held {
    fn let_go(&self) {
        HELD_ON_ENTRY.here(|held| held.set(self.outer));
        if !self.python.is_over() {
            // SAFETY: the state of the `ensure` that this thread made last.
            unsafe { (self.python.release)(self.state) };
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        noexcept(|| self.let_go());
    }
}

unsafe extern "C-unwind" fn run_attached(
    _ctx: *mut c_void,
    body: Option<Body>,
    arg: *mut c_void,
) -> i32 {
    let (Some(python), Some(body)) = (python(), body) else {
        return 1;
    };
    if python.is_over() {
        return 1;
    }
    // SAFETY: the interpreter is there; if it goes away at this moment this thread ends here, owning nothing.
    let state = unsafe { (python.ensure)() };
    let outer = HELD_ON_ENTRY.here(Cell::get);
    let held = Held {
        python,
        state,
        outer,
    };
    HELD_ON_ENTRY.here(|held| held.set(outer && state == LOCKED));
    // SAFETY: the library's own, with its argument.
    unsafe { body(arg) };
    // The interpreter may end this thread here, too.
    ManuallyDrop::new(held).let_go();
    0
}

/// The GIL, let go; taken back when this ends, also by unwinding, unless the interpreter is going away.
struct LetGo {
    python: &'static Python,
    thread: *mut c_void,
}

impl Drop for LetGo {
    fn drop(&mut self) {
        noexcept(|| {
            if !self.python.is_over() {
                // SAFETY: the state that `save` gave, on the same thread.
                unsafe { (self.python.restore)(self.thread) };
            }
        });
    }
}

unsafe extern "C-unwind" fn wait_detached(
    _ctx: *mut c_void,
    park: Option<Body>,
    _interrupt: Option<Body>,
    arg: *mut c_void,
) -> i32 {
    let (Some(python), Some(park)) = (python(), park) else {
        return 1;
    };
    let let_go = LetGo {
        python,
        // SAFETY: called only inside `run_attached`, so this thread holds the GIL.
        thread: unsafe { (python.save)() },
    };
    // SAFETY: the library's own, with its argument.
    unsafe { park(arg) };
    // On the way back the interpreter may end this thread, which must not come here again.
    let thread = let_go.thread;
    core::mem::forget(let_go);
    // SAFETY: the state that `save` gave, on the same thread.
    unsafe { (python.restore)(thread) };
    // SAFETY: this thread holds the GIL.
    (HELD_ON_ENTRY.here(Cell::get) && unsafe { (python.check_signals)() } < 0).into()
}
