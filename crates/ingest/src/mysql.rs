//! I/O counters of MySQL and MariaDB: status variables, InnoDB monitor output, and files of the performance schema.
//!
//! Variables are recognised by name; their scope and unit follow from the set of names, independent of client and
//! version.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use plimsoll_language::label;
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, LineFormat, Resemblance};
use crate::reading::{
    Class, Counted, Doubt, Fate, Measure, Origin, ReadingScope, ReadingWindow, Resource, ResourceFigure, Snapshot,
    WindowCount,
};
use crate::refusal::{InputFault, Refusal};
use crate::sampled::SampleInterval;
use crate::snapshot::Counters;
use crate::text;
use crate::text::rows::{ColumnWeight, LineKind, RowReader};
use crate::text::timestamp::{self, Stamp, Taken};

/// Status variables of MySQL and MariaDB.
pub(crate) const STATUS: Form =
    Form::lines("mysql-status", "SHOW GLOBAL STATUS of MySQL or MariaDB", is_status, |input| {
        Box::new(Status { server: ServerSamples::new(input, ReadingScope::default()), name: None })
    });

/// Maximum samples side by side in a line.
const MAX_VALUES: usize = 10_000;

fn is_status(head: &Head<'_>) -> Resemblance {
    let text = head.text();
    let (mut storage, mut other) = (0_u8, 0_u8);
    let mut vertical = None;
    for line in text.lines() {
        let mut words = split_words(line);
        let first = words.next().unwrap_or_default();
        let name = if first.eq_ignore_ascii_case("variable_name") {
            vertical = words.next();
            vertical
        } else if first.eq_ignore_ascii_case("value") {
            words.next().filter(|value| is_number(value)).and_then(|_| vertical.take())
        } else {
            words.next().filter(|value| is_number(value)).map(|_| first)
        };
        let Some(name) = name else { continue };
        if variable(name).is_some() {
            storage = storage.saturating_add(1);
        } else if ["com_", "handler_", "innodb_"].iter().any(|start| starts(name, start)) {
            other = other.saturating_add(1);
        }
    }
    let summary = text.contains("Per day") && text.contains("Per second");
    match (storage, other) {
        _ if summary && storage > 0 => Resemblance::Near {
            marks: 3,
            missing: "exact counters: it is a rounded summary; provide SHOW GLOBAL STATUS",
        },
        // A name followed by a number may occur in any text; two of them, or one among many other variables, are a
        // table.
        (2.., _) | (1, 1..) => Resemblance::Is { marks: 8 },
        (1, 0) | (0, 3..) => Resemblance::Near { marks: 1, missing: "counters of InnoDB such as Innodb_data_reads" },
        _ => Resemblance::None,
    }
}

/// A status variable of storage or time, by the server's name.
pub(crate) type Variable = &'static str;

const VARIABLES: [Variable; 14] = [
    "Uptime",
    "Innodb_data_reads",
    "Innodb_data_read",
    "Innodb_data_writes",
    "Innodb_data_written",
    "Innodb_data_fsyncs",
    "Innodb_log_writes",
    "Innodb_os_log_written",
    "Innodb_os_log_fsyncs",
    "Innodb_os_log_pending_writes",
    "Innodb_page_size",
    "Innodb_log_waits",
    "Innodb_buffer_pool_wait_free",
    "Innodb_buffer_pool_pages_total",
];

/// The variable of this name, ignoring case.
pub(crate) fn variable(name: &str) -> Option<Variable> {
    if !starts(name, "innodb_") && name.len() != 6 {
        return None;
    }
    VARIABLES.into_iter().find(|existing| existing.eq_ignore_ascii_case(name))
}

/// The words of a line, split at any separators.
fn split_words(line: &str) -> impl Iterator<Item = &str> {
    let between = |byte: char| {
        byte.is_ascii_whitespace() || matches!(byte, '|' | '"' | ':' | ',' | '=' | ';' | '{' | '}' | '[' | ']')
    };
    line.split(between).filter(|word| !word.is_empty())
}

fn starts(name: &str, start: &str) -> bool {
    name.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

struct Status {
    server: ServerSamples,
    /// The variable whose value is on the next line.
    name: Option<Variable>,
}

impl LineFormat for Status {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let mut words = split_words(line);
        let Some(first) = words.next() else { return Ok(()) };
        if let Some(existing) = variable(first) {
            self.server.values(existing, words.take(MAX_VALUES).map(|word| word.parse().ok()), number, out);
        } else if starts(first, "variable_name") {
            self.name = words.next().and_then(variable);
            // On a single line: the name, the word `Value`, and the value.
            if let (Some(variable), Some(_), Some(value)) = (self.name, words.next(), words.next()) {
                self.server.values(variable, [value.parse().ok()].into_iter(), number, out);
                self.name = None;
            }
        } else if first.eq_ignore_ascii_case("value") {
            if let Some(variable) = self.name.take() {
                self.server.values(variable, words.next().map(|word| word.parse().ok()).into_iter(), number, out);
            }
        } else if let Some(taken) = timestamp::of_line(line) {
            self.server.taken(taken, out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.server.end(out)
    }
}

/// The value at which counters of 32-bit servers wrap.
const WRAP: f64 = 4_294_967_296.0;

/// The numbers of a sample with their lines.
type Values = BTreeMap<Variable, (f64, u64)>;

/// A server's samples, in order.
#[derive(Default)]
pub(crate) struct ServerSamples {
    pub(crate) scope: ReadingScope,
    pace: SampleInterval,
    /// The current samples side by side.
    block: Vec<Values>,
    line: u64,
    at: Option<DateTime>,
    /// The meaning of the numbers; none with a single sample.
    numbers: Option<MySqlNumbers>,
    /// The preceding sample, as sums.
    before: Values,
    first_uptime: Option<f64>,
    /// Number of variables in the first sample, to detect truncated ones.
    width: usize,
    cut: bool,
    samples: u32,
    read: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MySqlNumbers {
    Sums,
    Differences,
}

impl ServerSamples {
    pub(crate) fn new(input: &FormatInput, scope: ReadingScope) -> Self {
        Self { scope, pace: SampleInterval::new(input), ..Self::default() }
    }

    /// Sets the time of the next sample, or its interval.
    pub(crate) fn taken(&mut self, taken: Taken, out: &mut Builder) {
        self.finish(out);
        self.at = self.pace.taken(taken, out).or(self.at);
    }

    /// Adds the values of a variable, one for each sample side by side.
    pub(crate) fn values(
        &mut self,
        variable: Variable,
        values: impl Iterator<Item = Option<f64>>,
        line: u64,
        out: &mut Builder,
    ) {
        if self.block.first().is_some_and(|values| values.contains_key(&variable)) {
            self.finish(out);
        }
        if self.block.is_empty() {
            self.line = line;
        }
        for (at, value) in values.enumerate() {
            if at == self.block.len() {
                self.block.push(Values::new());
            }
            if let Some(value) = value {
                self.block[at].insert(variable, (value, line));
                self.read += 1;
            }
        }
    }

    /// Ends the current samples.
    pub(crate) fn finish(&mut self, out: &mut Builder) {
        for values in std::mem::take(&mut self.block) {
            if values.keys().any(|variable| !is_size(variable)) {
                self.sample(values, out);
            }
            self.at = None;
        }
    }

    fn sample(&mut self, mut values: Values, out: &mut Builder) {
        if self.samples == 0 {
            self.width = values.len();
        } else if values.len() < self.width {
            self.cut = true;
            out.caution(Some(Origin::line(self.line)), Doubt::FewerVariables);
        }
        if self.samples > 0 && self.numbers.is_none() {
            self.numbers = Some(self.determine(&values, out));
        }
        if self.numbers == Some(MySqlNumbers::Differences) {
            for (variable, (sum, _)) in &self.before {
                values.entry(*variable).or_insert((0.0, self.line)).0 += sum;
            }
        }
        let uptime = values.get("Uptime").map(|(uptime, _)| *uptime);
        self.first_uptime = self.first_uptime.or(uptime);
        let counters = read_counters(&values);
        if !counters.is_empty() {
            let age = uptime.map(Span::from_secs_f64).or(self.apart());
            let at = self.at.or_else(|| self.later(uptime));
            let wraps_at = uptime.map(|_| WRAP);
            let (scope, counts) = (out.scope(self.scope.clone()), counters.counts(wraps_at, out));
            out.snapshot(Snapshot { scope, at, age, counts, origin: Origin::line(self.line) });
        }
        self.samples += 1;
        self.before = values;
    }

    /// Distinguishes sums from differences by the second sample.
    fn determine(&self, values: &Values, out: &mut Builder) -> MySqlNumbers {
        let of = |values: &Values, variable| values.get(&variable).map(|(value, _)| *value);
        if let (Some(before), Some(now)) = (of(&self.before, "Innodb_page_size"), of(values, "Innodb_page_size")) {
            return if before > 0.0 && now == 0.0 { MySqlNumbers::Differences } else { MySqlNumbers::Sums };
        }
        let fell = |variable| of(values, variable) < of(&self.before, variable);
        if values.keys().any(|variable| *variable != "Uptime" && fell(*variable)) && fell("Uptime") {
            out.caution(Some(Origin::line(self.line)), Doubt::DifferencesAssumed);
            return MySqlNumbers::Differences;
        }
        MySqlNumbers::Sums
    }

    /// The time from the first sample to this one, if an interval is given.
    fn apart(&self) -> Option<Span> {
        self.pace.interval.map(|interval| Span::from_secs_f64(interval.as_secs_f64() * f64::from(self.samples)))
    }

    fn later(&self, uptime: Option<f64>) -> Option<DateTime> {
        let seconds = match (uptime, self.first_uptime) {
            (Some(now), Some(first)) => now - first,
            _ => self.apart().map_or(0.0, Span::as_secs_f64),
        };
        timestamp::later(self.pace.begin?, seconds)
    }

    /// Emits the bytes of InnoDB's buffer pool.
    fn buffer_pool(&self, out: &mut Builder) {
        let of = |variable| self.before.get(&variable).copied();
        let pages = of("Innodb_buffer_pool_pages_total").zip(of("Innodb_page_size"));
        let (Some(((pages, line), (page_bytes, _))), Some(window)) = (pages, out.latest_window()) else { return };
        let origin = out.origin(line, "status", "Innodb_buffer_pool_pages_total");
        let (scope, resource) = (out.scope(self.scope.clone()), Resource::SharedMemory);
        let value = pages * page_bytes;
        out.resource(ResourceFigure { scope, window, instance: String::new(), resource, value, origin });
    }

    pub(crate) fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.finish(out);
        self.buffer_pool(out);
        let (lacks, query) = ("counter of InnoDB's I/O", "SHOW GLOBAL STATUS with all variables");
        out.require(self.samples > 0, InputFault::Unsampled { lacks, query })?;
        out.part("global status", if self.cut { Fate::Broken } else { Fate::Read(self.read) });
        Ok(())
    }
}

/// True for variables that are not counters of I/O.
fn is_size(variable: Variable) -> bool {
    matches!(variable, "Uptime" | "Innodb_page_size" | "Innodb_buffer_pool_pages_total")
}

/// The counters of variables. Servers with counters of the log's flushes or pending writes include writes of the log in
/// all writes; MariaDB has dropped these two (10.11 has neither), and counts the log separately.
fn read_counters(values: &Values) -> Counters {
    let of = |variable| values.get(&variable).map(|(value, _)| *value);
    let mut counters = Counters::default();
    let mut put = |counted, variable, value: Option<f64>| {
        let Some((_, line)) = values.get(&variable) else { return };
        counters.add(counted, value, (*line, "status", variable));
    };
    for (counted, variable) in [
        (Counted::Operations(Class::Read), "Innodb_data_reads"),
        (Counted::Bytes(Class::Read), "Innodb_data_read"),
        (Counted::Operations(Class::Flush), "Innodb_data_fsyncs"),
        (Counted::Tally(WindowCount::LOG_BUFFER_WAITS), "Innodb_log_waits"),
        (Counted::Tally(WindowCount::FREE_PAGE_WAITS), "Innodb_buffer_pool_wait_free"),
    ] {
        put(counted, variable, of(variable));
    }
    let within = of("Innodb_os_log_fsyncs").or(of("Innodb_os_log_pending_writes")).is_some();
    let (data, log) = (["Innodb_data_writes", "Innodb_data_written"], ["Innodb_log_writes", "Innodb_os_log_written"]);
    let of_log = log.map(of);
    let rest = |all: Option<f64>, log: Option<f64>| match (all, log) {
        (Some(all), Some(log)) if within => Some(all - log).filter(|rest| *rest >= 0.0),
        (all, Some(_)) => all,
        (_, None) => None,
    };
    let of_data = [0, 1].map(|column| rest(of(data[column]), of_log[column]));
    let writes = match of_data {
        [None, None] => vec![(Class::Write, data, data.map(of))],
        _ => vec![
            (Class::DataWrite, data, of_data),
            (Class::RedoWrite, log, of_log),
            (Class::Write, log, of_log),
            (Class::Write, data, of_data),
        ],
    };
    for (class, [writes, written], values) in writes {
        put(Counted::Operations(class), writes, values[0]);
        put(Counted::Bytes(class), written, values[1]);
    }
    counters
}

/// Outputs of the monitor of InnoDB.
pub(crate) const MONITOR: Form =
    Form::lines("innodb-monitor", "SHOW ENGINE INNODB STATUS", is_monitor, |_| Box::new(Monitor::default()));

fn is_monitor(head: &Head<'_>) -> Resemblance {
    let output = head.has("INNODB MONITOR OUTPUT");
    let rest = head.has(" OS file reads, ") && head.has(" OS fsyncs");
    Resemblance::is(9, output && head.has("Per second averages calculated from the last "))
        .or_near(2, output, "line `Per second averages calculated from the last ...`")
        .or_near(2, rest, "heading INNODB MONITOR OUTPUT")
}

#[derive(Default)]
struct Monitor {
    output: Option<Output>,
    outputs: u32,
    read: u32,
    broken: u32,
    pending_said: bool,
}

/// An output, from its heading to its end.
#[derive(Default)]
struct Output {
    line: u64,
    at: Option<Stamp>,
    length_s: Option<f64>,
    section: MySqlSection,
    rates: Option<(u64, [f64; 4])>,
    log_writes: Option<(u64, f64)>,
    pending: [Option<f64>; 2],
    pending_line: u64,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum MySqlSection {
    #[default]
    Other,
    Files,
    Log,
}

impl LineFormat for Monitor {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        // A client in batch mode writes the whole output on a single line, with escaped line ends.
        if line.contains("\\n") && line.contains("INNODB MONITOR OUTPUT") {
            line.split("\\n").for_each(|line| self.take(line, number, out));
        } else {
            self.take(line, number, out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        if let Some(output) = self.output.take() {
            self.broken += 1;
            out.caution(Some(Origin::line(output.line)), Doubt::MonitorTruncated);
            self.put(&output, out);
        }
        out.require(self.outputs > 0, InputFault::Incomplete { lacks: label!("line of rates in FILE I/O") })?;
        out.part("FILE I/O", if self.broken > 0 { Fate::Broken } else { Fate::Read(self.read) });
        Ok(())
    }
}

impl Monitor {
    fn take(&mut self, line: &str, number: u64, out: &mut Builder) {
        let line = line.trim_end();
        if let Some(head) = line.strip_suffix("INNODB MONITOR OUTPUT") {
            if head.trim_end().ends_with("END OF") {
                if let Some(output) = self.output.take() {
                    self.put(&output, out);
                }
                return;
            }
            if let Some(output) = self.output.take() {
                self.broken += 1;
                out.caution(Some(Origin::line(output.line)), Doubt::MonitorInterrupted);
                self.put(&output, out);
            }
            self.output = Some(Output { line: number, at: taken(head), ..Output::default() });
            return;
        }
        if let Some(output) = &mut self.output {
            output.line(line, number);
        }
    }

    fn put(&mut self, output: &Output, out: &mut Builder) {
        let Some((line, [reads, size, writes, fsyncs])) = output.rates else {
            self.broken += 1;
            return out.caution(Some(Origin::line(output.line)), Doubt::lacking("an output", "rates in FILE I/O"));
        };
        self.outputs += 1;
        let Some(length_s) = output.length_s.filter(|length| *length > 0.0) else {
            return out.caution(Some(Origin::line(output.line)), Doubt::MonitorTooEarly);
        };
        let length = Span::from_secs_f64(length_s);
        let begin = output.at.and_then(|at| timestamp::before(out.instant(at), length));
        let window = out.window(ReadingWindow { begin, length });
        let at = (out.scope(ReadingScope::default()), window);
        let mut mean = |class, measure, value, line, field| {
            let origin = out.origin(line, "FILE I/O", field);
            out.mean(at, class, measure, value, origin);
        };
        mean(Class::Read, Measure::Iops, reads, line, "reads/s");
        mean(Class::Read, Measure::Throughput, reads * size, line, "reads/s, avg bytes/read");
        if reads > 0.0 {
            mean(Class::Read, Measure::Size, size, line, "avg bytes/read");
        }
        mean(Class::Write, Measure::Iops, writes, line, "writes/s");
        if let Some((log_line, log)) = output.log_writes.filter(|(_, log)| *log <= writes) {
            mean(Class::DataWrite, Measure::Iops, writes - log, line, "writes/s");
            mean(Class::RedoWrite, Measure::Iops, log, log_line, "log i/o's/second");
        }
        mean(Class::Flush, Measure::Iops, fsyncs, line, "fsyncs/s");
        self.read += 4;
        self.pending(output, at, out);
    }

    fn pending(&mut self, output: &Output, at: (u32, u32), out: &mut Builder) {
        for (class, field, pending) in
            [(Class::Read, "pending reads", output.pending[0]), (Class::Write, "pending writes", output.pending[1])]
        {
            let Some(pending) = pending else { continue };
            let origin = out.origin(output.pending_line, "FILE I/O", field);
            if pending > 0.0 && !self.pending_said {
                self.pending_said = true;
                out.caution(Some(origin.clone()), Doubt::PendingOperations);
            }
            out.mean(at, class, Measure::Depth, pending, origin);
            self.read += 1;
        }
    }
}

impl Output {
    fn line(&mut self, line: &str, number: u64) {
        match line.trim() {
            "FILE I/O" => self.section = MySqlSection::Files,
            "LOG" => self.section = MySqlSection::Log,
            // Names of sections are in capitals, above a line of hyphens.
            heading if is_heading(heading) => self.section = MySqlSection::Other,
            line if self.section == MySqlSection::Files => self.files(line, number),
            line if self.section == MySqlSection::Log => {
                if let Some(rate) = line.strip_suffix("log i/o's/second").and_then(|line| line.rsplit(' ').nth(1)) {
                    self.log_writes = rate.parse().ok().map(|rate| (number, rate));
                }
            }
            line => {
                if let Some(rest) = line.strip_prefix("Per second averages calculated from the last ") {
                    self.length_s = self.length_s.or(rest.split(' ').next().and_then(|word| word.parse().ok()));
                }
            }
        }
    }

    fn files(&mut self, line: &str, number: u64) {
        if line.contains(" avg bytes/read, ") {
            self.rates = rates(line).map(|rates| (number, rates));
        } else if let Some(rest) = line.strip_prefix("Pending normal aio reads:") {
            let (reads, writes) = rest.split_once("aio writes:").unwrap_or((rest, ""));
            self.pending = [parse_pending(reads), parse_pending(writes)];
            self.pending_line = number;
        }
    }
}

/// `0.31 reads/s, 16384 avg bytes/read, 0.04 writes/s, 0.04 fsyncs/s`: reads, bytes, writes, fsyncs. Servers may have
/// further values in between.
fn rates(line: &str) -> Option<[f64; 4]> {
    let of = |unit: &str| {
        let word = line.split(", ").find_map(|part| part.trim().strip_suffix(unit))?;
        word.trim().parse::<f64>().ok().filter(|rate| rate.is_finite())
    };
    Some([of(" reads/s")?, of(" avg bytes/read")?, of(" writes/s")?, of(" fsyncs/s")?])
}

/// The total of `0 [0, 2, 1]`, `[0, 2, 1]` or `3`.
fn parse_pending(text: &str) -> Option<f64> {
    let (sum, each) = text.split_once('[').unwrap_or((text, ""));
    let sum = sum.trim().trim_end_matches(',').trim();
    if sum.is_empty() {
        let each = each.split_once(']')?.0;
        return each.split(',').map(|number| number.trim().parse::<f64>().ok()).sum();
    }
    sum.parse().ok()
}

fn is_heading(line: &str) -> bool {
    line.len() >= 3
        && line.bytes().any(|byte| byte.is_ascii_uppercase())
        && !line.bytes().any(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// The time of an output: `2026-01-31 12:30:05 0x7f...`, `260131 12:30:05`, `260131  2:30:05`.
fn taken(head: &str) -> Option<Stamp> {
    let mut words = head.split_whitespace();
    timestamp::parse(&format!("{} {}", words.next()?, words.next()?))
}

/// Statements of the performance schema.
pub(crate) const DIGESTS: Form =
    Form::lines("mysql-digests", "statements of MySQL's performance schema", is_digests, |input| {
        Box::new(FileSamples { digests: true, ..FileSamples::new(input) })
    });

fn is_digests(head: &Head<'_>) -> Resemblance {
    let has = |name: &str| head.has(name) || head.has(&name.to_uppercase());
    let counts = has("digest") && has("count_star");
    Resemblance::is(9, counts && has("sum_timer_wait")).or_near(2, counts, "column sum_timer_wait")
}

/// Files of the performance schema.
pub(crate) const FILES: Form = Form::lines("mysql-files", "files of MySQL's performance schema", is_files, |input| {
    Box::new(FileSamples::new(input))
});

/// Maximum files of a sample kept separately, by operations.
const MAX_FILES: usize = 50;

fn classify_column(name: &str) -> ColumnWeight {
    let names = "file file_name event_name count_read count_write total_read total_written read_latency write_latency \
        sum_number_of_bytes_read sum_number_of_bytes_write sum_timer_read sum_timer_write digest count_star sum_timer_wait \
        sum_rows_examined";
    if text::lists(names, name) { ColumnWeight::One } else { ColumnWeight::No }
}

fn is_files(head: &Head<'_>) -> Resemblance {
    let text = head.text();
    let near = text.contains("count_read") || text.contains("COUNT_READ");
    let is = Resemblance::is(10, near && RowReader::any(text, classify_column, |rows| File::of(rows).is_some()));
    is.or_near(2, near, "row of a file with count_read and count_write")
}

/// The counters of a file in a row.
struct File<'a> {
    name: &'a str,
    reads: f64,
    writes: f64,
    bytes: [Option<f64>; 2],
    seconds: [Option<f64>; 2],
    rounded: bool,
}

impl<'a> File<'a> {
    fn of(rows: &'a RowReader) -> Option<Self> {
        let get = |names: &[&str]| {
            let at = rows.columns.iter().position(|column| names.contains(&column.as_str()))?;
            rows.cells.get(at).map(String::as_str)
        };
        let count = |name| get(&[name])?.parse::<f64>().ok();
        let (reads, writes) = (count("count_read")?, count("count_write")?);
        let name = get(&["file", "file_name", "event_name"])?;
        let amount = |names: &[&str]| get(names).and_then(parse_amount);
        let of = |names: &[&str]| amount(names).map(|(value, _)| value);
        let bytes = [&["total_read", "sum_number_of_bytes_read"], &["total_written", "sum_number_of_bytes_write"]];
        let times = [&["read_latency", "sum_timer_read"], &["write_latency", "sum_timer_write"]];
        Some(Self {
            name,
            reads,
            writes,
            rounded: bytes.iter().chain(&times).any(|names| amount(*names).is_some_and(|(_, rounded)| rounded)),
            bytes: bytes.map(|names| of(names)),
            // Raw times are picoseconds; formatted ones have a unit, which `amount` converts.
            seconds: times.map(|names| of(names).map(|time| time / 1e12)),
        })
    }
}

/// A number of bytes or picoseconds, and whether it is formatted and rounded: `16384`, `1.02 MiB`, `12.5 ms`.
fn parse_amount(text: &str) -> Option<(f64, bool)> {
    let (number, unit) = text::leading(text)?;
    match unit {
        "" | "bytes" | "ps" => Some((number, false)),
        unit => {
            let scale = text::time_unit(unit).map(|seconds| seconds * 1e12).or_else(|| text::byte_unit(unit))?;
            Some((number * scale, true))
        }
    }
}

/// The class of a file's reads and writes, from its name or from the event that counts it.
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
    } else if DATA.split(' ').any(|part| has(&[part])) {
        [None, Some(Class::DataWrite)]
    } else {
        [None, None]
    }
}

/// Substrings of the names of data files, and of the events that count these.
const DATA: &str = ".ibd ibdata .dblwr undo innodb_data_file innodb_dblwr .myd .myi .mad .mai kfile dfile";

/// Name and counters of a file or a statement in a row, and whether they are rounded.
fn item(rows: &RowReader) -> Option<(String, Counters, bool)> {
    let get = |name: &str| {
        let at = rows.columns.iter().position(|column| column == name)?;
        rows.cells.get(at).map(String::as_str).filter(|cell| !cell.is_empty())
    };
    let mut counters = Counters::default();
    if let Some(digest) = get("digest") {
        let number = |name| get(name)?.parse::<f64>().ok();
        number("count_star")?;
        for (name, column, unit) in [
            (WindowCount::CALLS, "count_star", 1.0),
            (WindowCount::EXECUTION_S, "sum_timer_wait", 1e-12),
            (WindowCount::ROWS_EXAMINED, "sum_rows_examined", 1.0),
        ] {
            let value = number(column).map(|value| value * unit);
            counters.add(Counted::Tally(name), value, (rows.line, "statements", column));
        }
        // Sixteen digits are sufficiently unique and short.
        let short = digest.get(..16).unwrap_or(digest);
        let schema = get("schema_name").map_or(String::new(), |schema| format!(" of {schema}"));
        return Some((format!("statement {short}{schema}"), counters, false));
    }
    let file = File::of(rows)?;
    let [read, write] = classes(file.name);
    let ways = [(Class::Read, read, file.reads, "reads"), (Class::Write, write, file.writes, "writes")];
    for ((total, class, count, field), way) in ways.into_iter().zip(0..) {
        let place = (rows.line, "files", field);
        for class in [Some(total), class].into_iter().flatten() {
            counters.add(Counted::Operations(class), Some(count), place);
            counters.add(Counted::Bytes(class), file.bytes[way], place);
            counters.add(Counted::OperationSeconds(class), file.seconds[way], place);
        }
    }
    Some((file.name.to_owned(), counters, file.rounded))
}

/// Samples of files or of statements.
#[derive(Default)]
struct FileSamples {
    rows: RowReader,
    pace: SampleInterval,
    /// True for statements.
    digests: bool,
    at: Option<DateTime>,
    table: u64,
    line: u64,
    /// Counters of each file or statement of the current sample.
    sample: BTreeMap<String, Counters>,
    read: u32,
    broken: u32,
    rounded: bool,
}

impl FileSamples {
    fn new(input: &FormatInput) -> Self {
        Self { rows: RowReader::new(classify_column), pace: SampleInterval::new(input), ..Self::default() }
    }

    fn row(&mut self, out: &mut Builder) {
        let found = item(&self.rows);
        if self.rows.table != self.table || found.as_ref().is_some_and(|(name, ..)| self.sample.contains_key(name)) {
            self.finish(out);
            self.table = self.rows.table;
        }
        let Some((name, counters, rounded)) = found else { return };
        self.sample.insert(name, counters);
        self.rounded |= rounded;
        self.line = if self.line == 0 { self.rows.line } else { self.line };
        self.read += 1;
    }

    /// Ends the current sample.
    fn finish(&mut self, out: &mut Builder) {
        let files = std::mem::take(&mut self.sample);
        let line = std::mem::take(&mut self.line);
        if files.is_empty() {
            return;
        }
        let (at, age) = self.pace.time(self.at.take());
        let mut total = Counters::default();
        for counters in files.values() {
            total.merge(counters, |_| true);
        }
        let seconds = |counters: &Counters| counters.get(&Counted::Tally(WindowCount::EXECUTION_S)).unwrap_or(0.0);
        let load = |counters: &Counters| if self.digests { seconds(counters) } else { counters.operations() };
        let mut by_load: Vec<_> = files.iter().map(|(name, counters)| (load(counters), name, counters)).collect();
        by_load.sort_by(|a, b| b.0.total_cmp(&a.0));
        let parts = by_load.into_iter().take(MAX_FILES).map(|(_, name, counters)| (name.as_str(), counters));
        out.divide();
        for (part, counters) in [("", &total)].into_iter().chain(parts) {
            let scope = out.scope(ReadingScope { part: part.to_owned(), ..ReadingScope::default() });
            let counts = counters.counts(None, out);
            out.snapshot(Snapshot { scope, at, age, counts, origin: Origin::line(line) });
        }
    }
}

impl LineFormat for FileSamples {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if let Some(taken) = timestamp::of_line(line) {
            if self.rows.end() {
                self.row(out);
            }
            self.finish(out);
            self.at = self.pace.taken(taken, out).or(self.at);
            return Ok(());
        }
        match self.rows.line(line, number) {
            LineKind::Row => self.row(out),
            LineKind::Broken => {
                self.broken += 1;
                let (cells, columns) = (self.rows.cells.len(), self.rows.columns.len());
                out.caution(Some(Origin::line(number)), Doubt::RowWidth { cells, columns });
            }
            LineKind::Other | LineKind::Table => {}
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        if self.rows.end() {
            self.row(out);
        }
        self.finish(out);
        if self.read == 0 {
            let (lacks, query) = if self.digests {
                ("statement with calls and time", "digests with DIGEST, COUNT_STAR, SUM_TIMER_WAIT")
            } else {
                ("file with reads and writes", "SELECT * FROM sys.x$io_global_by_file_by_bytes")
            };
            return Err(out.unusable(InputFault::Unsampled { lacks, query }));
        }
        let fate = if self.broken > 0 { Fate::Broken } else { Fate::Read(self.read) };
        if self.digests {
            out.part("statements", fate);
            return Ok(());
        }
        if self.rounded {
            out.caution(None, Doubt::RoundedView);
        }
        out.caution(None, Doubt::PageCache);
        out.part("files", fate);
        Ok(())
    }
}
