//! The block layer of Linux: output of `blktrace` and `blkparse`, in which an operation is queued, issued to the device
//! and completed. A single step counts: the issue, because it is the load of the device, or the best one available.

use std::collections::HashMap;

use memchr::memmem;
use plimsoll_language::label;
use plimsoll_record::Action;

use super::lines::{Line, LineDialect};
use crate::dialect::{Dialect, DialectFacts, Mark, NumberUnit, SECTOR, Sink, TraceRecord, TraceVolume};
use crate::form::{Head, Resemblance};
use crate::reading::Doubt;
use crate::text::{integer, scaled, words};

/// A step of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TraceStage {
    Queued,
    Issued,
    /// Requeued, to be issued again.
    Returned,
    Completed,
}

#[derive(Clone, Copy, Debug)]
struct TraceEvent {
    number: u64,
    at_ns: u64,
    stage: TraceStage,
    action: Action,
    sector: u64,
    bytes: u64,
    volume: TraceVolume,
}

/// Assembles events to operations.
#[derive(Default)]
struct Events {
    /// The event that counts as submission, once decided.
    level: Option<TraceStage>,
    /// Events before the decision.
    early: Vec<TraceEvent>,
    /// Operations in flight, by volume and sector.
    open: HashMap<(TraceVolume, u64), Mark>,
    /// Completions without a submission so far: files of several processors in sequence.
    answers: HashMap<(TraceVolume, u64), u64>,
    lost: bool,
}

/// Number of events examined for the decision.
const EARLY: usize = 4096;
/// Maximum operations in flight, and completions without a submission.
const MAX_PENDING: usize = 1 << 17;
const MAX_LATENCY_NS: u64 = 600_000_000_000;

impl Events {
    fn take(&mut self, event: TraceEvent, sink: &mut dyn Sink) {
        if let Some(level) = self.level {
            return self.join(level, &event, sink);
        }
        self.early.push(event);
        if self.early.len() >= EARLY {
            self.decide(sink);
        }
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        if self.level.is_none() {
            self.decide(sink);
        }
    }

    /// Cautions about missing events and decisions.
    fn doubts(&self) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        match self.level {
            Some(TraceStage::Queued) => doubts.push(Doubt::QueueEvents),
            Some(TraceStage::Completed) => doubts.push(Doubt::CompletionsOnly),
            _ => {}
        }
        if self.lost {
            doubts.push(Doubt::CompletionsMissing);
        }
        doubts
    }

    fn decide(&mut self, sink: &mut dyn Sink) {
        let has = |stage: TraceStage| self.early.iter().any(|event| event.stage == stage);
        let existing = [TraceStage::Issued, TraceStage::Queued].into_iter().find(|stage| has(*stage));
        let level = existing.unwrap_or(TraceStage::Completed);
        self.level = Some(level);
        for event in std::mem::take(&mut self.early) {
            self.join(level, &event, sink);
        }
    }

    fn join(&mut self, level: TraceStage, event: &TraceEvent, sink: &mut dyn Sink) {
        let key = (event.volume, event.sector);
        if event.stage == level {
            let mark = submit(event, sink);
            if level != TraceStage::Completed {
                self.begin(key, mark, sink);
            }
            return;
        }
        match event.stage {
            TraceStage::Completed => match self.open.remove(&key) {
                Some(mark) if event.at_ns >= mark.at_ns => sink.answered(mark, event.at_ns - mark.at_ns),
                _ if self.answers.len() < MAX_PENDING => {
                    self.answers.insert(key, event.at_ns);
                }
                _ => {}
            },
            // It will be issued again and counts again, because the device gets it twice.
            TraceStage::Returned => {
                self.open.remove(&key);
            }
            TraceStage::Queued | TraceStage::Issued => {}
        }
    }

    fn begin(&mut self, key: (TraceVolume, u64), mark: Mark, sink: &mut dyn Sink) {
        let answered = self.answers.get(&key).copied();
        if let Some(end) = answered.filter(|end| (mark.at_ns..mark.at_ns.saturating_add(MAX_LATENCY_NS)).contains(end))
        {
            self.answers.remove(&key);
            return sink.answered(mark, end - mark.at_ns);
        }
        if self.open.len() >= MAX_PENDING {
            // Missing completions: operations beyond the maximum latency are dropped.
            self.open.retain(|_, open| open.at_ns.saturating_add(MAX_LATENCY_NS) > mark.at_ns);
        }
        if self.open.len() >= MAX_PENDING {
            self.lost = true;
            self.open.clear();
        }
        self.open.insert(key, mark);
    }
}

fn submit(event: &TraceEvent, sink: &mut dyn Sink) -> Mark {
    let (place, length) = match event.action {
        Action::Flush => (0, 0),
        _ => (event.sector.saturating_mul(SECTOR), event.bytes),
    };
    let TraceEvent { number, at_ns, action, volume, .. } = *event;
    let (at_ns, action, length) = (Some(at_ns), Some(action), Some(length));
    sink.operation(&TraceRecord { number, at_ns, action, place, length, volume, took_ns: None })
}

/// The meaning of letters such as `FWFS`: a preceding flush, the operation, then its flags.
fn parse_action(letters: &[u8], bytes: u64) -> Option<Action> {
    let (flush_first, letters) = match letters.strip_prefix(b"F") {
        Some(rest) => (true, rest),
        None => (false, letters),
    };
    match letters.split_first() {
        Some((b'R', _)) => Some(Action::Read),
        Some((b'W', _)) if bytes == 0 => flush_first.then_some(Action::Flush),
        Some((b'W', marks)) if marks.contains(&b'F') => Some(Action::DurableWrite),
        Some((b'W', _)) => Some(Action::Write),
        Some((b'D', _)) => Some(Action::Trim),
        Some((b'F', _)) => Some(Action::Flush),
        _ => flush_first.then_some(Action::Flush),
    }
}

/// The default format of `blkparse`: `device cpu sequence time pid action letters sector + sectors [process]`.
#[derive(Default)]
pub(super) struct Blkparse {
    events: Events,
}

/// The stage of an action; none for actions that are not steps of an operation.
fn parse_stage(action: &[u8]) -> Option<TraceStage> {
    match action {
        b"Q" => Some(TraceStage::Queued),
        b"D" => Some(TraceStage::Issued),
        b"R" => Some(TraceStage::Returned),
        b"C" => Some(TraceStage::Completed),
        _ => None,
    }
}

/// Two numbers separated by a comma.
fn is_device(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let major = digits(text);
    let minor = text.get(major + 1..).map_or(0, digits);
    major > 0 && minor > 0 && text[major] == b',' && major + 1 + minor == text.len()
}

impl LineDialect for Blkparse {
    fn marks(&self) -> u8 {
        7
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        let mut f: [&[u8]; 10] = [b""; 10];
        let count = words(line, &mut f);
        if !is_device(f[0]) {
            // The totals of processors and of the trace, at its end.
            return if count > 0 && is_summary(line) {
                Line::Passed
            } else {
                Line::Broken(Doubt::UnknownItem { item: label!("a line with a device") })
            };
        }
        let at_ns = scaled(f[3], 1_000_000_000).filter(|_| count >= 6 && f[3].contains(&b'.'));
        let (Some(at_ns), Some(_), Some(_)) = (at_ns, integer(f[1]), integer(f[2])) else {
            return Line::Broken(Doubt::NotANumber { value: label!("its processor, sequence or time") });
        };
        let Some(stage) = parse_stage(f[5]) else { return Line::Read };
        // Commands other than operations on sectors have no `+`.
        let (sector, sectors) = match f[8] {
            b"+" => (integer(f[7]), integer(f[9])),
            _ => (Some(0), Some(0)),
        };
        let (Some(sector), Some(sectors)) = (sector, sectors) else {
            return Line::Broken(Doubt::NotANumber { value: label!("its sector or length") });
        };
        let bytes = sectors.saturating_mul(SECTOR);
        if let Some(action) = parse_action(f[6], bytes).filter(|_| f[8] == b"+" || f[6].starts_with(b"F")) {
            let volume = sink.volume(f[0]);
            self.events.take(TraceEvent { number, at_ns, stage, action, sector, bytes, volume }, sink);
        }
        Line::Read
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        self.events.end(sink);
    }

    fn about(&self) -> DialectFacts {
        DialectFacts { doubts: self.events.doubts(), ..DialectFacts::default() }
    }
}

/// Lines of the totals below a trace, and messages of the tracer.
fn is_summary(line: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 12] = [
        b"CPU",
        b"Total",
        b"Throughput",
        b"Events",
        b"Skips",
        b"Reads",
        b"Writes",
        b"Read ",
        b"IO ",
        b"PC ",
        b"Input",
        b"==",
    ];
    let line = line.trim_ascii_start();
    BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
}

/// Any other format: the time is the number with decimals, letters follow an action, and the sector follows the
/// letters.
#[derive(Default)]
pub(super) struct Formatted {
    events: Events,
    /// True if actions precede the letters.
    with_actions: Option<bool>,
    /// True if lengths are bytes rather than sectors.
    in_bytes: Option<bool>,
}

/// The components found in a line.
#[derive(Default)]
struct LineParts<'a> {
    at_ns: Option<u64>,
    device: Option<&'a [u8]>,
    capitals: [&'a [u8]; 2],
    capitals_count: usize,
    /// Numbers after the letters.
    numbers: [Option<u64>; 2],
}

impl<'a> LineParts<'a> {
    fn of(line: &'a [u8]) -> Self {
        let mut found = Self::default();
        let mut tokens: [&[u8]; 16] = [b""; 16];
        let count = words(line, &mut tokens).min(tokens.len());
        for token in &tokens[..count] {
            if is_device(token) && found.device.is_none() {
                found.device = Some(token);
                continue;
            }
            for part in token.split(|byte| *byte == b',') {
                found.part(part);
            }
        }
        found
    }

    fn part(&mut self, part: &'a [u8]) {
        let is_letters = (1..=6).contains(&part.len()) && part.iter().all(|byte| b"RWBSDFNAMEQCGIXPUTm".contains(byte));
        if is_letters && self.capitals_count < 2 {
            self.capitals[self.capitals_count] = part;
            self.capitals_count += 1;
            self.numbers = [None; 2];
        } else if part.contains(&b'.') && self.at_ns.is_none() {
            self.at_ns = scaled(part, 1_000_000_000);
        } else if let Some(room) = self.numbers.iter_mut().find(|number| number.is_none()) {
            // Numbers before the letters are dropped.
            *room = integer(part);
        }
    }
}

impl LineDialect for Formatted {
    fn marks(&self) -> u8 {
        2
    }

    fn min_lines(&self) -> u32 {
        8
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        let found = LineParts::of(line);
        let (Some(at_ns), 1..) = (found.at_ns, found.capitals_count) else {
            return Line::Broken(Doubt::AmbiguousRecord);
        };
        let with_actions = *self.with_actions.get_or_insert(found.capitals_count == 2);
        let (stage, letters) = match (with_actions, found.capitals_count) {
            (true, 2) => (parse_stage(found.capitals[0]), found.capitals[1]),
            (false, _) => (Some(TraceStage::Issued), found.capitals[0]),
            // Actions without letters: plugs, and messages.
            (true, _) => (None, found.capitals[0]),
        };
        let Some(stage) = stage else { return Line::Read };
        let [Some(sector), Some(length)] = found.numbers else {
            return if letters.starts_with(b"F") {
                Line::Read
            } else {
                Line::Broken(Doubt::IncompleteItem { item: label!("a record"), lacks: label!("sector and length") })
            };
        };
        let in_bytes = *self.in_bytes.get_or_insert(length >= SECTOR && length % SECTOR == 0);
        let bytes = if in_bytes { length } else { length.saturating_mul(SECTOR) };
        if let Some(action) = parse_action(letters, bytes) {
            let volume = sink.volume(found.device.unwrap_or(b""));
            self.events.take(TraceEvent { number, at_ns, stage, action, sector, bytes, volume }, sink);
        }
        Line::Read
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        self.events.end(sink);
    }

    fn about(&self) -> DialectFacts {
        let mut doubts = self.events.doubts();
        let unit = if self.in_bytes == Some(true) { "bytes" } else { "sectors of 512 bytes" };
        doubts.push(Doubt::LengthUnitAssumed { unit });
        DialectFacts { doubts, ..DialectFacts::default() }
    }
}

/// The first three bytes of each record, above the version.
const MAGIC: u32 = 0x0065_6174;
/// Versions with records of 48 bytes, and those of 64.
const SHORT: std::ops::RangeInclusive<u32> = 5..=7;
const LONG: u32 = 8;

/// Kinds of operations, from bit 16 of an action on.
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
    /// The number of `N` bytes at a position.
    fn number<const N: usize>(self, bytes: &[u8], at: usize) -> Option<u64> {
        let mut bytes: [u8; N] = *bytes.get(at..)?.first_chunk()?;
        if self == Self::Little {
            bytes.reverse();
        }
        Some(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn word(self, bytes: &[u8], at: usize) -> Option<u32> {
        self.number::<4>(bytes, at).map(|word| word as u32)
    }

    /// The byte order in which a record begins with the magic number, and its version.
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
    /// Including the payload.
    length: usize,
    head: usize,
}

impl Record {
    fn of(bytes: &[u8]) -> Option<(Bytes, Self)> {
        let (order, version) = Bytes::of(bytes)?;
        let long = version == LONG;
        let head = if long { 64 } else { 48 };
        let action = if long { order.number::<8>(bytes, 32)? } else { u64::from(order.word(bytes, 28)?) };
        let device_at = if long { 40 } else { 36 };
        let payload = order.number::<2>(bytes.get(..head)?, device_at + 10)?;
        let record = Self {
            at_ns: order.number::<8>(bytes, 8)?,
            sector: order.number::<8>(bytes, 16)?,
            bytes: order.word(bytes, 24)?,
            action,
            device: order.word(bytes, device_at)?,
            processor: order.word(bytes, device_at + 4)?,
            length: head + payload as usize,
            head,
        };
        Some((order, record))
    }

    fn has(&self, category: u64) -> bool {
        (self.action >> 16) & category != 0
    }

    fn stage(&self) -> Option<TraceStage> {
        match self.action & 0xffff {
            1 => Some(TraceStage::Queued),
            6 => Some(TraceStage::Returned),
            7 => Some(TraceStage::Issued),
            8 => Some(TraceStage::Completed),
            _ => None,
        }
    }

    /// The relevant letters that `blkparse` would print.
    fn letters(&self) -> &'static [u8] {
        let (flush, durable) = (self.has(category::FLUSH), self.has(category::DURABLE));
        match () {
            () if self.has(category::DISCARD) => b"D",
            // A flush without data has the direction of a read.
            () if flush && self.bytes == 0 => b"FN",
            () if self.has(category::READ) && self.bytes > 0 => b"R",
            () if self.has(category::WRITE) && durable => b"WF",
            () if self.has(category::WRITE) && flush => b"FW",
            () if self.has(category::WRITE) => b"W",
            () if flush => b"FN",
            () => b"N",
        }
    }
}

/// Binary output of `blktrace`.
#[derive(Default)]
pub(super) struct Blktrace {
    events: Events,
    rest: Vec<u8>,
    number: u64,
    epoch_ns: Option<i128>,
    existing: Option<(u32, TraceVolume)>,
    processors: TraceProcessors,
}

/// The processors that wrote the records.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum TraceProcessors {
    #[default]
    None,
    One(u32),
    Several,
}

/// Matches if an input begins with a record.
pub(super) fn is_blktrace(head: &Head<'_>) -> Resemblance {
    let head = head.raw();
    let Some((_, record)) = Record::of(head) else {
        let mut words = [Bytes::Little, Bytes::Big].into_iter().filter_map(|order| order.word(head, 0));
        let near = Resemblance::Near { marks: 5, missing: "record of version 5 to 8" };
        return if words.any(|word| word >> 8 == MAGIC) { near } else { Resemblance::None };
    };
    let follows = head.get(record.length..).is_none_or(|next| next.len() < 4 || Bytes::of(next).is_some());
    Resemblance::Is { marks: if follows { 9 } else { 7 } }
}

impl Dialect for Blktrace {
    fn feed(&mut self, bytes: &[u8], sink: &mut dyn Sink) {
        let mut rest = std::mem::take(&mut self.rest);
        rest.extend_from_slice(bytes);
        let used = self.drain(&rest, sink);
        rest.drain(..used);
        self.rest = rest;
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        if !self.rest.is_empty() {
            sink.broken(self.number + 1, &Doubt::EndsWithin { item: label!("a record").to_owned() });
        }
        self.events.end(sink);
    }

    fn about(&self) -> DialectFacts {
        let mut doubts = self.events.doubts();
        if let TraceProcessors::One(number) = self.processors {
            doubts.push(Doubt::SingleProcessor { number });
        }
        DialectFacts { epoch_ns: self.epoch_ns, doubts, counts: NumberUnit::Records, ..DialectFacts::default() }
    }
}

impl Blktrace {
    /// Reads complete records, and returns their bytes.
    fn drain(&mut self, bytes: &[u8], sink: &mut dyn Sink) -> usize {
        let mut at = 0;
        while bytes.len() - at >= 4 {
            let left = &bytes[at..];
            if Bytes::of(left).is_none() {
                self.number += 1;
                sink.broken(self.number, &Doubt::UnknownItem { item: label!("a record of an operation") });
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
            TraceProcessors::None => TraceProcessors::One(record.processor),
            TraceProcessors::One(number) if number == record.processor => self.processors,
            _ => TraceProcessors::Several,
        };
        let bytes = u64::from(record.bytes);
        let (Some(stage), Some(action), false) =
            (record.stage(), parse_action(record.letters(), bytes), record.has(category::COMMAND))
        else {
            return;
        };
        let volume = match self.existing {
            Some((number, volume)) if number == record.device => volume,
            _ => sink.volume(format!("{},{}", record.device >> 20, record.device & 0x000f_ffff).as_bytes()),
        };
        self.existing = Some((record.device, volume));
        let (number, at_ns, sector) = (self.number, record.at_ns, record.sector);
        self.events.take(TraceEvent { number, at_ns, stage, action, sector, bytes, volume }, sink);
    }
}

/// Bytes before a possible next record; at least one.
fn next(bytes: &[u8]) -> usize {
    let (little, big) = (&MAGIC.to_le_bytes()[..3], &MAGIC.to_be_bytes()[1..]);
    let after = &bytes[1..];
    let little = memmem::find(after, little).map(|at| at.saturating_sub(1));
    let big = memmem::find(after, big);
    // Three bytes are kept: a record may begin within them.
    1 + little.into_iter().chain(big).min().unwrap_or(after.len().saturating_sub(3))
}

#[cfg(test)]
mod tests {
    use plimsoll_record::Action;

    use super::parse_action;

    #[test]
    fn letters_determine_the_action() {
        let table: [(&str, u64, Option<Action>); 12] = [
            ("R", 4096, Some(Action::Read)),
            ("RA", 4096, Some(Action::Read)),
            ("WS", 4096, Some(Action::Write)),
            ("WBS", 4096, Some(Action::Write)),
            ("WFS", 4096, Some(Action::DurableWrite)),
            ("FWFS", 4096, Some(Action::DurableWrite)),
            ("FWS", 0, Some(Action::Flush)),
            ("FF", 0, Some(Action::Flush)),
            ("FN", 0, Some(Action::Flush)),
            ("DS", 4096, Some(Action::Trim)),
            ("N", 0, None),
            ("", 0, None),
        ];
        for (letters, bytes, expected) in table {
            assert_eq!(parse_action(letters.as_bytes(), bytes), expected, "{letters}");
        }
    }
}
