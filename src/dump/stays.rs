//! What is said of a thread that waits, or is inside a callback that nothing else names.

use super::{To, append_called};
use crate::abi::{lazy_config, lazy_once};
use crate::error::since;
use crate::host::Named;
use crate::name::{Called, Kind, Quoted};
use crate::once::{self, registry};
use crate::slot;
use crate::stay::{self, Doing, Stay};
use crate::sys::anchor::Anchor;
use crate::sys::line::Line;
use crate::sys::output::SystemError;
use crate::sys::peek;
use crate::sys::text::append;
use std::ffi::CStr;
use std::mem::offset_of;

/// A line about each.
#[inline(never)]
pub(super) fn dump(to: To) -> Result<(), SystemError> {
    let mut place = 0;
    loop {
        let mut line = Line::new();
        match stay::look(place, |stay| append_stay(&mut line, stay)) {
            Some(Some(())) => to.write(line.finish())?,
            Some(None) => {}
            None => break,
        }
        place += 1;
    }
    match stay::untold() {
        0 => Ok(()),
        more => {
            let mut line = Line::new();
            append!(
                line,
                "and so on: {more} more, which wait or are inside a callback, are not listed"
            );
            to.write(line.finish())
        }
    }
}

/// A once that owns no memory has the name that was bound to it. Its thread may have left its call by `longjmp`, out of a host's hook, and the
/// once with it.
#[inline(never)]
fn append_bound(line: &mut Line, once: usize) {
    let mut room = [0; peek::LONGEST];
    let name = peek::pointer(once + offset_of!(lazy_once, config))
        .filter(|&config| config != 0)
        .and_then(|config| peek::pointer(config + offset_of!(lazy_config, name)))
        .filter(|&name| name != 0)
        .and_then(|name| peek::string(name, &mut room));
    match name {
        Some(name) => append!(*line, "once {}", Quoted(name)),
        None => append!(*line, "a once"),
    }
    append!(*line, " at {once:#x}");
}

/// While its thread cannot leave. Allocates nothing; takes the locks of what it names.
#[inline(never)]
pub(crate) fn append_stay(line: &mut Line, stay: &Stay) {
    // Before there is a lock.
    let seen = stay.origin.locate();
    let since = since(stay.since_ns);
    append!(*line, "thread {} has ", stay.thread);
    match stay.doing {
        Doing::TakingHost(name) => {
            append!(
                *line,
                "waited {since} for the lock of {}, on its way into ",
                Named(name)
            );
        }
        Doing::TakingHostBack(name) => append!(
            *line,
            "waited {since} for the lock of {}, on its way back from a wait for ",
            Named(name)
        ),
        Doing::Preparing => append!(*line, "been inside prepare of "),
        Doing::Asking => append!(*line, "been inside can_init of "),
        Doing::AwaitingAttempt => append!(*line, "waited {since} for "),
        Doing::AwaitingRequest(by) => append!(
            *line,
            "waited {since}, to cancel what thread {by} runs or releases, for "
        ),
        Doing::AwaitingValue(index) => append!(*line, "waited {since} for index {index} of "),
        Doing::Making(index) => {
            append!(*line, "been inside the factory for index {index} of ");
        }
        Doing::Ending(index) => {
            append!(*line, "been inside the destructor for index {index} of ");
        }
        Doing::Observing(_) => append!(*line, "been inside on_event of "),
        Doing::AwaitingObserver => append!(*line, "waited {since} for calls of on_event of "),
        Doing::Releasing => append!(*line, "been inside the drop of a request of "),
        Doing::Describing => append!(*line, "been inside the describe of a request of "),
        Doing::Calling => append!(*line, "been inside a callback of "),
        Doing::Sharing(index) => append!(*line, "been inside the share for index {index} of "),
    }
    append_subject(line, stay);
    // Where it waits that stands before what it waits for.
    if stay.doing.is_inside() {
        append!(*line, " for {since}");
    }
    if stay.origin.is_known() {
        let how = match stay.doing {
            Doing::Releasing | Doing::Describing => "queued by",
            _ => "called at",
        };
        append!(*line, ", {how} {seen}");
    }
}

#[inline(never)]
fn append_subject(line: &mut Line, stay: &Stay) {
    match stay.kind {
        Kind::Once => {
            let is_it = |once: &once::Once| std::ptr::from_ref(once).addr() == stay.subject;
            let mut registry = registry::lock();
            let listed = registry.onces().find(|once| is_it(once)).map(Anchor::new);
            let default = || Some(Anchor::new(once::default())).filter(|once| is_it(once.get()));
            match listed.or_else(default) {
                Some(once) => {
                    let once = once.get();
                    once.inspect(&mut registry, |info| append_called(line, once, info));
                }
                None => {
                    drop(registry);
                    append_bound(line, stay.subject);
                }
            }
        }
        Kind::Slot => {
            let tell = |name: &CStr| append!(*line, "{}", Called(Kind::Slot, name));
            // SAFETY: what the library keeps of it.
            unsafe { slot::with_name(stay.subject, tell) };
        }
        Kind::Observer => append!(*line, "the observer"),
    }
}
