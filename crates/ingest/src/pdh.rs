//! Performance counters of Windows (perfmon, typeperf, relog, Export-Counter, the list of Get-Counter, and the table
//! `Perf` of Log Analytics), and the batch output of esxtop, which has the same head.
//!
//! Format: <https://learn.microsoft.com/windows/win32/perfctrs/pdh-log-file-formats>. Times are local, month first; the
//! head may have their distance from UTC in minutes, to be added. A rate covers the time since the preceding row, so that
//! the first row is blank. Names are those of the system's language: English, German, French, Spanish, Italian and
//! Portuguese ones are known, without latencies for Spanish and Italian.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;
use jiff::civil::DateTime;
use plimsoll_language::label;
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, LineFormat, Resemblance};
use crate::processors::{ProcessorShares, UsedProcessors};
use crate::reading::{Class, Doubt, Fate, Measure, ReadingScope};
use crate::refusal::{InputFault, Refusal};
use crate::text::table::cells;
use crate::text::{self, MIB, MILLI, Numerals, timestamp};
use crate::wide::{CounterQuantity, WideColumn, WideRow, WideSamples};

/// Logs of counters with separated values.
pub(crate) const LOG: Form = Form::document("pdh", "performance counters (PDH-CSV)", is_log, read_log);

/// The list of Get-Counter on the console.
pub(crate) const LIST: Form = Form::lines("get-counter", "list of Get-Counter", is_list, |input| {
    Box::new(CounterList { input: input.clone(), ..CounterList::default() })
});

const MARKS: [&str; 2] = ["(PDH-CSV ", "(PDH-TSV "];

/// Maximum lines before the names of counters: typeperf prints a blank line, and a copy of the console has the command.
const MAX_LINES_BEFORE: usize = 10;

/// True for the line of the names of counters.
fn is_names(line: &str) -> bool {
    MARKS.iter().any(|mark| line.trim_start_matches('"').starts_with(mark))
}

fn is_log(head: &Head<'_>) -> Resemblance {
    let is = head.text().lines().take(MAX_LINES_BEFORE).any(is_names);
    Resemblance::is(9, is).or_near(
        3,
        head.has("\\PhysicalDisk("),
        "line of names that begins with (PDH-CSV 4.0): export the log with relog -f csv",
    )
}

fn is_list(head: &Head<'_>) -> Resemblance {
    let is_console = head.has("CounterSamples") && head.has("\\\\");
    let is_csv = head.text().lines().take(MAX_LINES_BEFORE).any(|line| SampleFields::of(line).is_some());
    Resemblance::is(9, is_console && head.has("Timestamp") || is_csv)
}

/// Objects with disks, in the order of preference: a single layer is counted.
const OBJECTS: [&[&str]; 5] = [
    &["physicaldisk", "physikalischer datentr\u{e4}ger", "disque physique", "disco f\u{ed}sico", "disco fisico"],
    &["physical disk scsi device"],
    &["physical disk adapter"],
    &["virtual disk"],
    &[
        "logicaldisk",
        "logical disk",
        "logischer datentr\u{e4}ger",
        "disque logique",
        "disco l\u{f3}gico",
        "disco logico",
    ],
];

fn same(value: f64) -> f64 {
    value
}

/// Counters by their names in lower case: of Windows in several languages, and of esxtop. Guest latencies are those of
/// the machines: of the device and the kernel together.
const COUNTERS: [(&[&str], CounterQuantity); 16] = [
    (
        &[
            "disk reads/sec",
            "lesevorg\u{e4}nge/s",
            "lectures disque/s",
            "lecturas de disco/s",
            "letture disco/sec",
            "leituras de disco/s",
            "reads/sec",
        ],
        (Class::Read, Measure::Iops, same),
    ),
    (
        &[
            "disk writes/sec",
            "schreibvorg\u{e4}nge/s",
            "\u{e9}critures disque/s",
            "escrituras en disco/s",
            "escrituras de disco/s",
            "scritture disco/sec",
            "grava\u{e7}\u{f5}es de disco/s",
            "writes/sec",
        ],
        (Class::Write, Measure::Iops, same),
    ),
    (
        &[
            "disk transfers/sec",
            "\u{fc}bertragungen/s",
            "transferts disque/s",
            "transferencias de disco/s",
            "transfer\u{ea}ncias de disco/s",
        ],
        (Class::All, Measure::Iops, same),
    ),
    (
        &[
            "disk read bytes/sec",
            "bytes gelesen/s",
            "lectures disque, octets/s",
            "bytes de lectura de disco/s",
            "byte letti da disco/sec",
            "bytes de leitura de disco/s",
        ],
        (Class::Read, Measure::Throughput, same),
    ),
    (
        &[
            "disk write bytes/sec",
            "bytes geschrieben/s",
            "\u{e9}critures disque, octets/s",
            "bytes de escritura en disco/s",
            "bytes de escritura de disco/s",
            "byte scritti su disco/sec",
            "bytes de grava\u{e7}\u{e3}o de disco/s",
        ],
        (Class::Write, Measure::Throughput, same),
    ),
    (&["disk bytes/sec", "octets disque/s", "bytes de disco/s"], (Class::All, Measure::Throughput, same)),
    (&["mbytes read/sec"], (Class::Read, Measure::Throughput, |value| value * MIB)),
    (&["mbytes written/sec"], (Class::Write, Measure::Throughput, |value| value * MIB)),
    (
        &[
            "avg. disk sec/read",
            "mittlere sek./lesevorg\u{e4}nge",
            "mittlere sek./lesevorgang",
            "moyenne disque s/lecture",
            "m\u{e9}dia de disco s/leitura",
        ],
        (Class::Read, Measure::Latency, same),
    ),
    (
        &[
            "avg. disk sec/write",
            "mittlere sek./schreibvorg\u{e4}nge",
            "mittlere sek./schreibvorgang",
            "moyenne disque s/\u{e9}criture",
            "m\u{e9}dia de disco s/grava\u{e7}\u{e3}o",
        ],
        (Class::Write, Measure::Latency, same),
    ),
    (
        &[
            "avg. disk sec/transfer",
            "mittlere sek./\u{fc}bertragung",
            "moyenne disque s/transfert",
            "m\u{e9}dia de disco s/transfer\u{ea}ncia",
        ],
        (Class::All, Measure::Latency, same),
    ),
    (&["average guest millisec/read", "average millisec/read"], (Class::Read, Measure::Latency, |value| value * MILLI)),
    (
        &["average guest millisec/write", "average millisec/write"],
        (Class::Write, Measure::Latency, |value| value * MILLI),
    ),
    (&["avg. disk bytes/read", "mittlere bytes/lesevorgang"], (Class::Read, Measure::Size, same)),
    (&["avg. disk bytes/write", "mittlere bytes/schreibvorgang"], (Class::Write, Measure::Size, same)),
    (&["avg. disk queue length"], (Class::All, Measure::Depth, same)),
];

/// `% Idle Time`, whose complement is the busy share. `% Disk Time` exceeds 100 and is no such share.
const IDLE: (&[&str], CounterQuantity) =
    (&["% idle time", "% d'inactivit\u{e9}"], (Class::All, Measure::Busy, |value| 1.0 - value / 100.0));

/// The parts of `\\HOST\Object(instance)\Counter`.
struct CounterPath<'a> {
    host: &'a str,
    object: String,
    instance: &'a str,
    /// In lower case.
    counter: String,
    quantity: Option<CounterQuantity>,
}

impl<'a> CounterPath<'a> {
    fn of(path: &'a str) -> Option<Self> {
        let path = path.trim();
        let (host, rest) = match path.strip_prefix("\\\\") {
            Some(rest) => rest.split_once('\\')?,
            None => ("", path.strip_prefix('\\')?),
        };
        let (object, counter) = rest.rsplit_once(")\\")?;
        let (object, instance) = object.split_once('(')?;
        let counter = counter.trim().to_lowercase().replace('\u{2019}', "'");
        let found = COUNTERS.iter().chain([&IDLE]).find(|(names, _)| is_among(&counter, names));
        let (object, quantity) = (object.to_lowercase(), found.map(|(_, quantity)| *quantity));
        Some(Self { host, object, instance, counter, quantity })
    }

    /// True for the busy percentage of one of these objects.
    fn is_busy(&self, objects: &[&str]) -> bool {
        is_among(&self.object, objects) && is_among(&self.counter, &BUSY)
    }
}

/// True if a text is one of these names. Logs of other languages are in the code page of the system, whose letters
/// beyond ASCII cannot be decoded without its number: each stands for any such letter, or for an apostrophe.
fn is_among(text: &str, names: &[&str]) -> bool {
    const UNDECODED: char = char::REPLACEMENT_CHARACTER;
    names.iter().any(|name| {
        let is_same = |(letter, expected): (char, char)| {
            letter == expected || letter == UNDECODED && (!expected.is_ascii() || expected == '\'')
        };
        text.chars().count() == name.chars().count() && text.chars().zip(name.chars()).all(is_same)
    })
}

/// The columns of disks among paths of counters.
fn columns<'a>(paths: &[(usize, &'a str)]) -> Vec<WideColumn> {
    let of = |objects: &[&str]| -> Vec<WideColumn> {
        let parts_of = |path: &'a str| CounterPath::of(path).filter(|parts| is_among(&parts.object, objects));
        let instances: BTreeSet<_> =
            paths.iter().filter_map(|(_, path)| parts_of(path)).map(|parts| (parts.host, parts.instance)).collect();
        let column = |&(index, path): &(usize, &'a str)| {
            let parts = parts_of(path)?;
            // The sum of a machine's disks, `1234:vm1` beside `1234:vm1:scsi0:0`.
            let disk = format!("{}:", parts.instance);
            if instances.iter().any(|(host, other)| *host == parts.host && other.starts_with(&disk)) {
                return None;
            }
            let is_total = parts.instance.eq_ignore_ascii_case("_total");
            let part = if is_total { String::new() } else { parts.instance.to_owned() };
            let scope = ReadingScope { host: parts.host.to_owned(), part, ..ReadingScope::default() };
            Some(WideColumn { index, name: path.trim().to_owned(), scope, quantity: parts.quantity? })
        };
        paths.iter().filter_map(column).collect()
    };
    let has_rates = |columns: &[WideColumn]| {
        columns.iter().any(|column| matches!(column.quantity.1, Measure::Iops | Measure::Throughput))
    };
    OBJECTS.iter().map(|objects| of(objects)).find(|columns| has_rates(columns)).unwrap_or_default()
}

/// Objects of processors, in the order of preference, and their counters of the busy percentage.
const PROCESSORS: [&[&str]; 3] = [
    &["processor information", "prozessorinformationen", "informations sur le processeur"],
    &["processor", "prozessor", "processeur"],
    &["physical cpu"],
];
const BUSY: [&str; 4] = ["% processor time", "prozessorzeit (%)", "% temps processeur", "% util time"];

/// The busy percentages of a host's processors.
struct ProcessorColumns {
    host: String,
    /// The path of a column.
    name: String,
    total: Option<usize>,
    each: Vec<usize>,
    used: UsedProcessors,
}

impl ProcessorColumns {
    /// The columns of each host among paths of counters.
    fn of(paths: &[(usize, &str)]) -> Vec<Self> {
        let of_object = |objects: &[&str]| {
            let mut hosts: BTreeMap<String, Self> = BTreeMap::new();
            for (index, path) in paths {
                let Some(parts) = CounterPath::of(path).filter(|parts| parts.is_busy(objects)) else { continue };
                let host = hosts.entry(parts.host.to_owned()).or_insert_with(|| Self {
                    host: parts.host.to_owned(),
                    name: path.trim().to_owned(),
                    total: None,
                    each: Vec::new(),
                    used: UsedProcessors::default(),
                });
                // `0,_Total` is the total of a group.
                match parts.instance.to_lowercase().as_str() {
                    "_total" => host.total = Some(*index),
                    instance if instance.ends_with("_total") => {}
                    _ => host.each.push(*index),
                }
            }
            hosts.into_values().collect::<Vec<Self>>()
        };
        PROCESSORS.iter().map(|objects| of_object(objects)).find(|hosts| !hosts.is_empty()).unwrap_or_default()
    }

    /// Busy share of all processors in a row, 0 to 1.
    fn share(&self, values: &[Option<f64>]) -> Option<f64> {
        let value = |index: &usize| values.get(*index).copied().flatten();
        let mean = || Some(self.each.iter().map(value).sum::<Option<f64>>()? / self.each.len() as f64);
        let percent = self.total.as_ref().and_then(value).or_else(|| mean().filter(|_| !self.each.is_empty()))?;
        Some((percent / 100.0).clamp(0.0, 1.0))
    }

    fn emit(&mut self, out: &mut Builder) {
        let count = self.each.len() as f64;
        self.used.emit_share(&self.host, &self.name, (count > 0.0).then_some(count), out);
    }
}

/// Adds a row of samples, with the use of processors in its window.
fn add_row(samples: &mut WideSamples, processors: &mut [ProcessorColumns], row: WideRow, out: &mut Builder) {
    let shares: Vec<Option<f64>> = processors.iter().map(|columns| columns.share(&row.values)).collect();
    let line = row.line;
    samples.row(row, out);
    for (columns, share) in processors.iter_mut().zip(shares) {
        if let (Some(share), Some(length)) = (share, out.latest_length()) {
            let shares = ProcessorShares { used: share, io_wait: None };
            columns.used.add_shares(share, shares, length.as_secs_f64(), line);
        }
    }
}

fn read_log(input: &FormatInput, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
    let text = String::from_utf8_lossy(document);
    let mut lines = text.lines().zip(1..).skip_while(|(line, _)| !is_names(line));
    let (head, first) = lines.next().unwrap_or_default();
    let separator = ['\t', ';', ','].into_iter().find(|mark| separates(head, *mark)).unwrap_or(',');
    let names: Vec<_> = cells(head, separator).collect();
    let paths: Vec<_> = names.iter().enumerate().skip(1).map(|(index, name)| (index, name.as_ref())).collect();
    let of_disks = columns(&paths);
    let mut processors = ProcessorColumns::of(&paths);
    let of_processors: usize =
        processors.iter().map(|columns| columns.each.len() + usize::from(columns.total.is_some())).sum();
    let others = names.len().saturating_sub(1 + of_disks.len() + of_processors);
    let bias = bias_minutes(&names[0]);
    let mut samples = WideSamples::new(of_disks, input.interval, out);
    out.require(!samples.is_empty(), InputFault::NoDiskCounters)?;
    if others > 0 {
        out.part(format!("{others} other counters"), Fate::Ignored);
    }
    let mut last = first;
    let mut unreadable: Option<(u64, (String, String))> = None;
    for (line, number) in lines {
        let mut fields = cells(line, separator);
        let time = fields.next().unwrap_or_default();
        // The program may end with a remark.
        let Some(at) = timestamp::parse(&time).map(|at| in_utc(at.parts().0, bias, out)) else {
            if line.contains(separator) {
                out.skip(number, Doubt::lacking("a row", "its time"));
            }
            continue;
        };
        let mut values = vec![None];
        for (cell, name) in fields.zip(&names[1..]) {
            let value = value_of(&cell);
            if value.is_none() && !cell.trim().is_empty() {
                let (count, (column, _)) =
                    unreadable.get_or_insert_with(|| (0, (name.clone().into_owned(), cell.into_owned())));
                *count += u64::from(column.as_str() == name.as_ref());
            }
            values.push(value);
        }
        if values.len() < names.len() {
            out.skip(number, Doubt::RowWidth { cells: values.len(), columns: names.len() });
            last = number;
            continue;
        }
        add_row(&mut samples, &mut processors, WideRow { at, line: number, values }, out);
        last = number;
    }
    out.end_at(last);
    if let Some((count, (column, example))) = unreadable {
        out.caution(None, Doubt::UnreadableCells { column, count, example });
    }
    let rows = samples.finish(None, out);
    for columns in &mut processors {
        columns.emit(out);
    }
    out.require(rows > 0, InputFault::missing("two rows with times and values", &["several samples", "--interval"]))
}

/// The value of a cell, also with thousands separators if it has a decimal sign as well.
fn value_of(cell: &str) -> Option<f64> {
    let grouped = || Numerals::of(cell.trim())?.number(cell);
    text::parse_decimal(cell.trim()).or_else(grouped).filter(|value| value.is_finite())
}

/// True if the first cell ends at this separator.
fn separates(head: &str, mark: char) -> bool {
    let rest = head.strip_prefix('"').and_then(|head| head.split_once('"')).map(|(_, rest)| rest);
    rest.map_or_else(|| head.contains(mark), |rest| rest.trim_start_matches(' ').starts_with(mark))
}

/// Minutes from local time to UTC: `-60` in `(PDH-CSV 4.0) (W. Europe Standard Time)(-60)`.
fn bias_minutes(head: &str) -> Option<i64> {
    let inner = head.trim().strip_suffix(')')?.rsplit_once('(')?.1;
    inner.trim().parse().ok().filter(|minutes: &i64| minutes.abs() <= 24 * 60)
}

fn in_utc(at: DateTime, bias: Option<i64>, out: &mut Builder) -> DateTime {
    let shifted = bias.and_then(|minutes| at.checked_add(SignedDuration::from_mins(minutes)).ok());
    shifted.unwrap_or_else(|| out.local(at))
}

/// Positions of the path, value and time in samples of Get-Counter that Export-Csv wrote, or in the table `Perf` of Log
/// Analytics, whose path is in four columns.
#[derive(Clone)]
struct SampleFields {
    separator: char,
    path: Vec<usize>,
    value: usize,
    time: usize,
}

impl SampleFields {
    /// Reads the line of names.
    fn of(line: &str) -> Option<Self> {
        let separator = [',', ';', '\t'].into_iter().find(|mark| separates(line, *mark))?;
        let names: Vec<_> = cells(line.trim(), separator).collect();
        let position = |name: &str| names.iter().position(|other| other.split(" [").next() == Some(name));
        let of = |names_of_path: &[&str], value: &str, time: &str| {
            let path = names_of_path.iter().map(|name| position(name)).collect::<Option<_>>()?;
            Some(Self { separator, path, value: position(value)?, time: position(time)? })
        };
        of(&["Path"], "CookedValue", "Timestamp").or_else(|| of(&PERF_PATH, "CounterValue", "TimeGenerated"))
    }

    /// The path, value and time of a line.
    fn cut(&self, line: &str) -> Option<[String; 3]> {
        let fields: Vec<_> = cells(line, self.separator).collect();
        let field = |at: &usize| fields.get(*at).map(|cell| cell.trim());
        let path = match self.path.iter().map(field).collect::<Option<Vec<_>>>()?[..] {
            [computer, object, instance, counter] => format!("\\\\{computer}\\{object}({instance})\\{counter}"),
            ref path => path.concat(),
        };
        // `11/20/2025, 10:00:00 AM`
        Some([path, field(&self.value)?.to_owned(), field(&self.time)?.replacen(", ", " ", 1)])
    }
}

const PERF_PATH: [&str; 4] = ["Computer", "ObjectName", "InstanceName", "CounterName"];

/// Reads the list of Get-Counter: a time with the path of the first counter, its value on the next line, then further
/// paths and values. Long paths continue on the next line.
#[derive(Default)]
struct CounterList {
    input: FormatInput,
    paths: Vec<String>,
    /// The text of a path that is not complete.
    path: String,
    /// The counter of the next value.
    next: Option<usize>,
    rows: Vec<WideRow>,
    at: Option<DateTime>,
    /// A sample has a line with separated values.
    fields: Option<SampleFields>,
    line: u64,
}

impl CounterList {
    /// Maximum counters of a list.
    const MAX_PATHS: usize = 10_000;

    fn path(&mut self, text: &str) {
        let Some(path) = text.strip_suffix(':') else {
            text.clone_into(&mut self.path);
            return;
        };
        let path = path.trim_end();
        self.path.clear();
        let place = self.paths.iter().position(|other| other == path);
        self.next = place.or_else(|| {
            (self.paths.len() < Self::MAX_PATHS).then(|| {
                self.paths.push(path.to_owned());
                self.paths.len() - 1
            })
        });
    }

    fn value(&mut self, text: &str, number: u64) {
        let (Some(index), Some(at)) = (self.next.take(), self.at) else { return };
        if self.rows.last().is_none_or(|row| row.at != at) {
            self.rows.push(WideRow { at, line: number, values: Vec::new() });
        }
        if let Some(row) = self.rows.last_mut() {
            row.values.resize(row.values.len().max(index + 1), None);
            row.values[index] = text::parse_decimal(text).filter(|value| value.is_finite());
        }
    }
}

impl CounterList {
    fn time(&mut self, text: &str, out: &mut Builder) {
        // Further counters of a sample follow without its time.
        if !text.trim().is_empty() {
            self.at = timestamp::parse(text.trim()).map(|at| out.instant(at));
        }
    }

    fn sample(&mut self, [path, value, time]: [String; 3], number: u64, out: &mut Builder) {
        self.time(&time, out);
        self.path(&format!("{path}:"));
        self.value(&value, number);
    }

    /// Rows by time: tables have them in any order, one for each counter.
    fn sort(&mut self) {
        self.rows.sort_by_key(|row| row.at);
        self.rows.dedup_by(|next, row| {
            let is_same = next.at == row.at;
            if is_same {
                row.values.resize(row.values.len().max(next.values.len()), None);
                for (value, other) in row.values.iter_mut().zip(&next.values) {
                    *value = value.or(*other);
                }
            }
            is_same
        });
    }
}

impl LineFormat for CounterList {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let text = line.trim();
        if text.is_empty() {
            return Ok(());
        }
        self.line = number;
        if let Some(fields) = &self.fields {
            if let Some(sample) = fields.cut(text) {
                self.sample(sample, number, out);
            }
        } else if let Some(fields) = SampleFields::of(text) {
            self.fields = Some(fields);
        } else if let Some((time, path)) = text.split_once("\\\\").filter(|_| self.path.is_empty()) {
            self.time(time, out);
            self.path(&format!("\\\\{path}"));
        } else if self.path.is_empty() {
            self.value(text, number);
        } else {
            let path = format!("{} {text}", self.path);
            self.path(&path);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        let paths: Vec<_> = self.paths.iter().map(String::as_str).enumerate().collect();
        let of_disks = columns(&paths);
        let mut processors = ProcessorColumns::of(&paths);
        let mut samples = WideSamples::new(of_disks, self.input.interval, out);
        out.require(!samples.is_empty(), InputFault::NoDiskCounters)?;
        if self.fields.is_some() {
            self.sort();
        }
        for row in std::mem::take(&mut self.rows) {
            add_row(&mut samples, &mut processors, row, out);
        }
        // The default of Get-Counter.
        let rows = samples.finish(Some(Span::from_secs(1)), out);
        for columns in &mut processors {
            columns.emit(out);
        }
        out.require(rows > 0, InputFault::Incomplete { lacks: label!("counter with value and time") })
    }
}
