//! Sizing as one page: what is wanted and why, what carries it, the cheapest first, and what does not.

mod choices;
mod details;
mod wanted;

use maud::{Markup, html};
use plimsoll_choose::diagnosis::{DatabaseEffect, Latencies, effect};
use plimsoll_choose::sizing::{Choice, Sizing};
use plimsoll_ingest::{Account, Outcome};

use super::framed;
use crate::chart::{plimsoll_mark, typeset};
use crate::number;
use crate::text::diagnosis::evidence::file_name;
use crate::words::clean;
use crate::words::diagnosis::share;
use crate::words::{offer, sizing as words};

/// What pages of a sizing are made of.
struct Sized<'a> {
    sizing: &'a Sizing,
    account: Option<&'a Account>,
    /// The inputs that the demand was read of.
    source: String,
    /// Choices that are shown.
    most: usize,
}

/// One self-contained page of a sizing, with at most so many choices. With an account of the database's time each
/// choice says what it would make of that.
pub fn sizing_html(sizing: &Sizing, account: Option<&Account>, outcomes: &[Outcome], most: usize) -> String {
    let sized = Sized { sizing, account, source: source(outcomes), most };
    let title = format!("Storage for {}", sized.name());
    let body = html! {
        (sized.head(&title))
        (wanted::section(&sized))
        (choices::section(&sized))
        (details::section(&sized))
        (choices::nearly(&sized))
        (choices::rejected(&sized))
        (details::sources(&sized))
    };
    framed(&title, &body, "Made by plimsoll. This page needs no network.")
}

fn source(outcomes: &[Outcome]) -> String {
    /// Inputs that are named.
    const FEW: usize = 3;
    let readings: Vec<_> = outcomes.iter().filter_map(Outcome::reading).collect();
    let name = |reading: &&plimsoll_ingest::Reading| format!("{} ({})", clean(file_name(&reading.name)), reading.kind);
    let names: Vec<String> = readings.iter().take(FEW).map(name).collect();
    match (names.is_empty(), readings.len().saturating_sub(FEW)) {
        (true, _) => "the demand as it was given".to_owned(),
        (false, 0) => names.join(", "),
        (false, more) => format!("{} and {} more", names.join(", "), number::whole(more as f64)),
    }
}

impl Sized<'_> {
    fn name(&self) -> String {
        let subject = &self.sizing.wanted.subject;
        if subject.is_empty() { "the demand".to_owned() } else { clean(subject) }
    }

    /// The choices that are shown.
    fn choices(&self) -> &[Choice] {
        &self.sizing.choices[..self.sizing.choices.len().min(self.most)]
    }

    /// What a choice would make of the database's time, where both sides are known.
    fn effect(&self, choice: &Choice) -> Option<DatabaseEffect> {
        let latencies = choice.latency.iter().map(|one| (one.class, one.mean.as_secs_f64())).collect();
        effect(self.account?, &Latencies(latencies)).filter(|effect| !effect.parts.is_empty())
    }

    fn head(&self, title: &str) -> Markup {
        let wanted = &self.sizing.wanted;
        let fact = |name: &str, value: String, note: String| html! { div { dt { (name) } dd { (typeset(&value)) small { (typeset(&note)) } } } };
        let first = self.sizing.choices.first();
        html! {
            header {
                h1 { (title) " " small { (typeset(&format!("{} configurations were looked at", number::whole(self.sizing.looked_at as f64)))) } }
                div class="verdict-head" { (plimsoll_mark()) div { (self.verdict(first)) } }
                dl class="facts" {
                    @if let Some(point) = wanted.points.first() {
                        (fact("Expected", format!("{} IOPS", number::three(point.iops())),
                            format!("{} MB/s; measured {} IOPS", offer::megabytes(point.bytes_per_second()), number::three(wanted.measured.iops))))
                    }
                    (fact("Headroom", number::percent(wanted.headroom), "above the expected load".into()))
                    (fact("Keeps", offer::capacity(wanted.capacity), "at the end".into()))
                    @if let Some(objective) = wanted.objective {
                        (fact("Meets", objective.to_string(), "simulated at the expected load".into()))
                    }
                    @if let Some(effect) = first.and_then(|first| self.effect(first)) {
                        (fact("Database time", saved(&effect), "with the cheapest, for the same work".into()))
                    }
                }
            }
        }
    }

    fn verdict(&self, first: Option<&Choice>) -> Markup {
        let objective = self.sizing.wanted.objective.map_or(String::new(), |objective| format!(" at {objective}"));
        let Some(first) = first else {
            return html! {
                p class="big words" { (typeset(&format!("Nothing carries it{objective}"))) }
                @if let Some(near) = self.sizing.nearly.iter().filter_map(|choice| choice.reached).min() {
                    p class="promise" { (typeset(&format!("The nearest has {near}: a looser objective would find it."))) }
                }
            };
        };
        html! {
            @match &first.price {
                Some(price) => { p class="big" { (price.monthly.to_string()) span { " a month" } } },
                None => { p class="big words" { "No price is known" } },
            }
            p class="promise" { (typeset(&format!("is the least that carries it{objective}: "))) strong { (offer::configuration(&first.offer)) } }
            p { (typeset(&crate::chart::sentence(&words::reason(first)))) "." }
        }
    }
}

/// What becomes of the database's time: `12.3 % less`.
fn saved(effect: &DatabaseEffect) -> String {
    let saved = effect.saved();
    if saved >= 0.0 { format!("{} less", share(saved)) } else { format!("{} more", share(-saved)) }
}
