//! Contents of a job's writes.

use plimsoll_units::Bytes;

use crate::settings::Settings;
use crate::value::PatternPiece;

#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag in fio")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffers {
    /// `zero_buffers`: only zeroes.
    pub zero: bool,
    /// `refill_buffers`: new contents for each write.
    pub refill: bool,
    /// `scramble_buffers`: a few bytes change with each write, so that all buffers differ.
    pub scramble: bool,
    /// `buffer_pattern`: a repeated pattern.
    pub pattern: Option<Vec<PatternPiece>>,
    /// `buffer_compress_percentage`: percentage saved by compression.
    pub compressible_percent: Option<u8>,
    /// `buffer_compress_chunk`: unit of compression.
    pub compress_chunk: Bytes,
    /// `dedupe_percentage`: percentage of duplicate buffers.
    pub duplicate_percent: Option<u8>,
    /// `dedupe_global`: duplicates across jobs.
    pub duplicates_of_all_jobs: bool,
}

pub(super) fn read(settings: &Settings) -> Buffers {
    let percent = |name: &str| settings.integer(name).map(|percent| percent as u8);
    Buffers {
        zero: settings.flag("zero_buffers"),
        refill: settings.flag("refill_buffers"),
        scramble: settings.flag("scramble_buffers"),
        pattern: settings.pattern("buffer_pattern"),
        compressible_percent: percent("buffer_compress_percentage"),
        compress_chunk: Bytes::new(settings.count("buffer_compress_chunk")),
        duplicate_percent: percent("dedupe_percentage"),
        duplicates_of_all_jobs: settings.flag("dedupe_global"),
    }
}
