//! What a SCSI command asks of a disk, by its first byte (SBC-4). Knows no trace.

use plimsoll_record::Action;

/// What a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// It asks for this.
    Asks(Action),
    /// It asks for no data and changes none.
    Other,
}

/// The command of a code; none for a code that no disk is sent.
pub(super) fn command(code: u64) -> Option<Command> {
    Some(match code {
        // Read of 6, 10, 12 and 16 bytes.
        0x08 | 0x28 | 0xa8 | 0x88 => Command::Asks(Action::Read),
        // Write, write and verify, write the same, compare and write.
        0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e | 0x41 | 0x93 | 0x89 => Command::Asks(Action::Write),
        0x35 | 0x91 => Command::Asks(Action::Flush),
        0x42 => Command::Asks(Action::Trim),
        0x00..=0x5f | 0x80..=0xaf => Command::Other,
        _ => return None,
    })
}
