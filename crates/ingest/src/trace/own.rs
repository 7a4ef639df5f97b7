//! Traces that plimsoll itself records: the words of [`plimsoll_record::TRACE_FORMAT`], read strictly.

use plimsoll_record::{TraceLine, Wrong};

use super::dialect::{About, Order, Said, Sink};
use super::rows::{Line, Row};
use crate::kind::Kind;

#[derive(Default)]
pub(super) struct Own {
    lines: TraceLine,
    has_head: bool,
    dropped: u64,
}

impl Row for Own {
    const KIND: Kind = Kind { id: "trace-plimsoll", name: "plimsoll trace" };
    const MARKS: u8 = 9;

    fn new() -> Self {
        Self::default()
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        match self.lines.read(line, number) {
            Ok(Some(asked)) => {
                let volume = sink.volume(b"");
                sink.asked(&Said {
                    number,
                    at_ns: Some(asked.at.as_nanos()),
                    action: Some(asked.action),
                    place: asked.offset,
                    length: Some(asked.length),
                    volume,
                    took_ns: None,
                });
                Line::Read
            }
            Ok(None) => {
                self.has_head = true;
                self.dropped = self.lines.dropped();
                // The head is what tells the dialect, so it counts; without it there is nothing to go by.
                if number <= 2 { Line::Read } else { Line::Passed }
            }
            Err(Wrong::Format) => Line::Broken("it is no trace of plimsoll"),
            Err(wrong) => {
                sink.broken(number, &wrong.to_string());
                Line::Told
            }
        }
    }

    fn cut(&mut self, _: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        sink.broken(number, &Wrong::CutOff.to_string());
        Line::Told
    }

    fn is_sure(&self) -> bool {
        self.has_head
    }

    fn about(&self) -> About {
        About { dropped: self.dropped, order: Order::Strict, ..About::default() }
    }
}
