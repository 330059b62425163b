//! The kernel and the C library: the only place besides `ffi/` with `unsafe`. Nothing here knows what a once is.

#[cfg(not(loom))]
pub(crate) mod anchor;
#[cfg(not(loom))]
pub(crate) mod birthmark;
#[cfg(not(loom))]
pub(crate) mod bracket;
pub(crate) mod callback;
#[cfg(not(loom))]
mod cancel;
pub(crate) mod clock;
pub(crate) mod copy;
#[cfg(not(loom))]
pub(crate) mod driver;
#[cfg(not(loom))]
pub(crate) mod environment;
pub(crate) mod errno;
#[cfg(not(loom))]
pub(crate) mod file;
pub(crate) mod futex;
pub(crate) mod invariant;
#[cfg(not(loom))]
pub(crate) mod line;
#[cfg(not(loom))]
pub(crate) mod loader;
pub(crate) mod local;
pub(crate) mod lock;
pub(crate) mod memory;
pub(crate) mod noexcept;
#[cfg(not(loom))]
pub(crate) mod object;
pub(crate) mod order;
#[cfg(not(loom))]
pub(crate) mod output;
#[cfg(not(loom))]
pub(crate) mod peek;
#[cfg(not(loom))]
mod personality;
pub(crate) mod pointer;
pub(crate) mod process;
pub(crate) mod promise;
pub(crate) mod published;
pub(crate) mod race;
pub(crate) mod row;
#[cfg(not(loom))]
pub(crate) mod signal;
pub(crate) mod site;
pub(crate) mod sized;
#[cfg(not(loom))]
pub(crate) mod stack;
#[cfg(not(loom))]
mod symbols;
pub(crate) mod text;
pub(crate) mod thread;
pub(crate) mod word;

#[cfg(not(loom))]
pub(crate) use std::{cell::UnsafeCell, sync::atomic};

#[cfg(loom)]
pub(crate) use loom::{cell::UnsafeCell, sync::atomic};
