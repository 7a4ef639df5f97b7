//! A result in one screen: verdict, key figures, cautions, a table or a plot, and the next command.

use plimsoll_language::{label, say};

use super::TextStyle;
use super::page::{lay_out, omitted_columns, paragraph, tone};
use super::paint::{PaintedLine, Tone, wrap};
use super::plot::{self, plot};
use super::table;
use super::width::{columns, pad_end};
use crate::page::{
    Block, Chart, Emphasis, Exhibit, Fact, Page, PageSection, Plot, SummaryOrder, Table, TableExtent, TableLayout,
    Visibility,
};
use crate::words::{clean, cut, repeat_purpose};

/// Minimum number of rows of a longer table.
const ROWS_MIN: usize = 3;
/// Maximum number of rows of a table.
const ROWS_MAX: usize = 5;
/// Minimum number of rows of a plot that shows its shape.
const PLOT_ROWS_MIN: usize = 5;
/// Number of figures and of findings, and the maximum number of lines of each.
type Extent = [(usize, usize); 2];

/// Lines of a figure that is not cut.
const FULL: usize = 5;
/// Lines of a finding that is not cut: its end may decide.
const UNCUT: usize = 12;
/// Extents, the largest first: the first that leaves room for the plot or table is used. A shorter selection is preferred to
/// texts that are cut, as the end of a text may decide.
const EXTENTS: [Extent; 15] = [
    [(6, FULL), (3, UNCUT)],
    [(5, FULL), (3, UNCUT)],
    [(4, FULL), (3, UNCUT)],
    [(4, FULL), (2, UNCUT)],
    [(3, FULL), (3, UNCUT)],
    [(3, FULL), (2, UNCUT)],
    [(4, 2), (3, UNCUT)],
    [(4, 2), (2, UNCUT)],
    [(3, 2), (2, UNCUT)],
    [(3, FULL), (1, UNCUT)],
    [(3, 2), (1, UNCUT)],
    [(4, 1), (1, UNCUT)],
    [(4, 1), (1, 2)],
    [(4, FULL), (0, 0)],
    [(4, 1), (0, 0)],
];
/// Number of the last extents, without findings.
const WITHOUT_FINDINGS: usize = 2;

/// The parts of the summary, to be separated by empty lines.
pub(super) fn render_parts(page: &Page, rest: &str, style: &TextStyle) -> Vec<Vec<PaintedLine>> {
    let findings = collect_findings(page);
    let render = |[(figures, figure_lines), (count, finding_lines)]: Extent| {
        let figures = page.figures.iter().take(figures).map(figure);
        let commands = render_commands(page, rest, findings.len().saturating_sub(count));
        let first = findings.iter().take(count).cloned();
        [render_verdict(page, style), named(figures, figure_lines, style), named(first, finding_lines, style), commands]
    };
    let is_led_by_exhibit = page.order == SummaryOrder::ExhibitFirst;
    let extents = if is_led_by_exhibit { EXTENTS.len() } else { EXTENTS.len() - WITHOUT_FINDINGS };
    let screens: Vec<_> = EXTENTS.into_iter().take(extents).map(render).collect();
    // With the empty line after each part, thus with that before a plot or table.
    let used = |parts: &[Vec<PaintedLine>; 4]| -> usize {
        parts.iter().filter(|part| !part.is_empty()).map(|part| part.len() + 1).sum()
    };
    let room = |parts: &[Vec<PaintedLine>; 4]| style.lines.saturating_sub(used(parts));
    let fit = |block: &Block| {
        screens.iter().map(|parts| (parts, fitting(block, room(parts), style))).find(|(_, laid)| !laid.is_empty())
    };
    let without = || screens.iter().find(|parts| used(parts) <= style.lines + 1).unwrap_or(&screens[screens.len() - 1]);
    // All rows of a table that has to have them, on any screen.
    let all_rows = || {
        exhibits(page).find_map(|block| match block {
            Block::Table(table) if table.extent == TableExtent::All => {
                Some((&screens[screens.len() - 1], first_rows(table, table.rows.len(), style)))
            }
            _ => None,
        })
    };
    let laid = exhibits(page).find_map(fit).or_else(all_rows);
    let (parts, exhibit) = laid.unwrap_or_else(|| (without(), Vec::new()));
    let [verdict, figures, findings, commands] = parts.clone();
    let (first, second) = if is_led_by_exhibit { (exhibit, findings) } else { (findings, exhibit) };
    vec![verdict, figures, first, second, commands]
}

fn render_verdict(page: &Page, style: &TextStyle) -> Vec<PaintedLine> {
    let alert = page.alert.iter().flat_map(|(emphasis, text)| paragraph(text, tone(*emphasis), 0, style));
    let sentence = page.headline.iter().flat_map(|headline| {
        let origin = if page.origin.is_empty() { headline.grade } else { page.origin };
        let origin = if origin.is_empty() { String::new() } else { format!(" - {origin}") };
        paragraph(&format!("{}{origin}", headline.text), Tone::Strong, 0, style)
    });
    alert.chain(sentence).collect()
}

/// The next command, unless it is the same, and how to show the rest.
fn render_commands(page: &Page, rest: &str, more: usize) -> Vec<PaintedLine> {
    let next = page.next.iter().find(|(purpose, _)| purpose != repeat_purpose());
    let next = next.map(|(purpose, command)| format!("{purpose}: {command}"));
    let more = match more {
        0 => String::new(),
        1 => label!(" (1 more finding)").to_owned(),
        more => say!(" ({more} more findings)"),
    };
    let rest = say!("Details{more}: {rest}");
    next.into_iter().chain([rest]).map(|line| PaintedLine::plain(clean(&line))).collect()
}

/// Name, tone and text of a figure or a finding.
type Named = (String, Tone, String);

/// A value with its remarks.
fn figure(fact: &Fact) -> Named {
    let text = std::iter::once(&fact.text).chain(&fact.remarks);
    let text = text.filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(label!(", "));
    (fact.name.to_string(), Tone::Quiet, text)
}

/// The cautions of the verdict and the findings of the sections, those that void it first.
fn collect_findings(page: &Page) -> Vec<Named> {
    let headline = page.headline.iter();
    let cautions = headline.clone().flat_map(|headline| &headline.cautions);
    let cautions = cautions.map(|text| (Emphasis::Caution, label!("caution").to_owned(), text.clone()));
    let is_finding = |fact: &&Fact| fact.emphasis == Emphasis::Strong || fact.emphasis >= Emphasis::Caution;
    let facts = sections(page).flat_map(list_facts).filter(is_finding);
    // A finding that begins with the verdict, without its figure in parentheses, does not repeat it.
    let stem = |text: &str| text.split_once(" (").map_or(text, |(stem, _)| stem).to_owned();
    let verdict = headline.map(|headline| format!("{}: ", stem(&headline.text))).next().unwrap_or_default();
    let of_sections = facts.map(|fact| {
        let text = fact.text.strip_prefix(&verdict).filter(|_| !verdict.is_empty()).unwrap_or(&fact.text);
        (fact.emphasis, fact.name.to_string(), text.to_owned())
    });
    let mut all: Vec<(Emphasis, String, String)> = cautions.chain(of_sections).collect();
    all.sort_by_key(|(emphasis, ..)| *emphasis != Emphasis::Void);
    all.into_iter().map(|(emphasis, name, text)| (name, tone(emphasis), text)).collect()
}

fn sections(page: &Page) -> impl Iterator<Item = &PageSection> {
    page.display().filter(|section| section.visibility != Visibility::Detail)
}

fn list_facts(section: &PageSection) -> impl Iterator<Item = &Fact> {
    section.blocks.iter().flat_map(|block| if let Block::Facts(facts) = block { facts.as_slice() } else { &[] })
}

/// Names in a column, each with a text of at most `lines_max` lines.
fn named(rows: impl Iterator<Item = Named>, lines_max: usize, style: &TextStyle) -> Vec<PaintedLine> {
    let rows: Vec<Named> = rows.map(|(name, tone, text)| (clean(&name), tone, clean(&text))).collect();
    let column = rows.iter().map(|(name, ..)| columns(name)).max().unwrap_or(0).min(style.width / 3) + 2;
    let row = |(name, tone, text): &Named| {
        let mut lines = wrap(text, style.width - column);
        if lines.len() > lines_max {
            let rest = plimsoll_language::join_sentences(lines.split_off(lines_max - 1));
            lines.push(cut(&rest, style.width - column));
        }
        let lead = pad_end(&cut(name, column - 2), column);
        let line = |(index, line): (usize, String)| match index {
            0 => PaintedLine::led(lead.clone(), *tone, line),
            _ => PaintedLine::plain(format!("{:column$}{line}", "")),
        };
        lines.into_iter().enumerate().map(line).collect::<Vec<_>>()
    };
    rows.iter().flat_map(row).collect()
}

/// The plot, table or listing of the page, then those of its sections, plots first.
fn exhibits(page: &Page) -> impl Iterator<Item = &Block> {
    let blocks = || sections(page).flat_map(|part| &part.blocks);
    let plots = blocks().filter(|block| matches!(block, Block::Plot(_)));
    let own = if let Exhibit::Block(block) = &page.exhibit { Some(block) } else { None };
    let has_none = matches!(page.exhibit, Exhibit::None);
    own.into_iter().chain(plots).chain(blocks()).filter(move |_| !has_none)
}

/// A block in at most `lines` lines, with fewer rows if necessary; empty if they are too few, or for other blocks.
fn fitting(block: &Block, lines: usize, style: &TextStyle) -> Vec<PaintedLine> {
    match block {
        Block::Plot(curve) => {
            let untitled = Plot { title: String::new(), ..curve.clone() };
            let around = plot(&untitled, plot::ROWS, style).len().saturating_sub(plot::ROWS);
            let rows = plot::ROWS.min(lines.saturating_sub(around));
            if rows < PLOT_ROWS_MIN { Vec::new() } else { plot(&untitled, rows, style) }
        }
        Block::Chart(Chart { plain: Some(table), .. }) | Block::Table(table) if table.layout == TableLayout::Grid => {
            let all = table.rows.len();
            let rows = match table.extent {
                TableExtent::First => ROWS_MIN.min(all)..=ROWS_MAX.min(all),
                TableExtent::All => all..=all,
            };
            let mut laid = rows.rev().map(|rows| first_rows(table, rows, style));
            laid.find(|laid| laid.len() <= lines).unwrap_or_default()
        }
        Block::Listing(text) => {
            let fits = |line: &str| columns(line) <= style.width;
            let is_small = text.lines().count() <= lines && text.lines().all(fits);
            text.lines().filter(|_| is_small).map(PaintedLine::plain).collect()
        }
        _ => Vec::new(),
    }
}

/// The first rows of a table without its notes, and the number of the others.
fn first_rows(table: &Table, rows: usize, style: &TextStyle) -> Vec<PaintedLine> {
    let more = table.rows.len() - rows;
    let mut table = table.clone();
    table.rows.truncate(rows);
    table.groups.retain(|(row, _)| *row < rows);
    let table::Laid { mut lines, legends, left_out } = lay_out(&table, style);
    let more = (more > 0).then(|| say!("and {more} more rows"));
    let rest: Vec<String> = legends.into_iter().chain(more).chain(omitted_columns(left_out)).collect();
    if !lines.is_empty() && !rest.is_empty() {
        lines.extend(paragraph(&rest.join(label!("; ")), Tone::Quiet, 0, style));
    }
    lines
}
