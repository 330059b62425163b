//! Frames of this thread's stack, by their addresses: which of them cannot be there any more. A `longjmp` over them leaves no other
//! trace.

use super::local::Local;
use std::cell::Cell;

thread_local! {
    /// A frame of the latest call into the library.
    static ENTERED: Cell<usize> = const { Cell::new(0) };
}

/// An address in the frame that this is inlined into.
#[inline(always)]
pub(crate) fn here() -> usize {
    let place = 0u8;
    std::hint::black_box(&raw const place).addr()
}

/// The library is entered, by the frame that this is inlined into.
#[inline(always)]
pub(crate) fn enter() {
    let frame = here();
    ENTERED.here(|entered| entered.set(frame));
}

/// Is that frame gone? The latest call would have come from above it then, and lie deeper otherwise. Frames of other stacks, such as
/// coroutines', are never taken for gone.
#[inline(always)]
pub(crate) fn is_gone(frame: usize) -> bool {
    let entered = ENTERED.here(Cell::get);
    entered > frame && has_both(frame, entered)
}

#[cold]
fn has_both(frame: usize, entered: usize) -> bool {
    bounds().is_some_and(|(low, high)| low <= frame && entered < high)
}

/// This thread's own stack, as long as it is asked for seldom: the C library reads a file for it.
fn bounds() -> Option<(usize, usize)> {
    let (mut low, mut size) = (std::ptr::null_mut(), 0);
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: filled if it returns 0, and destroyed then.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let known = libc::pthread_attr_getstack(attributes.as_ptr(), &mut low, &mut size) == 0;
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        known.then(|| (low.addr(), low.addr() + size))
    }
}
