//! Metrics of a measurement.

use plimsoll_record::{Curve, EndReason, LoadLine, Run, Weight};

use super::{Exposition, LabelledValue};
use crate::{number, pick};

/// Metrics of a run. Unknown figures have no sample; the target is a label, as a directory may have files of several
/// targets.
pub fn run_metrics(curve: &Curve) -> Exposition {
    let mut page = Exposition::default();
    let target = ("target", curve.subject.name.as_str());
    let objective = curve.load_line.map_or(String::new(), |line| line.objective().to_string());
    let info = vec![target, ("source", curve.source.word()), ("objective", &objective)];
    let help = "Target of the measurement, source of its figures, and objective of its load line; always 1.";
    page.labelled(("plimsoll_run_info", "gauge", help), &[(info, Some(1.0))]);
    for (name, help, value) in list_figures(curve) {
        page.labelled((name, "gauge", help), &[(vec![target], value)]);
    }
    let count = |weight: Weight| {
        let of_runs = curve.runs.iter().flat_map(|run| &run.findings);
        curve.findings.iter().chain(of_runs).filter(|finding| finding.weight() == weight).count() as f64
    };
    let weights = [("void", Weight::Void), ("caution", Weight::Caution), ("note", Weight::Note)];
    let findings = weights.map(|(name, weight)| (vec![target, ("weight", name)], Some(count(weight))));
    let help = "Findings about the measurement and its loads.";
    page.labelled(("plimsoll_run_findings", "gauge", help), &findings);
    let at_line = pick::at_line(curve).filter(|_| pick::has_line(curve));
    let loads = [("lightest", pick::lightest(curve)), ("load-line", at_line)];
    let times = loads.into_iter().filter_map(|(at, run)| Some(response_times(target, at, run?)));
    let help = "Response time at the lightest load, and at the load nearest the load line.";
    page.labelled(("plimsoll_run_response_seconds", "gauge", help), &times.flatten().collect::<Vec<_>>());
    page
}

/// Name, description and value of the figures without further labels.
fn list_figures(curve: &Curve) -> [(&'static str, &'static str, Option<f64>); 9] {
    let flag = |is: bool| Some(f64::from(u8::from(is)));
    let line = match &curve.load_line {
        Some(LoadLine::Never { .. }) => Some((0.0, None)),
        Some(line) => pick::line_iops(line).map(|iops| (iops.value, number::interval(&iops))),
        None => None,
    };
    let interval = line.and_then(|(_, interval)| interval);
    let limit = curve.load_line.map(|line| line.objective().limit.as_secs_f64());
    let maximum = pick::fastest(curve).filter(|_| pick::has_maximum(curve)).map(|run| run.figures.iops.value);
    [
        (
            "plimsoll_run_complete",
            "1 if the measurement was completed, 0 if not.",
            flag(curve.ended == EndReason::Complete),
        ),
        ("plimsoll_run_valid", "0 if a finding voids the figures, 1 if not.", flag(curve.void().is_none())),
        ("plimsoll_run_duration_seconds", "Duration of the measurement.", Some(curve.wall.as_secs_f64())),
        ("plimsoll_run_objective_seconds", "Limit of the response time of the load line.", limit),
        (
            "plimsoll_run_load_line_iops",
            "Highest load within the objective; a lower bound if no load missed it.",
            line.map(|(iops, _)| iops),
        ),
        ("plimsoll_run_load_line_low_iops", "Lower end of its 95 % interval.", interval.map(|(low, _)| low)),
        ("plimsoll_run_load_line_high_iops", "Upper end of its 95 % interval.", interval.map(|(_, high)| high)),
        ("plimsoll_run_max_iops", "Highest throughput.", maximum),
        (
            "plimsoll_run_knee_iops",
            "Load beyond which latency grows faster than throughput.",
            pick::find_knee(curve).map(|knee| knee.iops),
        ),
    ]
}

fn response_times<'a>(target: (&'static str, &'a str), at: &'a str, run: &Run) -> [LabelledValue<'a>; 3] {
    let figures = &run.figures;
    [("0.5", &figures.p50_ns), ("0.99", &figures.p99_ns), ("0.999", &figures.p999_ns)].map(|(quantile, time)| {
        (vec![target, ("at", at), ("quantile", quantile)], number::value(time).map(|ns| ns / 1e9))
    })
}
