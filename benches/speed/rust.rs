//! The onces of Rust, with the loop and the gate that peers/peer.hpp gives to those of C++.

use crate::library::{Gate, Library, Loop};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

#[repr(align(128))]
struct Apart<T>(T);

/// As in peers/peer.hpp: nothing is kept from one turn to the next.
#[inline(always)]
fn turn() {
    // SAFETY: no instruction.
    unsafe { std::arch::asm!("", options(nostack, preserves_flags)) };
}

#[inline(never)]
extern "C" fn nothing() {
    turn();
}

/// The loop and the gate of one kind.
macro_rules! once {
    ($module:ident, $name:literal, $type:ty, |$once:ident, $initialize:ident| $call:expr) => {
        mod $module {
            use super::*;

            static READY: [Apart<$type>; 2] = [const { Apart(<$type>::new()) }; 2];
            static FRESH: AtomicPtr<$type> = AtomicPtr::new(std::ptr::null_mut());

            #[inline(always)]
            fn call($once: &$type, $initialize: impl FnOnce()) {
                $call;
            }

            extern "C" fn before(_times: u64) {
                for once in &READY {
                    call(&once.0, || nothing());
                }
            }

            extern "C" fn run(mut times: u64, which: u32) {
                let once = &READY[which as usize].0;
                while times != 0 {
                    turn();
                    call(once, || nothing());
                    times -= 1;
                }
            }

            /// A fresh one in place of the last, which nobody uses any more.
            extern "C" fn make() {
                let last = FRESH.swap(Box::into_raw(Box::new(<$type>::new())), Relaxed);
                if !last.is_null() {
                    // SAFETY: it came from a box, and every call on it has returned.
                    drop(unsafe { Box::from_raw(last) });
                }
            }

            extern "C" fn start(initialize: extern "C" fn()) {
                // SAFETY: made before the round began, and replaced only after it.
                call(unsafe { &*FRESH.load(Relaxed) }, || initialize());
            }

            pub static LOOP: Loop = Loop {
                name: $name,
                run,
                before: Some(before),
                after: None,
            };
            pub fn gate() -> &'static Gate {
                const NAME: &std::ffi::CStr =
                    match std::ffi::CStr::from_bytes_with_nul(concat!($name, "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => c"",
                    };
                Box::leak(Box::new(Gate::new(NAME, make, start)))
            }
        }
    };
}

once!(
    std_once,
    "Rust Once",
    std::sync::Once,
    |once, initialize| once.call_once(initialize)
);
once!(
    std_once_lock,
    "Rust OnceLock",
    std::sync::OnceLock<()>,
    |once, initialize| once.get_or_init(initialize)
);
once!(
    once_cell_sync,
    "once_cell::sync::OnceCell",
    once_cell::sync::OnceCell<()>,
    |once, initialize| once.get_or_init(initialize)
);
once!(
    parking_lot_once,
    "parking_lot::Once",
    parking_lot::Once,
    |once, initialize| once.call_once(initialize)
);

/// As if they stood in a library of C++.
pub fn library() -> Library {
    Library::of(
        vec![
            std_once::LOOP,
            std_once_lock::LOOP,
            once_cell_sync::LOOP,
            parking_lot_once::LOOP,
        ],
        vec![
            std_once::gate(),
            std_once_lock::gate(),
            once_cell_sync::gate(),
            parking_lot_once::gate(),
        ],
    )
}
