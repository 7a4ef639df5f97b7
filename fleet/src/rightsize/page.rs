//! The answer as a page: largest savings, volumes at their limits, distribution, totals of owners.

use plimsoll_catalogue::{Currency, Money};
use plimsoll_report::{BarChart, Block, Cell, Column, ColumnKind, Fact, Headline, Page, PageSection, Table, bar_chart};

use super::Answer;
use super::decide::Action;
use super::optimizer::{Disagreement, OptimizerComparison};
use super::summary::{BANDS, Largest, Summary, TotalRow};
use super::text::{comparison_sentence, verdict};

/// Rows of a table of totals: the largest groups.
const MAX_GROUPS: usize = 100;

/// The page.
pub fn page_of(summary: &Summary) -> Page {
    let writer = PageWriter { currency: summary.currency.parse().ok() };
    let mut sections = vec![
        PageSection::new("Largest savings", writer.savings(&summary.savings)),
        PageSection::new("Most throttled", writer.throttled(&summary.throttled)),
        PageSection::new("Distribution", writer.distribution(&summary.bands)),
    ];
    for (by, heading) in [("account", "By account"), ("region", "By region"), ("team", "By team")] {
        sections.push(PageSection::new(heading, writer.totals(by, summary)));
    }
    if let Some(comparison) = &summary.comparison {
        sections.push(PageSection::new("Compute Optimizer", compared(comparison)));
    }
    Page {
        title: "Rightsizing of a fleet".to_owned(),
        subject: vec![format!("{} volumes, {} points.", summary.volumes, summary.points)],
        headline: Some(Headline { cautions: summary.cautions(), ..Headline::of(verdict(summary)) }),
        figures: writer.figures(summary),
        sections,
        ..Page::default()
    }
}

struct PageWriter {
    currency: Option<Currency>,
}

impl PageWriter {
    fn money(&self, micros: Option<i64>) -> Cell {
        let sum = micros.zip(self.currency);
        Cell::money(sum.map(|(micros, currency)| Money { millionths: i128::from(micros), currency }))
    }

    fn figures(&self, summary: &Summary) -> Vec<Fact> {
        let number = |action: Action| summary.count(action);
        let saved = |action: Action| self.money(Some(summary.saving(action))).text;
        let raised = self.money(Some(-summary.saving(Action::Raise))).text;
        vec![
            Fact::new("lower", format!("{} volumes, {} saved a month", number(Action::Lower), saved(Action::Lower))),
            Fact::new("raise", format!("{} volumes at their limits, {raised} more a month", number(Action::Raise))),
            Fact::new("fits", format!("{} volumes", number(Action::Fits))),
            Fact::new("idle", format!("{} volumes without any operation", number(Action::Idle))),
            Fact::new("unknown", format!("{} volumes without configuration, price or load", number(Action::Unknown))),
        ]
    }

    fn savings(&self, found: &Largest) -> Vec<Block> {
        if found.count == 0 {
            return vec![Block::Text("No cheaper configuration carries the load of a volume.".to_owned())];
        }
        let columns = [
            Column::text("volume", 0),
            Column::text("team", 1),
            Column::new("configuration", "", ColumnKind::Name, 0),
            Column::new("new configuration", "", ColumnKind::Name, 0),
            Column::new("need", "IOPS", ColumnKind::Rate, 1),
            Column::new("saving", "a month", ColumnKind::Money, 0),
        ];
        let row = |answer: &Answer| {
            vec![
                Cell::text(&answer.volume.id),
                Cell::text(&answer.volume.team),
                Cell::text(&answer.volume.config),
                Cell::text(answer.new_config.as_deref().unwrap_or_default()),
                count(answer.need_iops),
                self.money(Some(answer.saving_micros)),
            ]
        };
        let note = format!("{} volumes save; all are in verdicts.csv.", found.count);
        vec![table("Largest savings", columns.into(), found.answers.iter().map(row).collect()), Block::Note(note)]
    }

    fn throttled(&self, found: &Largest) -> Vec<Block> {
        if found.count == 0 {
            return vec![Block::Text("No limit delays the operations of a volume.".to_owned())];
        }
        let columns = [
            Column::text("volume", 0),
            Column::text("team", 1),
            Column::new("configuration", "", ColumnKind::Name, 0),
            Column::new("at a limit", "% of the time", ColumnKind::Share, 0),
            Column::new("new configuration", "", ColumnKind::Name, 0),
            Column::new("more", "a month", ColumnKind::Money, 0),
        ];
        let row = |answer: &Answer| {
            let share = answer.throttled_permille as f64 / 10.0;
            let more = answer.new_cost_micros.map(|_| -answer.saving_micros);
            let none = if answer.action == Action::Unknown { "unknown" } else { "none carries more" };
            vec![
                Cell::text(&answer.volume.id),
                Cell::text(&answer.volume.team),
                Cell::text(&answer.volume.config),
                Cell::figure(format!("{share:.1}"), share),
                Cell::text(answer.new_config.as_deref().unwrap_or(none)),
                self.money(more),
            ]
        };
        let note = format!("{} volumes are at a limit; the need of each is at least its load.", found.count);
        vec![table("Most throttled", columns.into(), found.answers.iter().map(row).collect()), Block::Note(note)]
    }

    /// Volumes by saving, without those of which limits delay operations.
    fn distribution(&self, bands: &[(i64, i64); BANDS.len()]) -> Vec<Block> {
        let bars = bands.iter().zip(BANDS).map(|((volumes, saving), (_, name))| {
            (name.to_owned(), *volumes as f64, format!("{volumes} volumes, {}", self.money(Some(*saving)).text))
        });
        let bars: Vec<_> = bars.collect();
        let chart = BarChart {
            id: "savings",
            title: "Volumes by saving a month",
            columns: ["saving a month", "volumes"],
            bars: &bars,
            source: "points of the fleet and prices of the catalogue; volumes at their limits are left out",
        };
        vec![Block::Chart(bar_chart(&chart))]
    }

    /// Totals of the groups with the highest cost.
    fn totals(&self, by: &str, summary: &Summary) -> Vec<Block> {
        let mut groups: Vec<_> = summary.totals().filter(|total| total.by == by).collect();
        groups.sort_by_key(|group| (-group.total.cost_micros, group.name));
        let columns = [
            Column::text(
                if by == "account" {
                    "account"
                } else if by == "region" {
                    "region"
                } else {
                    "team"
                },
                0,
            ),
            Column::new("volumes", "", ColumnKind::Share, 0),
            Column::new("throttled", "", ColumnKind::Share, 0),
            Column::new("cost", "a month", ColumnKind::Money, 0),
            Column::new("saving", "a month", ColumnKind::Money, 0),
            Column::new("raises", "a month", ColumnKind::Money, 1),
        ];
        let row = |TotalRow { name, total, .. }: &TotalRow<'_>| {
            vec![
                Cell::text(if name.is_empty() { "not stated" } else { *name }),
                count(total.volumes),
                count(total.throttled),
                self.money(Some(total.cost_micros)),
                self.money(Some(total.saving_micros)),
                self.money(Some(total.raise_micros)),
            ]
        };
        let rows = groups.iter().take(MAX_GROUPS).map(row).collect();
        let mut blocks = vec![table(&format!("Totals by {by}"), columns.into(), rows)];
        if groups.len() > MAX_GROUPS {
            let rest = groups.len() - MAX_GROUPS;
            blocks.push(Block::Note(format!("{rest} groups of lower cost are in totals.csv.")));
        }
        blocks
    }
}

/// Agreement with Compute Optimizer, and the number of disagreements by reason.
fn compared(comparison: &OptimizerComparison) -> Vec<Block> {
    let columns =
        [Column::text("disagreement", 0), Column::new("volumes", "", ColumnKind::Share, 0), Column::text("example", 1)];
    let row = |(disagreement, (volumes, example)): (&Disagreement, &(i64, String))| {
        let name = serde_json::to_value(disagreement).unwrap_or_default();
        vec![Cell::text(name.as_str().unwrap_or_default()), count(*volumes), Cell::text(example)]
    };
    let rows = comparison.disagreements.iter().map(row).collect();
    vec![
        Block::Text(comparison_sentence(comparison)),
        table("Disagreements with Compute Optimizer", columns.into(), rows),
    ]
}

fn table(label: &str, columns: Vec<Column>, rows: Vec<Vec<Cell>>) -> Block {
    Block::Table(Table { label: label.to_owned(), columns, rows, ..Table::default() })
}

fn count(number: i64) -> Cell {
    Cell::figure(number.to_string(), number as f64)
}
