//! A curve for a terminal: the verdict first, then the figures, then the doubts.

mod beside;
mod paint;
mod plot;
mod prose;
mod rungs;
mod runs;
mod table;

use plimsoll_analyse::Comparison;
use plimsoll_record::{Curve, LoadLine};

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

/// A curve for a terminal, ending in a newline. No line passes the width.
pub fn text(curve: &Curve, style: &TextStyle) -> String {
    let style = style.at_least_40();
    let parts = [
        prose::headline(curve, &style),
        runs::by_run(curve, &style),
        runs::by_stream(curve, &style),
        plot::plot(curve, &style),
        prose::findings(curve, &style),
        prose::place(curve, &style),
    ];
    paint::finish(&parts, &style)
}

/// Load lines at several objectives, as a table that ends in a newline; nothing for no lines.
pub fn ladder(lines: &[LoadLine], style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&[rungs::ladder(lines, &style)], &style)
}

/// What changed between two curves: the verdict, the figures beside each other, and what else was not the same.
pub fn comparison(names: [&str; 2], comparison: &Comparison, style: &TextStyle) -> String {
    let style = style.at_least_40();
    let parts = [
        beside::verdict(names, comparison, &style),
        beside::figures(comparison, &style),
        beside::conditions(comparison, &style),
    ];
    paint::finish(&parts, &style)
}

impl TextStyle {
    fn at_least_40(self) -> Self {
        Self { width: self.width.max(40), ..self }
    }
}
