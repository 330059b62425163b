//! Slots: state that every thread has, or every device of the process, made by a factory when it is first asked for.
//!
//! | what | where |
//! |---|---|
//! | what the library keeps of each slot; the one lock | `body` |
//! | one value from its making to its end | `value` |
//! | this thread's values and the snapshots that it has entered | `mine` |
//! | making | `make` |
//! | waiting for somebody's factory or destructor | `wait` |
//! | why there is no value | `failure` |
//! | storing another pointer | `set` |
//! | ending values: at thread exit, by `retire` | `end` |
//! | the end of a thread that was in the middle of one of these | `left` |
//! | snapshots | `snapshot` |
//! | what a child inherits | `inherit` |
//! | what the dump tells | `info` |
//!
//! A value is found without a lock: a thread's table is its own, and the stage of a value says whether it is there. Everything else
//! changes under the one lock of the slots. No user code runs while it is held, and nothing is allocated or freed under it.

mod body;
mod config;
mod end;
mod failure;
mod info;
mod inherit;
mod left;
mod make;
mod mine;
mod named;
mod set;
mod snapshot;
mod table;
mod value;
mod wait;

pub(crate) use body::LAYOUT;
pub(crate) use config::Config;
pub(crate) use end::Retired;
pub(crate) use info::{Info, info, with_name};
pub(crate) use inherit::{hold_for_fork, inherit, let_go_after_fork, recover};
pub(crate) use left::end_left;
pub(crate) use mine::{forget_thread, is_left};
pub(crate) use named::named;
pub(crate) use snapshot::Snapshot;
pub(crate) use value::Value;

use crate::abi;
use crate::error::{Error, Facts, Failure};
use crate::name::{Called, Kind, Subject};
use crate::sys::order;
use crate::sys::sized::Foreign;
use crate::sys::text::text;
use body::{Body, Parts};
use std::ffi::c_void;
use std::sync::atomic::AtomicPtr;

/// A slot, in the caller's memory: the layout of `lazy_slot`.
#[repr(C)]
pub(crate) struct Slot {
    abi: u32,
    flags: u32,
    config: Foreign<abi::lazy_slot_config>,
    body: AtomicPtr<Body>,
    _reserved: Foreign<u8>,
}

const _: () = assert!(size_of::<Slot>() == size_of::<abi::lazy_slot>());

impl Slot {
    const fn new() -> Self {
        Self::with(Foreign::NULL)
    }

    /// With a constant configuration: one of the library's own.
    pub(crate) const fn bound(config: &'static abi::lazy_slot_config) -> Self {
        Self::with(Foreign::constant(config))
    }

    const fn with(config: Foreign<abi::lazy_slot_config>) -> Self {
        Self {
            abi: abi::LAZY_SLOT_ABI,
            flags: 0,
            config,
            body: AtomicPtr::new(std::ptr::null_mut()),
            _reserved: Foreign::none(),
        }
    }

    /// Is the layout one that this library knows?
    #[inline(always)]
    pub(crate) fn is_known(&self) -> bool {
        // Both in one comparison.
        u64::from(self.flags) << 32 | u64::from(self.abi) <= u64::from(abi::LAZY_SLOT_ABI)
    }

    /// What the library keeps of it, if it has been used.
    #[inline(always)]
    fn known_body(&self) -> Option<&'static Body> {
        // SAFETY: NULL, or a body, which is never freed.
        unsafe { self.body.load(order::see_slot()).as_ref() }
    }

    /// The value, where finding it is all there is to do. It calls nothing, so that nothing has to be saved on the stack.
    #[inline(always)]
    pub(crate) fn find(&self, index: u32) -> Option<*mut c_void> {
        let body = self.known_body().filter(|body| body.is_ours())?;
        mine::find(body.open_id(index)?)
    }

    /// What the library keeps of it, made at first use, and open.
    fn open(&self) -> Result<&'static Body, Failure> {
        let body = self.body()?;
        if body.is_open() {
            Ok(body)
        } else {
            Err(body.refusal())
        }
    }

    fn body(&self) -> Result<&'static Body, Failure> {
        match self.known_body() {
            Some(body) if !body.is_ours() => Err(body.of_another_copy()),
            Some(body) => Ok(body),
            None => self.furnish(Config::copy(self.config)?.unwrap_or_default()),
        }
    }

    fn furnish(&self, config: Config) -> Result<&'static Body, Failure> {
        let fresh = Body::try_new(Parts {
            config,
            ..Parts::default()
        })?;
        let mut held = body::lock_with_room()?;
        // Another thread may have been first: then ours is freed after the lock.
        match self.known_body() {
            Some(body) => {
                drop(held);
                Ok(body)
            }
            None => Ok(self.furnish_with(fresh, &mut held)),
        }
    }

    fn furnish_with(&self, fresh: Box<Body>, held: &mut body::Held) -> &'static Body {
        let body = Body::enter(held, fresh);
        let pointer = std::ptr::from_ref(body).cast_mut();
        self.body.store(pointer, order::publish_slot());
        body
    }

    /// Takes this configuration, before the first value.
    pub(crate) fn configure(&self, config: Config) -> Result<(), Failure> {
        let body = match self.known_body() {
            Some(body) if !body.is_ours() => return Err(body.of_another_copy()),
            Some(body) => body,
            None => self.furnish(config.clone())?,
        };
        // What it replaces is freed after the lock.
        let mut config = config;
        let mut held = body::lock();
        let Some(parts) = body.parts(&mut held).filter(|_| body.is_open()) else {
            drop(held);
            return Err(body.refusal());
        };
        if parts.is_named {
            config.name = parts.config.name.clone();
        }
        let has_values = parts.pid != 0 || !parts.values.is_empty();
        let is_decided = has_values || parts.is_named && parts.is_configured;
        let is_equal = parts.config == config;
        if !is_decided {
            config.number = parts.config.number + 1;
            std::mem::swap(&mut parts.config, &mut config);
            parts.is_configured = true;
        }
        drop(held);
        if is_decided && !is_equal {
            let name = body.name();
            let why = if has_values {
                "has had a value already: configure it before its first use"
            } else {
                "is shared by name, and somebody else has configured it in another way: share that, or use another name"
            };
            let text = text!("{} {why}. Nothing has changed", Called(Kind::Slot, &name));
            return Err(Failure::new(Error::TooLate(text), &name, Facts::default()));
        }
        Ok(())
    }
}
