//! What to buy for a demand: how the design point came about, what carries it, the cheapest first, and what does not.

use plimsoll_choose::sizing::{Choice, ClassLatency, Sizing, Wanted};

use super::TextStyle;
use super::configurations;
use super::grid;
use super::paint::{INDENT, Line, Tone, hanging, wrap};
use super::table::{Align, Column, Table};
use crate::words::{clean, offer, sizing as words};
use crate::{money, number};

/// Doubts that are shown of the first choice.
const DOUBTS: usize = 6;
/// Choices that miss the objective and products that do not carry it, where not all are asked for.
const FEW: usize = 8;

/// All parts; at most so many choices.
pub(super) fn parts(sizing: &Sizing, most: usize, style: &TextStyle) -> Vec<Vec<Line>> {
    let wanted = &sizing.wanted;
    vec![
        head(wanted, style),
        verdict(sizing, style),
        table(wanted, &sizing.choices, most, style),
        first(sizing.choices.first(), style),
        nearly(sizing, most, style),
        rejected(sizing, most, style),
        figures(sizing, style),
    ]
}

/// From what was measured to what is asked of ceilings.
fn head(wanted: &Wanted, style: &TextStyle) -> Vec<Line> {
    let title = if wanted.subject.is_empty() { "Demand" } else { &wanted.subject };
    let mut facts = vec![("measured", words::measured(wanted))];
    facts.extend(
        wanted.steps.iter().map(|step| (if step.what == "growth" { "growth" } else { "peaks" }, words::step(step))),
    );
    for point in &wanted.points {
        let of = if wanted.points.len() > 1 { format!(", with {}", words::busiest(point.of)) } else { String::new() };
        facts.push(("expected", format!("{}{of}", words::point(point))));
    }
    facts.push(("design", format!("ceilings have to allow {} times that", number::three(wanted.room()))));
    facts.push(("keeps", offer::capacity(wanted.capacity)));
    facts.extend(wanted.objective.map(|objective| ("meets", objective.to_string())));
    facts.extend(wanted.assumptions.iter().map(|text| ("assumed", text.clone())));
    grid::facts(title, &facts, style)
}

fn strong(text: &str, style: &TextStyle) -> Vec<Line> {
    wrap(text, style.width).into_iter().map(|line| Line::of(line, Tone::Strong)).collect()
}

fn verdict(sizing: &Sizing, style: &TextStyle) -> Vec<Line> {
    let looked = number::whole(sizing.looked_at as f64);
    let objective = sizing.wanted.objective;
    let meets = objective.map_or_else(String::new, |objective| format!(" at {objective}"));
    if sizing.choices.is_empty() {
        let near = sizing.nearly.iter().filter_map(|choice| choice.reached).min();
        let near = near.map_or_else(String::new, |near| {
            let bounded = objective.map(|objective| objective.bounded()).unwrap_or_default();
            format!(": the nearest has {bounded} {near}, so a looser objective would find it")
        });
        let nothing = format!("Of {looked} configurations none was found that carries it{meets}{near}");
        return strong(&nothing, style);
    }
    strong(&format!("Of {looked} configurations, the cheapest of each product that carries it{meets}"), style)
}

fn table(wanted: &Wanted, choices: &[Choice], most: usize, style: &TextStyle) -> Vec<Line> {
    if choices.is_empty() {
        return Vec::new();
    }
    let shown = &choices[..choices.len().min(most)];
    let unpriced = shown.iter().position(|choice| choice.price.is_none());
    let groups = unpriced.map(|row| (row, "no price in the catalogue under these terms:".to_owned()));
    let table = Table { columns: columns(wanted, shown), groups: groups.into_iter().collect(), strong: None };
    let names = shown.iter().map(|choice| offer::configuration(&choice.offer)).collect();
    let laid = configurations::lay_out(table, names, style);
    let left_out = configurations::left_out(&laid);
    let mut lines = laid.lines;
    lines.extend(left_out.iter().flat_map(|text| configurations::note(text, style)));
    if choices.len() > most {
        let more = format!("and {} dearer ones: --most shows more", choices.len() - most);
        lines.extend(configurations::note(&more, style));
    }
    lines
}

fn columns(wanted: &Wanted, choices: &[Choice]) -> Vec<Column> {
    let column = |name, unit, align, expendable, of: &dyn Fn(&Choice) -> String| Column {
        name,
        unit,
        align,
        expendable,
        cells: choices.iter().map(of).collect(),
    };
    let none = || "–".to_owned();
    let price =
        money::column(&choices.iter().map(|one| one.price.as_ref().map(|price| price.monthly)).collect::<Vec<_>>());
    let room = |one: &Choice| one.binds.as_ref().map_or_else(none, |limit| words::room(limit.over));
    let reached = |one: &Choice| one.reached.map_or_else(none, |reached| reached.to_string());
    let reads = |one: &Choice| read(one).map_or_else(none, |class| class.mean.to_string());
    let binds = |one: &Choice| configurations::limit(one.binds.as_ref().map(|limit| &*limit.name));
    let next = |one: &Choice| configurations::limit(one.next.as_ref().map(|limit| &*limit.name));
    let mut columns = vec![
        Column { cells: price, ..column("price", "a month", Align::Left, 0, &|_| String::new()) },
        column("room", "above", Align::Point, 0, &room),
    ];
    if wanted.objective.is_some() {
        columns.push(column("reached", "simulated", Align::Left, 0, &reached));
    }
    columns.push(column("reads", "mean", Align::Left, 3, &reads));
    columns.push(column("binds", "first", Align::Left, 1, &binds));
    columns.push(column("then", "", Align::Left, 4, &next));
    columns
}

/// The reads with the most operations, or what there is.
fn read(choice: &Choice) -> Option<&ClassLatency> {
    choice.latency.iter().find(|one| one.class.name().contains("reads")).or(choice.latency.first())
}

/// The cheapest in full.
fn first(choice: Option<&Choice>, style: &TextStyle) -> Vec<Line> {
    let Some(choice) = choice else { return Vec::new() };
    let name = offer::configuration(&choice.offer);
    let mut lines: Vec<Line> = strong(&name, style);
    let mut tell = |word: &str, tone, text: &str| lines.extend(hanging(word, tone, wrap(text, style.width - INDENT)));
    tell("limits", Tone::Quiet, &words::reason(choice));
    let latencies: Vec<String> = choice.latency.iter().map(latency).collect();
    if !latencies.is_empty() {
        tell("answers", Tone::Quiet, &format!("{} (simulated at the expected load)", latencies.join("; ")));
    }
    if let Some(peak) = &choice.peak {
        let (iops, lasts) = (number::rate(peak.bound.iops), offer::lasting(peak.seconds));
        tell("burst", Tone::Quiet, &format!("{iops} IOPS for {lasts} while credits last: it is sized without them"));
    }
    if let Some(machines) = &choice.machines {
        let least = machines.least.join(", ");
        let names = if least.is_empty() { String::new() } else { format!("; the least: {least}") };
        let text = format!("{} of {} that the catalogue knows let it through{names}", machines.enough, machines.of);
        tell("machines", Tone::Quiet, &clean(&text));
    }
    if let Some(price) = &choice.price {
        tell("price", Tone::Quiet, &format!("{} a month, {}", price.monthly, offer::cite(&price.cite)));
    }
    for risk in choice.risks.iter().take(DOUBTS) {
        tell("doubt", Tone::Yellow, &clean(&risk.text));
    }
    if choice.risks.len() > DOUBTS {
        tell("", Tone::Quiet, &format!("and {} doubts more: --json has all", choice.risks.len() - DOUBTS));
    }
    lines
}

/// `random reads 1.2 ms (p99 3.4 ms)`.
fn latency(one: &ClassLatency) -> String {
    let p99 = one.p99.map_or_else(String::new, |p99| format!(" (p99 {p99})"));
    format!("{} {}{p99}", one.class.name(), one.mean)
}

fn nearly(sizing: &Sizing, most: usize, style: &TextStyle) -> Vec<Line> {
    if sizing.nearly.is_empty() {
        return Vec::new();
    }
    let words = "Their ceilings suffice, and their response times as simulated miss the objective; few vendors publish \
                 one, so measure before you rule them out";
    let mut lines: Vec<Line> = wrap(words, style.width).into_iter().map(Line::plain).collect();
    lines.extend(table(&sizing.wanted, &sizing.nearly, most.min(FEW), style));
    lines
}

fn rejected(sizing: &Sizing, most: usize, style: &TextStyle) -> Vec<Line> {
    if sizing.rejected.is_empty() {
        return Vec::new();
    }
    let mut lines = strong(&format!("Does not carry it, the nearest first: {}", sizing.rejected.len()), style);
    let shown = most.max(FEW);
    for one in sizing.rejected.iter().take(shown) {
        let text = format!("{}: {}", clean(&one.name), words::why(&one.why));
        let hanging = wrap(&text, style.width - 2).into_iter().enumerate();
        lines.extend(hanging.map(|(index, line)| Line::plain(format!("{}{line}", if index == 0 { "" } else { "  " }))));
    }
    if sizing.rejected.len() > shown {
        lines.extend(configurations::note(&format!("and {} more", sizing.rejected.len() - shown), style));
    }
    lines
}

/// What the figures are.
fn figures(sizing: &Sizing, style: &TextStyle) -> Vec<Line> {
    let shown = || sizing.choices.iter().chain(&sizing.nearly);
    let of_limits = shown().flat_map(|choice| {
        let binds = choice.binds.iter();
        binds.filter_map(|limit| choice.offer.ceilings.iter().find(|ceiling| ceiling.name == limit.name))
    });
    let mut used: Vec<_> = of_limits.map(|ceiling| ceiling.cite.status).collect();
    used.extend(shown().filter_map(|choice| choice.price.as_ref()).map(|price| price.cite.status));
    let text = format!(
        "room is what the limit that binds first allows above the design point; response times are simulated by the \
         catalogue's models; ceilings and list prices are {}",
        offer::provenance(used)
    );
    hanging("figures", Tone::Quiet, wrap(&text, style.width - INDENT)).collect()
}
