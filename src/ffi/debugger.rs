//! What a debugger reads first, in a program that is running or has left a core: see `cmake/lazyonce-gdb.py`.

use crate::once::{DEFAULT, LAYOUT, registry::REGISTRY};
use core::arch::global_asm;

/// Of what follows the name: two addresses, and [`LAYOUT`].
const SIZE: usize = 2 * size_of::<usize>() + size_of_val(&LAYOUT);

/// Changes with what [`LAYOUT`] means.
const VERSION: u32 = 1;

const _: () = assert!(LAYOUT.len() == 23);

// An ELF note, because linkers keep notes that nothing refers to, `strip` keeps its section's name, and a debugger finds that. It can be
// written to, since the addresses in it are relocated. In assembly, since what a `static` that is kept refers to becomes a symbol for
// everybody, of which two copies of the static library in one process would share one.
global_asm!(
    ".pushsection .note.lazyonce, \"aw\", %note",
    ".balign 8",
    ".long 9, {size}, {version}",
    ".asciz \"lazyonce\"",
    ".zero 3",
    ".quad {registry}, {default}",
    ".long {l0}, {l1}, {l2}, {l3}, {l4}, {l5}, {l6}, {l7}, {l8}, {l9}, {l10}, {l11}",
    ".long {l12}, {l13}, {l14}, {l15}, {l16}, {l17}, {l18}, {l19}, {l20}, {l21}, {l22}",
    ".balign 8",
    ".popsection",
    size = const SIZE,
    version = const VERSION,
    registry = sym REGISTRY,
    default = sym DEFAULT,
    l0 = const LAYOUT[0], l1 = const LAYOUT[1], l2 = const LAYOUT[2], l3 = const LAYOUT[3], l4 = const LAYOUT[4],
    l5 = const LAYOUT[5], l6 = const LAYOUT[6], l7 = const LAYOUT[7], l8 = const LAYOUT[8], l9 = const LAYOUT[9],
    l10 = const LAYOUT[10], l11 = const LAYOUT[11], l12 = const LAYOUT[12], l13 = const LAYOUT[13], l14 = const LAYOUT[14],
    l15 = const LAYOUT[15], l16 = const LAYOUT[16], l17 = const LAYOUT[17], l18 = const LAYOUT[18], l19 = const LAYOUT[19],
    l20 = const LAYOUT[20], l21 = const LAYOUT[21], l22 = const LAYOUT[22],
);
