//! AWR-Miner: a database's history as text, a row for each snapshot and instance, between marks.
//!
//! It has the highest minute in addition to each mean of a snapshot, which reports lack. Columns depend on the version,
//! and are recognised by name under their ruler.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::civil::DateTime;
use plimsoll_language::label;
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::reading::{
    Class, Database, DatabaseTime, Doubt, Fate, Figure, HostTime, Measure, Origin, ReadingScope, ReadingWindow,
    Resource, ResourceFigure, Statistic, TimeCounters, TopReader, Wait, WaitCause,
};
use crate::refusal::{InputFault, Refusal};
use crate::text::table::Ruler;
use crate::text::timestamp::{self, Stamp};
use crate::text::{self, GIB, MIB, Numerals};

/// AWR-Miner.
pub(crate) const FORM: Form = Form::lines("awr-miner", "AWR-Miner", resembles, |_| Box::new(Miner::default()));

fn resembles(head: &Head<'_>) -> Resemblance {
    let named = head.has_any(&["AWR_MINER_VER", "~~BEGIN-OS-INFORMATION~~", "~~BEGIN-MAIN-METRICS~~"]);
    Resemblance::is(4, named && head.has("~~BEGIN-")).or_near(2, named, "mark `~~BEGIN-OS-INFORMATION~~`")
}

#[derive(Default)]
struct Miner {
    history: MinerHistory,
    block: Option<MinerBlock>,
}

impl LineFormat for Miner {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let text = line.trim();
        if let Some(name) = marked(text, "~~BEGIN-") {
            self.leave(Ending::Cut, out);
            self.block = Some(MinerBlock::new(name));
        } else if marked(text, "~~END-").is_some() {
            self.leave(Ending::Marked, out);
        } else if let Some(block) = self.block.as_mut().filter(|_| !text.is_empty()) {
            if let Some(ruler) = Ruler::of(line) {
                block.rule(ruler);
            } else if let Some(row) = block.row(line, number) {
                self.history.take(&row, out)?;
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.leave(Ending::Cut, out);
        out.require(
            !self.history.snapshots.is_empty(),
            InputFault::missing("usable row in MAIN-METRICS", &["a time span with snapshots"]),
        )?;
        make(&self.history, out);
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Marked,
    Cut,
}

impl Miner {
    fn leave(&mut self, ending: Ending, out: &mut Builder) {
        let Some(block) = self.block.take() else { return };
        let fate = match (ending, block.is_used(), block.rows) {
            (Ending::Cut, _, _) => Fate::Broken,
            (_, false, _) => Fate::Ignored,
            (_, true, 0) => Fate::Empty,
            (_, true, rows) => Fate::Read(rows),
        };
        if ending == Ending::Cut {
            let origin = Origin::line(block.line);
            out.caution(Some(origin), Doubt::EndsWithin { item: block.name.clone() });
        }
        out.part(block.name, fate);
    }
}

/// The name in a mark: `~~BEGIN-MAIN-METRICS~~`.
fn marked<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    text.strip_prefix(start)?.strip_suffix("~~")
}

struct MinerBlock {
    name: String,
    /// Last line of the block so far.
    line: u64,
    /// Number of rows so far.
    rows: u32,
    above: String,
    columns: Vec<String>,
    ruler: Option<Ruler>,
}

struct NamedRow<'a> {
    block: &'a str,
    line: u64,
    columns: &'a [String],
    cells: Vec<String>,
}

/// The relevant blocks.
const USED: &str = "OS-INFORMATION OSSTAT MEMORY SIZE-ON-DISK MAIN-METRICS DATABASE-PARAMETERS AVERAGE-ACTIVE-SESSIONS \
    IO-WAIT-HISTOGRAM IOSTAT-BY-FUNCTION TOP-N-TIMED-EVENTS TOP-SQL-BY-SNAPID SYSSTAT";

impl MinerBlock {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), line: 0, rows: 0, above: String::new(), columns: Vec::new(), ruler: None }
    }

    fn is_used(&self) -> bool {
        text::lists(USED, &self.name)
    }

    /// Processes the line of dashes below the names of columns, which is repeated on each page.
    fn rule(&mut self, ruler: Ruler) {
        self.columns = ruler.cells(&self.above).iter().map(|name| name.to_lowercase()).collect();
        self.ruler = Some(ruler);
    }

    /// Processes any other line.
    fn row(&mut self, line: &str, number: u64) -> Option<NamedRow<'_>> {
        self.line = number;
        if !self.is_used() {
            return None;
        }
        line.clone_into(&mut self.above);
        let cells = self.ruler.as_ref()?.cells(line);
        let is_heading = cells.iter().zip(&self.columns).all(|(cell, name)| cell.eq_ignore_ascii_case(name));
        if is_heading {
            return None;
        }
        self.rows += 1;
        Some(NamedRow { block: &self.name, line: number, columns: &self.columns, cells })
    }
}

impl NamedRow<'_> {
    /// The cell of a column; empty if missing.
    fn text(&self, column: &str) -> &str {
        let at = self.columns.iter().position(|name| name == column);
        at.and_then(|at| self.cells.get(at)).map_or("", String::as_str)
    }

    /// The number of a column. Decimals may follow a comma; there are no thousands separators.
    fn number(&self, column: &str) -> Option<f64> {
        let text = self.text(column);
        Numerals::guess(text).number(text)
    }
}

/// A database over time.
#[derive(Default)]
struct MinerHistory {
    database: String,
    hosts: Vec<String>,
    /// Names and numbers of `OS-INFORMATION` and of the parameters.
    numbers: BTreeMap<String, (f64, u64)>,
    /// Processors and cores by instance, as last reported.
    processors: BTreeMap<String, (Option<f64>, Option<f64>)>,
    snapshots: BTreeMap<u64, Snapshot>,
    /// Highest bytes of the memory of each instance, with their lines.
    memory: BTreeMap<(String, Resource), (f64, u64)>,
    /// Snapshot and bytes of the database's files, as last reported.
    stored: Option<(f64, f64)>,
    /// Rows of all blocks.
    rows: usize,
}

#[derive(Default)]
struct Snapshot {
    instances: Vec<Instance>,
    /// Operations by function: small reads and writes, large reads and writes.
    functions: Vec<(String, [Option<f64>; 4], u64)>,
    events: BTreeMap<String, MinerEvent>,
    /// Mean number of sessions that waited in each wait class, or worked (`DB CPU`).
    classes: BTreeMap<String, (f64, u64)>,
    /// The statement with the most bytes read.
    top_reader: Option<Arc<TopReader>>,
    /// Reads per second of all instances from another source.
    reads_s: Option<(f64, u64)>,
}

/// An instance in the window before a snapshot.
struct Instance {
    name: String,
    end: DateTime,
    seconds: f64,
    line: u64,
    figures: Vec<(Class, Measure, Statistic, f64, &'static str)>,
    /// Mean active sessions, with half of the last digit of their column, and those on a processor.
    sessions: Option<ActiveSessions>,
    on_processor: Option<f64>,
    commits_s: Option<f64>,
    /// Mean number of processors in the highest minute, and the columns that it comes from.
    peak_processors: Option<(f64, &'static str)>,
    /// Bytes per second between the database and its storage (`cell_io_int_mb`, per minute), with the copies of mirrors.
    interconnect_bytes_s: Option<f64>,
    /// Busy share of the host's processors, 0 to 1, and that in their highest minute.
    host_busy: Option<f64>,
    host_peak: Option<f64>,
}

/// Mean active sessions of an instance.
#[derive(Clone, Copy)]
struct ActiveSessions {
    mean: f64,
    /// Half of the last digit of the column: a printed 0 is any value below it.
    rounding: f64,
    column: &'static str,
}

#[derive(Default)]
struct MinerEvent {
    class: String,
    /// Upper bounds in milliseconds, and the number of shorter waits.
    buckets: Vec<(f64, f64)>,
    /// Total time and its share of the database's time, for top events.
    total: Option<(f64, f64)>,
    line: u64,
}

/// Columns of `MAIN-METRICS`, with measure and unit.
const METRICS: [(&str, Class, Measure, Statistic, f64); 9] = [
    ("read_iops", Class::Read, Measure::Iops, Statistic::Mean, 1.0),
    ("read_iops_max", Class::Read, Measure::Iops, Statistic::Maximum, 1.0),
    ("read_mb_s", Class::Read, Measure::Throughput, Statistic::Mean, MIB),
    ("read_mb_s_max", Class::Read, Measure::Throughput, Statistic::Maximum, MIB),
    ("write_iops", Class::Write, Measure::Iops, Statistic::Mean, 1.0),
    ("write_iops_max", Class::Write, Measure::Iops, Statistic::Maximum, 1.0),
    ("write_mb_s", Class::Write, Measure::Throughput, Statistic::Mean, MIB),
    ("write_mb_s_max", Class::Write, Measure::Throughput, Statistic::Maximum, MIB),
    ("redo_mb_s", Class::RedoWrite, Measure::Throughput, Statistic::Mean, MIB),
];

/// Columns of `MEMORY`, in GB.
const MEMORY: [(&str, Resource); 2] = [("sga", Resource::SharedMemory), ("pga", Resource::ProcessMemory)];

impl MinerHistory {
    /// Processes a row of any block.
    fn take(&mut self, row: &NamedRow<'_>, out: &mut Builder) -> Result<(), Refusal> {
        const MAX_ROWS: usize = 4 << 20;
        self.rows += 1;
        if self.rows > MAX_ROWS {
            return Err(out.unusable(InputFault::TooMany { limit: MAX_ROWS, items: label!("rows") }));
        }
        match row.block {
            "OS-INFORMATION" => self.name(row, out),
            "DATABASE-PARAMETERS" => self.keep(row, row.text("parameter_name"), row.number("value")),
            "OSSTAT" => {
                let instance = row.text("instance_number").to_owned();
                self.processors.insert(instance, (row.number("cpus"), row.number("cores")));
            }
            // The latest: a database that was made smaller does not need the space that it had.
            "SIZE-ON-DISK" => {
                let size = row.number("snap_id").zip(row.number("size_gb").map(|size| size * GIB));
                self.stored = size.into_iter().chain(self.stored).reduce(|a, b| if b.0 > a.0 { b } else { a });
            }
            "MAIN-METRICS" => self.metrics(row, out),
            "MEMORY" => self.memory(row),
            _ => self.of_snapshot(row),
        }
        Ok(())
    }

    fn name(&mut self, row: &NamedRow<'_>, out: &mut Builder) {
        let value = row.text("stat_value");
        match row.text("stat_name") {
            "DB_NAME" => value.clone_into(&mut self.database),
            "VERSION" => out.oracle_release(value),
            "PLATFORM_NAME" => out.platform(value),
            "HOSTS" => self.hosts = value.split(',').map(|host| host.trim().to_owned()).collect(),
            name => self.keep(row, name, row.number("stat_value")),
        }
    }

    fn keep(&mut self, row: &NamedRow<'_>, name: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.numbers.insert(name.to_owned(), (value, row.line));
        }
    }

    fn memory(&mut self, row: &NamedRow<'_>) {
        let instance = row.text("instance_number");
        for (column, resource) in MEMORY {
            let Some(bytes) = row.number(column).map(|gigabytes| gigabytes * GIB) else { continue };
            let highest = self.memory.entry((instance.to_owned(), resource)).or_insert((bytes, row.line));
            if bytes > highest.0 {
                *highest = (bytes, row.line);
            }
        }
    }

    fn metrics(&mut self, row: &NamedRow<'_>, out: &mut Builder) {
        let minutes = row.number("dur_m").filter(|minutes| *minutes > 0.0);
        let (Some(number), Some(minutes), Some(end)) = (read_snapshot(row), minutes, time(row.text("end"))) else {
            let origin = out.origin(row.line, row.block, "");
            return out.caution(Some(origin), Doubt::lacking("a row", "snapshot, minutes or end"));
        };
        let found = METRICS.iter().filter_map(|(column, class, measure, statistic, unit)| {
            Some((*class, *measure, *statistic, row.number(column)? * unit, *column))
        });
        self.snapshots.entry(number).or_default().instances.push(Instance {
            name: row.text("inst").to_owned(),
            end: out.instant(end),
            seconds: minutes * 60.0,
            line: row.line,
            figures: found.collect(),
            sessions: active_sessions(row),
            on_processor: row.number("cpu_per_s"),
            commits_s: row.number("commits_s"),
            peak_processors: peak_processors(row),
            interconnect_bytes_s: row.number("cell_io_int_mb").map(|megabytes| megabytes * MIB / 60.0),
            host_busy: row.number("os_cpu").map(|percent| percent / 100.0),
            host_peak: row.number("os_cpu_max").map(|percent| percent / 100.0),
        });
    }

    /// Rows of the whole database follow those of its instances; rows of other snapshots are skipped.
    fn of_snapshot(&mut self, row: &NamedRow<'_>) {
        let Some(snapshot) = read_snapshot(row).and_then(|number| self.snapshots.get_mut(&number)) else { return };
        match row.block {
            "IO-WAIT-HISTOGRAM" => {
                let (Some(bound), Some(count)) = (row.number("wait_time_milli"), row.number("wait_count")) else {
                    return;
                };
                let event = snapshot.event(row);
                // Counters that decreased are invalid.
                if count > 0.0 {
                    event.buckets.push((bound, count));
                }
            }
            "TOP-N-TIMED-EVENTS" => {
                let total = row.number("total_time_s").zip(row.number("pctdbt"));
                snapshot.event(row).total = total.filter(|(total, share)| *total > 0.0 && *share > 0.0);
            }
            "AVERAGE-ACTIVE-SESSIONS" => {
                if let Some(sessions) = row.number("avg_sess") {
                    snapshot.classes.insert(row.text("wait_class").to_owned(), (sessions, row.line));
                }
            }
            "IOSTAT-BY-FUNCTION" => {
                let counts = ["sm_r_reqs", "sm_w_reqs", "lg_r_reqs", "lg_w_reqs"].map(|column| row.number(column));
                let name = row.text("function_name").to_owned();
                snapshot.functions.push((name, counts, row.line));
            }
            "TOP-SQL-BY-SNAPID" => {
                let top = snapshot.top_reader.as_ref().map_or(0.0, |top| top.bytes);
                let (statement, module) = (row.text("sql_id").to_owned(), row.text("module").to_owned());
                let bytes = row.number("read_mb").map_or(0.0, |megabytes| megabytes * MIB);
                if bytes > top && !statement.is_empty() {
                    snapshot.top_reader = Some(Arc::new(TopReader { statement, module, bytes }));
                }
            }
            "SYSSTAT" => snapshot.reads_s = row.number("read_iops").map(|reads| (reads, row.line)),
            _ => {}
        }
    }
}

impl Snapshot {
    fn event(&mut self, row: &NamedRow<'_>) -> &mut MinerEvent {
        let event = self.events.entry(row.text("event_name").to_owned()).or_default();
        row.text("wait_class").clone_into(&mut event.class);
        event.line = row.line;
        event
    }

    /// Total transactions of all instances.
    fn commits(&self) -> Option<f64> {
        self.instances.iter().map(|instance| Some(instance.commits_s? * instance.seconds)).sum()
    }

    /// Total seconds of sessions of all instances.
    fn database_s(&self) -> Option<f64> {
        self.instances.iter().map(|instance| Some(instance.sessions?.mean * instance.seconds)).sum()
    }
}

impl Instance {
    fn begin(&self) -> Option<DateTime> {
        timestamp::later(self.end, -self.seconds)
    }
}

/// Mean active sessions. `aas` has one decimal; newer versions also have `db_time`, in hundredths of a second a second,
/// which has a hundred times its resolution.
fn active_sessions(row: &NamedRow<'_>) -> Option<ActiveSessions> {
    const HALF_DIGIT: f64 = 0.05;
    let of = |column: &'static str, unit: f64| {
        Some(ActiveSessions { mean: row.number(column)? * unit, rounding: HALF_DIGIT * unit, column })
    };
    of("db_time", 0.01).or_else(|| of("aas", 1.0))
}

/// Processors of the database in the highest minute; in versions without that column, their mean times the ratio of the
/// host's highest minute to its mean.
fn peak_processors(row: &NamedRow<'_>) -> Option<(f64, &'static str)> {
    let estimate = || {
        let (mean, highest) = (row.number("os_cpu")?, row.number("os_cpu_max")?);
        let peak = row.number("cpu_per_s").filter(|_| mean > 0.0)? * (highest / mean).max(1.0);
        Some((peak, "cpu_per_s, os_cpu_max over os_cpu"))
    };
    row.number("cpu_per_s_max").map(|peak| (peak, "cpu_per_s_max")).or_else(estimate)
}

fn read_snapshot(row: &NamedRow<'_>) -> Option<u64> {
    let text = if row.text("snap").is_empty() { row.text("snap_id") } else { row.text("snap") };
    text.parse().ok()
}

/// `13/05/09 13:52`, with the year first.
fn time(text: &str) -> Option<Stamp> {
    let is_short = text.as_bytes().get(2) == Some(&b'/');
    timestamp::parse(&if is_short { format!("20{text}") } else { text.to_owned() })
}

/// Emits the history.
fn make(history: &MinerHistory, out: &mut Builder) {
    let mut longest: f64 = 0.0;
    let mut estimated = false;
    for snapshot in history.snapshots.values() {
        // The window of the whole begins with its first instance.
        estimated |= add_history(history, snapshot, out);
        for instance in by_begin(&snapshot.instances) {
            longest = longest.max(instance.seconds);
            put(history, snapshot, instance, out);
        }
    }
    databases(history, out);
    if longest > 65.0 * 60.0 {
        out.caution(None, Doubt::LongWindowWithMaxima { minutes: longest / 60.0 });
    }
    let instances = history.snapshots.values().flat_map(|snapshot| &snapshot.instances);
    let rates = instances.flat_map(|instance| &instance.figures).filter(|figure| figure.1 == Measure::Throughput);
    let zeros = rates.filter(|figure| figure.3 == 0.0).count();
    if zeros > 0 {
        out.caution(None, Doubt::RatesOfZero { count: zeros });
    }
    if estimated {
        out.caution(None, Doubt::WaitsEstimated);
    }
}

fn by_begin(instances: &[Instance]) -> Vec<&Instance> {
    let mut sorted: Vec<&Instance> = instances.iter().collect();
    sorted.sort_by_key(|instance| instance.begin());
    sorted
}

/// The window of an instance: that of its snapshot, unless it was observed for another time.
fn window_of(snapshot: &Snapshot, instance: &Instance) -> ReadingWindow {
    let first = by_begin(&snapshot.instances).into_iter().find(|first| {
        let apart = first.begin().zip(instance.begin()).map(|(a, b)| b.duration_since(a).as_secs_f64().abs());
        // Both are rounded to minutes.
        let slack = (0.1 * first.seconds.max(instance.seconds)).max(90.0);
        (first.seconds - instance.seconds).abs() <= slack && apart.is_some_and(|apart| apart <= slack)
    });
    let of = first.unwrap_or(instance);
    ReadingWindow { begin: of.begin(), length: Span::from_secs_f64(of.seconds) }
}

fn build_scope(history: &MinerHistory, instance: &str) -> ReadingScope {
    let host = match history.hosts.as_slice() {
        [only] => only.clone(),
        _ => String::new(),
    };
    ReadingScope { database: history.database.clone(), instance: instance.to_owned(), host, ..ReadingScope::default() }
}

fn put(history: &MinerHistory, snapshot: &Snapshot, instance: &Instance, out: &mut Builder) {
    let scope = out.scope(build_scope(history, &instance.name));
    let own_window = window_of(snapshot, instance);
    // Means become sums over the window, which may differ from the instance's own by the minutes of its rounding.
    let (window, seconds) = (out.window(own_window), own_window.length.as_secs_f64());
    let of_all = || shared_processors(history, snapshot, instance).map(|shared| shared.value);
    for (class, measure, statistic, value, column) in &instance.figures {
        let origin = out.origin(instance.line, "MAIN-METRICS", column);
        let (class, measure, statistic) = (*class, *measure, *statistic);
        let is_rounded = measure == Measure::Throughput && *value == 0.0;
        let estimate =
            if is_rounded { bytes_below_resolution(history, instance, (class, statistic)) } else { Some(*value) };
        let Some(value) = estimate else { continue };
        out.figure(Figure { scope, window, class, measure, statistic, value, origin });
    }
    if let Some(sessions) = instance.sessions {
        let processors = host_processors(history, instance);
        let origin = out.origin(instance.line, "MAIN-METRICS", sessions.column);
        out.time(DatabaseTime {
            scope,
            window,
            database_s: sessions.mean * seconds,
            rounding_s: sessions.rounding * seconds,
            processor_s: instance.on_processor.or_else(of_all).map(|on| on * seconds),
            processors: processors.map(|count| count as u32),
            commits: instance.commits_s.map(|commits| commits * seconds),
            counters: TimeCounters {
                filtered_bytes: filtered_bytes_s(history, instance).map(|rate| rate * seconds),
                // Rows of statements are of all instances.
                top_reader: snapshot.top_reader.clone(),
                ..TimeCounters::default()
            },
            origin,
        });
    }
    processors_used(history, snapshot, instance, (scope, window), out);
    host_time(history, instance, seconds, (scope, window), out);
}

/// Emits the busy time of the processors of an instance's host.
fn host_time(
    history: &MinerHistory,
    instance: &Instance,
    seconds: f64,
    (scope, window): (u32, u32),
    out: &mut Builder,
) {
    if let Some(busy) = instance.host_busy {
        let all_s = seconds * host_processors(history, instance).unwrap_or(1.0);
        let (busy_s, idle_s) = (all_s * busy, all_s * (1.0 - busy).max(0.0));
        let origin = out.origin(instance.line, "MAIN-METRICS", "os_cpu");
        out.host(HostTime { scope, window, busy_s, idle_s, io_wait_s: None, queue_s: None, paged_bytes: None, origin });
    }
}

/// Processors of an instance's host: its own, otherwise those of all hosts.
fn host_processors(history: &MinerHistory, instance: &Instance) -> Option<f64> {
    let own = history.processors.get(&instance.name).and_then(|(processors, _)| *processors);
    own.or(history.numbers.get("NUM_CPUS").map(|(count, _)| *count))
}

/// Processors that an instance used, where only those of all instances are known.
struct SharedProcessors {
    value: f64,
    line: u64,
    /// The column, and how it is divided.
    field: String,
}

/// Divides the processors of all instances, in versions that have no others: by the busy processors of the instances' hosts,
/// or by active sessions where a host lacks these, or evenly if all sessions are rounded to 0.
fn shared_processors(history: &MinerHistory, snapshot: &Snapshot, instance: &Instance) -> Option<SharedProcessors> {
    let (on_processor, line) = *snapshot.classes.get("DB CPU")?;
    let busy = |one: &Instance| Some(one.host_busy? * host_processors(history, one)?);
    let active = |one: &Instance| one.sessions.map(|sessions| sessions.mean);
    let share = |of: &dyn Fn(&Instance) -> Option<f64>| {
        let sum: f64 = snapshot.instances.iter().map(of).sum::<Option<f64>>().filter(|sum| *sum > 0.0)?;
        Some(of(instance)? / sum)
    };
    let (part, divided) = match (share(&busy), share(&active)) {
        _ if snapshot.instances.len() == 1 => (1.0, ""),
        (Some(part), _) => (part, ", divided by busy processors (os_cpu)"),
        (None, Some(part)) => (part, ", divided by active sessions"),
        (None, None) => (1.0 / snapshot.instances.len().max(1) as f64, ", divided evenly"),
    };
    let total = if divided.is_empty() { String::new() } else { format!(", {on_processor:.1} of all instances") };
    Some(SharedProcessors { value: on_processor * part, line, field: format!("DB CPU{total}{divided}") })
}

/// Bytes per second of operations whose column rounds them to 0: a block each, at most half of the last digit. `None` if
/// the operations are not counted, or if there are none.
fn bytes_below_resolution(
    history: &MinerHistory,
    instance: &Instance,
    (class, statistic): (Class, Statistic),
) -> Option<f64> {
    const HALF_DIGIT: f64 = 0.05 * MIB;
    const USUAL_BLOCK: f64 = 8192.0;
    let block = history.numbers.get("db_block_size").map_or(USUAL_BLOCK, |(bytes, _)| *bytes);
    let is_rate = |figure: &&(Class, Measure, Statistic, f64, &str)| {
        (figure.0, figure.1, figure.2) == (class, Measure::Iops, statistic)
    };
    instance.figures.iter().find(is_rate).map(|figure| (figure.3 * block).min(HALF_DIGIT))
}

/// Bytes of scans per second that the cells of Exadata filter: those read and not returned, since written bytes pass at
/// least twice, as its disk groups are mirrored. With three copies it is a lower bound. `None` without waits for cells, and
/// without the column.
fn filtered_bytes_s(history: &MinerHistory, instance: &Instance) -> Option<f64> {
    const COPIES: f64 = 2.0;
    let events = || history.snapshots.values().flat_map(|snapshot| snapshot.events.keys());
    let mean = |class: Class| {
        let is_mean = |figure: &&(Class, Measure, Statistic, f64, &str)| {
            (figure.0, figure.1, figure.2) == (class, Measure::Throughput, Statistic::Mean)
        };
        instance.figures.iter().find(is_mean).map(|figure| figure.3)
    };
    let moved = mean(Class::Read)? + COPIES * mean(Class::Write)?;
    let rate = (moved - instance.interconnect_bytes_s?).max(0.0);
    events().any(|event| event.starts_with("cell ")).then_some(rate)
}

/// Emits the processors that an instance used, and the bytes that cells filter for it.
fn processors_used(
    history: &MinerHistory,
    snapshot: &Snapshot,
    instance: &Instance,
    at: (u32, u32),
    out: &mut Builder,
) {
    // No more than were busy.
    let busy = host_processors(history, instance)
        .zip(instance.host_peak)
        .map_or(f64::INFINITY, |(processors, share)| processors * share);
    let shared = shared_processors(history, snapshot, instance);
    let of_all = || {
        let shared = shared.as_ref()?;
        Some((shared.value, shared.line, "AVERAGE-ACTIVE-SESSIONS", shared.field.as_str()))
    };
    let own = instance.on_processor.map(|on| (on, instance.line, "MAIN-METRICS", "cpu_per_s"));
    let peak = instance.peak_processors.map(|(on, columns)| (on.min(busy), instance.line, "MAIN-METRICS", columns));
    let filtered = filtered_bytes_s(history, instance).filter(|rate| *rate > 0.0);
    let filtered = filtered.map(|rate| (rate, instance.line, "MAIN-METRICS", "cell_io_int_mb"));
    let all = [
        (Resource::Processors, own.or_else(of_all)),
        (Resource::PeakProcessors, peak),
        (Resource::FilteredBytes, filtered),
    ];
    for (resource, found) in all {
        let Some((value, line, block, column)) = found else { continue };
        let origin = out.origin(line, block, column);
        let (scope, window) = at;
        out.resource(ResourceFigure { scope, window, instance: String::new(), resource, value, origin });
    }
}

/// Emits the rows of all instances together; true if the time of a wait was estimated.
fn add_history(history: &MinerHistory, snapshot: &Snapshot, out: &mut Builder) -> bool {
    let Some(first) = by_begin(&snapshot.instances).first().copied() else { return false };
    let scope = out.scope(build_scope(history, if snapshot.instances.len() == 1 { &first.name } else { "" }));
    let window = out.window(window_of(snapshot, first));
    // The total rate is unknown if an instance was not up all the time.
    let is_complete = snapshot.instances.iter().all(|instance| window_of(snapshot, instance).begin == first.begin());
    if is_complete {
        functions(snapshot, (scope, window), first.seconds, out);
    }
    agreement(snapshot, out);
    let mut estimated = false;
    let mut by_class: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, event) in &snapshot.events {
        let waits: f64 = event.buckets.iter().map(|(_, count)| count).sum();
        let existing = known_s(snapshot, event);
        if waits <= 0.0 && (existing.is_none() || event.class == "DB CPU") {
            continue;
        }
        estimated |= existing.is_none();
        let total_s =
            existing.unwrap_or_else(|| event.buckets.iter().map(|(bound, count)| bound * 0.75e-3 * count).sum());
        *by_class.entry(&event.class).or_default() += total_s;
        let table = if waits > 0.0 { "IO-WAIT-HISTOGRAM" } else { "TOP-N-TIMED-EVENTS" };
        let origin = out.origin(event.line, table, name);
        let count = if waits > 0.0 { waits } else { assumed_waits(&event.class, snapshot) };
        let foreground = event.class != BACKGROUND;
        let histogram = if waits > 0.0 { compute_shares(event, waits) } else { Vec::new() };
        out.wait(Wait {
            scope,
            window,
            cause: WaitCause::of_oracle(name, &event.class),
            event: name.clone(),
            foreground,
            count,
            total_s,
            histogram,
            origin,
        });
    }
    // The remainder of each class is in no event, unless it is less than the rounding of the class.
    for (class, (sessions, line)) in snapshot.classes.iter().filter(|(class, _)| *class != "DB CPU") {
        let total_s = sessions * first.seconds - by_class.get(class.as_str()).copied().unwrap_or(0.0);
        if total_s > CLASS_ROUNDING * first.seconds {
            let origin = out.origin(*line, "AVERAGE-ACTIVE-SESSIONS", class);
            let (event, count) = (format!("wait class {class}"), assumed_waits(class, snapshot));
            let foreground = class != BACKGROUND;
            let cause = WaitCause::of(&event);
            out.wait(Wait { scope, window, event, cause, foreground, count, total_s, histogram: Vec::new(), origin });
        }
    }
    estimated
}

/// Half of the last digit of mean sessions by wait class, which have two decimals.
const CLASS_ROUNDING: f64 = 0.005;

/// The wait class of background processes.
const BACKGROUND: &str = "System I/O";

/// The number of waits of an event without a histogram: the number of transactions for commit waits, otherwise unknown.
fn assumed_waits(class: &str, snapshot: &Snapshot) -> f64 {
    if class == "Commit" { snapshot.commits().unwrap_or(0.0) } else { 0.0 }
}

/// Seconds of a top event. Some versions print microseconds as seconds, which the share of the database's time reveals.
fn known_s(snapshot: &Snapshot, event: &MinerEvent) -> Option<f64> {
    let (total, percent) = event.total?;
    let expected = snapshot.database_s().filter(|seconds| *seconds > 0.0)? * percent / 100.0;
    let off = |seconds: f64| (seconds / expected).ln().abs();
    [total, total * 1e-6]
        .into_iter()
        .filter(|seconds| off(*seconds) < 100_f64.ln())
        .min_by(|a, b| off(*a).total_cmp(&off(*b)))
}

/// Shares of waits by upper bound in seconds, the last infinite.
fn compute_shares(event: &MinerEvent, count: f64) -> Vec<(f64, f64)> {
    let mut buckets = event.buckets.clone();
    buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
    let shares = buckets.iter().map(|(bound, waits)| (bound * 1e-3, waits / count));
    shares.chain([(f64::INFINITY, 0.0)]).collect()
}

/// Operations by purpose. Small ones are below 128 KiB, nearly all of single blocks.
fn functions(snapshot: &Snapshot, at: (u32, u32), seconds: f64, out: &mut Builder) {
    let reads = ["Buffer Cache Reads", "Direct Reads"].as_slice();
    let classes: [(Class, &[&str], &[usize]); 6] = [
        (Class::RandomRead, reads, &[0]),
        (Class::SequentialRead, reads, &[2]),
        (Class::DataWrite, &["DBWR"], &[1, 3]),
        (Class::RedoWrite, &["LGWR"], &[1, 3]),
        (Class::Archive, &["ARCH"], &[0, 1, 2, 3]),
        (Class::Backup, &["RMAN"], &[0, 1, 2, 3]),
    ];
    for (class, names, columns) in classes {
        let rows: Vec<_> = snapshot.functions.iter().filter(|(name, ..)| names.contains(&name.as_str())).collect();
        let counts: Vec<f64> =
            rows.iter().flat_map(|(_, counts, _)| columns.iter().filter_map(|column| counts[*column])).collect();
        // Negative values indicate a counter reset.
        if let Some((name, _, line)) = rows.last().filter(|_| !counts.is_empty() && counts.iter().all(|n| *n >= 0.0)) {
            let origin = out.origin(*line, "IOSTAT-BY-FUNCTION", name);
            out.mean(at, class, Measure::Iops, counts.iter().sum::<f64>() / seconds, origin);
        }
    }
}

/// Compares two sources of reads: large differences indicate missing data.
fn agreement(snapshot: &Snapshot, out: &mut Builder) {
    let Some((counted, line)) = snapshot.reads_s else { return };
    let is_reads = |class: Class, measure: Measure| (class, measure) == (Class::Read, Measure::Iops);
    let sums = snapshot.instances.iter().filter_map(|instance| {
        let mean = |figure: &&(Class, Measure, Statistic, f64, &str)| {
            is_reads(figure.0, figure.1) && figure.2 == Statistic::Mean
        };
        instance.figures.iter().find(mean).map(|figure| figure.3)
    });
    let sum: f64 = sums.sum();
    if (counted - sum).abs() > 5.0 + 0.5 * counted.max(sum) {
        let origin = out.origin(line, "SYSSTAT", "read_iops");
        out.caution(Some(origin), Doubt::InstanceMissing { counted, sum });
    }
}

/// Memory and processors of each instance's host, in the last window.
fn databases(history: &MinerHistory, out: &mut Builder) {
    let Some(snapshot) = history.snapshots.values().next_back() else { return };
    for instance in by_begin(&snapshot.instances) {
        database(history, snapshot, instance, out);
    }
}

fn database(history: &MinerHistory, snapshot: &Snapshot, instance: &Instance, out: &mut Builder) {
    let number = |name: &str| history.numbers.get(name).map(|(value, _)| *value).filter(|value| *value > 0.0);
    let (processors, cores) = history.processors.get(&instance.name).copied().unwrap_or_default();
    let line =
        history.numbers.get("__db_cache_size").or(history.numbers.get("NUM_CPUS")).map_or(instance.line, |(_, at)| *at);
    let origin = out.origin(line, "DATABASE-PARAMETERS", "__db_cache_size");
    let scope = out.scope(build_scope(history, &instance.name));
    let window = out.window(window_of(snapshot, instance));
    out.database(Database {
        scope,
        window,
        block_bytes: number("db_block_size"),
        cache_bytes: number("__db_cache_size").or(number("db_cache_size")),
        processors: processors.or(number("NUM_CPUS")),
        cores: number("NUM_CPU_CORES").or(cores),
        memory_bytes: number("PHYSICAL_MEMORY_GB").map(|gigabytes| gigabytes * GIB),
        stored_bytes: history.stored.map(|(_, bytes)| bytes),
        origin,
    });
    let of_host = |name: &str, resource: Resource, unit: f64| {
        let (value, line) = history.numbers.get(name)?;
        Some((resource, value * unit, *line, "OS-INFORMATION", name.to_owned()))
    };
    let in_use = MEMORY.into_iter().filter_map(|(column, resource)| {
        let (bytes, line) = history.memory.get(&(instance.name.clone(), resource))?;
        Some((resource, *bytes, *line, "MEMORY", column.to_owned()))
    });
    let of_hosts = [
        of_host("NUM_CPUS", Resource::HostProcessors, 1.0),
        of_host("NUM_CPU_CORES", Resource::HostCores, 1.0),
        of_host("PHYSICAL_MEMORY_GB", Resource::HostMemory, GIB),
        of_host("INSTANCES", Resource::Instances, 1.0),
    ];
    for (resource, value, line, block, field) in in_use.chain(of_hosts.into_iter().flatten()) {
        let origin = out.origin(line, block, &field);
        out.resource(ResourceFigure { scope, window, instance: String::new(), resource, value, origin });
    }
}
