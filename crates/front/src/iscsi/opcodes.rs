//! The commands of the logical unit: operation codes, the bits of a CDB that are used, and the access that they need.

use super::reservation::Needs::{self, Always, Nothing, Read, Write};

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
    pub const REPORT_OPERATION_CODES: u8 = 0x0c;
    pub const REPORT_TASK_FUNCTIONS: u8 = 0x0d;
}

/// A command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub opcode: u8,
    pub action: Option<u8>,
    pub needs: Needs,
    /// The bits of the CDB that are evaluated, with the operation code and service action in place.
    pub usage: &'static [u8],
}

const fn entry(needs: Needs, usage: &'static [u8]) -> Entry {
    Entry { opcode: usage[0], action: None, needs, usage }
}

const fn acting(action: u8, needs: Needs, usage: &'static [u8]) -> Entry {
    Entry { opcode: usage[0], action: Some(action), needs, usage }
}

/// All commands, the frequent ones first.
const ENTRIES: &[Entry] = &[
    entry(Read, &[op::READ_10, 0xf8, 0xff, 0xff, 0xff, 0xff, 0, 0xff, 0xff, 0x04]),
    entry(Write, &[op::WRITE_10, 0xf8, 0xff, 0xff, 0xff, 0xff, 0, 0xff, 0xff, 0x04]),
    entry(Read, &[op::READ_16, 0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0x04]),
    entry(
        Write,
        &[op::WRITE_16, 0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0x04],
    ),
    entry(Write, &[op::SYNCHRONIZE_CACHE_10, 0x02, 0xff, 0xff, 0xff, 0xff, 0, 0xff, 0xff, 0x04]),
    entry(Write, &[op::UNMAP, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0x04]),
    entry(Nothing, &[op::TEST_UNIT_READY, 0, 0, 0, 0, 0x04]),
    entry(Always, &[op::REQUEST_SENSE, 0x01, 0, 0, 0xff, 0x04]),
    entry(Read, &[op::READ_6, 0x1f, 0xff, 0xff, 0xff, 0x04]),
    entry(Write, &[op::WRITE_6, 0x1f, 0xff, 0xff, 0xff, 0x04]),
    entry(Always, &[op::INQUIRY, 0x01, 0xff, 0xff, 0xff, 0x04]),
    entry(Always, &[op::RESERVE_6, 0, 0, 0, 0, 0x04]),
    entry(Always, &[op::RELEASE_6, 0, 0, 0, 0, 0x04]),
    entry(Read, &[op::MODE_SENSE_6, 0x08, 0xff, 0xff, 0xff, 0x04]),
    entry(Nothing, &[op::START_STOP_UNIT, 0x01, 0, 0x0f, 0xf7, 0x04]),
    entry(Nothing, &[op::READ_CAPACITY_10, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0x01, 0x04]),
    entry(Write, &[op::WRITE_AND_VERIFY_10, 0xf6, 0xff, 0xff, 0xff, 0xff, 0, 0xff, 0xff, 0x04]),
    entry(Read, &[op::VERIFY_10, 0xf6, 0xff, 0xff, 0xff, 0xff, 0, 0xff, 0xff, 0x04]),
    entry(Read, &[op::PRE_FETCH_10, 0x02, 0xff, 0xff, 0xff, 0xff, 0, 0xff, 0xff, 0x04]),
    entry(Write, &[op::WRITE_SAME_10, 0xf8, 0xff, 0xff, 0xff, 0xff, 0, 0xff, 0xff, 0x04]),
    entry(Read, &[op::MODE_SENSE_10, 0x18, 0xff, 0xff, 0, 0, 0, 0xff, 0xff, 0x04]),
    acting(0, Nothing, &[op::PERSISTENT_RESERVE_IN, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0x04]),
    acting(1, Nothing, &[op::PERSISTENT_RESERVE_IN, 1, 0, 0, 0, 0, 0, 0xff, 0xff, 0x04]),
    acting(2, Nothing, &[op::PERSISTENT_RESERVE_IN, 2, 0, 0, 0, 0, 0, 0xff, 0xff, 0x04]),
    acting(3, Nothing, &[op::PERSISTENT_RESERVE_IN, 3, 0, 0, 0, 0, 0, 0xff, 0xff, 0x04]),
    acting(0, Nothing, &[op::PERSISTENT_RESERVE_OUT, 0, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x04]),
    acting(1, Nothing, &[op::PERSISTENT_RESERVE_OUT, 1, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x04]),
    acting(2, Nothing, &[op::PERSISTENT_RESERVE_OUT, 2, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x04]),
    acting(3, Nothing, &[op::PERSISTENT_RESERVE_OUT, 3, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x04]),
    acting(4, Nothing, &[op::PERSISTENT_RESERVE_OUT, 4, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x04]),
    acting(5, Nothing, &[op::PERSISTENT_RESERVE_OUT, 5, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x04]),
    acting(6, Nothing, &[op::PERSISTENT_RESERVE_OUT, 6, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x04]),
    entry(
        Write,
        &[op::COMPARE_AND_WRITE, 0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0xff, 0, 0x04],
    ),
    entry(Write, &[op::ORWRITE, 0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0x04]),
    entry(
        Write,
        &[
            op::WRITE_AND_VERIFY_16,
            0xf6,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0,
            0x04,
        ],
    ),
    entry(
        Read,
        &[op::VERIFY_16, 0xf6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0x04],
    ),
    entry(
        Read,
        &[op::PRE_FETCH_16, 0x02, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0x04],
    ),
    entry(
        Write,
        &[
            op::SYNCHRONIZE_CACHE_16,
            0x02,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0,
            0x04,
        ],
    ),
    entry(
        Write,
        &[op::WRITE_SAME_16, 0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0x04],
    ),
    acting(
        action::READ_CAPACITY_16,
        Nothing,
        &[op::SERVICE_ACTION_IN_16, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0x04],
    ),
    acting(
        action::GET_LBA_STATUS,
        Read,
        &[
            op::SERVICE_ACTION_IN_16,
            0x12,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0xff,
            0,
            0x04,
        ],
    ),
    entry(Always, &[op::REPORT_LUNS, 0, 0xff, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0x04]),
    acting(
        action::REPORT_OPERATION_CODES,
        Nothing,
        &[op::MAINTENANCE_IN, 0x0c, 0x87, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0x04],
    ),
    acting(
        action::REPORT_TASK_FUNCTIONS,
        Nothing,
        &[op::MAINTENANCE_IN, 0x0d, 0x80, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0x04],
    ),
    entry(Read, &[op::READ_12, 0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0x04]),
    entry(Write, &[op::WRITE_12, 0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0x04]),
    entry(Write, &[op::WRITE_AND_VERIFY_12, 0xf6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0x04]),
    entry(Read, &[op::VERIFY_12, 0xf6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0x04]),
];

fn all() -> impl Iterator<Item = &'static Entry> {
    ENTRIES.iter()
}

/// The result of the search for a command.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    Entry(&'static Entry),
    /// The operation code exists, the service action does not.
    OtherActions,
    Nothing,
}

/// Finds the command of a CDB.
pub(super) fn find(opcode: u8, action: u8) -> Found {
    let mut found = Found::Nothing;
    for entry in all().filter(|entry| entry.opcode == opcode) {
        if entry.action.is_none_or(|own| own == action) {
            return Found::Entry(entry);
        }
        found = Found::OtherActions;
    }
    found
}

/// The descriptor of timeouts. None is stated, so it is zero but for its length.
const TIMEOUTS: [u8; 12] = [0, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// REPORT SUPPORTED OPERATION CODES: `None` for an invalid combination of fields.
pub(super) fn report(options: u8, opcode: u8, action: u16, timeouts: bool) -> Option<Vec<u8>> {
    if options == 0 {
        let rows: Vec<u8> = all().flat_map(|entry| row(entry, timeouts)).collect();
        return Some([&(rows.len() as u32).to_be_bytes()[..], &rows].concat());
    }
    let has_actions = all().any(|entry| entry.opcode == opcode && entry.action.is_some());
    if (options == 1 && has_actions) || (options == 2 && !has_actions && known(opcode)) || options > 3 {
        return None;
    }
    let matches = |entry: &&Entry| entry.opcode == opcode && entry.action.unwrap_or(0) as u16 == action;
    let entry = match options {
        1 => all().find(|entry| entry.opcode == opcode),
        _ => all().find(matches),
    };
    let Some(entry) = entry else { return Some(vec![0, 1, 0, 0]) };
    let flags = if timeouts { 0x83 } else { 0x03 };
    let size = (entry.usage.len() as u16).to_be_bytes();
    let tail = if timeouts { &TIMEOUTS[..] } else { &[] };
    Some([&[0, flags], &size[..], entry.usage, tail].concat())
}

fn known(opcode: u8) -> bool {
    all().any(|entry| entry.opcode == opcode)
}

fn row(entry: &Entry, timeouts: bool) -> Vec<u8> {
    let flags = u8::from(entry.action.is_some()) | if timeouts { 2 } else { 0 };
    let size = entry.usage.len() as u8;
    let row = [entry.opcode, 0, 0, entry.action.unwrap_or(0), 0, flags, 0, size];
    let tail = if timeouts { &TIMEOUTS[..] } else { &[] };
    [&row[..], tail].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_reported_as_it_is_found() {
        let list = report(0, 0, 0, false).unwrap();
        assert_eq!(list.len(), 4 + 8 * all().count());
        for row in list[4..].chunks(8) {
            let options = if row[5] & 1 == 0 { 1 } else { 2 };
            let one = report(options, row[0], row[3].into(), true).unwrap();
            assert_eq!((one[1], usize::from(one[3])), (0x83, usize::from(row[7])), "{row:x?}");
            assert_eq!(one.len(), 4 + usize::from(row[7]) + 12);
            assert_eq!(one[4], row[0]);
            assert!(matches!(find(row[0], row[3]), Found::Entry(entry) if entry.opcode == row[0]));
        }
    }

    #[test]
    fn unknown_commands_are_reported_as_such() {
        assert_eq!(report(1, 0x04, 0, false), Some(vec![0, 1, 0, 0]));
        assert_eq!(report(2, op::SERVICE_ACTION_IN_16, 0x1f, false), Some(vec![0, 1, 0, 0]));
        assert_eq!(report(1, op::SERVICE_ACTION_IN_16, 0, false), None);
        assert_eq!(report(2, op::READ_10, 0, false), None);
        assert!(matches!(find(0x04, 0), Found::Nothing));
        assert!(matches!(find(op::PERSISTENT_RESERVE_IN, 4), Found::OtherActions));
    }
}
