//! What the environment asks for. It is read once, when the library is loaded.

use super::{file, wait};
use crate::dump;
use crate::sys::environment::{absolute, variable};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Relaxed: what it guards against is a second thread that comes first, where the loader has not called the library.
static IS_READ: AtomicBool = AtomicBool::new(false);

pub(crate) fn read() {
    if IS_READ.swap(true, Relaxed) {
        return;
    }
    if let Some(path) = variable(c"LAZYONCE_TRACE").and_then(absolute) {
        file::begin(path);
    }
    if let Some(signal) = variable(c"LAZYONCE_DUMP_SIGNAL") {
        dump::at_signal(&signal);
    }
    if let Some(seconds) = variable(c"LAZYONCE_WARN_AFTER") {
        wait::warn_after(&seconds);
    }
}
