//! The memory of what was written, kept between two processes.
//!
//! Little-endian: a magic of 8 bytes; seed, interval, the region's start and length, and the share that compresses away as
//! the bits of a float, 8 bytes each; 4 bytes for each block; a sum of 8 bytes. Knows nothing about what is checked.

use std::io::{self, Read, Write};

use plimsoll_load::Region;
use plimsoll_units::Bytes;

use super::block::mixed;
use super::checked::{Blank, Checked, Checking, valid};
use super::generations::Generations;

const MAGIC: [u8; 8] = *b"plimgen1";

/// Blocks that are read or written at a time.
const BLOCKS: usize = 16_384;

/// A memory that cannot be gone on with.
#[derive(Debug, thiserror::Error)]
pub enum BadState {
    /// It is no memory of plimsoll's, or of another version.
    #[error("this is no memory of checked data: name the file that an earlier run kept")]
    Foreign,
    /// It is not as it was kept.
    #[error("the memory of checked data is damaged or cut off: check without it")]
    Damaged,
    /// It cannot be read.
    #[error("reading the memory of checked data")]
    Io(#[source] io::Error),
}

impl From<io::Error> for BadState {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof { Self::Damaged } else { Self::Io(error) }
    }
}

impl Checked {
    /// Keeps what is known of every block. Where something is under way, or writes overlapped and none came after them,
    /// nothing is kept, and that block is not checked later.
    ///
    /// # Errors
    /// Those of the writer.
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
        for generation in memory.known() {
            block.extend(generation.to_le_bytes());
            if block.len() == 4 * BLOCKS {
                put(&block)?;
                block.clear();
            }
        }
        put(&block)?;
        to.write_all(&sum.to_le_bytes())
    }

    /// Goes on with what [`Checked::save`] kept: seed, interval and region are as they were.
    ///
    /// # Errors
    /// [`BadState`], in one line that says what to do.
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
        // It grows with what is there, not with what a damaged head says.
        let mut settled = Vec::new();
        while left > 0 {
            let mut block = vec![0; 4 * left.min(BLOCKS as u64) as usize];
            get(&mut block)?;
            settled.extend(block.chunks_exact(4).map(|one| u32::from_le_bytes(one.try_into().expect("4 bytes"))));
            left -= block.len() as u64 / 4;
        }
        let mut kept = [0; 8];
        from.read_exact(&mut kept)?;
        if u64::from_le_bytes(kept) != sum {
            return Err(BadState::Damaged);
        }
        Ok(Self::remembering(&how, Generations::of(settled)))
    }
}

/// A sum over bytes that depends on their order and on how they were handed in.
fn summed(sum: u64, bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(sum, |sum, part| {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        mixed(sum ^ u64::from_le_bytes(word))
    })
}
