//! Renders a page as one HTML file.

use std::collections::BTreeMap;
use std::ops::Range;

use maud::{Markup, PreEscaped, html};
use plimsoll_language::{label, say};

use super::framed;
use crate::chart::{MarkerShape, colour_class, gauge, plimsoll_mark, typeset};
use crate::latency::{Pad, pads};
use crate::page::{Block, Cell, Column, Emphasis, Fact, Item, Link, Page, PageSection, Table, Visibility};
use crate::words::clean;
use crate::words::sentence;

/// Maximum length of a headline in the largest font size.
const SHORT_HEADLINE: usize = 48;
/// Maximum length of a key figure in the largest font size.
const SHORT_FIGURE: usize = 28;
/// Minimum length of a word that may be broken.
const LONG_WORD: usize = 16;
/// Zero width space: a possible break of a line.
const BREAK: char = '\u{200b}';
/// Digits of padding for which the style sheet has a class.
const MAX_PAD: usize = 12;
/// Maximum number of rows above a chart of the first screen.
const LEADING_ROWS: usize = 3;
/// Minimum number of sections for a table of contents.
const CONTENTS: usize = 3;

/// Renders a page as one file: table of contents, tables that scroll, sections that collapse.
pub fn page_html(page: &Page) -> String {
    let maker = if page.made_by.is_empty() { "plimsoll" } else { &page.made_by };
    framed(&clean(&page.title), &page_fragment(page), &say!("Made by {}. This page needs no network.", clean(maker)))
}

/// The content of a page for a document that has [`PAGE_STYLES`](super::PAGE_STYLES) and [`PAGE_SCRIPT`](super::PAGE_SCRIPT). Contains no inline style or script.
pub fn page_fragment(page: &Page) -> Markup {
    let sections: Vec<&PageSection> = page.display().collect();
    let labels = label_blocks(&sections);
    // A chart is on the first screen, before the figures, the contents and the sentences that complete the verdict.
    let leading = sections.iter().position(|section| has_leading_chart(section));
    html! {
        (head(page, leading.is_some()))
        @if let Some(index) = leading {
            div class="leading" { (section(sections[index], index, &labels[index])) }
            (key_figures(page))
        }
        @if sections.len() >= CONTENTS { (contents(&sections)) }
        @for (index, part) in sections.iter().enumerate().filter(|(index, _)| Some(*index) != leading) {
            (section(part, index, &labels[index]))
        }
        @if !page.next.is_empty() {
            section {
                h2 { (label!("Next")) }
                @for (purpose, command) in &page.next {
                    p { (typeset(&clean(purpose))) ":" }
                    div class="command" { pre { code { (clean(command)) } } }
                }
            }
        }
    }
}

/// True if a section is open and begins with a chart, behind a sentence and a short table at most.
fn has_leading_chart(section: &PageSection) -> bool {
    let is_open = matches!(section.visibility, Visibility::Open | Visibility::Bare);
    let is_short = |block: &&Block| match block {
        Block::Text(_) | Block::Note(_) => true,
        Block::Table(table) => table.rows.len() <= LEADING_ROWS,
        _ => false,
    };
    let first = section.blocks.iter().take(3).find(|block| !is_short(block));
    is_open && matches!(first, Some(Block::Chart(_)))
}

fn head(page: &Page, is_short: bool) -> Markup {
    html! {
        header {
            h1 { (clean(&page.title)) }
            @if let Some((emphasis, words)) = page.alert.as_ref().filter(|(emphasis, _)| *emphasis != Emphasis::Void) {
                @let (class, sign) = weight(*emphasis);
                p class={ "alert " (class) } { (sign) (text(words)) }
            }
            @if let Some(headline) = &page.headline {
                div class="verdict-head" {
                    (plimsoll_mark())
                    div {
                        @if let Some((Emphasis::Void, words)) = &page.alert {
                            p class="big words long weight void" { "■ " (text(words)) }
                            p { strong { (text(&headline.text)) } }
                        } @else {
                            @let length = if headline.text.chars().count() > SHORT_HEADLINE { " long" } else { "" };
                            p class={ "big words" (length) } { (text(&headline.text)) }
                        }
                        @let words = [page.origin, headline.grade].into_iter().filter(|word| !word.is_empty());
                        p { @for word in words { span class="word" { (word) } " " } }
                        @for caution in &headline.cautions { p class="alert weight caution" { "▲ " (text(caution)) } }
                        @if is_short && !headline.details.is_empty() {
                            details { summary { (label!("Basis of the verdict")) } (paragraphs(&headline.details)) }
                        } @else {
                            (paragraphs(&headline.details))
                        }
                    }
                }
            }
            @for subject in &page.subject { p class="lead" { (text(subject)) } }
            @if !is_short { (key_figures(page)) }
        }
    }
}

fn key_figures(page: &Page) -> Markup {
    html! { @if !page.figures.is_empty() { dl class="facts" { @for figure in &page.figures { (key_figure(figure)) } } } }
}

fn paragraphs(sentences: &[String]) -> Markup {
    html! { @for sentence in sentences { p { (text(sentence)) } } }
}

fn key_figure(fact: &Fact) -> Markup {
    let class = if fact.text.chars().count() > SHORT_FIGURE { "long" } else { "" };
    html! {
        div {
            dt { (text(&fact.name)) }
            dd class=(class) { (linked(&fact.text, fact.links.first())) small { (text(&fact.remarks.join(label!("; ")))) } }
        }
    }
}

fn linked(words: &str, link: Option<&Link>) -> Markup {
    html! { @if let Some(link) = link { a href={ "#" (link.anchor) } { (text(words)) } } @else { (text(words)) } }
}

fn contents(sections: &[&PageSection]) -> Markup {
    html! {
        nav class="contents" aria-label=(label!("Contents")) {
            ol {
                @for (index, section) in sections.iter().enumerate().filter(|(index, _)| is_listed(sections, *index)) {
                    li { a href={ "#" (anchor(section, index)) } { (text(&section.heading)) } }
                }
            }
        }
    }
}

/// Sections without a heading and parts of an earlier section (`RUN: Findings` after `RUN`) are not listed.
fn is_listed(sections: &[&PageSection], index: usize) -> bool {
    let heading = &sections[index].heading;
    let holds = |earlier: &&PageSection| {
        !earlier.heading.is_empty() && heading.strip_prefix(&earlier.heading).is_some_and(|rest| rest.starts_with(": "))
    };
    !heading.is_empty() && !sections[..index].iter().any(holds)
}

fn anchor(section: &PageSection, index: usize) -> String {
    if section.anchor.is_empty() { format!("s{}", index + 1) } else { section.anchor.clone() }
}

/// Labels of each section's blocks, unique on the page as required for landmarks.
fn label_blocks(sections: &[&PageSection]) -> Vec<Vec<String>> {
    let mut observed: BTreeMap<&str, usize> = BTreeMap::new();
    let mut labels = Vec::new();
    for section in sections {
        let mut own = Vec::new();
        for block in &section.blocks {
            let label: &str = match block {
                Block::Table(table) if !table.label.is_empty() => &table.label,
                _ => &section.heading,
            };
            let count = observed.entry(label).or_default();
            *count += usize::from(matches!(block, Block::Table(_) | Block::Listing(_)));
            own.push(if *count > 1 { say!("{label}, {count}") } else { label.to_owned() });
        }
        labels.push(own);
    }
    labels
}

fn section(section: &PageSection, index: usize, labels: &[String]) -> Markup {
    let id = anchor(section, index);
    let content = html! { @for (block, label) in section.blocks.iter().zip(labels) { (drawn(block, label)) } };
    let heading = html! { @if !section.heading.is_empty() { h2 { (text(&section.heading)) } } };
    html! {
        section id=(id) {
            @if matches!(section.visibility, Visibility::Folded | Visibility::Detail) { details { summary { (heading) } (content) } }
            @else { (heading) (content) }
        }
    }
}

fn plain(text: &str) -> String {
    typeset(&clean(text))
}

/// Text whose long words, such as configurations, may be broken behind a separator that is not within a number.
fn text(words: &str) -> Markup {
    let mut out = String::new();
    for word in plain(words).split_inclusive(' ') {
        let letters: Vec<char> = word.chars().collect();
        for (index, letter) in letters.iter().enumerate() {
            out.push(*letter);
            let is_separator = index > 0 && letters.len() >= LONG_WORD && "/:,@+".contains(*letter);
            let next = letters.get(index + 1).filter(|next| is_separator && next.is_alphanumeric());
            if next.is_some_and(|next| !(next.is_ascii_digit() && letters[index - 1].is_ascii_digit())) {
                out.push(BREAK);
            }
        }
    }
    PreEscaped(html! { (out) }.into_string().replace(BREAK, "<wbr>"))
}

fn drawn(block: &Block, label: &str) -> Markup {
    match block {
        Block::Text(words) => html! { p { (text(words)) } },
        Block::Heading(words) => html! { h3 { (text(words)) } },
        Block::Note(words) => html! { @if !words.is_empty() { p class="lead" { (text(&sentence(words))) } } },
        Block::Facts(facts) => {
            html! { @if !facts.is_empty() { dl class="about" { @for entry in facts { (fact(entry)) } } } }
        }
        Block::Items(items) => {
            html! { @if !items.is_empty() { ul class="method" { @for entry in items { (item(entry)) } } } }
        }
        Block::Table(rows) => table(rows, label),
        Block::Listing(lines) => {
            html! { pre class="listing" tabindex="0" role="region" aria-label=(clean(label)) { (lines) } }
        }
        Block::Data(_) | Block::Plot(_) | Block::Shares(_) => html! {},
        Block::Chart(chart) => chart.markup.clone(),
    }
}

/// CSS class of an emphasis, and a sign with the same meaning.
const fn weight(emphasis: Emphasis) -> (&'static str, &'static str) {
    match emphasis {
        Emphasis::Plain => ("", ""),
        Emphasis::Strong => ("strong", ""),
        Emphasis::Note => ("weight note", "● "),
        Emphasis::Caution => ("weight caution", "▲ "),
        Emphasis::Void => ("weight void", "■ "),
    }
}

fn fact(fact: &Fact) -> Markup {
    let (class, sign) = weight(fact.emphasis);
    html! {
        dt class=[Some(class).filter(|class| !class.is_empty())] { (sign) (text(&fact.name)) }
        dd {
            (text(&fact.text))
            @if !fact.parts.is_empty() {
                ul { @for (amount, description) in &fact.parts { li { (text(amount)) ": " (text(description)) } } }
            }
            @for remark in &fact.remarks { div class="evidence" { (text(remark)) } }
            @if !fact.links.is_empty() {
                div class="evidence" {
                    (label!("Based on "))
                    @for (index, link) in fact.links.iter().enumerate() {
                        @if index > 0 { (label!("; ")) }
                        (linked(&link.name, Some(link)))
                    }
                    (label!("."))
                }
            }
        }
    }
}

fn item(item: &Item) -> Markup {
    html! {
        li { (text(&item.text)) @for remark in &item.remarks { div class="evidence" { (text(remark)) } } }
    }
}

/// A table that scrolls, with its notes; empty without rows.
fn table(table: &Table, label: &str) -> Markup {
    if table.rows.is_empty() {
        return html! {};
    }
    let columns: Vec<Vec<Markup>> =
        table.columns.iter().enumerate().map(|(index, column)| cells(column, table, index)).collect();
    html! {
        div class="scroll" tabindex="0" role="region" aria-label=(clean(label)) {
            table {
                thead { tr {
                    @for column in &table.columns {
                        th class=[words_class(column)] scope="col" {
                            (text(&column.name)) @if !column.unit.is_empty() { small { (unit(column)) } }
                        }
                    }
                } }
                @for (name, rows) in groups(table) {
                    tbody {
                        @if let Some(name) = name {
                            tr { th class="group" scope="rowgroup" colspan=(table.columns.len()) { span { (text(name)) } } }
                        }
                        @for index in rows { (row(table, index, &columns)) }
                    }
                }
            }
        }
        @for note in table.notes.iter().map(String::as_str).chain(sign_legend(table)) { p class="lead" { (text(&sentence(note))) } }
    }
}

/// Legend of the signs that HTML adds to a table.
fn sign_legend(table: &Table) -> impl Iterator<Item = &str> {
    let has_interval = table.rows.iter().flatten().any(|cell| cell.interval.is_some());
    let is_chosen = |row: &Vec<Cell>| row.first().is_some_and(|cell| cell.emphasis == Emphasis::Strong);
    let has_chosen = table.rows.iter().any(is_chosen);
    let signs = [
        (has_interval, label!("small figures are 95 % intervals")),
        (has_chosen, label!("⊖ marks the row of the verdict")),
    ];
    signs.into_iter().filter(|(is_used, _)| *is_used).map(|(_, meaning)| meaning)
}

/// Row ranges with the headings between them.
fn groups(table: &Table) -> Vec<(Option<&str>, Range<usize>)> {
    let mut starts: Vec<(Option<&str>, usize)> =
        table.groups.iter().map(|(row, heading)| (Some(heading.as_str()), *row)).collect();
    if starts.first().is_none_or(|(_, row)| *row > 0) {
        starts.insert(0, (None, 0));
    }
    let end = |index: usize| starts.get(index + 1).map_or(table.rows.len(), |(_, row)| *row);
    starts.iter().enumerate().map(|(index, (name, row))| (*name, *row..end(index))).collect()
}

fn row(table: &Table, index: usize, cells: &[Vec<Markup>]) -> Markup {
    let chosen = table.rows[index].first().is_some_and(|cell| cell.emphasis == Emphasis::Strong).then_some("chosen");
    html! {
        tr class=[chosen] id=[table.rows[index].first().and_then(|cell| cell.anchor.as_deref())] {
            @for (place, column) in table.columns.iter().enumerate() {
                @if place == 0 { th scope="row" { (cells[place][index]) } }
                @else { td class=[words_class(column)] { (cells[place][index]) } }
            }
        }
    }
}

/// The cells of a column, aligned by their decimal points.
fn cells(column: &Column, table: &Table, index: usize) -> Vec<Markup> {
    let texts = table.rows.iter().map(|row| row[index].text.as_str());
    let long = |words: &str| html! { @if words.chars().count() > 40 { span class="reason" { (text(words)) } } @else { (text(words)) } };
    let values: Vec<Markup> =
        if column.is_words() { texts.map(long).collect() } else { aligned(&texts.map(plain).collect::<Vec<_>>()) };
    let with_interval = |(value, row): (Markup, &Vec<Cell>)| {
        html! {
            @if let Some(series) = row[index].series { (swatch(series)) }
            @if let Some(link) = &row[index].link { a href=(href(link)) { (value) } } @else { (value) }
            @if let Some(share) = row[index].gauge { " " (gauge(share)) }
            @if let Some(interval) = &row[index].interval { small { (text(interval)) } }
        }
    };
    values.into_iter().zip(&table.rows).map(with_interval).collect()
}

/// A path of the server as it is, otherwise an anchor of this page.
fn href(link: &str) -> String {
    if link.starts_with('/') { link.to_owned() } else { format!("#{link}") }
}

/// Marker of a series in the charts.
fn swatch(series: usize) -> Markup {
    html! {
        svg class={ "chart swatch " (colour_class(series)) } viewBox="-7 -7 14 14" aria-hidden="true" {
            (MarkerShape::ALL[series % MarkerShape::ALL.len()].draw(0.0, 0.0, "solid"))
        }
    }
}

/// Values aligned by their decimal points.
fn aligned(cells: &[String]) -> Vec<Markup> {
    let cell = |(cell, pad): (&String, Pad)| {
        let digits = pad.digits.min(MAX_PAD);
        let class = match (digits, pad.point) {
            (0, false) => None,
            (digits, true) => Some(format!("pad{digits} point")),
            (digits, false) => Some(format!("pad{digits}")),
        };
        html! { @if let Some(class) = class { span class=(class) { (cell) } } @else { (cell) } }
    };
    cells.iter().zip(pads(cells)).map(cell).collect()
}

fn unit(column: &Column) -> String {
    if column.unit == "us" { "µs".to_owned() } else { plain(column.unit) }
}

fn words_class(column: &Column) -> Option<&'static str> {
    column.is_words().then_some("l")
}
