//! The verdict on a curve: knee, load line with its objective, and findings about the load line.

use plimsoll_record::{
    Curve, EndReason, Estimate, Finding, Lasting, LineBasis, LoadLine, LoadSlot, NoLine, Objective, ObjectiveOrigin,
    Run,
};
use plimsoll_units::Span;

use crate::by_load::{by_load, order};
use crate::estimate::{closed_line, headline_objective};
use crate::knee::{accept_drift_beyond, reached_knee};
use crate::load_line::{chosen_objective, judged};

/// Joins the slots of each load to a run, orders runs by load, and computes knee and load line.
///
/// An interrupted or failed measurement has neither.
pub fn judge(curve: &mut Curve, remembered: Option<Objective>) {
    if curve.conditions.trace.is_some() {
        curve.runs.sort_by(|a, b| order(a.offered).total_cmp(&order(b.offered)));
        return;
    }
    let objective = select_objective(curve, remembered);
    if curve.slots.is_empty() {
        curve.runs.sort_by(|a, b| order(a.offered).total_cmp(&order(b.offered)));
    } else {
        curve.runs = by_load(&curve.runs, objective.map(|(objective, _)| objective));
    }
    if curve.ended != EndReason::Complete {
        return;
    }
    curve.knee = reached_knee(&curve.runs);
    if let Some(knee) = &curve.knee {
        accept_drift_beyond(knee, &mut curve.runs);
    }
    if let Some((objective, origin)) = objective {
        set_load_line(curve, objective, origin);
    }
}

/// Sets a common objective for compared curves: the laxest, unless given.
pub fn share_objective(curves: &mut [Curve]) {
    let chosen = curves.iter().filter_map(|curve| curve.load_line).map(|line| line.objective());
    let Some(laxest) = chosen.max_by_key(|objective| objective.limit) else { return };
    for curve in curves.iter_mut().filter(|curve| curve.ended == EndReason::Complete) {
        let own = curve.load_line.map(|line| line.objective());
        let origin = curve.basis.map(|basis| basis.origin).filter(|_| own == Some(laxest));
        set_load_line(curve, laxest, origin.unwrap_or(ObjectiveOrigin::Shared));
    }
}

/// Computes the load line for an objective, replacing an earlier load line and its findings.
fn set_load_line(curve: &mut Curve, objective: Objective, origin: ObjectiveOrigin) {
    let Some((line, basis)) = judged(curve, objective) else { return };
    curve.load_line = Some(line);
    curve.closed_line = closed_line(&curve.slots, objective);
    curve.basis = basis.map(|basis| LineBasis { origin, ..basis });
    curve.findings.retain(|finding| !is_of_line(finding));
    curve.findings.extend(curve.basis.iter().flat_map(|basis| list_doubts(basis, &line)).collect::<Vec<_>>());
}

/// True for findings about the load line of an objective.
const fn is_of_line(finding: &Finding) -> bool {
    matches!(
        finding,
        Finding::CarriedInBursts { .. }
            | Finding::MissedWhenHeld { .. }
            | Finding::LineFell { .. }
            | Finding::SlotsLeftOut { .. }
    )
}

/// The objective of the load line, and its origin.
fn select_objective(curve: &Curve, remembered: Option<Objective>) -> Option<(Objective, ObjectiveOrigin)> {
    let given = curve.conditions.objective.map(|objective| (objective, ObjectiveOrigin::Given));
    let remembered = remembered.map(|objective| (objective, ObjectiveOrigin::Retained));
    given.or(remembered).or_else(|| {
        let (objective, light_p99) = default_objective(&curve.slots, &curve.runs)?;
        Some((objective, ObjectiveOrigin::Chosen { light_p99 }))
    })
}

/// Default objective of a curve, with the 99th percentile of its lightest load, which is zero without slots.
pub fn default_objective(slots: &[LoadSlot], runs: &[Run]) -> Option<(Objective, Span)> {
    headline_objective(slots).or_else(|| chosen_objective(runs).map(|objective| (objective, Span::ZERO)))
}

/// Findings about the load line.
fn list_doubts(basis: &LineBasis, line: &LoadLine) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(Estimate { value, .. }) = line.iops() {
        match basis.lasting {
            Lasting::BurstsOnly { burst_iops: burst } => {
                found.push(Finding::CarriedInBursts { burst, lasting: value });
            }
            Lasting::MissedWhenHeld { slots_iops: slots } => {
                found.push(Finding::MissedWhenHeld { slots, sustained: value });
            }
            Lasting::NotHeld | Lasting::Sustained { .. } => {}
        }
    }
    if let Some((before, after)) = basis.halves.filter(|_| basis.fell) {
        found.push(Finding::LineFell { before, after });
    }
    let is_judged = !matches!(line, LoadLine::Refused { why: NoLine::HostTaken { .. }, .. });
    if basis.left_out > 0 && is_judged {
        found.push(Finding::SlotsLeftOut { left_out: basis.left_out, of: basis.left_out + basis.slots });
    }
    found
}

#[cfg(test)]
mod tests {
    use plimsoll_load::{Arrival, Pace};
    use plimsoll_record::{Bins, SlotRole};
    use plimsoll_units::{Instant, Iops, Kind};

    use super::*;

    /// A slot of 2,000 operations, of which `slow` take 8 ms, optionally with equal generator lateness, and the others
    /// 1 ms.
    fn slot(rate: f64, slow: u64, is_generators: bool) -> LoadSlot {
        let spans = [(Span::from_millis(1), 2_000 - slow), (Span::from_millis(8), slow)];
        let late = if is_generators { slow } else { 0 };
        LoadSlot {
            offered: Pace::Open { rate: Iops::from_f64(rate), arrival: Arrival::Poisson },
            role: SlotRole::Pass,
            pass: 0,
            start: Instant::ZERO,
            warm_up: Span::ZERO,
            span: Span::from_secs(1),
            iops: rate,
            beside_iops: 0.0,
            response: vec![(Kind::Read, Bins::counted(spans, 2_000_000_000))],
            lateness: Bins::counted([(Span::ZERO, 2_000 - late), (Span::from_millis(8), late)], 0),
            host: None,
        }
    }

    fn curve(slots: Vec<LoadSlot>, limit_ms: u64) -> Curve {
        let json = r#"{"format":"plimsoll.curve/2","made_by":"a test","wall_ns":1,"command":[],"ended":"complete",
            "source":{"kind":"measured","engine":"io_uring"},"subject":{"name":"x","kind":"file","size":1},"host":null,
            "conditions":{"streams":[],"threads":1,"direct":true,"compressible":0.0,"seed":1,"objective":null},
            "runs":[],"knee":null,"load_line":null,"findings":[]}"#;
        let mut curve = Curve { slots, ..Curve::from_json(json.as_bytes()).expect("a curve") };
        let objective = format!("p99<={limit_ms}ms").parse().expect("an objective");
        set_load_line(&mut curve, objective, ObjectiveOrigin::Chosen { light_p99: Span::from_millis(1) });
        curve
    }

    #[test]
    fn findings_follow_the_shared_objective() {
        let loads = [1_000.0, 2_000.0, 3_000.0, 4_000.0, 5_000.0, 6_000.0];
        let mut slots: Vec<LoadSlot> =
            loads.into_iter().map(|rate| slot(rate, if rate > 4_500.0 { 1_000 } else { 0 }, false)).collect();
        slots.push(slot(2_000.0, 100, true));
        let [fast, slow] = [curve(slots.clone(), 5), curve(slots, 50)];
        let left_out = |curve: &Curve| curve.findings.iter().filter(|finding| is_of_line(finding)).count();
        assert_eq!((left_out(&fast), left_out(&slow)), (1, 0), "a lateness of 8 ms disturbs only the limit of 5 ms");
        let mut both = [fast, slow];
        share_objective(&mut both);
        assert_eq!(both.each_ref().map(left_out), [0, 0], "{:?}", both[0].findings);
        assert_eq!(both.each_ref().map(|curve| curve.load_line.map(|line| line.objective())), {
            let shared = "p99<=50ms".parse().ok();
            [shared, shared]
        });
        assert_eq!(both[0].basis.map(|basis| basis.origin), Some(ObjectiveOrigin::Shared));
        assert!(matches!(both[1].basis.map(|basis| basis.origin), Some(ObjectiveOrigin::Chosen { .. })));
    }
}
