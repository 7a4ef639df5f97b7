//! The bytes that a job writes.

use plimsoll_units::Bytes;

use crate::settings::Settings;
use crate::value::Piece;

/// What buffers hold.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own in fio")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffers {
    /// `zero_buffers`: zeroes only.
    pub zero: bool,
    /// `refill_buffers`: other bytes for each write.
    pub refill: bool,
    /// `scramble_buffers`: a few other bytes for each write, so that no two are alike.
    pub scramble: bool,
    /// `buffer_pattern`: these bytes again and again.
    pub pattern: Option<Vec<Piece>>,
    /// `buffer_compress_percentage`: hundredths that compression saves.
    pub compressible_percent: Option<u8>,
    /// `buffer_compress_chunk`: within each of these pieces.
    pub compress_chunk: Bytes,
    /// `dedupe_percentage`: hundredths of the buffers that were there before.
    pub duplicate_percent: Option<u8>,
    /// `dedupe_global`: also of other jobs.
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
