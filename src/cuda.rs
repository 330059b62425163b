//! The CUDA driver as an initializer. Nothing here is touched by anybody who does not ask for it.
//!
//! PyTorch asks for the device count in a parent and from then on refuses a fork; here a fork spoils what was initialized, and no
//! question before that: `cuDeviceGetCount` before `cuInit` would answer 3 and change nothing, so it is not even asked.

#[cfg(test)]
mod names;

use crate::abi::{self, lazy_cuda_info, lazy_cuda_options, lazy_slot_config, lazy_status};
use crate::error::{self, Error, Facts, Failure, Said};
use crate::once::{Config, OnFork, Once};
use crate::slot::Slot;
use crate::sys::callback::Callback;
use crate::sys::driver::{self, Absent, Driver};
use crate::sys::memory::try_c_string;
use crate::sys::site::Origin;
use crate::sys::sized::Foreign;
use crate::sys::text::{Lossy, Text, append, text};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, Ordering};

/// The driver's results that mean something of their own. Numbers, never an enumeration: a driver may return any.
mod result {
    use std::ffi::c_int;

    pub(super) const NOT_INITIALIZED: c_int = 3;
    pub(super) const STUB_LIBRARY: c_int = 34;
    pub(super) const NO_DEVICE: c_int = 100;
    pub(super) const SYSTEM_NOT_READY: c_int = 802;
    pub(super) const MPS_CONNECTION_FAILED: c_int = 805;
    pub(super) const MPS_MAX_CLIENTS_REACHED: c_int = 808;
}

/// Nothing has been initialized in this process.
const UNKNOWN: i32 = -1;

/// How many devices the driver has, once this process has initialized it and found one. Release and Acquire: whoever sees it comes after `cuInit`.
static DEVICES: AtomicI32 = AtomicI32::new(UNKNOWN);

/// The primary context of each device. A process has one, which is never given back: at exit the driver may be gone.
static CONTEXTS: Slot = Slot::bound(&CONTEXTS_CONFIG);

const CONTEXTS_CONFIG: lazy_slot_config = lazy_slot_config {
    size: size_of::<lazy_slot_config>(),
    name: c"cuda contexts".as_ptr(),
    ctx: null_mut(),
    create: Some(driver::retain),
    destroy: None,
    share: None,
    host: null(),
    scope: abi::LAZY_SLOT_PROCESS,
    on_fork: abi::LAZY_FORK_RESET,
};

/// In a forked child, where nothing is initialized.
pub(crate) fn inherit() {
    DEVICES.store(UNKNOWN, Ordering::Relaxed);
    driver::inherit();
}

/// Makes the driver what `once` initializes.
pub(crate) fn set_up(
    once: &Once,
    options: Foreign<lazy_cuda_options>,
    origin: Origin,
) -> Result<(), Failure> {
    let flags = match options.read() {
        None => 0,
        Some(Ok(options)) => options.flags,
        Some(Err(malformed)) => {
            return Err(Failure::invalid(text!(
                "lazy_cuda_options.size: {malformed}"
            )));
        }
    };
    if flags != 0 {
        return Err(Failure::invalid(text!(
            "lazy_cuda_options.flags has bits that this library does not know: {flags}"
        )));
    }
    let config = Config {
        prepare: Some(Callback::new(prepare, null_mut())),
        initialize: Some(Callback::new(initialize, null_mut())),
        on_fork: OnFork::Poison,
        ..Config::of_name(try_c_string(b"cuda")?)?
    };
    once.reconfigure(config, origin)
}

/// What can be known without initializing.
pub(crate) fn query() -> Result<lazy_cuda_info, Failure> {
    let driver = open()?;
    let version = driver.version();
    Ok(lazy_cuda_info {
        size: size_of::<lazy_cuda_info>(),
        driver_version: version
            .map_err(|result| Refusal::of_driver(driver, "cuDriverGetVersion", result))?,
        device_count: DEVICES.load(Ordering::Acquire),
        library: driver.library.as_ptr(),
    })
}

/// Makes the primary context of a device this thread's; for a call from there.
pub(crate) fn bind(device: i32, origin: Origin) -> Result<(), Failure> {
    let count = DEVICES.load(Ordering::Acquire);
    let Some(driver) = driver::get().filter(|_| count != UNKNOWN) else {
        return Err(Refusal::not_initialized().into());
    };
    let ordinal = u32::try_from(device).ok().filter(|_| device < count);
    let Some(ordinal) = ordinal else {
        return Err(Failure::invalid(text!(
            "there is no device {device}: the CUDA driver has {count}, counted from 0"
        )));
    };
    let context =
        CONTEXTS
            .get(ordinal, origin, &Cell::new(None))
            .map_err(|failure| match failure.code() {
                0 => failure,
                result => {
                    Refusal::of_driver(driver, "retaining the primary context", result).into()
                }
            })?;
    driver
        .set_current(context)
        .map_err(|result| Refusal::of_driver(driver, "cuCtxSetCurrent", result).into())
}

/// Opens the library before an attempt is owned, so that its constructors may call back in.
extern "C-unwind" fn prepare(_ctx: *mut c_void) -> i32 {
    open().map_or_else(Refusal::say, |_| 0)
}

extern "C-unwind" fn initialize(_ctx: *mut c_void) -> i32 {
    start().map_or_else(Refusal::say, |()| 0)
}

fn open() -> Result<&'static Driver, Refusal> {
    // A fork during the load is to be noticed.
    crate::fork::register();
    driver::open().map_err(Refusal::of_absence)
}

/// No context, no memory, no stream: what a device costs is paid by whoever uses it.
fn start() -> Result<(), Refusal> {
    let driver = open()?;
    driver
        .init()
        .map_err(|result| Refusal::of_driver(driver, "cuInit", result))?;
    let count = driver
        .device_count()
        .map_err(|result| Refusal::of_driver(driver, "cuDeviceGetCount", result))?;
    if count <= 0 {
        return Err(Refusal::no_device());
    }
    // An attempt of another once takes nobody's devices away.
    DEVICES.fetch_max(count, Ordering::Release);
    Ok(())
}

/// Why something cannot be done, before it is known who is told: a callback's caller, or one of ours.
struct Refusal {
    status: lazy_status,
    /// What the driver returned; 0 if it was not the driver that refused.
    code: c_int,
    text: Text,
}

impl Refusal {
    fn new(status: lazy_status, text: Text) -> Self {
        Self {
            status,
            code: 0,
            text,
        }
    }

    #[cold]
    fn of_absence(absent: Absent) -> Self {
        let status = match absent {
            Absent::NoMemory => abi::LAZY_E_NOMEM,
            Absent::Torn => abi::LAZY_E_FORKED,
            _ => abi::LAZY_E_UNAVAILABLE,
        };
        Self::new(status, text!("{absent}"))
    }

    #[cold]
    fn of_driver(driver: &Driver, function: &str, code: c_int) -> Self {
        let mut text = text!("{function} returned {code}");
        if let Some(name) = driver.name(code) {
            append!(text, ", {}", Lossy::of(name));
        }
        if let Some(meaning) = driver.text(code) {
            append!(text, ": {}", Lossy::of(meaning));
        }
        let status = match code {
            result::STUB_LIBRARY => {
                let file = Lossy::of(driver.library);
                append!(
                    text,
                    "; {file} is a stub library, to link with: the driver's own libcuda.so.1 has to be found before it"
                );
                abi::LAZY_E_UNAVAILABLE
            }
            result::NO_DEVICE => {
                append!(text, "; the CUDA driver sees no device");
                abi::LAZY_E_UNAVAILABLE
            }
            result::SYSTEM_NOT_READY
            | result::MPS_CONNECTION_FAILED..=result::MPS_MAX_CLIENTS_REACHED => {
                abi::LAZY_E_NOT_NOW
            }
            result::NOT_INITIALIZED if driver::is_inherited() => {
                append!(text, "; {FORKED}");
                abi::LAZY_E_FORKED
            }
            _ => abi::LAZY_E_INIT,
        };
        Self { status, code, text }
    }

    #[cold]
    fn no_device() -> Self {
        let text = text!("the CUDA driver sees no device: cuDeviceGetCount counts 0");
        Self::new(abi::LAZY_E_UNAVAILABLE, text)
    }

    #[cold]
    fn not_initialized() -> Self {
        let text = if driver::is_lost() {
            text!(
                "this process was forked from one that had initialized the CUDA driver, which does not survive that: start the child with exec"
            )
        } else {
            text!(
                "this process has not initialized the CUDA driver yet: initialize a once of lazy_cuda_setup first"
            )
        };
        Self::new(abi::LAZY_E_NOT_NOW, text)
    }

    /// As a callback that fails; what it returns.
    fn say(self) -> i32 {
        let returned = if self.code == 0 { -1 } else { self.code };
        error::say(Said {
            status: self.status,
            code: returned,
            shown: self.code,
            text: self.text,
        });
        returned
    }
}

const FORKED: &str = "this process was forked with the CUDA driver in it, which does not survive that: start the child with exec";

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let facts = Facts {
            code: refusal.code,
            ..Facts::default()
        };
        Self::new(Error::from_status(refusal.status, refusal.text), c"", facts)
    }
}
