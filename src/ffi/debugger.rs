//! What a debugger reads first, in a program that is running or has left a core: see `cmake/lazyonce-gdb.py`.

use crate::once::{DEFAULT, LAYOUT, Once, registry};

/// An ELF note, because linkers keep notes that nothing refers to, `strip` keeps its section's name, and a debugger finds that.
#[repr(C)]
struct Note {
    name_size: u32,
    size: u32,
    /// Changes with what `LAYOUT` means.
    version: u32,
    name: [u8; 12],
    description: Description,
}

#[repr(C)]
struct Description {
    registry: &'static registry::Shared,
    default: &'static Once,
    layout: [u32; LAYOUT.len()],
}

// SAFETY: the section holds notes, as this is one; nothing reads it but from outside.
#[used]
#[unsafe(link_section = ".note.lazyonce")]
static NOTE: Note = Note {
    name_size: 9,
    size: size_of::<Description>() as u32,
    version: 1,
    name: *b"lazyonce\0\0\0\0",
    description: Description {
        registry: &registry::REGISTRY,
        default: &DEFAULT,
        layout: LAYOUT,
    },
};
