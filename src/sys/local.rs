//! Storage of this thread's: constant-initialised and without a destructor, so it is there at every moment, also in a signal
//! handler and at the end of the thread.

use super::invariant::Invariant;
use std::thread::LocalKey;

/// Access without the panic of the standard one, which is for storage that can be gone.
pub(crate) trait Local<T: 'static> {
    fn here<R>(&'static self, act: impl FnOnce(&T) -> R) -> R;
}

impl<T: 'static> Local<T> for LocalKey<T> {
    #[inline(always)]
    fn here<R>(&'static self, act: impl FnOnce(&T) -> R) -> R {
        self.try_with(act)
            .ok()
            .invariant("storage without a destructor is there")
    }
}
