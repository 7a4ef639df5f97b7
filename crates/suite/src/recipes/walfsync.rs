//! How fast a log becomes durable, method by method, as `pg_test_fsync` asks it; the same for the logs of others.
//!
//! Knows nothing about databases but what their logs write.

mod case;
mod honesty;
mod print;

use clap::ValueEnum;
use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until, Work};
use plimsoll_record::Listing;
use plimsoll_units::{Bytes, Kind, Span};

use crate::ground::Facts;
use crate::options::{SuiteOptions, Surroundings, defaults, spelled};
use crate::recipe::{Done, Recipe};
use crate::seen::IoSeen;
use crate::step::{Access, FileSpec, Step, Worker};

use case::{Case, Method, cases};
use print::{Got, Row};

/// What etcd's documentation allows the 99th percentile of its flushes.
const ETCD_P99: Span = Span::from_millis(10);

/// The log whose writes are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WalPreset {
    /// 8 kB by each `wal_sync_method`, as `pg_test_fsync` tries them
    Postgresql,
    /// Redo of multiples of 512 bytes, and pages of 16 kB with their doublewrite
    Innodb,
    /// Redo of 512 bytes to 1 MB, direct and synchronous
    Oracle,
    /// Appends of 2300 bytes, each with an fdatasync; 99 % below 10 ms or not
    Etcd,
}

/// Options of walfsync.
#[derive(Clone, Debug, clap::Args)]
pub struct WalfsyncOptions {
    /// Whose log it is
    #[arg(long, value_enum, default_value_t = WalPreset::Postgresql)]
    pub preset: WalPreset,
    /// How long each method is tried
    #[arg(long = "measure", value_name = "TIME", default_value = "5s")]
    pub span: Span,
    /// Size of the file
    #[arg(long = "size", value_name = "SIZE", default_value = "16MiB")]
    pub file: Bytes,
}

impl Default for WalfsyncOptions {
    fn default() -> Self {
        defaults()
    }
}

impl SuiteOptions for WalfsyncOptions {
    fn recipe(&self, _surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        Ok(Box::new(Walfsync::new(self.clone(), facts)?))
    }
}

/// Methods to make a log durable.
#[derive(Debug)]
pub struct Walfsync {
    options: WalfsyncOptions,
    headings: Vec<Vec<String>>,
    cases: Vec<Case>,
    /// Cases that can be done here, in the order of their steps.
    planned: Vec<usize>,
}

impl Walfsync {
    /// Its steps on a ground with these facts.
    ///
    /// # Errors
    /// What to say instead, in one line: a file that is too small, too little space, a place that may not be written to.
    pub fn new(options: WalfsyncOptions, facts: &Facts) -> Result<Self, String> {
        if options.file < Bytes::mib(2) || !options.file.get().is_multiple_of(1 << 20) {
            return Err(format!("a log of {} is too small or uneven: give whole MiB, at least 2MiB", options.file));
        }
        if options.span.is_zero() {
            return Err("each method needs some time: give 1s or more".into());
        }
        if facts.read_only {
            let name = &facts.subject.name;
            return Err(format!("{name}: a log is written: name it with --destroy too, if its data may be lost"));
        }
        if options.file > facts.space {
            return Err(format!("the file takes {}, and {} are there: give --size less", options.file, facts.space));
        }
        let (headings, cases) = cases(options.preset);
        let planned = (0..cases.len()).filter(|index| cases[*index].refused(facts).is_none()).collect();
        Ok(Self { options, headings, cases, planned })
    }

    /// Random data in the whole file, as they are before the first method.
    fn fill(&self) -> Step {
        let lane = LaneSpec::new(1 << 20, Pattern::Sequential);
        let (size, until) = (self.options.file, Until::bytes(self.options.file.get()));
        let job = JobSpec { flush_at_end: true, ..JobSpec::new(Work::Writes, lane, Region::first(size), until) };
        Step::io("Fill", vec![Worker::new(job, 0, size, Access::buffered())]).uncounted()
    }

    fn rows(&self, done: &[Done]) -> Vec<Row> {
        let row = |(index, case): (usize, &Case)| {
            // The file is filled first.
            let place = self.planned.iter().position(|planned| *planned == index);
            let seen = place.and_then(|place| done.get(place + 1)).and_then(|done| done.seen.io());
            Row { group: case.group, label: case.label.clone(), got: seen.map(|seen| got(case, seen)) }
        };
        self.cases.iter().enumerate().map(row).collect()
    }

    /// What was got by the first case of a method in a group.
    fn find<'a>(&self, rows: &'a [Row], wanted: impl Fn(&Case) -> bool) -> Option<&'a Got> {
        let place = self.cases.iter().position(wanted)?;
        rows[place].got.as_ref().filter(|got| got.operations > 0.0)
    }
}

fn got(case: &Case, seen: &IoSeen) -> Got {
    let total = seen.total();
    let is_write = |kind: Kind| matches!(kind, Kind::Write | Kind::DurableWrite);
    let writes: u64 =
        total.0.iter().filter(|counter| is_write(counter.kind)).map(plimsoll_record::Counter::operations).sum();
    let durable = total.response_where(|counter| match case.method.durable() {
        Kind::Flush => counter.kind == Kind::Flush,
        _ => is_write(counter.kind),
    });
    Got { operations: writes as f64 / f64::from(case.writes), span: seen.span(), bytes: total.bytes(), durable }
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
        [
            ("preset", spelled(&self.options.preset)),
            ("span", self.options.span.to_string()),
            ("file", self.options.file.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    fn files(&self) -> Vec<FileSpec> {
        vec![FileSpec::reserved(self.options.file)]
    }

    fn expected(&self) -> usize {
        self.planned.len() + 1
    }

    fn next(&mut self, done: &[Done], _facts: &Facts) -> Option<Step> {
        let Some(place) = done.len().checked_sub(1) else { return Some(self.fill()) };
        let case = &self.cases[*self.planned.get(place)?];
        Some(case.step(self.step_name(case), self.options.file, self.options.span))
    }

    fn listings(&self, done: &[Done], facts: &Facts) -> Vec<Listing> {
        let rows = self.rows(done);
        let direct = if facts.has_cache() {
            "O_DIRECT supported on this platform for open_datasync and open_sync."
        } else {
            "There is no page cache here: a synchronous write is a durable one."
        };
        vec![
            Listing {
                title: spelled(&self.options.preset),
                text: print::table(self.options.span, &self.headings, &rows, direct),
            },
            Listing { title: "percentiles".into(), text: print::percentiles(&self.headings, &rows) },
        ]
    }

    fn verdicts(&self, done: &[Done], facts: &Facts) -> Vec<String> {
        let rows = self.rows(done);
        let mut said = Vec::new();
        said.extend(match self.options.preset {
            WalPreset::Postgresql => self.fastest(&rows),
            WalPreset::Innodb => self.twice(&rows),
            WalPreset::Oracle => redo(&rows),
            WalPreset::Etcd => etcd(&rows),
        });
        let commit = self.find(&rows, |case| case.method != Method::Plain && case.method != Method::Writethrough);
        let flushed = self.find(&rows, |case| case.method == Method::Fdatasync).or(commit);
        let plain = self.find(&rows, |case| case.method == Method::Plain);
        said.extend(flushed.and_then(|flushed| honesty::verdict(flushed, plain, facts)));
        let other = self.find(&rows, |case| case.method == Method::CloseFsync);
        let own = self.find(&rows, |case| case.method == Method::FsyncClose);
        said.extend(own.zip(other).map(|(own, other)| honesty::descriptors(own, other)));
        for (case, why) in self.cases.iter().filter_map(|case| Some((case, case.refused(facts)?))) {
            let sentence = format!("{}: n/a, {why}", case.label.trim());
            if !said.contains(&sentence) {
                said.push(sentence);
            }
        }
        said
    }
}

impl Walfsync {
    /// A name that no other case has: one method is tried with one write and with two, and one size in two groups.
    fn step_name(&self, case: &Case) -> String {
        let label = case.label.trim();
        let alike = || self.cases.iter().filter(|other| other.label.trim() == label);
        match alike().next().filter(|_| alike().count() > 1) {
            None => label.to_owned(),
            Some(first) if first.writes == case.writes && first.group < case.group => format!("{label}, again"),
            Some(_) => format!("{label}, {} x {}", case.writes, Bytes::new(case.size.into())),
        }
    }

    /// The method that is fastest for one write.
    fn fastest(&self, rows: &[Row]) -> Option<String> {
        let one = rows.iter().filter(|row| row.group == 0);
        let rated = one.filter_map(|row| Some((row.label.as_str(), row.got.as_ref()?.rate())));
        // Of two that are as fast the one that is preferred, which is the first.
        let (label, best) = rated.reduce(|best, other| if other.1 > best.1 { other } else { best })?;
        let usual = self.find(rows, |case| case.method == Method::Fdatasync)?.rate();
        let said = if label == "fdatasync" {
            format!(
                "wal_sync_method = fdatasync, the default, is the fastest: {best:.0} commits a second of one session"
            )
        } else {
            format!(
                "wal_sync_method = {label} is the fastest: {best:.0} commits a second of one session, {:.2} times the \
                 default's",
                best / usual
            )
        };
        Some(said + "; sessions that commit together share a flush, so that more of them commit more")
    }

    fn twice(&self, rows: &[Row]) -> Option<String> {
        let page = self.find(rows, |case| case.method == Method::DirectFsync && case.writes == 1)?.rate();
        let twice = self.find(rows, |case| case.method == Method::DirectFsync && case.writes == 2)?.rate();
        let redo = self.find(rows, |case| case.method == Method::Fsync)?;
        Some(format!(
            "one session commits {:.0} times a second (redo 512B, fsync; {} p99); a page costs {:.2} times as much with \
             its doublewrite as alone, where each is flushed by itself",
            redo.rate(),
            redo.durable.quantile(0.99)?,
            page / twice
        ))
    }
}

fn redo(rows: &[Row]) -> Option<String> {
    let measured = rows.iter().filter_map(|row| Some((row.label.as_str(), row.got.as_ref()?)));
    let (small, first) = measured.clone().find(|(_, got)| got.operations > 0.0)?;
    let rate = |got: &Got| got.bytes as f64 / 1e6 / got.span.as_secs_f64().max(1e-9);
    let (large, fastest) = measured.max_by(|a, b| rate(a.1).total_cmp(&rate(b.1)))?;
    Some(format!(
        "log file parallel write takes {} (median) and {} (p99) for {small}; the log writer reaches {:.1} MB/s at \
         most, with {large}",
        first.durable.quantile(0.5)?,
        first.durable.quantile(0.99)?,
        rate(fastest)
    ))
}

fn etcd(rows: &[Row]) -> Option<String> {
    let tail = rows.first()?.got.as_ref()?.durable.quantile(0.99)?;
    let judged = if tail < ETCD_P99 { "below" } else { "not below" };
    let end = if tail < ETCD_P99 { "" } else { ": leaders will be lost under load" };
    Some(format!("99 % of the fdatasync calls took at most {tail}, {judged} the {ETCD_P99} that etcd asks for{end}"))
}
