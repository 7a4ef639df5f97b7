//! Pages and tables for a terminal.

mod page;
mod paint;
mod plot;
mod table;

use crate::page::{Block, Column, Fact, Page, PageSection, Table};

/// Whether to use escape sequences. Colour is never the only carrier of meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// None.
    #[default]
    Plain,
    /// ANSI escape sequences.
    Ansi,
}

/// Characters that the terminal can display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// ASCII only.
    Ascii,
    /// Unicode, braille included.
    #[default]
    Unicode,
}

/// Style of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextStyle {
    /// Use of escape sequences.
    pub color: Color,
    /// Columns of the terminal; at least 40 are used.
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

/// Renders a page for a terminal, ending in a newline. Lines fit the width, except commands and lists for scripts.
pub fn page_text(page: &Page, style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&page::render_parts(page, &style), &style)
}

/// Renders a table of texts with notes. Lines fit the width.
pub fn grid(columns: &[Column], rows: &[Vec<String>], notes: &[String], style: &TextStyle) -> String {
    let table = Table::of_texts(columns, rows, notes.to_vec());
    page_text(&Page { sections: vec![PageSection::bare("", vec![Block::Table(table)])], ..Page::default() }, style)
}

/// Renders a title and names of at most 8 letters with their values; empty values are omitted.
pub fn format_facts(title: &str, facts: &[(&'static str, String)], style: &TextStyle) -> String {
    let facts = facts.iter().filter(|(_, text)| !text.is_empty());
    let facts = facts.map(|(name, text)| Fact::new(*name, text)).collect();
    page_text(&Page { sections: vec![PageSection::new(title, vec![Block::Facts(facts)])], ..Page::default() }, style)
}

impl TextStyle {
    fn at_least_40(self) -> Self {
        Self { width: self.width.max(40), ..self }
    }
}
