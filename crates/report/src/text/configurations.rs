//! Tables whose rows are configurations: beside the figures where they fit, else above them, never cut.

use super::TextStyle;
use super::paint::{Line, Tone, cut, wrap};
use super::table::{Align, Column, Laid, Table};

/// Names of limits are cut after so many columns; the figures are beside them.
const NAME: usize = 34;

/// Lays out a table with a configuration for each row. Headings of `table` stand before those configurations.
pub(super) fn lay_out(mut table: Table, configurations: Vec<String>, style: &TextStyle) -> Laid {
    let names = Column { name: "configuration", unit: "", align: Align::Left, expendable: 0, cells: configurations };
    table.columns.insert(0, names);
    if table.fits(style) {
        return table.lay_out(style);
    }
    let names = table.columns.remove(0).cells;
    let indent =
        Column { name: "", unit: "", align: Align::Left, expendable: 0, cells: vec![String::new(); names.len()] };
    table.columns.insert(0, indent);
    table.groups.extend(names.into_iter().enumerate());
    table.lay_out(style)
}

/// What was left out, once each.
pub(super) fn left_out(laid: &Laid) -> Option<String> {
    let mut names = laid.left_out.clone();
    names.dedup();
    (!names.is_empty()).then(|| format!("left out for the width: {}", names.join(", ")))
}

/// A limit's name for a cell.
pub(super) fn limit(name: Option<&str>) -> String {
    name.map_or("–".into(), |name| cut(&crate::words::clean(name), NAME))
}

/// A note below a table.
pub(super) fn note(text: &str, style: &TextStyle) -> impl Iterator<Item = Line> {
    wrap(text, style.width).into_iter().map(|line| Line::of(line, Tone::Quiet))
}
