//! Tables of curves: by run, by stream and kind, by objective, and side by side.

use plimsoll_catalogue::Price;
use plimsoll_language::{label, say};
use plimsoll_record::{Counter, Curve, Estimate, Figures, LoadLine, NoLine, Run, Steadiness};
use plimsoll_units::{Bytes, Span};

use super::Sheet;
use crate::latency::LatencyUnit;
use crate::page::{Block, Cell, Column, ColumnKind, Emphasis, IntervalPlace, PageSection, Table};
use crate::pages::limit;
use crate::words::clean;
use crate::{number, pick, words};

/// A row for each run, closed loads first.
pub(super) fn build_runs_section(curve: &Curve) -> PageSection {
    let (mut runs, open): (Vec<&Run>, Vec<&Run>) = curve.runs.iter().partition(|run| !pick::is_open(run));
    let closed = runs.len();
    runs.extend(&open);
    let unit = LatencyUnit::of(curve);
    let own = curve.load_line.map(|line| line.objective()).filter(pick::is_own_column);
    let chosen = pick::at_line(curve).filter(|_| pick::has_line(curve));
    let is_chosen = |run: &Run| chosen.is_some_and(|chosen| std::ptr::eq(chosen, run));
    let time = |name: &'static str, priority| Column::time(name, unit.name(), priority);
    let groups = [
        (0, closed, label!("closed load: fixed number in flight").to_owned()),
        (closed, open.len(), say!("open load: timed arrivals{}", spacing(&curve.runs))),
    ];
    let groups = groups.into_iter().filter(|(_, count, _)| *count > 0).map(|(first, _, name)| (first, name)).collect();
    let table = Table::rows(label!("Runs"), runs)
        .column(Column::text(label!("offered"), 0), |run| {
            let emphasis = if is_chosen(run) { Emphasis::Strong } else { Emphasis::Plain };
            Cell::text(words::offered(&run.offered)).with_emphasis(emphasis)
        })
        .column(Column::rate("IOPS", "", 0), |run| {
            let iops = &run.figures.iops;
            number::value(iops).map(|_| Cell::estimate(iops, number::rate))
        })
        .column(Column::new("±", "%", ColumnKind::Share, 1), |run| half_width(&run.figures.iops))
        .column(Column::rate("MB/s", "", 4), |run| megabytes(run.figures.bytes_per_second))
        .column(time(label!("mean"), 5), |run| latency(run, &run.figures.mean_ns, unit))
        .column(time("p50", 0), |run| latency(run, &run.figures.p50_ns, unit))
        .column(time("p99", 0), |run| latency(run, &run.figures.p99_ns, unit))
        .column(time("p99.9", 2), |run| latency(run, &run.figures.p999_ns, unit))
        .columns(own.map(|_| ((), time(label!("goal"), 0))), |run, ()| {
            latency(run, &run.figures.objective_ns.unwrap_or_default(), unit)
        })
        .column(time(label!("longest"), 7), |run| {
            let longest = run.total.response().max_ns;
            (longest > 0).then(|| unit.show(longest as f64))
        })
        .column(Column::new(label!("in flight"), "", ColumnKind::Share, 3), |run| {
            if pick::grew(run) { Cell::text(label!("grew")) } else { Cell::three(run.figures.in_flight) }
        })
        .column(Column::text(label!("remarks"), 0), |run| remarks(run))
        .column(Column::text(label!("limit"), 8), |run| {
            let (name, share) = dominant_limit(run)?;
            Some(say!("{} ({})", words::product_text(name), number::percent(*share)))
        })
        .table();
    let table = Table { groups, intervals: IntervalPlace::HtmlOnly, ..table };
    PageSection::bare(label!("Runs"), vec![Block::Table(table.with_notes(warm_up(&curve.runs)).without_unknown())])
}

fn spacing(runs: &[Run]) -> String {
    words::arrivals(runs).map(|spacing| say!(" ({spacing} arrivals)")).unwrap_or_default()
}

/// A response time; for an overloaded run, the value it grew to.
fn latency(run: &Run, estimate: &Estimate, unit: LatencyUnit) -> Cell {
    let show = |ns: f64| unit.show(ns);
    match number::value(estimate) {
        Some(ns) if pick::grew(run) => Cell::text(label!("grew")).with_interval(say!("to {}", show(ns))),
        Some(_) => Cell::estimate(estimate, show),
        None => Cell::unknown(),
    }
}

/// The limit that held the largest share of the operations.
fn dominant_limit(run: &Run) -> Option<&(String, f64)> {
    run.bound_by.iter().max_by(|a, b| a.1.total_cmp(&b.1))
}

fn half_width(estimate: &Estimate) -> String {
    match number::half_width_percent(estimate) {
        Some(half) if half < 0.1 => "<0.1".into(),
        Some(half) if half < 10.0 => format!("{half:.1}"),
        Some(half) => number::integer(half),
        None => "–".into(),
    }
}

fn megabytes(bytes_per_second: f64) -> Cell {
    if bytes_per_second > 0.0 { Cell::three(bytes_per_second / 1e6) } else { Cell::unknown() }
}

/// Limitations of a run's figures.
fn remarks(run: &Run) -> String {
    let mut parts: Vec<String> = Vec::new();
    match run.figures.steadiness {
        Steadiness::Overloaded => parts.push(label!("overloaded").into()),
        Steadiness::Drifting => parts.push(label!("not steady").into()),
        // Results of other programs have no series.
        Steadiness::Unknown if run.series.is_empty() && run.total.0.is_empty() => {}
        Steadiness::Unknown => parts.push(label!("too short for a steadiness test").into()),
        Steadiness::Steady | Steadiness::Recorded => {}
    }
    if run.unserved > 0 {
        parts.push(say!("{} never issued", number::integer(run.unserved as f64)));
    }
    if run.total.errors() > 0 {
        parts.push(say!("{} failed", number::integer(run.total.errors() as f64)));
    }
    parts.join(label!(", "))
}

fn warm_up(runs: &[Run]) -> Option<String> {
    let least = runs.iter().map(|run| run.warm_up).min()?;
    let max = runs.iter().map(|run| run.warm_up).max().filter(|max| !max.is_zero())?;
    let range = if least == max { max.to_string() } else { say!("{least} to {max}") };
    Some(say!("a warm-up of {range} is excluded from each run"))
}

/// The representative run by stream and kind, if there are several or operations failed.
pub(super) fn streams(curve: &Curve) -> PageSection {
    let chosen = pick::at_line(curve).filter(|run| run.total.0.len() > 1 || run.total.errors() > 0);
    let Some(run) = chosen else { return PageSection::default() };
    let unit = LatencyUnit::of(curve);
    let time = |name: &'static str, priority| Column::time(name, unit.name(), priority);
    let span = |span: Option<Span>| span.map(|span| unit.show(span.as_nanos() as f64));
    let quantiles = [(0.5, "p50", 0), (0.99, "p99", 0), (0.999, "p99.9", 2), (1.0, label!("longest"), 6)];
    let quantiles = quantiles.map(|(quantile, name, priority)| (quantile, time(name, priority)));
    let rates = |counter: &Counter| pick::rates(run, counter).unwrap_or_default();
    let table = Table::rows(label!("By stream and kind"), &run.total.0)
        .column(Column::text(label!("stream"), 0), |counter| stream_name(curve, counter.stream))
        .column(Column::text(label!("kind"), 0), |counter| words::name_kind(counter.kind.name()))
        .column(Column::text(label!("size"), 4), |counter| {
            let size = counter.bytes.checked_div(counter.operations()).filter(|size| *size > 0)?;
            Some(Bytes::new(size).to_string())
        })
        .column(Column::rate("IOPS", "", 0), |counter| Cell::rate(rates(counter).iops))
        .column(Column::rate("MB/s", "", 3), |counter| megabytes(rates(counter).bytes_per_second))
        .column(time(label!("mean"), 5), |counter| span(counter.response.mean()))
        .columns(quantiles, |counter, quantile| span(counter.response.quantile(quantile)))
        .column(Column::time(label!("service"), "p99", 7), |counter| span(counter.service().quantile(0.99)))
        .column(Column::text(label!("failed"), 0), |counter| failed(counter))
        .table();
    let place = if pick::has_line(curve) { label!(", nearest the load line") } else { "" };
    let heading = say!("By stream and kind, at {}{place}", words::pace(&run.offered));
    PageSection::new(heading, vec![Block::Table(table.without_unknown())])
}

fn failed(counter: &Counter) -> String {
    let entry = |(errno, count): &(i32, u64)| format!("{} {}", number::integer(*count as f64), words::errno(*errno));
    counter.errors.iter().map(entry).collect::<Vec<_>>().join(label!(", "))
}

fn stream_name(curve: &Curve, stream: u8) -> String {
    let spec = curve.conditions.streams.get(usize::from(stream));
    spec.map_or_else(|| say!("stream {stream}"), |spec| clean(&spec.name))
}

/// Load lines at several objectives.
pub(super) fn ladder(sheet: &Sheet<'_>) -> PageSection {
    let lines: &[LoadLine] = if sheet.ladder.len() > 1 { &sheet.ladder } else { &[] };
    let heading = label!("Load line by objective");
    let table = Table::rows(heading, lines)
        .column(Column::text(label!("objective"), 0), |line| line.objective().to_string())
        .column(Column::rate(label!("load line"), "IOPS", 0), |line| {
            pick::line_iops(line).map(|iops| Cell::estimate(&iops, number::three))
        })
        .column(Column::text(label!("verdict"), 0), |line| verdict(sheet.curve, line));
    PageSection::new(heading, vec![Block::Table(table.table())])
}

fn verdict(curve: &Curve, line: &LoadLine) -> String {
    match line {
        LoadLine::At { iops, .. } if pick::has_maximum(curve) && !words::is_below_maximum(curve, iops.value) => {
            label!("the maximum rate binds").to_owned()
        }
        LoadLine::At { .. } => label!("the objective binds").to_owned(),
        LoadLine::Beyond { .. } => label!("met at the highest load: a lower bound").to_owned(),
        LoadLine::Never { least, objective } if *least <= objective.limit => {
            label!("offered rate not reached").to_owned()
        }
        LoadLine::Never { least, .. } => say!("missed: lowest {} {least}", line.objective().bounded()),
        LoadLine::Refused { why, .. } => match why {
            NoLine::Scatter { low, high, .. } if *low > 0.0 => {
                say!("between {} and {}", number::three(*low), number::three(*high))
            }
            NoLine::Scatter { high, .. } => say!("below {}", number::three(*high)),
            NoLine::HostTaken { share, .. } => {
                say!("processor taken away in {} % of the slots", number::integer(100.0 * share))
            }
            NoLine::Generator { .. } => label!("generator lateness").to_owned(),
            NoLine::NotLasting { below } => say!("below {}", number::three(*below)),
        },
    }
}

/// Load lines of several curves, marked as in the chart.
pub(super) fn side_by_side(curves: &[&Curve], prices: &[Option<&Price>]) -> Block {
    let lines = || curves.iter().filter_map(|curve| curve.load_line.as_ref().and_then(pick::line_iops));
    let max = lines().map(|iops| iops.value).fold(f64::MIN_POSITIVE, f64::max);
    let lightest = |curve: &Curve, of: fn(&Figures) -> &Estimate| {
        pick::lightest(curve).map(|run| number::time(of(&run.figures).value))
    };
    let table = Table::rows(label!("Side by side"), curves.iter().enumerate())
        .column(Column::new(label!("curve"), "", ColumnKind::Name, 0), |(index, curve)| {
            Cell::text(&curve.subject.name).with_series(*index)
        })
        .column(Column::text(label!("source"), 5), |(_, curve)| words::source_word(&curve.source))
        .column(Column::text(label!("objective"), 1), |(_, curve)| {
            curve.load_line.map(|line| line.objective().to_string())
        })
        .column(Column::rate(label!("load line"), "IOPS", 0), |(_, curve)| {
            build_line_cell(curve.load_line.as_ref(), max)
        })
        .column(Column::rate(label!("knee"), "IOPS", 2), |(_, curve)| {
            pick::find_knee(curve).map(|knee| Cell::three(knee.iops))
        })
        .column(Column::rate(label!("maximum"), "IOPS", 0), |(_, curve)| {
            let cell = pick::fastest(curve).map(|run| Cell::three(run.figures.iops.value));
            let at_least = if pick::has_maximum(curve) { "" } else { label!("at least ") };
            cell.map(|cell| Cell { text: format!("{at_least}{}", cell.text), ..cell })
        })
        .column(Column::time("p50", label!("lightest"), 4), |(_, curve)| lightest(curve, |figures| &figures.p50_ns))
        .column(Column::time("p99", label!("lightest"), 3), |(_, curve)| lightest(curve, |figures| &figures.p99_ns));
    let has_price = prices.iter().any(Option::is_some);
    let monthly = |index: usize| Cell::price(prices[index]);
    let table =
        if has_price { table.column(Column::monthly(label!("price"), 0), |(index, _)| monthly(*index)) } else { table };
    Block::Table(table.table())
}

/// A load line with its interval, and a bar of its share of the largest.
pub(in crate::pages) fn build_line_cell(line: Option<&LoadLine>, max: f64) -> Cell {
    let Some(line) = line else { return Cell::unknown() };
    let Some(iops) = pick::line_iops(line) else { return Cell::text(label!("none")) };
    let cell = Cell::estimate(&iops, number::three).with_gauge(iops.value / max);
    let at_least = if matches!(line, LoadLine::Beyond { .. }) { label!("at least ") } else { "" };
    Cell { text: format!("{at_least}{}", cell.text), ..cell }
}

/// A recorded load on several configurations; those without a run are omitted.
pub(super) fn replays(curves: &[&Curve]) -> PageSection {
    // The finest unit that any row needs, so that rows are comparable.
    let is_micro = curves.iter().any(|curve| LatencyUnit::of(curve) == LatencyUnit::Micro);
    let unit = if is_micro { LatencyUnit::Micro } else { LatencyUnit::Milli };
    let time = |name, priority| Column::time(name, unit.name(), priority);
    let displayed = |ns: f64| Cell::figure(unit.show(ns), unit.value(ns));
    let rows = curves.iter().filter_map(|curve| Some((*curve, pick::fastest(curve)?)));
    let heading = label!("Recorded load by configuration");
    let table = Table::rows(heading, rows)
        .column(Column::configuration(), |(curve, _)| curve.subject.name.as_str())
        .column(Column::text(label!("source"), 5), |(curve, _)| words::source_word(&curve.source))
        .column(Column::text(label!("outcome"), 0), |(_, run)| words::format_outcome(run))
        .column(time(label!("mean"), 4), |(_, run)| displayed(run.figures.mean_ns.value))
        .column(time("p50", 0), |(_, run)| displayed(run.figures.p50_ns.value))
        .column(time("p99", 0), |(_, run)| displayed(run.figures.p99_ns.value))
        .column(time("p99.9", 2), |(_, run)| displayed(run.figures.p999_ns.value))
        .column(time(label!("worst"), 1), |(_, run)| displayed(run.total.response().max_ns as f64))
        .column(Column::text(label!("limit"), 3), |(_, run)| limit(dominant_limit(run).map(|(name, _)| name.as_str())));
    PageSection::new(heading, vec![Block::Table(table.table())])
}
