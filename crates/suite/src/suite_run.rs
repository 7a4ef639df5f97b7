//! The record of a performed suite, and its steps in a few words.

use plimsoll_analyse::{mean_rate, total_span};
use plimsoll_language::say;
use plimsoll_record::{Counter, EndReason, Finding, SUITE_FORMAT, Slice, SuiteRun};
use plimsoll_units::{Instant, Span, Throughput};

use crate::ground::Ground;
use crate::recipe::{CompletedStep, Recipe, SuiteOutcome, step_run};
use crate::result::StepResult;
use crate::session_run::session_run;
use crate::step::{Step, Work};

/// Program, time and command of a suite.
#[derive(Clone, Debug)]
pub struct RunOrigin {
    pub program: String,
    /// Start; `None` in virtual time.
    pub started: Option<String>,
    /// Duration; in virtual time that of the steps.
    pub wall: Span,
    /// The command line, without passwords.
    pub command: Vec<String>,
}

/// The record of a suite on its ground.
pub fn suite_run(recipe: &dyn Recipe, ground: &dyn Ground, outcome: SuiteOutcome, origin: RunOrigin) -> SuiteRun {
    let facts = ground.facts().clone();
    let SuiteOutcome { done, ended, fault } = outcome;
    let has_verdicts = recipe.has_failed(&done) || ended == EndReason::Complete || recipe.judges_partial_runs();
    let fault = fault.map(|fault| Finding::Fault { what: format!("{fault}: {}", fault.source) });
    SuiteRun {
        format: SUITE_FORMAT.into(),
        made_by: origin.program,
        started: origin.started,
        wall: origin.wall,
        command: origin.command,
        ended,
        listings: recipe.listings(&done, &facts),
        verdicts: if has_verdicts { recipe.verdicts(&done, &facts) } else { Vec::new() },
        steps: done.iter().filter_map(|done| step_run(done, &facts)).collect(),
        findings: fault.into_iter().chain(ground.findings()).collect(),
        database: facts.database.as_ref().map(|_| Box::new(recipe.database_result(&done, &facts))),
        source: facts.source,
        subject: facts.subject,
        host: facts.host,
        suite: recipe.name().into(),
        follows: recipe.follows(),
        settings: recipe.settings(),
    }
}

impl CompletedStep {
    /// Time of the step; zero if it was skipped.
    pub fn span(&self) -> Span {
        match (&self.result, &self.step.work) {
            (StepResult::Io(result), _) => result.span(),
            (StepResult::Files(result), _) => result.span,
            (StepResult::Statements(result), _) => result.span,
            (StepResult::Sessions(result), _) => total_span(&result.series),
            (StepResult::Configured(result), _) => result.span,
            (_, Work::Pause(span)) => *span,
            _ => Span::ZERO,
        }
    }

    /// Result of the step in a few words; may be empty.
    pub fn describe(&self) -> String {
        let rate = |count: u64, span: Span| count as f64 / span.as_secs_f64().max(1e-9);
        match &self.result {
            StepResult::Io(result) => {
                let (total, span) = (result.total(), result.span());
                let moved = Throughput::per_second(rate(total.bytes(), span) as u64);
                say!("{:.0} IOPS, {moved}, {span}", rate(total.units(self.step.writes_each), span))
            }
            StepResult::Files(result) => say!("{} files, {}", result.files, result.span),
            StepResult::Statements(result) => say!("{} statements, {}", result.done, result.span),
            StepResult::Sessions(result) => {
                let Work::Sessions(step) = &self.step.work else { return String::new() };
                // The figures of the result: without warm-up and parts.
                let run = session_run(step, result).run;
                if run.total.operations() == 0 {
                    return say!("nothing was measured, {}", total_span(&result.series));
                }
                let p99 = Span::from_nanos(run.figures.p99_ns.value as u64);
                say!("{:.0} per second, p99 {p99}, {}", run.figures.iops.value, total_span(&result.series))
            }
            StepResult::Configured(result) => match &result.refused {
                Some(why) => say!("refused: {why}"),
                None => result.span.to_string(),
            },
            StepResult::Skipped(why) => say!("skipped, as {why}"),
            StepResult::Paused => String::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepProgress {
    /// Operations per second so far.
    pub rate: f64,
    pub unit: &'static str,
    /// Percentile of response times so far.
    pub p99: Option<Span>,
    /// Completed share of the step, 0.5 if its end is unknown.
    pub share: f64,
    /// Remaining time; zero if its end is unknown.
    pub left: Span,
}

impl StepProgress {
    /// The progress of a step by its series so far, with the figures of its result: after the warm-up, and without parts of
    /// transactions.
    pub fn of(step: &Step, series: &[Slice]) -> Self {
        let elapsed = total_span(series).as_secs_f64();
        let (lasts, unit) = match &step.work {
            Work::Io(io) => {
                let lasts = io.workers.iter().map(|worker| worker.job.until.span).max();
                (lasts.filter(|span| *span < Span::MAX), "IOPS")
            }
            Work::Sessions(sessions) if sessions.turns.is_none() => {
                (Some(sessions.warm_up + sessions.max), "per second")
            }
            Work::Statements(statements) => {
                let done: u64 = series.iter().map(|slice| slice.tally.operations()).sum();
                let lasts = (done > 0).then(|| elapsed * statements.count as f64 / done as f64);
                let lasts = lasts.map(Span::from_secs_f64);
                (statements.limit.map_or(lasts, |limit| lasts.map(|lasts| lasts.min(limit))), "per second")
            }
            _ => (None, "per second"),
        };
        let (rate, p99) = measure_rate(&step.work, series);
        let share = lasts.map_or(0.5, |span| (elapsed / span.as_secs_f64()).clamp(0.0, 1.0));
        let left = lasts.map_or(Span::ZERO, |span| Span::from_secs_f64((span.as_secs_f64() - elapsed).max(0.0)));
        Self { rate, unit, p99, share, left }
    }
}

fn measure_rate(work: &Work, series: &[Slice]) -> (f64, Option<Span>) {
    let Work::Sessions(step) = work else { return mean_rate(series) };
    let warm = Instant::ZERO + step.warm_up;
    let measured = series.iter().position(|slice| slice.start >= warm).map_or(series, |first| &series[first..]);
    let is_part = |counter: &Counter| step.kinds.get(usize::from(counter.stream)).is_some_and(|kind| kind.is_part);
    let only = |slice: &Slice| Slice { tally: slice.tally.only(|counter| !is_part(counter)), ..slice.clone() };
    mean_rate(&measured.iter().map(only).collect::<Vec<_>>())
}
