//! Rate of durable writes to a write-ahead log by method, as in `pg_test_fsync`, also for other logs.

use clap::ValueEnum;
use plimsoll_device::{Engine, Flush, SyncMode};
use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until, WorkerOps};
use plimsoll_record::{Bins, Listing, MissingFeature, SharedVerdict, Source, StepQuantity, Verdict, WalVerdict};
use plimsoll_units::{Bytes, Kind, Span};

use super::commits::{Durable, durable};
use super::target::check_writable;
use crate::ground::Facts;
use crate::options::{OptionsError, SuiteOptions, Surroundings, spelled};
use crate::recipe::{CompletedStep, Recipe, StepPlan, settings};
use crate::result::IoResult;
use crate::step::{Descriptor, FileAccess, FileSpec, Step, Worker};

/// Maximum 99th percentile of flushes by etcd's documentation.
const ETCD_P99: Span = Span::from_millis(10);

/// The log whose writes are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WalPreset {
    /// 8 kB by each `wal_sync_method`, as in `pg_test_fsync`
    Postgresql,
    /// Redo of multiples of 512 bytes, and pages of 16 kB with their doublewrite
    Innodb,
    /// Redo of 512 bytes to 1 MB, direct and synchronous
    Oracle,
    /// Appends of 2300 bytes, each with an fdatasync; judged by etcd's limit of 10 ms for the 99th percentile
    Etcd,
}

/// Options of walfsync.
#[derive(Clone, Debug, clap::Args)]
pub struct WalfsyncOptions {
    /// Database whose log is emulated
    #[arg(long, value_enum, default_value_t = WalPreset::Postgresql)]
    pub preset: WalPreset,
    /// Duration of each method
    #[arg(long = "measure", value_name = "TIME", default_value = "5s")]
    pub span: Span,
    /// Size of the file
    #[arg(long = "size", value_name = "SIZE", default_value = "16MiB")]
    pub file: Bytes,
}

impl SuiteOptions for WalfsyncOptions {
    fn recipe(&self, _surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, OptionsError> {
        Ok(Box::new(Walfsync::new(self.clone(), facts)?))
    }
}

/// Options without a measurable log.
#[rustfmt::skip]
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
enum WalfsyncError {
    #[error("a log of {0} is too small or uneven: give whole MiB, at least 2MiB")] Size(Bytes),
    #[error("each method needs some time: give 1s or more")] Time,
}

/// Durable writes of a log by several methods.
#[derive(Debug)]
pub struct Walfsync {
    options: WalfsyncOptions,
    headings: Vec<Vec<String>>,
    cases: Vec<Case>,
    /// Steps by the index of their case; `None` for the step that fills the file.
    plan: StepPlan<Option<usize>>,
}

impl Walfsync {
    /// The recipe on a ground with these facts.
    ///
    /// # Errors
    /// A file that is too small, insufficient space, or a target that may not be written.
    pub fn new(options: WalfsyncOptions, facts: &Facts) -> Result<Self, OptionsError> {
        if options.file < Bytes::mib(2) || !options.file.get().is_multiple_of(1 << 20) {
            return Err(WalfsyncError::Size(options.file).into());
        }
        if options.span.is_zero() {
            return Err(WalfsyncError::Time.into());
        }
        check_writable(facts, options.file)?;
        let (headings, cases) = build_cases(options.preset);
        let fill = Step::fill("Fill", options.file, FileAccess::buffered(), |_| {});
        let possible = cases.iter().enumerate().filter(|(_, case)| case.missing(facts).is_none());
        let step = |(index, case): (usize, &Case)| {
            (Some(index), case.step(step_name(&cases, case), options.file, options.span))
        };
        let plan = std::iter::once((None, fill)).chain(possible.map(step)).collect();
        Ok(Self { options, headings, cases, plan })
    }

    fn rows(&self, done: &[CompletedStep]) -> Vec<SyncRow> {
        let row = |(index, case): (usize, &Case)| {
            let completed = self.plan.done(done).find(|(planned, _)| **planned == Some(index));
            let observed = completed.and_then(|(_, done)| done.result.io());
            SyncRow {
                group: case.group,
                label: case.label.clone(),
                got: observed.map(|observed| read_result(case, observed)),
            }
        };
        self.cases.iter().enumerate().map(row).collect()
    }

    /// The result of the first case that matches.
    fn find<'a>(&self, rows: &'a [SyncRow], is_selected: impl Fn(&Case) -> bool) -> Option<&'a CaseResult> {
        let place = self.cases.iter().position(is_selected)?;
        rows[place].got.as_ref().filter(|got| got.operations > 0.0)
    }
}

fn read_result(case: &Case, observed: &IoResult) -> CaseResult {
    let total = observed.total();
    let is_write = |kind: Kind| matches!(kind, Kind::Write | Kind::DurableWrite);
    let writes: u64 =
        total.0.iter().filter(|counter| is_write(counter.kind)).map(plimsoll_record::Counter::operations).sum();
    let durable = total.response_where(|counter| match case.method.durable() {
        Kind::Flush => counter.kind == Kind::Flush,
        _ => is_write(counter.kind),
    });
    CaseResult {
        operations: writes as f64 / f64::from(case.writes),
        span: observed.span(),
        bytes: total.bytes(),
        durable,
    }
}

impl Recipe for Walfsync {
    fn name(&self) -> &'static str {
        "walfsync"
    }

    fn follows(&self) -> String {
        match self.options.preset {
            WalPreset::Postgresql => "pg_test_fsync of PostgreSQL 15",
            WalPreset::Innodb => "pg_test_fsync, with the writes of InnoDB",
            WalPreset::Oracle => "pg_test_fsync, with the redo writes of Oracle",
            WalPreset::Etcd => "the disk test of etcd's documentation",
        }
        .into()
    }

    fn settings(&self) -> Vec<(String, String)> {
        settings([
            ("preset", spelled(&self.options.preset)),
            ("span", self.options.span.to_string()),
            ("file", self.options.file.to_string()),
        ])
    }

    fn files(&self) -> Vec<FileSpec> {
        vec![FileSpec::reserved(self.options.file)]
    }

    fn steps(&self) -> &[Step] {
        &self.plan.steps
    }

    fn listings(&self, done: &[CompletedStep], facts: &Facts) -> Vec<Listing> {
        let rows = self.rows(done);
        let direct = if facts.has_cache() {
            "O_DIRECT supported on this platform for open_datasync and open_sync."
        } else {
            "Without a page cache, synchronous writes are durable writes."
        };
        vec![
            Listing {
                title: spelled(&self.options.preset),
                text: table(self.options.span, &self.headings, &rows, direct),
            },
            Listing { title: "percentiles".into(), text: percentiles(&self.headings, &rows) },
        ]
    }

    fn verdicts(&self, done: &[CompletedStep], facts: &Facts) -> Vec<Verdict> {
        let rows = self.rows(done);
        let preset = match self.options.preset {
            WalPreset::Postgresql => self.fastest(&rows, facts),
            WalPreset::Innodb => self.twice(&rows),
            WalPreset::Oracle => redo_verdict(&rows),
            WalPreset::Etcd => etcd_verdict(&rows),
        };
        let mut verdicts: Vec<Verdict> = preset.into_iter().map(Verdict::from).collect();
        let commit = self.find(&rows, |case| case.method != Method::Plain && case.method != Method::Writethrough);
        let flushed = self.find(&rows, |case| case.method == Method::Fdatasync).or(commit);
        let plain = self.find(&rows, |case| case.method == Method::Plain);
        verdicts.extend(flushed.and_then(|flushed| flush_verdict(flushed, plain, facts)));
        let other = self.find(&rows, |case| case.method == Method::CloseFsync);
        let own = self.find(&rows, |case| case.method == Method::FsyncClose);
        verdicts.extend(own.zip(other).map(|(own, other)| descriptors(own, other).into()));
        for (case, missing) in self.cases.iter().filter_map(|case| Some((case, case.missing(facts)?))) {
            let verdict = WalVerdict::CaseUnavailable { case: case.label.trim().into(), missing }.into();
            if !verdicts.contains(&verdict) {
                verdicts.push(verdict);
            }
        }
        verdicts
    }
}

impl Walfsync {
    /// The fastest method for a single write, unless its advantage is within the variation of runs, or the methods are
    /// the same operation.
    fn fastest(&self, rows: &[SyncRow], facts: &Facts) -> Option<WalVerdict> {
        const ADVANTAGE: f64 = 1.05;
        let one = rows.iter().filter(|row| row.group == 0);
        let rated = one.filter_map(|row| Some((row.label.as_str(), row.got.as_ref()?.rate())));
        // Of equal methods the first, which is preferred.
        let (label, per_second) = rated.reduce(|best, other| if other.1 > best.1 { other } else { best })?;
        let default_per_second = self.find(rows, |case| case.method == Method::Fdatasync)?.rate();
        let method = label.to_owned();
        Some(if !facts.has_cache() {
            WalVerdict::CommitsWithoutPageCache { flushed_per_second: default_per_second, method, per_second }
        } else if per_second < ADVANTAGE * default_per_second {
            WalVerdict::DefaultSyncMethod { per_second: default_per_second }
        } else {
            WalVerdict::SyncMethod { method, per_second, default_per_second }
        })
    }

    fn twice(&self, rows: &[SyncRow]) -> Option<WalVerdict> {
        let redo = self.find(rows, |case| case.method == Method::Fsync)?;
        let pages = |writes| self.find(rows, |case| case.method == Method::DirectFsync && case.writes == writes);
        Some(WalVerdict::InnodbCommits {
            per_second: redo.rate(),
            p99: redo.durable.quantile(0.99)?,
            pages_per_second: pages(1)?.rate(),
            doublewrites_per_second: pages(2)?.rate(),
        })
    }
}

/// A unique name: the same method occurs with a single write and with two, and the same size in two groups.
fn step_name(cases: &[Case], case: &Case) -> String {
    let label = case.label.trim();
    let alike = || cases.iter().filter(|other| other.label.trim() == label);
    match alike().next().filter(|_| alike().count() > 1) {
        None => label.to_owned(),
        Some(first) if first.writes == case.writes && first.group < case.group => format!("{label}, again"),
        Some(_) => format!("{label}, {} x {}", case.writes, Bytes::new(case.size.into())),
    }
}

fn redo_verdict(rows: &[SyncRow]) -> Option<WalVerdict> {
    let measured = rows.iter().filter_map(|row| Some((row.label.as_str(), row.got.as_ref()?)));
    let (small, first) = measured.clone().find(|(_, got)| got.operations > 0.0)?;
    let rate = |got: &CaseResult| got.bytes as f64 / got.span.as_secs_f64().max(1e-9);
    let (large, fastest) = measured.max_by(|a, b| rate(a.1).total_cmp(&rate(b.1)))?;
    Some(WalVerdict::RedoWrites {
        smallest: small.into(),
        median: first.durable.quantile(0.5)?,
        p99: first.durable.quantile(0.99)?,
        fastest: large.into(),
        bytes_per_second: rate(fastest),
    })
}

fn etcd_verdict(rows: &[SyncRow]) -> Option<WalVerdict> {
    let p99 = rows.first()?.got.as_ref()?.durable.quantile(0.99)?;
    Some(WalVerdict::EtcdFsync { p99, limit: ETCD_P99 })
}

/// Method of durability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// The file is opened with `O_DIRECT` and `O_DSYNC`.
    OpenDatasync,
    /// The file is opened with `O_DSYNC`, through the page cache.
    Dsync,
    /// `fdatasync` after the write.
    Fdatasync,
    /// `fsync` after the write.
    Fsync,
    /// `fsync` after a direct write.
    DirectFsync,
    /// `F_FULLFSYNC` of another operating system.
    Writethrough,
    /// The file is opened with `O_DIRECT` and `O_SYNC`.
    OpenSync,
    /// `fsync`, after which the file is closed and opened again.
    FsyncClose,
    /// The file is closed and opened again, and flushed by `fsync` on the new descriptor.
    CloseFsync,
    /// No flush.
    Plain,
}

impl Method {
    const fn is_direct(self) -> bool {
        matches!(self, Self::OpenDatasync | Self::OpenSync | Self::DirectFsync)
    }

    /// Whether the method opens the file again.
    const fn reopens(self) -> bool {
        matches!(self, Self::FsyncClose | Self::CloseFsync)
    }

    const fn flushes(self) -> bool {
        matches!(self, Self::Fdatasync | Self::Fsync | Self::DirectFsync | Self::FsyncClose | Self::CloseFsync)
    }

    /// The kind of operation after which the data are durable.
    const fn durable(self) -> Kind {
        if self.flushes() { Kind::Flush } else { Kind::Write }
    }

    const fn measures(self) -> StepQuantity {
        match self {
            Self::Plain => StepQuantity::PageCacheWrites,
            Self::OpenDatasync | Self::OpenSync | Self::Dsync => StepQuantity::DurableWrites,
            Self::FsyncClose => StepQuantity::WriteFlushReopen,
            Self::CloseFsync => StepQuantity::FlushOfOtherDescriptor,
            _ => StepQuantity::WriteAndFlush,
        }
    }
}

/// Position of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WritePosition {
    /// Always at the start of the file.
    Start,
    /// Sequential, wrapping at the end of the file.
    Appended,
}

/// A line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Case {
    /// Index of its heading.
    group: usize,
    /// Its label.
    label: String,
    method: Method,
    /// Size of a write in bytes.
    size: u32,
    /// Writes per operation of the table.
    writes: u32,
    /// Writes per flush.
    flush_every: u32,
    place: WritePosition,
}

impl Case {
    fn new(group: usize, label: impl Into<String>, method: Method, size: u32, writes: u32) -> Self {
        Self { group, label: label.into(), method, size, writes, flush_every: writes, place: WritePosition::Start }
    }

    fn appended(self) -> Self {
        Self { place: WritePosition::Appended, ..self }
    }

    /// Feature without which it is impossible on this ground, if any.
    fn missing(&self, facts: &Facts) -> Option<MissingFeature> {
        if self.method == Method::Writethrough {
            return Some(MissingFeature::SystemCall);
        }
        if self.method.reopens() && !facts.has_cache() {
            return Some(MissingFeature::Files);
        }
        let off_grid = self.method.is_direct() && !u64::from(self.size).is_multiple_of(facts.grid);
        if off_grid {
            return Some(MissingFeature::SmallBlocks);
        }
        (self.method == Method::Plain && !facts.has_cache()).then_some(MissingFeature::PageCache)
    }

    /// Step of duration `span` in a file of `file` bytes.
    fn step(&self, name: String, file: Bytes, span: Span) -> Step {
        let used = match self.place {
            WritePosition::Start => Bytes::new(u64::from(self.size) * u64::from(self.writes)),
            WritePosition::Appended => file,
        };
        let lane = LaneSpec { align: 1, ..LaneSpec::new(self.size, Pattern::Sequential) };
        let flush_every = if self.method.flushes() { self.flush_every } else { 0 };
        let job =
            JobSpec { flush_every, ..JobSpec::new(WorkerOps::Writes, lane, Region::first(used), Until::span(span)) };
        let access = FileAccess {
            engine: Engine::Inline,
            direct: self.method.is_direct(),
            opened: match self.method {
                Method::OpenDatasync | Method::Dsync => SyncMode::Dsync,
                Method::OpenSync => SyncMode::Sync,
                _ => SyncMode::None,
            },
            flush: if self.method == Method::Fdatasync { Flush::Fdatasync } else { Flush::Fsync },
            descriptor: match self.method {
                Method::FsyncClose => Descriptor::Reopened,
                Method::CloseFsync => Descriptor::Another,
                _ => Descriptor::Retained,
            },
            ..FileAccess::buffered()
        };
        let step = Step::io(name, vec![Worker::new(job, 0, used, access)]).measuring(self.method.measures());
        step.of_commits(self.writes)
    }
}

/// Headings and cases of a preset.
fn build_cases(preset: WalPreset) -> (Vec<Vec<String>>, Vec<Case>) {
    match preset {
        WalPreset::Postgresql => postgresql(),
        WalPreset::Innodb => innodb(),
        WalPreset::Oracle => oracle(),
        WalPreset::Etcd => etcd(),
    }
}

fn postgresql() -> (Vec<Vec<String>>, Vec<Case>) {
    let preference = "(in wal_sync_method preference order, except fdatasync is Linux's default)";
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let headings = vec![
        lines(&["Compare file sync methods using one 8kB write:", preference]),
        lines(&["Compare file sync methods using two 8kB writes:", preference]),
        lines(&[
            "Compare open_sync with different write sizes:",
            "(This is designed to compare the cost of writing 16kB in different write",
            "open_sync sizes.)",
        ]),
        lines(&[
            "Test if fsync on non-write file descriptor is honored:",
            "(If the times are similar, fsync() can sync data written on a different",
            "descriptor.)",
        ]),
        lines(&["Non-sync'ed 8kB writes:"]),
    ];
    let methods = [
        ("open_datasync", Method::OpenDatasync),
        ("fdatasync", Method::Fdatasync),
        ("fsync", Method::Fsync),
        ("fsync_writethrough", Method::Writethrough),
        ("open_sync", Method::OpenSync),
    ];
    let mut cases: Vec<Case> = (0..2)
        .flat_map(|group| methods.map(|(label, method)| Case::new(group, label, method, 8192, group as u32 + 1)))
        .collect();
    cases.extend([1, 2, 4, 8, 16].map(|count| {
        let plural = if count > 1 { "s" } else { "" };
        let label = format!("{count:2} * {:2}kB open_sync write{plural}", 16 / count);
        Case::new(2, label, Method::OpenSync, 16_384 / count, count)
    }));
    cases.push(Case::new(3, "write, fsync, close", Method::FsyncClose, 8192, 1));
    cases.push(Case::new(3, "write, close, fsync", Method::CloseFsync, 8192, 1));
    cases.push(Case::new(4, "write", Method::Plain, 8192, 1));
    (headings, cases)
}

fn innodb() -> (Vec<Vec<String>>, Vec<Case>) {
    let headings = vec![
        vec!["InnoDB redo log, appended and made durable at each commit:".to_owned()],
        vec!["InnoDB doublewrite buffer and pages of 16kB, made durable one by one:".to_owned()],
        vec!["Redo written at commit and flushed later (innodb_flush_log_at_trx_commit=2):".to_owned()],
    ];
    let sizes = [(512, "512B"), (1024, "1kB"), (4096, "4kB"), (16_384, "16kB")];
    let mut cases: Vec<Case> =
        sizes.map(|(size, word)| Case::new(0, format!("redo {word}, fsync"), Method::Fsync, size, 1).appended()).into();
    cases.push(Case::new(0, "redo 512B, O_DSYNC", Method::Dsync, 512, 1).appended());
    cases.push(Case::new(1, "page 16kB, fsync", Method::Fsync, 16_384, 1).appended());
    cases.push(Case::new(1, "page 16kB, O_DIRECT, fsync", Method::DirectFsync, 16_384, 1).appended());
    let twice = Case::new(1, "doublewrite and page, O_DIRECT", Method::DirectFsync, 16_384, 2);
    cases.push(Case { flush_every: 1, ..twice }.appended());
    cases.push(Case::new(2, "redo 512B", Method::Plain, 512, 1).appended());
    (headings, cases)
}

fn oracle() -> (Vec<Vec<String>>, Vec<Case>) {
    let headings = vec![
        vec!["Redo writes of multiples of 512 bytes, direct and synchronous (log file parallel write):".to_owned()],
        vec!["Redo logs with 4kB blocks (BLOCKSIZE 4096):".to_owned()],
    ];
    let word = |size: u32| if size < 1024 { format!("{size}B") } else { format!("{}kB", size >> 10) };
    let case = |group: usize| {
        move |size: u32| Case::new(group, format!("redo {}", word(size)), Method::OpenDatasync, size, 1).appended()
    };
    let mut cases: Vec<Case> = (9..=20).step_by(1).map(|power| 1 << power).map(case(0)).collect();
    cases.extend([4096, 16_384, 65_536].map(case(1)));
    (headings, cases)
}

fn etcd() -> (Vec<Vec<String>>, Vec<Case>) {
    let headings = vec![vec!["Appends of 2300 bytes, each with fdatasync (etcd WAL):".to_owned()]];
    (headings, vec![Case::new(0, "append 2300B, fdatasync", Method::Fdatasync, 2300, 1).appended()])
}

/// Minimum ratio of the time of a flushed commit to that of a plain write.
const PLAIN_RATIO: f64 = 3.0;
/// Maximum ratio of similar times.
const ALIKE_RATIO: f64 = 1.5;

/// Evidence on flushes from the commit times; `None` for a model, or without figures.
fn flush_verdict(commit: &CaseResult, plain: Option<&CaseResult>, facts: &Facts) -> Option<Verdict> {
    if !matches!(facts.source, Source::Measured { .. }) {
        return None;
    }
    let median = commit.durable.quantile(0.5)?;
    let Durable { least, rotates } = durable(facts);
    let flushed_per_second = commit.rate();
    let plain = plain.map(CaseResult::rate);
    if let Some(plain_per_second) = plain.filter(|plain| flushed_per_second * PLAIN_RATIO > *plain) {
        return Some(WalVerdict::FlushWithoutEffect { flushed_per_second, plain_per_second }.into());
    }
    if median < least {
        return Some(SharedVerdict::FlushNotHonoured { median }.into());
    }
    let write_cache = facts.subject.device.as_ref().and_then(|device| device.write_cache.clone());
    Some(WalVerdict::FlushPlausible { median, rotates, write_cache }.into())
}

/// Whether a flush on another descriptor makes writes durable.
fn descriptors(own: &CaseResult, other: &CaseResult) -> WalVerdict {
    let (own_per_second, other_per_second) = (own.rate(), other.rate());
    let ineffective = other_per_second > own_per_second * ALIKE_RATIO;
    WalVerdict::OtherDescriptor { own_per_second, other_per_second, ineffective }
}

/// A line of the table.
#[derive(Clone, Debug)]
struct SyncRow {
    /// Index of its heading.
    group: usize,
    /// Its label.
    label: String,
    /// Its figures; `None` if it was not measured.
    got: Option<CaseResult>,
}

/// Figures of a line.
#[derive(Clone, Debug)]
struct CaseResult {
    /// Operations of the table, each of one or more writes.
    operations: f64,
    /// Duration.
    span: Span,
    /// Bytes written.
    bytes: u64,
    /// Times of the calls that make data durable.
    durable: Bins,
}

impl CaseResult {
    /// Operations per second.
    fn rate(&self) -> f64 {
        self.operations / self.span.as_secs_f64().max(1e-9)
    }
}

/// The table with its headings.
fn table(span: Span, headings: &[Vec<String>], rows: &[SyncRow], direct: &str) -> String {
    let plural = if span == Span::from_secs(1) { "" } else { "s" };
    let mut text = format!("{} second{plural} per test\n{direct}\n", trimmed(span.as_secs_f64()));
    for (group, heading) in headings.iter().enumerate() {
        text.push('\n');
        for line in heading {
            text.push_str(&format!("{line}\n"));
        }
        for row in rows.iter().filter(|row| row.group == group) {
            text.push_str(&format!("        {:<30}{}\n", row.label, figures(row.got.as_ref())));
        }
    }
    text
}

fn figures(got: Option<&CaseResult>) -> String {
    match got {
        Some(got) if got.operations > 0.0 => {
            let rate = got.rate();
            format!("{rate:13.3} ops/sec  {:6.0} usecs/op", 1e6 / rate)
        }
        _ => format!("{:>21}", "n/a"),
    }
}

/// Seconds, without fraction if integral.
fn trimmed(seconds: f64) -> String {
    let text = format!("{seconds:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Percentiles of the calls that make data durable, in microseconds, and the byte rate.
fn percentiles(headings: &[Vec<String>], rows: &[SyncRow]) -> String {
    let mut text = format!(
        "{:<38}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n",
        "durable call, usecs", "p50", "p90", "p99", "p99.9", "max", "MiB/s"
    );
    for (group, heading) in headings.iter().enumerate() {
        text.push_str(&format!("{}\n", heading.first().map_or("", String::as_str)));
        for row in rows.iter().filter(|row| row.group == group) {
            let Some(got) = row.got.as_ref().filter(|got| !got.durable.is_empty()) else { continue };
            let quantile = |share| got.durable.quantile(share).map_or_else(|| "-".into(), micros);
            text.push_str(&format!("        {:<30}", row.label));
            for share in [0.5, 0.9, 0.99, 0.999] {
                text.push_str(&format!("{:>10}", quantile(share)));
            }
            let rate = got.bytes as f64 / Bytes::mib(1).get() as f64 / got.span.as_secs_f64().max(1e-9);
            text.push_str(&format!("{:>10}{rate:>10.2}\n", micros(Span::from_nanos(got.durable.max_ns))));
        }
    }
    text
}

fn micros(span: Span) -> String {
    format!("{:.1}", span.as_nanos() as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_the_known_columns() {
        let got =
            CaseResult { operations: 12_687.528, span: Span::from_secs(1), bytes: 1 << 20, durable: Bins::default() };
        let rows = [
            SyncRow { group: 0, label: "open_datasync".into(), got: Some(got) },
            SyncRow { group: 0, label: "fsync_writethrough".into(), got: None },
        ];
        let headings = [vec!["Compare:".to_owned(), "(two lines)".to_owned()]];
        let expected = "1 second per test\nDirect.\n\nCompare:\n(two lines)\n        open_datasync                     \
                        12687.528 ops/sec      79 usecs/op\n        fsync_writethrough                              n/a\n";
        assert_eq!(table(Span::from_secs(1), &headings, &rows, "Direct."), expected);
    }
}
