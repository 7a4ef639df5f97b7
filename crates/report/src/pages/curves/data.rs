//! Runs as CSV: a row for each run, followed by rows for its streams and operation kinds.

use plimsoll_load::Pace;
use plimsoll_record::{Bins, Counter, Curve, Estimate, Figures, Run, Steadiness};

use crate::csv::plain;
use crate::page::{Block, Table};
use crate::{pick, words};

/// A run, or a stream and kind of it.
struct RunRow<'a> {
    curve: &'a Curve,
    index: usize,
    run: &'a Run,
    counter: Option<&'a Counter>,
    response: Bins,
    service: Bins,
}

/// Column name and accessor.
type Field = (&'static str, fn(&RunRow<'_>) -> Option<String>);

/// Columns ending in `_low` and `_high` are the ends of 95 % intervals.
const FIELDS: [Field; 37] = [
    ("subject", |row| Some(words::clean(&row.curve.subject.name))),
    ("source", |row| Some(row.curve.source.word().to_owned())),
    ("run", |row| Some((row.index + 1).to_string())),
    ("pace", |row| Some(if pick::is_open(row.run) { "open" } else { "closed" }.to_owned())),
    ("depth", |row| if let Pace::Closed { depth } = row.run.offered { Some(depth.to_string()) } else { None }),
    (
        "offered_iops",
        |row| if let Pace::Open { rate, .. } = row.run.offered { Some(plain(rate.as_f64())) } else { None },
    ),
    ("arrival", |row| match row.run.offered {
        Pace::Open { arrival, .. } => Some(words::spacing(arrival).to_lowercase()),
        Pace::Closed { .. } => None,
    }),
    ("scope", |row| Some(row.counter.map_or("all", |_| "stream and kind").to_owned())),
    ("stream", |row| {
        let stream = row.counter?.stream;
        let spec = row.curve.conditions.streams.get(usize::from(stream));
        Some(spec.map_or_else(|| stream.to_string(), |spec| words::clean(&spec.name)))
    }),
    ("kind", |row| Some(row.counter?.kind.name().to_owned())),
    ("warm_up_s", |row| Some(plain(row.run.warm_up.as_secs_f64()))),
    ("span_s", |row| Some(plain(row.run.span.as_secs_f64()))),
    ("operations", |row| Some(row.counter.map_or(row.run.total.operations(), Counter::operations).to_string())),
    ("failed_operations", |row| {
        let of = |counter: &Counter| counter.errors.iter().map(|(_, count)| count).sum();
        Some(row.counter.map_or(row.run.total.errors(), of).to_string())
    }),
    ("unserved_operations", |row| Some(row.total()?.run.unserved.to_string())),
    ("iops", |row| row.rate(|rates| rates.iops, row.run.figures.iops.value)),
    ("iops_low", |row| low(&row.total()?.run.figures.iops)),
    ("iops_high", |row| high(&row.total()?.run.figures.iops)),
    ("bytes_per_s", |row| row.rate(|rates| rates.bytes_per_second, row.run.figures.bytes_per_second)),
    ("mean_ns", |row| match row.counter {
        Some(counter) => Some(counter.response.mean()?.as_nanos().to_string()),
        None => Some(plain(row.existing()?.mean_ns.value)),
    }),
    ("mean_ns_low", |row| low(&row.existing()?.mean_ns)),
    ("mean_ns_high", |row| high(&row.existing()?.mean_ns)),
    ("p50_ns", |row| row.percentile(0.5, |figures| &figures.p50_ns)),
    ("p50_ns_low", |row| low(&row.existing()?.p50_ns)),
    ("p50_ns_high", |row| high(&row.existing()?.p50_ns)),
    ("p99_ns", |row| row.percentile(0.99, |figures| &figures.p99_ns)),
    ("p99_ns_low", |row| low(&row.existing()?.p99_ns)),
    ("p99_ns_high", |row| high(&row.existing()?.p99_ns)),
    ("p99.9_ns", |row| row.percentile(0.999, |figures| &figures.p999_ns)),
    ("p99.9_ns_low", |row| low(&row.existing()?.p999_ns)),
    ("p99.9_ns_high", |row| high(&row.existing()?.p999_ns)),
    ("max_ns", |row| (!row.response.is_empty()).then(|| row.response.max_ns.to_string())),
    ("service_p50_ns", |row| quantile(&row.service, 0.5)),
    ("service_p99_ns", |row| quantile(&row.service, 0.99)),
    ("in_flight", |row| Some(plain(row.total()?.run.figures.in_flight))),
    ("steadiness", |row| Some(steadiness(row.total()?.run.figures.steadiness).to_owned())),
    ("findings", |row| Some(row.total()?.run.findings.iter().map(words::finding).collect::<Vec<_>>().join("; "))),
];

/// A row per run, followed by a row per stream and kind; an unknown figure is an empty field, never zero.
pub(super) fn data(curves: &[&Curve]) -> Block {
    let runs = curves.iter().flat_map(|curve| curve.runs.iter().enumerate().map(|(index, run)| (*curve, index, run)));
    let rows = runs.flat_map(|(curve, index, run)| {
        let counters = run.total.0.iter().map(Some);
        std::iter::once(None).chain(counters).map(move |counter| RunRow {
            curve,
            index,
            run,
            counter,
            response: counter.map_or_else(|| run.total.response(), |counter| counter.response.clone()),
            service: counter.map_or_else(|| run.total.service(), |counter| counter.service().clone()),
        })
    });
    let fields = |row: RunRow<'_>| FIELDS.iter().map(|(_, field)| field(&row).unwrap_or_default()).collect();
    Table::data(&FIELDS.map(|(name, _)| name), rows.map(fields))
}

impl RunRow<'_> {
    /// The row if it represents a whole run.
    fn total(&self) -> Option<&Self> {
        self.counter.is_none().then_some(self)
    }

    /// Figures of a whole run with completed operations.
    fn existing(&self) -> Option<&Figures> {
        self.total().filter(|row| row.run.total.operations() > 0).map(|row| &row.run.figures)
    }

    fn rate(&self, of: fn(&pick::Rates) -> f64, total: f64) -> Option<String> {
        match self.counter {
            Some(counter) => pick::rates(self.run, counter).map(|rates| plain(of(&rates))),
            None => Some(plain(total)),
        }
    }

    fn percentile(&self, q: f64, of: fn(&Figures) -> &Estimate) -> Option<String> {
        if self.counter.is_some() { quantile(&self.response, q) } else { Some(plain(of(self.existing()?).value)) }
    }
}

fn low(estimate: &Estimate) -> Option<String> {
    estimate.interval.map(|(low, _)| plain(low))
}

fn high(estimate: &Estimate) -> Option<String> {
    estimate.interval.map(|(_, high)| plain(high))
}

fn quantile(bins: &Bins, q: f64) -> Option<String> {
    bins.quantile(q).map(|value| value.as_nanos().to_string())
}

const fn steadiness(steadiness: Steadiness) -> &'static str {
    match steadiness {
        Steadiness::Steady => "steady",
        Steadiness::Drifting => "drifting",
        Steadiness::Overloaded => "overloaded",
        Steadiness::Recorded => "recorded",
        Steadiness::Unknown => "unknown",
    }
}
