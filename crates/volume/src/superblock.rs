//! Superblock and file headers, which identify a data directory and its files as parts of a store.
//!
//! A superblock contains the store's identity, the number of the next commit, whether unreferenced clusters are kept,
//! and (by its format) whether data have checksums. It has two slots written alternately, each with a checksum, so that
//! a torn write leaves the previous state. Each data file and checksum file begins with a header of identity and
//! number. Little-endian; checksums are CRC-32C.

use crc32c::crc32c;

use crate::job::FileId;
use crate::log::StoreId;

/// Length in bytes of a superblock and of a file header: a sector, which devices write atomically.
pub const BLOCK_BYTES: usize = 512;
/// Distance of the slots in bytes: they share neither a page nor a sector.
const SLOT_BYTES: u64 = 4_096;

const SUPERBLOCK: [u8; 8] = *b"plmsuper";
const FORMAT: u32 = 2;
/// Format of a superblock with data checksums, refused by versions without support for them.
const CHECKSUMS: u32 = 3;
const KEEPS: u32 = 1;
const SUM_AT: usize = BLOCK_BYTES - 4;

pub type SuperblockData = [u8; BLOCK_BYTES];

#[plimsoll_language::say_errors]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// Damaged, or not written by plimsoll.
    #[error("damaged, or not a plimsoll file")]
    Damaged,
    #[error("format {0}; this version of plimsoll reads {FORMAT} and {CHECKSUMS}: use the version that wrote it")]
    Format(u32),
}

/// The state of a data directory beyond its log and data files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superblock {
    /// Identity of the store.
    pub id: StoreId,
    /// Number of the next commit: all below were durable.
    pub next: u64,
    /// Keep unreferenced clusters unchanged: a dropped commit may have referred to them.
    pub keeps_unreferenced: bool,
    /// Each data file has a checksum file.
    pub has_checksums: bool,
    /// Number of writes.
    generation: u64,
}

impl Superblock {
    /// Superblock of a new data directory.
    pub const fn new(id: StoreId) -> Self {
        Self { id, next: 0, keeps_unreferenced: false, has_checksums: false, generation: 0 }
    }

    /// Decodes the newer valid slot of a superblock file.
    pub fn read(bytes: &[u8]) -> Result<Self, BlockError> {
        let slot = |slot: u64| bytes.get((slot * SLOT_BYTES) as usize..).map_or(Err(BlockError::Damaged), Self::decode);
        match (slot(0), slot(1)) {
            (Ok(a), Ok(b)) => Ok(if a.generation > b.generation { a } else { b }),
            (Ok(slot), Err(_)) | (Err(_), Ok(slot)) => Ok(slot),
            (Err(BlockError::Damaged), Err(error)) | (Err(error), Err(_)) => Err(error),
        }
    }

    /// Encodes the next state; returns the block and its offset in the file.
    pub fn advance(&mut self) -> (SuperblockData, u64) {
        self.generation += 1;
        let flags = if self.keeps_unreferenced { KEEPS } else { 0 };
        let fields = [self.generation.to_le_bytes(), self.next.to_le_bytes()].concat();
        let format = if self.has_checksums { CHECKSUMS } else { FORMAT };
        let block = encode_block(SUPERBLOCK, format, self.id, &[fields.as_slice(), &flags.to_le_bytes()].concat());
        (block, self.generation % 2 * SLOT_BYTES)
    }

    fn decode(bytes: &[u8]) -> Result<Self, BlockError> {
        let (format, id, fields) = open(SUPERBLOCK, bytes)?;
        let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|index| fields[at + index]));
        let keeps_unreferenced = u32::from(fields[16]) & KEEPS != 0;
        let has_checksums = match format {
            FORMAT => false,
            CHECKSUMS => true,
            other => return Err(BlockError::Format(other)),
        };
        Ok(Self { id, generation: long(0), next: long(8), keeps_unreferenced, has_checksums })
    }
}

/// Purpose of a file with a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Data,
    /// Checksums of a data file.
    Sums,
    /// Marks of extents of a data file that are being written.
    Intent,
}

impl FileKind {
    const fn magic(self) -> [u8; 8] {
        match self {
            Self::Data => *b"plmsdata",
            Self::Sums => *b"plmssums",
            Self::Intent => *b"plmsmark",
        }
    }
}

/// Header of a data file or of an auxiliary file.
pub fn header(kind: FileKind, id: StoreId, file: FileId) -> SuperblockData {
    encode_block(kind.magic(), FORMAT, id, &file.0.to_le_bytes())
}

/// Store and file number in a header.
pub fn read_header(kind: FileKind, bytes: &[u8]) -> Result<(StoreId, FileId), BlockError> {
    let (format, id, fields) = open(kind.magic(), bytes)?;
    if format != FORMAT {
        return Err(BlockError::Format(format));
    }
    Ok((id, FileId(u32::from_le_bytes(std::array::from_fn(|index| fields[index])))))
}

fn encode_block(magic: [u8; 8], format: u32, id: StoreId, fields: &[u8]) -> SuperblockData {
    let mut block = [0; BLOCK_BYTES];
    let bytes = [magic.as_slice(), &format.to_le_bytes(), &id.0, fields].concat();
    block[..bytes.len()].copy_from_slice(&bytes);
    let sum = crc32c(&block[..SUM_AT]);
    block[SUM_AT..].copy_from_slice(&sum.to_le_bytes());
    block
}

/// Format, identity and remaining fields of a valid block.
fn open(magic: [u8; 8], bytes: &[u8]) -> Result<(u32, StoreId, &[u8]), BlockError> {
    let block = bytes.get(..BLOCK_BYTES).ok_or(BlockError::Damaged)?;
    if block[..8] != magic || crc32c(&block[..SUM_AT]).to_le_bytes() != block[SUM_AT..] {
        return Err(BlockError::Damaged);
    }
    let format = u32::from_le_bytes(std::array::from_fn(|index| block[8 + index]));
    Ok((format, StoreId(std::array::from_fn(|index| block[12 + index])), &block[28..SUM_AT]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: StoreId = StoreId([7; 16]);

    #[test]
    fn torn_superblock_leaves_the_previous() {
        let mut file = vec![0; 2 * SLOT_BYTES as usize];
        let mut superblock = Superblock::new(ID);
        for next in 1..9 {
            superblock.next = next;
            superblock.keeps_unreferenced = next % 3 == 0;
            superblock.has_checksums = next > 4;
            let (block, at) = superblock.advance();
            let slot = at as usize..at as usize + BLOCK_BYTES;
            if next > 1 {
                let mut torn = file.clone();
                torn[slot.start..slot.start + 40].copy_from_slice(&block[..40]);
                assert_eq!(Superblock::read(&torn).map(|read| read.next), Ok(next - 1));
            }
            file[slot].copy_from_slice(&block);
            assert_eq!(Superblock::read(&file), Ok(superblock));
        }
        assert_eq!(Superblock::read(&[0; 100]), Err(BlockError::Damaged));
        assert_eq!(Superblock::read(&vec![0; 8_192]), Err(BlockError::Damaged));
    }

    #[test]
    fn header_contains_store_and_number() {
        let mut bytes = header(FileKind::Data, ID, FileId(3));
        assert_eq!(read_header(FileKind::Data, &bytes), Ok((ID, FileId(3))));
        assert_eq!(read_header(FileKind::Sums, &bytes), Err(BlockError::Damaged), "another kind");
        assert_eq!(read_header(FileKind::Data, &bytes[1..]), Err(BlockError::Damaged));
        bytes[8..12].copy_from_slice(&9_u32.to_le_bytes());
        let sum = crc32c(&bytes[..SUM_AT]);
        bytes[SUM_AT..].copy_from_slice(&sum.to_le_bytes());
        assert_eq!(read_header(FileKind::Data, &bytes), Err(BlockError::Format(9)));
    }
}
