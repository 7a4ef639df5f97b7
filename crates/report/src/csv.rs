//! The tables of a page as comma-separated values (RFC 4180).

use crate::page::{Block, ColumnKind, Page, Table};
use crate::words::clean;

/// Renders the tables of a page, each with a header row, separated by empty lines; for a page without tables, its facts
/// and entries.
///
/// Lines end in CR LF. An unknown value is an empty field. Amounts of money have their currency in a separate column.
pub fn page_csv(page: &Page) -> String {
    let blocks = || page.sections.iter().flat_map(|section| &section.blocks);
    let data: Vec<&Table> =
        blocks().filter_map(|block| if let Block::Data(table) = block { Some(table) } else { None }).collect();
    let displayed = || blocks().filter_map(|block| if let Block::Table(table) = block { Some(table) } else { None });
    let tables = if data.is_empty() { displayed().filter(|table| !table.rows.is_empty()).collect() } else { data };
    let mut out = String::new();
    for table in tables {
        if !out.is_empty() {
            out.push_str("\r\n");
        }
        write(&mut out, &table.with_intervals());
    }
    if out.is_empty() { words(page) } else { out }
}

fn write(out: &mut String, table: &Table) {
    let is_money = |index: usize| table.columns[index].kind == ColumnKind::Money;
    let head = table.columns.iter().flat_map(|column| {
        let currency = (column.kind == ColumnKind::Money).then(|| "currency".to_owned());
        std::iter::once(column.title()).chain(currency)
    });
    row(out, head);
    for cells in &table.rows {
        let fields = cells.iter().enumerate().flat_map(|(index, cell)| match cell.exact.split_once(' ') {
            Some((amount, currency)) if is_money(index) => vec![amount.to_owned(), currency.to_owned()],
            _ if is_money(index) => vec![String::new(); 2],
            _ => vec![cell.exact.clone()],
        });
        row(out, fields);
    }
}

/// Facts and entries, by section.
fn words(page: &Page) -> String {
    let mut out = String::new();
    row(&mut out, ["section", "name", "text"].into_iter().map(str::to_owned));
    for section in page.display() {
        let mut add =
            |name: &str, text: &str| row(&mut out, [section.heading.as_str(), name, text].into_iter().map(clean));
        for block in &section.blocks {
            match block {
                Block::Text(text) | Block::Note(text) | Block::Heading(text) => add("", text),
                Block::Facts(facts) => facts.iter().for_each(|fact| add(&fact.name, &fact.text)),
                Block::Items(items) => items.iter().for_each(|item| add("", &item.text)),
                Block::Listing(text) => text.lines().for_each(|line| add("", line)),
                _ => {}
            }
        }
    }
    out
}

fn row(out: &mut String, cells: impl Iterator<Item = String>) {
    for (index, cell) in cells.enumerate() {
        if index > 0 {
            out.push(',');
        }
        quote(out, &cell);
    }
    out.push_str("\r\n");
}

/// Quotes a field that needs it (RFC 4180, 2.6 and 2.7).
fn quote(out: &mut String, cell: &str) {
    if cell.contains([',', '"', '\r', '\n']) {
        out.push('"');
        out.push_str(&cell.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(cell);
    }
}

/// A number to a thousandth, to four significant digits below 1, without grouping or trailing zeros; empty if not finite.
pub(crate) fn plain(value: f64) -> String {
    if !value.is_finite() {
        return String::new();
    }
    let digits = if value.abs() < 1.0 && value != 0.0 { 3 - value.abs().log10().floor() as i32 } else { 3 };
    let unit = 10f64.powi(digits);
    if unit.is_finite() { ((value * unit).round() / unit + 0.0).to_string() } else { "0".into() }
}
