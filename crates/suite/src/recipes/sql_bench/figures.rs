//! Seconds per section, measured and extrapolated: tables, published figures, and conclusions.
//!
//! Three figures show whether commits reached the storage: their duration, the log flushes counted by the server, and
//! the flushes of the device.

use plimsoll_record::{BenchNote, CpuTime, FlushCounts, SharedVerdict, SqlBenchVerdict, TestShare, Verdict};
use plimsoll_units::Span;

use super::create::MANY;
use super::section::{BenchSection, Counting};
use super::{SqlBenchOptions, SqlBenchTest};
use crate::ground::Facts;
use crate::recipe::CompletedStep;
use crate::recipes::commits::{Durable, durable};
use crate::sql::StatementsResult;
use crate::step::Work;

#[derive(Clone, Debug)]
pub(super) struct SectionFigure<'a> {
    pub(super) test: SqlBenchTest,
    pub(super) name: &'static str,
    /// Deviation from the definition, if any.
    pub(super) note: Option<BenchNote>,
    /// Operations at full counts.
    pub(super) full: u64,
    pub(super) outcome: SectionOutcome<'a>,
}

#[derive(Clone, Debug)]
pub(super) enum SectionOutcome<'a> {
    Run(SectionRun<'a>),
    /// Not executed, with the reason.
    Not(&'static str),
}

#[derive(Clone, Debug)]
pub(super) struct SectionRun<'a> {
    pub(super) requested: u64,
    /// Executed operations: fewer if the time limit was reached.
    pub(super) done: u64,
    pub(super) observed: &'a StatementsResult,
}

impl<'a> SectionFigure<'a> {
    /// The figure of a section and its step; `None` for a preparation.
    pub(super) fn of(test: SqlBenchTest, section: &BenchSection, completed: Option<&'a CompletedStep>) -> Option<Self> {
        let (full, outcome) = match section.counting {
            Counting::Preparation => return None,
            Counting::Figure { full, at_once } => (full, select_outcome(at_once, completed)),
        };
        Some(Self { test, name: section.name, note: section.note, full, outcome })
    }

    pub(super) fn run(&self) -> Option<&SectionRun<'a>> {
        if let SectionOutcome::Run(run) = &self.outcome { Some(run) } else { None }
    }

    /// Extrapolated seconds for the full count; `None` without executions.
    pub(super) fn full_seconds(&self) -> Option<f64> {
        Some(self.run()?.each()? * self.full as f64)
    }

    /// Whether it was executed with its full count.
    pub(super) fn is_full(&self) -> bool {
        self.run().is_some_and(|run| run.done >= self.full)
    }
}

fn select_outcome(at_once: u64, completed: Option<&CompletedStep>) -> SectionOutcome<'_> {
    let observed = completed.and_then(|done| match (&done.step.work, done.result.statements()) {
        (Work::Statements(step), Some(observed)) => Some((step, observed)),
        _ => None,
    });
    match observed {
        Some((step, observed)) => {
            SectionOutcome::Run(SectionRun { requested: step.count * at_once, done: observed.done * at_once, observed })
        }
        None => SectionOutcome::Not("nothing to execute, because an earlier section was not completed"),
    }
}

impl SectionRun<'_> {
    /// Seconds per operation.
    fn each(&self) -> Option<f64> {
        (self.done > 0).then(|| self.observed.span.as_secs_f64() / self.done as f64)
    }

    /// Whether the time limit was reached first.
    pub(super) const fn is_extrapolated(&self) -> bool {
        self.done < self.requested
    }

    /// Extrapolation factor from executed to requested operations.
    fn stretch(&self) -> f64 {
        if self.done == 0 { 1.0 } else { self.requested as f64 / self.done as f64 }
    }

    /// Seconds for all requested operations, extrapolated.
    pub(super) fn seconds(&self) -> f64 {
        self.observed.span.as_secs_f64() * self.stretch()
    }

    /// Processor time of this program in seconds for all requested operations, extrapolated: user and system.
    pub(super) fn cpu(&self) -> [f64; 2] {
        let CpuTime { user, system } = self.observed.client;
        [user, system].map(|span| span.as_secs_f64() * self.stretch())
    }
}

const TITLE: &str = "sql-bench on SATA disk, SSD and ioDrive of rented servers, seconds";
const SOURCE: &str = "published: Sakura's dedicated server, part 4: checking the speed of SSD and ioDrive (Japanese), about 2013, table 10";

/// Column titles in two lines: storage, and memory of the server.
const COLUMNS: [[&str; 2]; 4] = [["SATA", "512 MB"], ["SSD", "512 MB"], ["ioDrive", "512 MB"], ["SATA", "16 GB"]];

/// Seconds of a test, by column.
const fn published_seconds(test: SqlBenchTest) -> [u32; 4] {
    match test {
        SqlBenchTest::Atis => [9, 9, 10, 8],
        SqlBenchTest::AlterTable => [2, 11, 10, 3],
        SqlBenchTest::BigTables => [6, 7, 7, 7],
        SqlBenchTest::Connect => [61, 61, 55, 61],
        SqlBenchTest::Create => [34, 1060, 1031, 53],
        SqlBenchTest::Insert => [410, 411, 426, 444],
        SqlBenchTest::Select => [146, 143, 142, 140],
        SqlBenchTest::Wisconsin => [2, 4, 5, 3],
    }
}

/// Minimum flushes per statement for a statement to count as flushed.
const FLUSHED: f64 = 0.5;
/// Shares of flush time above which a test is limited by flushes, and below which it is not.
const HIGH_FLUSH_SHARE: f64 = 0.5;
const LOW_FLUSH_SHARE: f64 = 0.1;

/// Median time of a statement, and its flushes.
fn count_flushes(observed: &StatementsResult) -> Option<(Span, FlushCounts)> {
    let each = |flushes: u64| flushes as f64 / observed.done as f64;
    let median = observed.each.quantile(0.5).filter(|_| observed.done > 0)?;
    let (server, device) = (observed.counted.log_flushes, observed.storage.disk.as_ref().map(|disk| disk.flushes));
    Some((median, FlushCounts { server: server.map(each), device: device.map(each) }))
}

/// Verdicts on commits and the figures that depend on them.
pub(super) fn verdicts(
    commits: Option<&StatementsResult>,
    figures: &[SectionFigure<'_>],
    facts: &Facts,
) -> Vec<Verdict> {
    let mut found: Vec<Verdict> = Vec::new();
    if let Some((commits, (median, flushes))) =
        commits.and_then(|commits| Some((commits.done, count_flushes(commits)?)))
    {
        found.push(SqlBenchVerdict::RowCommit { median, commits, flushes }.into());
        found.push(durability(median, flushes, facts));
    }
    let by_flushes = commits.and_then(|observed| shares(observed, figures));
    found.extend(tables(figures).into_iter().chain(by_flushes).map(Verdict::from));
    found
}

/// Whether commits reached the storage, as far as known.
fn durability(median: Span, flushes: FlushCounts, facts: &Facts) -> Verdict {
    let about = facts.database.as_ref().map(|(_, about)| about);
    let durable_setting = about.and_then(|about| about.durable);
    let Durable { least, rotates } = durable(facts);
    if durable_setting == Some(false) {
        return SqlBenchVerdict::FlushesDisabled.into();
    }
    if flushes.server.is_some_and(|flushes| flushes < FLUSHED) {
        return SqlBenchVerdict::FewServerFlushes.into();
    }
    if median < least {
        return SharedVerdict::FlushNotHonoured { median }.into();
    }
    match flushes.device {
        Some(flushes) if flushes < FLUSHED => {
            let write_cache = facts.subject.device.as_ref().and_then(|device| device.write_cache.clone());
            SqlBenchVerdict::DeviceNotFlushed { durable: durable_setting, write_cache }
        }
        Some(_) => SqlBenchVerdict::DeviceFlushed { durable: durable_setting, rotates },
        None => SqlBenchVerdict::DeviceFlushesUnknown { durable: durable_setting, rotates },
    }
    .into()
}

/// Cost of the tables of the test create.
fn tables(figures: &[SectionFigure<'_>]) -> Option<SqlBenchVerdict> {
    let created = figures.iter().find(|figure| figure.test == SqlBenchTest::Create && figure.name == MANY)?;
    let run = created.run()?;
    let (median, flushes) = count_flushes(run.observed)?;
    let per_second = run.done as f64 / run.observed.span.as_secs_f64().max(1e-9);
    Some(SqlBenchVerdict::TableCreation { median, per_second, flushes })
}

/// Tests limited by flushes.
fn shares(commits: &StatementsResult, figures: &[SectionFigure<'_>]) -> Option<SqlBenchVerdict> {
    let counted = commits.counted.log_flushes?;
    if (counted as f64) < commits.done as f64 * FLUSHED {
        return None;
    }
    let one = commits.span.as_secs_f64() / counted as f64;
    let [mut flushing, mut both, mut processors] = [const { Vec::new() }; 3];
    for test in SqlBenchTest::ALL {
        let runs: Vec<&SectionRun<'_>> =
            figures.iter().filter(|figure| figure.test == test).filter_map(|figure| figure.run()).collect();
        let seconds: f64 = runs.iter().map(|run| run.observed.span.as_secs_f64()).sum();
        let flushed: f64 = runs.iter().map(|run| flush_seconds(run.observed, one)).sum();
        if seconds > 0.0 {
            let share = flushed / seconds;
            let group = match share {
                share if share > HIGH_FLUSH_SHARE => &mut flushing,
                share if share < LOW_FLUSH_SHARE => &mut processors,
                _ => &mut both,
            };
            group.push(TestShare { test: test.name().into(), share });
        }
    }
    Some(SqlBenchVerdict::FlushShares { flushing, both, processors })
}

/// Seconds of flushes: as timed by the server; if only counted, `one` each, the time of a commit with little other
/// work. At least the flush time of the device, which includes flushes of other files.
fn flush_seconds(observed: &StatementsResult, one: f64) -> f64 {
    let timed = observed.counted.log_flush_time.map(Span::as_secs_f64);
    let of_log = timed.or_else(|| Some(observed.counted.log_flushes? as f64 * one)).unwrap_or(0.0);
    let of_device = observed.storage.disk.as_ref().map_or(0.0, |disk| disk.flush_time.as_secs_f64());
    of_log.max(of_device).min(observed.span.as_secs_f64())
}

/// Sums of seconds and processor time.
#[derive(Clone, Copy, Debug, Default)]
struct TimeSum {
    seconds: f64,
    cpu: [f64; 2],
    operations: u64,
    /// Seconds for full counts; `None` if a part is unknown.
    full: Option<f64>,
    is_extrapolated: bool,
    is_wrong: bool,
}

impl TimeSum {
    fn of<'a>(figures: impl Iterator<Item = &'a SectionFigure<'a>>) -> Self {
        let mut sum = Self { full: Some(0.0), ..Self::default() };
        for figure in figures {
            let Some(run) = figure.run() else {
                sum.full = None;
                continue;
            };
            let [user, system] = run.cpu();
            sum.seconds += run.seconds();
            sum.cpu = [sum.cpu[0] + user, sum.cpu[1] + system];
            sum.operations += run.requested;
            sum.full = sum.full.zip(figure.full_seconds()).map(|(sum, more)| sum + more);
            sum.is_extrapolated |= run.is_extrapolated();
            sum.is_wrong |= run.observed.wrong > 0;
        }
        sum
    }

    fn marks(&self) -> String {
        let mark = |is, sign| if is { sign } else { "" };
        format!("{}{}", mark(self.is_extrapolated, "+"), mark(self.is_wrong, "?"))
    }

    fn cpu(&self) -> String {
        let [user, system] = self.cpu;
        format!("({user:.2} usr {system:.2} sys = {:.2} CPU)", user + system)
    }
}

/// Integers from 100 on, two decimals below.
fn display(seconds: f64) -> String {
    if seconds >= 99.995 { format!("{seconds:.0}") } else { format!("{seconds:.2}") }
}

fn in_full(seconds: Option<f64>, has_full_size: bool) -> String {
    seconds.filter(|_| has_full_size).map_or_else(|| "-".into(), display)
}

/// A line per section, grouped by test.
pub(super) fn tests(figures: &[SectionFigure<'_>], has_full_size: bool) -> String {
    let mut text = String::new();
    for test in SqlBenchTest::ALL {
        let mine: Vec<&SectionFigure> = figures.iter().filter(|figure| figure.test == test).collect();
        if mine.is_empty() {
            continue;
        }
        text.push_str(&format!("{}Testing {}\n", if text.is_empty() { "" } else { "\n" }, test.name()));
        for figure in &mine {
            text.push_str(&line(figure, has_full_size));
        }
        let sum = TimeSum::of(mine.iter().copied());
        let extrapolation = if mine.iter().all(|figure| figure.is_full()) || !has_full_size {
            String::new()
        } else {
            format!("; at full counts {}, extrapolated", in_full(sum.full, true))
        };
        text.push_str(&format!(
            "Total time: {}{} wallclock secs {}{extrapolation}\n",
            display(sum.seconds),
            sum.marks(),
            sum.cpu()
        ));
    }
    text
}

fn line(figure: &SectionFigure<'_>, has_full_size: bool) -> String {
    let run = match &figure.outcome {
        SectionOutcome::Run(run) => run,
        SectionOutcome::Not(why) => return format!("Time for {}: not run: {why}\n", figure.name),
    };
    let sum = TimeSum::of(std::iter::once(figure));
    let head = if run.is_extrapolated() { "Estimated time for" } else { "Time for" };
    let count = if run.requested == figure.full {
        run.requested.to_string()
    } else {
        format!("{} of {}", run.requested, figure.full)
    };
    let mut text = format!(
        "{head} {} ({count}): {}{} wallclock secs {}",
        figure.name,
        display(sum.seconds),
        sum.marks(),
        sum.cpu()
    );
    if run.is_extrapolated() {
        text.push_str(&format!("; {} were done in {} s", run.done, display(run.observed.span.as_secs_f64())));
    }
    if !figure.is_full() && has_full_size {
        text.push_str(&format!("; at full count {}", in_full(figure.full_seconds(), true)));
    }
    text.push('\n');
    text
}

/// Operations by name, summed over all tests.
pub(super) fn totals(figures: &[SectionFigure<'_>], has_full_size: bool) -> String {
    let mut names: Vec<&str> =
        figures.iter().filter(|figure| figure.run().is_some()).map(|figure| figure.name).collect();
    names.sort_unstable();
    names.dedup();
    let head = ["seconds", "usr", "sys", "cpu", "tests", "full counts"];
    let mut text = format!(
        "{:<36}{:>10}{:>9}{:>9}{:>9}{:>10}{:>13}\n",
        "Operation", head[0], head[1], head[2], head[3], head[4], head[5]
    );
    let row = |name: &str, sum: &TimeSum| {
        let [user, system] = sum.cpu;
        format!(
            "{name:<34}{:<2}{:>10}{user:>9.2}{system:>9.2}{:>9.2}{:>10}{:>13}\n",
            sum.marks(),
            display(sum.seconds),
            user + system,
            sum.operations,
            in_full(sum.full, has_full_size)
        )
    };
    for name in names {
        text.push_str(&row(name, &TimeSum::of(figures.iter().filter(|figure| figure.name == name))));
    }
    text.push_str(&row("TOTALS", &TimeSum::of(figures.iter().filter(|figure| figure.run().is_some()))));
    text.push_str("\n+ extrapolated, as the time of a section was over; ? wrong result\n");
    text.push_str(
        "full counts: seconds that all operations of the benchmark would take, extrapolated from those executed\n",
    );
    text
}

/// The eight tests with published figures.
pub(super) fn beside(figures: &[SectionFigure<'_>], complete: &[SqlBenchTest], has_full_size: bool) -> String {
    let mut text = format!("{TITLE}\n{SOURCE}\n\n");
    for line in 0..2 {
        let ours = [["here,", "here, full"], ["as asked", "counts"]][line];
        text.push_str(&format!("{:<14}{:>11}{:>13}", "", ours[0], ours[1]));
        for column in COLUMNS {
            text.push_str(&format!("{:>10}", column[line]));
        }
        text.push('\n');
    }
    for test in SqlBenchTest::ALL {
        let mine: Vec<&SectionFigure> = figures.iter().filter(|figure| figure.test == test).collect();
        let sum = TimeSum::of(mine.iter().copied());
        let is_complete = complete.contains(&test);
        let got = if is_complete { format!("{}{}", display(sum.seconds), sum.marks()) } else { "-".into() };
        let full = in_full(sum.full.filter(|_| is_complete), has_full_size);
        // Complete execution needs no extrapolation.
        let has_full_counts = mine.iter().all(|figure| figure.is_full());
        let tilde = if full == "-" || has_full_counts { "" } else { "~" };
        text.push_str(&format!("{:<14}{got:>11}{:>13}", test.name(), format!("{tilde}{full}")));
        for seconds in published_seconds(test) {
            text.push_str(&format!("{seconds:>10}"));
        }
        text.push('\n');
    }
    text.push_str("\n~ extrapolated: sections executed a share of their full counts; - not made, or not comparable\n");
    text
}

/// Sections with wrong results.
pub(super) fn wrong(figures: &[SectionFigure<'_>]) -> Vec<SqlBenchVerdict> {
    let runs = figures.iter().filter_map(|figure| Some((figure, figure.run()?)));
    runs.filter(|(_, run)| run.observed.wrong > 0)
        .map(|(figure, run)| SqlBenchVerdict::WrongRows {
            test: figure.test.name().into(),
            section: figure.name.into(),
            wrong: run.observed.wrong,
            done: run.done,
            first: run.observed.first_wrong.clone(),
        })
        .collect()
}

/// Deviations from the definition.
pub(super) fn notes(figures: &[SectionFigure<'_>], options: &SqlBenchOptions) -> Vec<SqlBenchVerdict> {
    let mut found = Vec::new();
    if options.size < 1.0 {
        found.push(SqlBenchVerdict::SmallTables { size: options.size });
    } else if options.scale < 1.0 {
        found.push(SqlBenchVerdict::PartialSections { scale: options.scale });
    }
    for (index, figure) in figures.iter().enumerate() {
        let Some(note) = figure.note else { continue };
        if figures[..index].iter().all(|before| before.note != Some(note)) {
            let alike = figures.iter().filter(|other| other.note == Some(note));
            let sections = alike.map(|other| other.name.to_owned()).collect();
            found.push(SqlBenchVerdict::SectionNote { sections, note });
        }
    }
    found
}
