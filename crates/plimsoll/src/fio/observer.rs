//! Display of running jobs: progress line, intermediate results, and interruption.

use std::io::Write;

use plimsoll_analyse::total_span;
use plimsoll_device::Clock;
use plimsoll_drive::Onward;
use plimsoll_fio::{Eta, Flags};
use plimsoll_record::Slice;
use plimsoll_suite::fio::{PlannedJobs, RunObserver, RunProperties, RunningStage};
use plimsoll_units::{Instant, Span};

use super::results::Results;
use crate::console::Console;

pub struct JobObserver<'a> {
    jobs: &'a PlannedJobs<'a>,
    console: &'a mut Console,
    results: &'a mut Results,
    properties: RunProperties,
    /// Runs since the start of the first stage.
    clock: Clock,
    /// The current stage, and its start.
    stage: (usize, Span),
    /// Times of the last output: in place, on a new line, results.
    printed: [Span; 3],
}

impl<'a> JobObserver<'a> {
    /// Starts observation.
    pub fn new(jobs: &'a PlannedJobs<'a>, console: &'a mut Console, results: &'a mut Results) -> Self {
        let properties = RunProperties::new(jobs.plan, &jobs.command.jobs);
        let (clock, stage, printed) = (Clock::start(), (0, Span::ZERO), [Span::ZERO; 3]);
        Self { jobs, console, results, properties, clock, stage, printed }
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
        let Flags { eta, eta_interval, eta_newline, .. } = self.jobs.command.flags;
        if eta == Eta::Never || !self.is_time(0, eta_interval, now) {
            return;
        }
        // In virtual time the series determines the elapsed time.
        let elapsed = total_span(series).max(now - self.stage.1.min(now));
        let line = self.properties.line(stage, series, elapsed);
        let stays = eta_newline.is_some_and(|every| self.is_time(1, every, now));
        if stays || (eta == Eta::Always && !self.console.is_live()) {
            self.console.clear();
            // Nothing can be reported if standard error is closed.
            let _ = writeln!(std::io::stderr(), "{line}");
        } else {
            self.console.show_line(&line);
        }
    }

    /// Prints intermediate results of a running stage.
    fn print_results(&mut self, running: &RunningStage<'_>, now: Span) {
        let Some(every) = self.jobs.command.flags.status_interval else { return };
        if self.is_time(2, every, now) {
            self.console.clear();
            // Write errors are reported at the end.
            let _ = self.results.report(&self.jobs.report_running(running, now));
        }
    }
}

impl RunObserver for JobObserver<'_> {
    fn observe(&mut self, running: &RunningStage<'_>) -> Onward {
        let now = self.clock.now().since(Instant::ZERO);
        if self.stage.0 != running.stage {
            self.stage = (running.stage, now);
        }
        self.show(running.stage, running.series, now);
        self.print_results(running, now);
        if self.console.interrupted() { Onward::Break(()) } else { Onward::Continue(()) }
    }
}
