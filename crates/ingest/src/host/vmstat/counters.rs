//! `vmstat -d` and `-D`: what the kernel counted since it was started, of each disk or of all.

use std::collections::BTreeMap;

use jiff::civil::DateTime;

use crate::builder::Builder;
use crate::figure::{Class, Scope};
use crate::format::Input;
use crate::host::digits;
use crate::layers::{self, Layer};
use crate::reading::Fate;
use crate::snapshot::{Count, Counted, Snapshot};
use crate::timestamp;

/// Disks and the samples of them.
#[derive(Debug)]
pub(super) struct Counters {
    begin: Option<DateTime>,
    interval: Option<f64>,
    in_table: bool,
    /// Tables so far: each is a sample, but for headings that are repeated.
    samples: u32,
    seen: Vec<String>,
    disks: u32,
    left_out: Vec<String>,
    scopes: BTreeMap<u32, Layer>,
    numbers: Vec<f64>,
    undated: bool,
    /// A table of another kind that is known by name.
    other: bool,
}

/// The columns below `disk- ---reads--- ---writes--- ---IO---`.
pub(super) fn is_heading(line: &str) -> bool {
    line.starts_with("disk-") && line.contains("reads") && line.contains("writes")
}

const SECTOR: f64 = 512.0;

impl Counters {
    const MOST: usize = 4_096;

    pub(super) fn new(input: &Input) -> Self {
        Self {
            begin: input.begin,
            interval: input.interval.map(plimsoll_units::Span::as_secs_f64),
            in_table: false,
            samples: 0,
            seen: Vec::new(),
            disks: 0,
            left_out: Vec::new(),
            scopes: BTreeMap::new(),
            numbers: Vec::new(),
            undated: false,
            other: false,
        }
    }

    /// Takes a line. False when it is none of these tables.
    pub(super) fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> bool {
        if is_heading(line) {
            self.in_table = true;
            return true;
        }
        if line.contains("milli reading") || line.contains("pages paged in") {
            self.other = true;
        }
        if !self.in_table {
            return false;
        }
        let Some((name, rest)) = line.trim_end().split_once(' ') else { return false };
        // Ten counters, and of `-t` a time behind them.
        let rest = rest.trim_start();
        let Some(end) = super::end_of(rest, 10) else { return rest.contains("merged") };
        self.numbers.clear();
        let is = digits::numbers(&rest.as_bytes()[..end], &mut self.numbers) && self.numbers.len() == 10;
        if name.is_empty() || !is {
            return line.contains("merged");
        }
        let at = timestamp::parse(&rest[end..]).map(|at| out.instant(at));
        self.disk(name, at, number, out);
        true
    }

    fn disk(&mut self, name: &str, at: Option<DateTime>, line: u64, out: &mut Builder) {
        if self.seen.iter().any(|seen| seen == name) {
            self.samples += 1;
            self.seen.clear();
        }
        if self.seen.len() < Self::MOST {
            self.seen.push(name.to_owned());
        }
        let Some(layer) = layers::whole(name) else {
            if self.left_out.len() < Self::MOST && !self.left_out.iter().any(|known| known == name) {
                self.left_out.push(name.to_owned());
            }
            return;
        };
        let passed = self.interval.map(|seconds| seconds * f64::from(self.samples));
        // Without a date of its own only the time between samples counts.
        let begin = self.begin.unwrap_or(crate::host::timeline::UNDATED.to_datetime(jiff::civil::Time::midnight()));
        self.undated |= at.is_none() && self.begin.is_none();
        let at = at.or_else(|| passed.and_then(|passed| timestamp::later(begin, passed)));
        let scope = out.scope(Scope { part: name.to_owned(), ..Scope::default() });
        self.scopes.insert(scope, layer);
        let counts = self.counts(line, name, layer, out);
        let origin = out.origin(line, name, "");
        self.disks += 1;
        if at.is_some() {
            out.snapshot(Snapshot { scope, at, age: None, counts, origin });
        }
    }

    fn counts(&self, line: u64, name: &str, layer: Layer, out: &mut Builder) -> Vec<Count> {
        // Older kernels do not time the operations of arrays.
        let untimed = layer == Layer::Array && self.numbers[3] + self.numbers[7] <= 0.0;
        let columns = [
            (Counted::Operations(Class::Read), 0, 1.0, "reads"),
            (Counted::Bytes(Class::Read), 2, SECTOR, "sectors read"),
            (Counted::OperationSeconds(Class::Read), 3, 1e-3, "ms of reads"),
            (Counted::Operations(Class::Write), 4, 1.0, "writes"),
            (Counted::Bytes(Class::Write), 6, SECTOR, "sectors written"),
            (Counted::OperationSeconds(Class::Write), 7, 1e-3, "ms of writes"),
            (Counted::BusySeconds(Class::All), 9, 1.0, "seconds of I/O"),
        ];
        let count = |(counted, column, factor, field): (Counted, usize, f64, &str)| Count {
            counted,
            value: self.numbers[column] * factor,
            wraps_at: None,
            origin: out.origin(line, name, field),
        };
        columns.into_iter().filter(|(counted, ..)| !(untimed && counted.is_time())).map(count).collect()
    }

    pub(super) fn end(&self, out: &mut Builder) {
        out.arrays(self.scopes.iter().map(|(scope, layer)| (*scope, *layer)));
        if self.disks > 0 {
            out.part("disks", Fate::Read(self.disks));
        }
        for name in &self.left_out {
            out.part(format!("device {name}"), Fate::Ignored);
        }
    }

    /// True when samples were placed in time by their distance alone.
    pub(super) fn is_undated(&self) -> bool {
        self.undated
    }

    /// Why nothing came of it.
    pub(super) fn refusal(&self, out: &Builder) -> Option<&'static str> {
        if out.count() > 0 {
            return None;
        }
        Some(match self.disks {
            0 if self.other => {
                "sums of all devices count what lies over one another twice; take vmstat -dt 10, or iostat -xt 10"
            }
            0 => "it has no row of numbers: check that it was copied completely",
            _ if self.samples == 0 => {
                "one sample of counters says no rate; take several with their times: vmstat -dt 10"
            }
            _ => "counters without times say no rate; take vmstat -dt 10, or say their distance with --interval",
        })
    }
}
