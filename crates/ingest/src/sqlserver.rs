//! SQL Server: cumulative counters of its files, `sys.dm_io_virtual_file_stats`, as a grid, or separated by tabs, commas,
//! semicolons or bars.
//!
//! Columns: <https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-io-virtual-file-stats-transact-sql>.
//! `sample_ms` is the time since the computer started, the clock of samples without a time. Stalls are the time that
//! sessions waited, with the time in the queue of the server.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use plimsoll_language::label;
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::reading::{Class, Counted, Doubt, Fate, Origin, ReadingScope, Snapshot};
use crate::refusal::{InputFault, Refusal};
use crate::sampled::SampleInterval;
use crate::snapshot::Counters;
use crate::text::table::{Ruler, cells, plain};
use crate::text::timestamp;
use crate::text::{MILLI, Numerals};

pub(crate) const FILES: Form = Form::lines("sqlserver-files", "files of SQL Server", resembles, |input| {
    Box::new(FileStats { pace: SampleInterval::new(input), ..FileStats::default() })
});

fn resembles(head: &Head<'_>) -> Resemblance {
    let lower = head.text().to_ascii_lowercase();
    let has = |name: &str| lower.contains(name);
    let is_counted = COUNTS.into_iter().any(has);
    let others = ["num_of_bytes_", "io_stall", "sample_ms", "database_id"];
    let missing = "columns num_of_bytes_read and num_of_bytes_written";
    Resemblance::is(9, is_counted && others.into_iter().any(has)).or_near(2, is_counted, missing)
}

const QUERY: &str = "SELECT * FROM sys.dm_io_virtual_file_stats(NULL, NULL)";
/// Columns of which each table has at least one.
const COUNTS: [&str; 2] = ["num_of_reads", "num_of_writes"];
/// Columns that a table needs.
const REQUIRED: [&str; 4] = ["num_of_reads", "num_of_bytes_read", "num_of_writes", "num_of_bytes_written"];
/// Columns without which latencies are unknown.
const STALLS: [&str; 2] = ["io_stall_read_ms", "io_stall_write_ms"];

/// Maximum files of a sample that are listed separately, by operations.
const MAX_FILES: usize = 50;

#[derive(Default)]
struct FileStats {
    pace: SampleInterval,
    /// The last line, which a ruler may follow.
    before: String,
    table: Option<FileTable>,
    at: Option<DateTime>,
    /// The current sample: counters by file.
    files: BTreeMap<String, Counters>,
    age: Option<Span>,
    line: u64,
    samples: u32,
    /// Columns of [`REQUIRED`] that a table lacks.
    absent: Vec<&'static str>,
    rows: u32,
    last: u64,
}

struct FileTable {
    names: Vec<String>,
    shape: TableShape,
}

enum TableShape {
    Grid(Ruler),
    Separated(char),
}

impl FileTable {
    fn cells(&self, line: &str) -> Vec<String> {
        match &self.shape {
            TableShape::Grid(ruler) => ruler.cells(line),
            TableShape::Separated(mark) => {
                let line = if *mark == '|' { line.trim().trim_matches('|') } else { line };
                cells(line, *mark).map(|cell| cell.trim().to_owned()).collect()
            }
        }
    }

    fn cell<'a>(&self, cells: &'a [String], names: &[&str]) -> Option<&'a str> {
        let at = self.names.iter().position(|name| names.contains(&name.as_str()))?;
        cells.get(at).map(String::as_str).filter(|cell| !cell.is_empty() && *cell != "NULL")
    }
}

impl FileStats {
    fn begin(&mut self, names: Vec<String>, shape: TableShape, out: &mut Builder) {
        self.finish(out);
        let is_absent = |column: &&str| !names.iter().any(|name| name == *column);
        if self.absent.is_empty() {
            self.absent = REQUIRED.into_iter().filter(is_absent).collect();
        }
        let stalls: Vec<&str> = STALLS.into_iter().filter(is_absent).collect();
        if !stalls.is_empty() {
            out.caution_once(None, Doubt::StallsMissing { columns: stalls.join(", ") });
        }
        self.table = Some(FileTable { names, shape });
    }

    /// Reads a row. False if it is none.
    fn row(&mut self, line: &str, number: u64, out: &mut Builder) -> bool {
        let Some(table) = &self.table else { return false };
        let cells = table.cells(line);
        let count = |name: &str| table.cell(&cells, &[name]).and_then(|cell| Numerals::Point.number(cell));
        let (Some(reads), Some(writes)) = (count("num_of_reads"), count("num_of_writes")) else { return false };
        let text = |names: &[&str]| table.cell(&cells, names).unwrap_or_default().to_owned();
        let database = text(&["database_name", "db_name", "dbname", "database", "db", "database_id"]);
        let file = text(&["physical_name", "file_name", "filename", "logical_name", "name", "file_id"]);
        let kind = text(&["type_desc", "file_type", "type"]);
        let [read, write] = classes(&database, &file, &kind, &text(&["database_id"]), &text(&["file_id"]));
        let mut counters = Counters::default();
        let stall = |name: &str| count(name).map(|ms| ms * MILLI);
        let directions = [
            (Class::Read, read, reads, count("num_of_bytes_read"), stall("io_stall_read_ms"), "num_of_reads"),
            (Class::Write, write, writes, count("num_of_bytes_written"), stall("io_stall_write_ms"), "num_of_writes"),
        ];
        for (total, class, operations, bytes, seconds, field) in directions {
            for class in [Some(total), class].into_iter().flatten() {
                let place = (number, "files", field);
                counters.add(Counted::Operations(class), Some(operations), place);
                counters.add(Counted::Bytes(class), bytes, place);
                counters.add(Counted::OperationSeconds(class), seconds, place);
            }
        }
        let age = count("sample_ms").map(|ms| Span::from_secs_f64(ms.max(0.0) * MILLI));
        let times = ["sample_time", "capture_time", "collection_time", "now", "getdate", "sysdatetime"];
        let at = table.cell(&cells, &times).and_then(timestamp::parse);
        let name = format!("{database}/{file}");
        if self.files.contains_key(&name) {
            self.finish(out);
        }
        if let Some(at) = at {
            self.at = Some(out.instant(at));
        }
        if self.files.is_empty() {
            self.line = number;
        }
        self.age = age.or(self.age);
        self.rows += 1;
        self.files.insert(name, counters);
        true
    }

    /// Ends the current sample.
    fn finish(&mut self, out: &mut Builder) {
        let files = std::mem::take(&mut self.files);
        if files.is_empty() {
            return;
        }
        let (at, age) = match (self.at.take(), self.age.take()) {
            (None, None) => self.pace.next(),
            existing => existing,
        };
        let mut total = Counters::default();
        for counters in files.values() {
            total.merge(counters, |_| true);
        }
        let mut by_load: Vec<_> = files.iter().collect();
        by_load.sort_by(|a, b| b.1.operations().total_cmp(&a.1.operations()));
        let parts = by_load.into_iter().take(MAX_FILES).map(|(name, counters)| (name.as_str(), counters));
        out.divide();
        for (part, counters) in [("", &total)].into_iter().chain(parts) {
            let scope = out.scope(ReadingScope { part: part.to_owned(), ..ReadingScope::default() });
            let counts = counters.counts(None, out);
            out.snapshot(Snapshot { scope, at, age, counts, origin: Origin::line(self.line) });
        }
        self.samples += 1;
    }
}

/// True for a line with the names of columns.
fn has_counts(lower: &str) -> bool {
    COUNTS.into_iter().any(|name| lower.contains(name))
}

/// The class of a file's reads and of its writes, besides the totals. The second file of a database is its log unless the
/// input has the type.
fn classes(database: &str, file: &str, kind: &str, database_id: &str, file_id: &str) -> [Option<Class>; 2] {
    let (file, kind) = (file.to_ascii_lowercase(), kind.to_ascii_uppercase());
    let is_log = if kind.is_empty() {
        file.rsplit('.').next() == Some("ldf") || file_id == "2"
    } else {
        kind.starts_with("LOG")
    };
    let is_temp = database.eq_ignore_ascii_case("tempdb") || database_id == "2";
    match (is_temp, is_log) {
        (true, _) => [Some(Class::TempRead), Some(Class::TempWrite)],
        (false, true) => [None, Some(Class::RedoWrite)],
        (false, false) => [None, Some(Class::DataWrite)],
    }
}

impl LineFormat for FileStats {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let text = line.trim();
        if text.is_empty() {
            return Ok(());
        }
        self.last = number;
        let lower = text.to_ascii_lowercase();
        if has_counts(&lower) {
            if let Some(mark) = ['\t', '|', ';', ','].into_iter().find(|mark| line.contains(*mark)) {
                let line = if mark == '|' { text.trim_matches('|') } else { line };
                let names = cells(line, mark).map(|cell| plain(&cell)).collect();
                self.begin(names, TableShape::Separated(mark), out);
            }
            line.clone_into(&mut self.before);
        } else if let Some(ruler) = Ruler::of(line).filter(|ruler| !ruler.is_single()) {
            if has_counts(&self.before.to_ascii_lowercase()) {
                let names = ruler.cells(&self.before).iter().map(|name| plain(name)).collect();
                self.begin(names, TableShape::Grid(ruler), out);
            }
        } else if let Some(taken) = timestamp::of_line(line) {
            self.finish(out);
            self.at = self.pace.taken(taken, out).or(self.at);
        } else if !self.row(line, number, out) && text.starts_with(|letter: char| letter.is_ascii_digit()) {
            out.skip(number, Doubt::lacking("a row", "reads and writes"));
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.finish(out);
        out.end_at(self.last);
        let columns = self.absent.join(", ");
        out.require(columns.is_empty(), InputFault::MissingColumns { columns, query: QUERY })?;
        let lacks = label!("file with reads and writes");
        out.require(self.samples > 0, InputFault::Unsampled { lacks, query: QUERY })?;
        if self.samples == 1 {
            out.caution(None, Doubt::AgeOfComputer);
        }
        out.part("files", Fate::Read(self.rows));
        Ok(())
    }
}
