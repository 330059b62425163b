//! Code that nothing may unwind out of: what runs on the way of an exception, or of the end of a thread, and runs user code
//! in turn. As in a C++ destructor, a second exception there ends the process.

/// Runs `body`. What would unwind out of it ends the process.
///
/// rustc would guard such a place itself, by a panic, and with it link all that can print one.
#[cfg(not(loom))]
pub(crate) fn noexcept<R>(body: impl FnOnce() -> R) -> R {
    struct Call<F, R> {
        body: Option<F>,
        result: Option<R>,
    }
    unsafe extern "C-unwind" fn run<F: FnOnce() -> R, R>(call: *mut c_void) {
        // SAFETY: made below, for this very function, and used by nobody else until it returns.
        let call = unsafe { &mut *call.cast::<Call<F, R>>() };
        call.result = call.body.take().map(|body| body());
    }
    fn of<F: FnOnce() -> R, R>(body: F) -> R {
        let mut call = Call {
            body: Some(body),
            result: None,
        };
        // SAFETY: the argument fits the function and lives until it has returned.
        unsafe { call_noexcept((&raw mut call).cast(), run::<F, R>) };
        call.result.invariant("what has returned has run")
    }
    of(body)
}

#[cfg(not(loom))]
use native::call_noexcept;
#[cfg(not(loom))]
use {super::invariant::Invariant, std::ffi::c_void};

#[cfg(not(loom))]
mod native {
    use crate::sys::invariant::end_process;
    use std::ffi::{c_int, c_void};

    type Body = unsafe extern "C-unwind" fn(*mut c_void);

    /// Calls `body`, in a frame that nothing passes: whoever unwinds asks each frame's personality routine first.
    ///
    /// # Safety
    /// `argument` is what `body` needs.
    #[unsafe(naked)]
    pub(super) unsafe extern "C" fn call_noexcept(argument: *mut c_void, body: Body) {
        // 0x1b: the routine is given by its distance, in four bytes.
        #[cfg(target_arch = "x86_64")]
        core::arch::naked_asm!(
            ".cfi_startproc",
            ".cfi_personality 0x1b, {personality}",
            "sub rsp, 8",
            ".cfi_def_cfa_offset 16",
            "call rsi",
            "add rsp, 8",
            ".cfi_def_cfa_offset 8",
            "ret",
            ".cfi_endproc",
            personality = sym personality
        );
        #[cfg(target_arch = "aarch64")]
        core::arch::naked_asm!(
            ".cfi_startproc",
            ".cfi_personality 0x1b, {personality}",
            "stp x29, x30, [sp, -16]!",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset x29, -16",
            ".cfi_offset x30, -8",
            "blr x1",
            "ldp x29, x30, [sp], 16",
            ".cfi_def_cfa_offset 0",
            ".cfi_restore x29",
            ".cfi_restore x30",
            "ret",
            ".cfi_endproc",
            personality = sym personality
        );
    }

    /// Asked by whoever unwinds, before anything is unwound if it is an exception.
    extern "C" fn personality(
        _version: c_int,
        _actions: c_int,
        _class: u64,
        _exception: *mut c_void,
        _context: *mut c_void,
    ) -> c_int {
        end_process([
            "lazyonce: a callback threw, or ended its thread, ",
            "on the way of another exception or of the end of the thread, or an on_event did",
            "
",
        ])
    }
}

/// In a model nothing unwinds but a failure of the model.
#[cfg(loom)]
pub(crate) fn noexcept<R>(body: impl FnOnce() -> R) -> R {
    body()
}
