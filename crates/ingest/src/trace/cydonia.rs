//! Virtual disks of `CloudPhysics` as the Cydonia project prepares them (Bhandari et al. 2021): whole operations, or cut
//! into blocks of 4 KiB as a cache sees them.

use plimsoll_record::Action;

use super::dialect::{About, SECTOR, Said, Sink};
use super::fields::{split, whole};
use super::rows::{Line, Row};
use crate::kind::Kind;

fn action(field: &[u8]) -> Option<Action> {
    match field {
        b"r" => Some(Action::Read),
        b"w" => Some(Action::Write),
        _ => None,
    }
}

/// `microseconds,sector,r|w,bytes`.
pub(super) struct Blocks;

impl Row for Blocks {
    const KIND: Kind = Kind { id: "trace-cydonia", name: "CloudPhysics trace (Cydonia)" };
    const MARKS: u8 = 5;

    fn new() -> Self {
        Self
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        let mut f: [&[u8]; 4] = [b""; 4];
        if split(line, b',', &mut f) != 4 {
            return Line::Broken("it has not the four fields of a record: left out");
        }
        let Some(action) = action(f[2]) else {
            return Line::Broken("its third field is neither r nor w: left out");
        };
        let place = whole(f[1]).and_then(|sector| sector.checked_mul(SECTOR));
        let at_ns = whole(f[0]).and_then(|us| us.checked_mul(1_000));
        let (Some(at_ns), Some(place), Some(length)) = (at_ns, place, whole(f[3])) else {
            return Line::Broken("its time, sector or size is no number: left out");
        };
        let (volume, action) = (sink.volume(b""), Some(action));
        sink.asked(&Said { number, at_ns: Some(at_ns), action, place, length: Some(length), volume, took_ns: None });
        Line::Read
    }

    fn about(&self) -> About {
        About {
            doubts: vec!["it does not name the unit of its times: microseconds are taken".to_owned()],
            ..About::default()
        }
    }
}

/// `operation,microseconds since the one before,block,r|w,bytes before,bytes after`: an operation has a row for each
/// block that it touches, and a write that covers its first or last block in part reads that block first.
#[derive(Default)]
pub(super) struct Cached {
    operation: Option<u64>,
    at_us: u64,
}

/// Bytes of a block of the cache.
const BLOCK: u64 = 4096;

impl Row for Cached {
    const KIND: Kind = Kind { id: "trace-cydonia-cache", name: "CloudPhysics cache trace (Cydonia)" };
    const MARKS: u8 = 6;
    const LEAST: u32 = 2;

    fn new() -> Self {
        Self::default()
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        let mut f: [&[u8]; 6] = [b""; 6];
        if split(line, b',', &mut f) != 6 {
            return Line::Broken("it has not the six fields of a record: left out");
        }
        let Some(action) = action(f[3]) else {
            return Line::Broken("its fourth field is neither r nor w: left out");
        };
        let place = whole(f[2]).and_then(|block| block.checked_mul(BLOCK));
        let (Some(operation), Some(gap_us), Some(place)) = (whole(f[0]), whole(f[1]), place) else {
            return Line::Broken("its number, time or block is no number: left out");
        };
        if self.operation != Some(operation) {
            self.operation = Some(operation);
            self.at_us = self.at_us.saturating_add(gap_us);
        }
        let (volume, at_ns) = (sink.volume(b""), self.at_us.checked_mul(1_000));
        sink.asked(&Said { number, at_ns, action: Some(action), place, length: Some(BLOCK), volume, took_ns: None });
        Line::Read
    }

    fn about(&self) -> About {
        let doubts = vec![
            "it does not name the unit of its times: microseconds are taken".to_owned(),
            "its records are blocks of 4 KiB that a cache was asked for, not operations: there are more of them"
                .to_owned(),
        ];
        About { doubts, ..About::default() }
    }
}
