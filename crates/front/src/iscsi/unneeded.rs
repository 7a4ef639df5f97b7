//! Bytes of a data segment that no command needs: they pass, and their digest is verified.

use super::wire::DIGEST_BYTES;
use crate::codec::{Decoded, Message};

/// The rest of a data segment that is not needed.
#[derive(Debug, Default)]
pub(super) struct Unneeded {
    /// Bytes that have to come, with padding and digest.
    left: usize,
    /// CRC32C of the bytes of the segment so far, if a digest ends it.
    sum: Option<u32>,
}

impl Unneeded {
    /// A rest of this many bytes. `sum` is the CRC32C of the bytes before them, if a digest ends the segment.
    pub(super) const fn new(left: usize, sum: Option<u32>) -> Self {
        Self { left, sum }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Adds needed bytes before the rest, and the first bytes of the rest.
    pub(super) fn begin_with(&mut self, needed: &[u8], first: &[u8]) {
        self.sum = self.sum.map(|sum| crc32c::crc32c_append(crc32c::crc32c_append(sum, needed), first));
        self.left -= first.len();
    }

    /// Takes bytes of the rest from the beginning of `input`, which is not empty.
    pub(super) fn pass(&mut self, input: &[u8]) -> Decoded {
        let digest = if self.sum.is_some() { DIGEST_BYTES } else { 0 };
        let content = (self.left - digest).min(input.len());
        if content > 0 {
            self.sum = self.sum.map(|sum| crc32c::crc32c_append(sum, &input[..content]));
            self.left -= content;
            return Decoded { used: content, message: Message::Handled };
        }
        let (Some(sum), Some(found)) = (self.sum, input.get(..digest)) else {
            return Decoded { used: 0, message: Message::Incomplete };
        };
        self.left = 0;
        let message = if sum.to_le_bytes() == *found { Message::Handled } else { Message::Invalid };
        Decoded { used: digest, message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passes a rest in pieces of `size` bytes, and returns the last message.
    fn pass(mut rest: Unneeded, bytes: &[u8], size: usize) -> Message {
        let (mut start, mut end, mut last) = (0, 0, Message::Incomplete);
        while !rest.is_empty() {
            end = (end + size).min(bytes.len());
            while !rest.is_empty() && start < end {
                let Decoded { used, message } = rest.pass(&bytes[start..end]);
                (start, last) = (start + used, message);
                if message == Message::Incomplete {
                    break;
                }
            }
        }
        assert_eq!(start, bytes.len());
        last
    }

    #[test]
    fn digest_covers_needed_and_unneeded_bytes() {
        let content = b"needed, and more";
        let sum = crc32c::crc32c(content).to_le_bytes();
        for size in 1..20 {
            let mut rest = Unneeded::new(10 + 4, Some(0));
            rest.begin_with(&content[..6], &content[6..7]);
            let behind = [&content[7..], &sum].concat();
            assert_eq!(pass(rest, &behind, size), Message::Handled);
            let mut damaged = behind.clone();
            damaged[3] ^= 1;
            let mut rest = Unneeded::new(10 + 4, Some(0));
            rest.begin_with(&content[..6], &content[6..7]);
            assert_eq!(pass(rest, &damaged, size), Message::Invalid);
            assert_eq!(pass(Unneeded::new(13, None), &damaged, size), Message::Handled, "without a digest");
        }
    }
}
