//! A line of text without an allocation, for what a signal handler may write.

use std::fmt::{self, Display, Formatter, Write};

/// In bytes: longer than any line of ours whose places are of a usual length, and little enough for the stack of a signal handler, which may be
/// no more than 8 KiB, half of it the kernel's.
const LONGEST: usize = 1024;

/// What does not fit is left out.
pub(crate) struct Line {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Line {
    pub(crate) fn new() -> Self {
        Self {
            bytes: [0; LONGEST],
            length: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// With its end.
    pub(crate) fn finish(&mut self) -> &[u8] {
        let end = self.length;
        if let Some(place) = self.bytes.get_mut(end) {
            *place = b'\n';
        }
        self.bytes.get(..=end).unwrap_or_default()
    }
}

impl Write for Line {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        // The last byte is for the end of the line.
        let room = LONGEST - 1 - self.length;
        let mut taken = room.min(part.len());
        while !part.is_char_boundary(taken) {
            taken -= 1;
        }
        let places = self.bytes.iter_mut().skip(self.length);
        for (place, byte) in places.zip(part.bytes().take(taken)) {
            *place = byte;
        }
        self.length += taken;
        if taken == part.len() {
            Ok(())
        } else {
            Err(fmt::Error)
        }
    }
}

impl Display for Line {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let text = self.bytes.get(..self.length).unwrap_or_default();
        out.write_str(str::from_utf8(text).unwrap_or_default())
    }
}
