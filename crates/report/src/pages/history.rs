//! The load line of a series of runs over time, with its changes.

use maud::{Markup, html};
use plimsoll_analyse::{LineChange, MIN_SERIES, Verdict, find_changes, judged};
use plimsoll_language::{label, say};
use plimsoll_record::{Curve, LoadLine, Objective};

use super::comparison::share_and_range;
use crate::chart;
use crate::html::{both, figure};
use crate::number;
use crate::page::{Block, Cell, Chart, Column, ColumnKind, Exhibit, Fact, Headline, Page, PageSection, Table};
use crate::timeline::{Mark, Panel, PanelScale, Timeline, Track};
use crate::words::{self, clean};

/// Maximum number of labelled runs on the axis.
const MAX_TICKS: usize = 8;

#[derive(Clone, Debug)]
pub struct HistoryRun {
    /// Name for use in commands.
    pub name: String,
    /// The day of its start; empty if unknown.
    pub day: String,
    /// Its load line; `None` if the run has none.
    pub line: Option<LoadLine>,
    pub change: Option<LineChange>,
}

impl HistoryRun {
    /// The runs with their load lines under an objective and their changes. `runs` are in chronological order.
    pub fn series(runs: &[(String, Curve)], objective: Objective) -> Vec<Self> {
        let of_run = |(name, curve): &(String, Curve)| Self {
            name: name.clone(),
            day: words::date(curve).unwrap_or_default(),
            line: judged(curve, objective).map(|(line, _)| line),
            change: None,
        };
        let mut series: Vec<Self> = runs.iter().map(of_run).collect();
        let usable: Vec<usize> = (0..series.len()).filter(|index| series[*index].is_usable()).collect();
        let lines: Vec<LoadLine> = usable.iter().filter_map(|index| series[*index].line).collect();
        for change in find_changes(&lines) {
            series[usable[change.at]].change = Some(change);
        }
        series
    }

    /// True if the load line has an interval, which comparisons need.
    fn is_usable(&self) -> bool {
        matches!(self.line, Some(LoadLine::At { iops, .. }) if iops.interval.is_some())
    }

    fn value(&self) -> Option<f64> {
        self.line.filter(|_| self.is_usable()).and_then(|line| line.iops()).map(|iops| iops.value)
    }
}

/// The runs of a target in chronological order. `origin` is that of the figures, such as `measured`.
pub fn history(target: &str, objective: Objective, origin: &'static str, runs: &[HistoryRun]) -> Page {
    let usable: Vec<&HistoryRun> = runs.iter().filter(|run| run.is_usable()).collect();
    let unusable = runs.len() - usable.len();
    let mut cautions = Vec::new();
    if unusable > 0 {
        cautions.push(say!("{unusable} runs without a load line with an interval are not compared."));
    }
    let newest_first: Vec<&HistoryRun> = runs.iter().rev().collect();
    let table = tabulate(&newest_first);
    let changes = runs.iter().filter(|run| run.change.is_some()).rev();
    let changes = changes.map(|run| Fact::new(clean(&run.day), describe_change(run))).collect();
    let chart = (usable.len() > 1).then(|| Block::Chart(Chart::new(draw(&usable, origin))));
    Page {
        title: say!("History of {}", clean(target)),
        headline: Some(Headline { text: verdict(&usable), cautions, ..Headline::default() }),
        origin,
        figures: vec![
            Fact::new(label!("Target"), clean(target)),
            Fact::new(label!("Objective"), objective.to_string()),
        ],
        exhibit: Exhibit::Block(Block::Table(table.clone())),
        sections: vec![
            PageSection::new(label!("Load line over the runs"), chart.into_iter().collect()),
            PageSection::new(label!("Changes"), vec![Block::Facts(changes)]),
            PageSection::new(label!("Runs"), vec![Block::Table(table)]),
        ],
        ..Page::default()
    }
}

/// The last change, or that there is none.
fn verdict(usable: &[&HistoryRun]) -> String {
    let count = usable.len();
    let changes: Vec<&&HistoryRun> = usable.iter().filter(|run| run.change.is_some()).collect();
    if let Some(last) = changes.last() {
        let others = if changes.len() > 1 { say!("; {} changes", changes.len()) } else { String::new() };
        return say!("{}{others} in {count} runs", describe_change(last));
    }
    if count < MIN_SERIES {
        return say!("No statement: {count} runs have a load line, and a change is sought in {MIN_SERIES} or more");
    }
    say!("No change in {count} runs")
}

/// `Worse since run-7: 21,000 to 17,500 IOPS, -16 % (12 to 20 %)`.
fn describe_change(run: &HistoryRun) -> String {
    let Some(LineChange { lines, .. }) = run.change else { return String::new() };
    let word = if lines.verdict() == Verdict::Worse { label!("Worse") } else { label!("Better") };
    let (a, b, by) = (number::three(lines.a), number::three(lines.b), share_and_range(&lines.ratio));
    say!("{word} since {}: {a} to {b} IOPS, by {by}", clean(&run.name))
}

fn tabulate(runs: &[&HistoryRun]) -> Table {
    Table::rows(label!("Runs, newest first"), runs)
        .column(Column::new(label!("run"), "", ColumnKind::Name, 0), |run| clean(&run.name))
        .column(Column::text(label!("day"), 0), |run| clean(&run.day))
        .column(Column::rate(label!("load line"), "IOPS", 0), |run| {
            Some(Cell::estimate(&run.line?.iops()?, number::three))
        })
        .column(Column::text(label!("change"), 0), |run| Some(Cell::text(percent(&run.change?))))
        .table()
}

fn percent(change: &LineChange) -> String {
    format!("{:+.1} %", (change.lines.ratio.value - 1.0) * 100.0)
}

/// A point for each run, and a mark for each change.
fn draw(usable: &[&HistoryRun], origin: &str) -> Markup {
    let numbered = || (1..).map(f64::from).zip(usable);
    let points = numbered().filter_map(|(at, run)| Some((at, run.value()?))).collect();
    let track = Track { name: String::new(), points };
    let limits = Vec::new();
    let panel =
        Panel { name: label!("load line, IOPS").to_owned(), scale: PanelScale::Rate, tracks: vec![track], limits };
    let marks = numbered().filter_map(|(at, run)| Some(Mark { at, label: percent(&run.change?) }));
    let step = usable.len().div_ceil(MAX_TICKS).max(1);
    let ticks = numbered().step_by(step).map(|(at, run)| (at, run.day.clone())).collect();
    let story =
        Timeline { title: String::new(), source: String::new(), panels: vec![panel], marks: marks.collect(), ticks };
    let drawn = both("history", label!("Load line over the runs"), label!("The load line of each run."), |size| {
        chart::panels(&story, size)
    });
    html! {
        p class="lead" { (label!("Each corner of the line is a run. Marks are changes.")) }
        (figure(&drawn, &html! { (origin) }))
    }
}
