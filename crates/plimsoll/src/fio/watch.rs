//! Who looks on while jobs run: the line that says how far they are, results in between, and the user's wish to end it.

use std::collections::BTreeMap;
use std::io::Write;

use plimsoll_drive::{Onward, Seen};
use plimsoll_fio::print::SteadyState;
use plimsoll_fio::{Command, Eta, Flags};
use plimsoll_record::Slice;
use plimsoll_suite::WorkerResult;
use plimsoll_units::{Instant, Span};

use super::plan::{Member, Plan};
use super::report::{Course, Results};
use super::run::{FinishedJob, Ran, RunObserver, Since, onward};
use super::status;
use super::steady::judge;
use crate::console::Console;
use crate::course::length;

/// A look at jobs that run.
pub struct Watch<'a> {
    command: &'a Command,
    plan: &'a Plan,
    console: &'a mut Console,
    results: &'a mut Results,
    version: &'a str,
    status: status::Course,
    /// The whole run, and the stage that runs.
    since: Since,
    stage: (usize, Span),
    /// When something was said last: in place, in a line of its own, as results.
    said: [Span; 3],
    /// Steady states that were reached, by the number of the copy.
    steady: BTreeMap<u64, SteadyState>,
}

impl<'a> Watch<'a> {
    /// From now on.
    pub fn new(
        command: &'a Command,
        plan: &'a Plan,
        console: &'a mut Console,
        results: &'a mut Results,
        version: &'a str,
    ) -> Self {
        let status = status::Course::new(plan, &command.jobs);
        let (since, stage, said) = (Since::now(), (0, Span::ZERO), [Span::ZERO; 3]);
        let steady = BTreeMap::new();
        Self { command, plan, console, results, version, status, since, stage, said, steady }
    }

    /// True when so much time has passed since the last time; that is now, then.
    fn is_time(&mut self, which: usize, every: Span, now: Span) -> bool {
        let is_time = now - self.said[which].min(now) >= every;
        if is_time {
            self.said[which] = now;
        }
        is_time
    }

    fn show(&mut self, stage: usize, series: &[Slice], now: Span) {
        let Flags { eta, eta_interval, eta_newline, .. } = self.command.flags;
        if eta == Eta::Never || !self.is_time(0, eta_interval, now) {
            return;
        }
        // In virtual time the series is the clock.
        let line = self.status.line(stage, series, length(series).max(now - self.stage.1.min(now)));
        let stays = eta_newline.is_some_and(|every| self.is_time(1, every, now));
        if stays || (eta == Eta::Always && !self.console.is_live()) {
            self.console.clear();
            // With standard error gone there is nobody left to tell.
            let _ = writeln!(std::io::stderr(), "{line}");
        } else {
            self.console.line(&line);
        }
    }

    /// Results so far, of a stage that still runs.
    fn results(&mut self, before: &Ran, stage: usize, series: &[Slice], now: Span) {
        let Some(every) = self.command.flags.status_interval else { return };
        if !self.is_time(2, every, now) {
            return;
        }
        let course = Course {
            command: self.command,
            plan: self.plan,
            elapsed_s: now.as_nanos() / 1_000_000_000 + 1,
            version: self.version,
            steady: self.steady.clone(),
        };
        let report = course.report_with(before, stage, &self.partly(stage, series));
        self.console.clear();
        // What cannot be written now will fail at the end too, and is said there.
        let _ = self.results.report(&report);
    }

    /// Ends jobs that are in a steady state. Those of a group that is told as one are judged as one.
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

    /// Steady states that were reached, by the number of the copy.
    pub fn into_steady(self) -> BTreeMap<u64, SteadyState> {
        self.steady
    }

    /// What each worker of a stage saw, as far as the series tells it.
    fn partly(&self, stage: usize, series: &[Slice]) -> Vec<FinishedJob> {
        let one = |index: usize| {
            let of = |slice: &Slice| {
                let tally = slice.tally.only(|counter| usize::from(counter.stream) == index.min(255));
                Slice { tally, ..slice.clone() }
            };
            let begins = self.plan.stages[stage][index].worker.begins;
            let seen = WorkerResult {
                seen: Seen { series: series.iter().map(of).collect(), ..Seen::default() },
                began: Instant::ZERO + begins,
                ended: Instant::ZERO + length(series),
                ..WorkerResult::default()
            };
            FinishedJob {
                seen,
                started_unix_ms: super::run::unix_ms().saturating_sub(length(series).as_nanos() / 1_000_000),
            }
        };
        (0..self.plan.stages[stage].len()).map(one).collect()
    }
}

impl RunObserver for Watch<'_> {
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
