//! The commands of the logical unit: operation codes, the bits of a CDB that are used, and the access that they need.

use super::reservation::Needs::{self, Always, Nothing, Read, Write};
use crate::unit::Paths;

/// Operation codes (SPC-4 and SBC-3).
pub(super) mod op {
    pub const TEST_UNIT_READY: u8 = 0x00;
    pub const REQUEST_SENSE: u8 = 0x03;
    pub const READ_6: u8 = 0x08;
    pub const WRITE_6: u8 = 0x0a;
    pub const INQUIRY: u8 = 0x12;
    pub const RESERVE_6: u8 = 0x16;
    pub const RELEASE_6: u8 = 0x17;
    pub const MODE_SENSE_6: u8 = 0x1a;
    pub const START_STOP_UNIT: u8 = 0x1b;
    pub const READ_CAPACITY_10: u8 = 0x25;
    pub const READ_10: u8 = 0x28;
    pub const WRITE_10: u8 = 0x2a;
    pub const WRITE_AND_VERIFY_10: u8 = 0x2e;
    pub const VERIFY_10: u8 = 0x2f;
    pub const PRE_FETCH_10: u8 = 0x34;
    pub const SYNCHRONIZE_CACHE_10: u8 = 0x35;
    pub const WRITE_SAME_10: u8 = 0x41;
    pub const UNMAP: u8 = 0x42;
    pub const MODE_SENSE_10: u8 = 0x5a;
    pub const PERSISTENT_RESERVE_IN: u8 = 0x5e;
    pub const PERSISTENT_RESERVE_OUT: u8 = 0x5f;
    pub const READ_16: u8 = 0x88;
    pub const COMPARE_AND_WRITE: u8 = 0x89;
    pub const WRITE_16: u8 = 0x8a;
    pub const ORWRITE: u8 = 0x8b;
    pub const WRITE_AND_VERIFY_16: u8 = 0x8e;
    pub const VERIFY_16: u8 = 0x8f;
    pub const PRE_FETCH_16: u8 = 0x90;
    pub const SYNCHRONIZE_CACHE_16: u8 = 0x91;
    pub const WRITE_SAME_16: u8 = 0x93;
    pub const SERVICE_ACTION_IN_16: u8 = 0x9e;
    pub const REPORT_LUNS: u8 = 0xa0;
    pub const MAINTENANCE_IN: u8 = 0xa3;
    pub const READ_12: u8 = 0xa8;
    pub const WRITE_12: u8 = 0xaa;
    pub const WRITE_AND_VERIFY_12: u8 = 0xae;
    pub const VERIFY_12: u8 = 0xaf;
}

/// Service actions of [`op::SERVICE_ACTION_IN_16`] and [`op::MAINTENANCE_IN`].
pub(super) mod action {
    pub const READ_CAPACITY_16: u8 = 0x10;
    pub const GET_LBA_STATUS: u8 = 0x12;
    pub const REPORT_PORT_GROUPS: u8 = 0x0a;
    pub const REPORT_OPERATION_CODES: u8 = 0x0c;
    pub const REPORT_TASK_FUNCTIONS: u8 = 0x0d;
}

/// The bits of a CDB that are evaluated, with the operation code and service action in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpcodeUsage {
    bytes: [u8; 16],
    length: usize,
}

impl OpcodeUsage {
    /// The operation code, and the bytes behind it in hexadecimal digits.
    const fn new(opcode: u8, digits: &str) -> Self {
        let (digits, mut bytes, mut length, mut at) = (digits.as_bytes(), [0; 16], 1, 0);
        bytes[0] = opcode;
        while at < digits.len() {
            if digits[at] == b' ' {
                at += 1;
                continue;
            }
            bytes[length] = digit(digits[at]) << 4 | digit(digits[at + 1]);
            (length, at) = (length + 1, at + 2);
        }
        Self { bytes, length }
    }

    /// All bytes of the CDB.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

const fn digit(letter: u8) -> u8 {
    match letter {
        b'0'..=b'9' => letter - b'0',
        b'a'..=b'f' => letter - b'a' + 10,
        _ => panic!("a hexadecimal digit"),
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct OpcodeEntry {
    pub opcode: u8,
    pub action: Option<u8>,
    pub needs: Needs,
    pub usage: OpcodeUsage,
}

const fn command(needs: Needs, opcode: u8, digits: &str) -> OpcodeEntry {
    OpcodeEntry { opcode, action: None, needs, usage: OpcodeUsage::new(opcode, digits) }
}

/// A command with a service action in the lower bits of its second byte.
const fn with_action(needs: Needs, opcode: u8, action: u8, digits: &str) -> OpcodeEntry {
    let mut usage = OpcodeUsage::new(opcode, digits);
    usage.bytes[1] |= action;
    OpcodeEntry { opcode, action: Some(action), needs, usage }
}

/// All commands, the frequent ones first: the access that they need, the code, and the evaluated bits behind it.
const ENTRIES: &[OpcodeEntry] = &[
    command(Read, op::READ_10, "f8 ffffffff 00 ffff 04"),
    command(Write, op::WRITE_10, "f8 ffffffff 00 ffff 04"),
    command(Read, op::READ_16, "f8 ffffffffffffffff ffffffff 00 04"),
    command(Write, op::WRITE_16, "f8 ffffffffffffffff ffffffff 00 04"),
    command(Write, op::SYNCHRONIZE_CACHE_10, "02 ffffffff 00 ffff 04"),
    command(Write, op::UNMAP, "00 00000000 00 ffff 04"),
    command(Nothing, op::TEST_UNIT_READY, "00 0000 00 04"),
    command(Always, op::REQUEST_SENSE, "01 0000 ff 04"),
    command(Read, op::READ_6, "1f ffff ff 04"),
    command(Write, op::WRITE_6, "1f ffff ff 04"),
    command(Always, op::INQUIRY, "01 ff ffff 04"),
    command(Always, op::RESERVE_6, "00 0000 00 04"),
    command(Always, op::RELEASE_6, "00 0000 00 04"),
    command(Read, op::MODE_SENSE_6, "08 ffff ff 04"),
    command(Nothing, op::START_STOP_UNIT, "01 000f f7 04"),
    command(Nothing, op::READ_CAPACITY_10, "00 ffffffff 0000 01 04"),
    command(Write, op::WRITE_AND_VERIFY_10, "f6 ffffffff 00 ffff 04"),
    command(Read, op::VERIFY_10, "f6 ffffffff 00 ffff 04"),
    command(Read, op::PRE_FETCH_10, "02 ffffffff 00 ffff 04"),
    command(Write, op::WRITE_SAME_10, "f8 ffffffff 00 ffff 04"),
    command(Read, op::MODE_SENSE_10, "18 ffff 000000 ffff 04"),
    with_action(Nothing, op::PERSISTENT_RESERVE_IN, 0, "00 0000000000 ffff 04"),
    with_action(Nothing, op::PERSISTENT_RESERVE_IN, 1, "00 0000000000 ffff 04"),
    with_action(Nothing, op::PERSISTENT_RESERVE_IN, 2, "00 0000000000 ffff 04"),
    with_action(Nothing, op::PERSISTENT_RESERVE_IN, 3, "00 0000000000 ffff 04"),
    with_action(Nothing, op::PERSISTENT_RESERVE_OUT, 0, "00 ff 0000 ffffffff 04"),
    with_action(Nothing, op::PERSISTENT_RESERVE_OUT, 1, "00 ff 0000 ffffffff 04"),
    with_action(Nothing, op::PERSISTENT_RESERVE_OUT, 2, "00 ff 0000 ffffffff 04"),
    with_action(Nothing, op::PERSISTENT_RESERVE_OUT, 3, "00 ff 0000 ffffffff 04"),
    with_action(Nothing, op::PERSISTENT_RESERVE_OUT, 4, "00 ff 0000 ffffffff 04"),
    with_action(Nothing, op::PERSISTENT_RESERVE_OUT, 5, "00 ff 0000 ffffffff 04"),
    with_action(Nothing, op::PERSISTENT_RESERVE_OUT, 6, "00 ff 0000 ffffffff 04"),
    command(Write, op::COMPARE_AND_WRITE, "f8 ffffffffffffffff 000000 ff 00 04"),
    command(Write, op::ORWRITE, "f8 ffffffffffffffff ffffffff 00 04"),
    command(Write, op::WRITE_AND_VERIFY_16, "f6 ffffffffffffffff ffffffff 00 04"),
    command(Read, op::VERIFY_16, "f6 ffffffffffffffff ffffffff 00 04"),
    command(Read, op::PRE_FETCH_16, "02 ffffffffffffffff ffffffff 00 04"),
    command(Write, op::SYNCHRONIZE_CACHE_16, "02 ffffffffffffffff ffffffff 00 04"),
    command(Write, op::WRITE_SAME_16, "f9 ffffffffffffffff ffffffff 00 04"),
    with_action(Nothing, op::SERVICE_ACTION_IN_16, action::READ_CAPACITY_16, "00 0000000000000000 ffffffff 00 04"),
    with_action(Read, op::SERVICE_ACTION_IN_16, action::GET_LBA_STATUS, "00 ffffffffffffffff ffffffff 00 04"),
    command(Always, op::REPORT_LUNS, "00 ff 000000 ffffffff 00 04"),
    REPORT_PORT_GROUPS,
    with_action(Nothing, op::MAINTENANCE_IN, action::REPORT_OPERATION_CODES, "00 87 ff ffff ffffffff 00 04"),
    with_action(Nothing, op::MAINTENANCE_IN, action::REPORT_TASK_FUNCTIONS, "00 80 000000 ffffffff 00 04"),
    command(Read, op::READ_12, "f8 ffffffff ffffffff 00 04"),
    command(Write, op::WRITE_12, "f8 ffffffff ffffffff 00 04"),
    command(Write, op::WRITE_AND_VERIFY_12, "f6 ffffffff ffffffff 00 04"),
    command(Read, op::VERIFY_12, "f6 ffffffff ffffffff 00 04"),
];

/// Only units with asymmetric paths have it.
const REPORT_PORT_GROUPS: OpcodeEntry =
    with_action(Always, op::MAINTENANCE_IN, action::REPORT_PORT_GROUPS, "e0 00000000 ffffffff 00 04");

/// The commands of a unit.
fn all(paths: Paths) -> impl Iterator<Item = &'static OpcodeEntry> {
    let is_known =
        move |entry: &&OpcodeEntry| paths == Paths::TwoControllers || entry.usage != REPORT_PORT_GROUPS.usage;
    ENTRIES.iter().filter(is_known)
}

/// The result of the search for a command.
#[derive(Clone, Copy, Debug)]
pub(super) enum OpcodeLookup {
    Entry(&'static OpcodeEntry),
    /// The operation code exists, the service action does not.
    OtherActions,
    Nothing,
}

/// Finds the command of a CDB.
pub(super) fn find(opcode: u8, action: u8, paths: Paths) -> OpcodeLookup {
    let mut found = OpcodeLookup::Nothing;
    for entry in all(paths).filter(|entry| entry.opcode == opcode) {
        if entry.action.is_none_or(|own| own == action) {
            return OpcodeLookup::Entry(entry);
        }
        found = OpcodeLookup::OtherActions;
    }
    found
}

/// The descriptor of timeouts. None is stated, so it is zero but for its length.
const TIMEOUTS: [u8; 12] = [0, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// REPORT SUPPORTED OPERATION CODES.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpcodeReport {
    /// All commands, one without service actions, or one with them.
    pub options: u8,
    pub opcode: u8,
    pub action: u16,
}

impl OpcodeReport {
    /// The data, with descriptors of timeouts if wanted; `None` for an invalid combination of fields.
    pub(super) fn data(self, timeouts: bool, paths: Paths) -> Option<Vec<u8>> {
        let Self { options, opcode, action } = self;
        if options == 0 {
            let rows: Vec<u8> = all(paths).flat_map(|entry| encode_row(entry, timeouts)).collect();
            return Some([&(rows.len() as u32).to_be_bytes()[..], &rows].concat());
        }
        let mut own = all(paths).filter(|entry| entry.opcode == opcode).peekable();
        let has_actions = own.peek().map(|entry| entry.action.is_some());
        if matches!((options, has_actions), (1, Some(true)) | (2, Some(false)) | (3.., _)) {
            return None;
        }
        let Some(entry) = own.find(|entry| options == 1 || entry.action.unwrap_or(0) as u16 == action) else {
            return Some(vec![0, 1, 0, 0]);
        };
        let flags = if timeouts { 0x83 } else { 0x03 };
        let usage = entry.usage.bytes();
        let tail = if timeouts { &TIMEOUTS[..] } else { &[] };
        Some([&[0, flags], &(usage.len() as u16).to_be_bytes()[..], usage, tail].concat())
    }
}

fn encode_row(entry: &OpcodeEntry, timeouts: bool) -> Vec<u8> {
    let flags = u8::from(entry.action.is_some()) | if timeouts { 2 } else { 0 };
    let size = entry.usage.bytes().len() as u8;
    let row = [entry.opcode, 0, 0, entry.action.unwrap_or(0), 0, flags, 0, size];
    let tail = if timeouts { &TIMEOUTS[..] } else { &[] };
    [&row[..], tail].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Paths; 2] = [Paths::Equal, Paths::TwoControllers];

    fn report(options: u8, opcode: u8, action: u16, timeouts: bool, paths: Paths) -> Option<Vec<u8>> {
        OpcodeReport { options, opcode, action }.data(timeouts, paths)
    }

    #[test]
    fn every_command_is_reported_as_it_is_found() {
        for paths in BOTH {
            let list = report(0, 0, 0, false, paths).unwrap();
            assert_eq!(list.len(), 4 + 8 * all(paths).count());
            for row in list[4..].chunks(8) {
                let options = if row[5] & 1 == 0 { 1 } else { 2 };
                let one = report(options, row[0], row[3].into(), true, paths).unwrap();
                assert_eq!((one[1], usize::from(one[3])), (0x83, usize::from(row[7])), "{row:x?}");
                assert_eq!(one.len(), 4 + usize::from(row[7]) + 12);
                assert_eq!(one[4], row[0]);
                assert!(matches!(find(row[0], row[3], paths), OpcodeLookup::Entry(entry) if entry.opcode == row[0]));
            }
        }
    }

    /// The groups of operation codes have CDBs of one length (SPC-4, 4.2.5.1), and control is their last byte.
    #[test]
    fn lengths_are_those_of_the_groups_of_codes() {
        for entry in all(Paths::TwoControllers) {
            let length = [6, 10, 10, 0, 16, 12, 0, 0][usize::from(entry.opcode >> 5)];
            let usage = entry.usage.bytes();
            assert_eq!((usage.len(), usage.last()), (length, Some(&4)), "{:#x}", entry.opcode);
            assert_eq!(entry.action.map(|action| usage[1] & 0x1f == action), entry.action.map(|_| true));
        }
    }

    #[test]
    fn unknown_commands_are_reported_as_such() {
        let report = |options, opcode, action| report(options, opcode, action, false, Paths::Equal);
        assert_eq!(report(1, 0x04, 0), Some(vec![0, 1, 0, 0]));
        assert_eq!(report(2, op::SERVICE_ACTION_IN_16, 0x1f), Some(vec![0, 1, 0, 0]));
        assert_eq!(report(1, op::SERVICE_ACTION_IN_16, 0), None);
        assert_eq!(report(2, op::READ_10, 0), None);
        assert!(matches!(find(0x04, 0, Paths::Equal), OpcodeLookup::Nothing));
        assert!(matches!(find(op::PERSISTENT_RESERVE_IN, 4, Paths::Equal), OpcodeLookup::OtherActions));
        let groups = BOTH.map(|paths| find(op::MAINTENANCE_IN, action::REPORT_PORT_GROUPS, paths));
        assert!(matches!(groups, [OpcodeLookup::OtherActions, OpcodeLookup::Entry(_)]), "{groups:?}");
    }
}
