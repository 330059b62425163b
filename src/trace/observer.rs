//! The one observer of the process.

use super::report::{OBSERVER, is_reporting, want};
use super::{Event, Wait};
use crate::abi::{lazy_event, lazy_observer, lazy_site};
use crate::error::{Failure, Scope, since};
use crate::host;
use crate::name::{Kind, Name, Subject};
use crate::stay::{self, Doing, Staying};
use crate::sys::anchor::Anchor;
use crate::sys::callback::{Context, Listener};
use crate::sys::local::Local;
use crate::sys::lock::{Mutex, RawLock};
use crate::sys::memory::Shared;
use crate::sys::promise::Promise;
use crate::sys::site::{At, Cut, Origin};
use crate::sys::sized::Foreign;
use crate::sys::text::{Text, text};
use crate::sys::thread;
use lock_api::RawMutex;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

struct Observer {
    listener: Listener,
    /// How many calls of it are running. Changes under the lock, and so does the next one.
    calls: AtomicU32,
    /// There is another one in its place, or none.
    replaced: AtomicBool,
    /// Kept when it is replaced and its last call has returned, if there was one.
    left: Promise<()>,
}

/// No other lock is taken with it, and it is held for a few steps.
static CURRENT: Mutex<Option<Shared<Observer>>> = Mutex::const_new(RawLock::INIT, None);

thread_local! {
    /// The observer that this thread is calling, by its address; 0 for none.
    static CALLING: Cell<usize> = const { Cell::new(0) };
    /// The one whose calls this thread waits for, and keeps meanwhile.
    static AWAITED: Cell<Option<Anchor<Observer>>> = const { Cell::new(None) };
}

/// Puts an observer in the place of the one before, whose running calls have returned then; NULL removes it. For a call from
/// there.
pub(crate) fn set(table: Foreign<lazy_observer>, origin: Origin) -> Result<(), Failure> {
    let new = match table.read() {
        None => None,
        Some(Err(problem)) => return Err(Failure::invalid(text!("the observer: {problem}"))),
        Some(Ok(raw)) => Some(Observer::try_new(&raw)?),
    };
    let mut current = CURRENT.lock();
    want(OBSERVER, new.is_some());
    let old = std::mem::replace(&mut *current, new);
    let busy = old.as_ref().is_some_and(|old| {
        old.replaced.store(true, Relaxed);
        old.calls.load(Relaxed) != 0
    });
    drop(current);
    if let Some(old) = old
        && busy
        && !is_reporting()
    {
        AWAITED.here(|awaited| awaited.set(Some(Anchor::new(&*old))));
        let whom = || whom(old.key());
        let wait = Wait::new(Doing::AwaitingObserver, &OBSERVING, origin, &whom, &|| ());
        host::known_inside(&OBSERVING, origin, || {
            host::wait_stubbornly(&wait, &old.left)
        });
        AWAITED.here(|awaited| awaited.set(None));
    }
    Ok(())
}

/// Tells the observer, if there is one.
pub(super) fn tell(event: &Event) {
    let current = CURRENT.lock();
    let Some(observer) = current.clone() else {
        return;
    };
    // Both at once, for a signal handler that forks.
    observer.calls.fetch_add(1, Relaxed);
    let outer = CALLING.here(|calling| calling.replace(observer.key()));
    drop(current);
    let doing = Doing::Observing(observer.key() as u64);
    let staying = Staying::begin(doing, &OBSERVING, event.what.asked_at());
    // What fails in it is no cause of what the library runs.
    let scope = Scope::enter();
    observer.listener.tell(&translate(event));
    drop(scope);
    drop(staying);
    let current = CURRENT.lock();
    CALLING.here(|calling| calling.set(outer));
    let is_last = observer.calls.fetch_sub(1, Relaxed) == 1 && observer.replaced.load(Relaxed);
    let wakes = is_last.then(|| observer.left.keep(()));
    drop(current);
    drop(wakes);
}

/// Whose call of it lasts, for the warning of who waits.
#[cold]
fn whom(observer: usize) -> Text {
    let mut found = None;
    let subject = std::ptr::from_ref(&OBSERVING).expose_provenance();
    stay::look_for(Doing::Observing(observer as u64), subject, |stay| {
        found = Some((stay.thread, stay.since_ns, Cut::of(stay.origin)));
    });
    let Some((thread, since_ns, site)) = found else {
        return text!("a thread is still inside its on_event");
    };
    text!(
        "thread {thread} is inside its on_event (called {} ago{})",
        since(since_ns),
        At(site.origin())
    )
}

impl Observer {
    fn try_new(raw: &lazy_observer) -> Result<Shared<Self>, Failure> {
        let on_event = raw
            .on_event
            .ok_or_else(|| Failure::invalid("the observer: its on_event is NULL"))?;
        let listener = Listener {
            on_event,
            context: Context(raw.ctx),
        };
        Ok(Shared::try_new(Self {
            listener,
            calls: AtomicU32::new(0),
            replaced: AtomicBool::new(false),
            left: Promise::new(),
        })?)
    }
}

fn translate(event: &Event) -> lazy_event {
    let what = event.what;
    let seen = what.origin.glimpse();
    lazy_event {
        size: size_of::<lazy_event>(),
        kind: what.kind,
        phase: what.phase,
        once: if what.name.is_empty() {
            std::ptr::null()
        } else {
            what.name.as_ptr()
        },
        site: lazy_site {
            file: seen.file,
            line: seen.line,
            function: seen.function,
        },
        thread: thread::id(),
        time_ns: event.began_ns,
        duration_ns: event
            .ended_ns
            .map_or(0, |ended| ended.saturating_sub(event.began_ns).max(1)),
        ticket: what.ticket,
        status: event.status,
    }
}

/// What a host is let go for, while somebody waits for calls to return.
struct Observing;

/// One for all, by whose address a debugger puts them together.
static OBSERVING: Observing = Observing;

impl Subject for Observing {
    fn kind(&self) -> Kind {
        Kind::Observer
    }

    fn name(&self) -> Name {
        Name::default()
    }

    fn phase(&self) -> u32 {
        0
    }
}

/// Before a fork. Without a note of this thread's, which has as many as it can.
pub(crate) fn hold_for_fork() {
    // SAFETY: let go in the later halves of the fork handler, by the same thread.
    unsafe { CURRENT.raw() }.acquire::<false>(0);
}

/// After it, in the parent.
pub(crate) fn let_go_after_fork() {
    // SAFETY: taken before the fork.
    unsafe { CURRENT.raw() }.let_go();
}

/// After it, in the child: of the calls there is at most this thread's own, in which it forked. If it did so in a signal handler while it
/// waited for those of others, it waits no more.
pub(crate) fn inherit() {
    // SAFETY: as above; there is no other thread.
    unsafe { CURRENT.raw() }.remake(0);
    let current = CURRENT.lock();
    if let Some(current) = &*current {
        let is_own = CALLING.here(Cell::get) == current.key();
        current.calls.store(is_own.into(), Relaxed);
    }
    drop(current);
    if let Some(awaited) = AWAITED.here(Cell::get)
        && awaited.get().left.get().is_none()
    {
        awaited.get().left.keep(());
    }
}
