//! What `blktrace` writes, of one processor or merged by `blkparse -d`: records of 48 bytes, or of 64 from version 8 on,
//! each with a payload behind it. The first word tells the version, and the byte order.

use memchr::memmem;

use super::dialect::{About, Counts, Dialect, Sink};
use super::events::{Event, Events, Stage, action};
use super::fiu::device;
use super::volumes::Volume;
use crate::format::{Resemblance, Takes};
use crate::kind::Kind;

/// The first three bytes of each record, as a number above the version.
const MAGIC: u32 = 0x0065_6174;
/// Versions with records of 48 bytes, and those of 64.
const SHORT: std::ops::RangeInclusive<u32> = 5..=7;
const LONG: u32 = 8;

/// Kinds of operations, from the 16th bit of an action on.
mod category {
    pub(super) const READ: u64 = 1;
    pub(super) const WRITE: u64 = 1 << 1;
    pub(super) const FLUSH: u64 = 1 << 2;
    pub(super) const COMMAND: u64 = 1 << 9;
    pub(super) const NOTIFY: u64 = 1 << 10;
    pub(super) const DISCARD: u64 = 1 << 13;
    pub(super) const DURABLE: u64 = 1 << 15;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bytes {
    Little,
    Big,
}

impl Bytes {
    fn word(self, bytes: &[u8], at: usize) -> Option<u32> {
        let four = *bytes.get(at..)?.first_chunk()?;
        Some(if self == Self::Little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) })
    }

    fn half(self, bytes: &[u8], at: usize) -> Option<u16> {
        let two = *bytes.get(at..)?.first_chunk()?;
        Some(if self == Self::Little { u16::from_le_bytes(two) } else { u16::from_be_bytes(two) })
    }

    fn long(self, bytes: &[u8], at: usize) -> Option<u64> {
        let eight = *bytes.get(at..)?.first_chunk()?;
        Some(if self == Self::Little { u64::from_le_bytes(eight) } else { u64::from_be_bytes(eight) })
    }

    /// The order in which a record begins with the magic number, and its version.
    fn of(bytes: &[u8]) -> Option<(Self, u32)> {
        [Self::Little, Self::Big].into_iter().find_map(|order| {
            let word = order.word(bytes, 0)?;
            let version = word & 0xff;
            (word >> 8 == MAGIC && (SHORT.contains(&version) || version == LONG)).then_some((order, version))
        })
    }
}

/// A record without its payload.
struct Record {
    at_ns: u64,
    sector: u64,
    bytes: u32,
    action: u64,
    device: u32,
    processor: u32,
    /// With the payload.
    length: usize,
    head: usize,
}

impl Record {
    fn of(bytes: &[u8]) -> Option<(Bytes, Self)> {
        let (order, version) = Bytes::of(bytes)?;
        let long = version == LONG;
        let head = if long { 64 } else { 48 };
        let action = if long { order.long(bytes, 32)? } else { u64::from(order.word(bytes, 28)?) };
        let device_at = if long { 40 } else { 36 };
        let payload = order.half(bytes.get(..head)?, device_at + 10)?;
        let record = Self {
            at_ns: order.long(bytes, 8)?,
            sector: order.long(bytes, 16)?,
            bytes: order.word(bytes, 24)?,
            action,
            device: order.word(bytes, device_at)?,
            processor: order.word(bytes, device_at + 4)?,
            length: head + usize::from(payload),
            head,
        };
        Some((order, record))
    }

    fn has(&self, category: u64) -> bool {
        (self.action >> 16) & category != 0
    }

    fn stage(&self) -> Option<Stage> {
        match self.action & 0xffff {
            1 => Some(Stage::Queued),
            6 => Some(Stage::Returned),
            7 => Some(Stage::Issued),
            8 => Some(Stage::Completed),
            _ => None,
        }
    }

    /// The letters that `blkparse` would print of it, as far as they matter.
    fn letters(&self) -> &'static [u8] {
        let (flush, durable) = (self.has(category::FLUSH), self.has(category::DURABLE));
        match () {
            () if self.has(category::DISCARD) => b"D",
            () if self.has(category::READ) => b"R",
            () if self.has(category::WRITE) && durable => b"WF",
            () if self.has(category::WRITE) && flush => b"FW",
            () if self.has(category::WRITE) => b"W",
            () if flush => b"FN",
            () => b"N",
        }
    }
}

/// What `blktrace` writes.
#[derive(Default)]
pub(super) struct Blktrace {
    events: Events,
    rest: Vec<u8>,
    number: u64,
    epoch_ns: Option<i128>,
    known: Option<(u32, Volume)>,
    processors: Processors,
}

/// Which processors wrote the records.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Processors {
    #[default]
    None,
    One(u32),
    Several,
}

impl Dialect for Blktrace {
    const KIND: Kind = Kind { id: "trace-blktrace", name: "blktrace" };
    const TAKES: Takes = Takes::Bytes;

    fn new() -> Self {
        Self::default()
    }

    fn resembles(head: &[u8]) -> Resemblance {
        let Some((_, record)) = Record::of(head) else {
            let known = [Bytes::Little, Bytes::Big].into_iter().filter_map(|order| order.word(head, 0));
            let has_magic = known.into_iter().any(|word| word >> 8 == MAGIC);
            let near = Resemblance::Near { marks: 5, missing: "record of version 5 to 8" };
            return if has_magic { near } else { Resemblance::None };
        };
        let follows = head.get(record.length..).is_none_or(|next| next.len() < 4 || Bytes::of(next).is_some());
        if follows { Resemblance::Is { marks: 9 } } else { Resemblance::Is { marks: 7 } }
    }

    fn feed(&mut self, bytes: &[u8], sink: &mut dyn Sink) {
        let mut rest = std::mem::take(&mut self.rest);
        rest.extend_from_slice(bytes);
        let used = self.drain(&rest, sink);
        rest.drain(..used);
        self.rest = rest;
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        if !self.rest.is_empty() {
            sink.broken(self.number + 1, "the trace ends within a record: copy it again, or end the tracer before");
        }
        self.events.end(sink);
    }

    fn about(&self) -> About {
        let mut doubts = self.events.doubts();
        if let Processors::One(number) = self.processors {
            doubts.push(format!(
                "all of its records are of processor {number}: the files of the others belong to it, and answers that they \
                 saw are missing (blkparse -i NAME -d FILE merges them)"
            ));
        }
        About { epoch_ns: self.epoch_ns, doubts, counts: Counts::Records, ..About::default() }
    }
}

impl Blktrace {
    /// Reads whole records, and says how many bytes they had.
    fn drain(&mut self, bytes: &[u8], sink: &mut dyn Sink) -> usize {
        let mut at = 0;
        while bytes.len() - at >= 4 {
            let left = &bytes[at..];
            if Bytes::of(left).is_none() {
                self.number += 1;
                sink.broken(self.number, "it does not begin as a record: left out up to the next that does");
                at += next(left);
                continue;
            }
            let Some((order, record)) = Record::of(left) else { break };
            let Some(payload) = left.get(record.head..record.length) else { break };
            self.number += 1;
            self.record(order, &record, payload, sink);
            at += record.length;
        }
        at
    }

    fn record(&mut self, order: Bytes, record: &Record, payload: &[u8], sink: &mut dyn Sink) {
        if record.has(category::NOTIFY) {
            if let (1, Some(second), Some(ns)) =
                (record.action & 0xffff, order.word(payload, 0), order.word(payload, 4))
            {
                let now = i128::from(second) * 1_000_000_000 + i128::from(ns);
                self.epoch_ns = Some(now - i128::from(record.at_ns));
            }
            return;
        }
        self.processors = match self.processors {
            Processors::None => Processors::One(record.processor),
            Processors::One(number) if number == record.processor => self.processors,
            _ => Processors::Several,
        };
        let bytes = u64::from(record.bytes);
        let (Some(stage), Some(action), false) =
            (record.stage(), action(record.letters(), bytes), record.has(category::COMMAND))
        else {
            return;
        };
        let volume = match self.known {
            Some((number, volume)) if number == record.device => volume,
            _ => device(sink, u64::from(record.device >> 20), u64::from(record.device & 0x000f_ffff)),
        };
        self.known = Some((record.device, volume));
        let (number, at_ns, sector) = (self.number, record.at_ns, record.sector);
        self.events.take(Event { number, at_ns, stage, action, sector, bytes, volume }, sink);
    }
}

/// Bytes up to what may begin the next record; at least one.
fn next(bytes: &[u8]) -> usize {
    let (little, big) = (&MAGIC.to_le_bytes()[..3], &MAGIC.to_be_bytes()[1..]);
    let after = &bytes[1..];
    let little = memmem::find(after, little).map(|at| at.saturating_sub(1));
    let big = memmem::find(after, big);
    // Three bytes are kept: a record may begin within them.
    1 + little.into_iter().chain(big).min().unwrap_or(after.len().saturating_sub(3))
}
