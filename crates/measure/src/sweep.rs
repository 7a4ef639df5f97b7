//! Execution of a measurement: offers the points of a sweep and ends when the figures are sufficient.

use std::ops::ControlFlow;

use plimsoll_analyse::{Purpose, Settle, Settled, Sweep, SweepPoint, mean_rate, settle, settle_slot, total_span};
use plimsoll_drive::{Fault, LoopResult, Onward, PartialRun};
use plimsoll_language::{label, say};
use plimsoll_load::{Pace, StreamSpec};
use plimsoll_record::{EndReason, HostDelay, LoadSlot, Measure, Objective, Run, Slice, SlotRole, Tally};
use plimsoll_units::{Instant, Span};

use crate::backend::{Backend, PointOutcome, PointResult, Trial};
use crate::checks::check_lateness;
use crate::error::LoadFailure;
use crate::monitor::{Monitor, PointProgress};
use crate::plan::MeasurePlan;

/// Maximum length of the slices of a series: short enough for batch means.
const MAX_SLICE: Span = Span::from_millis(500);
/// Maximum number of slices during a run, and of slices kept.
const MAX_SLICES: u64 = 1200;
const MAX_POINT_SLICES: u64 = 300;
/// Time for the backlog of an open load at the end of a point.
const GRACE: Span = Span::from_millis(200);

#[derive(Debug)]
pub struct SweepResult {
    /// Runs in order, without those that used up burst credits or sustained a load.
    pub runs: Vec<Run>,
    /// All slots in order; empty if the user named the loads.
    pub slots: Vec<LoadSlot>,
    /// Operations of the omitted runs.
    pub omitted: Tally,
    pub ended: EndReason,
    /// The fault of the target that ended it.
    pub fault: Option<Fault>,
    /// Measuring time on the target's time line.
    pub spent: Span,
}

/// Executes the plan on a backend until the sweep is complete, the user stops it, or the target fails. `stages` are the
/// names of a model's stages.
pub fn run_sweep(
    plan: &MeasurePlan,
    streams: &[StreamSpec],
    stages: &[String],
    backend: &mut dyn Backend,
    monitor: &mut dyn Monitor,
) -> SweepResult {
    let mut progress = SweepProgress::new(plan, streams, stages);
    while progress.step(backend, monitor).is_continue() {}
    monitor.clear_progress();
    progress.result
}

/// Executes the same plan on two backends, alternating passes in the order A B B A, so that drift affects both equally.
///
/// `prepare` is called with the index of the side before each of its passes. An interrupt or a fault ends both. The
/// second side uses the objective of the first unless an objective is given.
pub fn run_interleaved(
    plan: &MeasurePlan,
    streams: [&[StreamSpec]; 2],
    backends: &mut [&mut dyn Backend; 2],
    prepare: &dyn Fn(usize) -> Result<(), Fault>,
    monitor: &mut dyn Monitor,
) -> [SweepResult; 2] {
    const ORDER: [usize; 4] = [0, 1, 1, 0];
    let mut sweeps = streams.map(|streams| SweepProgress::new(plan, streams, &[]));
    let mut is_active = [true; 2];
    for side in ORDER.into_iter().cycle() {
        if !is_active.contains(&true) {
            break;
        }
        if let Some(objective) = sweeps[0].sweep.objective().filter(|_| side == 1) {
            sweeps[1].sweep.share_objective(objective);
        }
        if is_active[side] {
            let progress = &mut sweeps[side];
            let pass = match prepare(side) {
                Ok(()) => progress.pass(&mut *backends[side], monitor),
                Err(fault) => progress.check_end(Some(fault), monitor),
            };
            is_active[side] = pass.is_continue();
        }
        let ended = sweeps[side].result.ended;
        if ended != EndReason::Complete {
            let other = &mut sweeps[1 - side].result;
            other.ended = if ended == EndReason::Failed { EndReason::Failed } else { EndReason::Interrupted };
            break;
        }
    }
    monitor.clear_progress();
    sweeps.map(|progress| progress.result)
}

struct SweepProgress<'a> {
    plan: &'a MeasurePlan,
    streams: &'a [StreamSpec],
    stages: &'a [String],
    sweep: Sweep,
    result: SweepResult,
    points: u64,
    /// True after the warning about insufficient time.
    is_warned: bool,
}

impl<'a> SweepProgress<'a> {
    fn new(plan: &'a MeasurePlan, streams: &'a [StreamSpec], stages: &'a [String]) -> Self {
        let sweep = Sweep::new(plan.sweep.clone());
        Self { plan, streams, stages, sweep, result: SweepResult::default(), points: 0, is_warned: false }
    }

    /// Measures the points of a pass. Breaks at the end of the measurement.
    fn pass(&mut self, backend: &mut dyn Backend, monitor: &mut dyn Monitor) -> ControlFlow<()> {
        loop {
            self.step(backend, monitor)?;
            if self.sweep.is_between_passes() {
                return ControlFlow::Continue(());
            }
        }
    }

    /// Measures the next point. Breaks at the end of the measurement.
    fn step(&mut self, backend: &mut dyn Backend, monitor: &mut dyn Monitor) -> ControlFlow<()> {
        let Self { plan, result, .. } = self;
        let Some(point) = self.sweep.next(&result.runs, &result.slots, result.spent) else {
            return ControlFlow::Break(());
        };
        if let Some(notice) = slow_storage_notice(&self.sweep).filter(|_| !self.is_warned) {
            self.is_warned = true;
            monitor.notice(&notice);
        }
        let point = SweepPoint { warm_up: point.warm_up.max(plan.warm_up), ..point };
        let seed = plan.seed.wrapping_add(self.points);
        self.points += 1;
        let start = Instant::ZERO + result.spent;
        let mut pending = PendingPoint {
            sweep: &self.sweep,
            point: &point,
            before: result.spent,
            shortest_slice: plan.shortest_slice,
            window: plan.sweep.slots.map_or(MAX_SLICE, |slots| slots.window),
            stop_on_error: plan.stop_on_error,
            next_check: 0,
        };
        let window = pending.window;
        let (outcome, fault) = PartialRun::split(pending.measure(self.streams, seed, backend, monitor));
        let (elapsed, unserved) = (total_span(&outcome.loops.series), outcome.loops.unserved);
        let host = outcome.host.clone();
        let series = if point.purpose == Purpose::Hold { outcome.loops.series.clone() } else { Vec::new() };
        let answered = outcome.loops.series.iter().any(|slice| slice.tally.operations() + slice.tally.errors() > 0);
        result.spent += elapsed;
        let is_silent = !answered && unserved > 0 && !monitor.is_interrupted();
        let fault = fault.or_else(|| is_silent.then(|| silence_fault(elapsed)));
        if !outcome.loops.series.is_empty() {
            let settled = settle_at_end(&self.sweep, &point, &outcome);
            let mut run = build_run(point.pace, settled, outcome, self.stages);
            if let Some((SlotRole::Hold, _)) = point.slot {
                run.series = join_windows(&series, window, point.max);
            }
            if run.total.operations() + run.total.errors() > 0 {
                monitor.point_done(&run);
                result.keep(run, &point, start, host.as_ref());
                let objective = self.sweep.objective();
                monitor.line_so_far(&|| plimsoll_analyse::load_line(&result.runs, objective?));
            }
        }
        self.check_end(fault, monitor)
    }

    /// Breaks after a fault, an interrupt, or an error with `stop_on_error`.
    fn check_end(&mut self, fault: Option<Fault>, monitor: &dyn Monitor) -> ControlFlow<()> {
        let Self { plan, result, .. } = self;
        let has_failed = || plan.stop_on_error && result.runs.last().is_some_and(|run| run.total.errors() > 0);
        result.ended = match fault {
            Some(_) => EndReason::Failed,
            None if monitor.is_interrupted() => EndReason::Interrupted,
            None if has_failed() => EndReason::Failed,
            None => return ControlFlow::Continue(()),
        };
        result.fault = fault;
        ControlFlow::Break(())
    }
}

impl Default for SweepResult {
    fn default() -> Self {
        Self {
            runs: Vec::new(),
            slots: Vec::new(),
            omitted: Tally::default(),
            ended: EndReason::Complete,
            fault: None,
            spent: Span::ZERO,
        }
    }
}

impl SweepResult {
    /// Keeps a run, and the slot or the windows that it represents.
    fn keep(&mut self, run: Run, point: &SweepPoint, start: Instant, host: Option<&HostDelay>) {
        let with_host = |slot: LoadSlot| LoadSlot { host: host.cloned(), ..slot };
        match point.slot {
            None => self.runs.push(run),
            Some((role @ (SlotRole::Soak | SlotRole::Hold), pass)) => {
                run.series.iter().for_each(|slice| self.omitted.merge(&slice.tally));
                if role == SlotRole::Hold {
                    self.slots.extend(split_windows(&run, pass, start).into_iter().map(with_host));
                } else {
                    self.slots.push(with_host(LoadSlot::of(&run, role, pass, start)));
                }
            }
            Some((role, pass)) => {
                self.slots.push(with_host(LoadSlot::of(&run, role, pass, start)));
                self.runs.push(run);
            }
        }
    }
}

/// The windows of a run that sustained a load, each as a slot; its series has a slice for each window.
fn split_windows(run: &Run, pass: u32, start: Instant) -> Vec<LoadSlot> {
    let window =
        |slice: &Slice| LoadSlot::window(run, slice, SlotRole::Hold, pass, start + slice.start.since(Instant::ZERO));
    run.series.iter().map(window).collect()
}

/// Joins slices into windows; the last window includes completions after the end.
fn join_windows(series: &[Slice], window: Span, duration: Span) -> Vec<Slice> {
    let mut joined: Vec<Slice> = Vec::new();
    let count = (duration.as_nanos() / window.as_nanos().max(1)).max(1);
    for slice in series {
        let index = (slice.start.as_nanos() / window.as_nanos().max(1)).min(count - 1) as usize;
        if joined.len() <= index {
            let start = Instant::ZERO + window * index as u64;
            joined.push(Slice { start, span: window, tally: Tally::default() });
        }
        joined.last_mut().expect("a window was pushed").tally.merge(&slice.tally);
    }
    joined
}

/// A warning that the storage is too slow for a load line in this time, with sufficient times and objectives. `None` if
/// the time is sufficient or not determined yet.
fn slow_storage_notice(sweep: &Sweep) -> Option<String> {
    let objective = sweep.objective()?;
    let needed = sweep.needed(objective)?;
    let seconds = |span: Span| (span.as_secs_f64() / 10.0).ceil() * 10.0;
    let p90 = Objective { measure: Measure::Quantile(0.9), ..objective };
    let mean = Objective { measure: Measure::Mean, ..objective };
    let short = match sweep.needed(p90) {
        Some(span) => say!("about {} s", seconds(span)),
        None => label!("the given time").into(),
    };
    Some(say!(
        "a load line at {objective} needs about {:.0} s of measuring on storage this slow: use --duration {:.0}s, or \
         --objective '{}' or '{}', which need {short}",
        seconds(needed),
        seconds(needed),
        format_objective(p90),
        format_objective(mean),
    ))
}

/// An objective in command line syntax.
fn format_objective(objective: Objective) -> String {
    format!("{}<={}", objective.bounded(), objective.limit.to_string().replace(' ', ""))
}

/// Fault: no operation completed before the timeout.
fn silence_fault(waited: Span) -> Fault {
    let source = std::io::Error::new(std::io::ErrorKind::TimedOut, LoadFailure::NoCompletion(waited));
    Fault { attempt: label!("waiting for completions").into(), source }
}

struct PendingPoint<'a> {
    sweep: &'a Sweep,
    point: &'a SweepPoint,
    before: Span,
    shortest_slice: Span,
    window: Span,
    stop_on_error: bool,
    /// Number of slices at the next check of precision.
    next_check: usize,
}

impl PendingPoint<'_> {
    fn measure(
        &mut self,
        streams: &[StreamSpec],
        seed: u64,
        backend: &mut dyn Backend,
        monitor: &mut dyn Monitor,
    ) -> PointOutcome {
        let mut paced = streams.to_vec();
        paced[0].pace = self.point.pace;
        let duration = self.point.warm_up + self.point.max;
        let slice = (self.point.least / 40).min(MAX_SLICE).max(self.shortest_slice).max(duration / MAX_SLICES);
        // The warm-up of a slot and the windows of a hold end at slice boundaries.
        let slice = match self.point.purpose {
            Purpose::Hold => integer_fraction(self.window, slice),
            _ if self.point.slot.is_some() => integer_fraction(self.point.warm_up, slice),
            _ => slice,
        };
        let trial = Trial { streams: &paced, duration, warm_up: self.point.warm_up, slice, seed };
        backend.offer(&trial, &mut |series| self.watch(series, duration, monitor))
    }

    fn watch(&mut self, series: &[Slice], duration: Span, monitor: &mut dyn Monitor) -> Onward {
        let elapsed = total_span(series);
        monitor.point_progress(&|| self.progress(series, elapsed));
        let failed = self.stop_on_error && series.iter().rev().take(20).any(|slice| slice.tally.errors() > 0);
        if failed || monitor.is_interrupted() || elapsed >= duration + GRACE {
            return ControlFlow::Break(());
        }
        if elapsed < self.point.warm_up + self.point.least || series.len() < self.next_check {
            return ControlFlow::Continue(());
        }
        // Checks become rarer: analysing a long series at every slice would take longer than the slice.
        self.next_check = series.len() + (series.len() / 20).max(5);
        let settled = settle_point(self.sweep, self.point, series, 0, Span::MAX);
        if self.sweep.is_enough(self.point, settled.span, &settled.figures) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn progress(&self, series: &[Slice], elapsed: Span) -> PointProgress {
        let (iops, p99) = recent_rate(series);
        let spent = self.before + elapsed;
        let done = self.sweep.share_done(spent);
        PointProgress {
            phase: self.point.purpose.name(),
            pace: self.point.pace,
            iops,
            p99,
            done,
            left: remaining_time(spent, done),
        }
    }
}

/// Remaining time if `spent` covers the share `done`.
fn remaining_time(spent: Span, done: f64) -> Span {
    if done > 0.0 { Span::from_secs_f64(spent.as_secs_f64() * (1.0 - done) / done) } else { Span::ZERO }
}

/// The largest integer fraction of `total` that is at most about `part`.
fn integer_fraction(total: Span, part: Span) -> Span {
    if total.is_zero() { part } else { total / total.as_nanos().div_ceil(part.as_nanos().max(1)).max(1) }
}

/// Operations per second and 99th percentile of the last slices.
pub fn recent_rate(series: &[Slice]) -> (f64, Option<Span>) {
    mean_rate(&series[series.len().saturating_sub(20)..])
}

fn settle_point(sweep: &Sweep, point: &SweepPoint, series: &[Slice], unserved: u64, offered_span: Span) -> Settled {
    let options = Settle {
        least_warm_up: point.warm_up,
        offered_span,
        objective: sweep.objective(),
        offered: point.pace,
        unserved,
    };
    if point.slot.is_some() { settle_slot(series, &options) } else { settle(series, &options) }
}

fn settle_at_end(sweep: &Sweep, point: &SweepPoint, outcome: &PointResult) -> Settled {
    let LoopResult { series, unserved, .. } = &outcome.loops;
    if outcome.ends_offered {
        return settle_point(sweep, point, series, *unserved, Span::MAX);
    }
    // A run that ended early offered operations until its last slice, which drains the rest.
    let last_began = series.last().map_or(Span::ZERO, |slice| slice.start.since(Instant::ZERO));
    settle_point(sweep, point, series, *unserved, last_began.min(point.warm_up + point.max))
}

/// Converts the result of a load to a run. `stages` are the names of a model's stages.
pub fn build_run(
    offered: Pace,
    settled: Settled,
    PointResult { loops, cpu, .. }: PointResult,
    stages: &[String],
) -> Run {
    let mut run = Run {
        offered,
        warm_up: settled.warm_up,
        span: settled.span,
        total: settled.total,
        unserved: loops.unserved,
        lateness: loops.lateness,
        series: join_seconds(&loops.series),
        cpu,
        bound_by: loops.bound_by.shares(Instant::ZERO + settled.warm_up, stages),
        figures: settled.figures,
        findings: settled.findings,
    };
    run.findings.extend(check_lateness(&run));
    run
}

/// Merges a series to slices of a second; half a second for runs below five seconds, longer for long runs, which bounds
/// memory.
fn join_seconds(series: &[Slice]) -> Vec<Slice> {
    let total = total_span(series);
    let unit = if total < Span::from_secs(5) { Span::from_millis(500) } else { Span::from_secs(1) };
    let unit = unit.max(total / MAX_POINT_SLICES);
    let mut joined: Vec<Slice> = Vec::new();
    for slice in series {
        match joined.last_mut().filter(|last| last.span < unit) {
            Some(last) => {
                last.tally.merge(&slice.tally);
                last.span += slice.span;
            }
            None => joined.push(slice.clone()),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use plimsoll_analyse::{Verdict, compare_interleaved};
    use plimsoll_units::Bytes;

    use super::*;
    use crate::backend::Virtual;
    use crate::monitor::Unattended;
    use crate::options::{EffortLevel, LoadOptions, SweepOptions};
    use crate::plan::{Grid, TargetKind};

    /// Measures two models alternately.
    fn measure_interleaved(models: [&str; 2]) -> [SweepResult; 2] {
        let objective = Some("p99<=10ms".parse().expect("an objective"));
        let effort = EffortLevel::Within(Span::from_secs(60));
        let options = SweepOptions { objective, effort, ..SweepOptions::default() };
        let plan = MeasurePlan::new(&LoadOptions::default(), &options, TargetKind::Model).expect("valid options");
        let streams = plan.place(Bytes::gib(1), Grid::Any).expect("sufficient space");
        let [mut a, mut b] = models.map(|text| {
            let model = plimsoll_model::parse(text).expect("stages");
            Virtual::new(&model, 1)
        });
        run_interleaved(&plan, [&streams, &streams], &mut [&mut a, &mut b], &|_| Ok(()), &mut Unattended)
    }

    #[test]
    fn remaining_time_is_estimated_from_the_first_slice() {
        let budget = Span::from_secs(520);
        let spent = Span::from_millis(500);
        let remaining = remaining_time(spent, spent.as_secs_f64() / budget.as_secs_f64());
        assert!((remaining.as_secs_f64() - 519.5).abs() < 1e-3, "{remaining}");
        assert_eq!(remaining_time(Span::ZERO, 0.0), Span::ZERO);
    }

    #[test]
    fn alternating_measurement_detects_differences() {
        let slow = "station(8, 1ms, exponential)";
        for (other, verdict) in [("station(8, 700us, exponential)", Verdict::Better), (slow, Verdict::NoRealChange)] {
            let [a, b] = measure_interleaved([slow, other]);
            assert_eq!([a.ended, b.ended], [EndReason::Complete; 2]);
            let objective = "p99<=10ms".parse().expect("an objective");
            let compared = compare_interleaved(&a.slots, &b.slots, objective).expect("both sides have passes");
            assert_eq!(compared.verdict(), verdict, "{other}: {compared:?}");
        }
    }
}
