//! Who finds the way through this library's frames when something unwinds.
//!
//! Every frame with something to clean up names a personality routine, which is rustc's. That one can also catch panics, and can
//! itself panic, so that all that prints a panic would be linked with it. Nothing here catches, so the shared library takes the
//! routine of C instead, which runs what is to be cleaned up and goes on: `cmake/build.rs` tells the linker to read this
//! pointer where it would read the one to rustc's. A linker that does not, or a static library, has the other one, which does
//! the same.

core::arch::global_asm!(
    ".pushsection .data.rel.ro.lazyonce_personality, \"aw\"",
    ".balign 8",
    ".globl lazyonce_personality",
    ".hidden lazyonce_personality",
    "lazyonce_personality:",
    ".quad __gcc_personality_v0",
    ".popsection",
);
