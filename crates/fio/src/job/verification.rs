//! Verification of written data.

use plimsoll_units::Bytes;

use crate::settings::Settings;
use crate::value::PatternPiece;

/// `verify` and related options.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag in fio")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// fio's name of the checksum.
    pub sum: &'static str,
    /// `do_verify`: blocks are read back after the writes.
    pub after_writing: bool,
    /// `verify_only`: checks the data of an earlier run without writing.
    pub only: bool,
    /// `verify_interval`: bytes per checksum; a whole block if `None`.
    pub interval: Option<Bytes>,
    /// `verify_offset`: offset of the header in a block.
    pub offset: Option<Bytes>,
    /// `verify_pattern`.
    pub pattern: Option<Vec<PatternPiece>>,
    /// `verify_fatal`: the first mismatch ends the job.
    pub fatal: bool,
    /// `verify_dump`: mismatching blocks are written to files.
    pub dump: bool,
    /// `verify_async`: threads for verification; 0 uses the job's thread.
    pub threads: u64,
    /// `verify_backlog`: writes between verifications; at the end if `None`.
    pub backlog: Option<u64>,
    /// `verify_backlog_batch`: blocks per verification; the backlog if `None`.
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
