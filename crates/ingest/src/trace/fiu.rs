//! Traces of hosts of Florida International University (Koller, Rangaswami 2010):
//! `time pid process sector sectors R|W major minor hash`. Names of processes may have blanks in them, so fields count from
//! the end; the hash of the contents is not in all of them.

use plimsoll_record::Action;

use super::dialect::{About, SECTOR, Said, Sink};
use super::fields::{hexadecimal, scaled, whole, words};
use super::rows::{Line, Row};
use crate::kind::Kind;

#[derive(Default)]
pub(super) struct Fiu {
    decimals: bool,
}

impl Row for Fiu {
    const KIND: Kind = Kind { id: "trace-fiu", name: "FIU trace" };
    const MARKS: u8 = 5;

    fn new() -> Self {
        Self::default()
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        let mut f: [&[u8]; 16] = [b""; 16];
        let count = words(line, &mut f);
        let Some(fields) = f.get(..count).filter(|fields| fields.len() >= 8) else {
            return Line::Broken("it has not the nine fields of a record: left out");
        };
        let is_hash = |text: &[u8]| text.len() >= 32 && hexadecimal(&text[..16]).is_some();
        let fields = fields.split_last().filter(|(last, _)| is_hash(last)).map_or(fields, |(_, others)| others);
        let [first, pid, .., sector, sectors, kind, major, minor] = fields else {
            return Line::Broken("it has not the nine fields of a record: left out");
        };
        let action = match *kind {
            b"R" | b"r" => Action::Read,
            b"W" | b"w" => Action::Write,
            _ => return Line::Broken("it says neither R nor W before the device: left out"),
        };
        let decimals = first.contains(&b'.');
        self.decimals |= decimals;
        let at_ns = if decimals { scaled(first, 1_000_000_000) } else { whole(first) };
        let bytes = |text| whole(text).and_then(|count| count.checked_mul(SECTOR));
        let known = (at_ns, whole(pid), bytes(sector), bytes(sectors), whole(major), whole(minor));
        let (Some(at_ns), Some(_), Some(place), Some(length), Some(major), Some(minor)) = known else {
            return Line::Broken("its time, sector, length or device is no number: left out");
        };
        let volume = device(sink, major, minor);
        let action = Some(action);
        sink.asked(&Said { number, at_ns: Some(at_ns), action, place, length: Some(length), volume, took_ns: None });
        Line::Read
    }

    fn about(&self) -> About {
        let unit = if self.decimals { "seconds" } else { "nanoseconds" };
        About { doubts: vec![format!("it does not name the unit of its times: {unit} are taken")], ..About::default() }
    }
}

/// The volume of a device's numbers, as `8,16`.
pub(super) fn device(sink: &mut dyn Sink, major: u64, minor: u64) -> super::volumes::Volume {
    let mut name = [0_u8; 44];
    let mut rest = &mut name[..];
    let room = rest.len();
    let _ = std::io::Write::write_fmt(&mut rest, format_args!("{major},{minor}"));
    let length = room - rest.len();
    sink.volume(&name[..length])
}
