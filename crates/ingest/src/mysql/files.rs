//! Files of the performance schema: `file_summary_by_instance`, and the views of `sys` over it, raw and formatted.
//!
//! They count since the server started, and say neither when that was nor when they were read: moments stand between the
//! tables, or come from the caller.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::counters::Counters;
use crate::figure::{Class, Origin, Scope};
use crate::format::{Form, Format, Input, Resemblance, Takes};
use crate::kind::Kind;
use crate::lines::{LineFormat, Lines};
use crate::reading::Fate;
use crate::refusal::Refusal;
use crate::rows::{Known, Rows, Seen};
use crate::snapshot::{Counted, Snapshot};
use crate::timestamp::{self, Taken};

const KIND: Kind = Kind { id: "mysql-files", name: "files of MySQL's performance schema" };

pub(crate) const FORM: Form = Form { kind: KIND, takes: Takes::Text, resembles, open };

/// Files that are kept of a sample one by one: those with most operations.
const MOST_FILES: usize = 50;

fn open(input: &Input) -> Box<dyn Format> {
    Box::new(Lines::new(Files {
        rows: Rows::new(known),
        input: input.clone(),
        at: None,
        table: 0,
        line: 0,
        sample: BTreeMap::new(),
        samples: 0,
        read: 0,
        broken: 0,
        rounded: false,
    }))
}

fn known(name: &str) -> Known {
    let names = [
        "file",
        "file_name",
        "event_name",
        "count_read",
        "count_write",
        "total_read",
        "total_written",
        "read_latency",
        "write_latency",
        "sum_number_of_bytes_read",
        "sum_number_of_bytes_write",
        "sum_timer_read",
        "sum_timer_write",
    ];
    if names.contains(&name) { Known::One } else { Known::No }
}

fn resembles(head: &[u8]) -> Resemblance {
    let head = String::from_utf8_lossy(head);
    if !head.contains("count_read") && !head.contains("COUNT_READ") {
        return Resemblance::None;
    }
    let mut rows = Rows::new(known);
    for line in head.lines() {
        if rows.line(line, 0) == Seen::Row && File::of(&rows).is_some() {
            return Resemblance::Is { marks: 10 };
        }
    }
    if rows.end() && File::of(&rows).is_some() {
        return Resemblance::Is { marks: 10 };
    }
    Resemblance::Near { marks: 2, missing: "row of a file with count_read and count_write" }
}

/// What one row says of a file.
struct File<'a> {
    name: &'a str,
    reads: f64,
    writes: f64,
    bytes: [Option<f64>; 2],
    seconds: [Option<f64>; 2],
    rounded: bool,
}

impl<'a> File<'a> {
    fn of(rows: &'a Rows) -> Option<Self> {
        let get = |names: &[&str]| {
            let at = rows.columns.iter().position(|column| names.contains(&column.as_str()))?;
            rows.cells.get(at).map(String::as_str)
        };
        let count = |name| get(&[name])?.parse::<f64>().ok();
        let (reads, writes) = (count("count_read")?, count("count_write")?);
        let name = get(&["file", "file_name", "event_name"])?;
        let amount = |names: &[&str]| get(names).and_then(amount);
        let of = |names: &[&str]| amount(names).map(|(value, _)| value);
        let bytes = [&["total_read", "sum_number_of_bytes_read"], &["total_written", "sum_number_of_bytes_write"]];
        let times = [&["read_latency", "sum_timer_read"], &["write_latency", "sum_timer_write"]];
        Some(Self {
            name,
            reads,
            writes,
            rounded: bytes.iter().chain(&times).any(|names| amount(*names).is_some_and(|(_, rounded)| rounded)),
            bytes: bytes.map(|names| of(names)),
            // Raw times are picoseconds, formatted ones have their unit, which `amount` turns into them.
            seconds: times.map(|names| of(names).map(|time| time / 1e12)),
        })
    }
}

/// A number of bytes or picoseconds, and whether it was rounded to be read by people: `16384`, `1.02 MiB`, `12.5 ms`.
fn amount(text: &str) -> Option<(f64, bool)> {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let number: f64 = number.parse().ok()?;
    let scale = match unit.trim() {
        "" => return Some((number, false)),
        "bytes" | "ps" => 1.0,
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        "TiB" => 1_099_511_627_776.0,
        "PiB" => 1_125_899_906_842_624.0,
        "ns" => 1e3,
        "us" => 1e6,
        "ms" => 1e9,
        "s" => 1e12,
        "m" | "min" => 60e12,
        "h" => 3_600e12,
        "d" => 86_400e12,
        "w" => 604_800e12,
        _ => return None,
    };
    Some((number * scale, scale > 1.0))
}

/// What reads and writes of a file are for, by its name or by the event that counts it, where a class says so.
fn classes(name: &str) -> [Option<Class>; 2] {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| file.contains(part));
    if has(&["ib_logfile", "#ib_redo", "innodb_log_file"]) {
        [None, Some(Class::RedoWrite)]
    } else if has(&["ibtmp", "#sql", "innodb_temp", "temp_"])
        || name.contains("#innodb_temp")
        || name.starts_with("@@tmpdir")
    {
        [Some(Class::TempRead), Some(Class::TempWrite)]
    } else if has(&DATA) {
        [None, Some(Class::DataWrite)]
    } else {
        [None, None]
    }
}

/// Parts of the names of files with data in them, and of the events that count these.
const DATA: [&str; 12] = [
    ".ibd",
    "ibdata",
    ".dblwr",
    "undo",
    "innodb_data_file",
    "innodb_dblwr",
    ".myd",
    ".myi",
    ".mad",
    ".mai",
    "kfile",
    "dfile",
];

struct Files {
    rows: Rows,
    input: Input,
    at: Option<DateTime>,
    table: u64,
    line: u64,
    /// Counters of each file of the sample.
    sample: BTreeMap<String, Counters>,
    samples: u32,
    read: u32,
    broken: u32,
    rounded: bool,
}

impl Files {
    fn row(&mut self, out: &mut Builder) {
        if self.rows.table != self.table || File::of(&self.rows).is_some_and(|file| self.sample.contains_key(file.name))
        {
            self.finish(out);
            self.table = self.rows.table;
        }
        let Some(file) = File::of(&self.rows) else { return };
        let line = self.rows.line;
        let [read, write] = classes(file.name);
        let counters = self.sample.entry(file.name.to_owned()).or_default();
        let ways = [(Class::Read, read, file.reads, "reads"), (Class::Write, write, file.writes, "writes")];
        for ((total, class, count, field), way) in ways.into_iter().zip(0..) {
            let place = (line, "files", field);
            for class in [Some(total), class].into_iter().flatten() {
                counters.add(Counted::Operations(class), Some(count), place);
                counters.add(Counted::Bytes(class), file.bytes[way], place);
                counters.add(Counted::OperationSeconds(class), file.seconds[way], place);
            }
        }
        self.rounded |= file.rounded;
        self.line = if self.line == 0 { line } else { self.line };
        self.read += 1;
    }

    /// The sample is complete.
    fn finish(&mut self, out: &mut Builder) {
        let files = std::mem::take(&mut self.sample);
        let line = std::mem::take(&mut self.line);
        if files.is_empty() {
            return;
        }
        let apart = self.input.interval.map(|interval| interval.as_secs_f64() * f64::from(self.samples));
        let began = self.input.begin.filter(|_| apart.is_some() || self.samples == 0);
        let at = self.at.take().or_else(|| timestamp::later(began?, apart.unwrap_or(0.0)));
        let age = apart.filter(|_| at.is_none()).map(Span::from_secs_f64);
        self.samples += 1;
        let mut whole = Counters::default();
        for counters in files.values() {
            whole.merge(counters, |_| true);
        }
        let mut by_load: Vec<_> =
            files.iter().map(|(name, counters)| (counters.operations(), name, counters)).collect();
        by_load.sort_by(|a, b| b.0.total_cmp(&a.0));
        let parts = by_load.into_iter().take(MOST_FILES).map(|(_, name, counters)| (name.as_str(), counters));
        for (part, counters) in [("", &whole)].into_iter().chain(parts) {
            let scope = out.scope(Scope { part: part.to_owned(), ..Scope::default() });
            let counts = counters.counts(None, out);
            out.snapshot(Snapshot { scope, at, age, counts, origin: Origin::line(line) });
        }
    }
}

impl LineFormat for Files {
    fn kind(&self) -> Kind {
        KIND
    }

    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if let Some(taken) = timestamp::of_line(line) {
            if self.rows.end() {
                self.row(out);
            }
            self.finish(out);
            match taken {
                Taken::At(at) => self.at = Some(out.instant(at)),
                Taken::Every(every) => self.input.interval = self.input.interval.or(Some(every)),
            }
            return Ok(());
        }
        match self.rows.line(line, number) {
            Seen::Row => self.row(out),
            Seen::Broken => {
                self.broken += 1;
                out.caution(Some(Origin::line(number)), "a row with too many or too few cells: left out");
            }
            Seen::Nothing | Seen::Table => {}
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        if self.rows.end() {
            self.row(out);
        }
        self.finish(out);
        if self.read == 0 {
            let what =
                "no file with its reads and writes: give SELECT * FROM sys.x$io_global_by_file_by_bytes, taken twice";
            return Err(Refusal::Unusable { kind: KIND, origin: None, what: what.to_owned() });
        }
        if self.rounded {
            let text = "bytes or times are rounded to be read by people, and so are the differences between two samples: \
                        the view of the same name with x$ before it has them exactly";
            out.caution(None, text);
        }
        let cache = "files are read and written through the operating system, whose page cache may answer: what reaches \
                     storage is in iostat or /proc/diskstats of the same time";
        out.caution(None, cache);
        out.part("files", if self.broken > 0 { Fate::Broken } else { Fate::Read(self.read) });
        Ok(())
    }
}
