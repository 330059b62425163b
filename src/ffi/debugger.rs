//! What a debugger reads first, in a program that is running or has left a core: see `cmake/lazyonce-gdb.py`.

use crate::once::{DEFAULT, LAYOUT as ONCE, registry::REGISTRY};
use crate::slot::LAYOUT as SLOT;
use crate::stay::{LAYOUT as STAY, TABLE, UNTOLD};
use core::arch::global_asm;

/// Of what follows the name: four addresses, and where things are in what is there.
const SIZE: usize =
    4 * size_of::<usize>() + size_of_val(&ONCE) + size_of_val(&SLOT) + size_of_val(&STAY);

/// Changes with what those mean.
const VERSION: u32 = 3;

const _: () =
    assert!(ONCE.len() == 21 && SLOT.len() == 2 && STAY.0.len() == 2 && STAY.1.len() == 7);

// An ELF note, because linkers keep notes that nothing refers to, `strip` keeps its section's name, and a debugger finds that. It can be
// written to, since the addresses in it are relocated. In assembly, since what a `static` that is kept refers to becomes a symbol for
// everybody, of which two copies of the static library in one process would share one.
global_asm!(
    ".pushsection .note.lazyonce, \"aw\", %note",
    ".balign 8",
    ".long 9, {size}, {version}",
    ".asciz \"lazyonce\"",
    ".zero 3",
    ".quad {registry}, {default}, {stays}, {untold}",
    ".long {l0}, {l1}, {l2}, {l3}, {l4}, {l5}, {l6}, {l7}, {l8}, {l9}, {l10}, {l11}",
    ".long {l12}, {l13}, {l14}, {l15}, {l16}, {l17}, {l18}, {l19}, {l20}",
    ".long {s0}, {s1}",
    ".long {t0}, {t1}, {t2}, {t3}, {t4}, {t5}, {t6}, {t7}, {t8}",
    ".balign 8",
    ".popsection",
    size = const SIZE,
    version = const VERSION,
    registry = sym REGISTRY,
    default = sym DEFAULT,
    stays = sym TABLE,
    untold = sym UNTOLD,
    l0 = const ONCE[0], l1 = const ONCE[1], l2 = const ONCE[2], l3 = const ONCE[3], l4 = const ONCE[4],
    l5 = const ONCE[5], l6 = const ONCE[6], l7 = const ONCE[7], l8 = const ONCE[8], l9 = const ONCE[9],
    l10 = const ONCE[10], l11 = const ONCE[11], l12 = const ONCE[12], l13 = const ONCE[13], l14 = const ONCE[14],
    l15 = const ONCE[15], l16 = const ONCE[16], l17 = const ONCE[17], l18 = const ONCE[18], l19 = const ONCE[19],
    l20 = const ONCE[20],
    s0 = const SLOT[0], s1 = const SLOT[1],
    t0 = const STAY.0[0], t1 = const STAY.0[1], t2 = const STAY.1[0], t3 = const STAY.1[1], t4 = const STAY.1[2],
    t5 = const STAY.1[3], t6 = const STAY.1[4], t7 = const STAY.1[5], t8 = const STAY.1[6],
);
