//! The exchange format of the Storage Performance Council, in which the University of Massachusetts keeps its traces:
//! `unit,block,size,r|w,seconds`, and possibly more fields. Blocks are sectors of 512 bytes in all that is published.

use plimsoll_record::Action;

use super::dialect::{About, SECTOR, Said, Sink};
use super::fields::{scaled, split, whole};
use super::rows::{Line, Row};
use crate::kind::Kind;

pub(super) struct Spc;

impl Row for Spc {
    const KIND: Kind = Kind { id: "trace-spc", name: "SPC trace" };
    const MARKS: u8 = 5;

    fn new() -> Self {
        Self
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        if line.first() == Some(&b'#') {
            return Line::Passed;
        }
        let mut f: [&[u8]; 5] = [b""; 5];
        if split(line, b',', &mut f) < 5 {
            return Line::Broken("it has not the five fields of a record: left out");
        }
        let action = match f[3] {
            b"r" | b"R" => Action::Read,
            b"w" | b"W" => Action::Write,
            _ => return Line::Broken("its fourth field is neither r nor w: left out"),
        };
        let place = whole(f[1]).and_then(|block| block.checked_mul(SECTOR));
        let (Some(at_ns), Some(place), Some(length), Some(_)) =
            (scaled(f[4], 1_000_000_000), place, whole(f[2]), whole(f[0]))
        else {
            return Line::Broken("its unit, block, size or time is no number: left out");
        };
        let (volume, action) = (sink.volume(f[0]), Some(action));
        sink.asked(&Said { number, at_ns: Some(at_ns), action, place, length: Some(length), volume, took_ns: None });
        Line::Read
    }

    fn about(&self) -> About {
        let doubt = "it does not say how large a block is: 512 bytes are taken, as in all that are published";
        About { doubts: vec![doubt.to_owned()], ..About::default() }
    }
}
