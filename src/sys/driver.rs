//! The CUDA driver's library: opened at run time, never closed, and called with plain integers, since its results are numbers that
//! later drivers add to.

use super::birthmark;
use super::file;
use super::invariant::Invariant;
use super::loader::Library;
use super::memory::{try_box, try_c_string};
use super::process;
use super::text::{Lossy, Text, append, text};
use super::thread;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

/// A CUcontext.
pub(crate) type Context = *mut c_void;

type DescribeFn = unsafe extern "C-unwind" fn(c_int, *mut *const c_char) -> c_int;

/// The entries that are used. A thread may end inside one.
pub(crate) struct Driver {
    pub(crate) library: &'static CStr,
    init: unsafe extern "C-unwind" fn(c_uint) -> c_int,
    get_version: unsafe extern "C-unwind" fn(*mut c_int) -> c_int,
    get_count: unsafe extern "C-unwind" fn(*mut c_int) -> c_int,
    get_device: unsafe extern "C-unwind" fn(*mut c_int, c_int) -> c_int,
    retain: unsafe extern "C-unwind" fn(*mut Context, c_int) -> c_int,
    set_current: unsafe extern "C-unwind" fn(Context) -> c_int,
    /// For messages only, so a driver may lack them.
    get_name: Option<DescribeFn>,
    get_text: Option<DescribeFn>,
}

/// Why there is no driver.
#[derive(thiserror::Error, Debug)]
pub(crate) enum Absent {
    #[error("this lazyonce was built without its feature `cuda`")]
    NotBuilt,
    #[error("there is no CUDA driver library: {0}")]
    NoLibrary(Text),
    #[error("{0} is a stub or a broken driver: it has no symbol {1}")]
    NoSymbol(Text, &'static str),
    #[error(
        "this process was forked while the CUDA driver was being loaded, which is only half there: start the child with exec"
    )]
    Torn,
    #[error("no memory for the entries of the CUDA driver")]
    NoMemory,
}

/// The driver's own name first: in a toolkit's folder the other one is a stub, to link with.
const NAMES: [&CStr; 2] = [c"libcuda.so.1", c"libcuda.so"];

/// Made by whoever comes first and never freed. Release and Acquire: the entries behind the pointer.
static DRIVER: AtomicPtr<Driver> = AtomicPtr::new(null_mut());
// Relaxed, all of them: a child reads what its one thread finds there and writes.
/// How many threads are loading it.
static LOADING: AtomicU32 = AtomicU32::new(0);
/// This process was forked meanwhile.
static IS_TORN: AtomicBool = AtomicBool::new(false);
/// The process that forked this one.
static PARENT: AtomicU32 = AtomicU32::new(0);
/// This process was forked with the driver's library in it.
static IS_INHERITED: AtomicBool = AtomicBool::new(false);
/// `cuInit` has succeeded in this process.
static IS_STARTED: AtomicBool = AtomicBool::new(false);
/// It has in one that this process was forked from.
static IS_LOST: AtomicBool = AtomicBool::new(false);

pub(crate) fn is_inherited() -> bool {
    IS_INHERITED.load(Ordering::Relaxed)
}

pub(crate) fn is_lost() -> bool {
    IS_LOST.load(Ordering::Relaxed)
}

/// In a forked child, before anything else.
pub(crate) fn inherit() {
    PARENT.store(process::parent(), Ordering::Relaxed);
    if LOADING.load(Ordering::Relaxed) > 0 {
        IS_TORN.store(true, Ordering::Relaxed);
    }
    if get().is_some() {
        IS_INHERITED.store(true, Ordering::Relaxed);
    }
    if IS_STARTED.swap(false, Ordering::Relaxed) {
        IS_LOST.store(true, Ordering::Relaxed);
    }
}

/// In a child that finds the library loaded by somebody else: was it only after the fork, so that the parent has none? One that is gone, or
/// may not be looked at, may have had it.
fn is_parent_without_it() -> bool {
    let parent = PARENT.load(Ordering::Relaxed);
    let look = || {
        let path = try_c_string(text!("/proc/{parent}/maps").as_bytes()).ok()?;
        file::contains(&path, b"libcuda.so")
    };
    process::parent() == parent && look() == Some(false)
}

/// Of a thread that loads the library, also if it ends in there.
struct Loading;

impl Loading {
    fn begin() -> Self {
        LOADING.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Loading {
    fn drop(&mut self) {
        LOADING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The driver, if it has been opened.
pub(crate) fn get() -> Option<&'static Driver> {
    // SAFETY: NULL, or made below and never freed.
    unsafe { DRIVER.load(Ordering::Acquire).as_ref() }
}

/// The driver, opened by the first who asks. No lock is held, since the library's constructors may call back in.
pub(crate) fn open() -> Result<&'static Driver, Absent> {
    if let Some(driver) = get() {
        return Ok(driver);
    }
    if IS_TORN.load(Ordering::Relaxed) {
        return Err(Absent::Torn);
    }
    let is_foreign = || NAMES.iter().any(|name| Library::is_loaded(name));
    if birthmark::is_child() && is_foreign() && !is_parent_without_it() {
        IS_INHERITED.store(true, Ordering::Relaxed);
    }
    let fresh = Box::into_raw(try_box(find()?).map_err(|_| Absent::NoMemory)?);
    match DRIVER.compare_exchange(null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: ours until now, and never freed.
        Ok(_) => Ok(unsafe { &*fresh }),
        Err(other) => {
            // SAFETY: ours, and nobody has seen it; the other one is never freed.
            unsafe {
                drop(Box::from_raw(fresh));
                Ok(&*other)
            }
        }
    }
}

fn find() -> Result<Driver, Absent> {
    if cfg!(not(feature = "cuda")) {
        return Err(Absent::NotBuilt);
    }
    let _loading = Loading::begin();
    let [usual, other] = NAMES;
    let (library, name) = match Library::open(usual) {
        Ok(library) => (library, usual),
        Err(mut problem) => match Library::open(other) {
            Ok(library) => (library, other),
            Err(second) => {
                append!(problem, "; {second}");
                return Err(Absent::NoLibrary(problem));
            }
        },
    };
    let file = library.file().unwrap_or(name);
    macro_rules! entry {
        ($name:literal) => {{
            // SAFETY: the driver's functions have had these types since their names were made.
            match unsafe { library.symbol($name) } {
                Some(function) => function,
                None => {
                    let name = $name.to_str().unwrap_or_default();
                    return Err(Absent::NoSymbol(text!("{}", Lossy::of(file)), name));
                }
            }
        }};
    }
    Ok(Driver {
        library: file,
        init: entry!(c"cuInit"),
        get_version: entry!(c"cuDriverGetVersion"),
        get_count: entry!(c"cuDeviceGetCount"),
        get_device: entry!(c"cuDeviceGet"),
        retain: entry!(c"cuDevicePrimaryCtxRetain"),
        set_current: entry!(c"cuCtxSetCurrent"),
        // SAFETY: as above.
        get_name: unsafe { library.symbol(c"cuGetErrorName") },
        // SAFETY: as above.
        get_text: unsafe { library.symbol(c"cuGetErrorString") },
    })
}

/// Each gives the driver's result as it is, any number. No lock of the library may be held.
impl Driver {
    pub(crate) fn init(&self) -> Result<(), c_int> {
        // SAFETY: takes no pointers; 0 is the one value of its flags.
        checked(|| unsafe { (self.init)(0) })?;
        IS_STARTED.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// May be asked before `init`.
    pub(crate) fn version(&self) -> Result<c_int, c_int> {
        let mut version = 0;
        // SAFETY: a place to write to.
        checked(|| unsafe { (self.get_version)(&mut version) }).map(|()| version)
    }

    pub(crate) fn device_count(&self) -> Result<c_int, c_int> {
        let mut count = 0;
        // SAFETY: a place to write to.
        checked(|| unsafe { (self.get_count)(&mut count) }).map(|()| count)
    }

    /// One reference more to the primary context of the device with that ordinal.
    fn retain(&self, ordinal: c_int) -> Result<Context, c_int> {
        let mut device = 0;
        // SAFETY: a place to write to.
        checked(|| unsafe { (self.get_device)(&mut device, ordinal) })?;
        let mut context = null_mut();
        // SAFETY: a place to write to, and a device that the driver has just named.
        checked(|| unsafe { (self.retain)(&mut context, device) }).map(|()| context)
    }

    /// Makes it this thread's.
    pub(crate) fn set_current(&self, context: Context) -> Result<(), c_int> {
        // SAFETY: a context that is retained and never released.
        checked(|| unsafe { (self.set_current)(context) })
    }

    /// The name of a result, if the driver knows it.
    pub(crate) fn name(&self, result: c_int) -> Option<&'static CStr> {
        describe(self.get_name, result)
    }

    /// What it means.
    pub(crate) fn text(&self, result: c_int) -> Option<&'static CStr> {
        describe(self.get_text, result)
    }
}

/// The factory of a slot whose values are the primary contexts, by ordinal.
///
/// # Safety
/// `context` can be written to.
pub(crate) unsafe extern "C-unwind" fn retain(
    _ctx: *mut c_void,
    ordinal: u32,
    context: *mut Context,
) -> i32 {
    let retained = get()
        .invariant("bound only where the driver has been initialized")
        .retain(ordinal.cast_signed());
    match retained {
        Ok(retained) => {
            // SAFETY: the caller's promise.
            unsafe { context.write(retained) };
            0
        }
        Err(result) => result,
    }
}

/// What the driver answered. It may come back in.
fn checked(call: impl FnOnce() -> c_int) -> Result<(), c_int> {
    match thread::outside(call) {
        0 => Ok(()),
        result => Err(result),
    }
}

fn describe(function: Option<DescribeFn>, result: c_int) -> Option<&'static CStr> {
    let mut text = std::ptr::null();
    // SAFETY: a place to write to; any result may be asked about.
    let asked = function.map(|function| thread::outside(|| unsafe { function(result, &mut text) }));
    let is_known = asked == Some(0) && !text.is_null();
    // SAFETY: a constant of the driver, which is never unloaded.
    is_known.then(|| unsafe { CStr::from_ptr(text) })
}
