//! Crowds of sessions as curves: which steps are one curve, and what came of each. Knows nothing about layout.

mod headline;
mod tables;

use plimsoll_analyse::{chosen_objective, knee, load_line};
use plimsoll_load::Pace;
use plimsoll_record::{Conditions, Curve, FORMAT, Knee, LoadLine, Run, SessionRun, StepRun, StepWork, SuiteRun};
use plimsoll_units::{Bytes, Span};

use crate::suite::rows;
use crate::words::{clean, sessions};
use crate::{number, pick};

pub(crate) use headline::{group_verdict, limit_at};
pub(crate) use tables::{below, responses, splits};

/// One load of sessions side by side, in its median round.
#[derive(Clone, Copy)]
pub(crate) struct Point<'a> {
    pub step: &'a StepRun,
    pub crowd: &'a SessionRun,
    /// Rounds that count.
    pub rounds: usize,
    /// Its group is the only one.
    is_alone: bool,
    /// No other of its group has as many sessions.
    is_told: bool,
}

/// Crowds that are one curve: the names of their steps begin alike up to the colon.
pub(crate) struct Group<'a> {
    /// What the names begin with; empty where there is no colon.
    pub name: String,
    /// In the order of what was offered, closed loads first.
    pub points: Vec<Point<'a>>,
    /// The same as a curve, each point a run; its subject is called by the name, where there is one.
    pub curve: Curve,
}

impl<'a> Point<'a> {
    /// What stands after the colon of the step's name, or all of it; where that is long, how many sessions there were.
    pub fn label(&self) -> String {
        const LONG: usize = 24;
        let name = clean(divided(&self.step.name).1);
        let closed = matches!(self.run().offered, Pace::Closed { .. });
        if closed && self.is_told && name.chars().count() > LONG { sessions(self.crowd.sessions) } else { name }
    }

    /// The same, with the name of its group before it where there are several.
    pub fn name(&self) -> String {
        match divided(&self.step.name).0 {
            group if self.is_alone || group.is_empty() => self.label(),
            group => format!("{}: {}", clean(group), self.label()),
        }
    }

    /// Blocks that the database read and wrote, a second; none where it counts neither.
    pub fn blocks(&self) -> Option<f64> {
        let counted = &self.crowd.counted;
        let both = counted.reads.into_iter().chain(counted.writes).reduce(u64::saturating_add);
        self.per_second(both)
    }

    /// A count over the measured time.
    pub fn per_second(&self, count: Option<u64>) -> Option<f64> {
        let seconds = self.crowd.run.span.as_secs_f64();
        count.filter(|_| seconds > 0.0).map(|count| count as f64 / seconds)
    }

    /// Mean time of a read as the database sees it.
    pub fn read_as_seen(&self) -> Option<Span> {
        self.crowd.counted.read_latency()
    }

    /// Mean time of a read as the block device shows it.
    pub fn read_below(&self) -> Option<Span> {
        self.crowd.storage.disk.as_ref()?.read_latency()
    }

    /// Share of the database's reads that the page cache answered: what it asked for, less what came from the storage.
    pub fn page_cache_share(&self, block: u64) -> Option<f64> {
        self.crowd.storage.page_cache_share(&self.crowd.counted, Bytes::new(block))
    }

    /// What held it, as far as it was told: in the words of the run, or the limit of a model.
    pub fn limit(&self) -> Option<String> {
        let told = self.crowd.limit.as_ref().map(|limit| clean(limit));
        told.or_else(|| {
            let (name, share) = self.crowd.storage.bound_by.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
            Some(format!("{} ({})", clean(name), crate::words::database::share(*share)))
        })
    }

    fn run(&self) -> &'a Run {
        &self.crowd.run
    }
}

/// A step's name before and after its colon; without one, all of it is behind.
pub(crate) fn divided(name: &str) -> (&str, &str) {
    name.split_once(':').map_or(("", name.trim()), |(group, rest)| (group.trim(), rest.trim()))
}

/// The crowds of a suite that count, as curves, in the order in which they began.
pub(crate) fn groups(suite: &SuiteRun) -> Vec<Group<'_>> {
    let mut found: Vec<(&str, Vec<Point<'_>>)> = Vec::new();
    for row in rows(suite) {
        let StepWork::Sessions(crowd) = &row.step.work else { continue };
        let name = divided(&row.step.name).0;
        let point = Point { step: row.step, crowd, rounds: row.rounds, is_alone: false, is_told: false };
        match found.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => found.push((name, vec![point])),
        }
    }
    let alone = found.len() == 1;
    found.into_iter().map(|(name, points)| group(suite, clean(name), points, alone)).collect()
}

fn group<'a>(suite: &'a SuiteRun, name: String, mut points: Vec<Point<'a>>, alone: bool) -> Group<'a> {
    let offered = |point: &Point<'_>| match point.run().offered {
        Pace::Closed { depth } => (false, f64::from(depth)),
        Pace::Open { rate, .. } => (true, rate.as_f64()),
    };
    let sizes: Vec<u32> = points.iter().map(|point| point.crowd.sessions).collect();
    for point in &mut points {
        point.is_alone = alone;
        point.is_told = sizes.iter().filter(|size| **size == point.crowd.sessions).count() == 1;
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
            threads: points.iter().map(|point| point.crowd.sessions).max().unwrap_or(0),
            direct: false,
            compressible: 0.0,
            seed: 0,
            objective: load_line.map(|line| line.objective()),
            trace: None,
        },
        runs,
        knee,
        load_line,
        basis: None,
        slots: Vec::new(),
        findings: Vec::new(),
    };
    Group { name, points, curve }
}

/// The knee and the load line of a curve. What was drawn for all steps of a suite is that of its only curve; of several,
/// each has its own.
fn judged(suite: &SuiteRun, runs: &[Run], alone: bool) -> (Option<Knee>, Option<LoadLine>) {
    let side = suite.database.as_deref();
    if let Some(side) = side.filter(|_| alone) {
        return (side.knee, side.load_line);
    }
    if runs.len() < 2 {
        return (None, None);
    }
    let asked = side.and_then(|side| side.load_line).map(|line| line.objective());
    let asked = asked.or_else(|| runs.iter().find_map(|run| run.figures.objective));
    let objective = asked.or_else(|| chosen_objective(runs));
    (knee(runs), objective.and_then(|objective| load_line(runs, objective)))
}

impl Group<'_> {
    /// The point at the knee.
    pub fn at_knee(&self) -> Option<&Point<'_>> {
        let knee = self.curve.knee?;
        let away = |point: &&Point<'_>| (point.run().figures.iops.value - knee.iops).abs();
        let offered = self.points.iter().filter(|point| point.run().offered == knee.offered);
        offered.min_by(|a, b| away(a).total_cmp(&away(b)))
    }

    /// The point that completed most.
    pub fn best(&self) -> Option<&Point<'_>> {
        let rate = |point: &&Point<'_>| number::seen(&point.run().figures.iops).unwrap_or(0.0);
        self.points.iter().max_by(|a, b| rate(a).total_cmp(&rate(b))).filter(|point| rate(point) > 0.0)
    }

    /// Points that something was completed at.
    pub fn seen(&self) -> usize {
        pick::seen(&self.curve).count()
    }
}

/// How a point was offered, in short: `8 sessions`, or the rate of an open load with its sessions.
pub(crate) fn offered(point: &Point<'_>) -> String {
    match point.run().offered {
        Pace::Closed { .. } => sessions(point.crowd.sessions),
        Pace::Open { rate, .. } => {
            format!("{} transactions/s offered to {}", number::rate(rate.as_f64()), sessions(point.crowd.sessions))
        }
    }
}
