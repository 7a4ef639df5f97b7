//! All products as a table by provider: how they are called, what they hold, and how sure their figures are.

use std::collections::BTreeMap;

use plimsoll_catalogue::{Catalogue, Product, ProductKind, Status};

use super::TextStyle;
use super::configurations;
use super::paint::{Line, cut};
use super::table::{Align, Column, Table};
use crate::number;
use crate::words::{clean, offer as words};

/// Cells are cut after so many columns.
const CELL: usize = 40;
/// Aliases and sizes are cut earlier.
const ALIAS: usize = 12;
const SIZE: usize = 20;
/// A title is cut to what is left, and left out where that is less.
const TITLE: usize = 12;

/// One row a product, and what the letters mean.
pub(super) fn parts(catalogue: &Catalogue, style: &TextStyle) -> Vec<Vec<Line>> {
    let mut providers: BTreeMap<&str, Vec<&Product>> = BTreeMap::new();
    for product in catalogue.products() {
        providers.entry(provider(product)).or_default().push(product);
    }
    let (mut groups, mut products) = (Vec::new(), Vec::new());
    for (name, mut own) in providers {
        own.sort_by_key(|product| product.name());
        groups.push((products.len(), format!("{} ({})", clean(name), own.len())));
        products.extend(own);
    }
    if products.is_empty() {
        return vec![vec![Line::plain("The catalogue is empty.")]];
    }
    let laid = Table { columns: columns(&products, style), groups, strong: None }.lay_out(style);
    let letters: Vec<String> =
        Status::ALL.iter().map(|s| format!("{} {}: {}", letter(*s), s.name(), words::status(*s))).collect();
    let mut notes = vec![format!("figures by status: {}; none was measured by plimsoll", letters.join(", "))];
    notes.extend(configurations::left_out(&laid));
    let mut lines = laid.lines;
    lines.extend(configurations::note(&notes.join("; "), style));
    vec![lines]
}

/// The word before the slash.
fn provider(product: &Product) -> &str {
    product.name().split('/').next().unwrap_or_default()
}

fn columns(products: &[&Product], style: &TextStyle) -> Vec<Column> {
    let column = |name, expendable, most, of: &dyn Fn(&Product) -> String| Column {
        name,
        unit: "",
        align: Align::Left,
        expendable,
        cells: products.iter().map(|product| cut(&clean(&of(product)), most)).collect(),
    };
    let mut columns = vec![
        column("product", 0, CELL, &|product| product.name().into()),
        column("also", 2, ALIAS, &|product| product.aliases().join(" ")),
        column("kind", 3, CELL, &|product| product.kind().name().into()),
        column("holds", 0, SIZE, &size),
        column("prices", 0, CELL, &currencies),
        column("figures", 1, CELL, &figures),
    ];
    let left = style.width.saturating_sub(columns.iter().map(|column| column.width() + 2).sum());
    columns.push(column("title", 4, left.clamp(TITLE, CELL), &|product| product.title().into()));
    columns
}

/// The sizes that it has: `1 to 65536 GiB`, `480, 960 GB`; of machines, how many there are.
pub(super) fn size(product: &Product) -> String {
    let (unit, bytes) = product.capacity_unit();
    if product.kind() == ProductKind::Machine {
        let count = product.machines().count();
        return format!("{count} machine{}", if count == 1 { "" } else { "s" });
    }
    match product.options().into_iter().find(|option| &*option.name == "size") {
        None => words::capacity(bytes),
        Some(option) if !option.choices.is_empty() => format!("{} {unit}", option.choices.join(", ")),
        Some(option) => match (option.low.as_str(), option.high.as_str()) {
            ("", "") => format!("any {unit}"),
            ("", high) => format!("up to {high} {unit}"),
            (low, "") => format!("from {low} {unit}"),
            (low, high) => format!("{low} to {high} {unit}"),
        },
    }
}

/// The currencies of its lists, once each.
fn currencies(product: &Product) -> String {
    let mut found: Vec<String> = Vec::new();
    for list in product.price_lists() {
        let currency = list.split(' ').next().unwrap_or_default().to_owned();
        if !found.contains(&currency) {
            found.push(currency);
        }
    }
    if found.is_empty() { "–".into() } else { found.join(" ") }
}

/// How many figures there are of each status: `12v 3s 1i`.
fn figures(product: &Product) -> String {
    let cites = product.cites();
    let of = |status: Status| cites.iter().filter(|cite| cite.status == status).count();
    let counted = Status::ALL.iter().map(|status| (of(*status), *status)).filter(|(count, _)| *count > 0);
    counted
        .map(|(count, status)| format!("{}{}", number::whole(count as f64), letter(status)))
        .collect::<Vec<_>>()
        .join(" ")
}

fn letter(status: Status) -> &'static str {
    &status.name()[..1]
}
