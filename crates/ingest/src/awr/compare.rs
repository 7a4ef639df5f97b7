//! Reports that compare two periods of an instance: their tables have both periods side by side, and are separated into
//! two reports.
//!
//! Columns are called `1st` and `2nd`, in groups whose meaning depends on the table. Comparisons have no profile,
//! histograms or advice.

use plimsoll_language::label;

use super::figures;
use super::report::{Report, Rounded, StatedValue, Traffic, WaitRow};
use super::rows::by_name;
use super::section::AwrSection;
use crate::builder::Builder;
use crate::refusal::{InputFault, Refusal};
use crate::text::table::{NamedTable, Row, Ruler, plain};
use crate::text::timestamp;
use crate::text::{MIB, Numerals};

/// Two periods, as collected so far.
#[derive(Default)]
pub(super) struct Comparison {
    sides: [Report; 2],
    is_cluster: bool,
    /// Lines lost the blanks before their text.
    is_trimmed: bool,
}

impl Comparison {
    /// Adds the report's title.
    pub(super) fn title(&mut self, title: &str) {
        self.is_cluster |= title.to_ascii_lowercase().contains("(rac)");
    }

    /// True for the columns of a table about both periods.
    pub(super) fn wants(columns: &[String]) -> bool {
        columns.first().is_some_and(|name| name == "snapshot set")
            || !pair_columns(columns).is_empty()
            || caches(columns)
    }

    /// Adds the seconds of a period from headings of text; minutes in tables are rounded more.
    fn lasted(&mut self, side: usize, seconds: &str) {
        let report = &mut self.sides[side];
        if let (Some(seconds), Some(elapsed)) = (report.numerals.number(seconds), &mut report.elapsed_s)
            && (seconds - elapsed.value).abs() <= 5.0
        {
            elapsed.value = seconds;
        }
    }

    pub(super) fn table(&mut self, table: &NamedTable) {
        let pairs = pair_columns(&table.columns);
        let first = table.columns.first().map_or("", String::as_str);
        let heading = table.heading.as_str();
        for side in [0, 1] {
            let report = &mut self.sides[side];
            let column = |group: usize| pairs.get(group).map(|(first, second)| [*first, *second][side]);
            let (section, numbers) = match first {
                "snapshot set" => (AwrSection::Snapshots, sets(report, table, side)),
                "statistic" if heading.ends_with("Instance Activity Stats") => {
                    (AwrSection::Statistics, by_name(report, table, column(0), |report| &mut report.statistics))
                }
                "statistic name" if heading.starts_with("Time Model") => {
                    (AwrSection::TimeModel, by_name(report, table, column(1), |report| &mut report.time_model))
                }
                "event" if pairs.len() >= 4 => {
                    (AwrSection::ForegroundWaits, events(report, table, [column(1), column(2), column(3)]))
                }
                _ if heading.starts_with("IOStat by File Type") && pairs.len() == 7 => {
                    (AwrSection::FileTypes, file_types(report, table, column))
                }
                _ if caches(&table.columns) => (AwrSection::CacheSizes, cache(report, table, side)),
                "" if pairs.len() == 1 => (AwrSection::Host, host(report, table, column(0))),
                _ => {
                    if side == 0 {
                        report.ignore(heading);
                    }
                    continue;
                }
            };
            if numbers > 0 {
                *report.met.entry(section).or_default() += numbers;
                if table.cut {
                    report.cut.push(section);
                }
            }
        }
    }

    /// Emits both periods, the earlier one first.
    pub(super) fn make(self, out: &mut Builder) -> Result<(), Refusal> {
        let why = if self.is_cluster {
            Some("all instances of a cluster")
        } else if self.is_trimmed {
            Some(label!("with lines without their first blanks"))
        } else if self.sides.iter().any(|report| report.window_s().is_none()) {
            Some("without the lengths of both")
        } else if self.sides.iter().any(|report| report.statistics.is_empty() && report.file_types.is_empty()) {
            Some("without the statistics of both")
        } else {
            None
        };
        if let Some(why) = why {
            return Err(out.unusable(InputFault::ComparedPeriods { why }));
        }
        let mut sides = self.sides;
        for (report, label) in sides.iter_mut().zip(["1st: ", "2nd: "]) {
            report.label = label;
            report.lacks = vec![AwrSection::IoProfile, AwrSection::Histogram, AwrSection::BufferPoolAdvice];
            // It has no line at its end.
            report.ended = true;
        }
        sides.sort_by_key(|report| report.begin);
        sides.iter().try_for_each(|report| figures::make(report, out))
    }
}

/// Corresponding columns of the first and the second period.
fn pair_columns(columns: &[String]) -> Vec<(usize, usize)> {
    let ends = |index: usize, end: &str| columns.get(index).is_some_and(|name: &String| name.ends_with(end));
    (0..columns.len()).filter(|at| ends(*at, "1st") && ends(at + 1, "2nd")).map(|at| (at, at + 1)).collect()
}

fn caches(columns: &[String]) -> bool {
    columns.iter().any(|name| name == "1st (m)") && columns.iter().any(|name| name == "2nd (m)")
}

fn stated(row: &Row, name: &str, title: &str, value: f64) -> StatedValue {
    StatedValue { value, line: row.line, field: format!("{name} / {title}") }
}

/// The two tables at the top: names and times.
fn sets(report: &mut Report, table: &NamedTable, side: usize) -> u32 {
    let starts = [["1st", "First"], ["2nd", "Second"]][side];
    let Some(row) = table.rows.iter().find(|row| starts.iter().any(|start| row.cell(0).starts_with(start))) else {
        return 0;
    };
    let text = |name: &str| table.column(name).map_or("", |column| row.cell(column)).to_owned();
    if table.column("db id").is_some() {
        for (field, name) in [
            (&mut report.database, "db name"),
            (&mut report.database_id, "db id"),
            (&mut report.instance, "instance"),
            (&mut report.release, "release"),
            (&mut report.host, "host"),
        ] {
            let text = text(name);
            if !text.is_empty() {
                *field = text;
            }
        }
        report.block_bytes =
            Numerals::Point.number(&text("std block size")).map(|bytes| stated(row, "block size", "", bytes));
        return 1;
    }
    let elapsed = text("elapsed time (min)");
    report.numerals = Numerals::of(&elapsed).unwrap_or_default();
    // `23-Apr-14 18:30:05 (Wed)`
    let moment = |name: &str| timestamp::local(text(name).split('(').next().unwrap_or_default());
    (report.begin, report.end) = (moment("begin snap time"), moment("end snap time"));
    let printed = report.numerals.number(&elapsed).map(|minutes| minutes * 60.0);
    let between = report.begin.zip(report.end).map(|(begin, end)| end.duration_since(begin).as_secs_f64());
    // Minutes have a single decimal: the timestamps are more precise, unless the clock was set between them.
    let seconds = printed.map(|printed| between.filter(|between| (between - printed).abs() <= 5.0).unwrap_or(printed));
    report.elapsed_s = seconds.map(|seconds| stated(row, "Elapsed", "elapsed time (min)", seconds));
    let database = report.numerals.number(&text("db time (min)"));
    report.database_s = database.map(|minutes| stated(row, "DB Time", "db time (min)", minutes * 60.0));
    2
}

/// Waits are per second here.
fn events(report: &mut Report, table: &NamedTable, columns: [Option<usize>; 3]) -> u32 {
    let ([Some(waits), Some(total), Some(average)], Some(seconds)) = (columns, report.window_s()) else { return 0 };
    let class = table.column("wait class");
    let mut count = 0;
    for row in &table.rows {
        let Some(rate) = report.numerals.number(row.cell(waits)) else { continue };
        report.events.push(WaitRow {
            name: row.cell(0).to_owned(),
            // Background processes wait in this class.
            foreground: class.is_none_or(|class| row.cell(class) != "System I/O"),
            waits: (rate * seconds).round(),
            total_s: Rounded::of(report.numerals, row.cell(total), 1.0),
            average_s: Rounded::of(report.numerals, row.cell(average), 1e-3),
            class: class.map_or("", |class| row.cell(class)).to_owned(),
            line: row.line,
        });
        count += 3;
    }
    count
}

/// A single row: totals and types, reads before writes.
fn file_types(report: &mut Report, table: &NamedTable, column: impl Fn(usize) -> Option<usize>) -> u32 {
    const TYPES: [(&str, Option<usize>, Option<usize>); 4] = [
        ("TOTAL", Some(0), Some(3)),
        ("Data File", Some(1), Some(4)),
        ("Temp File", Some(2), Some(5)),
        ("Log File", None, Some(6)),
    ];
    let Some(row) = table.rows.first() else { return 0 };
    let is_data = table.heading.contains("Data Rate");
    let mut count = 0;
    for (name, reads, writes) in TYPES {
        let number = |group: Option<usize>, direction: &str| {
            let value = report.numerals.number(row.cell(column(group?)?))?;
            Some(stated(row, name, direction, if is_data { value * MIB } else { value }))
        };
        let (reads, writes) = (number(reads, "reads"), number(writes, "writes"));
        count += u32::from(reads.is_some()) + u32::from(writes.is_some());
        let at = report.file_types.iter().position(|traffic| traffic.name == name);
        let at = at.unwrap_or_else(|| {
            report.file_types.push(Traffic { name: name.to_owned(), ..Traffic::default() });
            report.file_types.len() - 1
        });
        let traffic = &mut report.file_types[at];
        if is_data {
            (traffic.read_bytes_s, traffic.write_bytes_s) = (reads, writes);
        } else {
            (traffic.read_iops, traffic.write_iops) = (reads, writes);
        }
    }
    count
}

fn cache(report: &mut Report, table: &NamedTable, side: usize) -> u32 {
    let Some(column) = table.column(["1st (m)", "2nd (m)"][side]) else { return 0 };
    let Some(row) = table.rows.iter().find(|row| row.cell(0).trim_start_matches('.') == "Buffer Cache") else {
        return 0;
    };
    let megabytes = report.numerals.number(row.cell(column));
    report.cache_bytes =
        megabytes.map(|megabytes| stated(row, "Buffer Cache", &table.columns[column], megabytes * MIB));
    u32::from(report.cache_bytes.is_some())
}

fn host(report: &mut Report, table: &NamedTable, column: Option<usize>) -> u32 {
    let Some(column) = column else { return 0 };
    let mut count = 0;
    for row in &table.rows {
        let name = row.cell(0).trim_end_matches(':');
        let (field, value) = match name {
            "Number of CPUs" => (&mut report.processors, report.numerals.number(row.cell(column))),
            "Number of CPU Cores" => (&mut report.cores, report.numerals.number(row.cell(column))),
            "Physical Memory" => (&mut report.memory_bytes, report.numerals.bytes(row.cell(column), MIB)),
            _ => continue,
        };
        *field = value.filter(|value| *value > 0.0).map(|value| stated(row, name, &table.columns[column], value));
        count += 1;
    }
    count
}

const MAX_ROWS: usize = 200_000;

/// Collects tables from lines.
#[derive(Default)]
pub(super) struct ComparedLines {
    comparison: Comparison,
    heading: String,
    above: String,
    table: Option<(Ruler, NamedTable)>,
}

impl ComparedLines {
    /// Adds the report's title.
    pub(super) fn title(&mut self, title: &str) {
        self.comparison.title(title);
    }

    pub(super) fn line(&mut self, line: &str, number: u64) {
        let line = line.trim_start_matches('\u{c}').trim_end();
        // These names end at the same column as longer ones.
        self.comparison.is_trimmed |= ["DB time:", "Redo size:"].iter().any(|name| line.starts_with(name));
        if let Some((heading, about)) = line.split_once("DB/Inst:") {
            self.end_table();
            heading.trim().trim_end_matches("First").trim_end().clone_into(&mut self.heading);
            let (first, second) = about.split_once("DB/Inst:").unwrap_or((about, ""));
            for (side, about) in [first, second].into_iter().enumerate() {
                self.comparison.sides[side].set_names(about);
                let seconds = about.split_once("Elapsed time:").and_then(|(_, rest)| rest.split_once("sec"));
                if let Some((seconds, _)) = seconds {
                    self.comparison.lasted(side, seconds);
                }
            }
        } else if line.is_empty() {
            self.end_table();
        } else if let Some(ruler) = Ruler::of(line) {
            self.end_table();
            if !ruler.is_inner() {
                let columns = ruler.cells(&self.above).iter().map(|name| plain(name)).collect();
                let table =
                    NamedTable { heading: self.heading.clone(), line: number, columns, ..NamedTable::default() };
                self.table = Some((ruler, table));
            }
        } else if let Some((ruler, table)) = &mut self.table {
            if table.rows.len() < MAX_ROWS {
                let is_sets = table.columns.first().is_some_and(|name| name == "snapshot set");
                let words = if is_sets { worded(line) } else { Vec::new() };
                let cells = if words.len() == table.columns.len() { words } else { ruler.cells(line) };
                table.rows.push(Row { line: number, cells });
            } else {
                table.cut = true;
            }
        }
        line.clone_into(&mut self.above);
    }

    /// Both periods, after the last line.
    pub(super) fn finish(mut self) -> Comparison {
        self.end_table();
        self.comparison
    }

    fn end_table(&mut self) {
        if let Some((_, table)) = self.table.take() {
            self.comparison.table(&table);
        }
    }
}

/// The cells of a row without blank cells; date, time and weekday form a single cell, because snapshots are not aligned
/// with their ruler.
fn worded(line: &str) -> Vec<String> {
    let mut cells: Vec<String> = Vec::new();
    let mut words = line.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let mut cell = word.to_owned();
        let is_date = word.matches('-').count() == 2;
        while is_date && words.peek().is_some_and(|next| next.contains(':') || next.starts_with('(')) {
            cell.push(' ');
            cell.push_str(words.next().unwrap_or_default());
        }
        cells.push(cell);
    }
    cells
}
