//! Writing to somebody's file descriptor.

/// Writes all of it, or says why not.
pub(crate) fn write_all(fd: i32, mut bytes: &[u8]) -> Result<(), std::io::Error> {
    while !bytes.is_empty() {
        // SAFETY: so many bytes are readable there; a bad descriptor is an error, not undefined.
        let written = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) => bytes = &bytes[written..],
            Err(_) => {
                let error = std::io::Error::last_os_error();
                if error.kind() != std::io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}
