//! Traces of cloud disks: of Alibaba (Li et al. 2020) and of Tencent (Zhang et al. 2020). Neither says how long an
//! operation took.

use plimsoll_record::Action;

use super::dialect::{About, SECTOR, Said, Sink};
use super::fields::{scaled, split, whole};
use super::rows::{Line, Row};
use crate::kind::Kind;

/// Nanoseconds since 1970, as all of these count: 2001 to 2096.
const CALENDAR: std::ops::Range<u64> = 1_000_000_000_000_000_000..4_000_000_000_000_000_000;

/// `device,R|W,offset,length,microseconds`.
pub(super) struct Alibaba;

impl Row for Alibaba {
    const KIND: Kind = Kind { id: "trace-alibaba", name: "Alibaba block trace" };
    const MARKS: u8 = 6;

    fn new() -> Self {
        Self
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        let mut f: [&[u8]; 5] = [b""; 5];
        if split(line, b',', &mut f) != 5 {
            return Line::Broken("it has not the five fields of a record: left out");
        }
        let action = match f[1] {
            b"R" | b"r" => Action::Read,
            b"W" | b"w" => Action::Write,
            _ => return Line::Broken("its second field is neither R nor W: left out"),
        };
        let (Some(place), Some(length), Some(at_ns)) = (whole(f[2]), whole(f[3]), scaled(f[4], 1_000)) else {
            return Line::Broken("its offset, length or time is no number: left out");
        };
        let (volume, action) = (sink.volume(f[0]), Some(action));
        sink.asked(&Said { number, at_ns: Some(at_ns), action, place, length: Some(length), volume, took_ns: None });
        Line::Read
    }

    fn about(&self) -> About {
        About { epoch_ns: Some(0), ..About::default() }
    }
}

/// `seconds,sector,sectors,0|1,volume`: 0 reads.
pub(super) struct Tencent;

impl Row for Tencent {
    const KIND: Kind = Kind { id: "trace-tencent", name: "Tencent block trace" };
    const MARKS: u8 = 4;

    fn new() -> Self {
        Self
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        let mut f: [&[u8]; 5] = [b""; 5];
        if split(line, b',', &mut f) != 5 {
            return Line::Broken("it has not the five fields of a record: left out");
        }
        let action = match f[3] {
            b"0" => Action::Read,
            b"1" => Action::Write,
            _ => return Line::Broken("its fourth field is neither 0 nor 1: left out"),
        };
        let sectors = |text| whole(text).and_then(|count| count.checked_mul(SECTOR));
        let at_ns = scaled(f[0], 1_000_000_000).filter(|at| CALENDAR.contains(at));
        let (Some(at_ns), Some(place), Some(length), Some(_)) = (at_ns, sectors(f[1]), sectors(f[2]), whole(f[4]))
        else {
            return Line::Broken("its time, sector, length or volume is no number that it can be: left out");
        };
        let (volume, action) = (sink.volume(f[4]), Some(action));
        sink.asked(&Said { number, at_ns: Some(at_ns), action, place, length: Some(length), volume, took_ns: None });
        Line::Read
    }

    fn about(&self) -> About {
        let doubt = "its times are whole seconds: what happened within a second is not told apart";
        About { epoch_ns: Some(0), doubts: vec![doubt.to_owned()], tick_ns: 1_000_000_000, ..About::default() }
    }
}
