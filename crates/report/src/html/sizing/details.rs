//! Each choice in full: limits, answers, what becomes of the database's time, doubts; and the documents behind it all.

use std::collections::BTreeMap;
use std::sync::Arc;

use maud::{Markup, html};
use plimsoll_catalogue::Cite;
use plimsoll_choose::diagnosis::DatabaseEffect;
use plimsoll_choose::sizing::{Choice, Limit, Risk};

use super::super::grid::{Head, Row, table};
use super::{Sized, saved};
use crate::chart::{sentence, typeset};
use crate::number;
use crate::text::{Cells, NONE};
use crate::words::{clean, offer, sizing as words};

/// The place of a choice, by its rank from 0.
pub(super) fn id(rank: usize) -> String {
    format!("choice-{}", rank + 1)
}

/// All choices that are shown, one after the other.
pub(super) fn section(sized: &Sized<'_>) -> Markup {
    let choices = sized.choices();
    html! {
        @if !choices.is_empty() {
            section {
                h2 { "Each choice in full" }
                @for (rank, choice) in choices.iter().enumerate() {
                    section id=(id(rank)) {
                        h3 { (rank + 1) ". " (offer::configuration(&choice.offer)) }
                        (about(choice))
                        (answers(choice, sized.effect(choice).as_ref()))
                        (risks(&choice.risks))
                    }
                }
            }
        }
    }
}

fn about(choice: &Choice) -> Markup {
    let limit = |limit: &Limit| typeset(&format!("{}, {}", words::limit(limit), words::beside(limit.over)));
    let machines = choice.machines.as_ref().map(|machines| {
        let least = machines.least.join(", ");
        let names = if least.is_empty() { String::new() } else { format!("; the least: {least}") };
        clean(&format!("{} of {} that the catalogue knows let it through{names}", machines.enough, machines.of))
    });
    html! {
        dl class="about" {
            @if let Some(binds) = &choice.binds { dt { "Binds first" } dd { (limit(binds)) } }
            @if let Some(next) = &choice.next { dt { "Then" } dd { (limit(next)) } }
            @if let Some(price) = &choice.price {
                dt { "Price" } dd { (price.monthly.to_string()) " a month: " (typeset(&offer::cite(&price.cite))) }
                @if !price.taxes.is_empty() { dt { "Taxes" } dd { (clean(&price.taxes)) } }
                @if !price.without.is_empty() { dt { "Not in the price" } dd { (clean(&price.without.join(", "))) } }
            }
            @if let Some(peak) = &choice.peak {
                dt { "Burst" }
                dd { (typeset(&format!("{} IOPS for {} while credits last: it is sized without them",
                    number::rate(peak.bound.iops), offer::lasting(peak.seconds)))) }
            }
            @if let Some(machines) = &machines { dt { "Machines" } dd { (machines) } }
        }
    }
}

/// Latency by class, and what each makes of the database's time.
fn answers(choice: &Choice, effect: Option<&DatabaseEffect>) -> Markup {
    const HEADS: [Head; 5] = [
        Head("simulated at the expected load", "", Cells::Words),
        Head("mean", "", Cells::Figures),
        Head("p99", "", Cells::Figures),
        Head("sessions wait now", "s", Cells::Figures),
        Head("then", "s", Cells::Figures),
    ];
    let row = |one: &plimsoll_choose::sizing::ClassLatency| {
        let part = effect.and_then(|effect| effect.parts.iter().find(|part| part.class == one.class));
        let seconds = |value: Option<f64>| value.map_or(NONE.to_owned(), number::three);
        let texts = [
            one.class.name().to_owned(),
            one.mean.to_string(),
            one.p99.map_or(NONE.to_owned(), |p99| p99.to_string()),
            seconds(part.map(|part| part.before_s)),
            seconds(part.map(|part| part.after_s)),
        ];
        Row { id: None, cells: texts.iter().map(|text| html! { (typeset(text)) }).collect() }
    };
    let rows: Vec<Row> = choice.latency.iter().map(row).collect();
    let heads = if effect.is_some() { &HEADS[..] } else { &HEADS[..3] };
    html! {
        (table("Response times by class", heads, &rows))
        @if let Some(effect) = effect {
            p class="lead" {
                "Database time: " (typeset(&saved(effect))) ", " (typeset(&number::three(effect.before_s))) " s to "
                (typeset(&number::three(effect.after_s))) " s for the same work."
                @if !effect.kept.is_empty() {
                    " Taken to stay as they are: " (effect.kept.iter().map(|class| class.name()).collect::<Vec<_>>().join(", ")) "."
                }
            }
        }
    }
}

fn risks(risks: &[Risk]) -> Markup {
    html! {
        @if !risks.is_empty() {
            ul class="findings" {
                @for risk in risks {
                    li {
                        span class="weight caution" { (words::risk(risk.sort)) }
                        div {
                            p { (typeset(&sentence(&clean(&risk.text)))) }
                            @if let Some(cite) = &risk.cite { p class="remedy" { (typeset(&offer::cite(cite))) } }
                        }
                    }
                }
            }
        }
    }
}

/// Every document that a figure of the page is from.
pub(super) fn sources(sized: &Sized<'_>) -> Markup {
    let shown = || sized.choices().iter().chain(&sized.sizing.nearly);
    let mut cites: BTreeMap<(String, String), Arc<Cite>> = BTreeMap::new();
    for choice in shown() {
        let limits = choice.binds.iter().chain(&choice.next);
        let ceilings =
            limits.filter_map(|limit| choice.offer.ceilings.iter().find(|ceiling| ceiling.name == limit.name));
        let mut used: Vec<Arc<Cite>> = ceilings.map(|ceiling| Arc::clone(&ceiling.cite)).collect();
        used.extend(choice.price.iter().map(|price| Arc::clone(&price.cite)));
        used.extend(choice.risks.iter().filter_map(|risk| risk.cite.clone()));
        for cite in used {
            cites.entry((cite.to_string(), cite.url.clone())).or_insert(cite);
        }
    }
    let statuses = cites.values().map(|cite| cite.status).collect();
    html! {
        section id="sources" {
            h2 { "Sources" }
            p class="lead" { "Ceilings and list prices are " (typeset(&offer::provenance(statuses))) "." }
            ul class="method" {
                @for cite in cites.values() {
                    li { (clean(&cite.to_string())) @if !cite.url.is_empty() { ": " span class="evidence" { (clean(&cite.url)) } } }
                }
            }
        }
    }
}
