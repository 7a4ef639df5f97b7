//! One recorded load on several configurations: the head of the page, and a row for each.

use maud::{Markup, html};
use plimsoll_record::Curve;

use super::page;
use crate::chart::{plimsoll_mark, typeset};
use crate::{pages, pick, words};

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
            (page::table(&pages::replays(curves), "What became of the recorded load"))
        }
    }
}
