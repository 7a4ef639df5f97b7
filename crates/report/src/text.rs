//! Pages and tables for a terminal.

mod page;
mod paint;
mod plot;
mod summary;
mod table;
mod width;

pub use paint::wrap;
pub use width::pad_end;

use crate::page::Page;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextStyle {
    /// Use of escape sequences.
    pub color: Color,
    /// Columns of the terminal; at least 40 are used.
    pub width: usize,
    pub lines: usize,
    /// Characters that may be used.
    pub unicode: Charset,
}

impl Default for TextStyle {
    /// 80 columns and 24 lines of Unicode without colour.
    fn default() -> Self {
        Self { color: Color::Plain, width: 80, lines: 24, unicode: Charset::Unicode }
    }
}

/// Renders a page for a terminal, ending in a newline. Lines fit the width, except commands and lists for scripts.
pub fn page_text(page: &Page, style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&page::render_parts(page, &style), &style)
}

/// Renders the result of a page in one screen: at most the lines of the style, 24 at 80 columns, with verdict, key figures, cautions, a plot or
/// a table, the next command, and `rest`, which shows the page in full. A page without a verdict, one that fits in a
/// screen, and a description are rendered in full.
pub fn page_summary(page: &Page, rest: &str, style: &TextStyle) -> String {
    let style = style.at_least_40();
    let full = page_text(page, &style);
    if page.headline.is_none() || full.lines().count() <= style.lines {
        return full;
    }
    match summary::render_parts(page, rest, &style) {
        // A description has nothing but its title to summarise.
        parts if parts[1..parts.len() - 1].iter().all(Vec::is_empty) => full,
        parts => paint::finish(&parts, &style),
    }
}

impl TextStyle {
    fn at_least_40(self) -> Self {
        Self { width: self.width.max(40), ..self }
    }
}
