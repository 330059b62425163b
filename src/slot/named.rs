//! Slots that are shared by name, process-wide. They are the library's own and are never freed.

use super::Slot;
use super::body::{Body, Parts, lock_with_room};
use super::config::Config;
use crate::error::Failure;
use crate::name::Name;
use crate::sys::memory::{Shared, try_box};
use crate::sys::site::copy_text;
use std::ffi::CStr;

/// A slot and its name, which never changes.
pub(super) struct Named {
    name: Name,
    slot: Slot,
}

/// The slot of that name, made by whoever asks first.
pub(crate) fn named(name: &CStr) -> Result<&'static Slot, Failure> {
    let name = Name(copy_text(name.as_ptr())?.map(Shared::try_new).transpose()?);
    let fresh = Body::try_new(Parts {
        config: Config::of_name(name.clone()),
        is_named: true,
        ..Parts::default()
    })?;
    let named = try_box(Named {
        name,
        slot: Slot::new(),
    })?;
    // What is not needed is freed after the lock.
    let mut held = lock_with_room()?;
    let place = held
        .names
        .partition_point(|other| *other.name < *named.name);
    if let Some(there) = held.names.get(place)
        && *there.name == *named.name
    {
        let slot = &there.slot;
        drop(held);
        return Ok(slot);
    }
    named.slot.furnish_with(fresh, &mut held);
    let named = Box::leak(named);
    held.names.insert(place, named);
    Ok(&named.slot)
}
