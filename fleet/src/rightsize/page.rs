//! The answer as a page: largest savings, volumes at their limits, distribution, totals of owners.

use std::collections::BTreeMap;

use plimsoll_catalogue::{Currency, Money};
use plimsoll_report::{BarChart, Block, Cell, Column, ColumnKind, Fact, Headline, Page, PageSection, Table, bar_chart};

use super::decide::Action;
use super::optimizer::{Disagreement, OptimizerComparison};
use super::text::{cautions, comparison_sentence, largest_savings, most_throttled, verdict};
use super::totals::TotalRow;
use super::{Answer, Rightsized};

/// Rows of the lists of volumes.
const ROWS: usize = 10;
/// Rows of a table of totals: the largest groups.
const MAX_GROUPS: usize = 100;

/// Lower bounds of the bands of savings a month, in the currency; each ends at the next.
const BANDS: [(i64, &str); 6] = [
    (1_000, "1,000 and more"),
    (100, "100 to 1,000"),
    (10, "10 to 100"),
    (1, "1 to 10"),
    (0, "less than 1"),
    (i64::MIN, "none"),
];

/// The page.
pub fn page_of(rightsized: &Rightsized, totals: &[TotalRow<'_>]) -> Page {
    let writer = PageWriter { currency: rightsized.currency.parse().ok() };
    let answers = &rightsized.answers;
    let mut sections = vec![
        PageSection::new("Largest savings", writer.savings(answers)),
        PageSection::new("Most throttled", writer.throttled(answers)),
        PageSection::new("Distribution", writer.distribution(answers)),
    ];
    for (by, heading) in [("account", "By account"), ("region", "By region"), ("team", "By team")] {
        sections.push(PageSection::new(heading, writer.totals(by, totals)));
    }
    if let Some(comparison) = &rightsized.comparison {
        sections.push(PageSection::new("Compute Optimizer", compared(comparison)));
    }
    Page {
        title: "Rightsizing of a fleet".to_owned(),
        subject: vec![format!("{} volumes, {} points.", answers.len(), rightsized.points)],
        headline: Some(Headline { cautions: cautions(rightsized), ..Headline::of(verdict(rightsized)) }),
        figures: writer.figures(answers),
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

    fn figures(&self, answers: &[Answer]) -> Vec<Fact> {
        let of = |action: Action| answers.iter().filter(move |answer| answer.action == action);
        let saved = |action: Action| self.money(Some(of(action).map(|answer| answer.saving_micros).sum())).text;
        let raised = self.money(Some(of(Action::Raise).map(|answer| -answer.saving_micros).sum())).text;
        vec![
            Fact::new(
                "lower",
                format!("{} volumes, {} saved a month", of(Action::Lower).count(), saved(Action::Lower)),
            ),
            Fact::new("raise", format!("{} volumes at their limits, {raised} more a month", of(Action::Raise).count())),
            Fact::new("fits", format!("{} volumes", of(Action::Fits).count())),
            Fact::new("idle", format!("{} volumes without any operation", of(Action::Idle).count())),
            Fact::new(
                "unknown",
                format!("{} volumes without configuration, price or load", of(Action::Unknown).count()),
            ),
        ]
    }

    fn savings(&self, answers: &[Answer]) -> Vec<Block> {
        let found = largest_savings(answers);
        if found.is_empty() {
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
        let row = |answer: &&Answer| {
            vec![
                Cell::text(&answer.volume.id),
                Cell::text(&answer.volume.team),
                Cell::text(&answer.volume.config),
                Cell::text(answer.new_config.as_deref().unwrap_or_default()),
                count(answer.need_iops),
                self.money(Some(answer.saving_micros)),
            ]
        };
        let note = format!("{} volumes save; all are in verdicts.csv.", found.len());
        vec![table("Largest savings", columns.into(), found.iter().take(ROWS).map(row).collect()), Block::Note(note)]
    }

    fn throttled(&self, answers: &[Answer]) -> Vec<Block> {
        let found = most_throttled(answers);
        if found.is_empty() {
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
        let row = |answer: &&Answer| {
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
        let note = format!("{} volumes are at a limit; the need of each is at least its load.", found.len());
        vec![table("Most throttled", columns.into(), found.iter().take(ROWS).map(row).collect()), Block::Note(note)]
    }

    /// Volumes by saving, without those of which limits delay operations.
    fn distribution(&self, answers: &[Answer]) -> Vec<Block> {
        let mut bands = BANDS.map(|(_, name)| (name, 0_i64, 0_i64));
        for answer in answers.iter().filter(|answer| !answer.throttled && answer.action != Action::Unknown) {
            let saving = answer.saving_micros;
            let is_in = |from: i64| if from == 0 { saving > 0 } else { saving >= from.saturating_mul(1_000_000) };
            let index = BANDS.iter().position(|(from, _)| is_in(*from)).unwrap_or(BANDS.len() - 1);
            bands[index].1 += 1;
            bands[index].2 += saving.max(0);
        }
        let bars = bands.map(|(name, volumes, saving)| {
            (name.to_owned(), volumes as f64, format!("{volumes} volumes, {}", self.money(Some(saving)).text))
        });
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
    fn totals(&self, by: &str, totals: &[TotalRow<'_>]) -> Vec<Block> {
        let mut groups: Vec<_> = totals.iter().filter(|total| total.by == by).collect();
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
        let row = |TotalRow { name, total, .. }: &&TotalRow<'_>| {
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
    let mut counts: BTreeMap<Disagreement, (i64, &str)> = BTreeMap::new();
    for row in &comparison.rows {
        let Some(disagreement) = row.disagreement else { continue };
        counts.entry(disagreement).or_insert((0, row.reason.as_str())).0 += 1;
    }
    let columns =
        [Column::text("disagreement", 0), Column::new("volumes", "", ColumnKind::Share, 0), Column::text("example", 1)];
    let row = |(disagreement, (volumes, example)): (Disagreement, (i64, &str))| {
        let name = serde_json::to_value(disagreement).unwrap_or_default();
        vec![Cell::text(name.as_str().unwrap_or_default()), count(volumes), Cell::text(example)]
    };
    let rows = counts.into_iter().map(row).collect();
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
