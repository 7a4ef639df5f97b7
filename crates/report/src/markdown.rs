//! Renders a page as Markdown with GitHub's tables.

use plimsoll_language::{label, say};

use crate::page::{Block, Fact, Page, PageSection, Table};
use crate::words::clean;

/// Renders a page as Markdown (`CommonMark` with GitHub's tables), ending in a newline.
pub fn page_markdown(page: &Page) -> String {
    let mut parts = vec![format!("# {}", escaped(&page.title))];
    parts.extend(page.alert.iter().map(|(_, text)| format!("**{}**", escaped(text))));
    if let Some(headline) = &page.headline {
        let words: Vec<&str> = [page.origin, headline.grade].into_iter().filter(|word| !word.is_empty()).collect();
        let grade = if words.is_empty() { String::new() } else { format!(" ({})", words.join(label!(", "))) };
        parts.push(format!("**{}**{grade}", escaped(&headline.text)));
        parts.extend(headline.cautions.iter().chain(&headline.details).map(|text| escaped(text)));
    }
    parts.extend(page.subject.iter().map(|text| escaped(text)));
    parts.push(page.figures.iter().map(fact).collect::<Vec<_>>().join("\n"));
    for section in page.display() {
        if !section.heading.is_empty() {
            parts.push(format!("## {}", escaped(&section.heading)));
        }
        parts.extend(blocks(section));
    }
    for (purpose, command) in &page.next {
        parts.push(say!("{}:\n\n```sh\n{}\n```", escaped(purpose), clean(command)));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n") + "\n"
}

fn blocks(section: &PageSection) -> impl Iterator<Item = String> {
    section.blocks.iter().map(|block| match block {
        Block::Text(text) => escaped(text),
        Block::Heading(text) => format!("### {}", escaped(text)),
        Block::Note(text) if text.is_empty() => String::new(),
        Block::Note(text) => format!("*{}*", escaped(text)),
        Block::Facts(facts) => facts.iter().map(fact).collect::<Vec<_>>().join("\n"),
        Block::Items(items) => {
            let entries = items.iter().map(|item| entry(&escaped(&item.text), item.remarks.iter()));
            entries.collect::<Vec<_>>().join("\n")
        }
        Block::Table(rows) => table(rows),
        Block::Chart(chart) => chart.plain.as_ref().map_or_else(String::new, table),
        Block::Listing(text) => format!("```text\n{}\n```", text.trim_end_matches('\n')),
        Block::Data(_) | Block::Plot(_) | Block::Shares(_) => String::new(),
    })
}

/// An entry of a list with a nested list.
fn entry<'a>(text: &str, below: impl Iterator<Item = &'a String>) -> String {
    below.fold(format!("- {text}"), |entry, text| format!("{entry}\n  - {}", escaped(text)))
}

fn fact(fact: &Fact) -> String {
    let name = if fact.name.is_empty() { String::new() } else { format!("**{}**: ", escaped(&fact.name)) };
    let parts: Vec<String> =
        fact.parts.iter().map(|(amount, description)| format!("{amount}: {description}")).collect();
    entry(&format!("{name}{}", escaped(&fact.text)), parts.iter().chain(&fact.remarks))
}

fn table(table: &Table) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let total = table.with_intervals();
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let mut lines = vec![
        line(total.columns.iter().map(|column| escaped(&column.title())).collect()),
        line(total.columns.iter().map(|column| if column.is_words() { ":--" } else { "--:" }.to_owned()).collect()),
    ];
    for (index, row) in total.rows.iter().enumerate() {
        for (_, heading) in total.groups.iter().filter(|(before, _)| *before == index) {
            let mut cells = vec![String::new(); total.columns.len()];
            cells[0] = format!("**{}**", escaped(heading));
            lines.push(line(cells));
        }
        lines.push(line(row.iter().map(|cell| escaped(&cell.text)).collect()));
    }
    let notes = total.notes.iter().map(|note| format!("\n\n*{}*", escaped(note)));
    lines.join("\n") + &notes.collect::<String>()
}

/// Escapes Markdown and joins lines.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for letter in clean(text.trim()).chars() {
        if matches!(letter, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}
