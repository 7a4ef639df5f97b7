//! One recorded load on several configurations: the head of the page, and a row for each.

use maud::{Markup, html};
use plimsoll_record::{Curve, Run};

use crate::chart::{Shape, colour_class, plimsoll_mark, typeset};
use crate::{number, pick, words};

/// True when every curve is a replay.
pub(super) fn are(curves: &[&Curve]) -> bool {
    curves.iter().all(|curve| curve.conditions.trace.is_some())
}

/// The head of a page about several replays.
pub(super) fn head(curves: &[&Curve]) -> Markup {
    let carried = |curve: &&&Curve| pick::fastest(curve).is_some_and(|run| !pick::is_overloaded(run));
    let count = curves.iter().filter(carried).count();
    let recording = curves.first().and_then(|curve| curve.conditions.trace.as_ref()).map(words::recording);
    html! {
        header {
            h1 { "Replays on " (curves.len()) " configurations" }
            div class="verdict-head" {
                (plimsoll_mark())
                div {
                    p class="big words" { (count) " of " (curves.len()) " carry it" }
                    @if let Some(recording) = recording { p class="promise" { (typeset(&recording)) } }
                }
            }
        }
    }
}

/// One row a configuration.
pub(super) fn table(curves: &[&Curve]) -> Markup {
    html! {
        section {
            h2 { "The recorded load on each" }
            div class="scroll" tabindex="0" role="region" aria-label="What became of the recorded load" {
                table {
                    thead { tr {
                        th class="l" scope="col" { "configuration" }
                        th class="l" scope="col" { "source" }
                        th class="l" scope="col" { "outcome" }
                        @for name in ["mean", "p50", "p99", "p99.9", "worst"] { th scope="col" { (name) } }
                        th class="l" scope="col" { "held by" }
                    } }
                    tbody { @for (index, curve) in curves.iter().enumerate() { (row(curve, index)) } }
                }
            }
        }
    }
}

fn row(curve: &Curve, index: usize) -> Markup {
    let run = pick::fastest(curve);
    let time = |of: fn(&Run) -> f64| run.map_or("–".into(), |run| typeset(&number::time(of(run))));
    let most = run.and_then(|run| run.bound_by.iter().max_by(|a, b| a.1.total_cmp(&b.1)));
    html! {
        tr {
            th scope="row" {
                svg class={ "chart swatch " (colour_class(index)) } viewBox="-7 -7 14 14" aria-hidden="true" {
                    (Shape::ALL[index % Shape::ALL.len()].draw(0.0, 0.0, "solid"))
                }
                (words::clean(&curve.subject.name))
            }
            td class="l" { (curve.source.word()) }
            td class="l" { (run.map_or("nothing answered".into(), |run| typeset(&words::outcome(run)))) }
            td { (time(|run| run.figures.mean_ns.value)) }
            td { (time(|run| run.figures.p50_ns.value)) }
            td { (time(|run| run.figures.p99_ns.value)) }
            td { (time(|run| run.figures.p999_ns.value)) }
            td { (time(|run| run.total.response().max_ns as f64)) }
            td class="l" { (most.map_or("–".into(), |(name, _)| words::clean(name))) }
        }
    }
}
