//! One pointer of this thread's, found in half the steps of other thread-local storage: NULL at first, and without a destructor.
//!
//! By a descriptor, as gcc's `-mtls-dialect=gnu2` does and rustc cannot be told to. Where glibc has the room, which it keeps for
//! libraries that have no more than 512 bytes of such storage (`glibc.rtld.optional_static_tls`), finding the place is a call that
//! returns at once; else it is no slower than before. Either way it keeps every register but one, so nothing is saved around it.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(crate) use descriptor::{get, place};
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub(crate) use elsewhere::{get, place};

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod descriptor {
    use std::arch::{asm, global_asm};
    use std::ffi::c_void;

    global_asm!(
        ".pushsection .tbss.lazyonce_pointer, \"awT\", @nobits",
        ".hidden lazyonce_pointer",
        ".globl lazyonce_pointer",
        ".type lazyonce_pointer, @object",
        ".size lazyonce_pointer, 8",
        ".p2align 3",
        "lazyonce_pointer: .zero 8",
        ".popsection",
    );

    /// What `last` makes of the offset of the place in rax, which begins at the thread's own address.
    macro_rules! with_offset {
        ($last:literal) => {{
            let result;
            // SAFETY: the sequence that linkers know. glibc before 2.40 may spoil vector registers, when it allocates the storage.
            unsafe {
                asm!(
                    "lea rax, [rip + lazyonce_pointer@TLSDESC]",
                    "call [rax + lazyonce_pointer@TLSCALL]",
                    $last,
                    out("rax") result,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                    out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                    out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                    out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                );
            }
            result
        }};
    }

    #[inline(always)]
    pub(crate) fn get() -> *mut c_void {
        with_offset!("mov rax, fs:[rax]")
    }

    /// Where it is, for as long as this thread lives.
    pub(crate) fn place() -> *mut *mut c_void {
        with_offset!("add rax, fs:[0]")
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod elsewhere {
    use crate::sys::local::Local;
    use std::cell::Cell;
    use std::ffi::c_void;

    thread_local! {
        static POINTER: Cell<*mut c_void> = const { Cell::new(std::ptr::null_mut()) };
    }

    #[inline(always)]
    pub(crate) fn get() -> *mut c_void {
        POINTER.here(Cell::get)
    }

    /// Where it is, for as long as this thread lives.
    pub(crate) fn place() -> *mut *mut c_void {
        POINTER.here(Cell::as_ptr)
    }
}
