//! Suites: verdict, listings in the layout of the original tools, figures of the steps, and conditions.

mod data;
mod sessions;
mod side_by_side;

use maud::{Markup, html};
use plimsoll_language::{join_sentences, label, say};
use plimsoll_record::{StepWork, SuiteRun, Verdict};
use plimsoll_units::Span;

use super::curves::{alert_and_command, findings, number_labels};
use crate::chart::{Bar, Fill, bars};
use crate::findings;
use crate::html::{both, figure};
use crate::number;
use crate::page::{Block, Chart, Emphasis, Exhibit, Fact, Headline, Page, PageSection, SummaryOrder};
use crate::sessions::{SessionCurve, group_verdict, groups};
use crate::suite::{StepRow, meanings, rows, skipped, table};
use crate::words::{self, clean, database};

/// Maximum number of bars.
const BARS_MAX: usize = 40;

/// A page of one suite, or of several: common figures first, then each in full.
pub fn suites(suites: &[SuiteRun]) -> Page {
    let mut page = if let [suite] = suites { build_page(suite) } else { several(suites) };
    page.sections.push(PageSection::bare("", vec![data::data(suites)]));
    page
}

fn build_page(suite: &SuiteRun) -> Page {
    let groups = groups(suite);
    let title = format_title(suite);
    let is_alone = groups.len() == 1;
    let verdict = groups.first().filter(|_| is_alone).map(|group| group_verdict(suite, group));
    let (subject, headline) = match verdict.and_then(|verdict| Some((verdict.line?, verdict.rest))) {
        Some((line, rest)) => {
            (vec![title.clone()], Headline { text: line, details: vec![join_sentences(rest)], ..Headline::default() })
        }
        None => (Vec::new(), Headline { text: title.clone(), ..Headline::default() }),
    };
    let mut details = headline.details;
    details.push(format_settings(suite));
    details.retain(|detail| !detail.is_empty());
    let untold: &[SessionCurve<'_>] = if subject.is_empty() { &groups } else { &[] };
    // A listing of a single step is a part of the result.
    let has_parts = suite.listings.len() > 1 && suite.listings.len() >= suite.steps.len();
    Page {
        title,
        subject,
        alert: alert(suite),
        headline: Some(Headline { details, ..headline }),
        origin: words::source_word(&suite.source),
        figures: suite.verdicts.iter().map(verdict_fact).collect(),
        exhibit: if has_parts { Exhibit::Block(Block::Table(table(suite))) } else { Exhibit::default() },
        order: SummaryOrder::ExhibitFirst,
        sections: build_sections(suite, untold, &groups, 0),
        next: next(suite),
        made_by: suite.made_by.clone(),
    }
}

fn several(suites: &[SuiteRun]) -> Page {
    let labels = number_labels(&suites.iter().map(format_title).collect::<Vec<_>>());
    let mut sections = side_by_side::sections(suites);
    let headline = (!sections.is_empty()).then(|| Headline {
        text: label!("Side by side").to_owned(),
        details: vec![label!("The common figures of the suites, followed by each suite in full.").to_owned()],
        ..Headline::default()
    });
    for (index, (suite, label)) in suites.iter().zip(&labels).enumerate() {
        let groups = groups(suite);
        let rest = alert_and_command(alert(suite), &suite.command);
        let blocks = std::iter::once(Block::Text(format_settings(suite))).chain(rest).collect();
        sections.push(PageSection::new(format!("{label} - {}", words::source_word(&suite.source)), blocks));
        let own = build_sections(suite, &groups, &groups, index).into_iter().filter(PageSection::has_content);
        sections.extend(own.map(|section| section.of_run(label)));
    }
    let title = say!("{} suites", suites.len());
    Page { title, headline, sections, ..Page::default() }
}

fn format_title(suite: &SuiteRun) -> String {
    say!("{} on {}", clean(&suite.suite), clean(&suite.subject.name))
}

/// The tool that the suite reimplements, and its settings.
fn format_settings(suite: &SuiteRun) -> String {
    let settings: Vec<String> = suite.settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
    format!("{}: {}", clean(&suite.follows), clean(&settings.join(label!(", "))))
}

/// The reason why the verdict is void or missing.
fn alert(suite: &SuiteRun) -> Option<(Emphasis, String)> {
    let ended = words::ended(suite.ended).map(|ended| (Emphasis::Caution, ended.to_owned()));
    let void = || {
        let findings = findings::of_suite(suite);
        findings.into_iter().find(|finding| Emphasis::from(finding.weight) == Emphasis::Void && finding.scope.is_none())
    };
    ended.or_else(|| void().map(|finding| (Emphasis::Void, say!("Void: {}", finding.text))))
}

/// Commands that analyse the snapshots of the database, and the command to repeat the suite.
fn next(suite: &SuiteRun) -> Vec<(String, String)> {
    let snapshots = suite.database.as_ref().and_then(|side| side.snapshots.as_ref());
    let commands = |file: &String| {
        let file = words::command(std::slice::from_ref(file));
        [
            (label!("Its storage demand").to_owned(), format!("plimsoll diagnose {file}")),
            (label!("Storage that carries it").to_owned(), format!("plimsoll size {file} --capacity SIZE")),
        ]
    };
    let repeat = (words::repeat_purpose().to_owned(), words::command(&suite.command));
    snapshots.into_iter().flat_map(commands).chain([repeat]).filter(|(_, command)| !command.is_empty()).collect()
}

/// The sections of a suite. `untold` are the groups whose load lines are not in the headline; `index` distinguishes the
/// charts of a page.
fn build_sections(
    suite: &SuiteRun,
    untold: &[SessionCurve<'_>],
    groups: &[SessionCurve<'_>],
    index: usize,
) -> Vec<PageSection> {
    let listing = |listing: &plimsoll_record::Listing| {
        PageSection::new(clean(&listing.title), vec![Block::Listing(listing.text.clone())])
    };
    let rows = rows(suite);
    let mut out: Vec<PageSection> = suite.listings.iter().map(listing).collect();
    out.push(PageSection::bare(
        label!("Verdicts"),
        vec![Block::Facts(suite.verdicts.iter().map(verdict_fact).collect())],
    ));
    out.push(PageSection::bare(
        label!("Load lines"),
        untold.iter().flat_map(|group| describe_load_line(suite, group)).collect(),
    ));
    out.extend(sessions::sections(suite, groups, index));
    out.extend(pictures(suite, &rows, index));
    out.push(PageSection::new(label!("Details"), vec![Block::Table(table(suite))]));
    let measured = meanings(&rows).into_iter().map(|(names, measures)| format!("{names}: {}", clean(measures)));
    let left_out =
        skipped(suite).map(|(name, why)| say!("{}: skipped, as {}", clean(&words::step_name(name)), clean(why)));
    out.push(PageSection::new(label!("Definitions"), measured.chain(left_out).map(Block::Text).collect()));
    out.push(findings(&findings::of_suite(suite)));
    out.push(PageSection::bare(label!("Target and conditions"), vec![Block::Facts(place(suite))]));
    out
}

fn verdict_fact(verdict: &Verdict) -> Fact {
    Fact::new(label!("verdict"), words::verdict(verdict)).with_emphasis(Emphasis::Note)
}

/// The load line of a group, and the rest of its verdict.
fn describe_load_line(suite: &SuiteRun, group: &SessionCurve<'_>) -> Vec<Block> {
    let verdict = group_verdict(suite, group);
    let line = verdict.line.map(|line| Block::Heading(format!("{line} - {}", words::source_word(&suite.source))));
    line.into_iter()
        .chain(Some(join_sentences(verdict.rest)).filter(|rest| !rest.is_empty()).map(Block::Text))
        .collect()
}

/// Rates and times of the steps as bars.
fn pictures(suite: &SuiteRun, rows: &[StepRow<'_>], index: usize) -> [PageSection; 2] {
    let rates: Vec<Bar> = rows.iter().filter_map(moved).take(BARS_MAX).collect();
    let single = rows.iter().filter(|row| !matches!(row.step.work, StepWork::Sessions(_)));
    let times: Vec<Bar> = single.flat_map(draw_times).take(2 * BARS_MAX).collect();
    let section = |id: &str, title: &str, lead: &str, drawn: &[Bar]| {
        let picture = || both(&format!("{id}-{index}"), title, lead, |size| bars(drawn, size));
        let block = (!drawn.is_empty()).then(|| chart(lead, &picture(), &source(suite)));
        PageSection::bare(title, block.into_iter().collect())
    };
    [
        section(label!("moved"), label!("Throughput"), label!("Median of several rounds."), &rates),
        section(
            label!("times"),
            label!("Time of an operation"),
            label!("Full bars: median; hollow bars: 99th percentile."),
            &times,
        ),
    ]
}

fn source(suite: &SuiteRun) -> String {
    say!("{} on {}", words::source_word(&suite.source), clean(&suite.subject.name))
}

/// A chart with its introduction and source.
fn chart(lead: &str, picture: &Markup, source: &str) -> Block {
    Block::Chart(Chart::new(html! { p class="lead" { (lead) } (figure(picture, &html! { (source) })) }))
}

fn moved(row: &StepRow<'_>) -> Option<Bar> {
    let rate = row.bytes_per_second?;
    let value = say!("{}, {} IOPS", number::throughput(rate), number::three(row.rate()));
    Some(Bar { name: clean(&words::step_name(&row.step.name)), from: 0.0, to: rate, value, fill: Fill::Full, tone: 0 })
}

fn draw_times(row: &StepRow<'_>) -> Vec<Bar> {
    let bar = |name: String, span: Span, fill| Bar {
        name,
        from: 0.0,
        to: span.as_secs_f64(),
        value: span.to_string(),
        fill,
        tone: 0,
    };
    let median = row.times.quantile(0.5).map(|span| bar(clean(&words::step_name(&row.step.name)), span, Fill::Full));
    let tail = row.times.quantile(0.99).map(|span| bar(String::new(), span, Fill::Hollow));
    median.into_iter().chain(tail).collect()
}

fn place(suite: &SuiteRun) -> Vec<Fact> {
    let about = suite.database.as_ref().map(|side| &side.about);
    let began = suite.started.as_ref().map(|started| say!(", began {}", clean(started))).unwrap_or_default();
    let duration = words::duration(&suite.source, suite.wall);
    let facts = [
        (label!("target"), say!("{}, {}", clean(&suite.subject.name), words::subject(&suite.subject))),
        (label!("host"), suite.host.as_ref().map(words::host).unwrap_or_default()),
        (label!("database"), about.map(database::about).unwrap_or_default()),
        (label!("settings"), about.map(database::settings).unwrap_or_default()),
        (label!("source"), say!("{}{began}, duration {duration}", words::source_word(&suite.source))),
        (label!("figures"), database::meant(suite)),
    ];
    facts.into_iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| Fact::new(name, text)).collect()
}
