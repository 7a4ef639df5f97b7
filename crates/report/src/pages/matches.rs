//! Products that carry a load, cheapest first; products that resemble the measured storage; rejected products with
//! reasons.

use plimsoll_catalogue::{Ceiling, Price, Status};
use plimsoll_choose::{Matches, Need, Rejected, Resemblance, SuitableOffer};
use plimsoll_language::{label, say};

use super::limit;
use crate::number;
use crate::page::{Block, Cell, Column, ColumnKind, Fact, Headline, Item, Page, PageSection, Table};
use crate::words::{self, clean, offer};

/// Extent of the lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// All products that carry the load; of the others, a few for each reason.
    #[default]
    Normal,
    /// All products, each with its own reason.
    All,
}

/// Maximum number of doubts to list.
const DOUBTS_MAX: usize = 5;
/// Maximum number of documents of prices.
const PRICE_LISTS_MAX: usize = 6;
/// Maximum number of names for each reason.
const NAMES_MAX: usize = 5;

/// Products of the catalogue matched with a load.
pub fn matches(need: &Need, matches: &Matches, near: &[Resemblance], detail: Detail) -> Page {
    let carries =
        PageSection::bare(label!("Products that carry it"), vec![Block::Table(build_table(need, &matches.suitable))]);
    let misses = label!(
        "Their ceilings suffice, but their simulated response times miss the objective. Few vendors publish response \
                  times, so measure before excluding them"
    );
    let nearly = if matches.nearly.is_empty() {
        Vec::new()
    } else {
        vec![Block::Text(misses.to_owned()), Block::Table(build_table(need, &matches.nearly))]
    };
    let sections = vec![
        carries,
        PageSection::bare(label!("Products that miss the objective"), nearly),
        resembling(near),
        describe_rejected(&matches.rejected, detail),
        PageSection::bare(label!("Doubts and sources"), vec![Block::Facts(sources(matches, detail))]),
    ];
    Page {
        title: label!("Products that match").to_owned(),
        headline: Some(headline(need, matches)),
        sections,
        ..Page::default()
    }
}

/// Summary for the end of a measurement: the cheapest products that carry its load, and near misses if few have a
/// price.
pub fn matches_short(need: &Need, matches: &Matches, near: &[Resemblance]) -> Page {
    const SHOWN: usize = 3;
    let need_text = say!("{} IOPS at {}", number::three(need.iops), need.objective);
    let priced = matches.suitable.iter().filter(|one| one.price.is_some()).count();
    let slow = if priced >= SHOWN { 0 } else { matches.nearly.len().min(SHOWN - 1) };
    let displayed = || matches.suitable.iter().take(SHOWN - slow).chain(&matches.nearly[..slow]);
    let partial = displayed().filter_map(|one| {
        let price = one.price.as_ref().filter(|price| !price.is_complete())?;
        Some(format!("{}: {}", offer::configuration(&one.offer), offer::monthly_price(price)))
    });
    let verdict = if matches.suitable.is_empty() {
        say!("No product in the catalogue carries {need_text}")
    } else {
        say!("Products that carry {need_text}, cheapest first")
    };
    let missed = (slow > 0).then(|| {
        let last = if slow == 1 { label!("the last misses").to_owned() } else { say!("the last {slow} miss") };
        say!("{last} the objective according to simulation; its ceilings suffice")
    });
    let provenance = label!("response times are simulated, ceilings and prices are from documents; none was measured");
    let nearest = near.first().map_or_else(String::new, |one| say!("{}; ", describe_nearest(one)));
    let notes = missed.into_iter().chain(partial).chain([say!("{nearest}all: plimsoll match"), provenance.to_owned()]);
    let table = Table::rows(label!("Products"), displayed())
        .column(Column::configuration(), |one| offer::configuration(&one.offer))
        .column(Column::new(label!("a month"), "", ColumnKind::Money, 0), |one| monthly_cell(one))
        .column(Column::text(label!("simulated"), 0), |one| reached(need, one))
        .column(Column::new(label!("room"), "", ColumnKind::Share, 0), |one| headroom(need, one))
        .table();
    let blocks = std::iter::once(Block::Table(table)).chain(notes.map(Block::Note)).collect();
    Page { sections: vec![PageSection::new(verdict, blocks)], ..Page::default() }
}

fn headline(need: &Need, matches: &Matches) -> Headline {
    let need_text = say!("{} IOPS at {}", number::three(need.iops), need.objective);
    let priced = || matches.suitable.iter().filter_map(|one| Some((one, one.price.as_ref()?)));
    let cheapest = priced().find(|(_, price)| price.is_complete()).or_else(|| priced().next());
    let text = match (cheapest, matches.suitable.len()) {
        (_, 0) => say!("No product in the catalogue carries {need_text}"),
        (None, count) => say!("{count} products carry {need_text}; none has a price"),
        (Some((one, price)), _) => {
            let (name, monthly) = (offer::readable_name(&one.offer), offer::monthly_price(price));
            if price.is_complete() {
                say!("{name}, {monthly}, is the cheapest that carries {need_text}")
            } else {
                say!("No product with a complete price carries {need_text}; {name} does, {monthly}")
            }
        }
    };
    let streams = need.streams.iter().map(words::stream).collect::<Vec<_>>().join(label!("; "));
    let capacity = Some(need.capacity).filter(|capacity| capacity.get() > 0);
    let keeps = capacity.map(|capacity| say!("; room for {}", offer::capacity(capacity))).unwrap_or_default();
    let requested = say!("{} IOPS at {}: {streams}{keeps}", number::three(need.iops), need.objective);
    let cautions = offer::decimal_capacity(need.capacity).into_iter().collect();
    Headline { text, grade: label!("simulated"), cautions, details: vec![requested] }
}

fn build_table(need: &Need, carries: &[SuitableOffer]) -> Table {
    let table = Table::rows(label!("Products"), carries)
        .column(Column::configuration(), |one| offer::configuration(&one.offer))
        .column(Column::monthly(label!("price"), 0), |one| monthly_cell(one))
        .column(Column::rate(label!("ceiling"), "IOPS", 0), |one| one.binds.as_ref().map(|(_, iops)| Cell::rate(*iops)))
        .column(Column::new(label!("room"), label!("above it"), ColumnKind::Share, 1), |one| headroom(need, one))
        .column(Column::new(label!("reached"), label!("simulated"), ColumnKind::Text, 0), |one| reached(need, one))
        .column(Column::text(label!("limit"), 0), |one| limit(one.binds.as_ref().map(|(name, _)| name.as_str())))
        .column(Column::new(label!("status"), label!("of the limit"), ColumnKind::Text, 2), |one| {
            binding(one).map(|ceiling| words::status_name(ceiling.cite.status))
        })
        .table();
    let is_partial = |one: &SuitableOffer| one.price.as_ref().is_some_and(|price| !price.is_complete());
    let partial = carries.iter().position(is_partial);
    let partial = partial.map(|row| (row, label!("without the price of a part:").to_owned()));
    let unpriced = carries.iter().position(|one| one.price.is_none());
    let unpriced = unpriced.map(|row| (row, label!("no price in the catalogue for these terms:").to_owned()));
    let regions = offer::note_regions(carries.iter().filter_map(|one| one.price.as_ref()));
    Table { groups: partial.into_iter().chain(unpriced).collect(), ..table.with_notes(regions) }
}

fn monthly_cell(one: &SuitableOffer) -> Cell {
    Cell::price(one.price.as_ref())
}

/// The simulated response time by the measure of the objective.
fn reached(need: &Need, one: &SuitableOffer) -> String {
    format!("{} {}", need.objective.bounded(), one.reached)
}

/// Headroom of a ceiling above the need: `+40 %`, or `x 2.5` from 2 on.
fn headroom(need: &Need, one: &SuitableOffer) -> Option<String> {
    let times = one.binds.as_ref().map(|(_, iops)| iops / need.iops).filter(|times| times.is_finite())?;
    Some(number::headroom(times))
}

/// The ceiling with the name of the binding limit.
fn binding(one: &SuitableOffer) -> Option<&Ceiling> {
    let (name, _) = one.binds.as_ref()?;
    one.offer.ceilings.iter().find(|ceiling| *ceiling.name == **name)
}

/// Requirements and doubts of products, and the origin of the figures.
fn sources(matches: &Matches, detail: Detail) -> Vec<Fact> {
    let offered = || matches.suitable.iter().chain(&matches.nearly);
    let needs = by_product(offered(), |one| one.offer.needs().iter().map(ToString::to_string).collect());
    let doubts = by_product(offered(), |one| one.offer.doubts().into_iter().map(|doubt| doubt.text).collect());
    let max = if detail == Detail::All { doubts.len() } else { DOUBTS_MAX };
    let about = |name: &'static str, (text, products): &(String, Vec<&str>)| {
        Fact::caution(name, format!("{text}: {}", first(products)))
    };
    let mut facts: Vec<Fact> = needs.iter().map(|need| about(label!("needs"), need)).collect();
    facts.extend(doubts.iter().take(max).map(|doubt| about(label!("doubt"), doubt)));
    if doubts.len() > max {
        facts.push(Fact::new("", say!("and {} more doubts", doubts.len() - max)));
    }
    let mut used: Vec<Status> = offered().filter_map(binding).map(|ceiling| ceiling.cite.status).collect();
    used.extend(offered().filter_map(|one| one.price.as_ref()).map(|price| price.cite.status));
    let figures = say!(
        "response times are simulated by the catalogue's models; ceilings and prices are {}",
        offer::provenance(used)
    );
    facts.push(Fact::new(label!("figures"), figures));
    let lists = price_sources(offered().filter_map(|one| one.price.as_ref()));
    facts.extend((!lists.is_empty()).then(|| Fact::new(label!("prices"), lists.join(label!("; ")))));
    facts
}

/// Documents of the prices with their dates, in order of appearance.
fn price_sources<'a>(prices: impl Iterator<Item = &'a Price>) -> Vec<String> {
    let mut lists: Vec<String> = Vec::new();
    for price in prices {
        let region = price.region.as_deref().map(|region| format!("{region}: ")).unwrap_or_default();
        let list = format!("{region}{} ({})", price.cite.title, price.cite.date);
        if !lists.contains(&list) {
            lists.push(list);
        }
    }
    let more = lists.len().saturating_sub(PRICE_LISTS_MAX);
    lists.truncate(PRICE_LISTS_MAX);
    lists.extend((more > 0).then(|| say!("and {more} more")));
    lists
}

/// Sentences with their products, the most common first.
fn by_product<'a>(
    carries: impl Iterator<Item = &'a SuitableOffer>,
    sentences: impl Fn(&SuitableOffer) -> Vec<String>,
) -> Vec<(String, Vec<&'a str>)> {
    let mut all: Vec<(String, Vec<&str>)> = Vec::new();
    for one in carries {
        let product: &str = &one.offer.config.volume.product;
        for sentence in sentences(one) {
            match all.iter_mut().find(|(text, _)| *text == sentence) {
                Some((_, products)) if products.contains(&product) => {}
                Some((_, products)) => products.push(product),
                None => all.push((sentence, vec![product])),
            }
        }
    }
    all.sort_by_key(|(_, products)| std::cmp::Reverse(products.len()));
    all
}

fn resembling(near: &[Resemblance]) -> PageSection {
    let entry =
        |one: &Resemblance| Item::new(say!("{}, {}: {}", one.config, factor(one.factor), format_points(one)), []);
    PageSection::new(
        label!("Products that resemble the measured storage"),
        vec![Block::Items(near.iter().map(entry).collect())],
    )
}

/// The nearest product as a phrase.
fn describe_nearest(nearest: &Resemblance) -> String {
    say!("most similar: {} ({})", clean(&nearest.config.to_string()), factor(nearest.factor))
}

/// A factor above two is no resemblance.
fn factor(factor: f64) -> String {
    let far = if factor > 2.0 { label!(", a poor match") } else { "" };
    say!("within a factor of {factor:.2}{far}")
}

/// `IOPS measured / modelled at depth 1: 9,800 / 10,200, ...`.
fn format_points(one: &Resemblance) -> String {
    let point = |(depth, measured, simulated): &(u32, f64, f64)| {
        format!("{depth}: {} / {}", number::three(*measured), number::three(*simulated))
    };
    let points: Vec<String> = one.points.iter().map(point).collect();
    say!("IOPS measured / modelled at depth {}", points.join(label!(", ")))
}

/// An entry per reason, the most common first; with [`Detail::All`] an entry per product.
fn describe_rejected(rejected: &[Rejected], detail: Detail) -> PageSection {
    let describe = |one: &Rejected| (one.name.clone(), words::unsuitable(&one.reason));
    let rejected: Vec<(String, String)> = rejected.iter().map(describe).collect();
    let items: Vec<Item> = if detail == Detail::All {
        rejected.iter().map(|(name, reason)| Item::new(format!("{name}: {reason}"), [])).collect()
    } else {
        group_rejected(&rejected).iter().map(|group| Item::new(group.words(), [])).collect()
    };
    PageSection::folded(say!("Would not carry it: {}", rejected.len()), vec![Block::Items(items)])
}

/// Products rejected for the same reason.
struct RejectedGroup<'r> {
    reason: String,
    /// Name and reason of each.
    members: Vec<&'r (String, String)>,
}

impl RejectedGroup<'_> {
    fn words(&self) -> String {
        let names: Vec<&str> = self.members.iter().map(|(name, _)| strip_options(name)).collect();
        let reason = if let [(_, only)] = self.members.as_slice() { only } else { &self.reason };
        format!("{} - {reason}: {}", self.members.len(), first(&names))
    }
}

/// The first names and the number of others.
fn first(names: &[&str]) -> String {
    match names.len().saturating_sub(NAMES_MAX) {
        0 => names.join(label!(", ")),
        more => say!("{} and {more} more", names[..NAMES_MAX].join(label!(", "))),
    }
}

fn group_rejected(rejected: &[(String, String)]) -> Vec<RejectedGroup<'_>> {
    let mut groups: Vec<RejectedGroup> = Vec::new();
    for one in rejected {
        let reason = generalize_reason(one);
        match groups.iter_mut().find(|group| group.reason == reason) {
            Some(group) => group.members.push(one),
            None => groups.push(RejectedGroup { reason, members: vec![one] }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.members.len()));
    groups
}

/// A reason without product details: the name becomes `it`, numbers with units become dots.
fn generalize_reason((name, reason): &(String, String)) -> String {
    let why = reason.replace(strip_options(name), "it");
    let words = why.split(' ').map(|word| if word.starts_with(|c: char| c.is_ascii_digit()) { "…" } else { word });
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "ns", "us", "ms", "s"];
    let mut retained: Vec<&str> = Vec::new();
    for word in words {
        if retained.last() != Some(&"…") || !units.contains(&word.trim_end_matches(|c: char| c.is_ascii_punctuation()))
        {
            retained.push(word);
        }
    }
    retained.join(" ")
}

/// The product of a configuration: `aws/gp3` for `stripe(2,64KiB) of aws/gp3:size=100`.
fn strip_options(configuration: &str) -> &str {
    let volume = configuration.rsplit(" of ").next().unwrap_or(configuration);
    volume.split([':', ' ']).next().unwrap_or(volume)
}

#[cfg(test)]
mod tests {
    use plimsoll_choose::Unsuitable;

    use super::*;

    fn many(reasons: &[(&str, &str)]) -> Vec<(String, String)> {
        reasons.iter().map(|(name, why)| ((*name).into(), (*why).into())).collect()
    }

    fn check(rejected: &[(&str, &str)], expected: &[&str]) {
        let found: Vec<String> = group_rejected(&many(rejected)).iter().map(RejectedGroup::words).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn equal_reasons_are_one_entry() {
        let few = "it answers 4000 of 12000 IOPS (simulated)";
        let more = "it answers 5000 of 12000 IOPS (simulated)";
        check(
            &[
                ("z/hdd", "it cannot hold 4 TiB"),
                ("aws/gp3:size=100", few),
                ("stripe(2,64KiB) of oci/block:size=50", more),
            ],
            &["2 - it answers … of … IOPS (simulated): aws/gp3, oci/block", "1 - it cannot hold 4 TiB: z/hdd"],
        );
        let silent = |name: &str| format!("the catalogue does not know when {name} answers, only what it carries");
        let (a, b) = (silent("a/a"), silent("b/b"));
        let reported = "2 - the catalogue does not know when it answers, only what it carries: a/a, b/b";
        check(&[("a/a:size=1", &a), ("b/b", &b)], &[reported]);
        let late = |time: &str| format!("p99 is {time} at this load (simulated)");
        let (a, b) = (late("2.5 ms"), late("812 us"));
        check(&[("a/a", &a), ("b/b", &b)], &["2 - p99 is … at this load (simulated): a/a, b/b"]);
    }

    #[test]
    fn long_list_is_cut() {
        let names: Vec<String> = (0..40).map(|n| format!("a/p{n}")).collect();
        let all: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "too slow")).collect();
        check(&all, &["40 - too slow: a/p0, a/p1, a/p2, a/p3, a/p4 and 35 more"]);
        let all: Vec<Rejected> =
            names.iter().map(|name| Rejected { name: name.clone(), reason: Unsuitable::Capacity }).collect();
        let entries = |detail| match &describe_rejected(&all, detail).blocks[..] {
            [Block::Items(items)] => items.len(),
            other => panic!("{other:?}"),
        };
        assert_eq!((entries(Detail::Normal), entries(Detail::All)), (1, 40));
    }
}
