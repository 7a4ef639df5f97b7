//! What simulators of disks and flash read: `time device sector sectors kind`, separated by blanks. The lowest bit of the
//! kind is set for reads. `DiskSim` counts milliseconds with decimals; `SSDsim` and `MQSim` count whole nanoseconds. Nothing in
//! the file says which: the decimals do.

use plimsoll_record::Action;

use super::dialect::{About, SECTOR, Said, Sink};
use super::fields::{hexadecimal, scaled, whole, words};
use super::rows::{Line, Row};
use crate::kind::Kind;

#[derive(Default)]
pub(super) struct Ascii {
    decimals: Option<bool>,
}

/// Bytes of an operation, at most: what has more in that place is another table of five numbers.
const LARGEST: u64 = 1 << 30;

impl Row for Ascii {
    const KIND: Kind = Kind { id: "trace-disksim", name: "DiskSim or SSDsim trace" };
    const MARKS: u8 = 2;
    const LEAST: u32 = 3;

    fn new() -> Self {
        Self::default()
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        if line.first() == Some(&b'#') {
            return Line::Passed;
        }
        let mut f: [&[u8]; 6] = [b""; 6];
        if words(line, &mut f) != 5 {
            return Line::Broken("it has not the five fields of a record: left out");
        }
        let decimals = f[0].contains(&b'.');
        // A whole number of milliseconds is printed without decimals by some: what came first decides.
        let decimals = *self.decimals.get_or_insert(decimals) || decimals;
        self.decimals = Some(decimals);
        let at_ns = scaled(f[0], if decimals { 1_000_000 } else { 1 });
        let bytes = |text| whole(text).and_then(|count| count.checked_mul(SECTOR));
        let flags = hexadecimal(f[4]).filter(|flags| *flags < 0x100 && f[4].len() <= 4);
        let length = bytes(f[3]).filter(|length| *length <= LARGEST);
        let known = (at_ns, whole(f[1]), bytes(f[2]), length, flags);
        let (Some(at_ns), Some(_), Some(place), Some(length), Some(flags)) = known else {
            return Line::Broken("it is no record of five numbers: left out");
        };
        let action = Some(if flags & 1 == 1 { Action::Read } else { Action::Write });
        let volume = sink.volume(f[1]);
        sink.asked(&Said { number, at_ns: Some(at_ns), action, place, length: Some(length), volume, took_ns: None });
        Line::Read
    }

    fn about(&self) -> About {
        let unit = match self.decimals {
            Some(true) => "they have decimals, so milliseconds are taken, as DiskSim has them",
            _ => "they are whole numbers, so nanoseconds are taken, as SSDsim and MQSim have them",
        };
        About { doubts: vec![format!("it does not name the unit of its times: {unit}")], ..About::default() }
    }
}
