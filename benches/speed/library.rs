//! The C++ side: shared objects that show loops and gates in tables (peers/peer.hpp).

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;

/// Something done again and again. With the second argument of `run` two threads each use an object of their own, or the same.
#[derive(Clone, Copy)]
pub struct Loop {
    pub name: &'static str,
    pub run: extern "C" fn(u64, u32),
    pub before: Option<extern "C" fn(u64)>,
    pub after: Option<extern "C" fn()>,
}

impl Loop {
    pub fn prepare(&self, times: u64) {
        if let Some(before) = self.before {
            before(times);
        }
    }

    pub fn clear(&self) {
        if let Some(after) = self.after {
            after();
        }
    }
}

/// A kind of once, of which there is a fresh one in each round. As C++ reads it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Gate {
    name: *const c_char,
    pub make: Option<extern "C" fn()>,
    pub run: Option<extern "C" fn(extern "C" fn())>,
}

/// A loop as C++ writes it.
#[repr(C)]
pub struct RawLoop {
    name: *const c_char,
    run: Option<extern "C" fn(u64, u32)>,
    before: Option<extern "C" fn(u64)>,
    after: Option<extern "C" fn()>,
}

impl RawLoop {
    /// For [`measured`](Library::measured), which is handed one.
    pub fn of(each: &Loop) -> RawLoop {
        RawLoop {
            name: c"".as_ptr(),
            run: Some(each.run),
            before: each.before,
            after: each.after,
        }
    }
}

impl Gate {
    pub const fn new(
        name: &'static CStr,
        make: extern "C" fn(),
        run: extern "C" fn(extern "C" fn()),
    ) -> Gate {
        Gate {
            name: name.as_ptr(),
            make: Some(make),
            run: Some(run),
        }
    }

    pub fn name(&self) -> &'static str {
        // SAFETY: the name of a gate in a table, which is never unloaded.
        unsafe { text(self.name) }
    }
}

/// One of them, loaded until the process ends.
pub struct Library {
    handle: *mut c_void,
    pub loops: Vec<Loop>,
    pub gates: Vec<&'static Gate>,
}

impl Library {
    /// What is built into the bench.
    pub fn of(loops: Vec<Loop>, gates: Vec<&'static Gate>) -> Library {
        Library {
            handle: std::ptr::null_mut(),
            loops,
            gates,
        }
    }

    pub fn open(directory: &Path, name: &str) -> Result<Library, String> {
        let path = directory.join(format!("{name}.so"));
        let path = CString::new(path.to_string_lossy().as_bytes()).map_err(|e| e.to_string())?;
        // Bound now, so that no first call is measured.
        // SAFETY: ours, whose constructors do nothing that needs care.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        if handle.is_null() {
            // SAFETY: dlopen has just failed, so there is a text.
            return Err(unsafe { text(libc::dlerror()) }.to_owned());
        }
        let mut library = Library::of(Vec::new(), Vec::new());
        library.handle = handle;
        // SAFETY: each table has this type, and ends with an entry without a name.
        unsafe {
            let mut next = library.symbol(c"loops")?.cast::<RawLoop>();
            while let Some(run) = (*next).run {
                library.loops.push(Loop {
                    name: text((*next).name),
                    run,
                    before: (*next).before,
                    after: (*next).after,
                });
                next = next.add(1);
            }
            let mut next = library.symbol(c"gates")?.cast::<Gate>();
            while (*next).make.is_some() {
                library.gates.push(&*next);
                next = next.add(1);
            }
        }
        Ok(library)
    }

    pub fn symbol(&self, name: &CStr) -> Result<*mut c_void, String> {
        // SAFETY: a handle that stays open, and a C string.
        let found = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        (!found.is_null())
            .then_some(found)
            .ok_or_else(|| format!("{name:?} is missing"))
    }

    /// A function that it shows.
    ///
    /// # Safety
    /// `F` is the type of the function of that name.
    pub unsafe fn function<F: Copy>(&self, name: &CStr) -> Result<F, String> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        let found = self.symbol(name)?;
        // SAFETY: a function pointer, as the caller promises.
        Ok(unsafe { std::mem::transmute_copy(&found) })
    }

    pub fn find(&self, name: &str) -> Option<&Loop> {
        self.loops.iter().find(|each| each.name == name)
    }
}

/// # Safety
/// A C string that stays.
unsafe fn text(string: *const c_char) -> &'static str {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(string) }
        .to_str()
        .unwrap_or("not UTF-8")
}
