//! A run compared with the theoretical figures of a configuration by load, and likely causes of differences.

use plimsoll_catalogue::Status;
use plimsoll_choose::{Cause, Explanation, LoadComparison};
use plimsoll_language::{label, say};

use super::limit;
use crate::latency::LatencyUnit;
use crate::number;
use crate::page::{Block, Cell, Column, ColumnKind, Fact, Headline, Item, Page, PageSection, Table};
use crate::words::{cause as format_cause, difference, offer as words, offered, product_text};

/// Compares a run with theory: highest rates, every load, and causes.
pub fn explanation(explanation: &Explanation) -> Page {
    let offer = &explanation.offer;
    let mut details = vec![offer.config.to_string()];
    let max = |of: fn(&LoadComparison) -> f64| explanation.rows.iter().map(of).fold(0.0, f64::max);
    let (measured, theory) = (max(|row| row.iops.0), max(|row| row.iops.1));
    let mut text = say!("Measured against theory: {}", product_text(&offer.title));
    if let Some(ratio) = format_share(measured, theory) {
        let (measured, theory) = (number::three(measured), number::three(theory));
        details.push(std::mem::take(&mut text));
        let is_offered = explanation.causes.iter().any(|cause| matches!(cause, Cause::OfferedRate { .. }));
        text = if is_offered {
            say!("Highest load: {measured} IOPS, as many as were offered; the maximum was not measured")
        } else {
            say!("Maximum throughput: {measured} IOPS measured, {theory} in theory ({ratio})")
        };
    }
    if let Some(binding) = explanation.standing.binding() {
        let status = words::status_name(offer.ceilings[binding.ceiling].cite.status);
        details.push(say!("Ceiling: {} ({status}).", words::bound(offer, binding)));
    }
    details.extend(offer.model_fit().map(|fit| say!("Theory: {}.", fit.words())));
    details.extend(explanation.extrapolated.as_ref().map(|what| say!("Theory: {what}.")));
    let cause = |cause: &Cause| Fact::new(label!("Cause"), difference(cause)).with_remark(format_cause(cause));
    let mut figures = vec![Fact::new(label!("Theory"), words::readable_name(offer))];
    figures.extend(explanation.causes.iter().map(cause));
    let sections = vec![
        PageSection::bare(label!("Load by load"), vec![Block::Table(table(&explanation.rows))]),
        causes(explanation),
        PageSection::bare(label!("Sources"), vec![Block::Facts(sources(explanation))]),
    ];
    let headline = Headline { text, grade: label!("measured against simulated"), details, ..Headline::default() };
    let title = label!("Measured against theory").to_owned();
    Page { title, headline: Some(headline), figures, sections, ..Page::default() }
}

fn table(rows: &[LoadComparison]) -> Table {
    let unit = choose_unit(rows);
    let (mean, p99) = match unit {
        LatencyUnit::Micro => (label!("mean us"), label!("p99 us")),
        LatencyUnit::Milli => (label!("mean ms"), label!("p99 ms")),
    };
    // The latency of an overload depends on the length of the run.
    let time = |overloaded: bool, ns: f64| match ns {
        _ if overloaded => Cell::text(label!("grew")),
        ns if ns > 0.0 && ns.is_finite() => Cell::figure(unit.show(ns), unit.value(ns)),
        _ => Cell::unknown(),
    };
    let ratios = label!("ratio: measured over theory in IOPS; for open loads, theory over measured in mean latency");
    Table::rows(label!("Loads"), rows)
        .column(Column::text(label!("offered"), 0), |row| offered(&row.offered))
        .column(Column::rate("IOPS", label!("measured"), 0), |row| rate(row.iops.0))
        .column(Column::rate("IOPS", label!("theory"), 0), |row| rate(row.iops.1))
        .column(Column::rate(label!("ratio"), "", 0), |row| ratio_cell(row))
        .column(Column::time(mean, label!("measured"), 2), |row| time(row.overloaded.0, row.mean_ns.0))
        .column(Column::time(mean, label!("theory"), 2), |row| time(row.overloaded.1, row.mean_ns.1))
        .column(Column::time(p99, label!("measured"), 3), |row| time(row.overloaded.0, row.p99_ns.0))
        .column(Column::time(p99, label!("theory"), 3), |row| time(row.overloaded.1, row.p99_ns.1))
        .column(Column::new(label!("limit"), label!("in theory"), ColumnKind::Text, 4), |row| {
            limit(row.binds.as_deref())
        })
        .table()
        .with_notes(describe_binding(rows).into_iter().chain([ratios.to_owned()]))
}

fn rate(iops: f64) -> Cell {
    if iops > 0.0 { Cell::rate(iops) } else { Cell::unknown() }
}

/// Binding limits in theory, with the ranges of loads.
fn describe_binding(rows: &[LoadComparison]) -> Option<String> {
    let mut spells: Vec<(&str, &LoadComparison, &LoadComparison)> = Vec::new();
    for row in rows {
        let Some(name) = row.binds.as_deref() else { continue };
        match spells.last_mut() {
            Some((same, _, last)) if *same == name => *last = row,
            _ => spells.push((name, row, row)),
        }
    }
    let spell = |(name, from, to): &(&str, &LoadComparison, &LoadComparison)| {
        let (from, to) = (offered(&from.offered), offered(&to.offered));
        let loads = if from == to { from } else { say!("{from} to {to}") };
        say!("{} ({loads})", product_text(name))
    };
    let spells: Vec<String> = spells.iter().map(spell).collect();
    (!spells.is_empty()).then(|| say!("limits in theory: {}", spells.join(label!("; "))))
}

/// Microseconds if any mean is below a millisecond.
fn choose_unit(rows: &[LoadComparison]) -> LatencyUnit {
    let means = rows.iter().flat_map(|row| [row.mean_ns.0, row.mean_ns.1]).filter(|ns| *ns > 0.0);
    if means.fold(f64::INFINITY, f64::min) < 1e6 { LatencyUnit::Micro } else { LatencyUnit::Milli }
}

/// Ratio of measured to theoretical figures; unknown for overloaded runs.
fn ratio_cell(row: &LoadComparison) -> Cell {
    let ratio = row.ratio();
    let sound = ratio.is_finite() && row.overloaded == (false, false);
    if sound { Cell::figure(format!("{ratio:.2}"), ratio) } else { Cell::unknown() }
}

fn format_share(measured: f64, theory: f64) -> Option<String> {
    let share = measured / theory;
    let text = if share > 2.0 {
        say!("{} times the theoretical maximum", number::three(share))
    } else {
        say!("{:.0} % of the theoretical maximum", share * 100.0)
    };
    share.is_finite().then_some(text)
}

fn causes(explanation: &Explanation) -> PageSection {
    if explanation.causes.is_empty() {
        return PageSection::bare(label!("Causes"), vec![Block::Text(label!("Causes: none identified").to_owned())]);
    }
    let items =
        explanation.causes.iter().map(|cause| Item::new(difference(cause), [format!("-> {}", format_cause(cause))]));
    PageSection::new(label!("Likely causes"), vec![Block::Items(items.collect())])
}

fn sources(explanation: &Explanation) -> Vec<Fact> {
    let mut facts: Vec<Fact> =
        explanation.offer.doubts().into_iter().map(|doubt| Fact::caution(label!("doubt"), doubt.text)).collect();
    let binding = explanation.standing.binding().map(|bound| &explanation.offer.ceilings[bound.ceiling]);
    facts.extend(binding.map(|ceiling| Fact::new(label!("ceiling"), words::cite(&ceiling.cite))));
    let used: Vec<Status> = binding.iter().map(|ceiling| ceiling.cite.status).collect();
    let theory = say!("simulated by the catalogue's model; its figures are {}", words::provenance(used));
    facts.push(Fact::new(label!("theory"), theory));
    facts
}
