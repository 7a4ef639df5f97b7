//! Tables of objects for simulators of caches, as libCacheSim reads them: comma-separated, below a line that names the
//! columns `time`, `object` and `size`. Objects have no address and no kind.

use super::dialect::{About, Said, Sink};
use super::fields::{scaled, split, whole};
use super::rows::{Line, Row};
use crate::kind::Kind;

#[derive(Default)]
pub(super) struct Objects {
    columns: Option<Columns>,
    /// True when some time is no whole second.
    decimals: bool,
}

#[derive(Clone, Copy)]
struct Columns {
    time: usize,
    object: usize,
    size: usize,
    count: usize,
}

/// Columns that are looked at.
const MOST: usize = 12;

impl Row for Objects {
    const KIND: Kind = Kind { id: "trace-objects", name: "libCacheSim trace (CSV)" };
    const MARKS: u8 = 4;

    fn new() -> Self {
        Self::default()
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        let mut f: [&[u8]; MOST] = [b""; MOST];
        let count = split(line, b',', &mut f);
        let Some(columns) = self.columns else {
            self.columns = if number <= 3 { head(&f[..count.min(MOST)]) } else { None };
            return if self.columns.is_some() { Line::Passed } else { Line::Broken("it names no columns: left out") };
        };
        if line.first() == Some(&b'#') {
            return Line::Passed;
        }
        self.decimals |= f[columns.time].contains(&b'.');
        let at_ns = scaled(f[columns.time], 1_000_000_000);
        let (true, Some(at_ns), Some(length), false) =
            (count == columns.count, at_ns, whole(f[columns.size]), f[columns.object].is_empty())
        else {
            return Line::Broken("it has not the fields that the first line names: left out");
        };
        let place = whole(f[columns.object]).unwrap_or_else(|| named(f[columns.object]));
        let volume = sink.volume(b"");
        sink.asked(&Said {
            number,
            at_ns: Some(at_ns),
            action: None,
            place,
            length: Some(length),
            volume,
            took_ns: None,
        });
        Line::Read
    }

    fn about(&self) -> About {
        let tick_ns = if self.decimals { 0 } else { 1_000_000_000 };
        About { doubts: doubts(), tick_ns, ..About::default() }
    }
}

/// What is missing in traces of objects.
pub(super) fn doubts() -> Vec<String> {
    vec![
        "it does not say what was read and what was written: all of it is one class".to_owned(),
        "its times are taken as seconds, which is what libCacheSim writes".to_owned(),
    ]
}

/// The columns that a first line names.
fn head(fields: &[&[u8]]) -> Option<Columns> {
    let find = |names: &[&str]| {
        let is = |field: &&[u8]| {
            let field = field.strip_prefix(b"#").unwrap_or(field).trim_ascii();
            names.iter().any(|name| field.eq_ignore_ascii_case(name.as_bytes()))
        };
        fields.iter().position(is)
    };
    Some(Columns {
        time: find(&["time", "timestamp", "clock_time", "real_time"])?,
        object: find(&["object", "obj", "obj_id", "id", "key", "object_id"])?,
        size: find(&["size", "obj_size", "object_size", "value_size"])?,
        count: fields.len(),
    })
}

/// A number for an object that has a name: FNV-1a (Fowler, Noll, Vo 1991), which no machine computes differently.
fn named(name: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    name.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
