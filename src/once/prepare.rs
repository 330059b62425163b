//! The callbacks that run before an attempt is owned: `prepare` and `can_init`.

use super::Once;
use super::failure::{Code, Said, called};
use crate::abi;
use crate::error::{Error, Facts, Failure, Scope};
use crate::stay::{Doing, Staying};
use crate::sys::callback::Callback;
use crate::sys::site::Origin;
use crate::sys::text::{append, text};
use crate::sys::thread::Mark;
use crate::trace::{ASK, PREPARE, Span, What, warn_late};

/// This thread runs `prepare`, which a forked child may have to know.
struct Preparing<'a> {
    once: &'a Once,
    succeeded: bool,
}

impl<'a> Preparing<'a> {
    fn begin(once: &'a Once) -> Self {
        if let Some(mut locked) = once.lock_gate() {
            locked.gate().preparing += 1;
        }
        Self {
            once,
            succeeded: false,
        }
    }
}

impl Drop for Preparing<'_> {
    fn drop(&mut self) {
        // Closed, or made anew meanwhile, it does not know of this thread.
        if let Some(mut locked) = self.once.lock_gate() {
            let gate = locked.gate();
            gate.preparing = gate.preparing.saturating_sub(1);
            gate.prepared |= self.succeeded;
        }
    }
}

/// Each runs under a mark of its own.
impl Once {
    pub(super) fn prepare_key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn ask_key(&self) -> usize {
        self.prepare_key() + 1
    }

    /// Is this thread inside `prepare`?
    pub(super) fn is_preparing(&self) -> bool {
        Mark::is_set(self.prepare_key())
    }

    /// Is this thread inside `can_init`?
    pub(super) fn is_asking(&self) -> bool {
        Mark::is_set(self.ask_key())
    }

    fn run_early(&self, key: usize, doing: Doing, origin: Origin, callback: Callback) -> i32 {
        let kind = if doing == Doing::Asking { ASK } else { PREPARE };
        let span = Span::begin(|| What::early(kind, self, origin));
        let staying = Staying::begin(doing, self, origin);
        let code = Mark::during(key, || span.around(callback));
        warn_late(&staying);
        code
    }

    pub(super) fn prepare(&self, callback: Callback, origin: Origin) -> Result<(), Failure> {
        let scope = Scope::enter();
        let mut preparing = Preparing::begin(self);
        let code = self.run_early(self.prepare_key(), Doing::Preparing, origin, callback);
        preparing.succeeded = code == 0;
        drop(preparing);
        if code == 0 {
            return Ok(());
        }
        let (said, cause) = scope.take(code);
        let name = self.name();
        let (status, code, said) = said.map_or((abi::LAZY_E_INIT, code, None), |said| {
            (said.status, said.shown, Some(said.text))
        });
        let mut text = text!("the prepare of {} failed{}", called(&name), Code(code));
        if let Some(said) = said {
            append!(text, ": {said}");
        }
        append!(text, " (no attempt was made; a new call tries again)");
        let facts = Facts {
            code,
            cause,
            ..Facts::default()
        };
        Err(Failure::new(Error::from_status(status, text), &name, facts))
    }

    pub(super) fn ask(&self, callback: Callback, origin: Origin) -> Result<(), Failure> {
        let scope = Scope::enter();
        let code = self.run_early(self.ask_key(), Doing::Asking, origin, callback);
        if code == 0 {
            return Ok(());
        }
        let (said, cause) = scope.take(code);
        let name = self.name();
        let said = Said(said.as_ref().map(|said| &*said.text));
        let text = text!(
            "{} cannot be initialized now: its can_init answered {code}{} (no attempt was made, nothing queued was lost; try \
             again later)",
            called(&name),
            said
        );
        let facts = Facts {
            code,
            cause,
            ..Facts::default()
        };
        Err(Failure::new(Error::NotNow(text), &name, facts))
    }
}
