//! Chapter 9 of the header: the CUDA driver.

use super::{entry, with_return_address};
use crate::abi::{self, lazy_cuda_info, lazy_cuda_options, lazy_once, lazy_status};
use crate::cuda;
use crate::error::Failure;
use crate::sys::site::Origin;
use crate::sys::sized::{Foreign, Target};
use crate::sys::text::text;

/// Makes the CUDA driver what initializing `once` starts: `cuInit(0)` and the count of devices, and nothing else: no context, no
/// memory, no stream.
///
/// It sets `initialize`, `ctx`, `prepare`, and `on_fork` to `LAZY_FORK_POISON`; the rest of the configuration stays, a `can_init` with
/// the `ctx` that it came with. On a once of `lazy_once_named` the first configuration is the only one, by this or by `lazy_once_configure`:
/// who wants a `can_init`, a limit or a host of its own as well sets up a once of its own, and configures the named one with those,
/// `LAZY_FORK_POISON`, and an `initialize` that calls `lazy_once_init` on it; what the driver said is then the error's cause. A once
/// without a name is called "cuda". Nothing is loaded: the first attempt opens `libcuda.so.1`, or else `libcuda.so`, at run time,
/// before it is owned, and has every entry before it calls one. The library itself needs no driver.
///
/// ```text
/// lazy_once *cuda = lazy_once_named("cuda");
/// if (lazy_cuda_setup(cuda, NULL) < 0 || lazy_once_init(cuda) < 0) puts(lazy_last_error()->message);
/// ```
///
/// An attempt ends, beside what `lazy_once_init` says, with these; the error's `code` is the driver's result, 0 if the driver gave none:
///
/// - `LAZY_E_UNAVAILABLE`: there is no driver library, no device (100, or a count of 0), a symbol is missing, or the library is a stub
///   to link with (34); the message says which.
/// - `LAZY_E_NOT_NOW`: the system or its MPS server is not ready (802, 805 to 808): try again later.
/// - `LAZY_E_FORKED`: 3, in a child that was forked after the driver's library was loaded, as far as can be known; or it was forked in the
///   middle of that.
/// - `LAZY_E_INIT`: any other result.
///
/// Each loses nothing that is queued, and can be tried again. A library that was loaded stays for the process: what lacks a symbol, or is a
/// stub, does so at every try. In a library that was built without its feature `cuda`, `lazy_cuda_setup` is `LAZY_OK` all the same, the
/// attempt and `lazy_cuda_query` are `LAZY_E_UNAVAILABLE`, and `lazy_cuda_bind_thread` is `LAZY_E_NOT_NOW`.
///
/// - `once`: the once, before its first attempt.
/// - `options`: NULL for the defaults.
///
/// **Returns**
/// - `LAZY_OK`: set up, now or before.
/// - `LAZY_E_TOO_LATE`, `LAZY_E_CLOSED`, `LAZY_E_NOMEM`: as `lazy_once_configure`; the first also on a named once that was configured.
/// - `LAZY_E_INVALID`: `once` is NULL or not a once that this library knows, or `options` has unknown flags, a `size` that does not cover
///   `flags`, or non-zero bytes beyond what this library knows.
///
/// **Threads** Any, at any time, also before `main`; not in a signal handler.
///
/// **Blocking** Never.
///
/// **Unwinding and fork** Runs no callback, never unwinds. A forked child keeps the configuration.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_cuda_setup(
    once: *mut lazy_once,
    options: *const lazy_cuda_options,
) -> lazy_status {
    with_return_address!(setup_body, "rdx", "x2")
}

unsafe extern "C-unwind" fn setup_body(
    once: *mut lazy_once,
    options: *const lazy_cuda_options,
    caller: usize,
) -> lazy_status {
    // SAFETY: the C caller passes a once, and options, or NULL for either.
    let (once, options) = unsafe { (entry::once(once), Foreign::new(options)) };
    entry::slow(|| {
        cuda::set_up(entry::owned(once)?, options, Origin::Address(caller)).map(|()| abi::LAZY_OK)
    })
}

/// Tells what is known of the CUDA driver without initializing it; opens its library if nobody has.
///
/// - `info`: filled, only `size` bytes of it. Begin with `LAZY_CUDA_INFO_INIT`.
///
/// **Returns**
/// - `LAZY_OK`: filled.
/// - `LAZY_E_UNAVAILABLE`: there is no driver library, a symbol is missing, or it is a stub; the message says which. Nothing was written,
///   here and below.
/// - `LAZY_E_NOT_NOW`, `LAZY_E_FORKED`, `LAZY_E_INIT`: the driver refused to tell its version, as with `lazy_cuda_setup`.
/// - `LAZY_E_INVALID`: `info` is NULL, its `size` does not cover `driver_version`, or is larger than this library knows, with non-zero
///   bytes there.
/// - `LAZY_E_NOMEM`: no memory for the driver's entries.
///
/// **Threads** Any; not in a signal handler.
///
/// **Blocking** As long as loading the library takes; no lock is held meanwhile.
///
/// **Unwinding and fork** Spoils nothing for a later fork.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lazy_cuda_query(info: *mut lazy_cuda_info) -> lazy_status {
    // SAFETY: the C caller passes a struct of at least `size` bytes, or NULL.
    let info = unsafe { Target::new(info) };
    entry::slow(|| {
        match info.check() {
            None => return Err(Failure::invalid("the info is NULL")),
            Some(Err(malformed)) => {
                return Err(Failure::invalid(text!("lazy_cuda_info.size: {malformed}")));
            }
            Some(Ok(())) => {}
        }
        info.fill(&cuda::query()?);
        Ok(abi::LAZY_OK)
    })
}

/// Makes the primary context of a device current on this thread, and retains it first if this process has not: once for each device,
/// whichever thread comes first.
///
/// It initializes nothing. A context is never given back, not at exit either, where the driver may be gone; somebody who resets a
/// primary context takes it from everybody.
///
/// - `device`: its ordinal, as `CUDA_VISIBLE_DEVICES` counts, from 0.
///
/// **Returns**
/// - `LAZY_OK`: it is this thread's.
/// - `LAZY_E_NOT_NOW`: this process has not initialized the driver through a once of `lazy_cuda_setup`; its queued callbacks may bind. It
///   may not be able to, where the parent had initialized it: the message says so. Or the driver is not ready, as with
///   `lazy_cuda_setup`.
/// - `LAZY_E_INVALID`: there is no device of that ordinal.
/// - `LAZY_E_INIT`, `LAZY_E_UNAVAILABLE`, `LAZY_E_FORKED`: the driver refused, as with `lazy_cuda_setup`; the error's `code` is its
///   result. The thread's context is as it was; the next call tries again.
/// - `LAZY_E_DEADLOCK`: waiting for the thread that retains it would never end.
/// - `LAZY_E_HOST`, `LAZY_E_INTERRUPTED`: the host refused this thread, or gave up its wait.
/// - `LAZY_E_NOMEM`: no memory for what the library keeps of the context.
///
/// **Threads** Any, for itself; not in a signal handler.
///
/// **Blocking** For as long as the driver takes to make the context, here or on another thread.
///
/// **Unwinding and fork** A forked child has no contexts, and has not initialized the driver.
///
/// **Since** 0.1.0
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn lazy_cuda_bind_thread(device: i32) -> lazy_status {
    with_return_address!(bind_body, "rsi", "x1")
}

unsafe extern "C-unwind" fn bind_body(device: i32, caller: usize) -> lazy_status {
    entry::slow(|| cuda::bind(device, Origin::Address(caller)).map(|()| abi::LAZY_OK))
}
