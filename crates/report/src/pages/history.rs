//! The load line, or a figure of a named load, of a series of runs over time, with its changes.

use maud::{Markup, html};
use plimsoll_analyse::{MIN_SERIES, SeriesChange, SeriesFigure, SeriesValue, find_changes, judged};
use plimsoll_language::{label, say};
use plimsoll_record::{Curve, Estimate, LoadLine, Objective};

use super::comparison::{name_quantity, share_and_range, show_value};
use crate::chart;
use crate::html::{both, figure};
use crate::number;
use crate::page::{Block, Cell, Chart, Column, ColumnKind, Exhibit, Fact, Headline, Page, PageSection, Table};
use crate::timeline::{Mark, Panel, PanelScale, Timeline, Track};
use crate::words::{self, clean};

/// Maximum number of labelled runs on the axis.
const MAX_TICKS: usize = 8;

/// The runs of a target in chronological order, by a figure.
#[derive(Clone, Debug)]
pub struct RunHistory {
    pub target: String,
    pub figure: SeriesFigure,
    /// Objective of the load lines; `None` for the figure of a named load.
    pub objective: Option<Objective>,
    pub runs: Vec<HistoryRun>,
}

#[derive(Clone, Debug)]
pub struct HistoryRun {
    /// Name for use in commands.
    pub name: String,
    /// The day of its start; empty if unknown.
    pub day: String,
    /// Its load line; `None` if the run has none, or another figure is compared.
    pub line: Option<LoadLine>,
    /// The compared figure; `None` if the run does not have it with an interval.
    pub value: Option<SeriesValue>,
    pub change: Option<SeriesChange>,
}

impl RunHistory {
    /// The runs with their figures and changes. `runs` are in chronological order.
    pub fn new(target: &str, figure: SeriesFigure, runs: &[(String, Curve)]) -> Self {
        let objective = match figure {
            SeriesFigure::LoadLine(objective) => Some(objective),
            SeriesFigure::Named(..) => None,
        };
        let of_run = |(name, curve): &(String, Curve)| HistoryRun {
            name: name.clone(),
            day: words::date(curve).unwrap_or_default(),
            line: objective.and_then(|objective| judged(curve, objective)).map(|(line, _)| line),
            value: figure.of(curve),
            change: None,
        };
        let mut series: Vec<HistoryRun> = runs.iter().map(of_run).collect();
        let usable: Vec<usize> = (0..series.len()).filter(|index| series[*index].value.is_some()).collect();
        let values: Vec<Estimate> = series.iter().filter_map(|run| Some(run.value?.estimate)).collect();
        for change in find_changes(figure, &values) {
            series[usable[change.at]].change = Some(change);
        }
        Self { target: target.to_owned(), figure, objective, runs: series }
    }

    /// Name of the compared figure.
    pub fn compared(&self) -> String {
        name_quantity(self.figure.quantity(), self.figure.offered())
    }

    fn cautions(&self) -> Vec<String> {
        let mut cautions = Vec::new();
        let unusable = self.runs.iter().filter(|run| run.value.is_none()).count();
        if unusable > 0 {
            let compared = self.compared();
            cautions.push(say!(
                "{unusable} runs without this figure, or without its interval, are not compared: {compared}."
            ));
        }
        let overloaded = self.runs.iter().filter(|run| run.value.is_some_and(|value| value.is_overloaded)).count();
        if overloaded > 0 {
            cautions.push(say!("{overloaded} runs were overloaded: their response times are at least these."));
        }
        cautions
    }
}

/// `origin` is that of the figures, such as `measured`.
pub fn history(history: &RunHistory, origin: &'static str) -> Page {
    let RunHistory { target, objective, runs, .. } = history;
    let usable: Vec<&HistoryRun> = runs.iter().filter(|run| run.value.is_some()).collect();
    let newest_first: Vec<&HistoryRun> = runs.iter().rev().collect();
    let table = tabulate(history, &newest_first);
    let changes = runs.iter().filter(|run| run.change.is_some()).rev();
    let changes = changes.map(|run| Fact::new(clean(&run.day), describe_change(history, run))).collect();
    let chart = (usable.len() > 1).then(|| Block::Chart(Chart::new(draw(history, &usable, origin))));
    let compared = match objective {
        Some(objective) => Fact::new(label!("Objective"), objective.to_string()),
        None => Fact::new(label!("Compared"), history.compared()),
    };
    Page {
        title: say!("History of {}", clean(target)),
        headline: Some(Headline {
            text: verdict(history, &usable),
            cautions: history.cautions(),
            ..Headline::default()
        }),
        origin,
        figures: vec![Fact::new(label!("Target"), clean(target)), compared],
        exhibit: Exhibit::Block(Block::Table(table.clone())),
        sections: vec![
            PageSection::new(label!("Changes"), vec![Block::Facts(changes)]),
            PageSection::new(label!("Runs"), chart.into_iter().chain([Block::Table(table)]).collect()),
        ],
        ..Page::default()
    }
}

/// The last change, or that there is none.
fn verdict(history: &RunHistory, usable: &[&HistoryRun]) -> String {
    let count = usable.len();
    let changes: Vec<&&HistoryRun> = usable.iter().filter(|run| run.change.is_some()).collect();
    if let Some(last) = changes.last() {
        let others = if changes.len() > 1 { say!("; {} changes", changes.len()) } else { String::new() };
        return say!("{}{others} in {count} runs", describe_change(history, last));
    }
    let compared = history.compared();
    if count < MIN_SERIES {
        return say!(
            "No statement: {count} runs have this figure ({compared}), and a change is sought in {MIN_SERIES} or more"
        );
    }
    say!("No change in {count} runs ({compared})")
}

/// `Worse since run-7: load line 21,000 to 17,500 IOPS, by 16 % (12 to 20 %)`.
fn describe_change(history: &RunHistory, run: &HistoryRun) -> String {
    let Some(change) = run.change else { return String::new() };
    let word = if change.is_better { label!("Better") } else { label!("Worse") };
    let show = |value: f64| show_value(history.figure.quantity(), value);
    let a = if history.figure.is_rate() { number::three(change.a) } else { show(change.a) };
    let (compared, b, by) = (history.compared(), show(change.b), share_and_range(&change.ratio));
    say!("{word} since {}: {compared} {a} to {b}, by {by}", clean(&run.name))
}

fn tabulate(history: &RunHistory, runs: &[&HistoryRun]) -> Table {
    let name = history.compared().into();
    let column = if history.figure.is_rate() {
        Column { name, ..Column::rate("", "IOPS", 0) }
    } else {
        Column { name, ..Column::time("", "ms", 0) }
    };
    let scale = if history.figure.is_rate() { 1.0 } else { 1e-6 };
    Table::rows(label!("Runs, newest first"), runs)
        .column(Column::new(label!("run"), "", ColumnKind::Name, 0), |run| clean(&run.name))
        .column(Column::text(label!("day"), 0), |run| clean(&run.day))
        .column(column, |run| {
            let estimate = run.value.map(|value| value.estimate).or_else(|| run.line?.iops())?;
            let interval = estimate.interval.map(|(low, high)| (low * scale, high * scale));
            Some(Cell::estimate(&Estimate { value: estimate.value * scale, interval }, number::three))
        })
        .column(Column::text(label!("change"), 0), |run| Some(Cell::text(percent(&run.change?))))
        .table()
}

fn percent(change: &SeriesChange) -> String {
    number::change(change.ratio.value - 1.0, 1)
}

/// A point for each run, and a mark for each change.
fn draw(history: &RunHistory, usable: &[&HistoryRun], origin: &str) -> Markup {
    let numbered = || (1..).map(f64::from).zip(usable);
    let points = numbered().filter_map(|(at, run)| Some((at, run.value?.estimate.value))).collect();
    let track = Track { name: String::new(), points };
    let limits = Vec::new();
    let (name, scale) = if history.figure.is_rate() {
        (say!("{}, IOPS", history.compared()), PanelScale::Rate)
    } else {
        (history.compared(), PanelScale::Time)
    };
    let panel = Panel { name, scale, tracks: vec![track], limits };
    let marks = numbered().filter_map(|(at, run)| Some(Mark { at, label: percent(&run.change?) }));
    let step = usable.len().div_ceil(MAX_TICKS).max(1);
    let ticks = numbered().step_by(step).map(|(at, run)| (at, run.day.clone())).collect();
    let story =
        Timeline { title: String::new(), source: String::new(), panels: vec![panel], marks: marks.collect(), ticks };
    let drawn =
        both("history", &history.compared(), label!("The figure of each run."), |size| chart::panels(&story, size));
    html! {
        p class="lead" { (label!("Each corner of the line is a run. Marks are changes.")) }
        (figure(&drawn, &html! { (origin) }))
    }
}
