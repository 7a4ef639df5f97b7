//! Dialects in which each line is an operation. Knows nothing of what a line says.

use super::dialect::{About, Dialect, Mark, Said, Sink};
use super::volumes::{Volume, Volumes};
use crate::format::{Form, Resemblance, Takes};
use crate::kind::Kind;

/// A dialect of lines.
pub(super) trait Row {
    /// What it is.
    const KIND: Kind;
    /// How specific its lines are: among dialects that know an input, the one with more marks is taken.
    const MARKS: u8;
    /// Lines that must be there to know it: more where lines are less specific.
    const LEAST: u32 = 1;

    /// A reader at the first line.
    fn new() -> Self;

    /// Takes a line, without its end.
    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line;

    /// True once a line was read that no other input has: then the rest may be as broken as it will.
    fn is_sure(&self) -> bool {
        false
    }

    /// What is true of the trace as far as it was read.
    fn about(&self) -> About;

    /// Takes the last line when its end is missing, which is what a copy that broke off looks like.
    fn cut(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        self.row(line, number, sink)
    }

    /// Learns that there is no more.
    fn end(&mut self, _sink: &mut dyn Sink) {}
}

/// What a line was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A record, handed on where it matters.
    Read,
    /// No record, and nothing wrong with it: a head, a remark.
    Passed,
    /// It should be a record, and is not.
    Broken(&'static str),
    /// The sink has been told what is wrong.
    Told,
}

/// Cuts bytes into lines for a [`Row`].
pub(super) struct Rows<R> {
    row: R,
    rest: Vec<u8>,
    number: u64,
    records: bool,
}

impl<R: Row> Rows<R> {
    /// Bytes of a line; of longer ones only the beginning is looked at.
    const LONGEST: usize = 1 << 16;

    fn hand_on(&mut self, line: &[u8], whole: bool, sink: &mut dyn Sink) {
        self.number += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > Self::LONGEST {
            return sink.broken(self.number, "the line is longer than any of a trace: left out");
        }
        let outcome = if whole { self.row.row(line, self.number, sink) } else { self.row.cut(line, self.number, sink) };
        match outcome {
            Line::Read => self.records = true,
            Line::Passed | Line::Told => {}
            // The first line may name columns.
            Line::Broken(_) if !self.records && self.number == 1 => {}
            Line::Broken(_) if line.trim_ascii().is_empty() => {}
            Line::Broken(what) => sink.broken(self.number, what),
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        // One byte too many tells that the line is too long.
        let room = (Self::LONGEST + 2).saturating_sub(self.rest.len());
        self.rest.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

impl<R: Row> Dialect for Rows<R> {
    const KIND: Kind = R::KIND;
    const TAKES: Takes = Takes::Text;

    fn new() -> Self {
        Self { row: R::new(), rest: Vec::new(), number: 0, records: false }
    }

    /// Reads the head as if it were one, and counts what that gives.
    fn resembles(head: &[u8]) -> Resemblance {
        let whole = match memchr::memrchr(b'\n', head) {
            Some(end) if head.len() >= Form::HEAD - 4 => &head[..end],
            _ => head,
        };
        let (mut row, mut trial) = (R::new(), Trial::default());
        let (mut read, mut broken) = (0_u32, 0_u32);
        for (number, line) in (1..).zip(whole.split(|byte| *byte == b'\n').take(Trial::LINES)) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.len() > Self::LONGEST {
                return Resemblance::None;
            }
            match row.row(line, number, &mut trial) {
                Line::Read => read += 1,
                Line::Passed => {}
                Line::Broken(_) if number == 1 || line.trim_ascii().is_empty() => {}
                Line::Broken(_) | Line::Told => broken += 1,
            }
        }
        match (read, broken) {
            (0, _) => Resemblance::None,
            _ if row.is_sure() => Resemblance::Is { marks: R::MARKS },
            _ if broken * 10 <= read && read >= R::LEAST => Resemblance::Is { marks: R::MARKS },
            _ if broken <= read && R::LEAST == 1 => {
                Resemblance::Near { marks: 1, missing: "such record in most lines" }
            }
            _ => Resemblance::None,
        }
    }

    fn feed(&mut self, mut bytes: &[u8], sink: &mut dyn Sink) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let line = &bytes[..end];
            bytes = &bytes[end + 1..];
            if self.rest.is_empty() {
                self.hand_on(line, true, sink);
            } else {
                self.keep(line);
                let mut whole = std::mem::take(&mut self.rest);
                self.hand_on(&whole, true, sink);
                whole.clear();
                self.rest = whole;
            }
        }
        self.keep(bytes);
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        let last = std::mem::take(&mut self.rest);
        if !last.is_empty() {
            self.hand_on(&last, false, sink);
        }
        self.row.end(sink);
    }

    fn about(&self) -> About {
        self.row.about()
    }
}

/// Takes what a trial gives, and keeps nothing of it.
#[derive(Default)]
struct Trial {
    volumes: Volumes,
}

impl Trial {
    /// Lines that are tried.
    const LINES: usize = 200;
}

impl Sink for Trial {
    fn volume(&mut self, name: &[u8]) -> Volume {
        self.volumes.number(name)
    }

    fn asked(&mut self, _: &Said) -> Mark {
        Mark::default()
    }

    fn answered(&mut self, _: Mark, _: u64) {}

    fn broken(&mut self, _: u64, _: &str) {}
}
