//! Diagnoses as one page: the verdicts, what they stand on, and for every number the place where it was read.

mod course;
mod origins;
mod response;
mod time;

use maud::{Markup, html};
use plimsoll_choose::diagnosis::Diagnosis;
use plimsoll_ingest::{Demand, Outcome, Reading, Subject};

use super::framed;
use super::grid::{filled, link};
use crate::chart::{plimsoll_mark, typeset};
use crate::number;
use crate::text::demand::inputs;
use crate::text::diagnosis::evidence;
use crate::words::clean;
use crate::words::diagnosis::{Told, duration, headline, share, told};

/// A subject with what was found of it, and the inputs that its figures are numbered by.
struct Case<'a> {
    index: usize,
    subject: &'a Subject,
    found: &'a Diagnosis,
    readings: &'a [&'a Reading],
}

/// One self-contained page of diagnoses. `demand` is what was diagnosed, of the readings among the outcomes in their
/// order, with a diagnosis for each of its subjects.
pub fn diagnoses_html(outcomes: &[Outcome], demand: &Demand, diagnoses: &[Diagnosis]) -> String {
    let readings: Vec<&Reading> = outcomes.iter().filter_map(Outcome::reading).collect();
    let case = |(index, (subject, found))| Case { index, subject, found, readings: &readings };
    let cases: Vec<Case<'_>> = demand.subjects.iter().zip(diagnoses).enumerate().map(case).collect();
    let title = match cases.as_slice() {
        [case] => format!("Diagnosis of {}", case.name()),
        _ => format!("Diagnoses of {} databases and hosts", cases.len()),
    };
    let body = html! {
        @match cases.as_slice() {
            [] => { h1 { (title) } p { "No input says what is asked of storage." } },
            [case] => { (case.head(Depth::Page)) (case.body()) },
            _ => {
                h1 { (title) }
                @for case in &cases { section { h2 class="name" { (case.name()) } (case.head(Depth::Part)) (case.body()) } }
            },
        }
        (given(outcomes))
        @for case in &cases { (origins::section(case, cases.len())) }
    };
    framed(&title, &body, "Made by plimsoll. This page needs no network.")
}

/// Whether a case is all of the page.
#[derive(Clone, Copy, PartialEq)]
enum Depth {
    Page,
    Part,
}

impl Case<'_> {
    fn name(&self) -> String {
        if self.subject.name.is_empty() { "the storage".to_owned() } else { clean(&self.subject.name) }
    }

    /// The answer, and the numbers around it.
    fn head(&self, depth: Depth) -> Markup {
        let first = self.found.verdicts.first();
        let answer = first.map(told);
        html! {
            header {
                @if depth == Depth::Page { h1 { "Diagnosis of " (self.name()) " " small { (self.windows()) } } }
                div class="verdict-head" {
                    (plimsoll_mark())
                    div {
                        p class="big words" { (first.and_then(headline).unwrap_or("What was found")) }
                        @if let Some(answer) = &answer {
                            p class="promise" { (typeset(&clean(&answer.text))) }
                            @if !answer.remedy.is_empty() { p { (typeset(&clean(&answer.remedy))) } }
                            (stands_on(&first.map(|verdict| origins::of_verdict(self, verdict)).unwrap_or_default()))
                        }
                    }
                }
                (self.facts())
            }
        }
    }

    fn windows(&self) -> String {
        let windows = self.found.windows;
        let begin = windows.first.and_then(|slot| slot.begin);
        let from = begin.map_or(String::new(), |begin| format!(", from {begin}").replace('T', " "));
        match windows.count {
            1 => format!("one window of {}{from}", duration(windows.longest_s)),
            count => {
                format!("{} windows of up to {}{from}", number::whole(count as f64), duration(windows.longest_s))
            }
        }
    }

    fn facts(&self) -> Markup {
        let fact =
            |name: &str, value: Markup, note: String| html! { div { dt { (name) } dd { (value) small { (note) } } } };
        let place = origins::time_id(self.index);
        html! {
            dl class="facts" {
                @if let Some(split) = &self.found.split {
                    (fact("Database time", link(Some(&place), &format!("{} s", number::three(split.database_s))),
                        format!("in {}", duration(self.found.windows.seconds))))
                    (fact("Active sessions", html! { (number::three(split.active)) }, "in the mean".into()))
                    @if let Some(busy) = split.host_busy {
                        (fact("Processors busy", html! { (typeset(&number::percent((busy * 1e3).round() / 1e3))) },
                            split.processors.map_or(String::new(), |count| format!("of {}", number::whole(count)))))
                    }
                }
                @if let Some(most) = self.found.responses.iter().max_by(|a, b| a.in_flight.total_cmp(&b.in_flight)) {
                    @let id = origins::id(self, most.class, plimsoll_ingest::Measure::Latency);
                    (fact("Most in flight", link(id.as_deref(), &number::time(most.latency_s * 1e9)),
                        format!("{}, {} IOPS", most.class.name(), number::three(most.iops))))
                }
                @if let Some(on) = &self.found.on {
                    (fact("Beside", html! { (clean(&on.config)) }, on.ceilings.first().map_or(String::new(), |used| {
                        typeset(&format!("{} of {} at most", share(used.highest), clean(&used.name)))
                    })))
                }
            }
        }
    }

    fn body(&self) -> Markup {
        html! {
            (self.findings())
            (time::split(self))
            (time::what_ifs(self))
            (course::section(self))
            (self.ceilings())
            (response::section(self))
            (doubts("What is doubtful of the combination", self.subject.doubts.iter().map(|doubt| ("note", doubt.clone()))))
        }
    }

    /// All verdicts after the answer.
    fn findings(&self) -> Markup {
        let one = |verdict| (told(verdict), origins::of_verdict(self, verdict));
        let findings: Vec<(Told, Vec<(String, String)>)> = self.found.verdicts.iter().skip(1).map(one).collect();
        html! {
            @if !findings.is_empty() {
                section {
                    h2 { "What follows" }
                    p class="lead" { "Causes, storage, limits and memory, each with what it stands on." }
                    ul class="findings" { @for (told, evidence) in &findings { (finding(told, evidence)) } }
                }
            }
        }
    }

    fn ceilings(&self) -> Markup {
        let Some(on) = &self.found.on else { return html! {} };
        let table = evidence::ceilings(on);
        html! {
            section id={ "d" (self.index) "-ceilings" } {
                h2 { "Ceilings of " (clean(&on.config)) }
                @if table.rows.is_empty() { p class="lead" { (evidence::NO_CEILINGS) "." } }
                (filled("Use of each ceiling", &table, |_, _| None))
            }
        }
    }

    /// Where the figures of a chart come from.
    fn source(&self) -> Markup {
        /// Inputs that are named.
        const FEW: usize = 3;
        let mut used: Vec<usize> =
            self.subject.series.iter().flat_map(|series| series.sources.iter().map(|at| at.0)).collect();
        used.sort_unstable();
        used.dedup();
        let name = |at: &usize| {
            let reading = self.readings.get(*at)?;
            Some(format!("{} ({})", clean(evidence::file_name(&reading.name)), reading.kind))
        };
        let names: Vec<String> = used.iter().take(FEW).filter_map(name).collect();
        let more = used.len().saturating_sub(FEW);
        html! {
            (names.join(", "))
            @if more > 0 { " and " (number::whole(more as f64)) " more" }
            "; " (link(Some(&origins::section_id(self.index)), "where each number was read"))
        }
    }
}

fn finding(told: &Told, evidence: &[(String, String)]) -> Markup {
    html! {
        li {
            span class="weight note" { (told.word) }
            div {
                p { (typeset(&clean(&told.text))) }
                @if !told.remedy.is_empty() { p class="remedy" { (typeset(&clean(&told.remedy))) } }
                (stands_on(evidence))
            }
        }
    }
}

/// Links to the places of the page that a sentence hangs on, each with its name.
fn stands_on(evidence: &[(String, String)]) -> Markup {
    html! {
        @if !evidence.is_empty() {
            p class="evidence" {
                "Stands on "
                @for (index, (id, name)) in evidence.iter().enumerate() {
                    @if index > 0 { "; " }
                    (link(Some(id), name))
                }
                "."
            }
        }
    }
}

/// What was given, and what is doubtful about it.
fn given(outcomes: &[Outcome]) -> Markup {
    let doubt = |outcome: &Outcome| -> Vec<(&'static str, String)> {
        match outcome {
            Outcome::Refused { name, refusal } => vec![("refused", format!("{name}: {refusal}"))],
            Outcome::Read(reading) => {
                let text = |caution: &plimsoll_ingest::Caution| {
                    let place = caution.origin.as_ref().map_or(String::new(), |origin| format!(", {origin}"));
                    ("caution", format!("{}{place}: {}", reading.name, caution.text))
                };
                reading.cautions.iter().map(text).collect()
            }
        }
    };
    html! {
        section {
            h2 { "Inputs" }
            (filled("Inputs", &inputs(outcomes), |_, _| None))
        }
        (doubts("What is doubtful of the inputs", outcomes.iter().flat_map(doubt)))
    }
}

/// Doubts with their weights; nothing without any.
fn doubts(title: &str, doubts: impl Iterator<Item = (&'static str, String)>) -> Markup {
    /// Doubts that are shown before the rest are only counted.
    const MOST: usize = 60;
    let doubts: Vec<(&str, String)> = doubts.collect();
    html! {
        @if !doubts.is_empty() {
            section {
                h3 { (title) }
                ul class="findings" {
                    @for (weight, text) in doubts.iter().take(MOST) {
                        li {
                            span class={ "weight " (if *weight == "refused" { "void" } else { weight }) } { (weight) }
                            div { p { (typeset(&clean(text))) } }
                        }
                    }
                }
                @if doubts.len() > MOST { p class="lead" { "And " (doubts.len() - MOST) " more: the JSON has all." } }
            }
        }
    }
}
