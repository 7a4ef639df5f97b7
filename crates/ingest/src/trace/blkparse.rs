//! What `blkparse` prints: its own form, `device cpu sequence time pid action letters sector + sectors [process]`, and
//! those that users ask for with `-f`, as far as their fields tell themselves apart.

use super::dialect::{About, SECTOR, Sink};
use super::events::{Event, Events, Stage, action};
use super::fields::{scaled, whole, words};
use super::rows::{Line, Row};
use crate::kind::Kind;

const KIND: Kind = Kind { id: "trace-blkparse", name: "blkparse trace" };

/// The form that it has of itself.
#[derive(Default)]
pub(super) struct Blkparse {
    events: Events,
}

/// The stage that an action stands for; none for those that are no step of an operation.
fn stage(action: &[u8]) -> Option<Stage> {
    match action {
        b"Q" => Some(Stage::Queued),
        b"D" => Some(Stage::Issued),
        b"R" => Some(Stage::Returned),
        b"C" => Some(Stage::Completed),
        _ => None,
    }
}

/// Two numbers with a comma between them.
fn is_device(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let major = digits(text);
    let minor = text.get(major + 1..).map_or(0, digits);
    major > 0 && minor > 0 && text[major] == b',' && major + 1 + minor == text.len()
}

impl Row for Blkparse {
    const KIND: Kind = KIND;
    const MARKS: u8 = 7;

    fn new() -> Self {
        Self::default()
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        let mut f: [&[u8]; 10] = [b""; 10];
        let count = words(line, &mut f);
        if !is_device(f[0]) {
            // What is said at the end: totals of processors and of the trace.
            return if count > 0 && is_summary(line) {
                Line::Passed
            } else {
                Line::Broken("it begins with no device: left out")
            };
        }
        let at_ns = scaled(f[3], 1_000_000_000).filter(|_| count >= 6 && f[3].contains(&b'.'));
        let (Some(at_ns), Some(_), Some(_)) = (at_ns, whole(f[1]), whole(f[2])) else {
            return Line::Broken("its processor, sequence or time is no number: left out");
        };
        let Some(stage) = stage(f[5]) else { return Line::Read };
        // Commands that are no operations on sectors have no `+`.
        let (sector, sectors) = match f[8] {
            b"+" => (whole(f[7]), whole(f[9])),
            _ => (Some(0), Some(0)),
        };
        let (Some(sector), Some(sectors)) = (sector, sectors) else {
            return Line::Broken("its sector or length is no number: left out");
        };
        let bytes = sectors.saturating_mul(SECTOR);
        if let Some(action) = action(f[6], bytes).filter(|_| f[8] == b"+" || f[6].starts_with(b"F")) {
            let volume = sink.volume(f[0]);
            self.events.take(Event { number, at_ns, stage, action, sector, bytes, volume }, sink);
        }
        Line::Read
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        self.events.end(sink);
    }

    fn about(&self) -> About {
        About { doubts: self.events.doubts(), ..About::default() }
    }
}

/// Lines of the totals below a trace, and of what the tracer says in between.
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

/// Any other form: the time is the number with decimals, letters follow an action, and the sector follows the letters.
#[derive(Default)]
pub(super) struct Formatted {
    events: Events,
    /// True when actions stand before the letters.
    with_actions: Option<bool>,
    /// True when lengths are bytes, not sectors.
    in_bytes: Option<bool>,
}

/// What a line was found to have.
#[derive(Default)]
struct Found<'a> {
    at_ns: Option<u64>,
    device: Option<&'a [u8]>,
    capitals: [&'a [u8]; 2],
    capitals_count: usize,
    /// Numbers behind the letters.
    numbers: [Option<u64>; 2],
}

impl<'a> Found<'a> {
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
            // Those before the letters are forgotten again.
            *room = whole(part);
        }
    }
}

impl Row for Formatted {
    const KIND: Kind = KIND;
    const MARKS: u8 = 2;
    const LEAST: u32 = 8;

    fn new() -> Self {
        Self::default()
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        let found = Found::of(line);
        let (Some(at_ns), 1..) = (found.at_ns, found.capitals_count) else {
            return Line::Broken("no time, action and sector can be told apart in it: left out");
        };
        let with_actions = *self.with_actions.get_or_insert(found.capitals_count == 2);
        let (stage, letters) = match (with_actions, found.capitals_count) {
            (true, 2) => (stage(found.capitals[0]), found.capitals[1]),
            (false, _) => (Some(Stage::Issued), found.capitals[0]),
            // Actions without letters: plugs, and messages.
            (true, _) => (None, found.capitals[0]),
        };
        let Some(stage) = stage else { return Line::Read };
        let [Some(sector), Some(length)] = found.numbers else {
            return if letters.starts_with(b"F") {
                Line::Read
            } else {
                Line::Broken("it has no sector and length: left out")
            };
        };
        let in_bytes = *self.in_bytes.get_or_insert(length >= SECTOR && length % SECTOR == 0);
        let bytes = if in_bytes { length } else { length.saturating_mul(SECTOR) };
        if let Some(action) = action(letters, bytes) {
            let volume = sink.volume(found.device.unwrap_or(b""));
            self.events.take(Event { number, at_ns, stage, action, sector, bytes, volume }, sink);
        }
        Line::Read
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        self.events.end(sink);
    }

    fn about(&self) -> About {
        let mut doubts = self.events.doubts();
        let unit = if self.in_bytes == Some(true) { "bytes" } else { "sectors of 512 bytes" };
        doubts.push(format!(
            "it is no form of blkparse's own: lengths are taken to be {unit}, and the sector to stand before them"
        ));
        About { doubts, ..About::default() }
    }
}
