//! Why there is no value.

use super::body::Body;
use crate::error::{Error, Facts, Failure, Scope};
use crate::name::{Called, Kind, Subject};
use crate::sys::text::{append, text};
use crate::sys::thread;

#[cold]
pub(super) fn failed(body: &Body, index: u32, code: i32, scope: &Scope) -> Failure {
    let (said, cause) = scope.take(code);
    let name = body.name();
    let mut text = text!(
        "the factory of {} returned {code} for index {index}",
        Called(Kind::Slot, &name)
    );
    if let Some(said) = &said {
        append!(text, ": {}", said.text);
    }
    append!(text, ". Nothing was kept; the next call tries again");
    let facts = Facts {
        code,
        cause,
        ..Facts::default()
    };
    Failure::new(Error::Callback(text), &name, facts)
}

#[cold]
pub(super) fn unwound(body: &Body, index: u32) -> Failure {
    let name = body.name();
    let text = text!(
        "the factory of {} was left by an exception or by the end of its thread, for index {index}. Nothing was kept; the next call \
         tries again",
        Called(Kind::Slot, &name)
    );
    Failure::new(Error::Callback(text), &name, Facts::default())
}

#[cold]
pub(super) fn not_found(body: &Body, index: u32) -> Failure {
    let name = body.name();
    let text = text!(
        "{} has no value at index {index} and no factory: store one with lazy_slot_set, or configure a factory",
        Called(Kind::Slot, &name)
    );
    Failure::new(Error::NotFound(text), &name, Facts::default())
}

/// What a factory gets that asks for the value that it is making, or does something else with it.
#[cold]
pub(super) fn recursive(body: &Body, index: u32, does: &str) -> Failure {
    let name = body.name();
    let thread = thread::id();
    let text = text!(
        "thread {thread} is making the value of {} at index {index}, and its factory {does} that very value",
        Called(Kind::Slot, &name)
    );
    let facts = Facts {
        owner_thread: thread,
        ..Facts::default()
    };
    Failure::new(Error::Deadlock(text), &name, facts)
}

/// What the thread gets whose factory has been left without an end.
#[cold]
pub(super) fn left(body: &Body, index: u32) -> Failure {
    let name = body.name();
    let text = text!(
        "the factory of {} was left by longjmp, which is forbidden, or its thread has ended in it, for index {index}. Nothing was kept; \
         the next call tries again",
        Called(Kind::Slot, &name)
    );
    let facts = Facts {
        owner_thread: thread::id(),
        ..Facts::default()
    };
    Failure::new(Error::Deadlock(text), &name, facts)
}
