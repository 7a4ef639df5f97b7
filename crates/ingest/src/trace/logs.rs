//! Logs of load generators: plimsoll's traces, and fio's logs of operations.

use plimsoll_language::label;
use plimsoll_record::{Action, TraceLine, Wrong};

use super::lines::{Line, LineDialect};
use crate::dialect::{DialectFacts, RecordOrder, Sink, TraceRecord};
use crate::reading::Doubt;
use crate::text::{integer, words};

/// Traces of plimsoll in the format [`plimsoll_record::TRACE_FORMAT`], parsed strictly.
#[derive(Default)]
pub(super) struct Own {
    lines: TraceLine,
    has_head: bool,
    dropped: u64,
}

impl LineDialect for Own {
    fn marks(&self) -> u8 {
        9
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        match self.lines.read(line, number) {
            Ok(Some(requested)) => {
                let volume = sink.volume(b"");
                sink.operation(&TraceRecord {
                    number,
                    at_ns: Some(requested.at.as_nanos()),
                    action: Some(requested.action),
                    place: requested.offset,
                    length: Some(requested.length),
                    volume,
                    ..TraceRecord::default()
                });
                Line::Read
            }
            Ok(None) => {
                self.has_head = true;
                self.dropped = self.lines.dropped();
                // The head identifies the dialect, so it counts as a record.
                if number <= 2 { Line::Read } else { Line::Passed }
            }
            Err(Wrong::Format) => Line::Broken(Doubt::UnknownItem { item: label!("a trace of plimsoll") }),
            Err(wrong) => {
                sink.broken(number, &Doubt::DamagedTrace { wrong: wrong.to_string() });
                Line::Reported
            }
        }
    }

    fn cut(&mut self, _: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        sink.broken(number, &Doubt::DamagedTrace { wrong: Wrong::CutOff.to_string() });
        Line::Reported
    }

    fn is_sure(&self) -> bool {
        self.has_head
    }

    fn about(&self) -> DialectFacts {
        DialectFacts { dropped: self.dropped, order: RecordOrder::Strict, ..DialectFacts::default() }
    }
}

/// fio's log in version 2, which has only waits, or version 3 with microseconds on each line. Files are volumes.
#[derive(Default)]
pub(super) struct Iolog {
    version: Option<Version>,
    /// Version 2: total microseconds of waits so far.
    waited_us: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Two,
    Three,
}

impl LineDialect for Iolog {
    fn marks(&self) -> u8 {
        8
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        let Some(version) = self.version else {
            self.version = match line.trim_ascii() {
                b"fio version 2 iolog" => Some(Version::Two),
                b"fio version 3 iolog" => Some(Version::Three),
                _ => return Line::Broken(Doubt::UnknownIolog),
            };
            return Line::Read;
        };
        let mut f: [&[u8]; 5] = [b""; 5];
        let count = words(line, &mut f);
        let (at_us, fields) = match version {
            Version::Two => (Some(self.waited_us), f.get(..count)),
            Version::Three => (integer(f[0]), f.get(1..count)),
        };
        let (Some(at_us), Some([file, verb, rest @ ..])) = (at_us, fields) else {
            return Line::Broken(Doubt::IncompleteItem {
                item: label!("a record"),
                lacks: label!("some of its fields"),
            });
        };
        let action = match *verb {
            b"add" | b"open" | b"close" => return Line::Passed,
            b"wait" => {
                let Some(pause) = rest.first().and_then(|text| integer(text)) else {
                    return Line::Broken(Doubt::IncompleteItem { item: label!("a wait"), lacks: label!("its length") });
                };
                self.waited_us = self.waited_us.saturating_add(pause);
                return Line::Passed;
            }
            b"read" => Action::Read,
            b"write" => Action::Write,
            b"sync" | b"datasync" => Action::Flush,
            b"trim" => Action::Trim,
            _ => return Line::Broken(Doubt::UnknownItem { item: label!("a known action") }),
        };
        let span = match rest {
            _ if action == Action::Flush => (Some(0), Some(0)),
            [place, length, ..] => (integer(place), integer(length)),
            _ => (None, None),
        };
        let (Some(place), length @ Some(_)) = span else {
            return Line::Broken(Doubt::NotANumber { value: label!("its offset or length") });
        };
        let (volume, when, action) = (sink.volume(file), at_us.checked_mul(1_000), Some(action));
        sink.operation(&TraceRecord { number, at_ns: when, action, place, length, volume, took_ns: None });
        Line::Read
    }

    fn is_sure(&self) -> bool {
        self.version.is_some()
    }

    fn about(&self) -> DialectFacts {
        let mut doubts = Vec::new();
        if self.version == Some(Version::Two) {
            doubts.push(Doubt::WaitsOnly);
        }
        if self.waited_us > 0 {
            // fio 3.33 replays four waits of 1000 in 0.9 s, and waits of 500, 1000, 1500 and 2000 in 1.9 s.
            doubts.push(Doubt::WaitsInMicroseconds);
        }
        DialectFacts { doubts, ..DialectFacts::default() }
    }
}
