//! Verdict on a session curve in sentences: load line, limit, knee and maximum.

use plimsoll_language::say;
use plimsoll_load::Pace;
use plimsoll_record::{LoadLine, SuiteRun};

use super::{SessionCurve, SessionPoint, format_load};
use crate::words::{Counted, sessions};
use crate::{number, pick};

/// Sentences about a curve.
pub(crate) struct GroupVerdict {
    /// The load line; `None` if there are too few points.
    pub line: Option<String>,
    /// The limit, the knee, the maximum and the fitted law, each a sentence.
    pub rest: Vec<String>,
}

pub(crate) fn group_verdict(suite: &SuiteRun, group: &SessionCurve<'_>) -> GroupVerdict {
    let of = if group.name.is_empty() { String::new() } else { format!("{}: ", group.name) };
    let line = group.curve.load_line.as_ref().map(|line| {
        let by = at_line(group).map_or(String::new(), |by| say!(", by {by}"));
        say!("{of}Load line: {}{by}", Counted::Transactions.load_line(line))
    });
    let mut rest = Vec::new();
    if let (Some(limit), Some(best)) = (limit_at(group), group.best()) {
        rest.push(say!("Limit with {}: {limit}.", format_load(best)));
    }
    if let (Some(knee), Some(point)) = (group.curve.knee, group.at_knee()) {
        let (rate, mean) = (number::three(knee.iops), number::time(knee.mean_ns));
        rest.push(say!("Knee: {rate} transactions/s at a mean of {mean} ({}).", format_load(point)));
    }
    if let Some(best) = group.best() {
        let rate = number::three(best.session_run.run.figures.iops.value);
        rest.push(say!("Maximum: {rate} transactions/s ({}).", format_load(best)));
    }
    rest.extend(fitted(suite, group));
    GroupVerdict { line, rest }
}

/// The law fitted to all points, if the group is the only one.
fn fitted(suite: &SuiteRun, group: &SessionCurve<'_>) -> Option<String> {
    let law = suite.database.as_ref()?.fitted.filter(|law| !law.demand.is_zero() && law.error.is_finite())?;
    let all =
        suite.steps.iter().filter(|step| step.counts && matches!(step.work, plimsoll_record::StepWork::Sessions(_)));
    let own = group.points.iter().map(|point| point.rounds).sum::<usize>();
    let max = number::three(1.0 / law.demand.as_secs_f64());
    (all.count() == own).then(|| {
        say!(
            "A model of a delay and a queue fits within {}: a transaction takes {} at the bottleneck and {} elsewhere, which allows \
             at most {max} transactions/s.",
            number::percent((law.error * 1e3).round() / 1e3),
            law.demand,
            law.delay
        )
    })
}

/// Number of sessions at the load line: `8 sessions`, or `8 to 16 sessions` if it lies between two points.
fn at_line(group: &SessionCurve<'_>) -> Option<String> {
    const SAME: f64 = 0.02;
    let line = group.curve.load_line.as_ref()?;
    let iops = pick::line_iops(line)?.value;
    let closed: Vec<&SessionPoint<'_>> =
        group.points.iter().filter(|point| matches!(point.session_run.run.offered, Pace::Closed { .. })).collect();
    if closed.len() < group.points.len() {
        // With open loads, any free session takes the next transaction, so the number of sessions is an upper bound.
        let rate = |point: &&SessionPoint<'_>| (point.session_run.run.figures.iops.value - iops).abs();
        let open = group.points.iter().filter(|point| pick::is_open(&point.session_run.run));
        let nearest = open.min_by(|a, b| rate(a).total_cmp(&rate(b)))?;
        return Some(say!("up to {}", sessions(nearest.session_run.sessions)));
    }
    let rate_of = |point: &SessionPoint<'_>| point.session_run.run.figures.iops.value;
    // Throughput may fall beyond saturation: the load line is the first crossing.
    let beyond = closed.iter().position(|point| rate_of(point) > iops * (1.0 + 1e-9));
    let below = match beyond {
        Some(first) => first.checked_sub(1)?,
        None => (0..closed.len()).max_by(|a, b| rate_of(closed[*a]).total_cmp(&rate_of(closed[*b])))?,
    };
    let (low, high) = (closed[below], closed.get(below + 1));
    let rate = rate_of(low);
    match high.filter(|_| matches!(line, LoadLine::At { .. }) && rate < iops * (1.0 - SAME)) {
        Some(high) if high.session_run.sessions > low.session_run.sessions => Some(say!(
            "{} to {}",
            number::integer(f64::from(low.session_run.sessions)),
            sessions(high.session_run.sessions)
        )),
        _ => Some(sessions(low.session_run.sessions)),
    }
}

/// The binding limit at the point of highest throughput.
pub(crate) fn limit_at(group: &SessionCurve<'_>) -> Option<String> {
    group.best()?.limit()
}
