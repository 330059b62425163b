//! The library's own onces, which are never freed: the process default, and those that are shared by name.

use super::gate::Gate;
use super::{Once, registry};
use crate::error::Failure;
use crate::once::config::Config;
use crate::sys::invariant::Invariant;
use crate::sys::memory::{Unique, try_box, try_c_string};
use std::ffi::{CStr, CString};

pub(crate) static DEFAULT: Once = Once::new();

/// The process default.
#[inline(always)]
pub(crate) fn default() -> &'static Once {
    &DEFAULT
}

/// A once and its name, which never changes.
pub(crate) struct Named {
    pub(crate) name: CString,
    pub(crate) once: Once,
}

/// The once of that name, made by whoever asks first.
pub(crate) fn named(name: &CStr) -> Result<&'static Once, Failure> {
    // Declared before the lock: what is not needed is freed after it.
    let mut offered = None;
    loop {
        registry::reserve()?;
        let mut registry = registry::lock();
        let place = match registry.find_name(name) {
            Ok(once) => return Ok(once),
            Err(place) => place,
        };
        let Some((named, gate)) = offered.take() else {
            drop(registry);
            offered = Some(make(name)?);
            continue;
        };
        match registry.add_name(place, named) {
            Ok(once) => {
                once.furnish_with(gate, &mut registry);
                return Ok(once);
            }
            Err(named) => offered = Some((named, gate)),
        }
    }
}

fn make(name: &CStr) -> Result<(Box<Named>, Unique<Gate>), Failure> {
    let gate = Gate {
        named: true,
        ..Gate::new(Config::of_name(try_c_string(name.to_bytes())?)?)
    };
    let named = Named {
        name: try_c_string(name.to_bytes())?,
        once: Once::new(),
    };
    Ok((try_box(named)?, Unique::try_new(gate)?))
}

impl Once {
    /// Puts the gate of a named once in, which has just been entered in the registry.
    fn furnish_with(&self, gate: Unique<Gate>, registry: &mut registry::Held<'_>) {
        self.with_body(registry, |_, body, registry| {
            let slot = registry.add(self).invariant("room was made for it");
            let gate = body.gate.insert(gate);
            gate.slot = slot;
        });
    }
}
