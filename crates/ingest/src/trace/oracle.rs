//! libCacheSim's `oracleGeneral`: records of 24 bytes with the second, an object, its size, and how many requests later it
//! is asked for again. Objects have no address, and nothing says what is read and what is written.

use super::dialect::{About, Counts, Dialect, Said, Sink};
use super::objects;
use crate::format::{Resemblance, Takes};
use crate::kind::Kind;

#[derive(Default)]
pub(super) struct Oracle {
    rest: Vec<u8>,
    number: u64,
}

/// Bytes of a record, which is little-endian.
const RECORD: usize = 24;
/// Records that are looked at to know one.
const TRIED: usize = 1024;

struct Record {
    second: u32,
    object: u64,
    size: u32,
    next: i64,
}

impl Record {
    fn of(bytes: &[u8]) -> Option<Self> {
        let (second, bytes) = bytes.split_first_chunk()?;
        let (object, bytes) = bytes.split_first_chunk()?;
        let (size, bytes) = bytes.split_first_chunk()?;
        let (next, _) = bytes.split_first_chunk()?;
        Some(Self {
            second: u32::from_le_bytes(*second),
            object: u64::from_le_bytes(*object),
            size: u32::from_le_bytes(*size),
            next: i64::from_le_bytes(*next),
        })
    }

    /// True for what can follow a record of `second`: time does not fall, and the next request lies ahead.
    fn follows(&self, second: u32) -> bool {
        let ahead = self.next == -1 || self.next == i64::MAX || (1..1 << 40).contains(&self.next);
        self.second >= second && self.size > 0 && ahead
    }
}

impl Dialect for Oracle {
    const KIND: Kind = Kind { id: "trace-oracle-general", name: "libCacheSim trace (oracleGeneral)" };
    const TAKES: Takes = Takes::Bytes;

    fn new() -> Self {
        Self::default()
    }

    /// There is no magic number: many records must make sense, one after the other.
    fn resembles(head: &[u8]) -> Resemblance {
        let mut second = 0;
        let mut count = 0;
        for record in head.chunks_exact(RECORD).take(TRIED).filter_map(Record::of) {
            if !record.follows(second) {
                return Resemblance::None;
            }
            second = record.second;
            count += 1;
        }
        if count >= 4 { Resemblance::Is { marks: 3 } } else { Resemblance::None }
    }

    fn feed(&mut self, bytes: &[u8], sink: &mut dyn Sink) {
        self.rest.extend_from_slice(bytes);
        let rest = std::mem::take(&mut self.rest);
        let mut records = rest.chunks_exact(RECORD);
        let volume = sink.volume(b"");
        for record in (&mut records).filter_map(Record::of) {
            self.number += 1;
            if record.size == 0 {
                sink.broken(self.number, "its object has no size: left out");
                continue;
            }
            sink.asked(&Said {
                number: self.number,
                at_ns: Some(u64::from(record.second) * 1_000_000_000),
                action: None,
                place: record.object,
                length: Some(u64::from(record.size)),
                volume,
                took_ns: None,
            });
        }
        self.rest = records.remainder().to_vec();
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        if !self.rest.is_empty() {
            sink.broken(self.number + 1, "the trace ends within a record: copy it again");
        }
    }

    fn about(&self) -> About {
        About { doubts: objects::doubts(), counts: Counts::Records, tick_ns: 1_000_000_000, ..About::default() }
    }
}
