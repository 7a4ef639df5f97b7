//! The views of one moment, put together as a snapshot.
//!
//! Knows nothing of text: rows come in with the table that each stands in. Where two views count the same, the more
//! exact one is taken: `pg_stat_io` before all others.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::DateTime;
use plimsoll_units::Span;

use super::KIND;
use super::views::{Fields, Layer, TIMES, View};
use crate::builder::Builder;
use crate::counters::Counters;
use crate::figure::{Class, Origin, Scope};
use crate::format::Input;
use crate::reading::Fate;
use crate::refusal::Refusal;
use crate::snapshot::{Counted, Snapshot};
use crate::timestamp::{self, Taken};

/// Bytes of a block, unless the server was built otherwise.
const USUAL_BLOCK: f64 = 8192.0;
/// Statements that are kept of a snapshot: those that read and wrote most.
const MOST_STATEMENTS: usize = 50;

/// What is known of a server, and the moment that is being read.
pub(crate) struct Cluster {
    pub(crate) scope: Scope,
    block_bytes: Option<f64>,
    /// Whether operations are timed; none when the input does not say.
    timing: Option<bool>,
    begin: Option<DateTime>,
    /// How far apart samples are that have no moment of their own.
    interval: Option<Span>,
    /// Samples without a moment of their own that came before.
    untimed: u64,
    sample: Sample,
    resets: BTreeMap<View, String>,
    numbers: BTreeMap<View, u32>,
    doubts: BTreeSet<Doubt>,
    samples: u64,
}

#[derive(Default)]
struct Sample {
    at: Option<DateTime>,
    line: u64,
    layers: BTreeMap<View, Layer>,
    tables: BTreeMap<View, u64>,
    /// Rows that are in it, by what identifies them.
    rows: BTreeSet<(View, [String; 3])>,
    resets: BTreeMap<View, String>,
    statements: BTreeMap<String, Layer>,
    lsn: Option<f64>,
}

/// What makes figures doubtful; each is said once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Doubt {
    BlockAssumed,
    Untimed,
    LogUntimed,
    Blocks,
    Generated,
    Nameless,
}

impl Doubt {
    const fn text(self) -> &'static str {
        match self {
            Self::BlockAssumed => {
                "the size of a block is not said: 8 KiB are assumed; add the answer of SHOW block_size"
            }
            Self::Untimed => {
                "no times of operations: track_io_timing is off, or was not asked for; set it on for latencies"
            }
            Self::LogUntimed => {
                "no times of writing WAL: track_wal_io_timing is off; set it on for latencies of commits"
            }
            Self::Blocks => {
                "operations are counted in blocks: from version 17 on one read fetches several, so the operations of \
                 storage are at most these; PostgreSQL 18 counts operations"
            }
            Self::Generated => {
                "bytes of WAL are those generated: pages that are written again as they fill are not in them"
            }
            Self::Nameless => {
                "statements without queryid cannot be followed from snapshot to snapshot: left out; select queryid too"
            }
        }
    }
}

impl Cluster {
    pub(crate) fn new(input: &Input, scope: Scope) -> Self {
        Self {
            scope,
            block_bytes: None,
            timing: None,
            begin: input.begin,
            interval: input.interval,
            untimed: 0,
            sample: Sample::default(),
            resets: BTreeMap::new(),
            numbers: BTreeMap::new(),
            doubts: BTreeSet::new(),
            samples: 0,
        }
    }

    /// The size of a block, when the input says it beside the views.
    pub(crate) fn block(mut self, bytes: Option<f64>) -> Self {
        self.block_bytes = bytes.filter(|bytes| *bytes > 0.0);
        self
    }

    /// What comes next belongs to another moment.
    pub(crate) fn taken(&mut self, taken: Taken, out: &mut Builder) {
        let at = match taken {
            Taken::At(at) => Some(out.instant(at)),
            Taken::Every(_) => None,
        };
        self.begin(at, out);
        if let Taken::Every(every) = taken {
            self.interval = self.interval.or(Some(every));
        }
    }

    /// Begins a sample.
    fn begin(&mut self, at: Option<DateTime>, out: &mut Builder) {
        if !self.sample.layers.is_empty() || !self.sample.statements.is_empty() {
            self.finish(out);
        }
        self.sample.at = at.or(self.sample.at);
    }

    /// Takes a row of the table with that number. False when it is of no view.
    pub(crate) fn row(&mut self, row: &Fields<'_>, table: u64, out: &mut Builder) -> bool {
        let Some(view) = row.view() else { return false };
        let at = TIMES.iter().find_map(|name| row.get(name)).and_then(timestamp::parse).map(|at| out.instant(at));
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
            // One statement may have a row for each user and database.
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
            let kept = self.sample.resets.entry(view).or_default();
            if kept.as_str() < reset {
                reset.clone_into(kept);
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

    /// A row says when it was taken: views that are asked for one after the other are of one moment.
    fn at(&mut self, view: View, at: DateTime, out: &mut Builder) {
        let near = |kept: DateTime| at.duration_since(kept).as_secs_f64().abs() < 5.0;
        let same = match self.sample.at {
            Some(kept) if view == View::Server || self.sample.tables.contains_key(&view) => kept == at,
            Some(kept) => near(kept),
            None => !self.sample.tables.contains_key(&view),
        };
        if same {
            self.sample.at = self.sample.at.or(Some(at));
        } else {
            self.begin(Some(at), out);
        }
    }

    fn setting(&mut self, row: &Fields<'_>, out: &mut Builder) {
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

    fn statement(&mut self, row: &Fields<'_>) {
        // Lines of a long text under its first one have nothing but text.
        if row.number("calls").is_none() && row.number("shared_blks_read").is_none() {
            return;
        }
        let Some(id) = row.get("queryid") else {
            self.doubts.insert(Doubt::Nameless);
            return;
        };
        self.sample.statements.entry(id.to_owned()).or_default().add(View::Statements, row);
    }

    /// The moment is complete: its counters become a snapshot.
    pub(crate) fn finish(&mut self, out: &mut Builder) {
        let mut sample = std::mem::take(&mut self.sample);
        if sample.layers.is_empty() && sample.statements.is_empty() {
            self.sample.at = sample.at;
            return;
        }
        self.samples += 1;
        let (at, age) = self.when(&sample, out);
        self.forget_reset(&mut sample, out);
        let counters = self.combined(&sample);
        let scope = self.scope.clone();
        put(&counters, &scope, (at, age), sample.line, out);
        let mut statements: Vec<_> = sample.statements.iter().collect();
        statements.sort_by(|a, b| b.1.counters.operations().total_cmp(&a.1.counters.operations()));
        for (id, layer) in statements.into_iter().take(MOST_STATEMENTS) {
            let mut counters = layer.counters.clone();
            self.size(layer, &mut counters);
            let scope = Scope { part: format!("statement {id}"), ..self.scope.clone() };
            put(&counters, &scope, (at, age), sample.line, out);
        }
    }

    /// When a sample was taken, and how long its counters had counted: since the one reset that all its views had.
    fn when(&mut self, sample: &Sample, out: &mut Builder) -> (Option<DateTime>, Option<Span>) {
        let Some(at) = sample.at else {
            let apart = self.interval.map(|interval| Span::from_secs_f64(interval.as_secs_f64() * self.untimed as f64));
            self.untimed += 1;
            let later = |begin| timestamp::later(begin, apart.unwrap_or(Span::ZERO).as_secs_f64());
            return match self.begin.filter(|_| apart.is_some() || self.untimed == 1) {
                Some(begin) => (later(begin), None),
                None => (None, apart),
            };
        };
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

    /// A view that was reset since the sample before is not compared with it.
    fn forget_reset(&mut self, sample: &mut Sample, out: &mut Builder) {
        for (view, reset) in &sample.resets {
            let before = self.resets.insert(*view, reset.clone());
            if before.is_some_and(|before| before != *reset) && self.samples > 1 {
                sample.layers.remove(view);
                let origin = out.origin(sample.line, view.name(), "stats_reset");
                let text = "the statistics were reset since the snapshot before: its windows beside the reset are left \
                            out; take snapshots without a reset between them";
                out.caution(Some(origin), text);
            }
        }
    }

    /// All views as one, nothing counted twice.
    fn combined(&mut self, sample: &Sample) -> Counters {
        let mut whole = Counters::default();
        let io = sample.layers.get(&View::Io);
        if let Some(io) = io {
            if !io.has_bytes {
                self.doubts.insert(Doubt::Blocks);
            }
            whole = io.counters.clone();
            self.size(io, &mut whole);
            self.untimed_away(&mut whole);
        }
        let redo = Counted::Operations(Class::RedoWrite);
        let has_wal = io.is_some_and(|io| io.counters.get(&redo).is_some());
        for (view, layer) in &sample.layers {
            let mut counters = layer.counters.clone();
            self.size(layer, &mut counters);
            match view {
                View::Database if io.is_some() => {
                    whole.merge(&counters, |counted| matches!(counted, Counted::Commits | Counted::DatabaseSeconds));
                    temporary(&mut whole, &counters);
                }
                View::Bgwriter | View::Checkpointer if io.is_some() => {}
                View::Wal if has_wal => {}
                View::Wal => {
                    self.doubts.insert(Doubt::Generated);
                    self.untimed_away(&mut counters);
                    whole.merge(&counters, |_| true);
                }
                View::Io | View::Statements | View::Server => {}
                View::Database | View::Bgwriter | View::Checkpointer => {
                    self.untimed_away(&mut counters);
                    whole.merge(&counters, |_| true);
                }
            }
        }
        let bytes = Counted::Bytes(Class::RedoWrite);
        if whole.get(&bytes).is_none() && !whole.is_empty() {
            whole.add(bytes, sample.lsn, (sample.line, "settings", "wal_lsn"));
        }
        whole
    }

    /// Gives blocks their bytes.
    fn size(&mut self, layer: &Layer, counters: &mut Counters) {
        if layer.blocks.is_empty() {
            return;
        }
        if self.block_bytes.is_none() {
            self.doubts.insert(Doubt::BlockAssumed);
        }
        counters.merge_scaled(&layer.blocks, self.block_bytes.unwrap_or(USUAL_BLOCK));
    }

    /// Takes times away that are zero because nobody took them. Those of WAL have a setting of their own, and totals that
    /// hold untimed operations have no time.
    fn untimed_away(&mut self, counters: &mut Counters) {
        let never = |class: Class| {
            let worked = counters.get(&Counted::Operations(class)).is_some_and(|count| count > 0.0);
            worked && counters.get(&Counted::OperationSeconds(class)) == Some(0.0)
        };
        let mut away: Vec<Class> = Class::ALL.into_iter().filter(|class| never(*class)).collect();
        if away.contains(&Class::RedoWrite) {
            self.doubts.insert(Doubt::LogUntimed);
            away.extend([Class::Write, Class::Flush]);
        }
        if self.timing == Some(false)
            || away.iter().any(|class| !matches!(class, Class::RedoWrite | Class::Flush | Class::Write))
        {
            self.doubts.insert(Doubt::Untimed);
        }
        let off = self.timing == Some(false);
        let zero_waits: Vec<String> = counters.untimed_waits();
        counters.retain(|counted| match counted {
            Counted::OperationSeconds(class) => !away.contains(class) && (!off || *class == Class::RedoWrite),
            Counted::Waits(event) | Counted::WaitSeconds(event) => !zero_waits.contains(event),
            _ => true,
        });
    }

    /// No more comes.
    pub(crate) fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.finish(out);
        for (view, numbers) in &self.numbers {
            out.part(view.name(), Fate::Read(*numbers));
        }
        if self.samples == 0 {
            let what =
                "no row of a view of statistics: give the output of SELECT * FROM pg_stat_io, taken twice".to_owned();
            return Err(Refusal::Unusable { kind: KIND, origin: None, what });
        }
        for doubt in &self.doubts {
            out.caution(None, doubt.text());
        }
        let cache = "PostgreSQL counts what it asks of the operating system, whose page cache answers a part of the reads: \
                     what reaches storage is in iostat or /proc/diskstats of the same time";
        out.caution(None, cache);
        Ok(())
    }
}

fn put(counters: &Counters, scope: &Scope, (at, age): (Option<DateTime>, Option<Span>), line: u64, out: &mut Builder) {
    if !counters.is_empty() {
        let (scope, counts) = (out.scope(scope.clone()), counters.counts(None, out));
        out.snapshot(Snapshot { scope, at, age, counts, origin: Origin::line(line) });
    }
}

/// Temporary files are not in `pg_stat_io`, which has temporary tables; where they are more, they count instead.
fn temporary(whole: &mut Counters, database: &Counters) {
    let bytes = Counted::Bytes(Class::TempWrite);
    if database.get(&bytes) > whole.get(&bytes) {
        let of = [Counted::Operations(Class::TempWrite), Counted::OperationSeconds(Class::TempWrite), bytes.clone()];
        whole.retain(|counted| !of.contains(counted));
        whole.merge(database, |counted| *counted == bytes);
    }
}

/// `16/B374D848`: bytes of WAL since the beginning.
fn lsn(text: &str) -> Option<f64> {
    let (high, low) = text.trim().split_once('/')?;
    let (high, low) = (u32::from_str_radix(high, 16).ok()?, u32::from_str_radix(low, 16).ok()?);
    Some((u64::from(high) << 32 | u64::from(low)) as f64)
}
