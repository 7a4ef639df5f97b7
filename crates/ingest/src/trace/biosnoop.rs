//! biosnoop of BCC: an operation per line at its completion, with its latency.
//!
//! Source: <https://github.com/iovisor/bcc/blob/master/tools/biosnoop.py>. The names of processes may contain blanks, so
//! columns are counted from the end; the time in the queue is an optional column before the latency.

use plimsoll_language::label;
use plimsoll_record::Action;

use super::lines::{Line, LineDialect};
use crate::dialect::{DialectFacts, SECTOR, Sink, TraceRecord};
use crate::reading::Doubt;
use crate::text::{integer, scaled, words};

#[derive(Default)]
pub(super) struct Biosnoop {
    /// Columns after the bytes: latency, or time in the queue and latency. None before the heading.
    latencies: Option<usize>,
}

const SECOND: u64 = 1_000_000_000;
const MILLISECOND: u64 = 1_000_000;
/// Maximum words of a line.
const MAX_WORDS: usize = 40;

impl LineDialect for Biosnoop {
    fn marks(&self) -> u8 {
        8
    }

    fn is_sure(&self) -> bool {
        self.latencies.is_some()
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        let mut fields: [&[u8]; MAX_WORDS] = [b""; MAX_WORDS];
        let count = words(line, &mut fields);
        let fields = &fields[..count];
        if fields.first() == Some(&b"TIME(s)".as_slice()) {
            let has_queue = fields.iter().any(|field| field.starts_with(b"QUE"));
            self.latencies = fields.contains(&b"SECTOR".as_slice()).then_some(if has_queue { 2 } else { 1 });
            return Line::Passed;
        }
        let Some(latencies) = self.latencies else {
            return Line::Broken(Doubt::IncompleteItem {
                item: label!("a record"),
                lacks: label!("a heading before it"),
            });
        };
        // Time, process, its number, disk, kind, sector, bytes.
        let Some(first) = count.checked_sub(latencies + 4).filter(|first| *first >= 3) else {
            return Line::Broken(Doubt::IncompleteItem {
                item: label!("a record"),
                lacks: label!("all columns of the heading"),
            });
        };
        let [disk, kind, sector, bytes] = [0, 1, 2, 3].map(|index| fields[first + index]);
        let action = match kind {
            b"R" => Action::Read,
            b"W" => Action::Write,
            _ => return Line::Broken(Doubt::NeitherReadNorWrite),
        };
        let numbers =
            (scaled(fields[0], SECOND), integer(sector), integer(bytes), scaled(fields[count - 1], MILLISECOND));
        let (Some(done_ns), Some(sector), Some(length), Some(took_ns)) = numbers else {
            return Line::Broken(Doubt::UnreadableItem { item: label!("number") });
        };
        let Some(place) = sector.checked_mul(SECTOR) else {
            return Line::Broken(Doubt::UnreadableItem { item: label!("number") });
        };
        let volume = sink.volume(disk);
        sink.operation(&TraceRecord {
            number,
            // The time is that of the completion.
            at_ns: Some(done_ns.saturating_sub(took_ns)),
            action: Some(action),
            place,
            length: Some(length),
            volume,
            took_ns: Some(took_ns),
        });
        Line::Read
    }

    fn about(&self) -> DialectFacts {
        DialectFacts { doubts: vec![Doubt::SecondsSinceStart], ..DialectFacts::default() }
    }
}
