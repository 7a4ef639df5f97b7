//! Tables of curves: by run, by stream and kind, by objective, and side by side.

use plimsoll_record::{Counter, Curve, Estimate, LoadLine, NoLine, Run, Steadiness};
use plimsoll_units::{Bytes, Span};

use crate::latency::LatencyUnit;
use crate::page::{Block, Cell, Column, ColumnKind, Emphasis, IntervalPlace, PageSection, Table};
use crate::pages::limit;
use crate::words::clean;
use crate::{number, pick, words};

/// A row for each run, closed loads first.
pub(super) fn runs(curve: &Curve) -> PageSection {
    let (mut runs, open): (Vec<&Run>, Vec<&Run>) = curve.runs.iter().partition(|run| !pick::is_open(run));
    let closed = runs.len();
    runs.extend(&open);
    let unit = LatencyUnit::of(curve);
    let own = curve.load_line.map(|line| line.objective()).filter(pick::is_own_column);
    let time = |name: &'static str, priority| Column::time(name, unit.name(), priority);
    let mut columns = vec![
        Column::text("offered", 0),
        Column::rate("IOPS", "", 0),
        Column::new("±", "%", ColumnKind::Share, 1),
        Column::rate("MB/s", "", 4),
        time("mean", 5),
        time("p50", 0),
        time("p99", 0),
        time("p99.9", 2),
    ];
    columns.extend(own.map(|_| time("goal", 0)));
    columns.extend([
        time("longest", 7),
        Column::new("in", "flight", ColumnKind::Share, 3),
        Column::text("remarks", 0),
        Column::text("limit", 8),
    ]);
    let chosen = pick::at_line(curve).filter(|_| pick::has_line(curve));
    let row = |run: &Run| {
        let figures = &run.figures;
        let is_chosen = chosen.is_some_and(|chosen| std::ptr::eq(chosen, run));
        let of = |estimate: &Estimate| latency(run, estimate, unit);
        let mut cells = vec![
            Cell::text(words::offered(&run.offered)).with_emphasis(if is_chosen {
                Emphasis::Strong
            } else {
                Emphasis::Plain
            }),
            Cell::or_unknown(number::seen(&figures.iops), |_| Cell::estimate(&figures.iops, number::rate)),
            Cell::text(half_width(&figures.iops)),
            megabytes(figures.bytes_per_second),
            of(&figures.mean_ns),
            of(&figures.p50_ns),
            of(&figures.p99_ns),
            of(&figures.p999_ns),
        ];
        cells.extend(own.map(|_| of(&figures.objective_ns.unwrap_or_default())));
        let longest = Some(run.total.response().max_ns).filter(|ns| *ns > 0);
        let most = run.bound_by.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        cells.extend([
            Cell::or_unknown(longest, |ns| Cell::text(unit.show(ns as f64))),
            if pick::grew(run) { Cell::text("grew") } else { Cell::three(figures.in_flight) },
            Cell::text(remarks(run)),
            Cell::or_unknown(most, |(name, share)| {
                Cell::text(format!("{} ({})", clean(name), number::percent(*share)))
            }),
        ]);
        cells
    };
    let groups = [
        (0, closed, "closed load: fixed number in flight".to_owned()),
        (closed, open.len(), format!("open load: timed arrivals{}", spacing(&curve.runs))),
    ];
    let groups = groups.into_iter().filter(|(_, count, _)| *count > 0).map(|(first, _, name)| (first, name)).collect();
    let table = Table { groups, intervals: IntervalPlace::HtmlOnly, ..Table::of("Runs", columns, runs, row) };
    PageSection::bare("Runs", vec![Block::Table(table.with_notes(warm_up(&curve.runs)).without_unknown())])
}

fn spacing(runs: &[Run]) -> String {
    words::arrivals(runs).map(|spacing| format!(" ({spacing} arrivals)")).unwrap_or_default()
}

/// A response time; for an overloaded run, the value it grew to.
fn latency(run: &Run, estimate: &Estimate, unit: LatencyUnit) -> Cell {
    let show = |ns: f64| unit.show(ns);
    match number::seen(estimate) {
        Some(ns) if pick::grew(run) => Cell::text("grew").with_interval(format!("to {}", show(ns))),
        Some(_) => Cell::estimate(estimate, show),
        None => Cell::unknown(),
    }
}

fn half_width(estimate: &Estimate) -> String {
    match number::half_width_percent(estimate) {
        Some(half) if half < 0.1 => "<0.1".into(),
        Some(half) if half < 10.0 => format!("{half:.1}"),
        Some(half) => number::whole(half),
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
        Steadiness::Overloaded => parts.push("overloaded".into()),
        Steadiness::Drifting => parts.push("not steady".into()),
        Steadiness::Unknown => parts.push("too short for a steadiness test".into()),
        Steadiness::Steady | Steadiness::Recorded => {}
    }
    if run.unserved > 0 {
        parts.push(format!("{} never issued", number::whole(run.unserved as f64)));
    }
    if run.total.errors() > 0 {
        parts.push(format!("{} failed", number::whole(run.total.errors() as f64)));
    }
    parts.join(", ")
}

fn warm_up(runs: &[Run]) -> Option<String> {
    let least = runs.iter().map(|run| run.warm_up).min()?;
    let most = runs.iter().map(|run| run.warm_up).max().filter(|most| !most.is_zero())?;
    let range = if least == most { most.to_string() } else { format!("{least} to {most}") };
    Some(format!("a warm-up of {range} is excluded from each run"))
}

/// The representative run by stream and kind, if there are several or operations failed.
pub(super) fn streams(curve: &Curve) -> PageSection {
    let chosen = pick::at_line(curve).filter(|run| run.total.0.len() > 1 || run.total.errors() > 0);
    let Some(run) = chosen else { return PageSection::default() };
    let unit = LatencyUnit::of(curve);
    let time = |name: &'static str, priority| Column::time(name, unit.name(), priority);
    let columns = [
        Column::text("stream", 0),
        Column::text("kind", 0),
        Column::text("size", 4),
        Column::rate("IOPS", "", 0),
        Column::rate("MB/s", "", 3),
        time("mean", 5),
        time("p50", 0),
        time("p99", 0),
        time("p99.9", 2),
        time("longest", 6),
        Column::time("service", "p99", 7),
        Column::text("failed", 0),
    ];
    let span = |span: Option<Span>| Cell::or_unknown(span, |span| Cell::text(unit.show(span.as_nanos() as f64)));
    let row = |counter: &Counter| {
        let rates = pick::rates(run, counter).unwrap_or_default();
        let response = &counter.response;
        let size = counter.bytes.checked_div(counter.operations()).filter(|size| *size > 0);
        vec![
            Cell::text(stream_name(curve, counter.stream)),
            Cell::text(counter.kind.name()),
            Cell::or_unknown(size, |size| Cell::text(Bytes::new(size).to_string())),
            Cell::rate(rates.iops),
            megabytes(rates.bytes_per_second),
            span(response.mean()),
            span(response.quantile(0.5)),
            span(response.quantile(0.99)),
            span(response.quantile(0.999)),
            span(response.quantile(1.0)),
            span(counter.service().quantile(0.99)),
            Cell::text(failed(counter)),
        ]
    };
    let place = if pick::has_line(curve) { ", nearest the load line" } else { "" };
    let heading = format!("By stream and kind, at {}{place}", words::pace(&run.offered));
    let table = Table::of("By stream and kind", columns, &run.total.0, row).without_unknown();
    PageSection::new(heading, vec![Block::Table(table)])
}

fn failed(counter: &Counter) -> String {
    let entry = |(errno, count): &(i32, u64)| format!("{} {}", number::whole(*count as f64), words::errno(*errno));
    counter.errors.iter().map(entry).collect::<Vec<_>>().join(", ")
}

fn stream_name(curve: &Curve, stream: u8) -> String {
    let spec = curve.conditions.streams.get(usize::from(stream));
    spec.map_or_else(|| format!("stream {stream}"), |spec| clean(&spec.name))
}

/// Load lines at several objectives.
pub(super) fn ladder(lines: &[LoadLine]) -> PageSection {
    const COLUMNS: [Column; 3] =
        [Column::text("objective", 0), Column::rate("load line", "IOPS", 0), Column::text("verdict", 0)];
    let row = |line: &LoadLine| {
        let iops = Cell::or_unknown(pick::line_iops(line), |iops| Cell::estimate(&iops, number::three));
        vec![Cell::text(line.objective().to_string()), iops, Cell::text(verdict(line))]
    };
    let lines = if lines.len() > 1 { lines } else { &[] };
    let heading = "Load line by objective";
    PageSection::new(heading, vec![Block::Table(Table::of(heading, COLUMNS, lines, row))])
}

fn verdict(line: &LoadLine) -> String {
    match line {
        LoadLine::At { .. } => "the objective binds".to_owned(),
        LoadLine::Beyond { .. } => "met at the highest load: a lower bound".to_owned(),
        LoadLine::Never { least, .. } => format!("missed: lowest {} {least}", line.objective().bounded()),
        LoadLine::Refused { why, .. } => match why {
            NoLine::Scatter { low, high, .. } if *low > 0.0 => {
                format!("between {} and {}", number::three(*low), number::three(*high))
            }
            NoLine::Scatter { high, .. } => format!("below {}", number::three(*high)),
            NoLine::Generator { .. } => "generator lateness".to_owned(),
            NoLine::NotLasting { below } => format!("below {}", number::three(*below)),
        },
    }
}

/// Load lines of several curves, marked as in the chart.
pub(super) fn side_by_side(curves: &[&Curve]) -> Block {
    const COLUMNS: [Column; 8] = [
        Column::new("curve", "", ColumnKind::Name, 0),
        Column::text("source", 5),
        Column::text("objective", 1),
        Column::rate("load line", "IOPS", 0),
        Column::rate("knee", "IOPS", 2),
        Column::rate("maximum", "IOPS", 0),
        Column::time("p50", "lightest", 4),
        Column::time("p99", "lightest", 3),
    ];
    let lines = || curves.iter().filter_map(|curve| curve.load_line.as_ref().and_then(pick::line_iops));
    let most = lines().map(|iops| iops.value).fold(f64::MIN_POSITIVE, f64::max);
    let row = |(index, curve): (usize, &&Curve)| {
        let lightest = pick::lightest(curve).map(|run| &run.figures);
        let time = |ns: Option<f64>| Cell::or_unknown(ns, |ns| Cell::text(number::time(ns)));
        vec![
            Cell::text(&curve.subject.name).with_series(index),
            Cell::text(curve.source.word()),
            Cell::or_unknown(curve.load_line, |line| Cell::text(line.objective().to_string())),
            line(curve.load_line.as_ref(), most),
            Cell::or_unknown(curve.knee, |knee| Cell::three(knee.iops)),
            Cell::or_unknown(pick::fastest(curve), |run| Cell::three(run.figures.iops.value)),
            time(lightest.map(|figures| figures.p50_ns.value)),
            time(lightest.map(|figures| figures.p99_ns.value)),
        ]
    };
    Block::Table(Table::of("Side by side", COLUMNS, curves.iter().enumerate(), row))
}

/// A load line with its interval, and a bar of its share of the largest.
pub(in crate::pages) fn line(line: Option<&LoadLine>, most: f64) -> Cell {
    let Some(line) = line else { return Cell::unknown() };
    let Some(iops) = pick::line_iops(line) else { return Cell::text("none") };
    let cell = Cell::estimate(&iops, number::three).with_gauge(iops.value / most);
    let at_least = if matches!(line, LoadLine::Beyond { .. }) { "at least " } else { "" };
    Cell { text: format!("{at_least}{}", cell.text), ..cell }
}

/// A recorded load on several configurations; those without a run are omitted.
pub(super) fn replays(curves: &[&Curve]) -> PageSection {
    // The finest unit that any row needs, so that rows are comparable.
    let is_micro = curves.iter().any(|curve| LatencyUnit::of(curve) == LatencyUnit::Micro);
    let unit = if is_micro { LatencyUnit::Micro } else { LatencyUnit::Milli };
    let columns = [
        Column::configuration(),
        Column::text("source", 5),
        Column::text("outcome", 0),
        Column::time("mean", unit.name(), 4),
        Column::time("p50", unit.name(), 0),
        Column::time("p99", unit.name(), 0),
        Column::time("p99.9", unit.name(), 2),
        Column::time("worst", unit.name(), 1),
        Column::text("limit", 3),
    ];
    let rows = curves.iter().filter_map(|curve| Some((*curve, pick::fastest(curve)?)));
    let row = |(curve, run): (&Curve, &Run)| {
        let time = |ns: f64| Cell::figure(unit.show(ns), unit.value(ns));
        let figures = &run.figures;
        let most = run.bound_by.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        vec![
            Cell::text(&curve.subject.name),
            Cell::text(curve.source.word()),
            Cell::text(words::outcome(run)),
            time(figures.mean_ns.value),
            time(figures.p50_ns.value),
            time(figures.p99_ns.value),
            time(figures.p999_ns.value),
            time(run.total.response().max_ns as f64),
            limit(most.map(|(name, _)| name.as_str())),
        ]
    };
    let heading = "Recorded load by configuration";
    PageSection::new(heading, vec![Block::Table(Table::of(heading, columns, rows, row))])
}
