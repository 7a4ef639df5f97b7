//! The memory of past writes as a file, for verification by a later process.
//!
//! Little-endian: 8 bytes magic; seed, interval, start and length of the region, and the compressible share as float
//! bits, 8 bytes each; 4 bytes per block; 8 bytes checksum.

use std::io::{self, Read, Write};

use plimsoll_load::Region;
use plimsoll_units::Bytes;

use super::block::mixed;
use super::checked::{Blank, Checked, Checking, valid};
use super::generations::Generations;

const MAGIC: [u8; 8] = *b"plimgen1";

/// Blocks per read or write.
const BLOCKS: usize = 16_384;

/// The memory of past writes cannot be restored.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum BadState {
    /// Not such a file, or another version.
    #[error("not a record of verified data: name the file that an earlier run kept")]
    Foreign,
    #[error("the record of verified data is damaged or truncated: verify without it")]
    Damaged,
    /// Read error.
    #[error("reading the record of verified data")]
    Io(#[source] io::Error),
}

impl From<io::Error> for BadState {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof { Self::Damaged } else { Self::Io(error) }
    }
}

impl Checked {
    /// Writes the known version of every block. Blocks with operations in flight, or with unresolved overlapping
    /// writes, are saved as unknown and not verified later.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        let Checking { seed, interval, region, compressible, blank: _ } = self.how;
        let figures = [seed, interval.get(), region.start, region.length.get(), compressible.to_bits()];
        let mut sum = 0;
        let mut put = |bytes: &[u8]| {
            sum = summed(sum, bytes);
            to.write_all(bytes)
        };
        put(&MAGIC)?;
        figures.iter().try_for_each(|figure| put(&figure.to_le_bytes()))?;
        let memory = self.memory();
        let mut block = Vec::with_capacity(4 * BLOCKS);
        for generation in memory.versions() {
            block.extend(generation.to_le_bytes());
            if block.len() == 4 * BLOCKS {
                put(&block)?;
                block.clear();
            }
        }
        put(&block)?;
        to.write_all(&sum.to_le_bytes())
    }

    /// Restores the result of [`Checked::save`], including seed, interval and region.
    ///
    /// # Errors
    /// [`BadState`], with the remedy.
    pub fn restore(from: &mut dyn Read, blank: Blank) -> Result<Self, BadState> {
        let mut sum = 0;
        let mut get = |bytes: &mut [u8]| {
            from.read_exact(bytes)?;
            sum = summed(sum, bytes);
            Ok::<(), BadState>(())
        };
        let mut magic = [0; 8];
        get(&mut magic)?;
        if magic != MAGIC {
            return Err(BadState::Foreign);
        }
        let mut figures = [0; 5];
        for figure in &mut figures {
            let mut bytes = [0; 8];
            get(&mut bytes)?;
            *figure = u64::from_le_bytes(bytes);
        }
        let [seed, interval, start, length, compressible] = figures;
        let (interval, region) = (Bytes::new(interval), Region { start, length: Bytes::new(length) });
        let how = Checking { seed, interval, region, compressible: f64::from_bits(compressible), blank };
        valid(interval).map_err(|_| BadState::Damaged)?;
        let mut left = length / interval.get();
        // Grows with the data read, not with the length in a possibly damaged header.
        let mut settled = Vec::new();
        while left > 0 {
            let mut block = vec![0; 4 * left.min(BLOCKS as u64) as usize];
            get(&mut block)?;
            settled.extend(block.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))));
            left -= block.len() as u64 / 4;
        }
        let mut stored_sum = [0; 8];
        from.read_exact(&mut stored_sum)?;
        if u64::from_le_bytes(stored_sum) != sum {
            return Err(BadState::Damaged);
        }
        Ok(Self::remembering(&how, Generations::of(settled)))
    }
}

/// Checksum that depends on the order of the bytes and on their division into calls.
fn summed(sum: u64, bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(sum, |sum, part| {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        mixed(sum ^ u64::from_le_bytes(word))
    })
}
