//! Details of a sizing: design point, each choice in full, sources, and all configurations as CSV.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_catalogue::Cite;
use plimsoll_choose::sizing::{
    Best, Choice, DesignLimit, DesignPoint, Rejection, Sizing, SizingRequirements, StepKind,
};
use plimsoll_ingest::Outcome;
use plimsoll_language::{label, say};

use super::database_time::database_time;
use super::{Doubts, Sized, list_facts};
use crate::chart::{self, Bar, Fill};
use crate::csv::plain;
use crate::html::{both, figure};
use crate::number;
use crate::page::{Block, Cell, Chart, Column, ColumnKind, Fact, Item, PageSection, Table};
use crate::pages::file_name;
use crate::words::{clean, offer, sizing as words};

/// Maximum number of inputs in a chart's source.
const INPUTS_MAX: usize = 3;

impl Sized<'_> {
    /// Steps from the measured load to the required ceilings.
    pub(super) fn design_point(&self) -> PageSection {
        let required = &self.sizing.required;
        let mut facts = vec![Fact::new(label!("measured"), words::describe_measured_load(required))];
        facts.extend(words::today(required).map(|today| Fact::new(label!("today"), today)));
        for step in &required.steps {
            facts.push(Fact::new(
                if matches!(step.kind, StepKind::Growth(_)) { label!("growth") } else { label!("peaks") },
                words::describe_growth_step(step),
            ));
        }
        for point in &required.points {
            let of =
                if required.points.len() > 1 { say!(", with {}", words::busiest(point.of)) } else { String::new() };
            facts.push(Fact::new(label!("expected"), format!("{}{of}", words::point(point))));
        }
        let design = say!("required ceilings: {} times this load (headroom)", number::three(required.room()));
        facts.push(Fact::new(label!("design"), design));
        let free = if required.free > 0.0 {
            say!("; {} of it stays free", number::percent(required.free))
        } else {
            String::new()
        };
        facts.push(Fact::new(label!("capacity"), format!("{}{free}", offer::capacity(required.capacity))));
        let objectives = words::objectives(&required.objectives);
        facts.extend((!objectives.is_empty()).then(|| Fact::new(label!("meets"), objectives)));
        facts.push(Fact::new(label!("machine"), words::compute(required.compute)));
        facts.extend(words::compute_origin(required).into_iter().map(|text| Fact::new("", text)));
        facts.extend(required.assumptions.iter().map(|own| Fact::new(label!("assumed"), words::assumption(own))));
        let subject = if required.subject.is_empty() { label!("the demand") } else { &required.subject };
        PageSection::new(say!("Design point of {subject}"), vec![Block::Facts(facts), Block::Chart(self.levels())])
    }

    /// Load levels from measured to design point.
    fn levels(&self) -> Chart {
        let levels = build_levels(&self.sizing.required);
        let description =
            levels.iter().map(|bar| format!("{}: {}", bar.name, bar.value)).collect::<Vec<_>>().join(label!("; "));
        let drawn = both("wanted", label!("From measured load to design point"), &description, |size| {
            chart::bars(&levels, size)
        });
        Chart::new(figure(&drawn, &maud::html! { (self.inputs()) }))
    }

    fn inputs(&self) -> String {
        let readings: Vec<_> = self.outcomes.iter().filter_map(Outcome::reading).collect();
        let first = readings.iter().take(INPUTS_MAX);
        let names: Vec<String> =
            first.map(|reading| say!("{} ({})", clean(file_name(&reading.name)), reading.kind)).collect();
        match (names.is_empty(), readings.len().saturating_sub(INPUTS_MAX)) {
            (true, _) => label!("the demand as given").to_owned(),
            (false, 0) => names.join(label!(", ")),
            (false, more) => say!("{} and {} more", names.join(label!(", ")), number::integer(more as f64)),
        }
    }

    /// The expected load by class, and each choice in full.
    pub(super) fn in_full(&self) -> PageSection {
        let mut blocks = vec![Block::Table(classes(&self.sizing.required.points))];
        // A single volume is among the choices.
        let best = self.sizing.best().filter(|best| matches!(best, Best::Layout(_)));
        if let Some(effect) = best.and_then(|best| best.effect(&self.sizing.required)) {
            blocks.push(Block::Heading(label!("The recommended configuration").to_owned()));
            blocks.push(Block::Table(database_time(&effect)));
        }
        for (rank, choice) in self.choices().into_iter().enumerate() {
            blocks.push(Block::Heading(say!("{}. {}", rank + 1, offer::configuration(&choice.offer))));
            blocks.push(Block::Facts(list_facts(choice, Doubts::All)));
            let effect = choice.effect.as_ref();
            blocks.push(Block::Table(self.classes(&[choice], effect)));
            blocks.extend(effect.map(|effect| Block::Table(database_time(effect))));
        }
        PageSection::detail(label!("The load by class, and each choice in full"), blocks)
    }

    /// Origin of the figures, and the documents.
    pub(super) fn sources(&self) -> [PageSection; 2] {
        let displayed = || self.choices().into_iter().chain(&self.sizing.nearly);
        let mut cites: BTreeMap<(String, String), Arc<Cite>> = BTreeMap::new();
        for choice in displayed() {
            let limits = choice.binds.iter().chain(&choice.next);
            let ceilings =
                limits.filter_map(|limit| choice.offer.ceilings.iter().find(|ceiling| ceiling.name == limit.name));
            let mut used: Vec<Arc<Cite>> = ceilings.map(|ceiling| Arc::clone(&ceiling.cite)).collect();
            used.extend(choice.price.iter().map(|price| Arc::clone(&price.cite)));
            used.extend(choice.risks.iter().filter_map(|risk| risk.cite.clone()));
            for cite in used {
                cites.entry((cite.to_string(), cite.url.clone())).or_insert(cite);
            }
        }
        let figures = say!(
            "room: margin of the first limit above the design point; response times are simulated by the \
             catalogue's models; ceilings and list prices are {}",
            offer::provenance(cites.values().map(|cite| cite.status).collect())
        );
        let documents = cites.values().map(|cite| Item::new(offer::source(cite), [cite.url.clone()])).collect();
        [
            PageSection::bare(label!("Figures"), vec![Block::Facts(vec![Fact::new(label!("figures"), figures)])]),
            PageSection::detail(label!("Sources"), vec![Block::Items(documents)]),
        ]
    }

    /// A row for each choice, each configuration that misses the objective, and each rejection.
    pub(super) fn data(&self) -> Block {
        let Sizing { choices, nearly, slower, rejected, .. } = self.sizing;
        let row = |verdict: &str, rank: usize, name: String, why: String, value: &dyn Fn(CsvValue) -> String| {
            let existing = [verdict.to_owned(), (rank + 1).to_string(), name];
            existing.into_iter().chain(DATA.iter().map(|(_, of)| value(*of))).chain([why]).collect::<Vec<_>>()
        };
        let ranked = [
            (label!("carries"), choices),
            (label!("misses the objective"), nearly),
            (label!("slower than today"), slower),
        ];
        let mut rows: Vec<Vec<String>> = Vec::new();
        for (verdict, choices) in ranked {
            rows.extend(choices.iter().enumerate().map(|(rank, choice)| {
                let name = choice.offer.short().to_string();
                row(verdict, rank, name, words::reason(choice), &|value| value(choice))
            }));
        }
        let reject = |(rank, one): (usize, &Rejection)| {
            row(label!("does not carry it"), rank, one.name.clone(), words::why(&one.reason), &|_| String::new())
        };
        rows.extend(rejected.iter().enumerate().map(reject));
        let names = ["verdict", "rank", "configuration"].into_iter().chain(DATA.iter().map(|(name, _)| *name));
        let columns: Vec<Column> = names.chain(["why"]).map(|name| Column::text(name, 0)).collect();
        Block::Data(Table::of(label!("Configurations"), columns, rows, |row| row.iter().map(Cell::text).collect()))
    }
}

/// Value of a choice for CSV; empty if unknown.
type CsvValue = fn(&Choice) -> String;

const DATA: [(&str, CsvValue); 18] = [
    ("product", |choice| choice.offer.product().name().to_owned()),
    ("capacity_bytes", |choice| choice.offer.capacity.get().to_string()),
    ("price_month", |choice| or_empty(choice.price.as_ref(), |price| price.monthly.exact())),
    ("currency", |choice| or_empty(choice.price.as_ref(), |price| price.monthly.currency.to_string())),
    ("price_without", |choice| or_empty(choice.price.as_ref(), |price| price.without.join(label!("; ")))),
    ("region", |choice| {
        or_empty(choice.price.as_ref(), |price| price.region.as_deref().unwrap_or_default().to_owned())
    }),
    ("price_date", |choice| or_empty(choice.price.as_ref(), |price| price.cite.date.clone())),
    ("binds", |choice| or_empty(choice.binds.as_ref(), name_limit)),
    ("binds_over_design_point", |choice| or_empty(choice.binds.as_ref(), over)),
    ("allowed_iops", |choice| or_empty(choice.binds.as_ref(), |limit| plain(limit.iops))),
    ("allowed_bytes_per_s", |choice| or_empty(choice.binds.as_ref(), |limit| plain(limit.bytes_per_second))),
    ("next_limit", |choice| or_empty(choice.next.as_ref(), name_limit)),
    ("next_over_design_point", |choice| or_empty(choice.next.as_ref(), over)),
    ("objectives", |choice| words::reached(&choice.reached)),
    ("latency_mean_ns", |choice| {
        let of_class =
            |one: &plimsoll_choose::sizing::ClassLatency| format!("{} {}", one.class.name(), one.mean.as_nanos());
        choice.latency.iter().map(of_class).collect::<Vec<_>>().join(label!("; "))
    }),
    ("machine", |choice| {
        let machine = choice.machine.as_ref().and_then(|machine| machine.offer.short().machine);
        or_empty(machine, |machine| machine.to_string())
    }),
    ("total_month", |choice| or_empty(choice.total(), plimsoll_catalogue::Money::exact)),
    ("yearly_loss", |choice| or_empty(choice.yearly_loss, plain)),
];

fn or_empty<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(String::new, text)
}

fn name_limit(limit: &DesignLimit) -> String {
    offer::product_text(&limit.name)
}

fn over(limit: &DesignLimit) -> String {
    plain(limit.over)
}

fn build_levels(required: &SizingRequirements) -> Vec<Bar> {
    let bar = |name: String, iops: f64, bytes: f64, fill| Bar {
        name,
        from: 0.0,
        to: iops,
        value: say!("{} IOPS, {} MB/s", number::three(iops), offer::megabytes(bytes)),
        fill,
        tone: 0,
    };
    let measured = &required.measured;
    let mut bars = vec![bar(label!("measured").into(), measured.iops, measured.bytes_per_second, Fill::Full)];
    for point in &required.points {
        let of = if required.points.len() > 1 { say!(", {}", words::busiest(point.of)) } else { String::new() };
        bars.push(bar(say!("expected{of}"), point.iops(), point.bytes_per_second(), Fill::Full));
    }
    if let Some(point) = required.points.first() {
        let room = required.room();
        bars.push(bar(
            label!("design point").into(),
            point.iops() * room,
            point.bytes_per_second() * room,
            Fill::Hollow,
        ));
    }
    bars
}

fn classes(points: &[DesignPoint]) -> Table {
    let columns = [
        Column::text(label!("expected load"), 0),
        Column::rate(label!("rate"), "IOPS", 0),
        Column::rate(label!("bytes"), "MB/s", 0),
        Column::new(label!("size"), "KiB", ColumnKind::Size, 0),
        Column::text(label!("in the windows with"), 0),
    ];
    let rows = points.iter().flat_map(|point| point.classes.iter().map(move |load| (point, load)));
    Table::of(label!("The expected load by class"), columns, rows, |(point, load)| {
        vec![
            Cell::text(load.class.label()),
            Cell::three(load.iops),
            Cell::figure(offer::megabytes(load.bytes_per_second), load.bytes_per_second / 1e6),
            Cell::three(load.size() / 1024.0),
            Cell::text(words::busiest(point.of)),
        ]
    })
}
