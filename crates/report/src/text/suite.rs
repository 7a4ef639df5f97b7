//! A suite for a terminal: the layout that people know, then what stands behind it.

use plimsoll_record::SuiteRun;

use super::TextStyle;
use super::crowds;
use super::page;
use super::paint::{INDENT, Line, Tone, hanging, wrap};
use super::prose::told;
use crate::chart::sentence;
use crate::doubts;
use crate::suite::{meanings as meanings_of, rows, skipped, table};
use crate::words::{self, clean, database};

/// All of it.
pub(super) fn parts(suite: &SuiteRun, style: &TextStyle) -> Vec<Vec<Line>> {
    let mut parts = vec![head(suite, style)];
    for listing in &suite.listings {
        let title = wrap(&clean(&listing.title), style.width).into_iter();
        let mut lines: Vec<Line> = title.map(|line| Line::of(line, Tone::Strong)).collect();
        // Others read these layouts: no line of them is wrapped or cut.
        lines.extend(listing.text.lines().map(Line::plain));
        parts.push(lines);
    }
    parts.push(verdicts(suite, style));
    parts.extend(crowds::parts(suite, style));
    let mut steps = page::table(&table(suite), style);
    if !steps.is_empty() {
        steps.insert(0, Line::of("Behind these figures", Tone::Strong));
    }
    parts.push(steps);
    parts.push(meanings(suite, style));
    parts.push(told(&doubts::of_suite(suite), style));
    parts.push(place(suite, style));
    parts
}

fn head(suite: &SuiteRun, style: &TextStyle) -> Vec<Line> {
    let title = format!("{} on {} - {}", clean(&suite.suite), clean(&suite.subject.name), suite.source.word());
    let mut lines: Vec<Line> = wrap(&title, style.width).into_iter().map(|line| Line::of(line, Tone::Strong)).collect();
    if let Some(ended) = words::ended(suite.ended) {
        lines.push(Line::of(ended, Tone::Yellow));
    }
    let settings: Vec<String> = suite.settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let text = format!("{}: {}", clean(&suite.follows), clean(&settings.join(", ")));
    lines.extend(wrap(&text, style.width).into_iter().map(Line::plain));
    lines
}

fn verdicts(suite: &SuiteRun, style: &TextStyle) -> Vec<Line> {
    let all = suite.verdicts.iter();
    let whole = |verdict: &String| format!("{}.", sentence(clean(verdict).trim_end_matches('.')));
    all.flat_map(|verdict| hanging("verdict", Tone::Blue, wrap(&whole(verdict), style.width - INDENT))).collect()
}

/// What each number really measures, said once.
fn meanings(suite: &SuiteRun, style: &TextStyle) -> Vec<Line> {
    let mut lines = Vec::new();
    let said = meanings_of(&rows(suite));
    if !said.is_empty() {
        lines.push(Line::of("What they measure", Tone::Strong));
    }
    for (names, measures) in said {
        let text = format!("{names}: {}", clean(measures));
        lines.extend(wrap(&text, style.width).into_iter().map(Line::plain));
    }
    for (name, why) in skipped(suite) {
        let text = format!("{}: left out, as {}", clean(name), clean(why));
        lines.extend(wrap(&text, style.width).into_iter().map(Line::plain));
    }
    lines
}

fn place(suite: &SuiteRun, style: &TextStyle) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut add = |name: &str, text: &str| lines.extend(hanging(name, Tone::Quiet, wrap(text, style.width - INDENT)));
    add("target", &format!("{}, {}", clean(&suite.subject.name), words::subject(&suite.subject)));
    if let Some(host) = suite.host.as_ref().map(words::host).filter(|host| !host.is_empty()) {
        add("host", &host);
    }
    let began = suite.started.as_ref().map(|started| format!(", began {}", clean(started))).unwrap_or_default();
    if let Some(side) = &suite.database {
        let about = &side.about;
        let facts = [("database", database::about(about)), ("settings", database::settings(about))];
        for (name, text) in facts.iter().filter(|(_, text)| !text.is_empty()) {
            add(name, text);
        }
    }
    add("source", &format!("{}{began}, duration {}", suite.source.word(), words::duration(&suite.source, suite.wall)));
    add("figures", &database::meant(suite));
    if suite.database.is_some() {
        let facts = [("repeat", words::command(&suite.command)), ("go on", database::snapshots(suite))];
        for (name, text) in facts.iter().filter(|(_, text)| !text.is_empty()) {
            add(name, text);
        }
    }
    lines
}
