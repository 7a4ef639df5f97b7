//! Observation of running jobs: progress line, intermediate results, and interruption.

use std::collections::BTreeMap;
use std::io::Write;

use plimsoll_drive::{LoopResult, Onward};
use plimsoll_fio::print::SteadyState;
use plimsoll_fio::{Eta, FioCommand, Flags};
use plimsoll_measure::sweep::total_span;
use plimsoll_record::Slice;
use plimsoll_suite::WorkerResult;
use plimsoll_units::{Instant, Span};

use super::plan::{Member, StagePlan};
use super::report::{FioReportInput, Results};
use super::run::{FinishedJob, Ran, RunObserver, Since, onward};
use super::status;
use super::steady::judge;
use crate::console::Console;

/// Observer of running jobs.
pub struct JobObserver<'a> {
    command: &'a FioCommand,
    plan: &'a StagePlan,
    console: &'a mut Console,
    results: &'a mut Results,
    version: &'a str,
    status: status::RunProperties,
    /// Start of the run, and of the current stage.
    since: Since,
    stage: (usize, Span),
    /// Times of the last output: in place, on a new line, results.
    printed: [Span; 3],
    /// Attained steady states by number of the clone.
    steady: BTreeMap<u64, SteadyState>,
}

impl<'a> JobObserver<'a> {
    /// Starts observation.
    pub fn new(
        command: &'a FioCommand,
        plan: &'a StagePlan,
        console: &'a mut Console,
        results: &'a mut Results,
        version: &'a str,
    ) -> Self {
        let status = status::RunProperties::new(plan, &command.jobs);
        let (since, stage, printed) = (Since::now(), (0, Span::ZERO), [Span::ZERO; 3]);
        let steady = BTreeMap::new();
        Self { command, plan, console, results, version, status, since, stage, printed, steady }
    }

    /// True once per interval; resets the interval.
    fn is_time(&mut self, which: usize, every: Span, now: Span) -> bool {
        let is_time = now - self.printed[which].min(now) >= every;
        if is_time {
            self.printed[which] = now;
        }
        is_time
    }

    fn show(&mut self, stage: usize, series: &[Slice], now: Span) {
        let Flags { eta, eta_interval, eta_newline, .. } = self.command.flags;
        if eta == Eta::Never || !self.is_time(0, eta_interval, now) {
            return;
        }
        // In virtual time the series determines the elapsed time.
        let line = self.status.line(stage, series, total_span(series).max(now - self.stage.1.min(now)));
        let stays = eta_newline.is_some_and(|every| self.is_time(1, every, now));
        if stays || (eta == Eta::Always && !self.console.is_live()) {
            self.console.clear();
            // Nothing can be reported if standard error is closed.
            let _ = writeln!(std::io::stderr(), "{line}");
        } else {
            self.console.line(&line);
        }
    }

    /// Prints intermediate results of a running stage.
    fn results(&mut self, before: &Ran, stage: usize, series: &[Slice], now: Span) {
        let Some(every) = self.command.flags.status_interval else { return };
        if !self.is_time(2, every, now) {
            return;
        }
        let course = FioReportInput {
            command: self.command,
            plan: self.plan,
            elapsed_s: now.as_nanos() / 1_000_000_000 + 1,
            version: self.version,
            steady: self.steady.clone(),
        };
        let report = course.report_with(before, stage, &self.partly(stage, series));
        self.console.clear();
        // Write errors are reported at the end.
        let _ = self.results.report(&report);
    }

    /// Stops jobs in a steady state. Jobs with group reporting are judged together.
    fn end_steady(&mut self, stage: usize, series: &[Slice]) {
        let members = &self.plan.stages[stage];
        for (index, member) in members.iter().enumerate() {
            let life = &self.command.jobs[member.job].life;
            let Some(asked) = life.steady_state.filter(|_| !self.steady.contains_key(&member.number)) else { continue };
            let joins = |other: &Member| {
                let told_as_one = life.group_reporting && self.command.jobs[other.job].life.group_reporting;
                other.number == member.number || (told_as_one && other.group == member.group)
            };
            let streams: Vec<usize> =
                members.iter().enumerate().filter(|(_, other)| joins(other)).map(|(place, _)| place).collect();
            let warm = member.worker.begins + member.worker.conduct.counts_from;
            let own = series.iter().filter(|slice| slice.start >= Instant::ZERO + warm).map(|slice| Slice {
                tally: slice.tally.only(|counter| streams.contains(&usize::from(counter.stream))),
                ..slice.clone()
            });
            let own: Vec<Slice> = own.collect();
            if let Some(found) = judge(&asked, &own).filter(|found| found.attained && index < 255) {
                member.worker.conduct.stop.give();
                self.steady.insert(member.number, found);
            }
        }
    }

    /// Attained steady states by number of the clone.
    pub fn into_steady(self) -> BTreeMap<u64, SteadyState> {
        self.steady
    }

    /// Partial results of the workers of a stage.
    fn partly(&self, stage: usize, series: &[Slice]) -> Vec<FinishedJob> {
        let one = |index: usize| {
            let of = |slice: &Slice| {
                let tally = slice.tally.only(|counter| usize::from(counter.stream) == index.min(255));
                Slice { tally, ..slice.clone() }
            };
            let begins = self.plan.stages[stage][index].worker.begins;
            let seen = WorkerResult {
                seen: LoopResult { series: series.iter().map(of).collect(), ..LoopResult::default() },
                began: Instant::ZERO + begins,
                ended: Instant::ZERO + total_span(series),
                ..WorkerResult::default()
            };
            FinishedJob {
                seen,
                started_unix_ms: super::run::unix_ms().saturating_sub(total_span(series).as_nanos() / 1_000_000),
            }
        };
        (0..self.plan.stages[stage].len()).map(one).collect()
    }
}

impl RunObserver for JobObserver<'_> {
    fn observe(&mut self, before: &Ran, stage: usize, series: &[Slice]) -> Onward {
        let now = self.since.elapsed();
        if self.stage.0 != stage {
            self.stage = (stage, now);
        }
        self.show(stage, series, now);
        self.end_steady(stage, series);
        self.results(before, stage, series, now);
        onward(!self.console.interrupted())
    }
}
