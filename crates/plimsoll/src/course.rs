//! The course of a measurement: point after point as the sweep asks for them, watched, and ended when enough is known.

use std::ops::ControlFlow;

use plimsoll_analyse::{Point, Settle, Settled, Sweep, settle};
use plimsoll_drive::{Fault, Onward, Seen, Torn};
use plimsoll_load::{Pace, StreamSpec};
use plimsoll_record::{Ended, Run, Slice};
use plimsoll_report::Progress;
use plimsoll_units::{Instant, Span};

use crate::checks::lateness;
use crate::console::Console;
use crate::plan::Plan;
use crate::stand::{Sighting, Stand, Trial};

/// The series is watched in slices of at most this length: short enough for batches.
const LONGEST_SLICE: Span = Span::from_millis(500);
/// A run has no more slices than this while it lasts, and keeps no more than that.
const MOST_SLICES: u64 = 1200;
const MOST_KEPT: u64 = 300;
/// An open load's backlog at the end of a point may take this long to be answered.
const GRACE: Span = Span::from_millis(200);

/// What came of a course.
#[derive(Debug)]
pub struct Travelled {
    /// The runs, in the order in which they were made.
    pub runs: Vec<Run>,
    /// Why it ended.
    pub ended: Ended,
    /// The target's fault, if that ended it.
    pub fault: Option<Fault>,
    /// Time spent measuring, on the target's line.
    pub spent: Span,
}

/// Follows the plan on a stand until the sweep has enough, the user stops it, or the target fails. `stages` names the
/// stages of a model.
pub fn follow(
    plan: &Plan,
    streams: &[StreamSpec],
    stages: &[String],
    stand: &mut dyn Stand,
    console: &mut Console,
) -> Travelled {
    let mut sweep = Sweep::new(plan.sweep.clone());
    let mut travelled = Travelled { runs: Vec::new(), ended: Ended::Complete, fault: None, spent: Span::ZERO };
    while let Some(point) = sweep.next(&travelled.runs, travelled.spent) {
        let point = Point { warm_up: point.warm_up.max(plan.warm_up), ..point };
        let seed = plan.seed.wrapping_add(travelled.runs.len() as u64);
        let mut step = Step {
            sweep: &sweep,
            point: &point,
            before: travelled.spent,
            shortest_slice: plan.shortest_slice,
            stop_on_error: plan.stop_on_error,
            next_check: 0,
        };
        let (sighting, fault) = match step.take(streams, seed, stand, console) {
            Ok(sighting) => (sighting, None),
            Err(torn) => {
                let Torn { fault, until } = *torn;
                (until, Some(fault))
            }
        };
        let (elapsed, unserved) = (length(&sighting.seen.series), sighting.seen.unserved);
        let answered = sighting.seen.series.iter().any(|slice| slice.tally.operations() + slice.tally.errors() > 0);
        travelled.spent += elapsed;
        let is_silent = !answered && unserved > 0 && !console.interrupted();
        let fault = fault.or_else(|| is_silent.then(|| silent(elapsed)));
        if !sighting.seen.series.is_empty() {
            let run = run_of(point.pace, settled_at_end(&sweep, &point, &sighting), sighting, stages);
            if run.total.operations() + run.total.errors() > 0 {
                console.point_done(&run);
                travelled.runs.push(run);
            }
        }
        if fault.is_some() {
            travelled.ended = Ended::Failed;
            travelled.fault = fault;
            break;
        }
        if console.interrupted() {
            travelled.ended = Ended::Interrupted;
            break;
        }
        if plan.stop_on_error && travelled.runs.last().is_some_and(|run| run.total.errors() > 0) {
            travelled.ended = Ended::Failed;
            break;
        }
    }
    console.clear();
    travelled
}

/// Operations were asked for, and not one came back until all patience was gone.
fn silent(waited: Span) -> Fault {
    let what = format!("not one came in {waited}: give a longer --duration if it is as slow as that");
    let source = std::io::Error::new(std::io::ErrorKind::TimedOut, what);
    Fault { attempt: "waiting for answers".into(), source }
}

/// One point on its way.
struct Step<'a> {
    sweep: &'a Sweep,
    point: &'a Point,
    before: Span,
    shortest_slice: Span,
    stop_on_error: bool,
    /// Number of slices at which it is asked again whether enough is known.
    next_check: usize,
}

impl Step<'_> {
    fn take(
        &mut self,
        streams: &[StreamSpec],
        seed: u64,
        stand: &mut dyn Stand,
        console: &mut Console,
    ) -> Result<Sighting, Box<Torn<Sighting>>> {
        let mut paced = streams.to_vec();
        paced[0].pace = self.point.pace;
        let lasts = self.point.warm_up + self.point.most;
        let slice = (self.point.least / 40).min(LONGEST_SLICE).max(self.shortest_slice).max(lasts / MOST_SLICES);
        let trial = Trial { streams: &paced, lasts, warm_up: self.point.warm_up, slice, seed };
        stand.offer(&trial, &mut |series| self.watch(series, lasts, console))
    }

    fn watch(&mut self, series: &[Slice], lasts: Span, console: &mut Console) -> Onward {
        let elapsed = length(series);
        console.show(|| self.progress(series, elapsed));
        let failed = self.stop_on_error && series.iter().rev().take(20).any(|slice| slice.tally.errors() > 0);
        if failed || console.interrupted() || elapsed >= lasts + GRACE {
            return ControlFlow::Break(());
        }
        if elapsed < self.point.warm_up + self.point.least || series.len() < self.next_check {
            return ControlFlow::Continue(());
        }
        // Asked a twentieth later each time: analysing a long series at every slice would take longer than the slice.
        self.next_check = series.len() + (series.len() / 20).max(5);
        let settled = settled(self.sweep, self.point, series, 0, Span::MAX);
        if self.sweep.is_enough(self.point, settled.span, &settled.figures) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn progress(&self, series: &[Slice], elapsed: Span) -> Progress<'static> {
        let (rate, p99) = of_late(series);
        let spent = self.before + elapsed;
        let done = self.sweep.share_done(spent);
        let left = if done > 0.01 { spent.as_secs_f64() * (1.0 - done) / done } else { 0.0 };
        Progress {
            phase: self.point.purpose.name(),
            point: plimsoll_report::words::pace(&self.point.pace),
            rate,
            unit: "IOPS",
            p99,
            done,
            left: Span::from_secs_f64(left),
        }
    }
}

/// Operations per second and 99th percentile over the last slices.
pub fn of_late(series: &[Slice]) -> (f64, Option<Span>) {
    let recent = &series[series.len().saturating_sub(20)..];
    let mut response = plimsoll_record::Bins::default();
    for slice in recent {
        response.merge(&slice.tally.response());
    }
    let operations: u64 = recent.iter().map(|slice| slice.tally.operations()).sum();
    let span = length(recent).as_secs_f64();
    (if span > 0.0 { operations as f64 / span } else { 0.0 }, response.quantile(0.99))
}

fn settled(sweep: &Sweep, point: &Point, series: &[Slice], unserved: u64, offered_span: Span) -> Settled {
    let options = Settle {
        least_warm_up: point.warm_up,
        offered_span,
        objective: sweep.objective(),
        offered: point.pace,
        unserved,
    };
    settle(series, &options)
}

fn settled_at_end(sweep: &Sweep, point: &Point, sighting: &Sighting) -> Settled {
    let Seen { series, unserved, .. } = &sighting.seen;
    if sighting.ends_offered {
        return settled(sweep, point, series, *unserved, Span::MAX);
    }
    // A run that was ended early stopped offering when its last slice, in which the rest came back, began.
    let last_began = series.last().map_or(Span::ZERO, |slice| slice.start.since(Instant::ZERO));
    settled(sweep, point, series, *unserved, last_began.min(point.warm_up + point.most))
}

/// What was seen under one offered load, as it is kept. `stages` names the stages of a model.
pub fn run_of(offered: Pace, settled: Settled, Sighting { seen, cpu, .. }: Sighting, stages: &[String]) -> Run {
    let answered: u64 = seen.bound_by.iter().sum();
    let shares = seen.bound_by.iter().zip(stages).filter(|(count, _)| **count > 0);
    let mut run = Run {
        offered,
        warm_up: settled.warm_up,
        span: settled.span,
        total: settled.total,
        unserved: seen.unserved,
        lateness: seen.lateness,
        series: by_the_second(&seen.series),
        cpu,
        bound_by: shares.map(|(count, name)| (name.clone(), *count as f64 / answered as f64)).collect(),
        figures: settled.figures,
        findings: settled.findings,
    };
    run.findings.extend(lateness(&run));
    run
}

/// The time that a series covers.
pub fn length(series: &[Slice]) -> Span {
    series.iter().fold(Span::ZERO, |sum, slice| sum + slice.span)
}

/// The series as it is kept: in slices of a second; of half a second where the run is shorter than five, and of more
/// where it is long, so that no run's memory grows with its duration.
fn by_the_second(series: &[Slice]) -> Vec<Slice> {
    let whole = length(series);
    let unit = if whole < Span::from_secs(5) { Span::from_millis(500) } else { Span::from_secs(1) };
    let unit = unit.max(whole / MOST_KEPT);
    let mut kept: Vec<Slice> = Vec::new();
    for slice in series {
        match kept.last_mut().filter(|last| last.span < unit) {
            Some(last) => {
                last.tally.merge(&slice.tally);
                last.span += slice.span;
            }
            None => kept.push(slice.clone()),
        }
    }
    kept
}
