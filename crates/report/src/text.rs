//! Pages and tables for a terminal.

mod page;
mod paint;
mod plot;
mod table;

use crate::page::{Block, Column, Fact, Page, Section, Table};

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

/// A page for a terminal, ending in a newline. No line passes the width, but for commands and lists for scripts.
pub fn page_text(page: &Page, style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&page::parts(page, &style), &style)
}

/// A table of texts, with notes below it. No line passes the width.
pub fn grid(columns: &[Column], rows: &[Vec<String>], notes: &[String], style: &TextStyle) -> String {
    let table = Table::of_texts(columns, rows, notes.to_vec());
    page_text(&Page { sections: vec![Section::bare("", vec![Block::Table(table)])], ..Page::default() }, style)
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
