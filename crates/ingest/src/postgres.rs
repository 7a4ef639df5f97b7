//! PostgreSQL's cumulative statistics from its views: `pg_stat_io`, `pg_stat_database`, `pg_stat_bgwriter`,
//! `pg_stat_checkpointer`, `pg_stat_wal` and `pg_stat_statements`.
//!
//! Columns are recognised by name, so custom queries with fewer columns work too. All views of a time become a single
//! snapshot; texts of statements are never stored.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::DateTime;
use plimsoll_language::label;
use plimsoll_units::Span;
use serde_json::{Deserializer, Value};

use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, LineFormat, Resemblance};
use crate::reading::{Class, Counted, Doubt, Fate, Origin, ReadingScope, Snapshot, WindowCount};
use crate::refusal::{InputFault, Refusal};
use crate::sampled::SampleInterval;
use crate::snapshot::{CounterPlace, Counters};
use crate::text::rows::{ColumnWeight, LineKind, RowReader};
use crate::text::timestamp::{self, Taken};
use crate::text::{self, Numerals};

/// Identifier and name of both formats.
const ID: &str = "postgresql";
const NAME: &str = "statistics of PostgreSQL";

/// Views as tables of text.
pub(crate) const TEXT: Form = Form::lines(ID, NAME, is_text, open);

fn open(input: &FormatInput) -> Box<dyn LineFormat> {
    let cluster = Cluster::new(input, ReadingScope::default());
    Box::new(PostgresText { rows: RowReader::new(classify_column), cluster, width: 0, broken: 0 })
}

/// Matches if a row of a view can be read; near if some column names are present.
fn is_text(head: &Head<'_>) -> Resemblance {
    let text = head.text();
    if text.contains("plimsoll.snapshots/") {
        return Resemblance::None;
    }
    let marks = ["backend_type", "shared_blks_read", "blks_read", "buffers_clean", "buffers_checkpoint", "wal_records"];
    let marks = marks.iter().filter(|mark| text.contains(**mark)).count() as u8;
    if marks == 0 && !text.contains("buffers_written") {
        return Resemblance::None;
    }
    let is_row = |rows: &RowReader| {
        let fields = PostgresRow { columns: &rows.columns, cells: &rows.cells, line: 0 };
        fields.view().is_some() && rows.cells.iter().any(|cell| fields.numerals().number(cell).is_some())
    };
    let missing = "row of pg_stat_io or another view of statistics";
    Resemblance::is(10 + marks, RowReader::any(text, classify_column, is_row)).or_near(1, true, missing)
}

struct PostgresText {
    rows: RowReader,
    cluster: Cluster,
    /// Cells of the widest row.
    width: usize,
    broken: u32,
}

impl PostgresText {
    fn row(&mut self, out: &mut Builder) {
        let rows = &self.rows;
        self.width = rows.cells.len();
        let fields = PostgresRow { columns: &rows.columns, cells: &rows.cells, line: rows.line };
        self.cluster.row(&fields, rows.table, out);
    }
}

impl LineFormat for PostgresText {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if let Some(taken) = timestamp::of_line(line) {
            if self.rows.end() {
                self.row(out);
            }
            self.cluster.taken(taken, out);
            return Ok(());
        }
        match self.rows.line(line, number) {
            LineKind::Row => self.row(out),
            LineKind::Broken => {
                self.broken += 1;
                let (cells, columns) = (self.rows.cells.len(), self.rows.columns.len());
                out.caution(Some(Origin::line(number)), Doubt::RowWidth { cells, columns });
                let fields = PostgresRow { columns: &self.rows.columns, cells: &self.rows.cells, line: number };
                // Texts of statements may contain the separator.
                if let Some(view) = fields.view().filter(|view| *view != View::Statements) {
                    self.cluster.lose_row(view, self.rows.table, out);
                }
            }
            LineKind::Other | LineKind::Table => {}
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        if self.rows.end() {
            if self.rows.cells.len() < self.width {
                self.broken += 1;
                let doubt = Doubt::EndsWithin { item: label!("a record").to_owned() };
                out.caution(Some(Origin::line(self.rows.line)), doubt);
            }
            self.row(out);
        }
        if self.broken > 0 {
            out.part("rows", Fate::Broken);
        }
        self.cluster.end(out)
    }
}

pub(crate) const JSON: Form = Form::document(ID, NAME, is_json, read_snapshots);

/// Maximum unreadable documents.
const MAX_BROKEN: u32 = 20;
/// Maximum nesting of objects.
const MAX_DEPTH: u32 = 8;

fn is_json(head: &Head<'_>) -> Resemblance {
    let pairs = [
        ("\"backend_type\"", "\"context\""),
        ("\"blks_read\"", "\"xact_commit\""),
        ("\"wal_records\"", "\"wal_bytes\""),
        ("\"shared_blks_read\"", "\"calls\""),
        ("\"buffers_clean\"", "\"maxwritten_clean\""),
    ];
    let begins = head.text().lines().any(|line| line.trim_start().starts_with(['[', '{']));
    let marks = pairs.iter().filter(|(name, other)| head.has(name) && head.has(other)).count() as u8;
    if marks == 0 || !begins || head.has("plimsoll.snapshots/") {
        return Resemblance::None;
    }
    Resemblance::Is { marks: 12 + marks }
}

fn read_snapshots(input: &FormatInput, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
    let (mut cluster, mut table) = (Cluster::new(input, ReadingScope::default()), 0);
    let text = String::from_utf8_lossy(document);
    let unwrapped: String = text.lines().flat_map(|line| [unwrap(line), "\n"]).collect();
    let mut broken = 0;
    let (mut at, mut line) = (0, 1);
    while at < unwrapped.len() && broken < MAX_BROKEN {
        let rest = &unwrapped[at..];
        let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
        if !rest.trim_start_matches([' ', '\t']).starts_with(['[', '{']) {
            if let Some(taken) = timestamp::of_line(&rest[..end]) {
                cluster.taken(taken, out);
            }
            (at, line) = (at + end, line + 1);
            continue;
        }
        let mut values = Deserializer::from_str(rest).into_iter::<Value>();
        let read = values.next();
        let used = values.byte_offset();
        if let Some(Ok(found)) = read {
            read_value(&mut cluster, &found, &mut table, line, out);
            let used = used.max(1);
            line += rest[..used].matches('\n').count() as u64;
            at += used;
        } else {
            broken += 1;
            out.caution(Some(Origin::line(line)), Doubt::InvalidJson { item: label!("a line") });
            (at, line) = (at + end, line + 1);
        }
    }
    if broken > 0 {
        out.part("JSON", Fate::Broken);
    }
    cluster.end(out)
}

/// A line without psql's mark of a continued cell.
fn unwrap(line: &str) -> &str {
    let trimmed = line.trim_end();
    trimmed.strip_suffix('+').unwrap_or(trimmed)
}

/// Reads the rows in a JSON value. `table` counts arrays.
pub(crate) fn read_value(cluster: &mut Cluster, value: &Value, table: &mut u64, line: u64, out: &mut Builder) {
    look(cluster, value, table, line, MAX_DEPTH, out);
}

fn look(cluster: &mut Cluster, value: &Value, table: &mut u64, line: u64, depth: u32, out: &mut Builder) {
    match value {
        Value::Array(rows) if depth > 0 => {
            *table += 1;
            for row in rows {
                look(cluster, row, table, line, depth - 1, out);
            }
        }
        Value::Object(object) if depth > 0 => {
            let plain = object.iter().filter(|(_, value)| !value.is_array() && !value.is_object());
            let (columns, cells): (Vec<String>, Vec<String>) =
                plain.map(|(name, value)| (name.to_ascii_lowercase(), cell(value))).unzip();
            let is_row = cluster.row(&PostgresRow { columns: &columns, cells: &cells, line }, *table, out);
            if is_row && object.len() == columns.len() {
                return;
            }
            if let Some(at) = TIMES.split(' ').find_map(|name| object.get(name)?.as_str()).and_then(timestamp::parse) {
                cluster.taken(Taken::At(at), out);
            }
            for value in object.values() {
                look(cluster, value, table, line, depth - 1, out);
            }
        }
        _ => {}
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Default bytes of a block.
const DEFAULT_BLOCK: f64 = 8192.0;
/// Maximum statements of a snapshot, by reads and writes.
const MAX_STATEMENTS: usize = 50;

/// The state of a server, and the current sample.
#[derive(Default)]
pub(crate) struct Cluster {
    pub(crate) scope: ReadingScope,
    block_bytes: Option<f64>,
    /// Whether operations are timed, if known.
    timing: Option<bool>,
    pace: SampleInterval,
    sample: PostgresSample,
    resets: BTreeMap<View, String>,
    /// Rows of the preceding sample.
    rows: BTreeSet<(View, [String; 3])>,
    numbers: BTreeMap<View, u32>,
    /// Each once, in the order of their occurrence.
    doubts: Vec<Doubt>,
    samples: u64,
}

#[derive(Default)]
struct PostgresSample {
    at: Option<DateTime>,
    line: u64,
    layers: BTreeMap<View, Layer>,
    tables: BTreeMap<View, u64>,
    /// Its rows, by their key columns.
    rows: BTreeSet<(View, [String; 3])>,
    resets: BTreeMap<View, String>,
    /// True if a row is unreadable.
    is_incomplete: bool,
    statements: BTreeMap<String, Layer>,
    lsn: Option<f64>,
}

impl Cluster {
    fn doubt(&mut self, doubt: Doubt) {
        if !self.doubts.contains(&doubt) {
            self.doubts.push(doubt);
        }
    }

    pub(crate) fn new(input: &FormatInput, scope: ReadingScope) -> Self {
        Self { scope, pace: SampleInterval::new(input), ..Self::default() }
    }

    /// Sets the block size, if known from outside of the views.
    pub(crate) fn block(mut self, bytes: Option<f64>) -> Self {
        self.block_bytes = bytes.filter(|bytes| *bytes > 0.0);
        self
    }

    /// Begins another sample time.
    pub(crate) fn taken(&mut self, taken: Taken, out: &mut Builder) {
        // An interval applies to samples from here on.
        self.complete(out);
        self.sample.is_incomplete = false;
        self.sample.at = self.pace.taken(taken, out).or(self.sample.at);
    }

    /// Completes the sample, if it has rows.
    fn complete(&mut self, out: &mut Builder) {
        if !self.sample.layers.is_empty() || !self.sample.statements.is_empty() {
            self.finish(out);
        }
    }

    /// Adds a row of the table with that number. False if it belongs to no view.
    pub(crate) fn row(&mut self, row: &PostgresRow<'_>, table: u64, out: &mut Builder) -> bool {
        let Some(view) = row.view() else { return false };
        let at = TIMES.split(' ').find_map(|name| row.get(name)).and_then(timestamp::parse).map(|at| out.instant(at));
        if let Some(at) = at {
            self.at(view, at, out);
        }
        if view == View::Server {
            self.setting(row, out);
            return true;
        }
        let name = |name: &str| row.get(name).unwrap_or_default().to_owned();
        let key = match view {
            View::Io => ["backend_type", "object", "context"].map(name),
            View::Database => ["datid", "datname", ""].map(name),
            // A statement may have a row for each user and database.
            View::Statements => [row.line.to_string(), name("queryid"), name("calls")],
            _ => [const { String::new() }; 3],
        };
        let key = (view, key);
        let again = self.sample.tables.get(&view).is_some_and(|before| *before != table && at.is_none());
        if again || self.sample.rows.contains(&key) {
            self.finish(out);
        }
        if self.sample.line == 0 {
            self.sample.line = row.line;
        }
        self.sample.tables.insert(view, table);
        *self.numbers.entry(view).or_default() += row.cells.len() as u32;
        if let Some(reset) = row.get("stats_reset") {
            let retained = self.sample.resets.entry(view).or_default();
            if retained.as_str() < reset {
                reset.clone_into(retained);
            }
        }
        if view == View::Statements {
            self.statement(row);
        } else {
            self.sample.rows.insert(key);
            self.sample.layers.entry(view).or_default().add(view, row);
        }
        true
    }

    /// Sets the time of a row: views queried in sequence belong to the same sample.
    fn at(&mut self, view: View, at: DateTime, out: &mut Builder) {
        let near = |retained: DateTime| at.duration_since(retained).as_secs_f64().abs() < 5.0;
        let same = match self.sample.at {
            Some(retained) if view == View::Server || self.sample.tables.contains_key(&view) => retained == at,
            Some(retained) => near(retained),
            None => !self.sample.tables.contains_key(&view),
        };
        if same {
            self.sample.at = self.sample.at.or(Some(at));
        } else {
            self.complete(out);
            self.sample.at = Some(at);
        }
    }

    fn setting(&mut self, row: &PostgresRow<'_>, out: &mut Builder) {
        let pair = row.get("name").zip(row.get("setting"));
        let columns = row.columns.iter().map(String::as_str).zip(row.cells.iter().map(String::as_str));
        for (name, value) in pair.into_iter().chain(columns) {
            *self.numbers.entry(View::Server).or_default() += 1;
            match name {
                "block_size" => self.block_bytes = value.parse().ok().filter(|size: &f64| *size > 0.0),
                "track_io_timing" => self.timing = Some(matches!(value, "on" | "t" | "true" | "1")),
                "server_version" => out.version(value.split_whitespace().next().unwrap_or(value)),
                "version" => out.version(value.split_whitespace().nth(1).unwrap_or(value)),
                "wal_lsn" | "pg_current_wal_lsn" => self.sample.lsn = lsn(value).or(self.sample.lsn),
                _ => {}
            }
        }
    }

    fn statement(&mut self, row: &PostgresRow<'_>) {
        // Continuation lines of a long text have no numbers.
        if row.number("calls").is_none() && row.number("shared_blks_read").is_none() {
            return;
        }
        let Some(id) = row.get("queryid") else {
            self.doubt(Doubt::NamelessStatements);
            return;
        };
        self.sample.statements.entry(id.to_owned()).or_default().add(View::Statements, row);
    }

    /// Completes the sample: its counters become a snapshot.
    pub(crate) fn finish(&mut self, out: &mut Builder) {
        let mut sample = std::mem::take(&mut self.sample);
        if sample.layers.is_empty() && sample.statements.is_empty() {
            self.sample.at = sample.at;
            return;
        }
        self.samples += 1;
        let (at, age) = self.when(&sample, out);
        self.complete_resets(&mut sample, out);
        if self.lacks_rows(&sample, out) {
            // Counters of the remaining rows would seem to have been reset.
            self.rows = sample.rows;
            return;
        }
        self.forget_reset(&mut sample, out);
        self.rows.clone_from(&sample.rows);
        let counters = self.combined(&sample);
        let scope = self.scope.clone();
        put(&counters, &scope, (at, age), sample.line, out);
        let mut statements: Vec<_> = sample.statements.iter().collect();
        statements.sort_by(|a, b| b.1.counters.operations().total_cmp(&a.1.counters.operations()));
        // Parts have the doubts of the whole.
        let doubts = self.doubts.clone();
        for (id, layer) in statements.into_iter().take(MAX_STATEMENTS) {
            let mut counters = layer.counters.clone();
            self.size(layer, &mut counters);
            self.untimed_away(&mut counters);
            let scope = ReadingScope { part: format!("statement {id}"), ..self.scope.clone() };
            put(&counters, &scope, (at, age), sample.line, out);
        }
        out.divide();
        self.doubts = doubts;
    }

    /// The time of a sample, and the age of its counters: since the reset that all its views share.
    fn when(&mut self, sample: &PostgresSample, out: &mut Builder) -> (Option<DateTime>, Option<Span>) {
        let Some(at) = sample.at else { return self.pace.next() };
        let ages: Vec<f64> = sample
            .layers
            .keys()
            .filter_map(|view| timestamp::parse(sample.resets.get(view)?))
            .map(|reset| at.duration_since(out.instant(reset)).as_secs_f64())
            .collect();
        let (youngest, oldest) =
            ages.iter().fold((f64::MAX, 0.0_f64), |(low, high), age| (low.min(*age), high.max(*age)));
        let agree = !ages.is_empty() && ages.len() == sample.layers.len() && oldest - youngest <= 0.01 * oldest;
        (Some(at), (agree && youngest > 0.0).then(|| Span::from_secs_f64(youngest)))
    }

    /// Notes a row of the table with that number that cannot be read.
    fn lose_row(&mut self, view: View, table: u64, out: &mut Builder) {
        if self.sample.tables.get(&view).is_some_and(|before| *before != table) {
            self.finish(out);
        }
        self.sample.is_incomplete = true;
    }

    /// Replaces a time of a reset that is truncated by the full one.
    fn complete_resets(&mut self, sample: &mut PostgresSample, out: &mut Builder) {
        for (view, reset) in &mut sample.resets {
            let before =
                self.resets.get(view).filter(|before| before.len() > reset.len() && before.starts_with(reset.as_str()));
            if let Some(before) = before {
                before.clone_into(reset);
                let origin = out.origin(sample.line, view.name(), "stats_reset");
                out.caution(Some(origin), Doubt::EndsWithin { item: label!("a row").to_owned() });
            }
        }
    }

    /// True if a sample has an unreadable row, or fewer rows of `pg_stat_io` than the preceding sample without a reset
    /// between them: the server never removes rows.
    fn lacks_rows(&self, sample: &PostgresSample, out: &mut Builder) -> bool {
        let is_io = |(view, _): &&(View, [String; 3])| *view == View::Io;
        let is_reset = self.resets.get(&View::Io) != sample.resets.get(&View::Io);
        let has_table = sample.layers.contains_key(&View::Io);
        let has_fewer = has_table && !is_reset && self.rows.iter().filter(is_io).any(|row| !sample.rows.contains(row));
        if has_fewer && !sample.is_incomplete {
            out.caution(Some(Origin::line(sample.line)), Doubt::SnapshotLacksRows { view: View::Io.name() });
        }
        sample.is_incomplete || has_fewer
    }

    /// A view that was reset since the preceding sample is not compared with it.
    fn forget_reset(&mut self, sample: &mut PostgresSample, out: &mut Builder) {
        for (view, reset) in &sample.resets {
            let before = self.resets.insert(*view, reset.clone());
            if before.is_some_and(|before| before != *reset) && self.samples > 1 {
                sample.layers.remove(view);
                if *view == View::Io {
                    // The other views count the same operations in other ways.
                    sample.layers.clear();
                }
                let origin = out.origin(sample.line, view.name(), "stats_reset");
                out.caution(Some(origin), Doubt::StatisticsReset);
            }
        }
    }

    /// Combines all views without double counting.
    fn combined(&mut self, sample: &PostgresSample) -> Counters {
        let mut total = Counters::default();
        let io = sample.layers.get(&View::Io);
        if let Some(io) = io {
            if io.lacks_bytes() {
                self.doubt(Doubt::BytesNotQueried);
            } else if !io.has_bytes {
                self.doubt(Doubt::CountedBlocks);
            }
            total = io.counters.clone();
            self.size(io, &mut total);
            self.untimed_away(&mut total);
        }
        let redo = Counted::Operations(Class::RedoWrite);
        let has_wal = io.is_some_and(|io| io.counters.get(&redo).is_some());
        for (view, layer) in &sample.layers {
            let mut counters = layer.counters.clone();
            self.size(layer, &mut counters);
            match view {
                View::Database if io.is_some() => {
                    total.merge(&counters, |counted| matches!(counted, Counted::Commits | Counted::DatabaseSeconds));
                    temporary(&mut total, &counters);
                }
                View::Bgwriter | View::Checkpointer if io.is_some() => {
                    total.merge(&counters, |counted| matches!(counted, Counted::Tally(_)));
                }
                View::Wal if has_wal => {}
                View::Wal => {
                    self.doubt(Doubt::GeneratedLog);
                    self.untimed_away(&mut counters);
                    total.merge(&counters, |_| true);
                }
                View::Io | View::Statements | View::Server => {}
                View::Database | View::Bgwriter | View::Checkpointer => {
                    self.untimed_away(&mut counters);
                    total.merge(&counters, |_| true);
                }
            }
        }
        let bytes = Counted::Bytes(Class::RedoWrite);
        if total.get(&bytes).is_none() && !total.is_empty() {
            total.add(bytes, sample.lsn, (sample.line, "settings", "wal_lsn"));
        }
        total
    }

    /// Converts blocks to bytes.
    fn size(&mut self, layer: &Layer, counters: &mut Counters) {
        if layer.blocks.is_empty() || layer.lacks_bytes() {
            return;
        }
        if self.block_bytes.is_none() {
            self.doubt(Doubt::BlockSizeAssumed);
        }
        counters.merge_scaled(&layer.blocks, self.block_bytes.unwrap_or(DEFAULT_BLOCK));
    }

    /// Removes times that are zero because they are not measured. WAL has a separate setting, and totals with untimed
    /// operations have no time.
    fn untimed_away(&mut self, counters: &mut Counters) {
        let never = |class: Class| {
            let worked = counters.get(&Counted::Operations(class)).is_some_and(|count| count > 0.0);
            worked && counters.get(&Counted::OperationSeconds(class)) == Some(0.0)
        };
        let mut away: Vec<Class> = Class::ALL.into_iter().filter(|class| never(*class)).collect();
        if away.contains(&Class::RedoWrite) {
            self.doubt(Doubt::UntimedLog);
            away.extend([Class::Write, Class::Flush]);
        }
        if self.timing == Some(false)
            || away.iter().any(|class| !matches!(class, Class::RedoWrite | Class::Flush | Class::Write))
        {
            self.doubt(Doubt::UntimedOperations);
        }
        let off = self.timing == Some(false);
        let zero_waits: Vec<String> = counters.untimed_waits();
        counters.retain(|counted| match counted {
            Counted::OperationSeconds(class) => !away.contains(class) && (!off || *class == Class::RedoWrite),
            Counted::Waits(event) | Counted::WaitSeconds(event) => !zero_waits.contains(event),
            _ => true,
        });
    }

    pub(crate) fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.finish(out);
        for (view, numbers) in &self.numbers {
            out.part(view.name(), Fate::Read(*numbers));
        }
        let (lacks, query) = ("row of a view of statistics", "SELECT * FROM pg_stat_io");
        out.require(self.samples > 0, InputFault::Unsampled { lacks, query })?;
        for doubt in self.doubts.drain(..).chain([Doubt::PageCache]) {
            out.caution(None, doubt);
        }
        Ok(())
    }
}

fn put(
    counters: &Counters,
    scope: &ReadingScope,
    (at, age): (Option<DateTime>, Option<Span>),
    line: u64,
    out: &mut Builder,
) {
    if !counters.is_empty() {
        let (scope, counts) = (out.scope(scope.clone()), counters.counts(None, out));
        out.snapshot(Snapshot { scope, at, age, counts, origin: Origin::line(line) });
    }
}

/// `pg_stat_io` covers temporary tables but not temporary files; the larger of both counts is used.
fn temporary(total: &mut Counters, database: &Counters) {
    let bytes = Counted::Bytes(Class::TempWrite);
    if database.get(&bytes) > total.get(&bytes) {
        let of = [Counted::Operations(Class::TempWrite), Counted::OperationSeconds(Class::TempWrite), bytes.clone()];
        total.retain(|counted| !of.contains(counted));
        total.merge(database, |counted| *counted == bytes);
    }
}

/// `16/B374D848`: bytes of WAL since the beginning.
fn lsn(text: &str) -> Option<f64> {
    let (high, low) = text.trim().split_once('/')?;
    let (high, low) = (u32::from_str_radix(high, 16).ok()?, u32::from_str_radix(low, 16).ok()?);
    Some((u64::from(high) << 32 | u64::from(low)) as f64)
}

/// A view of statistics, or a setting of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum View {
    Io,
    Database,
    Bgwriter,
    Checkpointer,
    Wal,
    Statements,
    Server,
}

/// Columns that identify a table of this family.
const COLUMNS: &str = "backend_type object context reads read_bytes read_time writes write_bytes write_time extends \
    extend_bytes op_bytes fsyncs evictions reuses writebacks datname blks_read blks_hit blk_read_time blk_write_time \
    temp_bytes temp_files xact_commit xact_rollback active_time buffers_clean maxwritten_clean buffers_alloc \
    buffers_checkpoint buffers_backend checkpoints_timed checkpoints_req buffers_written num_timed num_requested \
    restartpoints_timed wal_records \
    wal_fpi wal_bytes wal_write wal_sync wal_buffers_full queryid calls shared_blks_read shared_blks_written \
    shared_blks_hit temp_blks_read temp_blks_written stats_reset setting name wal_lsn";

/// Columns that are sufficient on their own.
const ALONE: [&str; 7] =
    ["block_size", "track_io_timing", "track_wal_io_timing", "server_version", "version", "now", "pg_current_wal_lsn"];

/// The weight of a column's name.
fn classify_column(name: &str) -> ColumnWeight {
    let name = strip_unit(name);
    if ALONE.contains(&name) {
        ColumnWeight::Alone
    } else if text::lists(COLUMNS, name) || text::lists(TIMES, name) {
        ColumnWeight::One
    } else {
        ColumnWeight::No
    }
}

/// Usual names of a row's time.
const TIMES: &str = "now at ts time timestamp taken taken_at captured_at collected_at sample_time snap_time \
    clock_timestamp";

/// A name without the unit that some queries add.
fn strip_unit(name: &str) -> &str {
    name.strip_suffix("_ms").unwrap_or(name)
}

/// A row: names of columns with their cells.
#[derive(Clone, Copy)]
pub(crate) struct PostgresRow<'a> {
    pub(crate) columns: &'a [String],
    pub(crate) cells: &'a [String],
    pub(crate) line: u64,
}

impl<'a> PostgresRow<'a> {
    fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|column| strip_unit(column) == name)
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        let at = self.columns.iter().position(|column| strip_unit(column) == name)?;
        self.cells.get(at).map(String::as_str).filter(|cell| !cell.is_empty() && *cell != "\\N")
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.numerals().number(self.get(name)?)
    }

    /// The decimal separator: with `\pset numericlocale`, counts such as `60.000` show that it is a comma.
    fn numerals(&self) -> Numerals {
        let is_grouped =
            |cell: &String| cell.find('.').is_some_and(|at| at <= 3) && Numerals::Comma.number(cell).is_some();
        let is_count = |name: &str| text::lists(COLUMNS, name) && !name.contains("_time");
        let mut counts = self.columns.iter().zip(self.cells).filter(|(name, _)| is_count(name));
        if counts.any(|(_, cell)| is_grouped(cell)) { Numerals::Comma } else { Numerals::Point }
    }

    /// Milliseconds, as seconds.
    fn seconds(&self, name: &str) -> Option<f64> {
        self.number(name).map(|milliseconds| milliseconds / 1e3)
    }

    fn view(&self) -> Option<View> {
        let all = |names: &[&str]| names.iter().all(|name| self.has(name));
        let any = |names: &[&str]| names.iter().any(|name| self.has(name));
        if all(&["backend_type", "context"]) && any(&["reads", "writes", "read_bytes", "write_bytes", "extends"]) {
            Some(View::Io)
        } else if any(&["shared_blks_read", "shared_blks_written", "temp_blks_read", "temp_blks_written"])
            && any(&["calls", "queryid"])
        {
            Some(View::Statements)
        } else if any(&["blks_read", "temp_bytes", "active_time"])
            && any(&["datname", "datid", "xact_commit", "blks_hit", "numbackends"])
        {
            Some(View::Database)
        } else if all(&["wal_bytes"]) && any(&["wal_records", "wal_fpi", "wal_write"]) {
            Some(View::Wal)
        } else if any(&["buffers_clean", "buffers_checkpoint", "buffers_backend"]) {
            Some(View::Bgwriter)
        } else if all(&["buffers_written"]) && any(&["num_timed", "num_requested", "write_time", "sync_time"]) {
            Some(View::Checkpointer)
        } else if all(&["name", "setting"]) || any(&ALONE) || all(&["wal_lsn"]) {
            Some(View::Server)
        } else {
            None
        }
    }
}

impl View {
    const fn name(self) -> &'static str {
        match self {
            Self::Io => "pg_stat_io",
            Self::Database => "pg_stat_database",
            Self::Bgwriter => "pg_stat_bgwriter",
            Self::Checkpointer => "pg_stat_checkpointer",
            Self::Wal => "pg_stat_wal",
            Self::Statements => "pg_stat_statements",
            Self::Server => "settings",
        }
    }
}

/// Sums of the rows of a view.
#[derive(Clone, Debug, Default)]
struct Layer {
    counters: Counters,
    /// Operations in blocks, of any size.
    blocks: Counters,
    /// True if a row counted bytes directly.
    has_bytes: bool,
    /// True if a row exists only from version 18 on, which counts operations of several blocks.
    counts_operations: bool,
}

/// A kind of operation of `pg_stat_io`: the columns of its count, bytes and time; all reads, all writes, or flushes; its
/// class, if any; and the name of waits for it.
type IoKind = ([&'static str; 3], Class, Option<Class>, &'static str);

impl Layer {
    /// True if operations of unknown size were counted.
    fn lacks_bytes(&self) -> bool {
        self.counts_operations && !self.blocks.is_empty()
    }

    /// Adds the numbers of a row.
    fn add(&mut self, view: View, row: &PostgresRow<'_>) {
        match view {
            View::Io => self.io(row),
            View::Database => self.database(row),
            View::Bgwriter => {
                for name in ["buffers_checkpoint", "buffers_clean", "buffers_backend"] {
                    self.blocks(Class::Write, Some(Class::DataWrite), row.number(name), (row.line, view.name(), name));
                }
                self.checkpoints(row, view, ["checkpoints_timed", "checkpoints_req"]);
            }
            View::Checkpointer => {
                let place = (row.line, view.name(), "buffers_written");
                self.blocks(Class::Write, Some(Class::DataWrite), row.number("buffers_written"), place);
                self.checkpoints(row, view, ["num_timed", "num_requested"]);
            }
            View::Wal => self.wal(row),
            View::Statements => self.statement(row),
            View::Server => {}
        }
    }

    fn checkpoints(&mut self, row: &PostgresRow<'_>, view: View, columns: [&'static str; 2]) {
        for (name, column) in
            [WindowCount::CHECKPOINTS_TIMED, WindowCount::CHECKPOINTS_REQUESTED].into_iter().zip(columns)
        {
            self.counters.add(Counted::Tally(name), row.number(column), (row.line, view.name(), column));
        }
    }

    /// Adds single-block operations, to a total and to its class.
    fn blocks(&mut self, total: Class, class: Option<Class>, count: Option<f64>, place: CounterPlace) {
        for class in [Some(total), class].into_iter().flatten() {
            self.counters.add(Counted::Operations(class), count, place);
            self.blocks.add(Counted::Bytes(class), count, place);
        }
    }

    fn io(&mut self, row: &PostgresRow<'_>) {
        let object = row.get("object").unwrap_or("relation");
        let context = row.get("context").unwrap_or("normal");
        let (read, write) = classes(object, context);
        self.counts_operations |= row.get("backend_type") == Some("io worker") || object == "wal" || context == "init";
        let event = |data: &'static str, log: &'static str| if object == "wal" { log } else { data };
        for kind in [
            (["reads", "read_bytes", "read_time"], Class::Read, read, event("DataFileRead", "WALRead")),
            (["writes", "write_bytes", "write_time"], Class::Write, write, event("DataFileWrite", "WALWrite")),
            (["extends", "extend_bytes", "extend_time"], Class::Write, write, "DataFileExtend"),
            (["fsyncs", "", "fsync_time"], Class::Flush, None, event("DataFileSync", "WALSync")),
        ] {
            self.operations(row, kind);
        }
        let place = |column| (row.line, View::Io.name(), column);
        match (row.get("backend_type"), object, context) {
            (Some("autovacuum worker"), ..) => {
                for column in ["reads", "writes", "extends"] {
                    self.counters.add(Counted::Tally(WindowCount::AUTOVACUUM), row.number(column), place(column));
                }
            }
            (Some("client backend"), "relation", "normal") => {
                self.counters.add(Counted::Tally(WindowCount::SESSION_WRITES), row.number("writes"), place("writes"));
            }
            _ => {}
        }
    }

    fn operations(&mut self, row: &PostgresRow<'_>, ([count, bytes, time], total, class, event): IoKind) {
        let place = |column| (row.line, View::Io.name(), column);
        let (number, seconds) = (row.number(count), row.seconds(time));
        if row.get("backend_type") == Some("client backend") {
            self.counters.add(Counted::Waits(event.to_owned()), number, place(count));
            self.counters.add(Counted::WaitSeconds(event.to_owned()), seconds, place(time));
        }
        for class in [Some(total), class].into_iter().flatten() {
            self.counters.add(Counted::Operations(class), number, place(count));
            self.counters.add(Counted::OperationSeconds(class), seconds, place(time));
            let counted = Counted::Bytes(class);
            if bytes.is_empty() {
                continue;
            }
            if row.has(bytes) {
                self.has_bytes = true;
                self.counters.add(counted, row.number(bytes), place(bytes));
            } else if let Some(size) = row.number("op_bytes") {
                self.counters.add(counted, number.map(|number| number * size), place(count));
            } else {
                self.blocks.add(counted, number, place(count));
            }
        }
    }

    fn database(&mut self, row: &PostgresRow<'_>) {
        let place = |field| (row.line, View::Database.name(), field);
        let read = row.number("blks_read");
        self.blocks(Class::Read, None, read, place("blks_read"));
        let seconds = row.seconds("blk_read_time");
        self.counters.add(Counted::OperationSeconds(Class::Read), seconds, place("blk_read_time"));
        self.counters.add(Counted::Waits("DataFileRead".to_owned()), read, place("blks_read"));
        self.counters.add(Counted::WaitSeconds("DataFileRead".to_owned()), seconds, place("blk_read_time"));
        let seconds = row.seconds("blk_write_time");
        self.counters.add(Counted::WaitSeconds("DataFileWrite".to_owned()), seconds, place("blk_write_time"));
        self.counters.add(Counted::Bytes(Class::TempWrite), row.number("temp_bytes"), place("temp_bytes"));
        self.counters.add(Counted::Commits, row.number("xact_commit"), place("xact_commit"));
        self.counters.add(Counted::DatabaseSeconds, row.seconds("active_time"), place("active_time"));
    }

    fn wal(&mut self, row: &PostgresRow<'_>) {
        let place = |field| (row.line, View::Wal.name(), field);
        let (writes, syncs) = (row.number("wal_write"), row.number("wal_sync"));
        for class in [Class::Write, Class::RedoWrite] {
            self.counters.add(Counted::Operations(class), writes, place("wal_write"));
            self.counters.add(Counted::Bytes(class), row.number("wal_bytes"), place("wal_bytes"));
        }
        self.counters.add(Counted::Operations(Class::Flush), syncs, place("wal_sync"));
        for (class, event, count, column) in [
            (Class::RedoWrite, "WALWrite", writes, "wal_write_time"),
            (Class::Flush, "WALSync", syncs, "wal_sync_time"),
        ] {
            let seconds = row.seconds(column);
            self.counters.add(Counted::OperationSeconds(class), seconds, place(column));
            self.counters.add(Counted::Waits(event.to_owned()), count, place(column));
            self.counters.add(Counted::WaitSeconds(event.to_owned()), seconds, place(column));
        }
    }

    fn statement(&mut self, row: &PostgresRow<'_>) {
        for (column, total, class) in [
            ("shared_blks_read", Class::Read, None),
            ("local_blks_read", Class::Read, Some(Class::TempRead)),
            ("temp_blks_read", Class::Read, Some(Class::TempRead)),
            ("shared_blks_written", Class::Write, Some(Class::DataWrite)),
            ("local_blks_written", Class::Write, Some(Class::TempWrite)),
            ("temp_blks_written", Class::Write, Some(Class::TempWrite)),
        ] {
            self.blocks(total, class, row.number(column), (row.line, View::Statements.name(), column));
        }
        let place = |column| (row.line, View::Statements.name(), column);
        self.counters.add(Counted::Tally(WindowCount::CALLS), row.number("calls"), place("calls"));
        // Columns were renamed in versions 13 and 17.
        for (columns, counted) in [
            (["total_exec_time", "total_time"], Counted::Tally(WindowCount::EXECUTION_S)),
            (["shared_blk_read_time", "blk_read_time"], Counted::OperationSeconds(Class::Read)),
            (["shared_blk_write_time", "blk_write_time"], Counted::OperationSeconds(Class::Write)),
        ] {
            if let Some(column) = columns.into_iter().find(|column| row.has(column)) {
                self.counters.add(counted, row.seconds(column), place(column));
            }
        }
    }
}

/// The classes of reads and writes of a row. `normal` uses the buffer cache page by page; the other contexts scan a
/// whole relation. WAL that is created ahead of its use, or read, is in no class but the total.
fn classes(object: &str, context: &str) -> (Option<Class>, Option<Class>) {
    match (object, context) {
        (_, "init") => (None, None),
        ("wal", _) => (None, Some(Class::RedoWrite)),
        ("temp relation", _) => (Some(Class::TempRead), Some(Class::TempWrite)),
        (_, "bulkread" | "bulkwrite" | "vacuum") => (Some(Class::SequentialRead), Some(Class::DataWrite)),
        _ => (Some(Class::RandomRead), Some(Class::DataWrite)),
    }
}
