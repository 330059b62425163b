//! The end of a thread: its values are ended, its permits given back, its errors freed. Runs as the destructor of a pthread key,
//! since a `thread_local!` with a destructor would pin or crash an object that is unloaded.

use crate::sys::noexcept::noexcept;
use crate::sys::thread::inside;
use core::ffi::c_void;

/// The destructor of the library's one key. Other libraries' destructors may run after it and call in again; then it
/// runs once more. A host that does not want this thread any more ends it in here, as CPython up to 3.13 does at its own end: that passes
/// through, and that value is leaked.
pub(crate) unsafe extern "C-unwind" fn thread_exit(_: *mut c_void) {
    struct Rest;
    impl Drop for Rest {
        fn drop(&mut self) {
            inside(|| {
                noexcept(|| {
                    crate::stay::forget_thread();
                    crate::slot::end_left();
                    crate::once::forget_thread();
                    crate::ffi::forget_view();
                    crate::error::forget_thread();
                    if crate::slot::is_left() {
                        // The C library goes through the keys again, a few times.
                        crate::sys::thread::run_at_exit(thread_exit);
                    }
                })
            });
        }
    }
    crate::sys::thread::exit_has_run();
    // User code, which may need the rest.
    let _rest = Rest;
    inside(crate::slot::forget_thread);
}
