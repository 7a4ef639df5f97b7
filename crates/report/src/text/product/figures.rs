//! The sections of a product's page that hold figures: tiers, limits, prices, model.

use plimsoll_catalogue::{Access, Kinds, LimitView, Often, OptionValue, PartView, Product};

use super::Section;
use super::sources::Sources;
use crate::text::TextStyle;
use crate::text::paint::{Line, cut};

/// Machines that are named; the others are counted.
const MACHINES: usize = 20;

/// Rows by name, aligned; a row wider than the page is cut.
pub(super) fn tiers(product: &Product, style: &TextStyle) -> Vec<Line> {
    let Some((columns, rows)) = product.tier_table() else { return Vec::new() };
    let mut section = Section::new("Tiers", style);
    let all: Vec<&Vec<String>> = std::iter::once(&columns).chain(&rows).collect();
    let width = |column: usize| all.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    for row in all {
        let cell = |(index, cell): (usize, &String)| match index {
            0 => format!("{cell:<width$}", width = widths[0]),
            _ => format!("{cell:>width$}", width = widths[index]),
        };
        let cells: Vec<String> = row.iter().enumerate().map(cell).collect();
        section.lines.push(Line::plain(cut(&format!("  {}", cells.join("  ")), style.width)));
    }
    section.done()
}

pub(super) fn limits(product: &Product, sources: &mut Sources, style: &TextStyle) -> Vec<Line> {
    let mut section = Section::new("Limits", style);
    for limit in product.limits() {
        section.entry(&format!("{} {}", ceiling(&limit), sources.mark(&limit.cite)));
        section.remark(&limit.cite.note);
    }
    section.done()
}

/// A limit in a sentence: what it counts, when it holds, what raises it.
fn ceiling(limit: &LimitView) -> String {
    let mut parts = vec![format!("{} ({}): {}", limit.name, limit.scope.name(), rates(limit))];
    match limit.kinds {
        Kinds::All => {}
        Kinds::Read => parts.push("reads only".into()),
        Kinds::Write => parts.push("writes only".into()),
    }
    match limit.access {
        Access::Any => {}
        Access::Sequential => parts.push("sequential only".into()),
        Access::Random => parts.push("random only".into()),
    }
    parts.extend(limit.unit.map(|unit| format!("one for each {unit}")));
    let said = |word: &str, text: &str| (!text.is_empty()).then(|| format!("{word}{text}"));
    parts.extend(said("burst credits ", &limit.credits).map(|text| format!("{text} operations")));
    parts.extend(said("burst credits ", &limit.credit_bytes).map(|text| format!("{text} bytes")));
    parts.extend(limit.burst.then(|| "the peak while credits last".to_owned()));
    parts.extend(said("when ", &limit.when));
    parts.extend(said("", &limit.validity));
    parts.extend(limit.in_model.then(|| "held by the model".to_owned()));
    parts.extend(said("raised by ", &limit.lift.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")));
    parts.join("; ")
}

fn rates(limit: &LimitView) -> String {
    let rate = |text: &str, unit: &str| (!text.is_empty()).then(|| format!("{text} {unit}"));
    let both = [rate(&limit.iops, "IOPS"), rate(&limit.bytes, "bytes/s")];
    both.into_iter().flatten().collect::<Vec<_>>().join(" and ")
}

pub(super) fn latency(product: &Product, sources: &mut Sources, style: &TextStyle) -> Vec<Line> {
    let mut section = Section::new("Latency, in the vendor's words", style);
    for latency in product.latency() {
        section.entry(&format!("\"{}\" {}", latency.text, sources.mark(&latency.cite)));
        section.remark(&latency.cite.note);
    }
    section.done()
}

pub(super) fn rules(product: &Product, sources: &mut Sources, style: &TextStyle) -> Vec<Line> {
    let mut section = Section::new("Rules", style);
    for rule in product.rules() {
        section.entry(&format!("{}: {} {}", rule.message, rule.require, sources.mark(&rule.cite)));
        section.remark(&rule.cite.note);
    }
    section.done()
}

pub(super) fn prices(product: &Product, sources: &mut Sources, style: &TextStyle) -> Vec<Line> {
    let mut section = Section::new("Prices", style);
    for list in product.price_views() {
        section.entry(&format!("{} {}", list.list, sources.mark(&list.cite)));
        section.remark(&list.taxes);
        section.remark(&list.cite.note);
        for one in &list.parts {
            let other = one.cite != list.cite;
            let mark = if other { format!(" {}", sources.mark(&one.cite)) } else { String::new() };
            section.entry(&format!("- {}{mark}", part(one)));
            section.remark(if other { &one.cite.note } else { "" });
        }
    }
    section.done()
}

/// `storage: 0.08 for each GiB-month of size`.
fn part(part: &PartView) -> String {
    let of = if part.quantity.is_empty() { String::new() } else { format!(" of {}", part.quantity) };
    let when = if part.when.is_empty() { String::new() } else { format!(", when {}", part.when) };
    let once = if part.often == Often::Once { ", once" } else { "" };
    format!("{}: {} for each {}{of}{when}{once}", part.name, part.amount, part.per)
}

pub(super) fn model(product: &Product, sources: &mut Sources, style: &TextStyle) -> Vec<Line> {
    let mut section = Section::new("Model: when it answers, after its limits", style);
    if let Some(model) = product.model_view() {
        section.entry(&format!("{} {}", model.stages, sources.mark(&model.cite)));
        section.remark(&model.cite.note);
        model.doubts.iter().for_each(|doubt| section.entry(&format!("doubt: {doubt}")));
    }
    section.done()
}

pub(super) fn named(product: &Product, sources: &mut Sources, style: &TextStyle) -> Vec<Line> {
    let mut section = Section::new("Figures", style);
    for figure in product.figures() {
        section.entry(&format!("{} = {} {} {}", figure.name, figure.value, figure.unit, sources.mark(&figure.cite)));
        section.remark(&figure.cite.note);
    }
    section.done()
}

pub(super) fn autotune(product: &Product, sources: &mut Sources, style: &TextStyle) -> Vec<Line> {
    let mut section = Section::new("What the service does by itself", style);
    for autotune in product.autotune() {
        let one = |(name, value): &(String, OptionValue)| match value {
            OptionValue::Number(number) => format!("{name} = {number}"),
            OptionValue::Text(text) => format!("{name} = {text}"),
        };
        let parameters: Vec<String> = autotune.parameters.iter().map(one).collect();
        section.entry(&format!("{}: {} {}", autotune.name, parameters.join(", "), sources.mark(&autotune.cite)));
        section.remark(&autotune.cite.note);
    }
    section.done()
}

pub(super) fn machines(product: &Product, style: &TextStyle) -> Vec<Line> {
    let mut section = Section::new("Machines", style);
    let names: Vec<String> = product.machines().collect();
    let more = names.len().saturating_sub(MACHINES);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    if !names.is_empty() {
        section.entry(&format!("{}{rest}", names[..names.len() - more].join(", ")));
    }
    section.done()
}

pub(super) fn warnings(product: &Product, sources: &mut Sources, style: &TextStyle) -> Vec<Line> {
    let mut section = Section::new("Where the documents disagree", style);
    for warning in product.warnings() {
        section.entry(&format!("{} {}", warning.text, sources.mark(&warning.cite)));
        section.remark(&warning.cite.note);
    }
    section.done()
}
