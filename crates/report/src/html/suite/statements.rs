//! The same tests of several databases beside each other: seconds of each, as a table and as bars.

use maud::{Markup, html};

use super::super::figures::{both, figure};
use super::beside::Named;
use crate::chart::{Bar, Fill, bars};
use crate::number;
use crate::page::UNKNOWN;
use crate::statements::{By, Test, Took, seconds, tests};
use crate::words::clean;

/// More bars than these are no picture.
const MOST_BARS: usize = 60;

/// Seconds of each test, a column for each suite, then the same as bars.
pub(super) fn beside(suites: &[Named<'_>], index: usize) -> Markup {
    let runs: Vec<_> = suites.iter().map(|named| named.suite).collect();
    let (by_test, by_step) = (tests(&runs, By::Test), tests(&runs, By::Step));
    let drawn = drawn(&by_test);
    let keys = suites.iter().enumerate().map(|(place, named)| format!("{} {}", key(place), named.name));
    let keys = keys.collect::<Vec<_>>().join(", ");
    let sources =
        suites.iter().map(|named| format!("{} on {}", named.suite.source.word(), clean(&named.suite.subject.name)));
    let sources = sources.collect::<Vec<_>>().join("; ");
    let chart = both(&format!("beside-tests-{index}"), "Time of each test", &keys, |size| bars(&drawn, size));
    html! {
        section {
            h2 { "Time of each test" }
            p class="lead" { (keys) ". Shorter is better." }
            @if !drawn.is_empty() { (figure(&chart, &html! { (sources) })) }
            (table("Seconds of each test", "test", suites, &by_test))
            p class="lead" {
                "Below each time, how many times that of the first suite it is. + : time was over before all was asked, and the \
                rest is estimated at the same rate; ? : rows were not what they should have been."
            }
            @if by_step.len() > by_test.len() {
                details { summary { "Each step of the tests" } (table("Seconds of each step", "step", suites, &by_step)) }
            }
        }
    }
}

/// The letter of a suite: it tells bars apart without colour.
fn key(place: usize) -> char {
    char::from(b'A' + (place % 26) as u8)
}

fn drawn(tests: &[Test]) -> Vec<Bar> {
    let mut out = Vec::new();
    for test in tests {
        let known = test.took.iter().enumerate().filter_map(|(place, took)| Some((place, took.as_ref()?)));
        for (nth, (place, took)) in known.enumerate() {
            out.push(Bar {
                name: if nth == 0 { test.name.clone() } else { String::new() },
                from: 0.0,
                to: took.seconds,
                value: format!("{}: {} s", key(place), seconds(took)),
                fill: Fill::Full,
                tone: place,
            });
        }
    }
    out.truncate(MOST_BARS);
    out
}

fn table(label: &str, what: &str, suites: &[Named<'_>], tests: &[Test]) -> Markup {
    let sum =
        |place: usize| tests.iter().filter_map(move |test| test.took[place]).map(|took| took.seconds).sum::<f64>();
    html! {
        div class="scroll" tabindex="0" role="region" aria-label=(label) {
            table {
                thead { tr {
                    th class="l" scope="col" { (what) }
                    @for (place, named) in suites.iter().enumerate() {
                        th scope="col" { (key(place)) " " (named.name) small { "s" } }
                    }
                } }
                tbody {
                    @for test in tests {
                        tr {
                            th scope="row" { (test.name) }
                            @for took in &test.took { (cell(took.as_ref(), test.took.first().and_then(Option::as_ref))) }
                        }
                    }
                    tr {
                        th scope="row" { "all of them" }
                        @for place in 0..suites.len() { td { (number::three(sum(place))) } }
                    }
                }
            }
        }
    }
}

fn cell(took: Option<&Took>, first: Option<&Took>) -> Markup {
    let Some(took) = took else { return html! { td { (UNKNOWN) } } };
    let first = first.filter(|first| first.seconds > 0.0 && !std::ptr::eq(*first, took));
    html! {
        td {
            (seconds(took))
            @if let Some(first) = first { small { "× " (number::three(took.seconds / first.seconds)) } }
        }
    }
}
