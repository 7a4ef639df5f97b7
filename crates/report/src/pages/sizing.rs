//! Sizing: the choice, the ranking of configurations that carry a demand, the design point, and what does not carry it.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_catalogue::Cite;
use plimsoll_choose::diagnosis::{DatabaseEffect, Latencies, effect};
use plimsoll_choose::sizing::{Choice, ClassLatency, Limit, Point, Rejection, Sizing, Wanted};
use plimsoll_choose::what_if::WhatIfs;
use plimsoll_ingest::{Account, Outcome};

use super::{file_name, limit, what_if};
use crate::chart::{self, Axis, Bar, Fill, Group, Joined, Plane, Spot, sentence};
use crate::html::{both, figure};
use crate::number;
use crate::page::{Block, Cell, Chart, Column, ColumnKind, Fact, Headline, Item, Page, Section, Table};
use crate::scale::Scale;
use crate::words::diagnosis::share;
use crate::words::{clean, offer, sizing as words};

/// Configurations that are listed before the rest moves to a collapsed section.
const FEW: usize = 8;
/// Configurations that are listed in all.
const OTHERS_MAX: usize = 40;
/// Doubts about the first choice.
const DOUBTS_MAX: usize = 6;
/// Inputs that are named as the source of a chart.
const INPUTS_MAX: usize = 3;

/// A sizing with its inputs.
struct Sized<'a> {
    sizing: &'a Sizing,
    account: Option<&'a Account>,
    outcomes: &'a [Outcome],
    /// Choices that are shown.
    most: usize,
}

/// A sizing with at most `most` choices. With an account of the database's time, each choice has its effect on that.
pub fn sizing(
    sizing: &Sizing,
    what_ifs: &WhatIfs,
    account: Option<&Account>,
    outcomes: &[Outcome],
    most: usize,
) -> Page {
    let sized = Sized { sizing, account, outcomes, most };
    let subject = &sizing.wanted.subject;
    let title = format!("Storage for {}", if subject.is_empty() { "the demand" } else { subject });
    let mut sections = vec![sized.ranking()];
    sections.extend(sized.first());
    sections.extend(sized.more_money());
    sections.push(sized.wanted());
    sections.extend(what_if::sections(what_ifs));
    sections.extend(sized.nearly());
    sections.extend(sized.slower());
    sections.extend(sized.rejected());
    sections.push(sized.in_full());
    sections.extend(sized.sources());
    Page { title, headline: Some(sized.headline()), figures: sized.figures(), sections, ..Page::default() }
}

impl Sized<'_> {
    fn choices(&self) -> &[Choice] {
        &self.sizing.choices[..self.sizing.choices.len().min(self.most)]
    }

    /// ` at p99 <= 1 ms`.
    fn objective(&self) -> String {
        self.sizing.wanted.objective.map_or_else(String::new, |objective| format!(" at {objective}"))
    }

    /// The effect of a choice on the database's time, where both sides are known.
    fn effect(&self, choice: &Choice) -> Option<DatabaseEffect> {
        let latencies = choice.latency.iter().map(|one| (one.class, one.mean.as_secs_f64())).collect();
        effect(self.account?, &Latencies(latencies)).filter(|effect| !effect.parts.is_empty())
    }

    fn headline(&self) -> Headline {
        let Sizing { wanted, nearly, looked_at, .. } = self.sizing;
        let (looked, meets) = (number::whole(*looked_at as f64), self.objective());
        let Some(first) = self.sizing.choices.first() else {
            let near = nearly.iter().filter_map(|choice| choice.reached).min().map_or_else(String::new, |near| {
                let bounded = wanted.objective.map(|objective| objective.bounded()).unwrap_or_default();
                format!(": the nearest has {bounded} {near}, so a looser objective would find it")
            });
            let slower = if self.sizing.slower.is_empty() { "" } else { " and is no slower than today" };
            let text = format!("Of {looked} configurations none was found that carries it{meets}{slower}{near}");
            return Headline { text, grade: "simulated", details: words::answer(wanted).into_iter().collect() };
        };
        let name = offer::configuration(&first.offer);
        let text = match &first.price {
            Some(price) => format!("{} a month is the least that carries it{meets}: {name}", price.monthly),
            None => format!("{name} carries it{meets}; its price is not known"),
        };
        let saved = self.effect(first).map(|effect| format!("Database time: {} for the same work.", saved(&effect)));
        let reason = format!("{}.", sentence(&words::reason(first)));
        Headline {
            text,
            grade: "simulated",
            details: words::answer(wanted).into_iter().chain([reason]).chain(saved).collect(),
        }
    }

    fn figures(&self) -> Vec<Fact> {
        let wanted = &self.sizing.wanted;
        let mut facts = Vec::new();
        if let Some(point) = wanted.points.first() {
            let (moved, measured) = (offer::megabytes(point.bytes_per_second()), number::three(wanted.measured.iops));
            let expected = Fact::new("Expected", format!("{} IOPS", number::three(point.iops())));
            facts.push(expected.with_remark(format!("{moved} MB/s; measured {measured} IOPS")));
        }
        let headroom = Fact::new("Headroom", number::percent(wanted.headroom));
        facts.push(headroom.with_remark("above the expected load"));
        facts.push(Fact::new("Keeps", offer::capacity(wanted.capacity)).with_remark("at the end"));
        facts.extend(
            wanted.objective.map(|objective| {
                Fact::new("Meets", objective.to_string()).with_remark("simulated at the expected load")
            }),
        );
        if let Some(effect) = self.sizing.choices.first().and_then(|first| self.effect(first)) {
            facts.push(Fact::new("Database time", saved(&effect)).with_remark("with the cheapest, for the same work"));
        }
        facts
    }

    fn ranking(&self) -> Section {
        let looked = number::whole(self.sizing.looked_at as f64);
        let heading =
            format!("Of {looked} configurations, the cheapest of each product that carries it{}", self.objective());
        let choices = self.choices();
        let more = self.sizing.choices.len() - choices.len();
        let mut table = self.table("Choices, the cheapest first", choices);
        table.notes.extend((more > 0).then(|| format!("and {more} dearer ones: --most shows more")));
        let blocks = self.picture().map(Block::Chart).into_iter().chain([Block::Table(table), self.data()]);
        Section::new(heading, blocks.collect())
    }

    /// A row for each configuration.
    fn table(&self, label: &str, choices: &[Choice]) -> Table {
        let has_objective = self.sizing.wanted.objective.is_some();
        let has_effect = choices.iter().any(|choice| self.effect(choice).is_some());
        let mut columns = vec![
            Column::configuration(),
            Column::new("rank", "", ColumnKind::Share, 6),
            Column::monthly("price", 0),
            Column::new("room", "above", ColumnKind::Share, 0),
        ];
        columns.extend(has_objective.then(|| Column::new("reached", "simulated", ColumnKind::Text, 0)));
        columns.push(Column::new("reads", "mean", ColumnKind::Text, 3));
        columns.push(Column::new("binds", "first", ColumnKind::Text, 1));
        columns.push(Column::text("then", 4));
        columns.extend(has_effect.then(|| Column::new("database", "time", ColumnKind::Text, 5)));
        let row = |(index, one): (usize, &Choice)| {
            let room = |limit: &Limit| Cell::text(words::room(limit.over)).with_gauge(1.0 / limit.over);
            let mut cells = vec![
                Cell::text(offer::configuration(&one.offer)),
                Cell::text((index + 1).to_string()),
                Cell::money(one.price.as_ref().map(|price| price.monthly)),
                Cell::or_unknown(one.binds.as_ref(), room),
            ];
            let reached = || Cell::or_unknown(one.reached, |reached| Cell::text(reached.to_string()));
            cells.extend(has_objective.then(reached));
            cells.push(Cell::or_unknown(read(one), |class| Cell::text(class.mean.to_string())));
            cells.push(limit(one.binds.as_ref().map(|limit| &*limit.name)));
            cells.push(limit(one.next.as_ref().map(|limit| &*limit.name)));
            let effect = || Cell::or_unknown(self.effect(one), |effect| Cell::text(saved(&effect)));
            cells.extend(has_effect.then(effect));
            cells
        };
        let unpriced = choices.iter().position(|choice| choice.price.is_none());
        let groups = unpriced.map(|row| (row, "no price in the catalogue under these terms:".to_owned()));
        Table { groups: groups.into_iter().collect(), ..Table::of(label, columns, choices.iter().enumerate(), row) }
    }

    /// Price against waiting sessions; `None` of a single choice.
    fn picture(&self) -> Option<Chart> {
        let spot = |(index, choice): (usize, &Choice)| {
            let (price, waiting) = (choice.price.as_ref()?, choice.waiting(&self.sizing.wanted.points[0])?);
            let name = offer::configuration(&choice.offer);
            Some(Spot {
                x: price.monthly.millionths as f64 / 1e6,
                y: waiting,
                tip: format!("{name}: {} a month, {} sessions wait", price.monthly, number::three(waiting)),
                label: (index + 1).to_string(),
            })
        };
        let spots: Vec<Spot> = self.choices().iter().enumerate().filter_map(spot).collect();
        if spots.len() < 2 {
            return None;
        }
        let ends = |of: fn(&Spot) -> f64| {
            let values = || spots.iter().map(of);
            (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
        };
        let ((cheap, dear), (_, most)) = (ends(|spot| spot.x), ends(|spot| spot.y));
        let plane = Plane {
            x: Axis { name: "price a month", scale: Scale::for_latency(cheap, dear), label: number::short },
            y: Axis {
                name: "sessions that wait for reads and the log, simulated",
                scale: Scale::from_zero(most),
                label: number::three,
            },
            groups: vec![Group { name: "choices".into(), tone: 0, fill: Fill::Full, joined: Joined::Apart, spots }],
        };
        let description = "The table below has the figures; numbers are ranks.";
        let drawn =
            both("choices-price", "Price against waiting sessions", description, |size| chart::plane(&plane, size));
        let source = maud::html! { "list prices and ceilings of the catalogue, each with its document at the end" };
        Some(Chart::new(figure(&drawn, &source)))
    }

    /// The cheapest in full.
    fn first(&self) -> Option<Section> {
        let first = self.sizing.choices.first()?;
        Some(Section::new(offer::configuration(&first.offer), vec![Block::Facts(facts(first, Doubts::First))]))
    }

    /// Configurations of all levels, each with sessions that wait less than with every cheaper one.
    fn more_money(&self) -> Option<Section> {
        let frontier = &self.sizing.frontier;
        if frontier.len() < 2 {
            return None;
        }
        let columns = [
            Column::configuration(),
            Column::monthly("price", 0),
            Column::new("sessions", "waiting", ColumnKind::Share, 0),
            Column::new("reads", "mean", ColumnKind::Text, 2),
            Column::text("more", 0),
            Column::text("doubts", 1),
        ];
        let row = |(choice, step): (&Choice, words::FrontierStep)| {
            vec![
                Cell::text(offer::configuration(&choice.offer)),
                Cell::money(choice.price.as_ref().map(|price| price.monthly)),
                Cell::three(step.waiting),
                Cell::or_unknown(read(choice), |class| Cell::text(class.mean.to_string())),
                Cell::text(step.against_cheaper),
                Cell::text(step.doubts),
            ]
        };
        let rows = frontier.iter().zip(words::frontier(self.sizing));
        let note = "Sessions that wait for reads and for the log, in the mean at the expected load, simulated.";
        let table = Table::of("Configurations by price", columns, rows, row).with_notes([note.to_owned()]);
        Some(Section::new("What more money buys", vec![Block::Table(table)]))
    }

    /// Configurations that carry the load more slowly than the storage of today.
    fn slower(&self) -> Option<Section> {
        let slower = &self.sizing.slower;
        let entry = |choice: &Choice| {
            let price = choice.price.as_ref().map_or_else(String::new, |price| format!("{} ", price.monthly));
            let name = offer::configuration(&choice.offer);
            Item::new(format!("{price}{name}: {}", words::slower(&choice.slower)), [])
        };
        let mut blocks = vec![Block::Items(slower.iter().take(FEW).map(entry).collect())];
        let more = slower.len().saturating_sub(FEW);
        blocks.extend((more > 0).then(|| Block::Note(format!("and {more} more"))));
        let heading = "Carries it, and is slower than today (--may-be-slower ranks these, too)";
        (!slower.is_empty()).then(|| Section::new(heading, blocks))
    }

    /// From the measured load to the load that ceilings have to allow.
    fn wanted(&self) -> Section {
        let wanted = &self.sizing.wanted;
        let mut facts = vec![Fact::new("measured", words::measured(wanted))];
        facts.extend(words::today(wanted).map(|today| Fact::new("today", today)));
        for step in &wanted.steps {
            facts.push(Fact::new(if step.what == "growth" { "growth" } else { "peaks" }, words::step(step)));
        }
        for point in &wanted.points {
            let of =
                if wanted.points.len() > 1 { format!(", with {}", words::busiest(point.of)) } else { String::new() };
            facts.push(Fact::new("expected", format!("{}{of}", words::point(point))));
        }
        let design = format!("ceilings have to allow {} times that", number::three(wanted.room()));
        facts.push(Fact::new("design", design));
        facts.push(Fact::new("keeps", offer::capacity(wanted.capacity)));
        facts.extend(wanted.objective.map(|objective| Fact::new("meets", objective.to_string())));
        facts.extend(wanted.assumptions.iter().map(|text| Fact::new("assumed", text)));
        let subject = if wanted.subject.is_empty() { "the demand" } else { &wanted.subject };
        Section::new(format!("Design point of {subject}"), vec![Block::Facts(facts), Block::Chart(self.levels())])
    }

    /// The levels from measured to designed for.
    fn levels(&self) -> Chart {
        let levels = levels(&self.sizing.wanted);
        let description =
            levels.iter().map(|bar| format!("{}: {}", bar.name, bar.value)).collect::<Vec<_>>().join("; ");
        let drawn = both("wanted", "From measured to designed for", &description, |size| chart::bars(&levels, size));
        Chart::new(figure(&drawn, &maud::html! { (self.inputs()) }))
    }

    fn inputs(&self) -> String {
        let readings: Vec<_> = self.outcomes.iter().filter_map(Outcome::reading).collect();
        let first = readings.iter().take(INPUTS_MAX);
        let names: Vec<String> =
            first.map(|reading| format!("{} ({})", clean(file_name(&reading.name)), reading.kind)).collect();
        match (names.is_empty(), readings.len().saturating_sub(INPUTS_MAX)) {
            (true, _) => "the demand as it was given".to_owned(),
            (false, 0) => names.join(", "),
            (false, more) => format!("{} and {} more", names.join(", "), number::whole(more as f64)),
        }
    }

    /// What carries it and misses the objective.
    fn nearly(&self) -> Vec<Section> {
        let nearly = &self.sizing.nearly[..self.sizing.nearly.len().min(OTHERS_MAX)];
        if nearly.is_empty() {
            return Vec::new();
        }
        let (few, more) = nearly.split_at(nearly.len().min(FEW.min(self.most)));
        let misses = "Their ceilings suffice, and their response times as simulated miss the objective; few vendors \
                      publish one, so measure before you rule them out";
        let table = |choices| Block::Table(self.table("Configurations that miss the objective", choices));
        vec![
            Section::bare("Carries it, and misses the objective", vec![Block::Text(misses.to_owned()), table(few)]),
            Section::detail("More that misses the objective", vec![table(more)]),
        ]
    }

    fn rejected(&self) -> Vec<Section> {
        let rejected = &self.sizing.rejected;
        let (few, rest) = rejected.split_at(rejected.len().min(self.most.max(FEW)));
        let entry = |one: &Rejection| Item::new(format!("{}: {}", one.name, words::why(&one.why)), []);
        let mut blocks = vec![Block::Items(few.iter().map(entry).collect())];
        blocks.extend((!rest.is_empty()).then(|| Block::Note(format!("and {} more", rest.len()))));
        let columns = [Column::text("product", 0), Column::text("carries", 0), Column::text("why not", 0)];
        let row = |one: &Rejection| {
            let share = one.why.share();
            let carries = if share > 0.0 { Cell::percent(share).with_gauge(share) } else { Cell::unknown() };
            vec![Cell::text(&one.name), carries, Cell::text(words::why(&one.why))]
        };
        let table = Table::of("Products that do not carry it", columns, rejected.iter().take(OTHERS_MAX), row);
        vec![
            Section::folded(format!("Does not carry it, the nearest first: {}", rejected.len()), blocks),
            Section::detail("Share of the design point that they carry", vec![Block::Table(table)]),
        ]
    }

    /// The steps to the design point, the expected load by class, and each choice in full.
    fn in_full(&self) -> Section {
        let wanted = &self.sizing.wanted;
        let mut blocks = vec![Block::Table(steps(wanted)), Block::Table(classes(&wanted.points))];
        for (rank, choice) in self.choices().iter().enumerate() {
            blocks.push(Block::Heading(format!("{}. {}", rank + 1, offer::configuration(&choice.offer))));
            blocks.push(Block::Facts(facts(choice, Doubts::All)));
            let effect = self.effect(choice);
            blocks.push(Block::Table(answers(choice, effect.as_ref())));
            blocks.extend(effect.map(|effect| Block::Note(database_time(&effect))));
        }
        Section::detail("Each step and each choice in full", blocks)
    }

    /// The origin of the figures, and every document.
    fn sources(&self) -> [Section; 2] {
        let shown = || self.choices().iter().chain(&self.sizing.nearly);
        let mut cites: BTreeMap<(String, String), Arc<Cite>> = BTreeMap::new();
        for choice in shown() {
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
        let figures = format!(
            "room is what the limit that binds first allows above the design point; response times are simulated by the \
             catalogue's models; ceilings and list prices are {}",
            offer::provenance(cites.values().map(|cite| cite.status).collect())
        );
        let documents = cites.values().map(|cite| Item::new(cite.to_string(), [cite.url.clone()])).collect();
        [
            Section::bare("Figures", vec![Block::Facts(vec![Fact::new("figures", figures)])]),
            Section::detail("Sources", vec![Block::Items(documents)]),
        ]
    }

    /// One row for each choice, each configuration that misses the objective, and each rejection.
    fn data(&self) -> Block {
        let Sizing { choices, nearly, slower, rejected, .. } = self.sizing;
        let ranked = |verdict: &'static str, choices: &[Choice]| {
            choices.iter().enumerate().map(|(rank, choice)| chosen(verdict, rank + 1, choice)).collect::<Vec<_>>()
        };
        let reject = |(rank, one): (usize, &Rejection)| {
            let mut row = vec![String::new(); DATA.len()];
            "does not carry it".clone_into(&mut row[0]);
            row[1] = (rank + 1).to_string();
            row[2].clone_from(&one.name);
            row[DATA.len() - 1] = words::why(&one.why);
            row
        };
        let mut rows = ranked("carries", choices);
        rows.extend(ranked("misses the objective", nearly));
        rows.extend(ranked("slower than today", slower));
        rows.extend(rejected.iter().enumerate().map(reject));
        let columns: Vec<Column> = DATA.iter().map(|name| Column::text(name, 0)).collect();
        Block::Data(Table::of("Configurations", columns, rows, |row| row.iter().map(Cell::text).collect()))
    }
}

const DATA: [&str; 19] = [
    "verdict",
    "rank",
    "configuration",
    "product",
    "capacity_bytes",
    "price_month",
    "currency",
    "region",
    "price_date",
    "binds",
    "binds_over_design_point",
    "allowed_iops",
    "allowed_bytes_per_s",
    "next_limit",
    "next_over_design_point",
    "objective_ns",
    "latency_mean_ns",
    "machines_enough",
    "why",
];

fn chosen(verdict: &str, rank: usize, choice: &Choice) -> Vec<String> {
    let price = choice.price.as_ref();
    let of = |limit: &Option<Limit>, cell: &dyn Fn(&Limit) -> String| limit.as_ref().map_or_else(String::new, cell);
    let latencies: Vec<String> =
        choice.latency.iter().map(|one| format!("{} {}", one.class.name(), one.mean.as_nanos())).collect();
    let ratio = |limit: &Limit| crate::csv::plain(limit.over);
    vec![
        verdict.to_owned(),
        rank.to_string(),
        choice.offer.short().to_string(),
        choice.offer.product().name().to_owned(),
        choice.offer.capacity.get().to_string(),
        price.map_or_else(String::new, |price| price.monthly.exact()),
        price.map_or_else(String::new, |price| price.monthly.currency.to_string()),
        price.and_then(|price| price.region.as_deref()).unwrap_or_default().to_owned(),
        price.map_or_else(String::new, |price| price.cite.date.clone()),
        of(&choice.binds, &|limit| limit.name.to_string()),
        of(&choice.binds, &ratio),
        of(&choice.binds, &|limit| crate::csv::plain(limit.iops)),
        of(&choice.binds, &|limit| crate::csv::plain(limit.bytes_per_second)),
        of(&choice.next, &|limit| limit.name.to_string()),
        of(&choice.next, &ratio),
        choice.reached.map_or_else(String::new, |reached| reached.as_nanos().to_string()),
        latencies.join("; "),
        choice.machines.as_ref().map_or_else(String::new, |machines| machines.enough.to_string()),
        words::reason(choice),
    ]
}

/// The reads with the most operations, or the first class.
fn read(choice: &Choice) -> Option<&ClassLatency> {
    choice.latency.iter().find(|one| one.class.name().contains("reads")).or(choice.latency.first())
}

/// The change of the database's time: `12.3 % less`.
fn saved(effect: &DatabaseEffect) -> String {
    let saved = effect.saved();
    if saved >= 0.0 { format!("{} less", share(saved)) } else { format!("{} more", share(-saved)) }
}

fn database_time(effect: &DatabaseEffect) -> String {
    let (before, after) = (number::three(effect.before_s), number::three(effect.after_s));
    let kept = effect.kept.iter().map(|class| class.name()).collect::<Vec<_>>().join(", ");
    let kept = if kept.is_empty() { kept } else { format!(" Taken to stay as they are: {kept}.") };
    format!("Database time: {}, {before} s to {after} s for the same work.{kept}", saved(effect))
}

/// Doubts that are listed.
#[derive(Clone, Copy)]
enum Doubts {
    /// At most [`DOUBTS_MAX`].
    First,
    /// Each, with its sort and its source.
    All,
}

/// A choice in full.
fn facts(choice: &Choice, doubts: Doubts) -> Vec<Fact> {
    let mut facts = vec![Fact::new("limits", words::reason(choice))];
    facts.extend(choice.backlog.as_ref().map(|backlog| Fact::new("replayed", words::backlog(backlog))));
    let slower = words::slower(&choice.slower);
    facts.extend((!slower.is_empty()).then(|| Fact::caution("slower", slower)));
    let latencies: Vec<String> = choice.latency.iter().map(latency).collect();
    if !latencies.is_empty() {
        facts.push(Fact::new("answers", format!("{} (simulated at the expected load)", latencies.join("; "))));
    }
    if let Some(peak) = &choice.peak {
        let (iops, lasts) = (number::rate(peak.bound.iops), offer::lasting(peak.seconds));
        facts.push(Fact::new("burst", format!("{iops} IOPS for {lasts} while credits last: it is sized without them")));
    }
    if let Some(machines) = &choice.machines {
        let least = machines.least.join(", ");
        let names = if least.is_empty() { String::new() } else { format!("; the least: {least}") };
        let text = format!("{} of {} that the catalogue knows let it through{names}", machines.enough, machines.of);
        facts.push(Fact::new("machines", text));
    }
    if let Some(price) = &choice.price {
        let text = format!("{} a month, {}", price.monthly, offer::cite(&price.cite));
        let without = price.without.join(", ");
        let without = if without.is_empty() { without } else { format!("without the price of {without}") };
        facts.push(Fact::new("price", text).with_remark(price.taxes.to_string()).with_remark(without));
    }
    match doubts {
        Doubts::First => {
            facts.extend(choice.risks.iter().take(DOUBTS_MAX).map(|risk| Fact::caution("doubt", &risk.text)));
            let more = choice.risks.len().saturating_sub(DOUBTS_MAX);
            facts.extend((more > 0).then(|| Fact::new("", format!("and {more} doubts more: --json has all"))));
        }
        Doubts::All => facts.extend(choice.risks.iter().map(|risk| {
            let source = risk.cite.as_deref().map(offer::cite).unwrap_or_default();
            Fact::caution(words::risk(risk.sort), &risk.text).with_remark(source)
        })),
    }
    facts
}

/// `random reads 1.2 ms (p99 3.4 ms)`.
fn latency(one: &ClassLatency) -> String {
    let p99 = one.p99.map_or_else(String::new, |p99| format!(" (p99 {p99})"));
    format!("{} {}{p99}", one.class.name(), one.mean)
}

/// Response times by class, and what each makes of the database's time.
fn answers(choice: &Choice, effect: Option<&DatabaseEffect>) -> Table {
    let mut columns = vec![Column::text("class", 0), Column::time("mean", "simulated", 0), Column::time("p99", "", 0)];
    if effect.is_some() {
        columns.extend([Column::time("sessions wait", "s", 0), Column::time("then", "s", 0)]);
    }
    let row = |one: &ClassLatency| {
        let mut cells = vec![
            Cell::text(one.class.name()),
            Cell::text(one.mean.to_string()),
            Cell::or_unknown(one.p99, |p99| Cell::text(p99.to_string())),
        ];
        if let Some(effect) = effect {
            let part = effect.parts.iter().find(|part| part.class == one.class);
            cells.push(Cell::or_unknown(part, |part| Cell::three(part.before_s)));
            cells.push(Cell::or_unknown(part, |part| Cell::three(part.after_s)));
        }
        cells
    };
    Table::of("Response times by class", columns, &choice.latency, row)
}

fn levels(wanted: &Wanted) -> Vec<Bar> {
    let bar = |name: String, iops: f64, bytes: f64, fill| Bar {
        name,
        from: 0.0,
        to: iops,
        value: format!("{} IOPS, {} MB/s", number::three(iops), offer::megabytes(bytes)),
        fill,
        tone: 0,
    };
    let measured = &wanted.measured;
    let mut bars = vec![bar("measured".into(), measured.iops, measured.bytes_per_second, Fill::Full)];
    for point in &wanted.points {
        let of = if wanted.points.len() > 1 { format!(", {}", words::busiest(point.of)) } else { String::new() };
        bars.push(bar(format!("expected{of}"), point.iops(), point.bytes_per_second(), Fill::Full));
    }
    if let Some(point) = wanted.points.first() {
        let room = wanted.room();
        bars.push(bar("designed for".into(), point.iops() * room, point.bytes_per_second() * room, Fill::Hollow));
    }
    bars
}

fn steps(wanted: &Wanted) -> Table {
    let columns = [
        Column::text("step", 0),
        Column::new("small operations", "times", ColumnKind::Share, 0),
        Column::new("64 KiB and more", "times", ColumnKind::Share, 0),
        Column::text("why", 0),
    ];
    let row = |name: &str, small: f64, large: f64, why: &str| {
        vec![Cell::text(name), Cell::three(small), Cell::three(large), Cell::text(why)]
    };
    let steps = wanted.steps.iter().map(|step| {
        let spread = step.spread.map_or(String::new(), |(low, high)| {
            format!(" (from {} to {} where it was measured)", number::three(low), number::three(high))
        });
        row(&step.what, step.small, step.large, &format!("{}{spread}", step.why))
    });
    let room = wanted.room();
    let headroom = row("headroom", room, room, "what ceilings have to allow above the expected load");
    Table::of("Steps from measured to designed for", columns, steps.chain([headroom]), |row| row)
}

fn classes(points: &[Point]) -> Table {
    let columns = [
        Column::text("expected load", 0),
        Column::rate("rate", "IOPS", 0),
        Column::rate("bytes", "MB/s", 0),
        Column::new("size", "KiB", ColumnKind::Size, 0),
        Column::text("in the windows with", 0),
    ];
    let rows = points.iter().flat_map(|point| point.classes.iter().map(move |load| (point, load)));
    Table::of("The expected load by class", columns, rows, |(point, load)| {
        vec![
            Cell::text(load.class.name()),
            Cell::three(load.iops),
            Cell::figure(offer::megabytes(load.bytes_per_second), load.bytes_per_second / 1e6),
            Cell::three(load.size() / 1024.0),
            Cell::text(words::busiest(point.of)),
        ]
    })
}
