//! The top of the page: the load line as a mark and a number, and what limits it.

use maud::{Markup, html};
use plimsoll_record::{Curve, LoadLine};

use crate::chart::{plimsoll_mark, typeset};
use crate::words::standing;
use crate::{number, pick, words};

/// The whole head of a page about one curve.
pub(super) fn head(curve: &Curve) -> Markup {
    html! {
        header {
            h1 {
                (what(curve)) " " (words::clean(&curve.subject.name)) " "
                small { (words::subject(&curve.subject)) }
            }
            @if let Some(ended) = words::ended(curve.ended) { p class="alert" role="status" { (ended) } }
            div class="verdict-head" {
                (plimsoll_mark())
                div { (sentence(curve)) }
            }
            (facts(curve))
        }
    }
}

/// The head of one curve's part of a page about several.
pub(super) fn short(curve: &Curve) -> Markup {
    html! {
        @if let Some(ended) = words::ended(curve.ended) { p class="alert" { (ended) } }
        (sentence_small(curve))
        (facts(curve))
    }
}

/// What the page is about.
pub(super) const fn what(curve: &Curve) -> &'static str {
    if curve.conditions.trace.is_some() { "Replay on" } else { "Load line of" }
}

fn sentence(curve: &Curve) -> Markup {
    let word = html! { span class="word" { (curve.source.word()) } };
    let limit = words::limit(curve).map(|limit| typeset(&limit));
    if let Some(replay) = words::replay(curve) {
        return html! {
            p class="promise" { (typeset(&replay)) " " (word) }
            @if let Some(limit) = limit { p { (limit) } }
        };
    }
    html! {
        @match &curve.load_line {
            Some(line @ (LoadLine::At { objective, iops } | LoadLine::Beyond { objective, iops })) => {
                @let at_least = if matches!(line, LoadLine::Beyond { .. }) { "≥ " } else { "" };
                p class="big" { (at_least) (number::three(iops.value)) span { " IOPS" } }
                p class="promise" {
                    "keep " strong { (typeset(&objective.to_string())) }
                    @if let Some((low, high)) = number::interval(iops) {
                        " · 95 % interval " (number::three(low)) " to " (number::three(high))
                    }
                    " " (word)
                }
            },
            Some(LoadLine::Never { objective, least }) => {
                p class="big words" { "No load keeps " (typeset(&objective.to_string())) }
                p class="promise" {
                    "The least " (objective.measure.to_string()) " seen was "
                    strong { (typeset(&least.to_string())) } ", at the lightest load. " (word)
                }
            },
            Some(line @ LoadLine::Refused { .. }) => {
                p class="big words" { "No load line" }
                p class="promise" { (typeset(&words::load_line(line))) ". " (word) }
            },
            None if curve.runs.is_empty() => {
                p class="big words" { "Nothing was " (if curve.source.word() == "simulated" { "simulated" } else { "measured" }) }
                p class="promise" { "There is no run in this curve. " (word) }
            },
            None => {
                p class="big words" { "No load line was drawn" }
                p class="promise" { "The curve stands below without one. " (word) }
            },
        }
        (standing(curve))
        @if let Some(limit) = limit { p { (limit) } }
    }
}

/// The confidence in the load line, its meaning and the next command.
fn standing(curve: &Curve) -> Markup {
    html! {
        @if let Some(confidence) = standing::confidence(curve) {
            p { strong { "Confidence" } ": " (typeset(&confidence)) "." }
        }
        @if let Some(meaning) = standing::meaning(curve) { p { (typeset(&meaning)) } }
        @if let Some(next) = standing::next(curve) {
            p { "Next:" }
            div class="command" { pre { code { (next) } } }
        }
    }
}

fn sentence_small(curve: &Curve) -> Markup {
    let line = || curve.load_line.as_ref().map_or("none was drawn".into(), words::load_line);
    let text = words::replay(curve).unwrap_or_else(|| format!("Load line: {}", line()));
    html! {
        p class="promise" { (typeset(&text)) " " span class="word" { (curve.source.word()) } }
        (standing(curve))
        @if let Some(limit) = words::limit(curve) { p { (typeset(&limit)) } }
    }
}

/// Four numbers around the load line.
fn facts(curve: &Curve) -> Markup {
    let time = |ns: f64| typeset(&number::time(ns));
    let lightest = pick::lightest(curve);
    let at = pick::at_line(curve).filter(|_| pick::has_line(curve));
    let fact =
        |name: &str, value: String, note: String| html! { div { dt { (name) } dd { (value) small { (note) } } } };
    html! {
        dl class="facts" {
            @if let Some(run) = lightest {
                (fact("Lightest load", time(run.figures.p50_ns.value),
                    typeset(&format!("p50 at {}; p99 {}", words::pace(&run.offered), number::time(run.figures.p99_ns.value)))))
            }
            @if let Some(run) = at {
                (fact("Nearest the load line", time(run.figures.p99_ns.value), format!("p99 at {}", words::pace(&run.offered))))
            }
            @if let Some(knee) = curve.knee {
                (fact("Knee", format!("{} IOPS", number::three(knee.iops)),
                    format!("mean {} at {}", time(knee.mean_ns), words::pace(&knee.offered))))
            }
            @if let Some(run) = pick::fastest(curve) {
                (fact("Most completed", format!("{} IOPS", number::three(run.figures.iops.value)),
                    format!("{} at {}", number::throughput(run.figures.bytes_per_second), words::pace(&run.offered))))
            }
        }
    }
}
