//! A curve as comma-separated values (RFC 4180): one row a run, then one for each of its streams and kinds.

mod page;
mod suite;

use plimsoll_load::Pace;
use plimsoll_record::{Bins, Counter, Curve, Estimate, Run, Steadiness};

use crate::{pick, words};

pub use page::page_csv;
pub use suite::suite_csv;

const HEADER: &[&str] = &[
    "subject",
    "source",
    "run",
    "pace",
    "depth",
    "offered_iops",
    "arrival",
    "scope",
    "stream",
    "kind",
    "warm_up_s",
    "span_s",
    "operations",
    "failed_operations",
    "unserved_operations",
    "iops",
    "iops_low",
    "iops_high",
    "bytes_per_s",
    "mean_ns",
    "mean_ns_low",
    "mean_ns_high",
    "p50_ns",
    "p50_ns_low",
    "p50_ns_high",
    "p99_ns",
    "p99_ns_low",
    "p99_ns_high",
    "p99.9_ns",
    "p99.9_ns_low",
    "p99.9_ns_high",
    "max_ns",
    "service_p50_ns",
    "service_p99_ns",
    "in_flight",
    "steadiness",
    "findings",
];

/// One row per run and, below it, one per stream and kind of it. Lines end in CR LF; a figure that is not known is an
/// empty field, never a zero. Columns ending in `_low` and `_high` are the ends of 95 % intervals.
pub fn csv(curve: &Curve) -> String {
    let mut out = String::new();
    row(&mut out, HEADER.iter().map(|name| (*name).to_owned()));
    for (index, run) in curve.runs.iter().enumerate() {
        let head = head(curve, index, run);
        row(&mut out, head.iter().cloned().chain(whole(run)));
        for counter in &run.total.0 {
            row(&mut out, head.iter().cloned().chain(part(curve, run, counter)));
        }
    }
    out
}

/// What all rows of a run begin with.
fn head(curve: &Curve, index: usize, run: &Run) -> Vec<String> {
    let [pace, depth, rate, arrival] = match run.offered {
        Pace::Closed { depth } => ["closed".into(), depth.to_string(), String::new(), String::new()],
        Pace::Open { rate, arrival } => {
            ["open".into(), String::new(), plain(rate.as_f64()), words::spacing(arrival).to_lowercase()]
        }
    };
    let (subject, source) = (words::clean(&curve.subject.name), curve.source.word().to_owned());
    vec![subject, source, (index + 1).to_string(), pace, depth, rate, arrival]
}

fn whole(run: &Run) -> Vec<String> {
    let figures = &run.figures;
    let (response, service) = (run.total.response(), run.total.service());
    let mut cells = vec!["all".into(), String::new(), String::new()];
    cells.extend(times(run));
    cells.extend([run.total.operations(), run.total.errors(), run.unserved].map(|count| count.to_string()));
    cells.extend(estimate(&figures.iops));
    cells.push(plain(figures.bytes_per_second));
    for latency in [&figures.mean_ns, &figures.p50_ns, &figures.p99_ns, &figures.p999_ns] {
        let known = run.total.operations() > 0;
        cells.extend(if known { estimate(latency) } else { Default::default() });
    }
    cells.extend([most(&response), quantile(&service, 0.5), quantile(&service, 0.99)]);
    cells.push(plain(figures.in_flight));
    cells.push(steadiness(figures.steadiness).into());
    cells.push(run.findings.iter().map(words::finding).collect::<Vec<_>>().join("; "));
    cells
}

fn part(curve: &Curve, run: &Run, counter: &Counter) -> Vec<String> {
    let rates = pick::rates(run, counter);
    let bare = |value: String| [value, String::new(), String::new()];
    let spec = curve.conditions.streams.get(usize::from(counter.stream));
    let name = spec.map_or_else(|| counter.stream.to_string(), |spec| words::clean(&spec.name));
    let failed: u64 = counter.errors.iter().map(|(_, count)| count).sum();
    let mut cells = vec!["stream and kind".into(), name, counter.kind.name().into()];
    cells.extend(times(run));
    cells.extend([counter.operations().to_string(), failed.to_string(), String::new()]);
    cells.extend(bare(rates.map_or(String::new(), |rates| plain(rates.iops))));
    cells.push(rates.map_or(String::new(), |rates| plain(rates.bytes_per_second)));
    cells.extend(bare(counter.response.mean().map_or(String::new(), |mean| mean.as_nanos().to_string())));
    for q in [0.5, 0.99, 0.999] {
        cells.extend(bare(quantile(&counter.response, q)));
    }
    cells.extend([most(&counter.response), quantile(counter.service(), 0.5), quantile(counter.service(), 0.99)]);
    cells.extend([String::new(), String::new(), String::new()]);
    cells
}

fn times(run: &Run) -> [String; 2] {
    [plain(run.warm_up.as_secs_f64()), plain(run.span.as_secs_f64())]
}

fn estimate(estimate: &Estimate) -> [String; 3] {
    let (low, high) = estimate.interval.map_or((f64::NAN, f64::NAN), |interval| interval);
    [plain(estimate.value), plain(low), plain(high)]
}

fn quantile(bins: &Bins, q: f64) -> String {
    bins.quantile(q).map_or(String::new(), |value| value.as_nanos().to_string())
}

fn most(bins: &Bins) -> String {
    if bins.is_empty() { String::new() } else { bins.max_ns.to_string() }
}

/// A number to a thousandth, without grouping or trailing zeros; what is not finite is empty.
pub(crate) fn plain(value: f64) -> String {
    if value.is_finite() { ((value * 1e3).round() / 1e3).to_string() } else { String::new() }
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

fn row(out: &mut String, cells: impl Iterator<Item = String>) {
    for (index, cell) in cells.enumerate() {
        if index > 0 {
            out.push(',');
        }
        quote(out, &cell);
    }
    out.push_str("\r\n");
}

/// Quotes a field that needs it (RFC 4180, 2.6 and 2.7).
fn quote(out: &mut String, cell: &str) {
    if cell.contains([',', '"', '\r', '\n']) {
        out.push('"');
        out.push_str(&cell.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(cell);
    }
}
