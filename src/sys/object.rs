//! The loaded object that an address lies in, and the function there.
//!
//! `dladdr` waits for the lock that the loader holds while it runs constructors, and one of those may wait for the very thread that asks.
//! `_dl_find_object` (glibc 2.35) takes no lock and may be called in a signal handler; elsewhere `dl_iterate_phdr` takes one for a few steps,
//! which a signal handler must not have interrupted.

use super::loader::{LinkMap, symbol};
use super::symbols;
use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What was found, for as long as it is loaded; NULL for what was not.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub(super) file: *const c_char,
    /// How far into the object the address is.
    pub(super) offset: usize,
    /// By its name for the dynamic linker, which only some functions have.
    pub(super) function: *const c_char,
}

/// An object: its file's name, empty for the program itself, where it begins, and where its dynamic section is.
struct Object {
    name: *const c_char,
    base: usize,
    dynamic: usize,
}

/// The object only.
pub(super) fn of(address: usize) -> Found {
    search(address, false)
}

/// The function, too, which takes as long as the object has symbols.
pub(super) fn and_function(address: usize) -> Found {
    search(address, true)
}

fn search(address: usize, wants_function: bool) -> Found {
    let mut found = Found {
        file: std::ptr::null(),
        offset: 0,
        function: std::ptr::null(),
    };
    let fill = |object: &Object| {
        // SAFETY: a C string of the loader's.
        let is_program = object.name.is_null() || unsafe { *object.name } == 0;
        found.file = if is_program {
            // SAFETY: set by the C library before anything of ours runs.
            unsafe { program_invocation_name }
        } else {
            object.name
        };
        found.offset = address.wrapping_sub(object.base);
        if wants_function && object.dynamic != 0 {
            // SAFETY: the loader's own, of an object that somebody's code is running in.
            found.function = unsafe { symbols::name_at(object.base, object.dynamic, found.offset) };
        }
    };
    match FINDER.load(Relaxed) {
        _ if address == 0 => {}
        0 => iterate(address, fill),
        finder => ask(finder, address, fill),
    }
    found
}

unsafe extern "C" {
    /// The name by which the program was started.
    static program_invocation_name: *const c_char;
}

/// `_dl_find_object`, by its address; 0 where there is none. Relaxed: no data goes with it.
static FINDER: AtomicUsize = AtomicUsize::new(0);

type FindObject = unsafe extern "C" fn(*mut c_void, *mut FoundObject) -> c_int;

/// As glibc defines it; what follows is not looked at.
#[repr(C)]
struct FoundObject {
    flags: u64,
    start: usize,
    end: usize,
    link_map: *const LinkMap,
    rest: [usize; 16],
}

/// When the library is loaded.
pub(crate) fn look_up() {
    // SAFETY: the type is that of glibc's documentation.
    if let Some(finder) = unsafe { symbol::<FindObject>(libc::RTLD_DEFAULT, c"_dl_find_object") } {
        FINDER.store(finder as usize, Relaxed);
    }
}

fn ask(finder: usize, address: usize, fill: impl FnOnce(&Object)) {
    // SAFETY: stored by `look_up`.
    let finder = unsafe { std::mem::transmute::<usize, FindObject>(finder) };
    let mut found = MaybeUninit::<FoundObject>::zeroed();
    // SAFETY: any address may be asked about; there is room for more than is written.
    let map = unsafe {
        if finder(
            std::ptr::with_exposed_provenance_mut(address),
            found.as_mut_ptr(),
        ) != 0
        {
            return;
        }
        &*found.assume_init_ref().link_map
    };
    fill(&Object {
        name: map.name,
        base: map.base,
        dynamic: map.dynamic,
    });
}

struct Iteration<F> {
    address: usize,
    fill: Option<F>,
}

fn iterate<F: FnOnce(&Object)>(address: usize, fill: F) {
    let mut iteration = Iteration {
        address,
        fill: Some(fill),
    };
    // SAFETY: the function below, with its argument.
    unsafe { libc::dl_iterate_phdr(Some(look::<F>), (&raw mut iteration).cast()) };
}

unsafe extern "C" fn look<F: FnOnce(&Object)>(
    object: *mut libc::dl_phdr_info,
    _size: usize,
    iteration: *mut c_void,
) -> c_int {
    // SAFETY: given by `iterate`.
    let iteration = unsafe { &mut *iteration.cast::<Iteration<F>>() };
    // SAFETY: the loader describes an object that stays during this call.
    let object = unsafe { &*object };
    let base = object.dlpi_addr as usize;
    let offset = iteration.address.wrapping_sub(base);
    let mut dynamic = 0;
    let mut is_inside = false;
    for number in 0..object.dlpi_phnum.into() {
        // SAFETY: so many headers are there.
        let header = unsafe { &*object.dlpi_phdr.add(number) };
        let start = header.p_vaddr as usize;
        match header.p_type {
            libc::PT_LOAD => is_inside |= offset.wrapping_sub(start) < header.p_memsz as usize,
            libc::PT_DYNAMIC => dynamic = base.wrapping_add(start),
            _ => {}
        }
    }
    if is_inside && let Some(fill) = iteration.fill.take() {
        fill(&Object {
            name: object.dlpi_name,
            base,
            dynamic,
        });
    }
    is_inside.into()
}
