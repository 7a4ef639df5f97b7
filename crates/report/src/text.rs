//! A curve for a terminal: the verdict first, then the figures, then the doubts.

mod crowds;
mod matches;
mod page;
mod paint;
mod plot;
mod prose;
mod runs;
mod suite;
mod table;

use plimsoll_choose::{Matches, Need, Resemblance};
use plimsoll_record::{Curve, LoadLine, SuiteRun};

use crate::page::{Block, Column, Fact, Page, Section, Table};
use crate::pages;
use crate::words::Counted;

/// Whether escape sequences may be used. No colour carries meaning alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// None.
    #[default]
    Plain,
    /// ANSI escape sequences.
    Ansi,
}

/// Which characters the terminal shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// ASCII only.
    Ascii,
    /// Unicode, braille included.
    #[default]
    Unicode,
}

/// How a text is to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextStyle {
    /// Escape sequences or none.
    pub color: Color,
    /// Columns of the terminal; fewer than 40 are taken for 40.
    pub width: usize,
    /// Characters that may be used.
    pub unicode: Charset,
}

impl Default for TextStyle {
    /// 80 columns of Unicode without colour.
    fn default() -> Self {
        Self { color: Color::Plain, width: 80, unicode: Charset::Unicode }
    }
}

/// A suite for a terminal, ending in a newline. No line passes the width but those of classic layouts.
pub fn suite(run: &SuiteRun, style: &TextStyle) -> String {
    let style = &TextStyle { width: style.width.max(40), ..*style };
    paint::finish(&suite::parts(run, style), style)
}

/// A curve for a terminal, ending in a newline. No line passes the width.
pub fn text(curve: &Curve, style: &TextStyle) -> String {
    let style = style.at_least_40();
    let parts = [
        prose::headline(curve, &style),
        runs::by_run(curve, &style),
        runs::by_stream(curve, &style),
        plot::plot(curve, Counted::Operations, &style),
        prose::findings(curve, &style),
        prose::place(curve, &style),
    ];
    paint::finish(&parts, &style)
}

/// A page for a terminal, ending in a newline. No line passes the width, but for commands and lists for scripts.
pub fn page_text(page: &Page, style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&page::parts(page, &style), &style)
}

/// One recorded load on several configurations beside each other, ending in a newline; nothing for fewer than two.
pub fn replays(curves: &[Curve], style: &TextStyle) -> String {
    let style = style.at_least_40();
    let table = pages::replays(&curves.iter().collect::<Vec<_>>());
    let heading = paint::Line::of("The recorded load on each", paint::Tone::Strong);
    let lines = if table.rows.len() < 2 { Vec::new() } else { page::table(&table, &style) };
    let heading = (!lines.is_empty()).then_some(heading);
    paint::finish(&[heading.into_iter().chain(lines).collect()], &style)
}

/// Load lines at several objectives, as a table that ends in a newline; nothing for no lines.
pub fn ladder(lines: &[LoadLine], style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&[page::table(&pages::ladder(lines), &style)], &style)
}

/// The products that carry a measured load, in at most eight lines.
pub fn matches_short(need: &Need, matches: &Matches, near: &[Resemblance], style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&[matches::short(need, matches, near, &style)], &style)
}

/// A table of texts, with notes below it. No line passes the width.
pub fn grid(columns: &[Column], rows: &[Vec<String>], notes: &[String], style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&[page::table(&Table::of_texts(columns, rows, notes.to_vec()), &style)], &style)
}

/// A title, then names of at most 8 letters with their values; names without a value are left out.
pub fn facts(title: &str, facts: &[(&'static str, String)], style: &TextStyle) -> String {
    let facts = facts.iter().filter(|(_, text)| !text.is_empty());
    let facts = facts.map(|(name, text)| Fact::new(*name, text)).collect();
    page_text(&Page { sections: vec![Section::new(title, vec![Block::Facts(facts)])], ..Page::default() }, style)
}

impl TextStyle {
    fn at_least_40(self) -> Self {
        Self { width: self.width.max(40), ..self }
    }
}
