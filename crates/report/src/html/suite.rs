//! Suites as one page: what was concluded, the classic layout, and what stands behind it, as pictures and as a table.

mod beside;
mod crowds;
mod statements;

use maud::{Markup, html};
use plimsoll_record::{Listing, StepWork, SuiteRun};
use plimsoll_units::Span;

use super::figures::{both, figure};
use super::framed;
use super::page;
use super::prose::listed;
use crate::chart::{Bar, Fill, bars, plimsoll_mark, sentence, typeset};
use crate::crowds::{Group, groups};
use crate::statements::table as statements_of;
use crate::suite::{Row, meanings as meanings_of, rows, skipped, table};
use crate::words::{clean, database};
use crate::{doubts, number, words};

/// More bars than this are no picture.
const MOST_BARS: usize = 40;

/// One self-contained page of suites, one after the other.
pub fn suites_html(suites: &[SuiteRun]) -> String {
    let title = match suites {
        [suite] => title(suite),
        _ => format!("{} suites", suites.len()),
    };
    let body =
        html! { (beside::page(suites)) @for (index, suite) in suites.iter().enumerate() { (sheet(suite, index)) } };
    framed(&title, &body, "Made by plimsoll. This page needs no network.")
}

fn title(suite: &SuiteRun) -> String {
    format!("{} on {}", clean(&suite.suite), clean(&suite.subject.name))
}

fn sheet(suite: &SuiteRun, index: usize) -> Markup {
    let rows = rows(suite);
    let groups = groups(suite);
    let (steps, asked) = (table(suite), statements_of(suite));
    html! {
        (head(suite, &groups))
        @let (first, others) = suite.listings.split_at(suite.listings.len().min(1));
        @for listing in first { (listed_text(listing)) }
        (verdicts(suite))
        @for listing in others {
            (listed_text(listing))
        }
        (crowds::lines(suite, &groups))
        (crowds::sections(suite, &groups, index))
        (pictures(suite, &rows, index))
        section {
            @if !steps.rows.is_empty() || !asked.rows.is_empty() { h2 { "Behind these figures" } }
            (page::table(&asked, "Statements"))
            (page::table(&steps, "Steps"))
            (meanings(suite, &rows))
        }
        (listed(&doubts::of_suite(suite)))
        section {
            h2 { "Where and how" }
            dl class="about" {
                @for (name, text) in facts(suite).iter().filter(|(_, text)| !text.is_empty()) { dt { (name) } dd { (typeset(text)) } }
            }
        }
    }
}

fn head(suite: &SuiteRun, groups: &[Group<'_>]) -> Markup {
    let promise = crowds::promise(suite, groups);
    html! {
        header {
            h1 { "Plimsoll " small { (clean(&suite.follows)) @if promise.is_some() { ": " (title(suite)) } } }
            @if let Some(ended) = words::ended(suite.ended) { p class="alert" { (ended) } }
            div class="verdict-head" {
                (plimsoll_mark())
                div {
                    @if let Some(promise) = promise { (promise) } @else {
                        p class="big words" { (title(suite)) }
                        p class="promise" { span class="word" { (suite.source.word()) } }
                    }
                }
            }
        }
    }
}

/// A layout that people know.
fn listed_text(listing: &Listing) -> Markup {
    html! { section { h2 { (sentence(&clean(&listing.title))) } pre class="listing" tabindex="0" { (listing.text) } } }
}

fn verdicts(suite: &SuiteRun) -> Markup {
    if suite.verdicts.is_empty() {
        return html! {};
    }
    html! {
        section {
            h2 { "What they say" }
            ul class="method" {
                @for verdict in &suite.verdicts { li { (typeset(&sentence(clean(verdict).trim_end_matches('.')))) "." } }
            }
        }
    }
}

/// What each number really measures, said once.
fn meanings(suite: &SuiteRun, rows: &[Row<'_>]) -> Markup {
    html! {
        ul class="method" {
            @for (names, measures) in meanings_of(rows) { li { strong { (names) } ": " (clean(measures)) } }
            @for (name, why) in skipped(suite) { li { strong { (clean(name)) } ": left out, as " (clean(why)) } }
        }
    }
}

fn pictures(suite: &SuiteRun, rows: &[Row<'_>], index: usize) -> Markup {
    let source = html! { (suite.source.word()) " on " (clean(&suite.subject.name)) };
    let rates: Vec<Bar> = rows.iter().filter_map(moved).take(MOST_BARS).collect();
    let single = rows.iter().filter(|row| !matches!(row.step.work, StepWork::Sessions(_)));
    let times: Vec<Bar> = single.flat_map(times).take(2 * MOST_BARS).collect();
    let chart = |id: &str, title: &str, lead: &str, drawn: &[Bar]| {
        if drawn.is_empty() {
            return html! {};
        }
        let picture = both(&format!("{id}-{index}"), title, lead, |size| bars(drawn, size));
        html! { section { h2 { (title) } p class="lead" { (lead) } (figure(&picture, &source)) } }
    };
    html! {
        (chart("moved", "Moved per second", "Of several rounds the median one.", &rates))
        (chart("times", "Time of an operation", "Full bars are the median, hollow ones the 99th percentile.", &times))
    }
}

fn moved(row: &Row<'_>) -> Option<Bar> {
    let rate = row.bytes_per_second?;
    let value = format!("{}, {} IOPS", number::throughput(rate), number::three(row.rate()));
    Some(Bar { name: clean(&row.step.name), from: 0.0, to: rate, value, fill: Fill::Full, tone: 0 })
}

fn times(row: &Row<'_>) -> Vec<Bar> {
    let bar = |name: String, span: Span, fill| Bar {
        name,
        from: 0.0,
        to: span.as_secs_f64(),
        value: span.to_string(),
        fill,
        tone: 0,
    };
    let median = row.times.quantile(0.5).map(|span| bar(clean(&row.step.name), span, Fill::Full));
    let tail = row.times.quantile(0.99).map(|span| bar(String::new(), span, Fill::Hollow));
    median.into_iter().chain(tail).collect()
}

fn facts(suite: &SuiteRun) -> Vec<(&'static str, String)> {
    let about = suite.database.as_ref().map(|side| &side.about);
    let settings: Vec<String> = suite.settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
    vec![
        ("Follows", clean(&suite.follows)),
        ("Settings", clean(&settings.join(", "))),
        ("Target", format!("{}, {}", clean(&suite.subject.name), words::subject(&suite.subject))),
        ("Database", about.map(database::about).unwrap_or_default()),
        ("Its settings", about.map(database::settings).unwrap_or_default()),
        ("Host", suite.host.as_ref().map(words::host).unwrap_or_default()),
        ("Began", suite.started.as_ref().map(|started| clean(started)).unwrap_or_default()),
        ("Duration", words::duration(&suite.source, suite.wall)),
        ("Command", words::command(&suite.command)),
        ("Go on", database::snapshots(suite)),
        ("Figures", database::meant(suite)),
    ]
}
