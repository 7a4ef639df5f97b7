//! Several configurations beside each other, then each for itself.

use plimsoll_catalogue::{Ask, Bound};
use plimsoll_choose::Quote;

use super::TextStyle;
use super::paint::{INDENT, Line, Tone, hanging, wrap};
use super::table::{Align, Column, Table};
use super::{configurations, quote};
use crate::words::offer as words;
use crate::{money, number};

/// A comparison of several, their blocks, and what the figures are.
pub(super) fn parts(quotes: &[Quote], style: &TextStyle) -> Vec<Vec<Line>> {
    let mut parts = vec![comparison(quotes, style)];
    parts.extend(quotes.iter().map(|one| quote::block(one, style)));
    let used: Vec<_> = quotes.iter().flat_map(quote::statuses).collect();
    let legend = wrap(&words::provenance(used), style.width - INDENT);
    parts.push(hanging("figures", Tone::Quiet, legend).collect());
    if quotes.is_empty() { Vec::new() } else { parts }
}

/// One row a configuration; nothing for one alone.
fn comparison(quotes: &[Quote], style: &TextStyle) -> Vec<Line> {
    let [first, _, ..] = quotes else { return Vec::new() };
    let same = quotes.iter().all(|quote| quote.ask == first.ask);
    let asked = if same { asked(&first.ask) } else { "sustained, each for its own load".into() };
    let mut lines: Vec<Line> = wrap(&asked, style.width).into_iter().map(|line| Line::of(line, Tone::Strong)).collect();
    let table = Table { columns: columns(quotes), ..Table::default() };
    let names = quotes.iter().map(|quote| words::configuration(&quote.offer)).collect();
    let laid = configurations::lay_out(table, names, style);
    let left_out = configurations::left_out(&laid);
    lines.extend(laid.lines);
    lines.extend(left_out.iter().flat_map(|text| configurations::note(text, style)));
    lines
}

fn asked(ask: &Ask) -> String {
    format!("Sustained, for {}", words::ask(ask))
}

fn columns(quotes: &[Quote]) -> Vec<Column> {
    let column = |name, unit, align, expendable, cells| Column { name, unit, align, expendable, cells };
    let bound = |of: &dyn Fn(&Bound) -> String| {
        quotes.iter().map(|quote| quote.standing.binding().map_or("–".into(), of)).collect::<Vec<String>>()
    };
    let ceiling = |quote: &Quote| quote.standing.binding().map(|bound| quote.offer.ceilings[bound.ceiling].clone());
    let binds = quotes.iter().map(|quote| configurations::limit(ceiling(quote).map(|c| c.name).as_deref())).collect();
    let status =
        quotes.iter().map(|quote| ceiling(quote).map_or("–".into(), |c| c.cite.status.name().into())).collect();
    let monthly = |quote: &Quote| quote.price.as_ref().ok().map(|price| price.monthly);
    let prices: Vec<_> = quotes.iter().map(monthly).collect();
    let each: Vec<_> =
        quotes.iter().map(|quote| money::share(monthly(quote)?, quote.standing.binding()?.iops / 1_000.0)).collect();
    vec![
        column("IOPS", "", Align::Point, 0, bound(&|bound| number::rate(bound.iops))),
        column("MB/s", "", Align::Point, 1, bound(&|bound| words::megabytes(bound.bytes_per_second))),
        column("price", "a month", Align::Left, 0, money::column(&prices)),
        column("per 1,000", "IOPS", Align::Left, 2, money::column(&each)),
        column("binds", "", Align::Left, 0, binds),
        column("status", "of the limit", Align::Left, 3, status),
    ]
}
