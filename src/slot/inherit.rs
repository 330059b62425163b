//! What a forked child finds of the slots.

use super::body::{self, Body, Held, Parts};
use super::mine;
use super::value::{Holder, Stage, Value};
use crate::once::OnFork;
use crate::sys::process;

/// Before a fork.
pub(crate) fn hold_for_fork() {
    std::mem::forget(body::lock());
}

/// After it, in the parent.
pub(crate) fn let_go_after_fork() {
    drop(body::resume());
}

/// After it, in the child, whose only thread was `before` there. Frees nothing, and runs no user code.
pub(crate) fn inherit(before: u64) {
    inherit_with(body::resume(), before);
}

/// In a child that no handler has seen.
pub(crate) fn recover(before: u64) {
    let (mut held, is_torn) = body::recover();
    if is_torn {
        // Which values there are is not known; nobody will end them here.
        body::each(&mut held, |_, parts| {
            for value in parts.values.iter() {
                value.lose(before);
                value.set_stage(Stage::Gone);
            }
            std::mem::forget(std::mem::take(&mut parts.values));
            std::mem::forget(std::mem::take(&mut parts.process));
        });
    }
    inherit_with(held, before);
}

fn inherit_with(mut held: Held, before: u64) {
    body::each(&mut held, |body, parts| body.inherit(parts, before));
    for snapshot in held.snapshots.iter() {
        snapshot.get().inherit();
    }
}

impl Body {
    fn inherit(&self, parts: &mut Parts, before: u64) {
        let was_used = parts.pid != 0 || !parts.values.is_empty();
        let on_fork = parts.config.on_fork;
        for place in (0..parts.values.len()).rev() {
            let Some(value) = parts.values.get(place).cloned() else {
                break;
            };
            if on_fork == OnFork::Keep && value.survives(before) {
                value.inherit(before);
            } else {
                value.lose(before);
                // Its thread may have been using it when it forked.
                std::mem::forget((parts.remove(&value), parts.process.take(&value)));
            }
        }
        match on_fork {
            OnFork::Poison if was_used => {
                if parts.pid == 0 {
                    parts.pid = process::parent();
                }
                self.poison();
            }
            OnFork::Reset => parts.pid = 0,
            _ => {}
        }
    }
}

impl Value {
    /// Is somebody left who has it, or makes or ends it?
    fn survives(&self, before: u64) -> bool {
        match self.stage() {
            Stage::Making | Stage::Leaving => self.worker() == before,
            Stage::Live => {
                !matches!(self.holder, Holder::Thread(_)) || self.holder == mine::holder()
            }
            Stage::Gone => false,
        }
    }

    /// Whoever makes or ends it is not here any more; this thread forked while it waited for that, perhaps.
    fn lose(&self, before: u64) {
        if self.worker() != before {
            match self.stage() {
                Stage::Making => drop(self.made.keep(None)),
                Stage::Leaving => drop(self.gone.keep(())),
                Stage::Live | Stage::Gone => {}
            }
        }
    }

    /// What is waited for has ended if its thread does not exist in this process.
    pub(super) fn lose_alone(&self) {
        match self.stage() {
            Stage::Making | Stage::Live => self.made.lose(self.worker(), None),
            Stage::Leaving => self.gone.lose(self.worker(), ()),
            Stage::Gone => {}
        }
    }

    fn inherit(&self, before: u64) {
        if self.worker() == before {
            self.work_here();
        }
        self.made.forget_sleepers();
        self.gone.forget_sleepers();
    }
}
