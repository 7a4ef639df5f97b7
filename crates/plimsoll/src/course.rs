//! Execution of a measurement: offers the points of a sweep and ends when the figures are sufficient.

use std::ops::ControlFlow;

use plimsoll_analyse::{Purpose, Settle, Settled, Sweep, SweepPoint, settle, settle_slot};
use plimsoll_drive::{Fault, LoopResult, Onward, PartialRun};
use plimsoll_load::{Pace, StreamSpec};
use plimsoll_record::{EndReason, HostDelay, LoadSlot, Measure, Objective, Run, Slice, SlotRole, Tally};
use plimsoll_report::Progress;
use plimsoll_units::{Instant, Span};

use crate::backend::{Backend, PointOutcome, PointResult, Trial};
use crate::checks::lateness;
use crate::console::Console;
use crate::plan::MeasurePlan;

/// Maximum length of the slices of a series: short enough for batch means.
const LONGEST_SLICE: Span = Span::from_millis(500);
/// Maximum number of slices during a run, and of slices kept.
const MOST_SLICES: u64 = 1200;
const MOST_KEPT: u64 = 300;
/// Time for the backlog of an open load at the end of a point.
const GRACE: Span = Span::from_millis(200);

/// Result of a sweep.
#[derive(Debug)]
pub struct SweepResult {
    /// Runs in order, without those that used up burst credits or held a load.
    pub runs: Vec<Run>,
    /// All slots in order; empty if the user named the loads.
    pub slots: Vec<LoadSlot>,
    /// Operations of the omitted runs.
    pub aside: Tally,
    /// How it ended.
    pub ended: EndReason,
    /// The fault of the target that ended it.
    pub fault: Option<Fault>,
    /// Measuring time on the target's time line.
    pub spent: Span,
}

/// Executes the plan on a backend until the sweep is complete, the user stops it, or the target fails. `stages` are the
/// names of a model's stages.
pub fn follow(
    plan: &MeasurePlan,
    streams: &[StreamSpec],
    stages: &[String],
    stand: &mut dyn Backend,
    console: &mut Console,
) -> SweepResult {
    let mut course = SweepProgress::new(plan, streams, stages);
    while course.step(stand, console).is_continue() {}
    console.clear();
    course.travelled
}

/// Executes the same plan on two backends, alternating passes in the order A B B A, so that drift affects both equally.
///
/// `prepare` is called with the index of the side before each of its passes. An interrupt or a fault ends both. The
/// second side uses the objective of the first unless an objective is given.
pub fn follow_in_turns(
    plan: &MeasurePlan,
    streams: [&[StreamSpec]; 2],
    stands: &mut [&mut dyn Backend; 2],
    prepare: &dyn Fn(usize) -> Result<(), Fault>,
    console: &mut Console,
) -> [SweepResult; 2] {
    const ORDER: [usize; 4] = [0, 1, 1, 0];
    let mut courses = streams.map(|streams| SweepProgress::new(plan, streams, &[]));
    let mut goes_on = [true; 2];
    for side in ORDER.into_iter().cycle() {
        if !goes_on.contains(&true) {
            break;
        }
        if let Some(objective) = courses[0].sweep.objective().filter(|_| side == 1) {
            courses[1].sweep.share_objective(objective);
        }
        if goes_on[side] {
            let course = &mut courses[side];
            let pass = match prepare(side) {
                Ok(()) => course.pass(&mut *stands[side], console),
                Err(fault) => course.is_over(Some(fault), console),
            };
            goes_on[side] = pass.is_continue();
        }
        let ended = courses[side].travelled.ended;
        if ended != EndReason::Complete {
            let other = &mut courses[1 - side].travelled;
            other.ended = if ended == EndReason::Failed { EndReason::Failed } else { EndReason::Interrupted };
            break;
        }
    }
    console.clear();
    courses.map(|course| course.travelled)
}

/// A sweep in progress and its measurements.
struct SweepProgress<'a> {
    plan: &'a MeasurePlan,
    streams: &'a [StreamSpec],
    stages: &'a [String],
    sweep: Sweep,
    travelled: SweepResult,
    points: u64,
    /// The warning about insufficient time was printed.
    is_warned: bool,
}

impl<'a> SweepProgress<'a> {
    fn new(plan: &'a MeasurePlan, streams: &'a [StreamSpec], stages: &'a [String]) -> Self {
        let sweep = Sweep::new(plan.sweep.clone());
        Self { plan, streams, stages, sweep, travelled: SweepResult::new(), points: 0, is_warned: false }
    }

    /// Measures the points of a pass. Breaks at the end of the measurement.
    fn pass(&mut self, stand: &mut dyn Backend, console: &mut Console) -> ControlFlow<()> {
        loop {
            self.step(stand, console)?;
            if self.sweep.is_between_passes() {
                return ControlFlow::Continue(());
            }
        }
    }

    /// Measures the next point. Breaks at the end of the measurement.
    fn step(&mut self, stand: &mut dyn Backend, console: &mut Console) -> ControlFlow<()> {
        let Self { plan, travelled, .. } = self;
        let Some(point) = self.sweep.next(&travelled.runs, &travelled.slots, travelled.spent) else {
            return ControlFlow::Break(());
        };
        if let Some(notice) = too_slow(&self.sweep).filter(|_| !self.is_warned) {
            self.is_warned = true;
            console.tell(&notice);
        }
        let point = SweepPoint { warm_up: point.warm_up.max(plan.warm_up), ..point };
        let seed = plan.seed.wrapping_add(self.points);
        self.points += 1;
        let start = Instant::ZERO + travelled.spent;
        let mut step = PendingPoint {
            sweep: &self.sweep,
            point: &point,
            before: travelled.spent,
            shortest_slice: plan.shortest_slice,
            window: plan.sweep.slots.map_or(LONGEST_SLICE, |slots| slots.window),
            stop_on_error: plan.stop_on_error,
            next_check: 0,
        };
        let window = step.window;
        let (sighting, fault) = PartialRun::split(step.take(self.streams, seed, stand, console));
        let (elapsed, unserved) = (length(&sighting.seen.series), sighting.seen.unserved);
        let host = sighting.host.clone();
        let series = if point.purpose == Purpose::Hold { sighting.seen.series.clone() } else { Vec::new() };
        let answered = sighting.seen.series.iter().any(|slice| slice.tally.operations() + slice.tally.errors() > 0);
        travelled.spent += elapsed;
        let is_silent = !answered && unserved > 0 && !console.interrupted();
        let fault = fault.or_else(|| is_silent.then(|| silent(elapsed)));
        if !sighting.seen.series.is_empty() {
            let settled = settled_at_end(&self.sweep, &point, &sighting);
            let mut run = run_of(point.pace, settled, sighting, self.stages);
            if let Some((SlotRole::Hold, _)) = point.slot {
                run.series = in_windows(&series, window, point.most);
            }
            if run.total.operations() + run.total.errors() > 0 {
                console.point_done(&run);
                travelled.keep(run, &point, start, host.as_ref());
                let objective = self.sweep.objective();
                console.line_so_far(|| plimsoll_analyse::load_line(&travelled.runs, objective?));
            }
        }
        self.is_over(fault, console)
    }

    /// Breaks after a fault, an interrupt, or an error with `stop_on_error`.
    fn is_over(&mut self, fault: Option<Fault>, console: &Console) -> ControlFlow<()> {
        let Self { plan, travelled, .. } = self;
        let erred = || plan.stop_on_error && travelled.runs.last().is_some_and(|run| run.total.errors() > 0);
        travelled.ended = match fault {
            Some(_) => EndReason::Failed,
            None if console.interrupted() => EndReason::Interrupted,
            None if erred() => EndReason::Failed,
            None => return ControlFlow::Continue(()),
        };
        travelled.fault = fault;
        ControlFlow::Break(())
    }
}

impl SweepResult {
    /// Empty.
    pub fn new() -> Self {
        Self {
            runs: Vec::new(),
            slots: Vec::new(),
            aside: Tally::default(),
            ended: EndReason::Complete,
            fault: None,
            spent: Span::ZERO,
        }
    }

    /// Keeps a run, and the slot or the windows that it represents.
    fn keep(&mut self, run: Run, point: &SweepPoint, start: Instant, host: Option<&HostDelay>) {
        let with_host = |slot: LoadSlot| LoadSlot { host: host.cloned(), ..slot };
        match point.slot {
            None => self.runs.push(run),
            Some((role @ (SlotRole::Soak | SlotRole::Hold), pass)) => {
                run.series.iter().for_each(|slice| self.aside.merge(&slice.tally));
                if role == SlotRole::Hold {
                    self.slots.extend(windows(&run, pass, start).into_iter().map(with_host));
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

/// The windows of a held run, each as a slot; its series has a slice for each window.
fn windows(run: &Run, pass: u32, start: Instant) -> Vec<LoadSlot> {
    let window =
        |slice: &Slice| LoadSlot::window(run, slice, SlotRole::Hold, pass, start + slice.start.since(Instant::ZERO));
    run.series.iter().map(window).collect()
}

/// Joins slices into windows; the last window includes completions after the end.
fn in_windows(series: &[Slice], window: Span, lasts: Span) -> Vec<Slice> {
    let mut joined: Vec<Slice> = Vec::new();
    let count = (lasts.as_nanos() / window.as_nanos().max(1)).max(1);
    for slice in series {
        let index = (slice.start.as_nanos() / window.as_nanos().max(1)).min(count - 1) as usize;
        if joined.len() <= index {
            let start = Instant::ZERO + window * index as u64;
            joined.push(Slice { start, span: window, tally: Tally::default() });
        }
        joined.last_mut().expect("one was pushed").tally.merge(&slice.tally);
    }
    joined
}

/// A warning that the storage is too slow for a load line in this time, with sufficient times and objectives. `None` if
/// the time is sufficient or not known yet.
fn too_slow(sweep: &Sweep) -> Option<String> {
    let objective = sweep.objective()?;
    let needed = sweep.needed(objective)?;
    let seconds = |span: Span| (span.as_secs_f64() / 10.0).ceil() * 10.0;
    let p90 = Objective { measure: Measure::Quantile(0.9), ..objective };
    let mean = Objective { measure: Measure::Mean, ..objective };
    let short = match sweep.needed(p90) {
        Some(span) => format!("about {} s", seconds(span)),
        None => "the given time".into(),
    };
    Some(format!(
        "a load line at {objective} needs about {:.0} s of measuring on storage this slow: use --duration {:.0}s, or \
         --objective '{}' or '{}', which need {short}",
        seconds(needed),
        seconds(needed),
        written(p90),
        written(mean),
    ))
}

/// An objective in command line syntax.
fn written(objective: Objective) -> String {
    format!("{}<={}", objective.bounded(), objective.limit.to_string().replace(' ', ""))
}

/// Fault: no operation completed before the timeout.
fn silent(waited: Span) -> Fault {
    let why = format!("no completion within {waited}: use a longer --duration if the storage is that slow");
    let source = std::io::Error::new(std::io::ErrorKind::TimedOut, why);
    Fault { attempt: "waiting for completions".into(), source }
}

/// A point in progress.
struct PendingPoint<'a> {
    sweep: &'a Sweep,
    point: &'a SweepPoint,
    before: Span,
    shortest_slice: Span,
    /// Window of a hold.
    window: Span,
    stop_on_error: bool,
    /// Number of slices at the next check of precision.
    next_check: usize,
}

impl PendingPoint<'_> {
    fn take(
        &mut self,
        streams: &[StreamSpec],
        seed: u64,
        stand: &mut dyn Backend,
        console: &mut Console,
    ) -> PointOutcome {
        let mut paced = streams.to_vec();
        paced[0].pace = self.point.pace;
        let lasts = self.point.warm_up + self.point.most;
        let slice = (self.point.least / 40).min(LONGEST_SLICE).max(self.shortest_slice).max(lasts / MOST_SLICES);
        // The warm-up of a slot and the windows of a hold end at slice boundaries.
        let slice = match self.point.purpose {
            Purpose::Hold => whole_part(self.window, slice),
            _ if self.point.slot.is_some() => whole_part(self.point.warm_up, slice),
            _ => slice,
        };
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
        // Checks become rarer: analysing a long series at every slice would take longer than the slice.
        self.next_check = series.len() + (series.len() / 20).max(5);
        let settled = settled(self.sweep, self.point, series, 0, Span::MAX);
        if self.sweep.is_enough(self.point, settled.span, &settled.figures) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn progress(&self, series: &[Slice], elapsed: Span) -> Progress<'static> {
        let (rate, p99) = recent_rates(series);
        let spent = self.before + elapsed;
        let done = self.sweep.share_done(spent);
        Progress {
            phase: self.point.purpose.name(),
            point: plimsoll_report::words::pace(&self.point.pace),
            rate,
            unit: "IOPS",
            p99,
            done,
            left: left(spent, done),
        }
    }
}

/// Remaining time if `spent` covers the share `done`.
fn left(spent: Span, done: f64) -> Span {
    if done > 0.0 { Span::from_secs_f64(spent.as_secs_f64() * (1.0 - done) / done) } else { Span::ZERO }
}

/// The largest integer fraction of `whole` that is at most about `part`.
fn whole_part(whole: Span, part: Span) -> Span {
    if whole.is_zero() { part } else { whole / whole.as_nanos().div_ceil(part.as_nanos().max(1)).max(1) }
}

/// Operations per second and 99th percentile of the last slices.
pub fn recent_rates(series: &[Slice]) -> (f64, Option<Span>) {
    mean_of(&series[series.len().saturating_sub(20)..])
}

/// Operations per second and 99th percentile of a whole series; no percentile without operations.
pub fn mean_of(series: &[Slice]) -> (f64, Option<Span>) {
    let mut response = plimsoll_record::Bins::default();
    for slice in series {
        response.merge(&slice.tally.response());
    }
    let operations: u64 = series.iter().map(|slice| slice.tally.operations()).sum();
    let span = length(series).as_secs_f64();
    (if span > 0.0 { operations as f64 / span } else { 0.0 }, response.quantile(0.99))
}

fn settled(sweep: &Sweep, point: &SweepPoint, series: &[Slice], unserved: u64, offered_span: Span) -> Settled {
    let options = Settle {
        least_warm_up: point.warm_up,
        offered_span,
        objective: sweep.objective(),
        offered: point.pace,
        unserved,
    };
    if point.slot.is_some() { settle_slot(series, &options) } else { settle(series, &options) }
}

fn settled_at_end(sweep: &Sweep, point: &SweepPoint, sighting: &PointResult) -> Settled {
    let LoopResult { series, unserved, .. } = &sighting.seen;
    if sighting.ends_offered {
        return settled(sweep, point, series, *unserved, Span::MAX);
    }
    // A run that ended early offered operations until its last slice, which drains the rest.
    let last_began = series.last().map_or(Span::ZERO, |slice| slice.start.since(Instant::ZERO));
    settled(sweep, point, series, *unserved, last_began.min(point.warm_up + point.most))
}

/// Converts the result of a load to a run. `stages` are the names of a model's stages.
pub fn run_of(offered: Pace, settled: Settled, PointResult { seen, cpu, .. }: PointResult, stages: &[String]) -> Run {
    let mut run = Run {
        offered,
        warm_up: settled.warm_up,
        span: settled.span,
        total: settled.total,
        unserved: seen.unserved,
        lateness: seen.lateness,
        series: by_the_second(&seen.series),
        cpu,
        bound_by: seen.bound_by.shares(Instant::ZERO + settled.warm_up, stages),
        figures: settled.figures,
        findings: settled.findings,
    };
    run.findings.extend(lateness(&run));
    run
}

/// The duration of a series.
pub fn length(series: &[Slice]) -> Span {
    series.iter().fold(Span::ZERO, |sum, slice| sum + slice.span)
}

/// Merges a series to slices of a second; half a second for runs below five seconds, longer for long runs, which bounds
/// memory.
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

#[cfg(test)]
mod tests {
    use clap::Parser;
    use plimsoll_analyse::{Verdict, compare_interleaved};
    use plimsoll_units::Bytes;

    use super::*;
    use crate::args::{Cli, Command};
    use crate::backend::Virtual;
    use crate::plan::{Grid, Venue};

    /// Measures two models alternately.
    fn in_turns(models: [&str; 2]) -> [SweepResult; 2] {
        let line = ["plimsoll", "simulate", "link(1us)", "--duration", "60s", "--objective", "p99<=10ms"];
        let Command::Simulate(args) = Cli::parse_from(line).command else { panic!("a simulate command") };
        let plan = MeasurePlan::new(&args.load, &args.course, Venue::Model).expect("valid flags");
        let streams = plan.place(Bytes::gib(1), Grid::Any).expect("sufficient space");
        let [mut a, mut b] = models.map(|text| {
            let model = plimsoll_model::parse(text).expect("stages");
            Virtual::new(&model, 1)
        });
        let mut console = Console::new(true).expect("a quiet console");
        follow_in_turns(&plan, [&streams, &streams], &mut [&mut a, &mut b], &|_| Ok(()), &mut console)
    }

    #[test]
    fn remaining_time_is_estimated_from_the_first_slice() {
        let budget = Span::from_secs(520);
        let spent = Span::from_millis(500);
        let shown = left(spent, spent.as_secs_f64() / budget.as_secs_f64());
        assert!((shown.as_secs_f64() - 519.5).abs() < 1e-3, "{shown}");
        assert_eq!(left(Span::ZERO, 0.0), Span::ZERO);
    }

    #[test]
    fn alternating_measurement_detects_differences() {
        let slow = "station(8, 1ms, exponential)";
        for (other, verdict) in [("station(8, 700us, exponential)", Verdict::Better), (slow, Verdict::NoRealChange)] {
            let [a, b] = in_turns([slow, other]);
            assert_eq!([a.ended, b.ended], [EndReason::Complete; 2]);
            let objective = "p99<=10ms".parse().expect("an objective");
            let compared = compare_interleaved(&a.slots, &b.slots, objective).expect("both sides have passes");
            assert_eq!(compared.verdict(), verdict, "{other}: {compared:?}");
        }
    }
}
