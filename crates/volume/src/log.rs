//! Commits as bytes, for a shell that keeps them in a log.
//!
//! A frame is `PLM2`, the length of the rest in bytes (u32), the store's identity (16 bytes), the commit's number (u64),
//! whether it is whole (u8), the records, and the CRC-32C (Castagnoli 1993) of all that (u32); numbers are little-endian.
//!
//! A crash leaves at most one torn frame, at the end, whose commit was never answered. The superblock holds the number of
//! the next commit, written after each commit became durable and before it is answered, so these losses are detected:
//! - a log that is cut, zeroed or overwritten anywhere before the end of the last confirmed commit, or is missing;
//! - an older copy of the log, and the log of another store;
//! - flipped bits in it;
//! - data files that are missing, shorter than the map, or of another store ([`crate::Store::recover`], and the headers of
//!   data files in the shell).
//!
//! Not detected: older content inside a data file, and flipped content where data have no checksums; and the loss of commits that became durable after the
//! superblock last reached the disk. It is written without a sync, so that takes a loss of power in addition, within the
//! write-back time of the kernel (some 30 s).

use std::fmt;

use crc32c::crc32c;

use crate::record::{Access, Commit, Record};
use crate::store::{TEXT_MAX, VolumeId};

const MAGIC: [u8; 4] = *b"PLM2";
/// Magic, length, identity, number, kind, and the checksum behind the records.
const FRAME_BYTES: u64 = 4 + 4 + 16 + 8 + 1 + 4;

/// The identity of a store: drawn at random when its data directory is made, and carried by all its files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StoreId(pub [u8; 16]);

impl fmt::Display for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A log that is not merely torn at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// It belongs to another store.
    #[error("the log is that of another data directory ({found} instead of {expected})")]
    Foreign {
        /// The store that it belongs to.
        found: StoreId,
        /// The store whose it should be.
        expected: StoreId,
    },
    /// Commits cannot be read, yet later ones can.
    #[error(
        "the log is damaged at byte {at}: commit {first} cannot be read, nor anything after it be used, up to commit {last}"
    )]
    Damaged {
        /// The first byte that cannot be read.
        at: u64,
        /// The first commit that is lost.
        first: u64,
        /// The last sound commit behind the damage.
        last: u64,
    },
    /// It has no readable commit, although some were durable.
    #[error("the log is missing or unreadable from its beginning, with durable {}", commits(0, *last))]
    Missing {
        /// The last commit that was durable.
        last: u64,
    },
    /// Commits that were durable are missing at its end.
    #[error("the log ends at byte {at} and lacks durable {}", commits(*first, *last))]
    Lost {
        /// Where its last sound commit ends.
        at: u64,
        /// The first commit that is missing.
        first: u64,
        /// The last one.
        last: u64,
    },
}

fn commits(first: u64, last: u64) -> String {
    if first == last { format!("commit {first}") } else { format!("commits {first} to {last}") }
}

/// The content of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// Its commits, in order, up to the first byte that cannot be read.
    pub commits: Vec<Commit>,
    /// Bytes that they take.
    pub length: u64,
    /// Sound commits behind damage: they cannot be applied.
    pub later: Vec<Commit>,
    /// The store of its first sound commit.
    pub id: Option<StoreId>,
}

impl Log {
    /// Reads the bytes of a log, however damaged; [`Log::check`] judges it.
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

    /// The number of the commit that would follow its last sound one; 0 when there is none.
    pub fn next(&self) -> u64 {
        self.commits.last().map_or(0, |last| last.sequence + 1)
    }

    /// Refuses a log that is not that of the store `id`, or whose commits below `next`, the first that was never
    /// confirmed, are not all there. What follows its last commit is the rest of one that never became durable then: it
    /// has to be cut off before the log is written again.
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
    /// Its frame in the log of a store.
    ///
    /// # Panics
    /// When it is longer than 4 GiB: a whole commit of some 200 million runs.
    pub fn encode(&self, id: StoreId) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.encoded_bytes() as usize);
        bytes.extend_from_slice(&MAGIC);
        let length = u32::try_from(self.encoded_bytes() - 8).expect("a commit is shorter than 4 GiB");
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&id.0);
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

/// The sound frame at a position: the store that it belongs to, the commit, and how long it is.
fn frame(bytes: &[u8], position: u64) -> Option<(StoreId, Commit, u64)> {
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
    let id = StoreId(reader.take(16)?.try_into().ok()?);
    let sequence = reader.long()?;
    let whole = reader.byte()? == 1;
    let mut records = Vec::new();
    while !reader.0.is_empty() {
        records.push(reader.record()?);
    }
    let at = if whole { 0 } else { position };
    Some((id, Commit { sequence, whole, at, records }, taken))
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

#[cfg(test)]
mod tests {
    use crc32c::crc32c;

    #[test]
    fn the_checksum_is_the_published_one() {
        // RFC 3720, B.4, and the check value of the catalogue of CRC algorithms.
        assert_eq!(crc32c(&[0; 32]), 0x8A91_36AA);
        assert_eq!(crc32c(&[0xFF; 32]), 0x62A8_AB43);
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
    }
}
