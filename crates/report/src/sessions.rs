//! Session groups of a suite as curves.

mod headline;
mod tables;

use plimsoll_analyse::{chosen_objective, knee, load_line};
use plimsoll_language::say;
use plimsoll_load::Pace;
use plimsoll_record::{Conditions, Curve, FORMAT, Knee, LoadLine, Run, SessionRun, StepRun, StepWork, SuiteRun};
use plimsoll_units::{Bytes, Span};

use crate::suite::rows;
use crate::words::{clean, product_text, sessions};
use crate::{number, pick};

pub(crate) use headline::{group_verdict, limit_at};
pub(crate) use tables::{below, responses, splits};

/// A number of concurrent sessions, in its median round.
#[derive(Clone, Copy)]
pub(crate) struct SessionPoint<'a> {
    pub step: &'a StepRun,
    pub session_run: &'a SessionRun,
    /// Number of valid rounds.
    pub rounds: usize,
    /// True if the suite has no other group.
    is_alone: bool,
    /// True if the number of sessions is unique in its group.
    is_told: bool,
}

/// Points that form a curve: the names of their steps have the same prefix before the colon.
pub(crate) struct SessionCurve<'a> {
    /// The common prefix; empty without a colon.
    pub name: String,
    /// Ordered by offered load, closed loads first.
    pub points: Vec<SessionPoint<'a>>,
    /// The points as a curve of runs; its subject has the name of the group, if any.
    pub curve: Curve,
}

impl<'a> SessionPoint<'a> {
    /// The part of the step's name after the colon, or the whole name; the number of sessions if that is long.
    pub fn label(&self) -> String {
        const LONG: usize = 24;
        let name = clean(divided(&self.step.name).1);
        let closed = matches!(self.run().offered, Pace::Closed { .. });
        if closed && self.is_told && name.chars().count() > LONG { sessions(self.session_run.sessions) } else { name }
    }

    /// The label, preceded by the name of its group if there are several.
    pub fn name(&self) -> String {
        match divided(&self.step.name).0 {
            group if self.is_alone || group.is_empty() => self.label(),
            group => format!("{}: {}", clean(group), self.label()),
        }
    }

    /// Blocks that the database read and wrote per second; `None` if it counts neither.
    pub fn blocks(&self) -> Option<f64> {
        let counted = &self.session_run.counted;
        let both = counted.reads.into_iter().chain(counted.writes).reduce(u64::saturating_add);
        self.per_second(both)
    }

    /// A count divided by the measured time.
    pub fn per_second(&self, count: Option<u64>) -> Option<f64> {
        let seconds = self.session_run.run.span.as_secs_f64();
        count.filter(|_| seconds > 0.0).map(|count| count as f64 / seconds)
    }

    /// Mean time of a read, measured by the database.
    pub fn read_as_seen(&self) -> Option<Span> {
        self.session_run.counted.read_latency()
    }

    /// Mean time of a read, measured by the block device.
    pub fn read_below(&self) -> Option<Span> {
        self.session_run.storage.disk.as_ref()?.read_latency()
    }

    /// Share of the database's reads that the page cache served: reads of the database minus reads of the storage.
    pub fn page_cache_share(&self, block: u64) -> Option<f64> {
        self.session_run.storage.page_cache_share(&self.session_run.counted, Bytes::new(block))
    }

    /// The binding limit, if known: as recorded by the run, or the limit of a model.
    pub fn limit(&self) -> Option<String> {
        let recorded = self.session_run.limit.as_ref().map(|limit| clean(&limit.to_string()));
        recorded.or_else(|| {
            let (name, share) = self.session_run.storage.bound_by.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
            Some(say!("{} ({})", product_text(name), crate::words::database::share(*share)))
        })
    }

    fn run(&self) -> &'a Run {
        &self.session_run.run
    }
}

/// Splits a step's name at its colon; without a colon the first part is empty.
pub(crate) fn divided(name: &str) -> (&str, &str) {
    name.split_once(':').map_or(("", name.trim()), |(group, rest)| (group.trim(), rest.trim()))
}

/// The valid session groups of a suite as curves, in the order of their first steps.
pub(crate) fn groups(suite: &SuiteRun) -> Vec<SessionCurve<'_>> {
    let mut found: Vec<(&str, Vec<SessionPoint<'_>>)> = Vec::new();
    for row in rows(suite) {
        let StepWork::Sessions(session_run) = &row.step.work else { continue };
        let name = divided(&row.step.name).0;
        let point = SessionPoint { step: row.step, session_run, rounds: row.rounds, is_alone: false, is_told: false };
        match found.iter_mut().find(|(existing, _)| *existing == name) {
            Some((_, points)) => points.push(point),
            None => found.push((name, vec![point])),
        }
    }
    let alone = found.len() == 1;
    found.into_iter().map(|(name, points)| group(suite, clean(name), points, alone)).collect()
}

fn group<'a>(suite: &'a SuiteRun, name: String, mut points: Vec<SessionPoint<'a>>, alone: bool) -> SessionCurve<'a> {
    let offered = |point: &SessionPoint<'_>| match point.run().offered {
        Pace::Closed { depth } => (false, f64::from(depth)),
        Pace::Open { rate, .. } => (true, rate.as_f64()),
    };
    let sizes: Vec<u32> = points.iter().map(|point| point.session_run.sessions).collect();
    for point in &mut points {
        point.is_alone = alone;
        point.is_told = sizes.iter().filter(|size| **size == point.session_run.sessions).count() == 1;
    }
    points.sort_by(|a, b| {
        let (a, b) = (offered(a), offered(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let runs: Vec<Run> = points.iter().map(|point| point.run().clone()).collect();
    let (knee, load_line) = judged(suite, &runs, alone);
    let mut subject = suite.subject.clone();
    if !name.is_empty() {
        subject.name.clone_from(&name);
    }
    let curve = Curve {
        format: FORMAT.into(),
        made_by: suite.made_by.clone(),
        started: suite.started.clone(),
        wall: suite.wall,
        command: Vec::new(),
        ended: suite.ended,
        source: suite.source.clone(),
        subject,
        host: None,
        conditions: Conditions {
            streams: Vec::new(),
            threads: points.iter().map(|point| point.session_run.sessions).max().unwrap_or(0),
            direct: false,
            compressible: 0.0,
            seed: 0,
            objective: load_line.map(|line| line.objective()),
            trace: None,
        },
        runs,
        knee,
        load_line,
        closed_line: None,
        basis: None,
        slots: Vec::new(),
        findings: Vec::new(),
    };
    SessionCurve { name, points, curve }
}

/// Knee and load line of a curve. The suite's own verdict applies if it has a single curve; otherwise each curve is
/// analysed.
fn judged(suite: &SuiteRun, runs: &[Run], alone: bool) -> (Option<Knee>, Option<LoadLine>) {
    let side = suite.database.as_deref();
    if let Some(side) = side.filter(|_| alone) {
        return (side.knee, side.load_line);
    }
    if runs.len() < 2 {
        return (None, None);
    }
    let requested = side.and_then(|side| side.load_line).map(|line| line.objective());
    let requested = requested.or_else(|| runs.iter().find_map(|run| run.figures.objective));
    let objective = requested.or_else(|| chosen_objective(runs));
    (knee(runs), objective.and_then(|objective| load_line(runs, objective)))
}

impl SessionCurve<'_> {
    pub fn at_knee(&self) -> Option<&SessionPoint<'_>> {
        let knee = self.curve.knee?;
        let away = |point: &&SessionPoint<'_>| (point.run().figures.iops.value - knee.iops).abs();
        let offered = self.points.iter().filter(|point| point.run().offered == knee.offered);
        offered.min_by(|a, b| away(a).total_cmp(&away(b)))
    }

    /// The point with the highest throughput.
    pub fn best(&self) -> Option<&SessionPoint<'_>> {
        let rate = |point: &&SessionPoint<'_>| number::value(&point.run().figures.iops).unwrap_or(0.0);
        self.points.iter().max_by(|a, b| rate(a).total_cmp(&rate(b))).filter(|point| rate(point) > 0.0)
    }

    /// Number of points with completed transactions.
    pub fn observe(&self) -> usize {
        pick::complete_runs(&self.curve).count()
    }
}

/// The offered load: `8 sessions`, or the rate of an open load with its number of sessions.
pub(crate) fn format_load(point: &SessionPoint<'_>) -> String {
    match point.run().offered {
        Pace::Closed { .. } => sessions(point.session_run.sessions),
        Pace::Open { rate, .. } => {
            say!("{} transactions/s by {}", number::rate(rate.as_f64()), sessions(point.session_run.sessions))
        }
    }
}
