//! The dynamic symbols of a loaded object, in its own memory.

use std::ffi::c_char;
use std::ptr::{null, with_exposed_provenance};

#[repr(C)]
struct Dynamic {
    tag: u64,
    value: usize,
}

const STRINGS: u64 = 5;
const SYMBOLS: u64 = 6;
const GNU_HASH: u64 = 0x6fff_fef5;

/// The types of symbols that are code or could be.
const NO_TYPE: u8 = 0;
const FUNCTION: u8 = 2;
const CHOSEN_FUNCTION: u8 = 10;

/// The name of the function that the place at `offset` lies in; NULL for none.
///
/// # Safety
/// An object at `base`, whose dynamic section is at `dynamic`, that stays loaded during this call.
pub(super) unsafe fn name_at(base: usize, dynamic: usize, offset: usize) -> *const c_char {
    let (mut strings, mut symbols, mut hash) = (0, 0, 0);
    let mut entry = with_exposed_provenance::<Dynamic>(dynamic);
    loop {
        // SAFETY: the section ends with an entry whose tag is 0.
        let Dynamic { tag, value } = unsafe { entry.read() };
        match tag {
            0 => break,
            STRINGS => strings = value,
            SYMBOLS => symbols = value,
            GNU_HASH => hash = value,
            _ => {}
        }
        // SAFETY: as above.
        entry = unsafe { entry.add(1) };
    }
    if strings == 0 || symbols == 0 || hash == 0 {
        return null();
    }
    // Some loaders leave them as they stand in the file.
    let at = |place: usize| if place < base { base + place } else { place };
    let symbols = with_exposed_provenance::<libc::Elf64_Sym>(at(symbols));
    let mut best = None;
    // SAFETY: the table of the same object.
    for index in 0..unsafe { count(with_exposed_provenance(at(hash))) } {
        // SAFETY: so many are there.
        let symbol = unsafe { &*symbols.add(index) };
        let start = symbol.st_value as usize;
        let is_code = matches!(symbol.st_info & 0xf, NO_TYPE | FUNCTION | CHOSEN_FUNCTION);
        let has_it = offset.wrapping_sub(start) < (symbol.st_size as usize).max(1);
        if symbol.st_shndx != 0 && is_code && has_it && best.is_none_or(|(best, _)| best <= start) {
            best = Some((start, symbol.st_name as usize));
        }
    }
    match best {
        Some((_, name)) => with_exposed_provenance(at(strings) + name),
        None => null(),
    }
}

/// How many symbols there are. Only the table for looking them up tells: those in it stand last, and the last of each chain has a mark.
///
/// # Safety
/// Such a table.
unsafe fn count(hash: *const u32) -> usize {
    // SAFETY: four numbers, the filter in words of 64 bits, the buckets, and the chains, each as long as the numbers say.
    unsafe {
        let [buckets, first, filter] = [0, 1, 2].map(|place| *hash.add(place) as usize);
        let bucket = hash.add(4 + filter * 2);
        let mut last = (0..buckets)
            .map(|number| *bucket.add(number) as usize)
            .max()
            .unwrap_or(0);
        if last < first {
            return first;
        }
        let chain = bucket.add(buckets);
        while *chain.add(last - first) & 1 == 0 {
            last += 1;
        }
        last + 1
    }
}
