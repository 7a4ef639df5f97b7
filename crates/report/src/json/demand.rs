//! Demand.

use plimsoll_ingest::{
    Caution, Demand, Evidence, Fate, Figure, Measure, MissCurve, Outcome, Reading, Statistic, Subject, Verdict,
};
use serde_json::{Value, json};

use super::number;
use crate::pages::measure_name;

pub(super) fn demand(outcomes: &[Outcome], demand: &Demand) -> Value {
    json!({
        "format": "plimsoll.demand/1",
        "inputs": outcomes.iter().map(input).collect::<Vec<_>>(),
        "subjects": demand.subjects.iter().map(subject).collect::<Vec<_>>(),
    })
}

fn input(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Refused { name, refusal } => json!({
            "name": name,
            "kind": outcome.kind().map(|kind| kind.id),
            "verdict": "refused",
            "refused": refusal.to_string(),
        }),
        Outcome::Read(reading) => read(reading, outcome.verdict()),
    }
}

/// An input without its numbers.
pub(super) fn summary(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Refused { .. } => input(outcome),
        Outcome::Read(reading) => json!({
            "name": reading.name,
            "kind": reading.kind.id,
            "version": reading.version,
            "cautions": cautions(reading),
        }),
    }
}

fn cautions(reading: &Reading) -> Vec<Value> {
    let of =
        |caution: &Caution| json!({ "place": caution.origin.as_ref().map(ToString::to_string), "text": caution.text });
    reading.cautions.iter().map(of).collect()
}

fn read(reading: &Reading, verdict: Verdict) -> Value {
    let parts = reading.parts.iter().map(|part| {
        let (fate, numbers) = match part.fate {
            Fate::Read(numbers) => ("read", Some(numbers)),
            Fate::Empty => ("empty", None),
            Fate::Missing => ("missing", None),
            Fate::Broken => ("broken", None),
            Fate::Ignored => ("ignored", None),
        };
        json!({ "name": part.name, "fate": fate, "numbers": numbers })
    });
    json!({
        "name": reading.name,
        "kind": reading.kind.id,
        "verdict": if verdict == Verdict::Read { "read" } else { "partly" },
        "version": reading.version,
        "assumed_zone": reading.assumed_zone,
        "sections": parts.collect::<Vec<_>>(),
        "cautions": cautions(reading),
        "figures": reading.figures.iter().map(|one| figure(reading, one)).collect::<Vec<_>>(),
        "evidence": reading.evidence.iter().map(evidence).collect::<Vec<_>>(),
        "miss_curves": reading.curves.iter().map(miss_curve).collect::<Vec<_>>(),
    })
}

/// A measure's name with its unit.
const fn key(measure: Measure) -> &'static str {
    match measure {
        Measure::Iops => "iops",
        Measure::Throughput => "bytes_per_second",
        Measure::Size => "bytes",
        Measure::Latency => "seconds",
        Measure::Depth => "operations",
        Measure::Busy => "share",
    }
}

const fn statistic(statistic: Statistic) -> &'static str {
    match statistic {
        Statistic::Mean => "mean",
        Statistic::Maximum => "maximum",
    }
}

fn figure(reading: &Reading, figure: &Figure) -> Value {
    let scope = &reading.scopes[figure.scope as usize];
    let window = &reading.windows[figure.window as usize];
    json!({
        "database": scope.database,
        "instance": scope.instance,
        "host": scope.host,
        "part": scope.part,
        "begin": window.begin.map(|begin| begin.to_string()),
        "window_ns": window.length.as_nanos(),
        "class": figure.class.name(),
        "measure": measure_name(figure.measure),
        "statistic": statistic(figure.statistic),
        "unit": key(figure.measure),
        "value": number(figure.value),
        "line": (figure.origin.line > 0).then_some(figure.origin.line),
        "table": figure.origin.table.as_deref(),
        "field": &*figure.origin.field,
    })
}

fn evidence(one: &Evidence) -> Value {
    let known = |value: Option<f64>| value.map_or(Value::Null, number);
    let quantile = |(quantile, seconds): &(f64, f64)| json!({ "quantile": quantile, "seconds": number(*seconds) });
    json!({
        "test": one.test,
        "reads_share": known(one.setting.reads),
        "sequential": one.setting.sequential,
        "block_bytes": known(one.setting.block_bytes),
        "depth": known(one.setting.depth),
        "threads": known(one.setting.threads),
        "iops": known(one.iops),
        "bytes_per_second": known(one.bytes_s),
        "transactions_per_second": known(one.transactions_s),
        "mean_seconds": known(one.mean_s),
        "quantiles": one.quantiles.iter().map(quantile).collect::<Vec<_>>(),
        "lasted_seconds": known(one.lasted_s),
        "at_seconds": known(one.at_s),
        "place": one.origin.to_string(),
    })
}

fn miss_curve(curve: &MissCurve) -> Value {
    let point =
        |(bytes, misses): &(f64, f64)| json!({ "cache_bytes": number(*bytes), "misses_share": number(*misses) });
    json!({
        "reads": number(curve.reads),
        "working_set_bytes": number(curve.working_set_bytes),
        "sampled_share": number(curve.sampled),
        "points": curve.points.iter().map(point).collect::<Vec<_>>(),
    })
}

fn subject(subject: &Subject) -> Value {
    let slots = subject
        .slots
        .iter()
        .map(|slot| json!({ "begin": slot.begin.map(|begin| begin.to_string()), "window_ns": slot.length.as_nanos() }));
    let series = subject.series.iter().map(|series| {
        let summary = subject.summary(series).map(|summary| {
            json!({
                "windows": summary.windows,
                "mean": number(summary.mean),
                "p50": number(summary.p50),
                "p95": number(summary.p95),
                "maximum": number(summary.maximum),
            })
        });
        json!({
            "class": series.class.name(),
            "measure": measure_name(series.measure),
            "statistic": statistic(series.statistic),
            "unit": key(series.measure),
            "values": series.values.iter().map(|value| value.map_or(Value::Null, number)).collect::<Vec<_>>(),
            "over_windows": summary,
        })
    });
    json!({
        "name": subject.name,
        "instances": subject.instances,
        "windows": slots.collect::<Vec<_>>(),
        "series": series.collect::<Vec<_>>(),
        "doubts": subject.doubts,
    })
}
