//! Sense data (SPC-4, 4.5): why a command failed, in the fixed format.

use plimsoll_volume::Errno;

/// Bytes of sense data in the fixed format.
pub(super) const SENSE_BYTES: usize = 18;

/// A sense key with its additional code and qualifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sense {
    key: u8,
    code: u8,
    qualifier: u8,
}

/// The status of a command (SAM-5, 5.3).
pub(super) mod status {
    pub const GOOD: u8 = 0x00;
    pub const CHECK_CONDITION: u8 = 0x02;
    pub const RESERVATION_CONFLICT: u8 = 0x18;
    pub const TASK_SET_FULL: u8 = 0x28;
}

const NOT_READY: u8 = 0x2;
const MEDIUM_ERROR: u8 = 0x3;
const ILLEGAL_REQUEST: u8 = 0x5;
const UNIT_ATTENTION: u8 = 0x6;
const DATA_PROTECT: u8 = 0x7;
const ABORTED_COMMAND: u8 = 0xb;
const MISCOMPARE: u8 = 0xe;

impl Sense {
    pub(super) const NONE: Self = Self::new(0, 0, 0);
    pub(super) const INVALID_COMMAND: Self = Self::new(ILLEGAL_REQUEST, 0x20, 0x00);
    pub(super) const OUT_OF_RANGE: Self = Self::new(ILLEGAL_REQUEST, 0x21, 0x00);
    pub(super) const INVALID_FIELD: Self = Self::new(ILLEGAL_REQUEST, 0x24, 0x00);
    pub(super) const NO_UNIT: Self = Self::new(ILLEGAL_REQUEST, 0x25, 0x00);
    pub(super) const INVALID_PARAMETER: Self = Self::new(ILLEGAL_REQUEST, 0x26, 0x00);
    pub(super) const INVALID_RELEASE: Self = Self::new(ILLEGAL_REQUEST, 0x26, 0x04);
    pub(super) const PARAMETER_LENGTH: Self = Self::new(ILLEGAL_REQUEST, 0x1a, 0x00);
    pub(super) const INVALID_UNIT: Self = Self::new(ILLEGAL_REQUEST, 0x0e, 0x03);
    pub(super) const SAVING_NOT_SUPPORTED: Self = Self::new(ILLEGAL_REQUEST, 0x39, 0x00);
    pub(super) const NO_REGISTRATION_RESOURCES: Self = Self::new(ILLEGAL_REQUEST, 0x55, 0x04);
    pub(super) const WRITE_PROTECTED: Self = Self::new(DATA_PROTECT, 0x27, 0x00);
    pub(super) const UNEXPECTED_DATA: Self = Self::new(ABORTED_COMMAND, 0x0c, 0x0c);
    pub(super) const DATA_PHASE: Self = Self::new(ABORTED_COMMAND, 0x4b, 0x00);
    pub(super) const MISCOMPARE: Self = Self::new(MISCOMPARE, 0x1d, 0x00);
    pub(super) const POWER_ON: Self = Self::new(UNIT_ATTENTION, 0x29, 0x00);
    pub(super) const RESET: Self = Self::new(UNIT_ATTENTION, 0x29, 0x03);
    pub(super) const CAPACITY_CHANGED: Self = Self::new(UNIT_ATTENTION, 0x2a, 0x09);
    pub(super) const RESERVATIONS_PREEMPTED: Self = Self::new(UNIT_ATTENTION, 0x2a, 0x03);
    pub(super) const RESERVATIONS_RELEASED: Self = Self::new(UNIT_ATTENTION, 0x2a, 0x04);
    pub(super) const REGISTRATIONS_PREEMPTED: Self = Self::new(UNIT_ATTENTION, 0x2a, 0x05);
    pub(super) const ACCESS_STATE_CHANGED: Self = Self::new(UNIT_ATTENTION, 0x2a, 0x06);
    pub(super) const COMMANDS_CLEARED: Self = Self::new(UNIT_ATTENTION, 0x2f, 0x00);

    const fn new(key: u8, code: u8, qualifier: u8) -> Self {
        Self { key, code, qualifier }
    }

    /// The sense data; `information` is the position of a miscompare.
    pub(super) fn bytes(self, information: Option<u32>) -> [u8; SENSE_BYTES] {
        let mut bytes = [0; SENSE_BYTES];
        bytes[0] = if information.is_some() { 0xf0 } else { 0x70 };
        bytes[2] = self.key;
        bytes[3..7].copy_from_slice(&information.unwrap_or(0).to_be_bytes());
        bytes[7] = SENSE_BYTES as u8 - 8;
        (bytes[12], bytes[13]) = (self.code, self.qualifier);
        bytes
    }

    /// The sense of a failed request, for a command that writes or reads.
    pub(super) const fn of(errno: Errno, writes: bool) -> Self {
        match errno {
            Errno::Perm => Self::WRITE_PROTECTED,
            Errno::Io if writes => Self::new(MEDIUM_ERROR, 0x0c, 0x00),
            Errno::Io => Self::new(MEDIUM_ERROR, 0x11, 0x00),
            Errno::Inval | Errno::Overflow => Self::INVALID_FIELD,
            // Space allocation failed write protect.
            Errno::NoSpc => Self::new(DATA_PROTECT, 0x27, 0x07),
            Errno::NotSup => Self::INVALID_COMMAND,
            Errno::Shutdown => Self::new(NOT_READY, 0x04, 0x00),
        }
    }
}
