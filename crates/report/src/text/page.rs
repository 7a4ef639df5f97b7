//! Renders a page for a terminal.

use std::borrow::Cow;

use plimsoll_language::{label, say};

use super::TextStyle;
use super::paint::{INDENT, PaintedLine, Tone, hanging, wrap};
use super::plot::{self, plot};
use super::table::{self, Align};
use super::width::{columns, pad_end};
use crate::money;
use crate::page::{
    Block, Cell, Column, ColumnKind, Emphasis, Fact, Headline, Item, Page, PageSection, Shares, Table, TableLayout,
    Visibility,
};
use crate::words::{clean, cut};

/// Indentation of list entries; remarks are indented twice as far.
const STEP: usize = 2;
/// Maximum length of a bar of letters.
const SHARES_MAX: usize = 64;

/// The parts of the page, to be separated by empty lines.
pub(super) fn render_parts(page: &Page, style: &TextStyle) -> Vec<Vec<PaintedLine>> {
    let mut parts = vec![page.subject.iter().flat_map(|text| paragraph(text, Tone::Plain, 0, style)).collect()];
    let alert = page.alert.iter().flat_map(|(emphasis, text)| paragraph(text, tone(*emphasis), 0, style));
    let verdict = page.headline.iter().flat_map(|headline| render_verdict(headline, page.origin, style));
    parts.push(alert.chain(verdict).collect());
    let displayed = page.display().filter(|part| part.visibility != Visibility::Detail);
    parts.extend(displayed.map(|part| section(part, style)));
    // Commands are never wrapped, so that they can be copied.
    let next = |(purpose, command): &(String, String)| PaintedLine::plain(clean(&format!("{purpose}: {command}")));
    parts.push(page.next.iter().map(next).collect());
    parts
}

pub(super) fn paragraph(text: &str, tone: Tone, indent: usize, style: &TextStyle) -> Vec<PaintedLine> {
    let lines = wrap(&clean(text), style.width - indent).into_iter();
    lines.map(|line| PaintedLine::of(format!("{:indent$}{line}", ""), tone)).collect()
}

fn render_verdict(headline: &Headline, origin: &str, style: &TextStyle) -> Vec<PaintedLine> {
    let origin = if origin.is_empty() { String::new() } else { format!(" - {origin}") };
    let mut lines = paragraph(&format!("{}{origin}", headline.text), Tone::Strong, 0, style);
    lines.extend(headline.cautions.iter().flat_map(|text| paragraph(text, Tone::Yellow, 0, style)));
    lines.extend(headline.details.iter().flat_map(|text| paragraph(text, Tone::Plain, 0, style)));
    lines
}

fn section(section: &PageSection, style: &TextStyle) -> Vec<PaintedLine> {
    let mut lines = Vec::new();
    if section.visibility != Visibility::Bare && !section.heading.is_empty() {
        lines.extend(paragraph(&section.heading, Tone::Strong, 0, style));
    }
    for block in &section.blocks {
        match block {
            Block::Text(text) => lines.extend(paragraph(text, Tone::Plain, 0, style)),
            Block::Heading(text) => lines.extend(paragraph(text, Tone::Strong, 0, style)),
            Block::Note(text) => lines.extend(paragraph(text, Tone::Quiet, 0, style)),
            Block::Facts(facts) => lines.extend(facts.iter().flat_map(|one| fact(one, style))),
            Block::Items(items) => lines.extend(items.iter().flat_map(|one| item(one, style))),
            Block::Table(rows) => lines.extend(render_table(rows, style)),
            Block::Chart(chart) => lines.extend(chart.plain.iter().flat_map(|rows| render_table(rows, style))),
            Block::Plot(curve) => {
                lines.extend((!lines.is_empty()).then(|| PaintedLine::plain("")));
                lines.extend(plot(curve, plot::ROWS, style));
            }
            Block::Shares(bars) => lines.extend(shares(bars, style)),
            Block::Listing(text) => lines.extend(text.lines().map(PaintedLine::plain)),
            Block::Data(_) => {}
        }
    }
    lines
}

/// A bar of letters for each name, then the legend.
fn shares(shares: &Shares, style: &TextStyle) -> Vec<PaintedLine> {
    let name = shares.bars.iter().map(|(name, _)| columns(name)).max().unwrap_or(0).min(style.width / 3);
    let width = (style.width - name - 2).min(SHARES_MAX);
    let bar = |(of, parts): &(String, Vec<(char, f64)>)| {
        PaintedLine::plain(format!("{}  {}", pad_end(&cut(of, name), name), letters(parts, width)))
    };
    let legend = paragraph(&shares.legend, Tone::Quiet, 0, style);
    shares.bars.iter().map(bar).chain(legend).collect()
}

/// The parts as letters. Boundaries are rounded, so narrow parts may vanish.
fn letters(parts: &[(char, f64)], width: usize) -> String {
    let total: f64 = parts.iter().map(|(_, share)| share).sum();
    let mut out = String::new();
    let (mut so_far, mut written) = (0.0, 0);
    for (letter, share) in parts {
        so_far += share;
        let end = if total > 0.0 { (so_far / total.max(1.0) * width as f64).round() as usize } else { 0 };
        out.extend(std::iter::repeat_n(*letter, end.min(width).saturating_sub(written)));
        written = written.max(end.min(width));
    }
    out
}

pub(super) const fn tone(emphasis: Emphasis) -> Tone {
    match emphasis {
        Emphasis::Plain => Tone::Quiet,
        Emphasis::Strong => Tone::Strong,
        Emphasis::Note => Tone::Blue,
        Emphasis::Caution => Tone::Yellow,
        Emphasis::Void => Tone::Red,
    }
}

/// A hanging name with its value, then components and remarks.
fn fact(fact: &Fact, style: &TextStyle) -> Vec<PaintedLine> {
    let width = style.width - INDENT;
    let mut lines: Vec<PaintedLine> =
        hanging(&clean(&fact.name), tone(fact.emphasis), wrap(&clean(&fact.text), width)).collect();
    let amounts = money::aligned(fact.parts.iter().map(|(amount, _)| amount.clone()));
    for ((_, description), amount) in fact.parts.iter().zip(amounts) {
        let wide = columns(&amount);
        for (index, line) in wrap(&clean(description), width.saturating_sub(wide + 2)).into_iter().enumerate() {
            let amount = if index == 0 { amount.as_str() } else { "" };
            lines.push(PaintedLine::plain(format!("{:INDENT$}{amount:wide$}  {line}", "")));
        }
    }
    lines.extend(fact.remarks.iter().flat_map(|remark| paragraph(remark, Tone::Quiet, INDENT, style)));
    lines
}

fn item(item: &Item, style: &TextStyle) -> Vec<PaintedLine> {
    let text = wrap(&clean(&item.text), style.width - 2 * STEP).into_iter().enumerate();
    let indent = |index| if index == 0 { STEP } else { 2 * STEP };
    let mut lines: Vec<PaintedLine> =
        text.map(|(index, line)| PaintedLine::plain(format!("{:1$}{line}", "", indent(index)))).collect();
    lines.extend(item.remarks.iter().flat_map(|remark| paragraph(remark, Tone::Quiet, 2 * STEP, style)));
    lines
}

/// A table that fits the width, and its notes; empty without rows.
fn render_table(table: &Table, style: &TextStyle) -> Vec<PaintedLine> {
    let table::Laid { mut lines, legends, left_out } = lay_out(table, style);
    if lines.is_empty() || table.layout == TableLayout::Lines {
        return lines;
    }
    let omitted = omitted_columns(left_out);
    let notes = legends.iter().chain(&table.notes).chain(&omitted);
    lines.extend(notes.flat_map(|note| paragraph(note, Tone::Quiet, 0, style)));
    lines
}

/// The columns that do not fit the width.
pub(super) fn omitted_columns(mut names: Vec<Cow<'static, str>>) -> Option<String> {
    names.dedup();
    (!names.is_empty()).then(|| say!("columns omitted for the width: {}", names.join(label!(", "))))
}

/// The rows of a table within the width; empty without rows.
pub(super) fn lay_out(table: &Table, style: &TextStyle) -> table::Laid {
    let total = table.with_intervals();
    if total.rows.is_empty() {
        return table::Laid::default();
    }
    if total.layout == TableLayout::Lines {
        let line = |row: &Vec<Cell>| row.iter().map(|cell| clean(&cell.text)).collect::<Vec<_>>().join("  ");
        let lines = total.rows.iter().map(|row| PaintedLine::plain(line(row).trim_end())).collect();
        return table::Laid { lines, ..table::Laid::default() };
    }
    let is_named = total.columns.first().is_some_and(|column| column.kind == ColumnKind::Name);
    let columns = total.columns.iter().enumerate();
    let set = table::TextTable {
        columns: columns.map(|(index, column)| lay_out_column(column, &total, index)).collect(),
        groups: total.groups.iter().map(|(row, text)| (*row, clean(text))).collect(),
        strong: total.rows.iter().position(|row| row.first().is_some_and(|cell| cell.emphasis == Emphasis::Strong)),
    };
    if is_named { named(set, style) } else { set.lay_out(style) }
}

/// A table whose first column is a name: if the width is too small, the name is a line above its row.
fn named(mut table: table::TextTable, style: &TextStyle) -> table::Laid {
    if !table.fits(style) {
        let names = std::mem::take(&mut table.columns[0].cells);
        let cells = vec![String::new(); names.len()];
        table.columns[0] = table::TextColumn { name: "".into(), unit: "", align: Align::Left, expendable: 0, cells };
        table.groups.extend(names.into_iter().enumerate());
    }
    table.lay_out(style)
}

fn lay_out_column(column: &Column, table: &Table, index: usize) -> table::TextColumn {
    let texts = table.rows.iter().map(|row| clean(&row[index].text));
    let (align, cells) = match column.kind {
        ColumnKind::Money => (Align::Retained, money::aligned(texts)),
        ColumnKind::Name => (Align::Retained, texts.collect()),
        ColumnKind::Text => (Align::Left, texts.collect()),
        ColumnKind::Reasons => (Align::Reasons, texts.collect()),
        ColumnKind::Rate | ColumnKind::Time | ColumnKind::Size | ColumnKind::Share => (Align::Point, texts.collect()),
    };
    table::TextColumn { name: column.name.clone(), unit: column.unit, align, expendable: column.priority, cells }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_follow_the_shares() {
        assert_eq!(letters(&[('C', 0.2), ('R', 0.7), ('L', 0.1)], 10), "CCRRRRRRRL");
        assert_eq!(letters(&[('R', 0.96), ('L', 0.04)], 10), "RRRRRRRRRR");
        assert_eq!(letters(&[('R', 0.5)], 10), "RRRRR");
        assert_eq!(letters(&[('R', 1.0), ('N', 1.0)], 10), "RRRRRNNNNN");
        assert_eq!(letters(&[], 10), "");
    }
}
