//! What happens when the library is loaded.

use crate::sys::noexcept::noexcept;

/// The fork handlers are registered before anybody can use the library: a thread that came first later, while another one is in
/// the middle of a fork, would take locks that the child then finds taken, and for which no handler runs there, since glibc runs
/// those that were registered when the fork began. Where the loader does not call this (a Rust program that links the crate may
/// lose it) the first use does the same.
extern "C" fn loaded() {
    noexcept(crate::fork::register);
}

/// Where the loader looks for functions to call.
// SAFETY: the section holds pointers to such functions; this one needs nothing that is not there yet.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;
