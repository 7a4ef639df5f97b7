//! Sizing. First the verdict, response times by class, and price against database time; then the choice in full, the
//! ranking, the design point, and configurations that fail.

mod database_time;
mod details;
mod providers;
mod verdict;

use std::collections::BTreeMap;

use plimsoll_catalogue::Money;
use plimsoll_choose::diagnosis::DatabaseEffect;
use plimsoll_choose::elapsed::{JobTimes, WindowWork};
use plimsoll_choose::sizing::{
    Best, Busiest, Choice, ClassLatency, DesignLimit, PresentCost, PriceDoubt, Rejection, Sizing, StepKind,
    VolumeLayout, VolumePart,
};
use plimsoll_choose::what_if::{MemoryFirst, WhatIfs};
use plimsoll_ingest::Outcome;
use plimsoll_language::{label, say};

use super::elapsed::time;
use super::quotes::safety;
use super::{elapsed, limit, what_if};
use crate::chart::{self, Axis, Fill, Joined, Plane, PointGroup, Spot};
use crate::html::{both, figure};
use crate::number;
use crate::page::{Block, Cell, Chart, Column, ColumnKind, Emphasis, Exhibit, Fact, Item, Page, PageSection, Table};
use crate::scale::AxisScale;
use crate::words::{clean, first_screen, offer, sentence, sizing as words};

/// Rows shown before the rest is collapsed.
const FEW: usize = 6;
/// Maximum number of configurations to list.
const OTHERS_MAX: usize = 40;
/// Maximum number of doubts about the first choice.
const DOUBTS_MAX: usize = 3;

/// Headings in the ranking.
fn groups() -> [(PriceDoubt, &'static str); 2] {
    [
        (PriceDoubt::Partial, label!("without the price of a part, or of a machine with sufficient limits:")),
        (PriceDoubt::Unpriced, label!("no price in the catalogue for these terms:")),
    ]
}

struct Sized<'a> {
    sizing: &'a Sizing,
    memory: Option<&'a MemoryFirst>,
    jobs: Option<&'a JobTimes>,
    outcomes: &'a [Outcome],
    /// Maximum number of choices to show.
    max: usize,
}

/// A page with at most `max` choices.
pub fn sizing(sizing: &Sizing, what_ifs: &WhatIfs, outcomes: &[Outcome], max: usize) -> Page {
    let sized = Sized { sizing, memory: what_ifs.memory.as_ref(), jobs: what_ifs.jobs.as_ref(), outcomes, max };
    let subject = &sizing.required.subject;
    let title = say!("Storage for {}", if subject.is_empty() { label!("the demand") } else { subject });
    let mut sections = Vec::new();
    sections.extend(sized.comparison());
    sections.extend(sized.by_provider());
    sections.extend(what_ifs.jobs.as_ref().and_then(elapsed));
    sections.extend(sized.chosen());
    sections.extend(sized.layouts());
    sections.push(sized.ranking());
    sections.push(sized.design_point());
    sections.extend(what_if::build_sections(what_ifs));
    sections.extend(sized.nearly());
    sections.extend(sized.slower());
    sections.extend(sized.rejected());
    sections.push(sized.in_full());
    sections.extend(sized.sources());
    Page {
        title,
        headline: Some(sized.headline()),
        figures: sized.figures(),
        exhibit: sized.cheapest_by_provider().map_or(Exhibit::None, |table| Exhibit::Block(Block::Table(table))),
        sections,
        next: sized.quote_command().into_iter().collect(),
        ..Page::default()
    }
}

/// Adds the recommendations that a file for another program lacks: the first to the cautions, all to the details.
pub fn add_gaps(page: &mut Page, gaps: Vec<String>) {
    let Some(headline) = &mut page.headline else { return };
    let gaps: Vec<String> = gaps.into_iter().map(verdict::full_stop).collect();
    let at = headline.cautions.len().min(1);
    headline.cautions.splice(at..at, gaps.first().cloned());
    headline.details.extend(gaps);
}

impl Sized<'_> {
    /// The ranking, behind a recommended volume that is not in it because it is slower than today.
    fn choices(&self) -> Vec<&Choice> {
        let ranked = self.sizing.choices.iter().take(self.max);
        let is_ranked = |best: &&Choice| ranked.clone().any(|choice| std::ptr::eq(choice, *best));
        let unranked = self.sizing.best().and_then(Best::choice).filter(|best| !is_ranked(best));
        unranked.into_iter().chain(ranked.clone()).collect()
    }

    fn is_recommended(&self, choice: &Choice) -> bool {
        self.sizing.best().and_then(Best::choice).is_some_and(|best| std::ptr::eq(best, choice))
    }

    /// The command that quotes the recommended volumes with their machine, with its purpose.
    fn quote_command(&self) -> Option<(String, String)> {
        let best = self.sizing.best()?;
        let machine = best.machine();
        // With the machine, so that limits and price are those of the recommendation.
        let name_with_machine = |choice: &Choice| {
            let mut config = choice.offer.short();
            if let Some(machine) = machine {
                config.machine = machine.offer.short().machine;
            }
            clean(&config.to_string())
        };
        let names = best.volumes().into_iter().map(name_with_machine);
        let command: Vec<String> = ["plimsoll", "quote"].into_iter().map(str::to_owned).chain(names).collect();
        let purpose = match (machine.map_or(1, |machine| machine.count), best) {
            (1, Best::Layout(_)) if machine.is_some() => {
                label!("Limits and price of each volume, with the machine in each price").to_owned()
            }
            (1, _) => label!("Its limits and price").to_owned(),
            (count, _) => say!("Limits and price with 1 of the {count} machines"),
        };
        Some((purpose, crate::words::command(&command)))
    }

    /// True for Oracle Database, which is licensed by processors.
    fn is_oracle(&self) -> bool {
        self.sizing.required.platform.is_oracle()
    }

    /// ` at redo p99 <= 1 ms, read p99 <= 5 ms`, after ` as measured at a limit` for a load that is a lower bound.
    fn objectives(&self) -> String {
        let demand = &self.sizing.required;
        let bound = words::lower_bound(demand).map_or("", |_| label!(" as measured at a limit, a lower bound,"));
        let objectives = words::objectives(&demand.objectives);
        if objectives.is_empty() { bound.to_owned() } else { bound.to_owned() + &say!(" at {objectives}") }
    }

    /// The best configuration, its price, effect and first limit, and the load that it is chosen for.
    fn figures(&self) -> Vec<Fact> {
        let demand = &self.sizing.required;
        let parts = self.sizing.best_volumes();
        let mut figures: Vec<Fact> = match self.sizing.best() {
            Some(Best::Layout(layout)) => layout.parts.iter().map(volume_of_layout).collect(),
            _ => parts.iter().map(|choice| self.configuration(choice)).collect(),
        };
        figures.extend(self.cheaper_figure());
        figures.extend(self.sizing.best_machine().and_then(|machine| {
            let fewer = self.sizing.fewer_processors.as_ref();
            let licensed = self.is_oracle().then(|| words::unpriced_licences(machine, fewer));
            let fact = Fact::new(label!("Machine"), clean(&machine.name()?)).with_remark(words::format_shape(machine));
            Some(words::machine_price(machine).into_iter().chain(licensed).fold(fact, Fact::with_remark))
        }));
        if let [choice] = parts[..] {
            let price =
                || Fact::new(label!("Price"), words::format_price(choice)).with_remark(words::explain_lack(choice));
            figures.extend(choice.total().is_none().then(price));
        }
        figures.extend(self.expected(&parts));
        if let [choice] = parts[..] {
            figures.extend(choice.first_limit().map(|binds| {
                Fact::new(label!("First limit"), offer::product_text(&binds.name))
                    .with_remark(words::limit_rate_and_room(binds))
            }));
        }
        if let Some(today) = self.sizing.present.as_ref().and_then(PresentCost::monthly) {
            let fact = Fact::new(label!("Today"), say!("{today} a month"));
            let then = self.sizing.present.as_ref().and_then(|present| self.sizing.comparable(present));
            figures.push(fact.with_remark(then.map_or_else(String::new, |then| say!("then {then}"))));
        }
        let objectives = words::objectives(&demand.objectives);
        if !objectives.is_empty() {
            figures.push(Fact::new(label!("Meets"), objectives).with_remark(label!("simulated at the expected load")));
        }
        figures.extend(self.doubts());
        let grows = demand.steps.iter().any(|step| matches!(step.kind, StepKind::Growth(_)));
        let period = if grows { label!("at the end of the period") } else { "" };
        let free = say!("{} of it free", number::percent(demand.free));
        let fact = Fact::new(label!("Capacity"), offer::capacity(demand.capacity)).with_remark(period);
        figures.push(if demand.free > 0.0 { fact.with_remark(free) } else { fact });
        figures.extend(self.elapsed());
        figures
    }

    /// A volume with its price, and cheaper ones under another condition.
    fn configuration(&self, choice: &Choice) -> Fact {
        let fact = Fact::new(label!("Configuration"), offer::configuration(&choice.offer));
        let less = self.sizing.less_headroom.as_ref().and_then(first_screen::less_headroom);
        let wider = self.sizing.wider.as_ref().and_then(first_screen::wider);
        words::storage_price(choice).into_iter().chain(less).chain(wider).fold(fact, Fact::with_remark)
    }

    /// The load that decides, with the measured one and the factors between them.
    fn expected(&self, parts: &[&Choice]) -> Option<Fact> {
        let demand = &self.sizing.required;
        let binding = parts.first().and_then(|choice| choice.binds.as_ref()).map(|binds| binds.point);
        let deciding = demand.points.iter().find(|point| parts.len() == 1 && Some(point.of) == binding);
        let point = deciding.or(demand.points.first())?;
        let headroom = number::percent(demand.headroom);
        let iops = if words::lower_bound(demand).is_some() { number::rate } else { number::three };
        let mut rates =
            [format!("{} IOPS", iops(point.iops())), format!("{} MB/s", offer::megabytes(point.bytes_per_second()))];
        // The measured rate is that of the first: of operations, or of bytes.
        if point.of == Busiest::Bytes {
            rates.reverse();
        }
        let measured = words::measured_by_factor(demand, point);
        let fact = Fact::new(label!("Expected"), rates.join(label!(", ")));
        let above = if demand.headroom > 0.0 { say!("; limits at least {headroom} higher") } else { String::new() };
        Some(fact.with_remark(measured + &above))
    }

    /// Elapsed time of the first job, or of the work of the inputs, on the best configuration.
    fn elapsed(&self) -> Option<Fact> {
        let (Some(jobs), [best]) = (self.jobs, &self.sizing.best_volumes()[..]) else { return None };
        let row = jobs.rows.iter().find(|row| row.offer.config == best.offer.config)?;
        let today = |work: &WindowWork| say!("work of the inputs, {} today", time(work.today));
        let inputs = row.window.zip(jobs.window.as_ref()).map(|(then, work)| (then, today(work)));
        let first = row.times.first().zip(jobs.jobs.first());
        let job = || first.and_then(|(times, job)| Some((times.beside.or(times.alone)?, job.name.clone())));
        let (then, of) = inputs.or_else(job)?;
        Some(Fact::new(label!("Elapsed"), time(then)).with_remark(of))
    }

    /// Response times of the best configuration by class, compared with today.
    fn comparison(&self) -> Option<PageSection> {
        let volumes = self.sizing.best_volumes();
        let effect = self.sizing.best_effect();
        let table = self.classes(&volumes, effect.as_ref());
        (!table.rows.is_empty())
            .then(|| PageSection::bare(label!("Response times by class"), vec![Block::Table(table)]))
    }

    /// The best configuration in full: limits, machine, doubts; of a layout each volume.
    fn chosen(&self) -> Option<PageSection> {
        let (heading, mut blocks, machine) = match self.sizing.best()? {
            Best::Single(choice) | Best::Slower(choice) | Best::Doubtful(choice) => {
                let blocks = vec![Block::Facts(list_facts(choice, Doubts::First))];
                (offer::configuration(&choice.offer), blocks, choice.machine.as_ref())
            }
            Best::Layout(layout) => {
                (say!("Separate volumes at {}", layout.provider), list_volumes(layout), layout.machine.as_ref())
            }
        };
        let licences = machine
            .filter(|_| self.is_oracle())
            .and_then(|machine| words::licences(machine, self.sizing.fewer_processors.as_ref()));
        blocks.extend(licences.map(|text| Block::Facts(vec![Fact::new(label!("licences"), text)])));
        Some(PageSection::new(heading, blocks))
    }

    /// Response times of volumes by class, compared with today, and the effect on the database's time.
    fn classes(&self, volumes: &[&Choice], effect: Option<&DatabaseEffect>) -> Table {
        let mean = |one: &ClassLatency| Cell::text(one.mean.to_string());
        let columns = vec![
            Column::text(label!("class"), 0),
            Column::time(label!("today"), label!("mean"), 0),
            Column::time(label!("then"), label!("mean"), 0),
            Column::time(label!("in peaks"), label!("mean"), 0),
            Column::time(label!("in peaks"), "p99", 0),
            Column::time(label!("sessions wait"), label!("today, s"), 2),
            Column::time(label!("sessions wait"), label!("then, s"), 2),
        ];
        let rows = volumes.iter().flat_map(|choice| choice.latency.iter().map(move |one| (*choice, one)));
        let row = |(choice, one): (&Choice, &ClassLatency)| {
            let today = choice.today(&self.sizing.required, one.class);
            let usual = choice.usual.iter().find(|usual| usual.class == one.class);
            let waits = effect.and_then(|effect| choice.waits(effect, one.class));
            vec![
                Cell::text(one.class.label()),
                Cell::or_unknown(today, |mean| Cell::text(mean.to_string())),
                Cell::or_unknown(usual, mean),
                mean(one),
                Cell::or_unknown(one.p99, |p99| Cell::text(p99.to_string())),
                Cell::or_unknown(waits, |[today, _]| Cell::three(today)),
                Cell::or_unknown(waits, |[_, then]| Cell::three(then)),
            ]
        };
        Table::of(label!("Response times by class"), columns, rows, row).without_unknown().with_notes([
            label!("Then: simulated at the mean load of the input, as today's are means. In peaks: simulated at the expected load.")
                .to_owned(),
        ])
    }

    /// Layouts with separate volumes for redo and temporary data that are cheaper or the only solution.
    fn layouts(&self) -> Option<PageSection> {
        let columns = [
            Column::configuration(),
            Column::monthly(label!("together"), 0),
            Column::monthly(label!("single volume"), 0),
            Column::new(label!("sessions"), label!("waiting"), ColumnKind::Share, 0),
            Column::text(label!("machine"), 1),
        ];
        let row = |layout: &VolumeLayout| {
            let machine = layout.machine.as_ref().and_then(|machine| machine.offer.short().machine);
            vec![
                Cell::text(words::layout(layout)),
                Cell::money(layout.total),
                Cell::money(layout.single),
                Cell::or_unknown(layout.waiting(), Cell::three),
                Cell::or_unknown(machine, |machine| Cell::text(machine.to_string())),
            ]
        };
        let note = label!(
            "The redo volume has room for an hour of redo, the volume for temporary data a tenth of the capacity; at least 16 GiB each."
        );
        let table = Table::of(label!("Layouts"), columns, &self.sizing.layouts, row).without_unknown();
        let heading = label!("Redo and temporary data on separate volumes");
        let section = || PageSection::new(heading, vec![Block::Table(table.with_notes([note.to_owned()]))]);
        (!self.sizing.layouts.is_empty()).then(section)
    }

    fn ranking(&self) -> PageSection {
        let looked = number::integer(self.sizing.evaluated as f64);
        let heading = say!(
            "The cheapest configuration of each product that carries the load{}, of {looked} examined",
            self.objectives()
        );
        let choices = self.choices();
        let more = self.sizing.choices.len().saturating_sub(self.max);
        let mut table = self.build_table(label!("Choices, cheapest first"), &choices);
        table.notes.extend((more > 0).then(|| say!("and {more} more expensive choices: --most shows more")));
        table.notes.extend(unpriced_machines(&choices));
        table.notes.extend(words::notes_on_managed(&choices));
        table.notes.extend(offer::note_regions(choices.iter().filter_map(|choice| choice.price.as_ref())));
        let blocks = self.picture().map(Block::Chart).into_iter().chain([Block::Table(table), self.data()]);
        PageSection::new(heading, blocks.collect())
    }

    /// Price against waiting sessions; `None` for a single choice.
    fn picture(&self) -> Option<Chart> {
        let spot = |name: String, price: Option<Money>, waiting: Option<f64>, rank: String| {
            let ((x, y), price) = (price.map(Money::as_f64).zip(waiting)?, price?);
            let tip = say!("{name}: {price} a month, {} sessions waiting", number::three(y));
            Some(Spot { x, y, tip, label: rank })
        };
        let layout = match self.sizing.best() {
            Some(Best::Layout(layout)) => spot(words::layout(layout), layout.total, layout.waiting(), String::new()),
            _ => None,
        };
        let (mut recommended, mut others): (Vec<Spot>, Vec<Spot>) = (layout.into_iter().collect(), Vec::new());
        for (index, choice) in self.choices().into_iter().enumerate() {
            let waiting = choice.waiting(&self.sizing.required.points[0]);
            let spot = spot(offer::configuration(&choice.offer), choice.total(), waiting, (index + 1).to_string());
            let group = if self.is_recommended(choice) { &mut recommended } else { &mut others };
            group.extend(spot);
        }
        let spots = || recommended.iter().chain(&others);
        if spots().count() < 2 {
            return None;
        }
        let largest = |of: fn(&Spot) -> f64| spots().map(of).fold(0.0, f64::max);
        let (dear, max) = (largest(|spot| spot.x), largest(|spot| spot.y));
        let cheap = spots().map(|spot| spot.x).fold(f64::INFINITY, f64::min);
        let series = [(label!("recommended"), 1, recommended), (label!("other choices"), 0, others)];
        let group = |(name, tone, spots): (&str, usize, Vec<Spot>)| PointGroup {
            name: name.to_owned(),
            tone,
            fill: Fill::Full,
            joined: Joined::Apart,
            spots,
        };
        let plane = Plane {
            x: Axis { name: label!("price a month"), scale: AxisScale::for_latency(cheap, dear), label: number::short },
            y: Axis {
                name: label!("sessions waiting for reads and log writes, simulated"),
                scale: AxisScale::from_zero(max),
                label: number::three,
            },
            groups: series.into_iter().filter(|(_, _, spots)| !spots.is_empty()).map(group).collect(),
        };
        let description = label!("The table below has the figures; numbers are ranks.");
        let drawn = both("choices-price", label!("Price against waiting sessions"), description, |size| {
            chart::plane(&plane, size)
        });
        let source =
            maud::html! { (label!("list prices and ceilings of the catalogue; documents are listed at the end")) };
        Some(Chart::new(figure(&drawn, &source)))
    }

    /// Configurations that carry the load but are slower than the present storage.
    fn slower(&self) -> Option<PageSection> {
        let slower = &self.sizing.slower;
        let entry = |choice: &Choice| {
            let price =
                choice.price.as_ref().map_or_else(String::new, |price| offer::monthly_price(price) + label!(", "));
            let name = offer::configuration(&choice.offer);
            Item::new(format!("{name}: {price}{}", words::slower(choice)), [])
        };
        let mut blocks = vec![Block::Items(slower.iter().take(FEW).map(entry).collect())];
        let more = slower.len().saturating_sub(FEW);
        blocks.extend((more > 0).then(|| Block::Note(say!("and {more} more"))));
        let heading = label!("Carry the load, but slower than today (--may-be-slower includes them in the ranking)");
        (!slower.is_empty()).then(|| PageSection::new(heading, blocks))
    }

    /// Configurations that carry the load but miss an objective.
    fn nearly(&self) -> Vec<PageSection> {
        let nearly = &self.sizing.nearly[..self.sizing.nearly.len().min(OTHERS_MAX)];
        if nearly.is_empty() {
            return Vec::new();
        }
        let (few, more) = nearly.split_at(nearly.len().min(FEW.min(self.max)));
        let misses = label!(
            "Their ceilings suffice, but their simulated response times miss the objective. Few vendors publish \
                      response times, so measure before excluding them"
        );
        let label = label!("Configurations that miss the objective");
        let block = |choices: &[Choice]| Block::Table(self.build_table(label, &choices.iter().collect::<Vec<_>>()));
        vec![
            PageSection::bare(
                label!("Carry the load, but miss the objective"),
                vec![Block::Text(misses.to_owned()), block(few)],
            ),
            PageSection::detail(label!("More configurations that miss the objective"), vec![block(more)]),
        ]
    }

    fn rejected(&self) -> Vec<PageSection> {
        let rejected = &self.sizing.rejected;
        let (few, rest) = rejected.split_at(rejected.len().min(self.max.max(FEW)));
        let entry = |one: &Rejection| Item::new(format!("{}: {}", one.name, words::why(&one.reason)), []);
        let mut blocks = vec![Block::Items(few.iter().map(entry).collect())];
        blocks.extend((!rest.is_empty()).then(|| Block::Note(say!("and {} more", rest.len()))));
        let columns =
            [Column::text(label!("product"), 0), Column::text(label!("carries"), 0), Column::text(label!("reason"), 0)];
        let row = |one: &Rejection| {
            let share = one.reason.share();
            let carries = if share > 0.0 { Cell::percent(share).with_gauge(share) } else { Cell::unknown() };
            vec![Cell::text(&one.name), carries, Cell::text(words::why(&one.reason))]
        };
        let table = Table::of(label!("Products that do not carry it"), columns, rejected.iter().take(OTHERS_MAX), row);
        vec![
            PageSection::folded(say!("Do not carry the load, nearest first: {}", rejected.len()), blocks),
            PageSection::detail(label!("Share of the design point carried"), vec![Block::Table(table)]),
        ]
    }

    /// A row per configuration; that of the recommendation is marked.
    fn build_table(&self, label: &str, choices: &[&Choice]) -> Table {
        let columns = vec![
            Column::configuration(),
            Column::new(label!("rank"), "", ColumnKind::Share, 6),
            Column::monthly(label!("price"), 0),
            Column::monthly(label!("with machine"), 2),
            Column::new(label!("room"), label!("above"), ColumnKind::Share, 0),
            Column::new(label!("reached"), label!("simulated"), ColumnKind::Text, 1),
            Column::new(label!("reads"), label!("mean"), ColumnKind::Text, 3),
            Column::text(label!("first limit"), 1),
            Column::text(label!("then"), 5),
            Column::new(label!("database"), label!("time"), ColumnKind::Text, 5),
            Column::doubts(),
        ];
        let row = |(index, one): (usize, &&Choice)| {
            // A full bar is room for twice the design point.
            let room = |limit: &DesignLimit| Cell::text(words::room(limit.over)).with_gauge(limit.over - 1.0);
            let emphasis = if self.is_recommended(one) { Emphasis::Strong } else { Emphasis::Plain };
            let with_machine = one.machine.as_ref().and_then(|_| one.total());
            let reached = Some(words::reached(&one.reached)).filter(|reached| !reached.is_empty());
            vec![
                Cell::text(offer::configuration(&one.offer)).with_emphasis(emphasis),
                Cell::text((index + 1).to_string()),
                Cell::price(one.price.as_ref()),
                Cell::money(with_machine),
                Cell::or_unknown(one.binds.as_ref(), room),
                Cell::or_unknown(reached, Cell::text),
                Cell::or_unknown(read(one), |class| Cell::text(class.mean.to_string())),
                limit(one.binds.as_ref().map(|limit| &*limit.name)),
                limit(one.next.as_ref().map(|limit| &*limit.name)),
                Cell::or_unknown(one.effect.as_ref(), |effect| Cell::text(words::format_time_change(effect))),
                Cell::text(self.speed_and_doubts(one)),
            ]
        };
        let first = |doubt: PriceDoubt| choices.iter().position(|choice| choice.price_doubt() == doubt);
        let group = |(doubt, text): (PriceDoubt, &str)| Some((first(doubt)?, text.to_owned()));
        let table = Table::of(label, columns, choices.iter().enumerate(), row).without_unknown();
        Table { groups: groups().into_iter().filter_map(group).collect(), ..table }
    }
}

/// A volume by its content: `Redo  oci/block-volume:50GB`.
fn volume_of_layout(part: &VolumePart) -> Fact {
    let name = sentence(part.content.name());
    Fact::new(name, offer::configuration(&part.choice.offer))
}

/// The reads with the most operations, or the first class.
fn read(choice: &Choice) -> Option<&ClassLatency> {
    choice.latency.iter().find(|one| one.class.name().contains("reads")).or(choice.latency.first())
}

/// The volumes of a layout in full, and their machine.
fn list_volumes(layout: &VolumeLayout) -> Vec<Block> {
    let mut blocks = Vec::new();
    for part in &layout.parts {
        let name = offer::configuration(&part.choice.offer);
        blocks.push(Block::Heading(format!("{}: {name}", part.content.name())));
        blocks.push(Block::Facts(list_facts(&part.choice, Doubts::First)));
    }
    let machine = layout.machine.as_ref().map(|machine| Fact::new(label!("machine"), words::machine(machine)));
    blocks.extend(machine.map(|machine| Block::Facts(vec![machine])));
    blocks
}

/// Number of doubts to list.
#[derive(Clone, Copy)]
enum Doubts {
    /// At most [`DOUBTS_MAX`].
    First,
    /// All, with kind and source.
    All,
}

/// Notes about sufficient machines that have no price, one for each provider.
fn unpriced_machines(choices: &[&Choice]) -> Vec<String> {
    let mut largest: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for choice in choices {
        let Some(machine) = choice.machine.as_ref().filter(|machine| machine.unpriced > 0) else { continue };
        let provider = choice.offer.product().name().split('/').next().unwrap_or_default();
        let existing = largest.entry(provider).or_default();
        *existing = (*existing).max((machine.unpriced, machine.enough));
    }
    let note = |(provider, (unpriced, enough)): (&str, (usize, usize))| {
        say!(
            "up to {} of {} sufficient machines of {provider} have no price and are left out where a priced one suffices: \
             plimsoll prices import adds prices",
            number::integer(unpriced as f64),
            number::integer(enough as f64)
        )
    };
    largest.into_iter().map(note).collect()
}

/// A choice in full.
fn list_facts(choice: &Choice, doubts: Doubts) -> Vec<Fact> {
    let mut facts = vec![Fact::new(label!("limits"), words::reason(choice))];
    facts.extend(choice.backlog.as_ref().map(|backlog| Fact::new(label!("replayed"), words::backlog(backlog))));
    let reached = words::reached(&choice.reached);
    facts.extend((!reached.is_empty()).then(|| Fact::new(label!("reaches"), say!("{reached} (simulated)"))));
    let slower = words::slower_classes(&choice.slower);
    facts.extend((!slower.is_empty()).then(|| Fact::caution(label!("slower"), slower)));
    if let Some(peak) = &choice.peak {
        let (iops, lasts) = (number::rate(peak.bound.iops), offer::lasting(peak.seconds));
        facts.push(Fact::new(
            label!("burst"),
            say!("{iops} IOPS for {lasts} while credits last: excluded from the sizing"),
        ));
    }
    facts.extend(choice.machine.as_ref().map(|machine| Fact::new(label!("machine"), words::machine(machine))));
    facts.extend(safety(&choice.offer));
    if let Some(price) = &choice.price {
        let source = match doubts {
            Doubts::First => crate::words::status_name(price.cite.status).to_owned(),
            Doubts::All => offer::cite(&price.cite),
        };
        let text = say!("{} a month, {source}", price.monthly);
        let without = price.without.join(label!(", "));
        let without = if without.is_empty() { without } else { say!("without the price of {without}") };
        facts.push(Fact::new(label!("price"), text).with_remark(price.taxes.to_string()).with_remark(without));
    }
    match doubts {
        Doubts::First => {
            facts.extend(
                choice
                    .risks
                    .iter()
                    .take(DOUBTS_MAX)
                    .map(|risk| Fact::caution(label!("doubt"), words::risk_text(&risk.detail))),
            );
            let more = choice.risks.len().saturating_sub(DOUBTS_MAX);
            facts.extend((more > 0).then(|| Fact::new("", say!("and {more} more doubts: --json has all"))));
        }
        Doubts::All => facts.extend(choice.risks.iter().map(|risk| {
            let source = risk.cite.as_deref().map(offer::cite).unwrap_or_default();
            Fact::caution(words::risk(risk.kind), words::risk_text(&risk.detail)).with_remark(source)
        })),
    }
    facts
}
