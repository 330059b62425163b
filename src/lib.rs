//! lazyonce starts expensive things lazily, once, right: an initialization gate that queues, drains, hands over and
//! re-enters without hanging on its own locks, as a shared library with a C ABI.
//!
//! `include/lazyonce.h` is the manual. Where a change belongs:
//!
//! | module | what it holds |
//! |---|---|
//! | `once` | the state machine, the queue, waiting: the heart |
//! | `error` | the error type, the records, each thread's last error |
//! | `slot` | state per thread and per device, snapshots of it |
//! | `host`, `name` | host locks around what runs and around waits; what messages call things |
//! | `cuda` | the CUDA driver as an initializer |
//! | `dump` | how every once stands, for people |
//! | `stay` | which threads wait now, or are inside a callback |
//! | `trace` | what happens, for an observer and as a file |
//! | `fork`, `exit` | what a child inherits; the end of a thread |
//! | `sys` | futex, lock, memory, threads: the kernel and the C library |
//! | `abi`, `ffi` | the C structs; the exported functions, which only translate |
//!
//! A call flows one way, `ffi` to `once` to `sys`; nothing below knows anything above.

// A model leaves out the C interface, and with it the only callers of much of the rest.
#![cfg_attr(loom, allow(dead_code, unused_imports))]

pub mod abi;
#[cfg(not(loom))]
pub(crate) mod cuda;
#[cfg(not(loom))]
pub(crate) mod dump;
pub(crate) mod error;
#[cfg(not(loom))]
pub(crate) mod exit;
#[cfg(not(loom))]
mod ffi;
#[cfg(not(loom))]
pub(crate) mod fork;
pub(crate) mod hooks;
#[cfg(not(loom))]
pub(crate) mod host;
#[cfg(loom)]
pub mod model;
pub(crate) mod name;
pub(crate) mod once;
#[cfg(not(loom))]
pub(crate) mod slot;
pub(crate) mod stay;
pub(crate) mod sys;
pub(crate) mod trace;
