//! Traces of servers: those of Microsoft Research in Cambridge (Narayanan et al. 2008), and those of virtual desktops
//! that were shown at SYSTOR '17 (Lee et al. 2017). Both are comma-separated and say how long each operation took.

use plimsoll_record::Action;

use super::dialect::{About, Said, Sink};
use super::fields::{scaled, split, whole};
use super::rows::{Line, Row};
use crate::figure::Scope;
use crate::kind::Kind;

/// Nanoseconds of a tick of Windows' clock.
const TICK: u64 = 100;
/// Nanoseconds from 1601, where that clock begins, to 1970.
const FROM_1601: i128 = -11_644_473_600_000_000_000;

fn ticks(text: &[u8]) -> Option<u64> {
    whole(text)?.checked_mul(TICK)
}

/// `ticks,host,disk,Read|Write,offset,size,ticks it took`.
pub(super) struct Msr;

impl Row for Msr {
    const KIND: Kind = Kind { id: "trace-msr", name: "MSR Cambridge trace" };
    const MARKS: u8 = 6;

    fn new() -> Self {
        Self
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        let mut f: [&[u8]; 7] = [b""; 7];
        if split(line, b',', &mut f) != 7 {
            return Line::Broken("it has not the seven fields of a record: left out");
        }
        let action = match f[3] {
            kind if kind.eq_ignore_ascii_case(b"read") => Action::Read,
            kind if kind.eq_ignore_ascii_case(b"write") => Action::Write,
            _ => return Line::Broken("its fourth field is neither Read nor Write: left out"),
        };
        let (Some(at_ns), Some(place), Some(length)) = (ticks(f[0]), whole(f[4]), whole(f[5])) else {
            return Line::Broken("its time, offset or size is no number: left out");
        };
        // Host and disk stand beside each other: together they name the volume.
        let begin = memchr::memchr(b',', line).map_or(0, |comma| comma + 1);
        let volume = sink.volume(&line[begin..(begin + f[1].len() + 1 + f[2].len()).min(line.len())]);
        let action = Some(action);
        let took_ns = ticks(f[6]);
        sink.asked(&Said { number, at_ns: Some(at_ns), action, place, length: Some(length), volume, took_ns });
        Line::Read
    }

    fn about(&self) -> About {
        let scope = |name: &str| {
            let (host, part) = name.split_once(',').unwrap_or(("", name));
            Scope { host: host.trim().to_owned(), part: part.trim().to_owned(), ..Scope::default() }
        };
        About { epoch_ns: Some(FROM_1601), scope: Some(scope), ..About::default() }
    }
}

/// `seconds,seconds it took,R|W,LUN,offset,size`, below a line that says so.
pub(super) struct Systor;

impl Row for Systor {
    const KIND: Kind = Kind { id: "trace-systor17", name: "SYSTOR '17 trace" };
    const MARKS: u8 = 6;

    fn new() -> Self {
        Self
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        let mut f: [&[u8]; 6] = [b""; 6];
        if split(line, b',', &mut f) != 6 {
            return Line::Broken("it has not the six fields of a record: left out");
        }
        let action = match f[2] {
            b"R" => Some(Action::Read),
            b"W" => Some(Action::Write),
            // Commands that move nothing have no kind.
            b"" => None,
            _ => return Line::Broken("its third field is neither R nor W: left out"),
        };
        // Seconds with decimals, or it is another dialect.
        let has_point = |text: &[u8]| text.contains(&b'.');
        let (Some(at_ns), true) = (scaled(f[0], 1_000_000_000), has_point(f[0])) else {
            return Line::Broken("its time is no number of seconds: left out");
        };
        let (Some(place), Some(length)) = (whole(f[4]), whole(f[5])) else {
            return Line::Broken("its offset or size is no number: left out");
        };
        if action.is_some() {
            let volume = sink.volume(f[3]);
            let took_ns = scaled(f[1], 1_000_000_000);
            sink.asked(&Said { number, at_ns: Some(at_ns), action, place, length: Some(length), volume, took_ns });
        }
        Line::Read
    }

    fn about(&self) -> About {
        About { epoch_ns: Some(0), ..About::default() }
    }
}
