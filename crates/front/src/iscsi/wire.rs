//! iSCSI on the wire (RFC 7143): header segments, digests, and the sequence numbers that every reply carries.

/// Bytes of a basic header segment.
pub(super) const HEADER_BYTES: usize = 48;

/// Bytes of a digest.
pub(super) const DIGEST_BYTES: usize = 4;

/// The tag that refers to no task.
pub(super) const NO_TAG: u32 = u32::MAX;

/// Operation codes of initiators.
pub(super) mod request {
    pub const NOP_OUT: u8 = 0x00;
    pub const COMMAND: u8 = 0x01;
    pub const TASK: u8 = 0x02;
    pub const LOGIN: u8 = 0x03;
    pub const TEXT: u8 = 0x04;
    pub const DATA_OUT: u8 = 0x05;
    pub const LOGOUT: u8 = 0x06;
}

/// Operation codes of targets.
pub(super) mod response {
    pub const NOP_IN: u8 = 0x20;
    pub const COMMAND: u8 = 0x21;
    pub const TASK: u8 = 0x22;
    pub const LOGIN: u8 = 0x23;
    pub const TEXT: u8 = 0x24;
    pub const DATA_IN: u8 = 0x25;
    pub const LOGOUT: u8 = 0x26;
    pub const R2T: u8 = 0x31;
    pub const ASYNC: u8 = 0x32;
    pub const REJECT: u8 = 0x3f;
}

/// Flags of the second byte.
pub(super) mod flag {
    /// The last of a sequence.
    pub const FINAL: u8 = 0x80;
    pub const READ: u8 = 0x40;
    pub const WRITE: u8 = 0x20;
    /// The text goes on in the next message.
    pub const CONTINUE: u8 = 0x40;
    /// More bytes were to be moved than the initiator expected.
    pub const OVERFLOW: u8 = 0x04;
    /// Fewer bytes were moved than the initiator expected.
    pub const UNDERFLOW: u8 = 0x02;
    /// A Data-In contains the status.
    pub const STATUS: u8 = 0x01;
}

pub(super) mod reject {
    pub const PROTOCOL_ERROR: u8 = 0x04;
    pub const NOT_SUPPORTED: u8 = 0x05;
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentHeader(pub [u8; HEADER_BYTES]);

impl SegmentHeader {
    /// A header of zeros but for the operation code and the flags.
    pub(super) const fn new(opcode: u8, flags: u8) -> Self {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0] = opcode;
        bytes[1] = flags;
        Self(bytes)
    }

    pub(super) const fn opcode(&self) -> u8 {
        self.0[0] & 0x3f
    }

    /// Outside of the numbering of commands.
    pub(super) const fn is_immediate(&self) -> bool {
        self.0[0] & 0x40 != 0
    }

    pub(super) const fn flags(&self) -> u8 {
        self.0[1]
    }

    pub(super) const fn has(&self, flag: u8) -> bool {
        self.0[1] & flag != 0
    }

    /// Bytes of additional header segments.
    pub(super) const fn additional(&self) -> usize {
        self.0[4] as usize * 4
    }

    /// Bytes of the data segment, without padding.
    pub(super) const fn data_bytes(&self) -> u32 {
        u32::from_be_bytes([0, self.0[5], self.0[6], self.0[7]])
    }

    pub(super) fn bytes<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.0[at..at + N]);
        bytes
    }

    pub(super) fn u16(&self, at: usize) -> u16 {
        u16::from_be_bytes(self.bytes(at))
    }

    pub(super) fn u32(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.bytes(at))
    }

    /// The initiator's tag of the task.
    pub(super) fn tag(&self) -> u32 {
        self.u32(16)
    }

    pub(super) fn set<const N: usize>(mut self, at: usize, bytes: [u8; N]) -> Self {
        self.0[at..at + N].copy_from_slice(&bytes);
        self
    }

    pub(super) fn with_u32(self, at: usize, value: u32) -> Self {
        self.set(at, value.to_be_bytes())
    }

    pub(super) fn with_tag(self, tag: u32) -> Self {
        self.with_u32(16, tag)
    }

    pub(super) fn with_data_bytes(self, count: u32) -> Self {
        let [_, high, middle, low] = count.to_be_bytes();
        self.set(5, [high, middle, low])
    }
}

/// Bytes of padding behind a data segment.
pub(super) const fn padding_bytes(bytes: u32) -> usize {
    (bytes.wrapping_neg() & 3) as usize
}

/// Whether messages are protected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Digest {
    #[default]
    None,
    Crc32c,
}

impl Digest {
    pub(super) const fn size(self) -> usize {
        match self {
            Self::None => 0,
            Self::Crc32c => DIGEST_BYTES,
        }
    }

    /// The CRC32C of no bytes, if there are digests.
    pub(super) const fn start(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::Crc32c => Some(0),
        }
    }

    /// Appends the digest of the bytes from `start` on.
    pub(super) fn append(self, out: &mut Vec<u8>, start: usize) {
        if self == Self::Crc32c {
            let sum = crc32c::crc32c(&out[start..]);
            out.extend_from_slice(&sum.to_le_bytes());
        }
    }

    /// Whether `digest` belongs to `bytes` with `padding` behind them.
    pub(super) fn matches(self, bytes: &[u8], padding: &[u8], digest: &[u8]) -> bool {
        self == Self::None || crc32c::crc32c_append(crc32c::crc32c(bytes), padding).to_le_bytes() == *digest
    }
}

/// The sending side of a connection: digests and sequence numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sender {
    pub header_digest: Digest,
    pub data_digest: Digest,
    /// Number of the next status.
    pub stat_sn: u32,
    /// Number of the next command.
    pub exp_cmd_sn: u32,
    /// Commands that the initiator may send from `exp_cmd_sn` on.
    pub window: u32,
}

/// Whether a message consumes a status number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbering {
    Status,
    /// It carries the next number without consuming it.
    Peek,
    /// It carries none.
    Absent,
}

impl Sender {
    /// Appends a header with its numbers and digest; `data` bytes have to follow.
    pub(super) fn head(&mut self, out: &mut Vec<u8>, header: SegmentHeader, numbering: Numbering, data: u32) {
        let start = out.len();
        let stat_sn = if numbering == Numbering::Absent { 0 } else { self.stat_sn };
        let header = header
            .with_data_bytes(data)
            .with_u32(24, stat_sn)
            .with_u32(28, self.exp_cmd_sn)
            .with_u32(32, self.max_cmd_sn());
        if numbering == Numbering::Status {
            self.stat_sn = self.stat_sn.wrapping_add(1);
        }
        out.extend_from_slice(&header.0);
        self.header_digest.append(out, start);
    }

    /// Appends a whole message.
    pub(super) fn send(&mut self, out: &mut Vec<u8>, header: SegmentHeader, numbering: Numbering, data: &[u8]) {
        self.head(out, header, numbering, data.len() as u32);
        out.extend_from_slice(data);
        self.trailer(out, data);
    }

    /// Appends the padding and the digest of a data segment.
    pub(super) fn trailer(&self, out: &mut Vec<u8>, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        let padding = &[0; 3][..padding_bytes(data.len() as u32)];
        out.extend_from_slice(padding);
        if self.data_digest == Digest::Crc32c {
            let sum = crc32c::crc32c_append(crc32c::crc32c(data), padding);
            out.extend_from_slice(&sum.to_le_bytes());
        }
    }

    /// Number of the last command that the initiator may send.
    pub(super) const fn max_cmd_sn(&self) -> u32 {
        self.exp_cmd_sn.wrapping_add(self.window).wrapping_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7143, appendix A.4 (as in RFC 3720, B.4): digests of 32 bytes.
    #[test]
    fn digests_are_those_of_the_standard() {
        let check = |bytes: [u8; 32], digest: [u8; 4]| {
            assert!(Digest::Crc32c.matches(&bytes, &[], &digest));
            let mut out = bytes.to_vec();
            Digest::Crc32c.append(&mut out, 0);
            assert_eq!(out[32..], digest);
        };
        check([0; 32], [0xaa, 0x36, 0x91, 0x8a]);
        check([0xff; 32], [0x43, 0xab, 0xa8, 0x62]);
        check(std::array::from_fn(|byte| byte as u8), [0x4e, 0x79, 0xdd, 0x46]);
    }

    #[test]
    fn window_ends_before_the_first_command_that_is_refused() {
        let sender = Sender { exp_cmd_sn: u32::MAX, window: 4, ..Sender::default() };
        assert_eq!(sender.max_cmd_sn(), 2);
        assert_eq!([0, 1, 2, 3, 4].map(padding_bytes), [0, 3, 2, 1, 0]);
    }
}
