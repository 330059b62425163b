//! The end of a thread that was to make or end a value: its factory or destructor was left by `longjmp`, which is forbidden, or by an end
//! without unwinding. Whoever waits for that value goes on.

use super::body;
use super::end::Ending;
use super::failure;
use super::make::Making;
use super::value::{Stage, Value};
use crate::sys::memory::Shared;
use crate::sys::thread;

/// The end of this thread: what it makes comes to nothing, and what it ends is gone.
pub(crate) fn end_left() {
    let mut number = 0;
    while thread::owns_any() {
        let mut held = body::lock();
        let Some(body) = held.body(number) else {
            return;
        };
        let ours = |value: &&Shared<Value>| value.is_worked_on_here() && !value.is_settled();
        let parts = body.parts(&mut held);
        let left = parts.and_then(|parts| parts.values.iter().find(ours).cloned());
        drop(held);
        match left {
            Some(value) if value.stage() == Stage::Making => {
                let failure = failure::left(value.body, value.index);
                drop(Making::left(value, failure));
            }
            Some(value) => drop(Ending::left(value)),
            None => number += 1,
        }
    }
}
