//! Memory that is perhaps not there any more, read by the kernel, which says so instead of ending the process.

use std::ffi::CStr;

/// At most, with the end.
pub(crate) const LONGEST: usize = 256;

/// A page or a part of one, of the least size.
const PAGE: usize = 4096;

/// The pointer at an address, as an address.
pub(crate) fn pointer(address: usize) -> Option<usize> {
    let mut bytes = [0; size_of::<usize>()];
    (copy(address, &mut bytes) == bytes.len()).then(|| usize::from_ne_bytes(bytes))
}

/// The C string at an address, cut at the longest.
pub(crate) fn string(address: usize, room: &mut [u8; LONGEST]) -> Option<&CStr> {
    let count = copy(address, room);
    *room.last_mut()? = 0;
    CStr::from_bytes_until_nul(room.get(..count)?).ok()
}

/// How many bytes there were, up to the end of a page.
fn copy(address: usize, room: &mut [u8]) -> usize {
    let first = (PAGE - address % PAGE).min(room.len());
    let part = |begin: usize, size: usize| libc::iovec {
        iov_base: std::ptr::without_provenance_mut(begin),
        iov_len: size,
    };
    let whole = libc::iovec {
        iov_base: room.as_mut_ptr().cast(),
        iov_len: room.len(),
    };
    let parts = [
        part(address, first),
        part(address.wrapping_add(first), room.len() - first),
    ];
    // SAFETY: so many bytes can be written there; what cannot be read is an error, or left out.
    let count = unsafe { libc::process_vm_readv(libc::getpid(), &whole, 1, parts.as_ptr(), 2, 0) };
    usize::try_from(count).unwrap_or(0)
}
