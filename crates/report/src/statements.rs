//! Tables of statements of a single session: counts, times and log activity; and comparison of a test across databases.

use plimsoll_record::{Statements, StepWork, SuiteRun};
use plimsoll_units::Span;

use crate::number;
use crate::page::{Column, ColumnKind, Table, UNKNOWN};
use crate::sessions::divided;
use crate::suite::{StepRow, rows};
use crate::words::clean;

/// The valid steps of statements, in the order of their first execution, each in its median round.
fn of<'a>(suite: &'a SuiteRun) -> Vec<(StepRow<'a>, &'a Statements)> {
    let both = |row: StepRow<'a>| match &row.step.work {
        StepWork::Statements(work) => Some((row, work.as_ref())),
        _ => None,
    };
    rows(suite).into_iter().filter_map(both).collect()
}

/// The steps as a table; empty if there are none.
pub(crate) fn table(suite: &SuiteRun) -> Table {
    let columns = [
        Column::new("step", "", ColumnKind::Text, 0),
        Column::new("planned", "statements", ColumnKind::Share, 5),
        Column::new("done", "statements", ColumnKind::Share, 0),
        Column::new("wrong", "", ColumnKind::Share, 1),
        Column::new("took", "", ColumnKind::Share, 0),
        Column::new("rate", "a second", ColumnKind::Share, 0),
        Column::new("mean", "", ColumnKind::Share, 2),
        Column::new("p99", "", ColumnKind::Share, 0),
        Column::new("longest", "", ColumnKind::Share, 6),
        Column::new("log flushes", "for each", ColumnKind::Share, 3),
        Column::new("disk flushes", "for each", ColumnKind::Share, 7),
        Column::new("client CPU", "", ColumnKind::Share, 4),
    ];
    let all = of(suite);
    let cells: Vec<Vec<String>> = all.iter().map(|(row, work)| cells(row, work)).collect();
    let mut notes = Vec::new();
    if all.iter().any(|(row, _)| row.rounds > 1) {
        notes.push("the median of several rounds is shown".to_owned());
    }
    if all.iter().any(|(_, work)| work.done < work.asked) {
        notes.push("steps with fewer statements than planned reached their time limit".to_owned());
    }
    Table::of_texts(columns, &cells, notes).without_unknown()
}

fn cells(row: &StepRow<'_>, work: &Statements) -> Vec<String> {
    let count = |count: u64| number::whole(count as f64);
    let or_none = |text: Option<String>| text.unwrap_or(UNKNOWN.into());
    let each = |count: Option<u64>| {
        or_none(count.filter(|_| work.done > 0).map(|count| number::three(count as f64 / work.done as f64)))
    };
    let mean = work.each.sum_ns.checked_div(work.each.count).map(Span::from_nanos);
    let longest = (work.each.count > 0).then(|| Span::from_nanos(work.each.max_ns).to_string());
    vec![
        clean(&row.step.name),
        if work.asked == work.done { UNKNOWN.into() } else { count(work.asked) },
        count(work.done),
        if work.wrong == 0 { UNKNOWN.into() } else { count(work.wrong) },
        work.span.to_string(),
        number::three(row.rate()),
        or_none(mean.map(|mean| mean.to_string())),
        or_none(work.each.quantile(0.99).map(|span| span.to_string())),
        or_none(longest),
        each(work.counted.log_flushes),
        each(work.storage.disk.as_ref().map(|disk| disk.flushes)),
        or_none(row.cpu.map(|cpu| number::percent((cpu * 1e3).round() / 1e3))),
    ]
}

/// Duration of a test in a suite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Took {
    /// Total seconds of the test's steps.
    pub seconds: f64,
    /// True if a step ended early; its duration is extrapolated from its rate.
    pub estimated: bool,
    /// Statements with wrong results.
    pub wrong: u64,
}

/// A test or step with its duration in each suite.
pub(crate) struct Test {
    pub name: String,
    pub took: Vec<Option<Took>>,
}

/// Grouping of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// By the prefix of their names before the colon.
    Test,
    /// No grouping.
    Step,
}

/// The tests that several suites have in common, in the order of the first suite that has them.
pub(crate) fn tests(suites: &[&SuiteRun], by: By) -> Vec<Test> {
    let mut out: Vec<Test> = Vec::new();
    for (index, suite) in suites.iter().enumerate() {
        for (row, work) in of(suite) {
            let name = clean(match (by, divided(&row.step.name)) {
                (By::Test, (test, _)) if !test.is_empty() => test,
                _ => &row.step.name,
            });
            let place = out.iter().position(|test| test.name == name).unwrap_or_else(|| {
                out.push(Test { name, took: vec![None; suites.len()] });
                out.len() - 1
            });
            add(&mut out[place].took[index], work);
        }
    }
    out
}

fn add(took: &mut Option<Took>, work: &Statements) {
    let cut = work.done < work.asked && work.done > 0;
    let whole = if cut { work.asked as f64 / work.done as f64 } else { 1.0 };
    let took = took.get_or_insert(Took { seconds: 0.0, estimated: false, wrong: 0 });
    took.seconds += work.span.as_secs_f64() * whole;
    took.estimated |= cut || work.done < work.asked;
    took.wrong = took.wrong.saturating_add(work.wrong);
}

/// The duration in seconds; `+` if a part is extrapolated, `?` if results were wrong.
pub(crate) fn seconds(took: &Took) -> String {
    let signs = [(took.estimated, "+"), (took.wrong > 0, "?")];
    let signs: String = signs.into_iter().filter(|(holds, _)| *holds).map(|(_, sign)| sign).collect();
    format!("{}{signs}", number::three(took.seconds))
}
