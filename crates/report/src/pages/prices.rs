//! What has prices: vendors, regions, currencies, dates and sources; an import, and what it changed.

use plimsoll_catalogue::{Catalogue, PriceChange, PriceCoverage, PriceListForm, PriceListImport};
use plimsoll_language::{label, say};

use crate::number;
use crate::page::{Block, Cell, Column, ColumnKind, Fact, Headline, Page, PageSection, Table, UNKNOWN};

/// Maximum number of changes in the table.
const CHANGES_MAX: usize = 20;
/// Maximum number of reasons for entries that were left out.
const REASONS_MAX: usize = 6;

/// Prices of the catalogue, and the files that were imported just now.
pub fn prices(catalogue: &Catalogue, imports: &[(String, PriceListImport)], folder: &str) -> Page {
    let coverage = catalogue.price_coverage();
    let changes = catalogue.price_changes();
    let mut sections = vec![
        PageSection::new(
            label!("Imported just now"),
            vec![Block::Facts(imports.iter().flat_map(import_facts).collect())],
        ),
        PageSection::bare(label!("Prices"), vec![Block::Table(coverage_table(&coverage))]),
    ];
    if !changes.is_empty() {
        let heading = label!("Imported prices that differ from the built-in ones");
        sections.push(PageSection::new(heading, vec![Block::Table(changes_table(&changes))]));
    }
    Page {
        title: label!("Prices").to_owned(),
        headline: Some(headline(&coverage, folder)),
        sections: sections.into_iter().filter(|section| !is_empty(section)).collect(),
        ..Page::default()
    }
}

fn is_empty(section: &PageSection) -> bool {
    section.blocks.iter().all(|block| matches!(block, Block::Facts(facts) if facts.is_empty()))
}

fn headline(coverage: &[PriceCoverage], folder: &str) -> Headline {
    let imported = coverage.iter().filter(|one| one.imported).count();
    let text = match imported {
        0 => label!("All prices are built in; plimsoll prices import FILE reads the vendors' lists").to_owned(),
        1 => label!("1 imported price list goes before the built-in prices of its region and currency").to_owned(),
        many => say!("{many} imported price lists go before the built-in prices of their regions and currencies"),
    };
    let place = (imported > 0).then(|| say!("Imported prices are in {folder}: remove a file to drop its prices"));
    Headline { details: place.into_iter().collect(), ..Headline::of(text) }
}

/// Rates that were taken, and reasons for those that were left out.
fn import_facts((name, import): &(String, PriceListImport)) -> Vec<Fact> {
    let list = import.form.map_or(label!("a price list"), PriceListForm::title);
    let places: Vec<String> = import
        .prices
        .iter()
        .map(|prices| format!("{} {}", prices.region().unwrap_or(label!("all regions")), prices.currency()))
        .collect();
    let places = match places.as_slice() {
        [first, second, third, rest @ ..] if !rest.is_empty() => {
            say!("{first}, {second}, {third} and {} more", rest.len())
        }
        all => all.join(label!(", ")),
    };
    let used = number::integer(import.used as f64);
    let mut skipped: Vec<(&String, &u64)> = import.skipped.iter().collect();
    skipped.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let reasons = skipped.iter().take(REASONS_MAX);
    let reasons = reasons.map(|(reason, count)| say!("left out: {} ({reason})", number::integer(**count as f64)));
    let fact = Fact::new(label!("file"), say!("{name}: {list}, {used} rates for {places}"));
    vec![Fact { remarks: reasons.collect(), ..fact }]
}

fn coverage_table(coverage: &[PriceCoverage]) -> Table {
    let first_built_in = coverage.iter().position(|one| !one.imported);
    let table = Table::rows(label!("Prices"), coverage)
        .column(Column::text(label!("vendor"), 0), |one| one.vendor.as_str())
        .column(Column::text(label!("region"), 0), |one| one.region.as_deref().unwrap_or(label!("all")).to_owned())
        .column(Column::text(label!("currency"), 0), |one| one.currency.as_str())
        .column(Column::text(label!("date"), 0), |one| format_dates(one))
        .column(Column::text(label!("products"), 0), |one| one.products.len().to_string())
        .column(Column::text(label!("machines"), 0), |one| machines(one))
        .column(Column::text(label!("source"), 2), |one| source(one))
        .table();
    let imported = first_built_in.filter(|first| *first > 0).map(|_| (0, label!("imported").to_owned()));
    let built_in = first_built_in.map(|first| (first, label!("built in").to_owned()));
    Table { groups: imported.into_iter().chain(built_in).collect(), ..table }
}

/// The range of dates of the sources: `2026-09-30`, `2025-03-06 to 2026-08-21`.
fn format_dates(one: &PriceCoverage) -> String {
    let is_dated = |date: &&str| date.starts_with(|c: char| c.is_ascii_digit());
    let all = one.sources.iter().map(|cite| cite.date.as_str());
    let (mut dates, undated): (Vec<&str>, Vec<&str>) = all.partition(is_dated);
    dates.sort_unstable();
    let range = match (dates.first(), dates.last()) {
        (Some(first), Some(last)) if first != last => say!("{first} to {last}"),
        (Some(only), _) => (*only).to_owned(),
        _ => return label!("undated").to_owned(),
    };
    if undated.is_empty() { range } else { say!("{range}, some undated") }
}

fn machines(one: &PriceCoverage) -> String {
    let [year, three_years] = one.committed_machines;
    let committed = match (year, three_years) {
        (0, 0) => String::new(),
        _ => say!(" ({year} for 1y, {three_years} for 3y)"),
    };
    format!("{}{committed}", one.machines)
}

/// The newest document, and the number of others.
fn source(one: &PriceCoverage) -> String {
    let titles: Vec<&str> = one.sources.iter().map(|cite| cite.title.as_str()).collect();
    match titles.as_slice() {
        [] => UNKNOWN.to_owned(),
        [only] => (*only).to_owned(),
        [first, rest @ ..] => say!("{first} and {} more", rest.len()),
    }
}

/// The largest changes; storage first.
fn changes_table(changes: &[PriceChange]) -> Table {
    let mut largest: Vec<&PriceChange> = changes.iter().collect();
    let is_machine = |change: &PriceChange| change.unit.is_empty() && !change.subject.contains(':');
    largest.sort_by(|a, b| {
        let by_ratio = || b.ratio().ln().abs().total_cmp(&a.ratio().ln().abs());
        is_machine(a).cmp(&is_machine(b)).then_with(by_ratio)
    });
    let more = largest.len().saturating_sub(CHANGES_MAX);
    largest.truncate(CHANGES_MAX);
    let note = (more > 0).then(|| say!("and {more} more: --json has all"));
    Table::rows(label!("Changes"), largest)
        .column(Column::text(label!("product"), 0), |change| change.subject.as_str())
        .column(Column::text(label!("region"), 1), |change| {
            change.region.as_deref().unwrap_or(label!("all")).to_owned()
        })
        .column(Column::text(label!("component"), 0), |change| component(change))
        .column(Column::new(label!("built in"), label!("a month"), ColumnKind::Text, 0), |change| {
            change.before.to_string()
        })
        .column(Column::new(label!("imported"), label!("a month"), ColumnKind::Text, 0), |change| {
            change.after.to_string()
        })
        .column(Column::text(label!("change"), 0), |change| Cell::text(percent(change.ratio())))
        .table()
        .with_notes(note)
}

fn component(change: &PriceChange) -> String {
    if change.unit.is_empty() { change.component.to_string() } else { say!("{}, {}", change.component, change.unit) }
}

fn percent(ratio: f64) -> String {
    if ratio.is_finite() { number::change(ratio - 1.0, 1) } else { label!("new").to_owned() }
}
