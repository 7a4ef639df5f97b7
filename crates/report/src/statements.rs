//! Tables of statements of a single session: counts, times and log activity; and comparison of a test across databases.

use plimsoll_language::label;
use plimsoll_record::{Statements, StepWork, SuiteRun};

use crate::number;
use crate::page::{Column, ColumnKind, Table};
use crate::sessions::divided;
use crate::suite::{StepRow, longest, mean, median_note, rows};
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
    let all = of(suite);
    let share = |name, unit, priority| Column::new(name, unit, ColumnKind::Share, priority);
    let count = |count: u64| number::integer(count as f64);
    let each = |work: &Statements, count: Option<u64>| {
        count.filter(|_| work.done > 0).map(|count| number::three(count as f64 / work.done as f64))
    };
    let cut = all.iter().any(|(_, work)| work.done < work.requested);
    let cut = cut.then(|| label!("steps with fewer statements than planned reached their time limit").to_owned());
    Table::rows("", &all)
        .column(Column::text(label!("step"), 0), |(row, _)| clean(&row.step.name))
        .column(share(label!("planned"), label!("statements"), 5), |(_, work)| {
            (work.requested != work.done).then(|| count(work.requested))
        })
        .column(share(label!("done"), label!("statements"), 0), |(_, work)| count(work.done))
        .column(share(label!("wrong"), "", 1), |(_, work)| (work.wrong > 0).then(|| count(work.wrong)))
        .column(share(label!("took"), "", 0), |(_, work)| work.span.to_string())
        .column(share(label!("rate"), label!("a second"), 0), |(row, _)| number::three(row.rate()))
        .column(share(label!("mean"), "", 2), |(_, work)| mean(&work.each))
        .column(share("p99", "", 0), |(_, work)| work.each.quantile(0.99).map(|span| span.to_string()))
        .column(share(label!("longest"), "", 6), |(_, work)| longest(&work.each))
        .column(share(label!("log flushes"), label!("for each"), 3), |(_, work)| each(work, work.counted.log_flushes))
        .column(share(label!("disk flushes"), label!("for each"), 7), |(_, work)| {
            each(work, work.storage.disk.as_ref().map(|disk| disk.flushes))
        })
        .column(share(label!("client CPU"), "", 4), |(row, _)| row.processors())
        .table()
        .with_notes(median_note(all.iter().map(|(row, _)| row.rounds)).into_iter().chain(cut))
        .without_unknown()
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
    let cut = work.done < work.requested && work.done > 0;
    let total = if cut { work.requested as f64 / work.done as f64 } else { 1.0 };
    let took = took.get_or_insert(Took { seconds: 0.0, estimated: false, wrong: 0 });
    took.seconds += work.span.as_secs_f64() * total;
    took.estimated |= cut || work.done < work.requested;
    took.wrong = took.wrong.saturating_add(work.wrong);
}

/// The duration in seconds; `+` if a part is extrapolated, `?` if results were wrong.
pub(crate) fn seconds(took: &Took) -> String {
    let signs = [(took.estimated, "+"), (took.wrong > 0, "?")];
    let signs: String = signs.into_iter().filter(|(holds, _)| *holds).map(|(_, sign)| sign).collect();
    format!("{}{signs}", number::three(took.seconds))
}
