//! Suites of the same kind beside each other, before each for itself: their curves over each other, and one table.

use maud::{Markup, html};
use plimsoll_record::{LoadLine, StepWork, SuiteRun};
use plimsoll_units::Span;

use super::crowds::{MOST_CURVES, curves, reads};
use super::statements;
use crate::chart::{Shape, colour_class, plimsoll_mark, typeset};
use crate::crowds::{Group, Point, groups, limit_at, offered};
use crate::page::UNKNOWN;
use crate::words::clean;
use crate::{number, pick};

/// A suite with the name that tells it from the others on the page.
pub(super) struct Named<'a> {
    pub name: String,
    pub suite: &'a SuiteRun,
}

/// One curve of one suite.
struct Entry<'a> {
    /// What the step names of its group begin with.
    of: String,
    /// The suite's name, and the group's.
    name: String,
    suite: &'a SuiteRun,
    group: Group<'a>,
}

/// What suites of a page have in common; nothing where no two of them are of databases and alike.
pub(super) fn page(suites: &[SuiteRun]) -> Markup {
    let mut kinds: Vec<&str> = Vec::new();
    for suite in suites {
        if !kinds.contains(&suite.suite.as_str()) {
            kinds.push(&suite.suite);
        }
    }
    let of = |kind: &&str| named(&suites.iter().filter(|suite| suite.suite == *kind).collect::<Vec<_>>());
    let sections: Vec<Markup> =
        kinds.iter().enumerate().filter_map(|(index, kind)| alike(&of(kind), kind, index)).collect();
    html! {
        @if !sections.is_empty() {
            header {
                h1 { "Plimsoll " small { (suites.len()) " suites" } }
                div class="verdict-head" {
                    (plimsoll_mark())
                    div {
                        p class="big words" { "Side by side" }
                        p class="promise" { "What the suites have in common comes first, then each for itself." }
                    }
                }
            }
            @for section in &sections { (section) }
        }
    }
}

/// Each with the name of what it ran on, numbered where two have the same.
fn named<'a>(suites: &[&'a SuiteRun]) -> Vec<Named<'a>> {
    let of = |suite: &SuiteRun| clean(&suite.subject.name);
    let names: Vec<String> = suites.iter().map(|suite| of(suite)).collect();
    let name = |(index, suite): (usize, &&'a SuiteRun)| {
        let same = names.iter().filter(|name| **name == names[index]).count();
        let number = names[..=index].iter().filter(|name| **name == names[index]).count();
        let name = if same > 1 { format!("{} ({number})", names[index]) } else { names[index].clone() };
        Named { name, suite }
    };
    suites.iter().enumerate().map(name).collect()
}

fn alike(suites: &[Named<'_>], kind: &str, index: usize) -> Option<Markup> {
    let has = |wanted: fn(&StepWork) -> bool| {
        let any = |named: &&Named<'_>| named.suite.steps.iter().any(|step| step.counts && wanted(&step.work));
        suites.iter().filter(any).count() > 1
    };
    let crowds = has(|work| matches!(work, StepWork::Sessions(_)));
    let statements = has(|work| matches!(work, StepWork::Statements(_))) && !crowds;
    (crowds || statements).then(|| {
        html! {
            h2 class="name" { (clean(kind)) }
            @if crowds { (over_each_other(&entries(suites), index)) }
            @if statements { (statements::beside(suites, index)) }
        }
    })
}

fn entries<'a>(suites: &[Named<'a>]) -> Vec<Entry<'a>> {
    let of = |named: &Named<'a>| {
        let (suite, subject) = (named.suite, named.name.clone());
        groups(suite).into_iter().filter(|group| group.seen() > 0).map(move |mut group| {
            let of = group.name.clone();
            let name = if of.is_empty() { subject.clone() } else { format!("{subject}, {of}") };
            group.curve.subject.name.clone_from(&name);
            Entry { of, name, suite, group }
        })
    };
    suites.iter().flat_map(of).collect()
}

/// The curves in charts of as many as can be told apart: where there are more, by what their groups are called.
fn over_each_other(entries: &[Entry<'_>], index: usize) -> Markup {
    let mut charts: Vec<Vec<&Entry<'_>>> = Vec::new();
    if entries.len() <= MOST_CURVES {
        charts.push(entries.iter().collect());
    } else {
        let mut kinds: Vec<&str> = Vec::new();
        for entry in entries {
            if !kinds.contains(&entry.of.as_str()) {
                kinds.push(&entry.of);
            }
        }
        for kind in kinds {
            let of: Vec<&Entry<'_>> = entries.iter().filter(|entry| entry.of == kind).collect();
            charts.extend(of.chunks(MOST_CURVES).map(<[_]>::to_vec));
        }
    }
    let charts: Vec<_> = charts.into_iter().filter(|chart| !chart.is_empty()).collect();
    html! {
        @for (part, chart) in charts.iter().enumerate() {
            @let groups: Vec<&Group<'_>> = chart.iter().map(|entry| &entry.group).collect();
            (curves(&format!("beside-crowd-{index}-{part}"), part, &groups, &sources(chart)))
        }
        @for (part, chart) in charts.iter().enumerate() {
            @let named: Vec<(String, &Group<'_>)> = chart.iter().map(|entry| (entry.name.clone(), &entry.group)).collect();
            (reads(&format!("beside-reads-{index}-{part}"), part, &named, &sources(chart)))
        }
        (table(&charts))
    }
}

fn sources(chart: &[&Entry<'_>]) -> Markup {
    let mut said: Vec<String> = Vec::new();
    for entry in chart {
        let source = format!("{} on {}", entry.suite.source.word(), clean(&entry.suite.subject.name));
        if !said.contains(&source) {
            said.push(source);
        }
    }
    html! { (said.join("; ")) }
}

/// One row a curve, its marker the one of its chart.
fn table(charts: &[Vec<&Entry<'_>>]) -> Markup {
    html! {
        section {
            h2 { "Side by side" }
            div class="scroll" tabindex="0" role="region" aria-label="Headline numbers of the suites" {
                table {
                    thead { tr {
                        th class="l" scope="col" { "curve" }
                        th class="l" scope="col" { "objective" }
                        th scope="col" { "load line" small { "transactions/s" } }
                        th scope="col" { "knee" small { "transactions/s" } }
                        th scope="col" { "most" small { "transactions/s" } }
                        th scope="col" { "read, at knee" small { "database" } }
                        th scope="col" { "read, at knee" small { "storage" } }
                        th class="l" scope="col" { "what binds" small { "at the most" } }
                    } }
                    tbody {
                        @for chart in charts { @for (tone, entry) in chart.iter().enumerate() { (row(entry, tone)) } }
                    }
                }
            }
        }
    }
}

fn row(entry: &Entry<'_>, tone: usize) -> Markup {
    let class = colour_class(tone);
    let curve = &entry.group.curve;
    let line = curve.load_line.as_ref();
    let rate = line.and_then(pick::line_iops);
    let at_least = if matches!(line, Some(LoadLine::Beyond { .. })) { "\u{2265} " } else { "" };
    let knee = entry.group.at_knee();
    let time = |span: Option<Span>| span.map_or(UNKNOWN.into(), |span| typeset(&span.to_string()));
    html! {
        tr {
            th scope="row" {
                svg class={ "chart swatch " (class) } viewBox="-7 -7 14 14" aria-hidden="true" {
                    (Shape::ALL[tone % Shape::ALL.len()].draw(0.0, 0.0, "solid"))
                }
                (entry.name) small { (entry.suite.source.word()) }
            }
            td class="l" { (line.map_or(UNKNOWN.into(), |line| typeset(&line.objective().to_string()))) }
            td {
                @match (&rate, line) {
                    (Some(rate), _) => {
                        (at_least) (number::three(rate.value))
                        @if let Some((low, high)) = number::interval(rate) { small { (number::three(low)) " – " (number::three(high)) } }
                    },
                    (None, Some(_)) => { "none" },
                    (None, None) => { (UNKNOWN) },
                }
            }
            td {
                (curve.knee.map_or(UNKNOWN.into(), |knee| number::three(knee.iops)))
                @if let Some(knee) = knee { small { (offered(knee)) } }
            }
            td {
                @if let Some(best) = entry.group.best() { (number::three(best.crowd.run.figures.iops.value)) small { (offered(best)) } }
                @else { (UNKNOWN) }
            }
            td { (time(knee.and_then(Point::read_as_seen))) }
            td { (time(knee.and_then(Point::read_below))) }
            td class="l" { (limit_at(&entry.group).unwrap_or(UNKNOWN.into())) }
        }
    }
}
