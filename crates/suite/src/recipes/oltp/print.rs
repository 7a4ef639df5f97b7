//! Results of short transactions: pgbench's layout, a table of all loads, and percentiles by kind.

use plimsoll_load::Pace;
use plimsoll_record::Bins;
use plimsoll_units::Span;

use super::{ExecutionMode, OltpOptions, OltpPoint};

/// A point in pgbench's layout.
pub(super) fn summary(options: &OltpOptions, by: ExecutionMode, point: &OltpPoint<'_>) -> String {
    let run = &point.run;
    let (done, failed) = (run.total.operations(), run.total.errors());
    let response = run.total.response();
    let load = match point.step.pace {
        Pace::Closed { depth } => format!("number of clients: {depth}\n"),
        Pace::Open { rate, .. } => {
            format!("arrivals: {:.1} a second, taken by {} clients\n", rate.as_f64(), point.step.sessions)
        }
    };
    let mode = if by == ExecutionMode::Statements { "prepared" } else { "prepared, one call each" };
    format!(
        "transaction type: {}\nscaling factor: {}\nquery mode: {mode}\n{load}duration: {:.1} s\n\
         number of transactions actually processed: {done}\nnumber of failed transactions: {failed} ({:.3}%)\n\
         latency average = {:.3} ms\nlatency stddev = {:.3} ms\ntps = {:.6}\n",
        options.script.name(),
        options.scale(),
        run.span.as_secs_f64(),
        100.0 * failed as f64 / (done + failed).max(1) as f64,
        mean(&response).as_millis_f64(),
        deviation(&response).as_millis_f64(),
        run.figures.iops.value,
    )
}

fn mean(times: &Bins) -> Span {
    times.mean().unwrap_or_default()
}

/// Standard deviation, to the width of the bins.
pub(super) fn deviation(times: &Bins) -> Span {
    if times.count < 2 {
        return Span::ZERO;
    }
    let mean_s = times.sum_ns as f64 / 1e9 / times.count as f64;
    let squares: f64 =
        times.upper_bounds().map(|(span, count)| count as f64 * (span.as_secs_f64() - mean_s).powi(2)).sum();
    Span::from_secs_f64((squares / times.count as f64).sqrt())
}

fn name_load(pace: Pace) -> String {
    match pace {
        Pace::Closed { depth } => format!("{depth} client{}", if depth == 1 { "" } else { "s" }),
        Pace::Open { rate, .. } => format!("{:.1}/s", rate.as_f64()),
    }
}

/// All loads: closed loads by clients, then open loads by rate.
pub(super) fn loads(points: &[OltpPoint<'_>]) -> String {
    let mut text = format!("{:<14}{:>12}{:>10}", "load", "tps", "failed");
    text.push_str(&format_heads());
    let mut sorted: Vec<&OltpPoint<'_>> = points.iter().collect();
    sorted.sort_by(|a, b| offered(a.step.pace).partial_cmp(&offered(b.step.pace)).unwrap_or(std::cmp::Ordering::Equal));
    for point in sorted {
        let run = &point.run;
        let (name, tps) = (name_load(point.step.pace), run.figures.iops.value);
        text.push_str(&format!("{name:<14}{tps:>12.1}{:>10}", run.total.errors()));
        text.push_str(&times(&run.total.response()));
    }
    text.push_str("times in milliseconds, of open loads from the arrival on\n");
    text
}

fn offered(pace: Pace) -> (bool, f64) {
    match pace {
        Pace::Closed { depth } => (false, f64::from(depth)),
        Pace::Open { rate, .. } => (true, rate.as_f64()),
    }
}

/// All kinds of transactions of a point.
pub(super) fn kinds(point: &OltpPoint<'_>) -> String {
    let mut text = format!("{:<14}{:>12}{:>10}", "kind", "processed", "share");
    text.push_str(&format_heads());
    let all = point.run.total.operations().max(1) as f64;
    for (stream, kind) in point.step.kinds.iter().enumerate() {
        let mine = point.run.total.only(|counter| usize::from(counter.stream) == stream);
        let done = mine.operations();
        text.push_str(&format!("{:<14}{done:>12}{:>9.1}%", kind.name, 100.0 * done as f64 / all));
        text.push_str(&times(&mine.response()));
    }
    text.push_str("times in milliseconds\n");
    text
}

fn format_heads() -> String {
    let heads = ["mean", "stddev", "p50", "p95", "p99", "p99.9", "max"];
    let cells: Vec<String> = heads.iter().map(|head| format!("{head:>11}")).collect();
    cells.concat() + "\n"
}

fn times(times: &Bins) -> String {
    let quantile = |share| times.quantile(share).unwrap_or_default();
    let spans = [
        mean(times),
        deviation(times),
        quantile(0.5),
        quantile(0.95),
        quantile(0.99),
        quantile(0.999),
        Span::from_nanos(times.max_ns),
    ];
    let cells: Vec<String> = spans.iter().map(|span| format!("{:>11.3}", span.as_millis_f64())).collect();
    cells.concat() + "\n"
}
