//! cudarc's bindings are the independent record of the driver's names, numbers and types.

use super::result;
use crate::sys::driver::Context;
use cudarc::driver::sys::{self, CUresult};
use std::ffi::{c_int, c_uint};

#[test]
fn results_have_the_drivers_numbers() {
    let same = [
        (
            result::NOT_INITIALIZED,
            CUresult::CUDA_ERROR_NOT_INITIALIZED,
        ),
        (result::STUB_LIBRARY, CUresult::CUDA_ERROR_STUB_LIBRARY),
        (result::NO_DEVICE, CUresult::CUDA_ERROR_NO_DEVICE),
        (
            result::SYSTEM_NOT_READY,
            CUresult::CUDA_ERROR_SYSTEM_NOT_READY,
        ),
        (
            result::MPS_CONNECTION_FAILED,
            CUresult::CUDA_ERROR_MPS_CONNECTION_FAILED,
        ),
        (
            result::MPS_MAX_CLIENTS_REACHED,
            CUresult::CUDA_ERROR_MPS_MAX_CLIENTS_REACHED,
        ),
    ];
    for (ours, theirs) in same {
        assert_eq!(ours, theirs as c_int, "{theirs:?}");
    }
    assert_eq!(size_of::<CUresult>(), size_of::<c_int>());
}

#[test]
fn entries_have_the_drivers_types() {
    let _: unsafe fn(c_uint) -> CUresult = sys::cuInit;
    let _: unsafe fn(*mut c_int) -> CUresult = sys::cuDriverGetVersion;
    let _: unsafe fn(*mut c_int) -> CUresult = sys::cuDeviceGetCount;
    let _: unsafe fn(*mut c_int, c_int) -> CUresult = sys::cuDeviceGet;
    let _: unsafe fn(*mut sys::CUcontext, c_int) -> CUresult = sys::cuDevicePrimaryCtxRetain;
    let _: unsafe fn(sys::CUcontext) -> CUresult = sys::cuCtxSetCurrent;
    assert_eq!(size_of::<Context>(), size_of::<sys::CUcontext>());
}
