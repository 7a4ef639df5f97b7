//! Commits as bytes, for a shell that keeps them in a log.
//!
//! A frame is `PLMS`, the length of what follows in bytes (u32), the commit's number (u64), whether it is whole (u8),
//! the records, and the CRC-32C (Castagnoli 1993) of all that (u32); numbers are little-endian. A torn frame at the end
//! is what a crash leaves, and is dropped: its commit was never answered. A torn frame before a sound one is damage.

use crate::record::{Access, Commit, Record};
use crate::store::{TEXT_MAX, VolumeId};

const MAGIC: [u8; 4] = *b"PLMS";
/// Magic, length, number, kind, and the checksum behind the records.
const FRAME_BYTES: u64 = 4 + 4 + 8 + 1 + 4;

/// A log that is not merely torn at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// What follows cannot be read, yet sound commits come after it.
    #[error("the log is damaged at byte {at}, and a sound commit follows at byte {sound}: restore it from a copy")]
    Damaged {
        /// The first byte that cannot be read.
        at: u64,
        /// Where the next sound commit begins.
        sound: u64,
    },
}

/// What a log holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// Its commits, in order.
    pub commits: Vec<Commit>,
    /// Bytes that they take. What is behind them is the rest of a commit that never became durable: it has to be cut off
    /// before the log is written again.
    pub length: u64,
}

impl Log {
    /// Reads the bytes of a log.
    pub fn read(bytes: &[u8]) -> Result<Self, LogError> {
        let mut log = Self { commits: Vec::new(), length: 0 };
        while let Some((commit, taken)) = frame(bytes, log.length) {
            let expected = log.commits.last().map(|last: &Commit| last.sequence + 1);
            if expected.is_some_and(|expected| expected != commit.sequence) {
                break;
            }
            log.length += taken;
            log.commits.push(commit);
        }
        let at = log.length;
        let last = log.commits.last().map(|commit| commit.sequence);
        let later = |position: &u64| {
            let found = frame(bytes, *position);
            found.is_some_and(|(commit, _)| last.is_none_or(|last| commit.sequence > last))
        };
        match (at + 1..bytes.len() as u64).find(later) {
            Some(sound) => Err(LogError::Damaged { at, sound }),
            None => Ok(log),
        }
    }
}

impl Commit {
    /// Its frame.
    ///
    /// # Panics
    /// When it is longer than 4 GiB: a whole commit of some 200 million runs.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.encoded_bytes() as usize);
        bytes.extend_from_slice(&MAGIC);
        let length = u32::try_from(self.encoded_bytes() - 8).expect("a commit is shorter than 4 GiB");
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&self.sequence.to_le_bytes());
        bytes.push(self.whole.into());
        for record in &self.records {
            put(&mut bytes, record);
        }
        let sum = crc32c(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// How long its frame is.
    pub fn encoded_bytes(&self) -> u64 {
        FRAME_BYTES + self.records.iter().map(length).sum::<u64>()
    }
}

fn length(record: &Record) -> u64 {
    1 + match record {
        Record::Geometry { .. } | Record::Unmap { .. } | Record::Grow { .. } => 12,
        Record::Create { .. } => 13,
        Record::Fork { .. } => 8,
        Record::Map { .. } => 16,
        Record::Describe { text, .. } => 8 + text.len() as u64,
        Record::Delete { .. } => 4,
    }
}

fn put(bytes: &mut Vec<u8>, record: &Record) {
    let mut words = |tag: u8, words: &[u32]| {
        bytes.push(tag);
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    };
    match *record {
        Record::Geometry { cluster_bytes, clusters_per_file, volumes } => {
            words(1, &[cluster_bytes, clusters_per_file, volumes]);
        }
        Record::Create { volume, size, access } => {
            words(2, &[volume.0, size as u32, (size >> 32) as u32]);
            bytes.push((access == Access::ReadOnly).into());
        }
        Record::Fork { from, to } => words(3, &[from.0, to.0]),
        Record::Map { volume, first, count, at } => words(4, &[volume.0, first, count, at]),
        Record::Unmap { volume, first, count } => words(5, &[volume.0, first, count]),
        Record::Grow { volume, size } => words(6, &[volume.0, size as u32, (size >> 32) as u32]),
        Record::Describe { volume, ref text } => {
            words(7, &[volume.0, text.len() as u32]);
            bytes.extend_from_slice(text.as_bytes());
        }
        Record::Delete { volume } => words(8, &[volume.0]),
    }
}

/// The sound frame at a position, and how long it is.
fn frame(bytes: &[u8], position: u64) -> Option<(Commit, u64)> {
    let bytes = bytes.get(usize::try_from(position).ok()?..)?;
    let mut head = Reader(bytes.strip_prefix(&MAGIC)?);
    let taken = u64::from(head.word()?) + 8;
    if taken < FRAME_BYTES || taken > bytes.len() as u64 {
        return None;
    }
    let (body, sum) = bytes[..taken as usize].split_at(taken as usize - 4);
    if crc32c(body).to_le_bytes() != sum {
        return None;
    }
    let mut reader = Reader(&body[8..]);
    let sequence = reader.long()?;
    let whole = reader.byte()? == 1;
    let mut records = Vec::new();
    while !reader.0.is_empty() {
        records.push(reader.record()?);
    }
    let at = if whole { 0 } else { position };
    Some((Commit { sequence, whole, at, records }, taken))
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    fn word(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn long(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn volume(&mut self) -> Option<VolumeId> {
        self.word().map(VolumeId)
    }

    fn record(&mut self) -> Option<Record> {
        Some(match self.byte()? {
            1 => {
                Record::Geometry { cluster_bytes: self.word()?, clusters_per_file: self.word()?, volumes: self.word()? }
            }
            2 => {
                let (volume, size) = (self.volume()?, self.long()?);
                let access = if self.byte()? == 0 { Access::ReadWrite } else { Access::ReadOnly };
                Record::Create { volume, size, access }
            }
            3 => Record::Fork { from: self.volume()?, to: self.volume()? },
            4 => {
                let volume = self.volume()?;
                Record::Map { volume, first: self.word()?, count: self.word()?, at: self.word()? }
            }
            5 => Record::Unmap { volume: self.volume()?, first: self.word()?, count: self.word()? },
            6 => Record::Grow { volume: self.volume()?, size: self.long()? },
            7 => {
                let volume = self.volume()?;
                let length = self.word().filter(|length| *length <= TEXT_MAX)?;
                let text = std::str::from_utf8(self.take(length as usize)?).ok()?;
                Record::Describe { volume, text: text.to_owned() }
            }
            8 => Record::Delete { volume: self.volume()? },
            _ => return None,
        })
    }
}

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut value = index as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ 0x82F6_3B78 } else { value >> 1 };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
};

fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| (sum >> 8) ^ TABLE[((sum ^ u32::from(*byte)) & 0xFF) as usize])
}

#[cfg(test)]
mod tests {
    use super::crc32c;

    #[test]
    fn the_checksum_is_the_published_one() {
        // RFC 3720, B.4, and the check value of the catalogue of CRC algorithms.
        assert_eq!(crc32c(&[0; 32]), 0x8A91_36AA);
        assert_eq!(crc32c(&[0xFF; 32]), 0x62A8_AB43);
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
    }
}
