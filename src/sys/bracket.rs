//! The two hooks of a host: brackets that call back into the library, once, on the same thread. Also which hosts this thread
//! is inside of.

use crate::abi;
use crate::sys::local::Local;
use crate::sys::sized::Foreign;
use crate::sys::stack;
use crate::sys::thread::{self, Side};
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};

type Body = unsafe extern "C-unwind" fn(*mut c_void);
type RunAttached = unsafe extern "C-unwind" fn(*mut c_void, Option<Body>, *mut c_void) -> i32;
type WaitDetached =
    unsafe extern "C-unwind" fn(*mut c_void, Option<Body>, Option<Body>, *mut c_void) -> i32;

/// A host's table, as it stands at this moment.
#[derive(Clone, Copy)]
pub(crate) struct Bracket {
    /// Where the caller's table is.
    table: Foreign<abi::lazy_host>,
    pub(crate) name: *const c_char,
    context: *mut c_void,
    run_attached: RunAttached,
    wait_detached: Option<WaitDetached>,
}

/// What was wrong with a hook.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// It returned this without having called back: the host refuses.
    Refused(i32),
    /// It returned 0 without having called back.
    NeverCalled,
    /// It called back more than once; the second did nothing.
    CalledAgain,
    /// It called back and then returned this.
    FailedAfter(i32),
}

/// How a bracket came out: what the body returned, if it ran, and what was wrong.
pub(crate) struct Ran<R> {
    pub(crate) result: Option<R>,
    pub(crate) fault: Option<Fault>,
}

/// A call of a hook, which lives on this thread's stack for as long as that lasts.
struct Call<F, R> {
    /// The side that the hook was called from.
    side: Side,
    body: Cell<Option<F>>,
    result: Cell<Option<R>>,
    calls: Cell<u32>,
}

/// What `wait_detached` is given.
struct Park<'a> {
    sleep: &'a dyn Fn(),
    /// The only part that other threads touch.
    interrupt: &'a (dyn Fn() + Sync),
    calls: Cell<u32>,
}

thread_local! {
    /// The innermost host that this thread is inside of.
    static INSIDE: Cell<*const Inside> = const { Cell::new(std::ptr::null()) };
}

/// A host that this thread is inside of, on its stack.
struct Inside {
    bracket: Bracket,
    outer: *const Inside,
    /// Code of somebody else's has run in it, which may have let the host go, and need not have taken it back yet.
    is_shared: Cell<bool>,
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.here(|innermost| innermost.set(self.outer));
    }
}

impl Bracket {
    /// The table behind a pointer; `None` for NULL, the reason if it is none.
    pub(crate) fn read(table: Foreign<abi::lazy_host>) -> Option<Result<Self, &'static str>> {
        Some(match table.read()? {
            Err(_) => Err("its size is not one that this library knows"),
            Ok(raw) => match raw.run_attached {
                None => Err("its run_attached is NULL"),
                Some(run_attached) => Ok(Self {
                    table,
                    name: raw.name,
                    context: raw.ctx,
                    run_attached,
                    wait_detached: raw.wait_detached,
                }),
            },
        })
    }

    /// Is it the same host? By its table, or by its name and a context that both have: a header that is compiled into several
    /// objects has several tables.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let same_name = || match (self.name.is_null(), other.name.is_null()) {
            // SAFETY: the tables' authors keep their names valid.
            (false, false) => unsafe { CStr::from_ptr(self.name) == CStr::from_ptr(other.name) },
            (ours, theirs) => ours == theirs,
        };
        self.table.same(&other.table)
            || !self.context.is_null() && self.context == other.context && same_name()
    }

    /// Runs `body` with the host attached, which this thread is inside of meanwhile. Everything that user code may do in
    /// `body` passes through, unwinding included.
    pub(crate) fn run<R>(&self, body: impl FnOnce() -> R) -> Ran<R> {
        self.run_as_it_is(|| {
            let inside = Inside {
                bracket: *self,
                outer: INSIDE.here(Cell::get),
                is_shared: Cell::new(false),
            };
            INSIDE.here(|innermost| innermost.set(&raw const inside));
            body()
        })
    }

    /// The same without a note of it.
    fn run_as_it_is<R>(&self, body: impl FnOnce() -> R) -> Ran<R> {
        let call = Call {
            side: thread::side(),
            body: Cell::new(Some(body)),
            result: Cell::new(None),
            calls: Cell::new(0),
        };
        let (hook, argument) = entry(&call);
        // SAFETY: the host's author promised such a function; `argument` fits `hook` and lives until it has returned.
        let code =
            thread::outside(|| unsafe { (self.run_attached)(self.context, Some(hook), argument) });
        Ran {
            result: call.result.take(),
            fault: fault(call.calls.get(), code),
        }
    }
}

fn fault(calls: u32, code: i32) -> Option<Fault> {
    match (calls, code) {
        (0, 0) => Some(Fault::NeverCalled),
        (0, code) => Some(Fault::Refused(code)),
        (1, 0) => None,
        (1, code) => Some(Fault::FailedAfter(code)),
        _ => Some(Fault::CalledAgain),
    }
}

/// The function and the argument that run a call's body.
fn entry<F: FnOnce() -> R, R>(call: &Call<F, R>) -> (Body, *mut c_void) {
    unsafe extern "C-unwind" fn run<F: FnOnce() -> R, R>(argument: *mut c_void) {
        // SAFETY: made below, for this very function; shared, since the host may call again from inside.
        let call = unsafe { &*argument.cast::<Call<F, R>>() };
        call.calls.set(call.calls.get() + 1);
        if let Some(body) = call.body.take() {
            call.result.set(Some(thread::on(call.side, body)));
        }
    }
    (run::<F, R>, std::ptr::from_ref(call).cast_mut().cast())
}

unsafe extern "C-unwind" fn call_park(argument: *mut c_void) {
    // SAFETY: made in `wait_in`, where it lives until the hook has returned.
    let park = unsafe { &*argument.cast::<Park>() };
    park.calls.set(park.calls.get() + 1);
    if park.calls.get() == 1 {
        (park.sleep)();
    }
}

unsafe extern "C-unwind" fn call_interrupt(argument: *mut c_void) {
    // SAFETY: as above; this field is made for any thread.
    let interrupt = unsafe { &raw const (*argument.cast::<Park>()).interrupt };
    // SAFETY: as above.
    (unsafe { *interrupt })();
}

/// Forgets the hosts if the innermost has been left without its end, which is as forbidden as it is to a callback.
pub(crate) fn cut() {
    INSIDE.here(|inside| {
        if !inside.get().is_null() && stack::is_gone(inside.get().addr()) {
            inside.set(std::ptr::null());
        }
    });
}

/// Is this thread inside any host?
#[inline(always)]
pub(crate) fn is_inside_any() -> bool {
    !INSIDE.here(Cell::get).is_null()
}

/// The name of the innermost one.
pub(crate) fn innermost() -> *const c_char {
    // SAFETY: as in `wait_in`.
    let inside = unsafe { INSIDE.here(Cell::get).as_ref() };
    inside.map_or(std::ptr::null(), |inside| inside.bracket.name)
}

/// From here on, code of somebody else's runs inside the innermost host.
pub(crate) fn share() {
    // SAFETY: as in `wait_in`.
    if let Some(inside) = unsafe { INSIDE.here(Cell::get).as_ref() } {
        inside.is_shared.set(true);
    }
}

/// How a wait without any host came out.
pub(crate) enum Waited {
    /// `sleep` has run.
    Slept,
    /// That host wants the wait given up.
    GivenUp(*const c_char),
    /// That host's hook broke its contract.
    Broken(*const c_char, Fault),
}

/// Runs `sleep` with every host let go that this thread is inside of, innermost first. `interrupt` makes it return soon.
pub(crate) fn wait(sleep: &dyn Fn(), interrupt: &(dyn Fn() + Sync)) -> Waited {
    wait_in(INSIDE.here(Cell::get), sleep, interrupt)
}

/// The hosts from `next` outwards.
fn wait_in(next: *const Inside, sleep: &dyn Fn(), interrupt_it: &(dyn Fn() + Sync)) -> Waited {
    // SAFETY: each lives on this thread's stack until it has taken itself off the list.
    let Some(inside) = (unsafe { next.as_ref() }) else {
        sleep();
        return Waited::Slept;
    };
    let host = &inside.bracket;
    let wait_detached = host
        .wait_detached
        .filter(|_| !inside.is_entered_further_out());
    let Some(wait_detached) = wait_detached else {
        return wait_in(inside.outer, sleep, interrupt_it);
    };
    let outcome = Cell::new(None);
    let further = || outcome.set(Some(wait_in(inside.outer, sleep, interrupt_it)));
    let let_go = || {
        let park = Park {
            sleep: &further,
            interrupt: interrupt_it,
            calls: Cell::new(0),
        };
        // SAFETY: the host's author promised such a function; the argument fits and lives until it has returned.
        let code = thread::outside(|| unsafe {
            wait_detached(
                host.context,
                Some(call_park),
                Some(call_interrupt),
                (&raw const park).cast_mut().cast(),
            )
        });
        (park.calls.get(), code)
    };
    let let_go = if inside.is_shared.get() {
        host.run_as_it_is(let_go).result
    } else {
        Some(let_go())
    };
    match (outcome.take(), let_go) {
        // A host that refuses does not hold this thread up either: it waits as it is.
        (None, None) => wait_in(inside.outer, sleep, interrupt_it),
        (None, Some((_, 0))) => Waited::Broken(host.name, Fault::NeverCalled),
        (None, Some(_)) => Waited::GivenUp(host.name),
        (Some(Waited::Slept), Some((calls, _))) if calls > 1 => {
            Waited::Broken(host.name, Fault::CalledAgain)
        }
        (Some(Waited::Slept), Some((_, code))) if code != 0 => Waited::GivenUp(host.name),
        (Some(outer), _) => outer,
    }
}

impl Inside {
    /// It is let go where it was entered first, so that it is taken back in the order in which others take it.
    fn is_entered_further_out(&self) -> bool {
        let mut next = self.outer;
        // SAFETY: as in `wait_in`.
        while let Some(outer) = unsafe { next.as_ref() } {
            if outer.bracket.is_same(&self.bracket) {
                return true;
            }
            next = outer.outer;
        }
        false
    }
}
