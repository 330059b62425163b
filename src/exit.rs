//! The end of a thread: its values are ended, its permits given back, its errors freed. Runs as the destructor of a pthread key, since a `thread_local!` with a
//! destructor would pin or crash an object that is unloaded.

use crate::sys::noexcept::noexcept;
use core::ffi::c_void;

/// The destructor of the library's one key. Other libraries' destructors may run after it and call in again; then it
/// runs once more.
pub(crate) extern "C" fn thread_exit(_: *mut c_void) {
    crate::sys::thread::exit_has_run();
    // User code, which may need the rest.
    noexcept(crate::slot::forget_thread);
    crate::once::forget_thread();
    crate::ffi::forget_view();
    crate::error::forget_thread();
}
