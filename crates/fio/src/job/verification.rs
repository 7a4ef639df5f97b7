//! Whether what was written is read back, and how.

use plimsoll_units::Bytes;

use crate::settings::Settings;
use crate::value::Piece;

/// `verify` and what belongs to it.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own in fio")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// The checksum's name in fio.
    pub sum: &'static str,
    /// `do_verify`: blocks are read back after they are written.
    pub after_writing: bool,
    /// `verify_only`: nothing is written, what an earlier run wrote is checked.
    pub only: bool,
    /// `verify_interval`: a checksum for each so many bytes; a whole block when not given.
    pub interval: Option<Bytes>,
    /// `verify_offset`: where in them its header stands.
    pub offset: Option<Bytes>,
    /// `verify_pattern`.
    pub pattern: Option<Vec<Piece>>,
    /// `verify_fatal`: the first block that is wrong ends the job.
    pub fatal: bool,
    /// `verify_dump`: wrong blocks are written to files.
    pub dump: bool,
    /// `verify_async`: threads that check; 0 is the one that reads.
    pub threads: u64,
    /// `verify_backlog`: checked after so many writes instead of at the end.
    pub backlog: Option<u64>,
    /// `verify_backlog_batch`: so many at a time; as the backlog when not given.
    pub backlog_batch: Option<u64>,
    /// `verify_state_save`.
    pub saves_state: bool,
    /// `verify_state_load`.
    pub loads_state: bool,
}

pub(super) fn read(settings: &Settings) -> Option<Verification> {
    let sum = settings.word("verify");
    if sum == "0" {
        return None;
    }
    Some(Verification {
        sum,
        after_writing: settings.flag("do_verify"),
        only: settings.flag("verify_only"),
        interval: settings.above_zero("verify_interval").map(Bytes::new),
        offset: settings.above_zero("verify_offset").map(Bytes::new),
        pattern: settings.pattern("verify_pattern"),
        fatal: settings.flag("verify_fatal"),
        dump: settings.flag("verify_dump"),
        threads: settings.count("verify_async"),
        backlog: settings.above_zero("verify_backlog"),
        backlog_batch: settings.above_zero("verify_backlog_batch"),
        saves_state: settings.flag("verify_state_save"),
        loads_state: settings.flag("verify_state_load"),
    })
}
