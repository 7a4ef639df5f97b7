//! Comparison of suites of the same kind: curves in one chart, common tests in one table.

use plimsoll_record::{LoadLine, StepWork, SuiteRun};
use plimsoll_units::Span;

use super::sessions::{CURVES_MAX, curves, reads};
use super::{chart, source};
use crate::chart::{Bar, Fill, bars};
use crate::html::both;
use crate::number;
use crate::page::{Block, Cell, Column, ColumnKind, PageSection, Table};
use crate::pages::curves::{labels, line};
use crate::sessions::{SessionCurve, SessionPoint, groups, limit_at, offered};
use crate::statements::{By, Test, Took, seconds, tests};
use crate::words::clean;

/// Maximum number of bars.
const BARS_MAX: usize = 60;

/// A curve of a suite.
struct SuiteCurve<'a> {
    /// The common prefix of the step names of its group.
    kind: String,
    suite: &'a SuiteRun,
    /// The group; its subject has the name of the suite and the group.
    group: SessionCurve<'a>,
}

/// Common figures of suites; empty unless at least two database suites are of the same kind.
pub(super) fn sections(suites: &[SuiteRun]) -> Vec<PageSection> {
    let mut kinds: Vec<&str> = Vec::new();
    for suite in suites {
        if !kinds.contains(&suite.suite.as_str()) {
            kinds.push(&suite.suite);
        }
    }
    let of = |(index, kind): (usize, &&str)| {
        let own: Vec<&SuiteRun> = suites.iter().filter(|suite| suite.suite == **kind).collect();
        alike(&own, index).into_iter().map(|section| section.of_run(&clean(kind))).collect::<Vec<_>>()
    };
    kinds.iter().enumerate().flat_map(of).collect()
}

fn alike(suites: &[&SuiteRun], index: usize) -> Vec<PageSection> {
    let has = |wanted: fn(&StepWork) -> bool| {
        let any = |suite: &&&SuiteRun| suite.steps.iter().any(|step| step.counts && wanted(&step.work));
        suites.iter().filter(any).count() > 1
    };
    let names = labels(&suites.iter().map(|suite| clean(&suite.subject.name)).collect::<Vec<_>>());
    if has(|work| matches!(work, StepWork::Sessions(_))) {
        over_each_other(&entries(suites, &names), index)
    } else if has(|work| matches!(work, StepWork::Statements(_))) {
        statements(suites, &names, index)
    } else {
        Vec::new()
    }
}

fn entries<'a>(suites: &[&'a SuiteRun], names: &[String]) -> Vec<SuiteCurve<'a>> {
    let mut out = Vec::new();
    for (suite, name) in suites.iter().copied().zip(names) {
        for mut group in groups(suite).into_iter().filter(|group| group.seen() > 0) {
            let kind = group.name.clone();
            group.curve.subject.name = if kind.is_empty() { name.clone() } else { format!("{name}, {kind}") };
            out.push(SuiteCurve { kind, suite, group });
        }
    }
    out
}

/// Curves in charts of a limited number each; of more, a chart for each kind of group.
fn over_each_other(entries: &[SuiteCurve<'_>], index: usize) -> Vec<PageSection> {
    const COLUMNS: [Column; 11] = [
        Column::new("curve", "", ColumnKind::Name, 0),
        Column::text("source", 7),
        Column::text("objective", 3),
        Column::rate("load line", "transactions/s", 0),
        Column::rate("knee", "transactions/s", 1),
        Column::text("at", 5),
        Column::rate("maximum", "transactions/s", 0),
        Column::text("at", 6),
        Column::time("read, at knee", "database", 2),
        Column::time("read, at knee", "storage", 2),
        Column::new("limit", "at maximum", ColumnKind::Text, 4),
    ];
    let mut kinds: Vec<Option<&str>> = Vec::new();
    for entry in entries {
        let kind = (entries.len() > CURVES_MAX).then_some(entry.kind.as_str());
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let (mut lines, mut latencies, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for kind in kinds {
        let of: Vec<&SuiteCurve<'_>> =
            entries.iter().filter(|entry| kind.is_none_or(|kind| entry.kind == kind)).collect();
        for chunk in of.chunks(CURVES_MAX) {
            let part = lines.len();
            let groups: Vec<&SessionCurve<'_>> = chunk.iter().map(|entry| &entry.group).collect();
            let named: Vec<(String, &SessionCurve<'_>)> =
                groups.iter().map(|group| (group.curve.subject.name.clone(), *group)).collect();
            let mut sources: Vec<String> = chunk.iter().map(|entry| source(entry.suite)).collect();
            sources.dedup();
            let source = sources.join("; ");
            lines.push(curves(&format!("compared-sessions-{index}-{part}"), &groups, &source));
            latencies.extend(reads(&format!("compared-reads-{index}-{part}"), &named, &source));
            rows.extend(chunk.iter().enumerate().map(|(series, entry)| row(entry, series, entries)));
        }
    }
    let table = Table { label: "Side by side".to_owned(), columns: COLUMNS.into(), rows, ..Table::default() };
    vec![
        PageSection::bare("Response time against throughput", lines),
        PageSection::bare("Read latency against block reads and writes", latencies),
        PageSection::new("Side by side", vec![Block::Table(table)]),
    ]
}

/// Figures of a curve, marked as in its chart.
fn row(entry: &SuiteCurve<'_>, series: usize, entries: &[SuiteCurve<'_>]) -> Vec<Cell> {
    let curve = &entry.group.curve;
    let iops = |entry: &SuiteCurve<'_>| entry.group.curve.load_line.and_then(|line| line.iops());
    let most = entries.iter().filter_map(iops).map(|iops| iops.value).fold(f64::MIN_POSITIVE, f64::max);
    let (knee, best) = (entry.group.at_knee(), entry.group.best());
    let time = |span: Option<Span>| Cell::or_unknown(span, |span| Cell::text(span.to_string()));
    vec![
        Cell::text(&curve.subject.name).with_series(series),
        Cell::text(entry.suite.source.word()),
        Cell::or_unknown(curve.load_line, |line: LoadLine| Cell::text(line.objective().to_string())),
        line(curve.load_line.as_ref(), most),
        Cell::or_unknown(curve.knee, |knee| Cell::three(knee.iops)),
        Cell::or_unknown(knee, |knee| Cell::text(offered(knee))),
        Cell::or_unknown(best, |best| Cell::three(best.crowd.run.figures.iops.value)),
        Cell::or_unknown(best, |best| Cell::text(offered(best))),
        time(knee.and_then(SessionPoint::read_as_seen)),
        time(knee.and_then(SessionPoint::read_below)),
        Cell::or_unknown(limit_at(&entry.group), Cell::text),
    ]
}

/// Seconds of each test as bars, and as a table with a column per suite.
fn statements(suites: &[&SuiteRun], names: &[String], index: usize) -> Vec<PageSection> {
    let (by_test, by_step) = (tests(suites, By::Test), tests(suites, By::Step));
    let drawn = drawn(&by_test);
    let keys: Vec<String> = names.iter().enumerate().map(|(place, name)| format!("{} {name}", key(place))).collect();
    let keys = keys.join(", ");
    let title = "Time of each test";
    let sources: Vec<String> = suites.iter().map(|suite| source(suite)).collect();
    let picture = || both(&format!("compared-tests-{index}"), title, &keys, |size| bars(&drawn, size));
    let lead = format!("{keys}. Shorter is better.");
    let picture = (!drawn.is_empty()).then(|| chart(&lead, &picture(), &sources.join("; ")));
    let note = "In parentheses: multiple of the time of the first suite. +: the time limit was reached, and the rest \
                is extrapolated at the same rate; ?: wrong rows";
    let table_of =
        |label, of, tests: &[Test]| Block::Table(table(label, of, names, tests).with_notes([note.to_owned()]));
    let steps = Some(&by_step).filter(|steps| steps.len() > by_test.len());
    let steps = steps.map(|steps| table_of("Seconds of each step", "step", steps));
    vec![
        PageSection::new(
            title,
            picture.into_iter().chain([table_of("Seconds of each test", "test", &by_test)]).collect(),
        ),
        PageSection::folded("Each step of the tests", steps.into_iter().collect()),
    ]
}

/// The letter of a suite, which distinguishes bars without colour.
fn key(place: usize) -> char {
    char::from(b'A' + (place % 26) as u8)
}

fn drawn(tests: &[Test]) -> Vec<Bar> {
    let mut out = Vec::new();
    for test in tests {
        let known = test.took.iter().enumerate().filter_map(|(place, took)| Some((place, took.as_ref()?)));
        for (nth, (place, took)) in known.enumerate() {
            out.push(Bar {
                name: if nth == 0 { test.name.clone() } else { String::new() },
                from: 0.0,
                to: took.seconds,
                value: format!("{}: {} s", key(place), seconds(took)),
                fill: Fill::Full,
                tone: place,
            });
        }
    }
    out.truncate(BARS_MAX);
    out
}

fn table(label: &str, of: &'static str, names: &[String], tests: &[Test]) -> Table {
    let column = |(place, name): (usize, &String)| Column {
        name: format!("{} {name}", key(place)).into(),
        ..Column::time("", "s", u8::from(place > 0))
    };
    let columns: Vec<Column> =
        std::iter::once(Column::text(of, 0)).chain(names.iter().enumerate().map(column)).collect();
    let row = |test: &Test| {
        let first = test.took.first().and_then(Option::as_ref);
        let times = test
            .took
            .iter()
            .enumerate()
            .map(|(place, took)| Cell::or_unknown(took.as_ref(), |took| cell(took, first.filter(|_| place > 0))));
        std::iter::once(Cell::text(&test.name)).chain(times).collect()
    };
    let sum = |place: usize| tests.iter().filter_map(|test| test.took[place]).map(|took| took.seconds).sum::<f64>();
    let sums = (0..names.len()).map(|place| Cell::three(sum(place)));
    let mut table = Table::of(label, columns, tests, row);
    table.rows.push(std::iter::once(Cell::text("total")).chain(sums).collect());
    table
}

/// A time, and its multiple of that of the first suite.
fn cell(took: &Took, first: Option<&Took>) -> Cell {
    let times = first.filter(|first| first.seconds > 0.0).map(|first| took.seconds / first.seconds);
    let times = times.map_or_else(String::new, |times| format!(" (× {})", number::three(times)));
    Cell::figure(format!("{}{times}", seconds(took)), took.seconds)
}
