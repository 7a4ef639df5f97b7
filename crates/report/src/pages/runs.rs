//! Kept runs.

use plimsoll_language::{label, say};
use plimsoll_record::{Curve, Objective, SuiteRun};

use crate::page::{Column, ColumnKind, Page, Table, TableLayout};
use crate::{pick, words};

#[derive(Clone, Debug)]
pub struct KeptRun {
    /// Name for use in commands.
    pub name: String,
    /// The result as a sentence: a load line, or the reason why there is none.
    pub result: String,
    /// The load line in operations per second.
    pub iops: Option<f64>,
    /// The objective of the load line.
    pub objective: Option<Objective>,
}

impl KeptRun {
    pub fn of_curve(name: String, curve: &Curve) -> Self {
        let line = || {
            let closed = pick::closed_answer(curve).map(|closed| say!("closed loads: {}", words::closed_line(closed)));
            closed.or_else(|| curve.load_line.as_ref().map(words::load_line))
        };
        let result = words::ended(curve.ended).map(str::to_owned).or_else(line);
        let result = result.unwrap_or_else(|| label!("no load line").to_owned());
        let iops = curve.load_line.and_then(|line| line.iops()).map(|iops| iops.value);
        Self { name, result, iops, objective: curve.load_line.map(|line| line.objective()) }
    }

    pub fn of_suite(name: String, suite: &SuiteRun) -> Self {
        let steps = || say!("{}, {} steps", suite.follows, suite.steps.len());
        let result = words::ended(suite.ended).map_or_else(steps, str::to_owned);
        Self { name, result, iops: None, objective: None }
    }
}

/// Kept runs, a line each.
pub fn runs(runs: &[KeptRun]) -> Page {
    let table = Table::rows(label!("Kept runs"), runs)
        .column(Column::new(label!("run"), "", ColumnKind::Name, 0), |run| run.name.as_str())
        .column(Column::text(label!("result"), 0), |run| run.result.as_str())
        .table();
    Page::of_table(
        Table { layout: TableLayout::Lines, ..table },
        label!("no runs yet: start with `plimsoll measure .`"),
    )
}
