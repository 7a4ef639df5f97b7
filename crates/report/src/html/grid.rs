//! Tables of pages: headings, cells, and links from numbers to where they were read. Knows nothing of what they mean.

use maud::{Markup, html};

use crate::chart::{sentence, typeset};
use crate::text::{Cells, Filled, NONE};
use crate::words::clean;

/// A column's head: its name, its unit, and how its cells stand.
pub(super) struct Head(pub &'static str, pub &'static str, pub Cells);

/// A row: what links lead to, and its cells.
pub(super) struct Row {
    pub id: Option<String>,
    pub cells: Vec<Markup>,
}

/// A table that may be moved under its window; nothing without rows. The first cell of a row is its name.
pub(super) fn table(label: &str, heads: &[Head], rows: &[Row]) -> Markup {
    if rows.is_empty() {
        return html! {};
    }
    html! {
        div class="scroll" tabindex="0" role="region" aria-label=(label) {
            table {
                thead { tr {
                    @for Head(name, unit, cells) in heads {
                        th class=[words_class(*cells)] scope="col" { (name) @if !unit.is_empty() { small { (unit) } } }
                    }
                } }
                tbody { @for row in rows { (drawn(row, heads)) } }
            }
        }
    }
}

fn words_class(cells: Cells) -> Option<&'static str> {
    (cells == Cells::Words).then_some("l")
}

fn drawn(row: &Row, heads: &[Head]) -> Markup {
    html! {
        tr id=[row.id.as_deref()] {
            @for (index, (cell, head)) in row.cells.iter().zip(heads).enumerate() {
                @if index == 0 { th scope="row" { (cell) } } @else { td class=[words_class(head.2)] { (cell) } }
            }
        }
    }
}

/// A table that was filled for any reader, with its notes; `origin` says where the number of a row and a column's name
/// stands on the page.
pub(super) fn filled(label: &str, table_of: &Filled, origin: impl Fn(usize, &str) -> Option<String>) -> Markup {
    let heads: Vec<Head> =
        table_of.headings.iter().map(|heading| Head(heading.name, heading.unit, heading.cells)).collect();
    let row = |(index, cells): (usize, &Vec<String>)| Row {
        id: None,
        cells: cells
            .iter()
            .zip(&heads)
            .map(|(text, head)| link(origin(index, head.0).filter(|_| text != NONE).as_deref(), text))
            .collect(),
    };
    let rows: Vec<Row> = table_of.rows.iter().enumerate().map(row).collect();
    html! {
        (table(label, &heads, &rows))
        @for note in table_of.notes.iter().filter(|_| !rows.is_empty()) { p class="lead" { (typeset(&sentence(clean(note).trim_end_matches('.')))) "." } }
    }
}

/// A text that leads to a place of the page, where it has one.
pub(super) fn link(to: Option<&str>, text: &str) -> Markup {
    let text = typeset(&clean(text));
    html! { @if let Some(to) = to { a href={ "#" (to) } { (text) } } @else { (text) } }
}
