//! Encoding of commits as frames of a log.
//!
//! A frame is `PLM2`, the length of the rest in bytes (u32), the store's identity (16 bytes), the commit's sequence
//! number (u64), whether it is full (u8), the records, and the CRC-32C (Castagnoli 1993) of all preceding bytes (u32),
//! little-endian.
//!
//! A crash leaves at most a torn frame at the end, whose commit was never acknowledged. The superblock contains the
//! number of the next commit, written between the durability and the acknowledgement of each commit, which detects:
//! - a log that is missing, or truncated, zeroed or overwritten before the end of the last confirmed commit;
//! - an older copy of the log, or the log of another store;
//! - flipped bits;
//! - data files that are missing, shorter than the map, or of another store ([`crate::Store::recover`], and the headers
//!   of data files in the shell).
//!
//! Not detected: older content inside a data file; flipped content if data have no checksums; and the loss of commits
//! that became durable after the last write-back of the superblock. It is written without a sync, so that loss requires
//! a power failure within the kernel's write-back time (about 30 s).

use std::fmt;

use crc32c::crc32c;

use crate::record::{Commit, Record, VolumeAccess, VolumeId};
use crate::store::TEXT_MAX;

const MAGIC: [u8; 4] = *b"PLM2";
/// Magic, length, identity, sequence, kind, and the checksum after the records.
const FRAME_BYTES: u64 = 4 + 4 + 16 + 8 + 1 + 4;

/// Identity of a store: random, created with its data directory, and contained in all its files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StoreId(pub [u8; 16]);

impl fmt::Display for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Damage of a log other than a torn end.
#[plimsoll_language::say_errors]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// The log of another store.
    #[error("the log is that of another data directory ({found} instead of {expected})")]
    Foreign {
        /// Identity in the log.
        found: StoreId,
        expected: StoreId,
    },
    /// Unreadable commits, followed by readable commits.
    #[error("the log is damaged at byte {at}: commit {first} is unreadable, and commits up to {last} are unusable")]
    Damaged {
        /// First unreadable byte.
        at: u64,
        /// First lost commit.
        first: u64,
        /// Last readable commit after the damage.
        last: u64,
    },
    /// No readable commit, although some were durable.
    #[error("the log is missing or unreadable from its beginning, with durable {}", commits(0, *last))]
    Missing {
        /// Last durable commit.
        last: u64,
    },
    /// Durable commits are missing at the end.
    #[error("the log ends at byte {at} and lacks durable {}", commits(*first, *last))]
    Lost {
        /// End of the last readable commit.
        at: u64,
        /// First missing commit.
        first: u64,
        /// Last missing commit.
        last: u64,
    },
}

fn commits(first: u64, last: u64) -> String {
    if first == last { format!("commit {first}") } else { format!("commits {first} to {last}") }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// Commits in order, up to the first unreadable byte.
    pub commits: Vec<Commit>,
    /// Length of these commits in bytes.
    pub length: u64,
    /// Readable commits after damage, which cannot be applied.
    pub later: Vec<Commit>,
    /// Identity in the first readable commit.
    pub id: Option<StoreId>,
}

impl Log {
    /// Decodes a log, however damaged; [`Log::check`] judges it.
    pub fn read(bytes: &[u8]) -> Self {
        let mut log = Self { commits: Vec::new(), length: 0, later: Vec::new(), id: None };
        while let Some((id, commit, taken)) = frame(bytes, log.length) {
            let follows = log.commits.last().is_none_or(|last| last.sequence + 1 == commit.sequence);
            if *log.id.get_or_insert(id) != id || !follows {
                break;
            }
            log.length += taken;
            log.commits.push(commit);
        }
        let mut position = log.length + 1;
        while position < bytes.len() as u64 {
            let last = log.later.last().or(log.commits.last()).map(|last| last.sequence);
            match frame(bytes, position) {
                Some((id, commit, taken))
                    if *log.id.get_or_insert(id) == id && last.is_none_or(|last| commit.sequence > last) =>
                {
                    log.later.push(commit);
                    position += taken;
                }
                _ => position += 1,
            }
        }
        log
    }

    /// Number of the commit after the last readable commit; 0 without commits.
    pub fn next(&self) -> u64 {
        self.commits.last().map_or(0, |last| last.sequence + 1)
    }

    /// Refuses a log of another store, or with missing commits below `next`, the first unconfirmed commit. Any data
    /// after the last commit are then the remains of a commit that never became durable, and must be truncated before
    /// the log is continued.
    pub fn check(&self, id: StoreId, next: u64) -> Result<(), LogError> {
        if let Some(found) = self.id.filter(|found| *found != id) {
            return Err(LogError::Foreign { found, expected: id });
        }
        let (at, first) = (self.length, self.next());
        if let Some(last) = self.later.last() {
            return Err(LogError::Damaged { at, first, last: last.sequence.max(next.saturating_sub(1)) });
        }
        if first < next && at == 0 {
            return Err(LogError::Missing { last: next - 1 });
        }
        if first < next {
            return Err(LogError::Lost { at, first, last: next - 1 });
        }
        Ok(())
    }
}

impl Commit {
    /// Encodes the commit as a frame of the log of the store `id`.
    ///
    /// # Panics
    /// If the frame exceeds 4 GiB: a full commit of about 200 million runs.
    pub fn encode(&self, id: StoreId) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.encoded_bytes() as usize);
        bytes.extend_from_slice(&MAGIC);
        let length = u32::try_from(self.encoded_bytes() - 8).expect("a commit is shorter than 4 GiB");
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&id.0);
        bytes.extend_from_slice(&self.sequence.to_le_bytes());
        bytes.push(self.is_full.into());
        for record in &self.records {
            put(&mut bytes, record);
        }
        let sum = crc32c(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Length of the frame in bytes.
    pub fn encoded_bytes(&self) -> u64 {
        FRAME_BYTES + self.records.iter().map(encoded_length).sum::<u64>()
    }
}

fn encoded_length(record: &Record) -> u64 {
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
            bytes.push((access == VolumeAccess::ReadOnly).into());
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

/// Decodes the frame at a position: identity, commit, and length in bytes.
fn frame(bytes: &[u8], position: u64) -> Option<(StoreId, Commit, u64)> {
    let bytes = bytes.get(usize::try_from(position).ok()?..)?;
    let mut head = ByteReader(bytes.strip_prefix(&MAGIC)?);
    let taken = u64::from(head.word()?) + 8;
    if taken < FRAME_BYTES || taken > bytes.len() as u64 {
        return None;
    }
    let (body, sum) = bytes[..taken as usize].split_at(taken as usize - 4);
    if crc32c(body).to_le_bytes() != sum {
        return None;
    }
    let mut reader = ByteReader(&body[8..]);
    let id = StoreId(reader.take(16)?.try_into().ok()?);
    let sequence = reader.long()?;
    let is_full = reader.byte()? == 1;
    let mut records = Vec::new();
    while !reader.0.is_empty() {
        records.push(reader.record()?);
    }
    let at = if is_full { 0 } else { position };
    Some((id, Commit { sequence, is_full, at, records }, taken))
}

struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
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
                let access = if self.byte()? == 0 { VolumeAccess::ReadWrite } else { VolumeAccess::ReadOnly };
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

#[cfg(test)]
mod tests {
    use crc32c::crc32c;

    #[test]
    fn checksum_matches_published_values() {
        // RFC 3720, B.4, and the check value of the catalogue of CRC algorithms.
        assert_eq!(crc32c(&[0; 32]), 0x8A91_36AA);
        assert_eq!(crc32c(&[0xFF; 32]), 0x62A8_AB43);
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
    }
}
