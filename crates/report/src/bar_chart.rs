//! A chart of bars for pages whose builders are outside of this crate.

use maud::html;

use crate::chart::{self, Bar, Fill};
use crate::html::{both, figure};
use crate::page::{Cell, Chart, Column, ColumnKind, Table};

/// Quantities with their names.
#[derive(Clone, Copy, Debug)]
pub struct BarChart<'a> {
    /// Unique on the page.
    pub id: &'a str,
    pub title: &'a str,
    /// Names of the bars' meaning and of their quantity, for the table of the other forms.
    pub columns: [&'static str; 2],
    /// Name, quantity, and the quantity with its unit.
    pub bars: &'a [(String, f64, String)],
    pub source: &'a str,
}

/// Draws the bars on one scale that begins at zero.
pub fn bar_chart(data: &BarChart<'_>) -> Chart {
    let bar = |(name, quantity, value): &(String, f64, String)| Bar {
        name: name.clone(),
        from: 0.0,
        to: *quantity,
        value: value.clone(),
        fill: Fill::Full,
        tone: 0,
    };
    let bars: Vec<Bar> = data.bars.iter().map(bar).collect();
    let description: Vec<String> = data.bars.iter().map(|(name, _, value)| format!("{name}: {value}")).collect();
    let description = format!("{}.", description.join("; "));
    let drawn = both(data.id, data.title, &description, |size| chart::bars(&bars, size));
    let [name, quantity] = data.columns;
    let columns = [Column::text(name, 0), Column::new(quantity, "", ColumnKind::Share, 0)];
    let plain = Table::of(data.title, columns, data.bars, |(name, quantity, value)| {
        vec![Cell::text(name), Cell::figure(value.clone(), *quantity)]
    });
    Chart { markup: figure(&drawn, &html! { (data.source) }), plain: Some(plain) }
}
