//! The products that carry a measured load, in a few lines: the end of a measurement.

use plimsoll_choose::{Carries, Matches, Need, Resemblance};

use super::TextStyle;
use super::paint::{Line, Tone, cut};
use super::table::{Align, Column, Table};
use crate::pages::{headroom, nearest};
use crate::words::offer;
use crate::{money, number};

/// Products that are shown.
const SHOWN: usize = 3;

/// At most eight lines: the cheapest that carry it, and where few of those have a price, those that nearly do.
pub(super) fn short(need: &Need, matches: &Matches, near: &[Resemblance], style: &TextStyle) -> Vec<Line> {
    let asked = format!("{} IOPS at {}", number::three(need.iops), need.objective);
    let mut lines = Vec::new();
    let priced = matches.carries.iter().filter(|one| one.price.is_some()).count();
    let slow = if priced >= SHOWN { 0 } else { matches.nearly.len().min(SHOWN - 1) };
    let shown: Vec<Carries> =
        matches.carries.iter().take(SHOWN - slow).chain(&matches.nearly[..slow]).cloned().collect();
    let verdict = if matches.carries.is_empty() {
        format!("No product of the catalogue was found that would carry {asked}")
    } else {
        format!("Would carry {asked}, cheapest first")
    };
    lines.push(Line::of(cut(&verdict, style.width), Tone::Strong));
    if !shown.is_empty() {
        lines.extend(Table { columns: short_columns(need, &shown, style), ..Table::default() }.lay_out(style).lines);
    }
    if slow > 0 {
        let last = if slow == 1 { "the last one misses".into() } else { format!("the last {slow} miss") };
        lines.push(Line::plain(format!("{last} the objective as far as is known, and would suffice otherwise")));
    }
    let all = "all: plimsoll match";
    lines.push(match near.first() {
        Some(one) => Line::plain(format!("{}; {all}", nearest(one))),
        None => Line::plain(all),
    });
    let provenance = "response times are simulated, ceilings and prices from documents: none of it was measured";
    lines.push(Line::of(provenance, Tone::Quiet));
    lines.into_iter().map(|line| line.cut(style.width)).collect()
}

/// The configurations are cut where they are too long: they come last.
fn short_columns(need: &Need, carries: &[Carries], style: &TextStyle) -> Vec<Column> {
    let column = |name: &'static str, align, cells| Column { name: name.into(), unit: "", align, expendable: 0, cells };
    let each = |of: &dyn Fn(&Carries) -> String| carries.iter().map(of).collect::<Vec<String>>();
    let room = |one: &Carries| headroom(one.binds.as_ref().map(|(_, iops)| *iops), need.iops);
    let prices: Vec<_> = carries.iter().map(|one| one.price.as_ref().map(|price| price.monthly)).collect();
    let mut columns = vec![
        column("a month", Align::Kept, money::column(&prices)),
        column("simulated", Align::Kept, each(&|one| format!("{} {}", need.objective.bounded(), one.reached))),
        column("room", Align::Point, each(&room)),
    ];
    let left = style.width.saturating_sub(columns.iter().map(|column| column.width() + 2).sum());
    columns.push(column("configuration", Align::Kept, each(&|one| cut(&offer::configuration(&one.offer), left))));
    columns
}
