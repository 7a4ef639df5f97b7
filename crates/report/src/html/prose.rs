//! Findings, what was measured, how, and how to repeat it.

use maud::{Markup, html};
use plimsoll_record::Curve;

use crate::chart::{sentence, typeset};
use crate::doubts::{self, Doubt};
use crate::words;

/// Findings of the curve and of its runs, the heaviest first.
pub(super) fn findings(curve: &Curve) -> Markup {
    listed(&doubts::of(curve))
}

/// Findings, as they come.
pub(super) fn listed(doubts: &[Doubt]) -> Markup {
    html! {
        section {
            h2 { "Findings" }
            @if doubts.is_empty() {
                p class="lead" { "Nothing was found that makes these figures questionable." }
            } @else {
                p class="lead" { "What makes these figures questionable, and what to do about it." }
                ul class="findings" {
                    @for doubt in doubts {
                        @let weight = words::weight(doubt.weight);
                        li {
                            span class={ "weight " (weight) } { (doubts::sign(doubt.weight)) " " (weight) }
                            div {
                                p { (typeset(&sentence(&doubt.text))) @if let Some(scope) = &doubt.scope { " (" (scope) ")" } "." }
                                p class="remedy" { (typeset(&sentence(doubt.remedy))) "." }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Where the figures come from and what was asked.
pub(super) fn about(curve: &Curve) -> Markup {
    let conditions = &curve.conditions;
    let host = curve.host.as_ref().map(words::host).filter(|host| !host.is_empty());
    let mount = curve.subject.device.as_ref().and_then(|device| device.mount_options.as_ref());
    html! {
        section {
            h2 { "What was asked, and where" }
            dl class="about" {
                @for (index, stream) in conditions.streams.iter().enumerate() {
                    dt { "Stream " (words::clean(&stream.name)) }
                    dd { (words::stream(stream)) "; "
                        @if index == 0 { "its pace is what the runs vary" } @else { (words::pace(&stream.pace)) }
                    }
                }
                dt { "Conditions" } dd { (words::conditions(conditions)) }
                @if let Some(objective) = conditions.objective { dt { "Objective" } dd { (typeset(&objective.to_string())) } }
                dt { "Target" } dd { (words::clean(&curve.subject.name)) ": " (words::subject(&curve.subject)) }
                @if let Some(mount) = mount { dt { "Mounted" } dd { (words::clean(mount)) } }
                @if let Some(host) = host { dt { "Host" } dd { (host) } }
                dt { "Source" } dd { (words::source(curve)) }
                @if let Some(started) = &curve.started { dt { "Began" } dd { (words::clean(started)) } }
                dt { "Duration" } dd { (words::duration(&curve.source, curve.wall)) }
            }
        }
    }
}

/// The command to copy.
pub(super) fn repeat(curve: &Curve) -> Markup {
    if curve.command.is_empty() {
        return html! {};
    }
    html! {
        section {
            h2 { "To repeat it" }
            div class="command" { pre { code { (words::command(&curve.command)) } } }
        }
    }
}

/// How to read the figures; the same for every curve.
pub(super) fn method() -> Markup {
    html! {
        section {
            h2 { "How to read this" }
            ul class="method" {
                li { strong { "Response time" } " runs from the moment an operation was meant to start to its answer; "
                    strong { "service time" } " from its submission. Under an open load the first includes the wait for a place." }
                li { "A " strong { "closed load" } " keeps so many operations in flight and waits for the storage, so it "
                    "hides the waiting that clients would see. An " strong { "open load" } " arrives by the clock, as clients do. "
                    "They are drawn apart for that reason." }
                li { "The " strong { "load line" } " is the highest load that meets the objective. The " strong { "knee" }
                    " is where throughput over mean response time is greatest (Kleinrock 1979)." }
                li { "Intervals are 95 % confidence intervals by batch means. They cover chance within the run, not another day, "
                    "another device or another load." }
                li { "Percentiles come from histograms whose bins are at most 0.8 % wide." }
                li { "1 MB is 1,000,000 bytes; 1 MiB is 1,048,576." }
            }
        }
    }
}
