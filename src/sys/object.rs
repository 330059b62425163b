//! The loaded object that an address lies in.
//!
//! Found through `dl_iterate_phdr`. `dladdr` waits for the lock that the loader holds while it runs constructors, and one of those may
//! wait for the very thread that asks; the lock here is held for a few steps only.

use std::ffi::{c_char, c_int, c_void};

struct Search {
    address: usize,
    file: *const c_char,
    offset: usize,
}

/// Its file, for as long as it is loaded, and how far into it the address is; NULL where there is none.
pub(super) fn of(address: usize) -> (*const c_char, usize) {
    let mut search = Search {
        address,
        file: std::ptr::null(),
        offset: 0,
    };
    if address != 0 {
        // SAFETY: the function below, with its argument.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    }
    (search.file, search.offset)
}

unsafe extern "C" {
    /// The name by which the program was started.
    static program_invocation_name: *const c_char;
}

unsafe extern "C" fn look(
    object: *mut libc::dl_phdr_info,
    _size: usize,
    search: *mut c_void,
) -> c_int {
    // SAFETY: given by `of`.
    let search = unsafe { &mut *search.cast::<Search>() };
    // SAFETY: the loader describes an object that stays during this call.
    let object = unsafe { &*object };
    let base = object.dlpi_addr as usize;
    let offset = search.address.wrapping_sub(base);
    for number in 0..object.dlpi_phnum.into() {
        // SAFETY: so many headers are there.
        let header = unsafe { &*object.dlpi_phdr.add(number) };
        let start = header.p_vaddr as usize;
        if header.p_type == libc::PT_LOAD && offset.wrapping_sub(start) < header.p_memsz as usize {
            // SAFETY: a C string, empty for the program itself.
            let is_program = unsafe { object.dlpi_name.is_null() || *object.dlpi_name == 0 };
            search.file = if is_program {
                // SAFETY: set by the C library before anything of ours runs.
                unsafe { program_invocation_name }
            } else {
                object.dlpi_name
            };
            search.offset = offset;
            return 1;
        }
    }
    0
}
