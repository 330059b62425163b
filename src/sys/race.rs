//! What a race detector must be told. ThreadSanitizer sees only code that was compiled with it, so a program under it
//! would get false reports for everything that this library orders. The runtime is looked up in the process; where there
//! is none, each call is one load and a branch.

#[cfg(not(loom))]
mod native {
    use std::ffi::c_void;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    type Annotation = unsafe extern "C" fn(*mut c_void);

    // Relaxed: a thread that does not see them yet has not yet met another thread's work through the library either, since
    // they are written before the first gate exists. 0 where no runtime is.
    static ACQUIRE: AtomicUsize = AtomicUsize::new(0);
    static RELEASE: AtomicUsize = AtomicUsize::new(0);

    /// Looks for the runtime. Is it there?
    pub(crate) fn look_up() -> bool {
        let find = |name: &std::ffi::CStr| {
            // SAFETY: a C string; the lookup touches nothing else.
            unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }.addr()
        };
        RELEASE.store(find(c"__tsan_release"), Relaxed);
        ACQUIRE.store(find(c"__tsan_acquire"), Relaxed);
        // A name that was not found is no error of the program's. The first call takes it, the second frees it.
        // SAFETY: no preconditions; the text is not looked at.
        unsafe {
            libc::dlerror();
            libc::dlerror();
        }
        ACQUIRE.load(Relaxed) != 0
    }

    /// Is there a runtime to be told?
    #[inline(always)]
    pub(crate) fn is_watched() -> bool {
        ACQUIRE.load(Relaxed) != 0
    }

    /// This thread now sees what was released at this address.
    #[inline(always)]
    pub(crate) fn acquire<T>(at: *const T) {
        annotate(&ACQUIRE, at);
    }

    /// What this thread did is there for whoever acquires this address.
    #[inline(always)]
    pub(crate) fn release<T>(at: *const T) {
        annotate(&RELEASE, at);
    }

    #[inline(always)]
    fn annotate<T>(function: &AtomicUsize, at: *const T) {
        let function = function.load(Relaxed);
        if function != 0 {
            call(function, at.cast());
        }
    }

    #[cold]
    fn call(function: usize, at: *const c_void) {
        let function = std::ptr::with_exposed_provenance::<c_void>(function);
        // SAFETY: the runtime's function of that name has this type; the address is a key.
        unsafe { std::mem::transmute::<*const c_void, Annotation>(function)(at.cast_mut()) };
    }
}

#[cfg(not(loom))]
pub(crate) use native::*;

#[cfg(loom)]
pub(crate) fn acquire<T>(_at: *const T) {}

#[cfg(loom)]
pub(crate) fn release<T>(_at: *const T) {}
