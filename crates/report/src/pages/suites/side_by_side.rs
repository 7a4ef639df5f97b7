//! Comparison of suites of the same kind: curves in one chart, common tests in one table.

use plimsoll_language::{label, say};
use plimsoll_record::{StepWork, SuiteRun};
use plimsoll_units::Span;

use super::sessions::{CURVES_MAX, draw_curves, reads};
use super::{chart, source};
use crate::chart::{Bar, Fill, bars};
use crate::html::both;
use crate::number;
use crate::page::{Block, Cell, Column, ColumnKind, PageSection, Table};
use crate::pages::curves::{build_line_cell, number_labels};
use crate::sessions::{SessionCurve, SessionPoint, format_load, groups, limit_at};
use crate::statements::{By, Test, Took, seconds, tests};
use crate::words::{self, clean};

/// Maximum number of bars.
const BARS_MAX: usize = 60;

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
    let has = |required: fn(&StepWork) -> bool| {
        let any = |suite: &&&SuiteRun| suite.steps.iter().any(|step| step.counts && required(&step.work));
        suites.iter().filter(any).count() > 1
    };
    let names = number_labels(&suites.iter().map(|suite| clean(&suite.subject.name)).collect::<Vec<_>>());
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
        for mut group in groups(suite).into_iter().filter(|group| group.observe() > 0) {
            let kind = group.name.clone();
            group.curve.subject.name = if kind.is_empty() { name.clone() } else { say!("{name}, {kind}") };
            out.push(SuiteCurve { kind, suite, group });
        }
    }
    out
}

/// Curves in charts of a limited number each; of more, a chart for each kind of group.
fn over_each_other(entries: &[SuiteCurve<'_>], index: usize) -> Vec<PageSection> {
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
            let source = sources.join(label!("; "));
            lines.push(draw_curves(&format!("compared-sessions-{index}-{part}"), &groups, &source));
            latencies.extend(reads(&format!("compared-reads-{index}-{part}"), &named, &source));
            rows.extend(chunk.iter().copied().enumerate());
        }
    }
    vec![
        PageSection::bare(label!("Response time against throughput"), lines),
        PageSection::bare(label!("Read latency against block reads and writes"), latencies),
        PageSection::new(label!("Side by side"), vec![Block::Table(curve_table(rows, entries))]),
    ]
}

/// Figures of curves, marked as in their charts: the number of each in its chart, and the curve.
fn curve_table(rows: Vec<(usize, &SuiteCurve<'_>)>, entries: &[SuiteCurve<'_>]) -> Table {
    let iops = |entry: &SuiteCurve<'_>| entry.group.curve.load_line.and_then(|line| line.iops());
    let max = entries.iter().filter_map(iops).map(|iops| iops.value).fold(f64::MIN_POSITIVE, f64::max);
    let time = |span: Option<Span>| span.map(|span| span.to_string());
    Table::rows(label!("Side by side"), rows)
        .column(Column::new(label!("curve"), "", ColumnKind::Name, 0), |(series, entry)| {
            Cell::text(&entry.group.curve.subject.name).with_series(*series)
        })
        .column(Column::text(label!("source"), 7), |(_, entry)| words::source_word(&entry.suite.source))
        .column(Column::text(label!("objective"), 3), |(_, entry)| {
            entry.group.curve.load_line.map(|line| line.objective().to_string())
        })
        .column(Column::rate(label!("load line"), label!("transactions/s"), 0), |(_, entry)| {
            build_line_cell(entry.group.curve.load_line.as_ref(), max)
        })
        .column(Column::rate(label!("knee"), label!("transactions/s"), 1), |(_, entry)| {
            entry.group.curve.knee.map(|knee| Cell::three(knee.iops))
        })
        .column(Column::text(label!("at"), 5), |(_, entry)| entry.group.at_knee().map(format_load))
        .column(Column::rate(label!("maximum"), label!("transactions/s"), 0), |(_, entry)| {
            entry.group.best().map(|best| Cell::three(best.session_run.run.figures.iops.value))
        })
        .column(Column::text(label!("at"), 6), |(_, entry)| entry.group.best().map(format_load))
        .column(Column::time(label!("read, at knee"), label!("database"), 2), |(_, entry)| {
            time(entry.group.at_knee().and_then(SessionPoint::read_as_seen))
        })
        .column(Column::time(label!("read, at knee"), label!("storage"), 2), |(_, entry)| {
            time(entry.group.at_knee().and_then(SessionPoint::read_below))
        })
        .column(Column::new(label!("limit"), label!("at maximum"), ColumnKind::Text, 4), |(_, entry)| {
            limit_at(&entry.group)
        })
        .table()
}

/// Seconds of each test as bars, and as a table with a column per suite.
fn statements(suites: &[&SuiteRun], names: &[String], index: usize) -> Vec<PageSection> {
    let (by_test, by_step) = (tests(suites, By::Test), tests(suites, By::Step));
    let drawn = build_bars(&by_test);
    let keys: Vec<String> = names.iter().enumerate().map(|(place, name)| format!("{} {name}", key(place))).collect();
    let keys = keys.join(label!(", "));
    let title = label!("Time of each test");
    let sources: Vec<String> = suites.iter().map(|suite| source(suite)).collect();
    let picture = || both(&format!("compared-tests-{index}"), title, &keys, |size| bars(&drawn, size));
    let lead = say!("{keys}. Shorter is better.");
    let picture = (!drawn.is_empty()).then(|| chart(&lead, &picture(), &sources.join(label!("; "))));
    let note = label!(
        "In parentheses: multiple of the time of the first suite. +: the time limit was reached, and the rest \
                is extrapolated at the same rate; ?: wrong rows"
    );
    let table_of =
        |label, of, tests: &[Test]| Block::Table(build_table(label, of, names, tests).with_notes([note.to_owned()]));
    let steps = Some(&by_step).filter(|steps| steps.len() > by_test.len());
    let steps = steps.map(|steps| table_of(label!("Seconds of each step"), label!("step"), steps));
    vec![
        PageSection::new(
            title,
            picture.into_iter().chain([table_of(label!("Seconds of each test"), label!("test"), &by_test)]).collect(),
        ),
        PageSection::folded(label!("Each step of the tests"), steps.into_iter().collect()),
    ]
}

/// The letter of a suite, which distinguishes bars without colour.
fn key(place: usize) -> char {
    char::from(b'A' + (place % 26) as u8)
}

fn build_bars(tests: &[Test]) -> Vec<Bar> {
    let mut out = Vec::new();
    for test in tests {
        let existing = test.took.iter().enumerate().filter_map(|(place, took)| Some((place, took.as_ref()?)));
        for (nth, (place, took)) in existing.enumerate() {
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

fn build_table(label: &str, of: &'static str, names: &[String], tests: &[Test]) -> Table {
    let columns = names.iter().enumerate().map(|(place, name)| {
        let name = format!("{} {name}", key(place)).into();
        (place, Column { name, ..Column::time("", "s", u8::from(place > 0)) })
    });
    let sum = |place: usize| tests.iter().filter_map(|test| test.took[place]).map(|took| took.seconds).sum::<f64>();
    let sums = (0..names.len()).map(|place| Cell::three(sum(place)));
    let mut table = Table::rows(label, tests)
        .column(Column::text(of, 0), |test| test.name.as_str())
        .columns(columns, |test, place| {
            let first = test.took.first().and_then(Option::as_ref).filter(|_| place > 0);
            test.took[place].as_ref().map(|took| cell(took, first))
        })
        .table();
    table.rows.push(std::iter::once(Cell::text(label!("total"))).chain(sums).collect());
    table
}

/// A time, and its multiple of that of the first suite.
fn cell(took: &Took, first: Option<&Took>) -> Cell {
    let times = first.filter(|first| first.seconds > 0.0).map(|first| took.seconds / first.seconds);
    let times = times.map_or_else(String::new, |times| format!(" (× {})", number::three(times)));
    Cell::figure(format!("{}{times}", seconds(took)), took.seconds)
}
