//! The exported functions: each checks its arguments, calls one safe function and translates the answer. No logic.
//!
//! One file per chapter of the header, whose text the comments here become. Two rules hold for all of them. An exported
//! function never calls another exported one, because the dynamic linker may have bound that name to a stranger. And
//! every function that may run user code is `"C-unwind"`, with no frame of ours that catches, so that an exception or
//! the end of a thread passes through.

use crate::abi::lazy_site;
use crate::sys::site::Origin;

mod card;
mod cpython;
mod cuda;
mod debugger;
mod entry;
mod error;
mod host;
mod life;
mod load;
mod once;
mod permit;
mod request;
mod slot;
mod state;
mod trace;
mod view;

pub(crate) use view::forget as forget_view;

#[cfg(panic = "abort")]
compile_error!(
    "lazyonce runs callbacks that may throw: build it with panic = \"unwind\", because \"abort\" would end the process"
);

/// Hands the caller's return address to `$body` as one more argument and becomes that function.
///
/// It must be the whole body of a naked function: the address is where the call left it only as long as no prologue has
/// run. `$x86_64` and `$aarch64` are the registers of the argument that follows the function's own.
macro_rules! with_return_address {
    ($body:path, $x86_64:literal, $aarch64:literal) => {{
        #[cfg(target_arch = "x86_64")]
        core::arch::naked_asm!(
            concat!("mov ", $x86_64, ", qword ptr [rsp]"),
            "jmp {body}",
            body = sym $body
        );
        #[cfg(target_arch = "aarch64")]
        core::arch::naked_asm!(concat!("mov ", $aarch64, ", x30"), "b {body}", body = sym $body);
    }};
}
use with_return_address;

/// The place that the caller gave, or else the address that it called from.
///
/// # Safety
///
/// `site` is NULL or valid to read.
unsafe fn origin(site: *const lazy_site, caller: usize) -> Origin {
    // SAFETY: as the caller of this function guarantees.
    match unsafe { site.as_ref() } {
        Some(site) if !site.file.is_null() => Origin::Here {
            file: site.file,
            line: site.line,
            function: site.function,
        },
        _ => Origin::Address(caller),
    }
}
