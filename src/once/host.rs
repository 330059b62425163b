//! A once in its host: an attempt is owned attached, and nobody waits for anything attached.
//!
//! ```text
//! A (has let the host lock go)    the once        the host lock     B (holds the host lock)
//! |------------------------------------------------ take --->|      |
//! |--- own, by one compare-exchange -->|                     |      |
//! |    the initializer lets the host lock go, as an import does --->|
//! |                                    |<--- is it free? ----|------|
//! |                                    |     no: let go <----|------|  sleeps
//! |------------------------------------------------ take --->|      |
//! |--- READY ------------------------->|--- wake ------------|----->|  takes it back, looks again
//! ```

use super::Once;
use crate::error::Failure;
use crate::host::{self, Taking, attached, failed};
pub(super) use crate::host::{is_same, of, share};
use crate::stay::Doing;
use crate::sys::bracket::{Bracket, Fault};
use crate::sys::clock::Limit;
use crate::sys::promise::Promise;
use crate::sys::site::Origin;
use crate::sys::text::Text;
use crate::trace::Wait;

impl Once {
    /// Runs `body` with the host attached, if there is one.
    pub(super) fn attached<R>(
        &self,
        host: Option<Bracket>,
        origin: Origin,
        body: impl FnOnce() -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        attached(host, self, origin, body)
    }

    /// Runs `body`, which runs a request at once, with the host attached. If it ran, its own result counts, and a fault of the
    /// hooks is given beside it. Which host that is, only the copy of the library knows that owns the once.
    pub(crate) fn held<R>(
        &self,
        origin: Origin,
        body: impl FnOnce() -> R,
    ) -> Result<(R, Option<Failure>), Failure> {
        self.check_copy()?;
        let Some(host) = of(self.configured_host())? else {
            return Ok((body(), None));
        };
        let taking = Taking::begin(&host, self, origin);
        let ran = host.run(move || {
            taking.end();
            share();
            body()
        });
        let fault = ran.fault.map(|fault| failed(self, host.name, fault, None));
        match ran.result {
            Some(result) => Ok((result, fault)),
            None => Err(fault.unwrap_or_else(|| failed(self, host.name, Fault::NeverCalled, None))),
        }
    }

    /// The outcome of an attempt, slept for without any host; `None` after the limit.
    pub(super) fn wait_on<'p, T: Send + Sync>(
        &self,
        promise: &'p Promise<T>,
        limit: &Limit,
        origin: Origin,
        whom: &dyn Fn() -> Text,
        lose: &dyn Fn(),
    ) -> Result<Option<&'p T>, Failure> {
        host::wait_on(
            &Wait::new(Doing::AwaitingAttempt, self, origin, whom, lose),
            promise,
            limit,
        )
    }

    /// Sleeps until that thread is done with a request; without a limit, never given up.
    pub(super) fn wait_stubbornly<T: Send + Sync>(
        &self,
        promise: &Promise<T>,
        by: u64,
        origin: Origin,
        whom: &dyn Fn() -> Text,
        lose: &dyn Fn(),
    ) {
        let wait = Wait::new(Doing::AwaitingRequest(by), self, origin, whom, lose);
        host::wait_stubbornly(&wait, promise);
    }
}
