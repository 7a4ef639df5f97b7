//! Which products would carry a load, the cheapest first; what is nearest to the measured one; what would not, and why.

mod rejected;
mod resembling;

use plimsoll_catalogue::{Ceiling, Status};
use plimsoll_choose::{Carries, Matches, Need, Resemblance};
use plimsoll_record::Objective;

use super::TextStyle;
use super::configurations;
use super::paint::{INDENT, Line, Tone, cut, hanging, wrap};
use super::table::{Align, Column, Table};
use crate::words::{self, clean, offer};
use crate::{money, number};

/// How much is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// At most eight lines, each cut to the width: the end of another report.
    Short,
    /// Every product that carries the load; of those that do not, a few for each reason.
    #[default]
    Normal,
    /// Everything, a line of its own for each product that does not carry the load.
    All,
}

/// The short form shows so many products that carry the load.
const SHOWN: usize = 3;
/// Doubts that are shown where not all are.
const DOUBTS: usize = 5;

/// All parts, or the short form as one.
pub(super) fn parts(
    need: &Need,
    matches: &Matches,
    near: &[Resemblance],
    detail: Detail,
    style: &TextStyle,
) -> Vec<Vec<Line>> {
    if detail == Detail::Short {
        return vec![short(need, matches, near, style)];
    }
    vec![
        headline(need, matches, style),
        table(need, &matches.carries, style),
        nearly(need, matches, style),
        resembling::lines(near, style),
        rejected::lines(&matches.rejected, detail, style),
        place(matches, detail, style),
    ]
}

fn asked(need: &Need) -> String {
    format!("{} IOPS at {}", number::three(need.iops), need.objective)
}

fn headline(need: &Need, matches: &Matches, style: &TextStyle) -> Vec<Line> {
    let asked = asked(need);
    let verdict = if matches.carries.is_empty() {
        "No product of the catalogue was found that would carry this load line at this objective"
    } else {
        "Products that would carry this load line at this objective, cheapest first"
    };
    let mut lines: Vec<Line> =
        wrap(verdict, style.width).into_iter().map(|line| Line::of(line, Tone::Strong)).collect();
    let streams = need.streams.iter().map(words::stream).collect::<Vec<_>>().join("; ");
    let capacity = Some(need.capacity).filter(|capacity| capacity.get() > 0);
    let keeps = capacity.map(|capacity| format!("; room for {}", offer::capacity(capacity))).unwrap_or_default();
    lines.extend(wrap(&format!("{asked}: {streams}{keeps}"), style.width).into_iter().map(Line::plain));
    lines
}

fn table(need: &Need, carries: &[Carries], style: &TextStyle) -> Vec<Line> {
    if carries.is_empty() {
        return Vec::new();
    }
    let unpriced = carries.iter().position(|one| one.price.is_none());
    let groups = unpriced.map(|row| (row, "no price in the catalogue under these terms:".to_owned()));
    let table = Table { columns: columns(need, carries), groups: groups.into_iter().collect(), strong: None };
    let names = carries.iter().map(|one| offer::configuration(&one.offer)).collect();
    let laid = configurations::lay_out(table, names, style);
    let left_out = configurations::left_out(&laid);
    let mut lines = laid.lines;
    lines.extend(left_out.iter().flat_map(|text| configurations::note(text, style)));
    lines
}

/// What has a price and ceilings enough, and is too slow as far as anybody knows.
fn nearly(need: &Need, matches: &Matches, style: &TextStyle) -> Vec<Line> {
    if matches.nearly.is_empty() {
        return Vec::new();
    }
    let words = "Their ceilings suffice, and their response times as simulated miss the objective; few vendors publish \
                 one, so measure before you rule them out";
    let mut lines: Vec<Line> = wrap(words, style.width).into_iter().map(Line::plain).collect();
    lines.extend(table(need, &matches.nearly, style));
    lines
}

fn columns(need: &Need, carries: &[Carries]) -> Vec<Column> {
    let column = |name, unit, align, expendable, of: &dyn Fn(&Carries) -> String| Column {
        name,
        unit,
        align,
        expendable,
        cells: carries.iter().map(of).collect(),
    };
    let allowed = |one: &Carries| one.binds.as_ref().map(|(_, iops)| *iops);
    let name = |one: &Carries| configurations::limit(one.binds.as_ref().map(|(name, _)| name.as_str()));
    let status = |one: &Carries| binding(one).map_or("–".into(), |ceiling| ceiling.cite.status.name().into());
    vec![
        Column { cells: prices(carries), ..column("price", "a month", Align::Left, 0, &|_| String::new()) },
        column("ceiling", "IOPS", Align::Point, 0, &|one| allowed(one).map_or("–".into(), number::rate)),
        column("room", "above it", Align::Point, 1, &|one| headroom(allowed(one), need.iops)),
        column("reached", "simulated", Align::Left, 0, &|one| reached(&need.objective, one)),
        column("binds", "", Align::Left, 0, &name),
        column("status", "of the limit", Align::Left, 2, &status),
    ]
}

fn prices(carries: &[Carries]) -> Vec<String> {
    money::column(&carries.iter().map(|one| one.price.as_ref().map(|price| price.monthly)).collect::<Vec<_>>())
}

/// `p99 0.82 ms`.
fn reached(objective: &Objective, one: &Carries) -> String {
    format!("{} {}", objective.bounded(), one.reached)
}

/// How much more a ceiling allows than is needed: `+40 %`, and from double on `x 2.5`.
pub(super) fn headroom(allowed: Option<f64>, needed: f64) -> String {
    match allowed.map(|allowed| allowed / needed).filter(|times| times.is_finite()) {
        None => "–".into(),
        Some(times) if times >= 2.0 => format!("x {}", number::three(times)),
        Some(times) => format!("{:+.0} %", (times - 1.0) * 100.0),
    }
}

/// The ceiling that binds: found by its name, as that is what a match keeps.
fn binding(one: &Carries) -> Option<&Ceiling> {
    let (name, _) = one.binds.as_ref()?;
    one.offer.ceilings.iter().find(|ceiling| *ceiling.name == **name)
}

/// What the products that would carry the load need and what is doubtful of them, and what the figures are.
fn place(matches: &Matches, detail: Detail, style: &TextStyle) -> Vec<Line> {
    let offered = || matches.carries.iter().chain(&matches.nearly);
    let needs = by_product(offered(), |one| one.offer.needs().iter().map(ToString::to_string).collect());
    let doubts = by_product(offered(), |one| one.offer.doubts().into_iter().map(|doubt| doubt.text).collect());
    let most = if detail == Detail::All { doubts.len() } else { DOUBTS };
    let mut lines = Vec::new();
    let mut add = |name: &str, tone, text: &str| lines.extend(hanging(name, tone, wrap(text, style.width - INDENT)));
    for (text, products) in &needs {
        add("needs", Tone::Yellow, &clean(&format!("{text}: {}", rejected::first(products))));
    }
    for (text, products) in doubts.iter().take(most) {
        add("doubt", Tone::Yellow, &clean(&format!("{text}: {}", rejected::first(products))));
    }
    if doubts.len() > most {
        add("", Tone::Quiet, &format!("and {} doubts more", doubts.len() - most));
    }
    let mut used: Vec<Status> = offered().filter_map(binding).map(|ceiling| ceiling.cite.status).collect();
    used.extend(offered().filter_map(|one| one.price.as_ref()).map(|price| price.cite.status));
    let figures = format!(
        "response times are simulated by the catalogue's models; ceilings and prices are {}",
        offer::provenance(used)
    );
    add("figures", Tone::Quiet, &figures);
    lines
}

/// Each sentence with the products that it is about; what is true of most comes first.
fn by_product<'a>(
    carries: impl Iterator<Item = &'a Carries>,
    sentences: impl Fn(&Carries) -> Vec<String>,
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

/// At most eight lines: the cheapest that carry it, and where few of those have a price, what nearly does.
fn short(need: &Need, matches: &Matches, near: &[Resemblance], style: &TextStyle) -> Vec<Line> {
    let asked = asked(need);
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
        Some(nearest) => Line::plain(format!("{}; {all}", resembling::sentence(nearest))),
        None => Line::plain(all),
    });
    let provenance = "response times are simulated, ceilings and prices from documents: none of it was measured";
    lines.push(Line::of(provenance, Tone::Quiet));
    lines.into_iter().map(|line| line.cut(style.width)).collect()
}

/// The configurations are cut where they are too long: they come last.
fn short_columns(need: &Need, carries: &[Carries], style: &TextStyle) -> Vec<Column> {
    let column = |name, align, cells| Column { name, unit: "", align, expendable: 0, cells };
    let each = |of: &dyn Fn(&Carries) -> String| carries.iter().map(of).collect::<Vec<String>>();
    let room = |one: &Carries| headroom(one.binds.as_ref().map(|(_, iops)| *iops), need.iops);
    let mut columns = vec![
        column("a month", Align::Left, prices(carries)),
        column("simulated", Align::Left, each(&|one| reached(&need.objective, one))),
        column("room", Align::Point, each(&room)),
    ];
    let left = style.width.saturating_sub(columns.iter().map(|column| column.width() + 2).sum());
    columns.push(column("configuration", Align::Left, each(&|one| cut(&offer::configuration(&one.offer), left))));
    columns
}
