//! How a once gets its gate and its configuration.

use super::attempt::Attempt;
use super::config::Config;
use super::gate::{Body, Configured, Gate};
use super::{Once, registry, word};
use crate::abi;
use crate::error::Failure;
use crate::name::Name;
use crate::sys::invariant::Invariant;
use crate::sys::memory::{Shared, Unique};
use crate::sys::site::Origin;
use crate::sys::sized::Foreign;

impl Once {
    /// Sees to it that the once has a gate, unless it needs none. Allocates, so no lock is held when it begins.
    pub(super) fn furnish(&self) -> Result<(), Failure> {
        let bare = |phase: u32, body: &Body| phase == word::FRESH && body.gate.is_none();
        let mut registry = registry::lock();
        let bound = self.with_body(&mut registry, |phase, body, _| {
            bare(*phase, body).then_some(body.config)
        });
        drop(registry);
        let Some(bound) = bound else {
            return Ok(());
        };
        // Declared before the locks, so that a gate that was not needed is freed after them.
        let mut gate = Some(Unique::try_new(Gate::new(
            Config::copy(bound)?.unwrap_or_default(),
        ))?);
        loop {
            registry::reserve()?;
            let mut registry = registry::lock();
            let done = self.with_body(&mut registry, |phase, body, registry| {
                if !bare(*phase, body) {
                    return true;
                }
                // Another thread may have taken the place that was reserved.
                let Some(slot) = registry.add(self) else {
                    return false;
                };
                body.gate = gate.take();
                let gate = body.gate.as_mut().invariant("just put in");
                gate.slot = slot;
                true
            });
            if done {
                return Ok(());
            }
        }
    }

    /// Copies a configuration into the once, before its first attempt; `origin` is who asks.
    pub(crate) fn configure(&self, config: Config, origin: Origin) -> Result<(), Failure> {
        self.offer(config, origin, |_, _| {})
    }

    /// The same for a backend's part of a configuration; the rest stays as it is.
    #[cfg(not(loom))]
    pub(crate) fn reconfigure(&self, part: Config, origin: Origin) -> Result<(), Failure> {
        // What `LAZY_ONCE_WITH` has bound is copied by this.
        self.furnish()?;
        self.offer(part, origin, Config::keep_rest)
    }

    /// `complete` gets what is offered and the present configuration, under the lock.
    fn offer(
        &self,
        config: Config,
        origin: Origin,
        complete: impl Fn(&mut Config, &Config),
    ) -> Result<(), Failure> {
        let configured = Configured {
            name: config.name.clone(),
            by: origin,
        };
        let mut bound = Foreign::NULL;
        let mut offered = Some(Unique::try_new(Gate {
            configured: Some(configured),
            ..Gate::new(config)
        })?);
        loop {
            registry::reserve()?;
            let mut registry = registry::lock();
            let verdict = self.with_body(&mut registry, |phase, body, registry| {
                let ours = offered.as_mut().invariant("offered until it is taken");
                bound = body.config;
                if let Some(gate) = &body.gate {
                    complete(&mut ours.config, &gate.config);
                }
                match &mut body.gate {
                    _ if *phase == word::CLOSED => Verdict::Closed,
                    Some(gate) if gate.accepts(&mut ours.config) => Verdict::Done,
                    gate if *phase != word::FRESH || body.counters.is_touched() => {
                        let gate = gate.as_ref();
                        Verdict::TooLate(
                            gate.and_then(|gate| gate.latest.clone()),
                            gate.and_then(|gate| gate.first_come()),
                        )
                    }
                    Some(gate) if gate.first_come().is_some() => {
                        Verdict::TooLate(None, gate.first_come())
                    }
                    Some(gate) => {
                        std::mem::swap(&mut gate.configured, &mut ours.configured);
                        std::mem::swap(&mut gate.config, &mut ours.config);
                        // lazyonce.hpp looks for the initializer there.
                        body.config = Foreign::NULL;
                        Verdict::Done
                    }
                    gate => match registry.add(self) {
                        Some(slot) => {
                            ours.slot = slot;
                            *gate = offered.take();
                            body.config = Foreign::NULL;
                            Verdict::Done
                        }
                        None => Verdict::Again,
                    },
                }
            });
            drop(registry);
            match verdict {
                Verdict::Done => return Ok(()),
                Verdict::Again => {}
                Verdict::Closed => return Err(Failure::closed(self, c"")),
                Verdict::TooLate(..) if self.is_bound_to(bound, &offered) => return Ok(()),
                Verdict::TooLate(latest, first) => return Err(self.too_late(latest, first)),
            }
        }
    }

    /// Is what is offered what `LAZY_ONCE_WITH` has bound? A once that owns nothing has no copy of it.
    fn is_bound_to(
        &self,
        bound: Foreign<abi::lazy_config>,
        offered: &Option<Unique<Gate>>,
    ) -> bool {
        let bound = Config::copy(bound).ok().flatten();
        bound.is_some_and(|bound| {
            let offered = offered.as_ref().map(|gate| &gate.config);
            offered == Some(&bound)
        })
    }

    /// Forgets every pointer of its configuration, in any phase: the code behind them may be unloaded.
    pub(crate) fn withdraw_config(&self) {
        let mut registry = registry::lock();
        self.with_body(&mut registry, |_, body, _| {
            body.config = Foreign::NULL;
            if let Some(gate) = &mut body.gate {
                gate.config.forget_pointers();
                if gate.named {
                    gate.configured = None;
                }
            }
        });
    }

    /// The host of its own; NULL if it uses the process's. No lock may be held.
    pub(super) fn configured_host(&self) -> Foreign<abi::lazy_host> {
        let mut registry = registry::lock();
        self.with_body(&mut registry, |_, body, _| match &body.gate {
            Some(gate) => gate.config.host,
            None => Config::host_of(body.config),
        })
    }

    /// Its name for messages; none of a once that another copy of the library owns. No lock may be held.
    pub(super) fn name(&self) -> Name {
        if self.check_copy().is_err() {
            return Name(None);
        }
        let mut registry = registry::lock();
        let (known, bound) = self.with_body(&mut registry, |_, body, _| {
            (
                body.gate.as_ref().map(|gate| gate.config.name.clone()),
                body.config,
            )
        });
        drop(registry);
        let name = known.unwrap_or_else(|| {
            Config::copy(bound)
                .ok()
                .flatten()
                .and_then(|config| config.name)
        });
        Name(name)
    }
}

impl Gate {
    /// Is it configured just so? A named once keeps its own name.
    fn accepts(&self, offered: &mut Config) -> bool {
        if self.named {
            offered.name = self.config.name.clone();
        }
        (self.configured.is_some() || !self.named) && self.config == *offered
    }

    /// Who decides how a named once is configured.
    fn first_come(&self) -> Option<Configured> {
        self.configured.clone().filter(|_| self.named)
    }
}

enum Verdict {
    Done,
    Again,
    Closed,
    /// After this attempt; or after somebody else, on a named once.
    TooLate(Option<Shared<Attempt>>, Option<Configured>),
}
