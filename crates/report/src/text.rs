//! A curve for a terminal: the verdict first, then the figures, then the doubts.

mod beside;
mod configurations;
mod crowds;
pub(crate) mod demand;
pub(crate) mod diagnosis;
mod evidence;
mod explanation;
mod fit;
mod grid;
mod matches;
mod paint;
mod plot;
mod product;
mod products;
mod prose;
mod quote;
mod quotes;
mod replays;
mod rungs;
mod runs;
mod sizing;
mod suite;
mod table;
mod what_if;

use plimsoll_analyse::{Comparison, Fitted};
use plimsoll_catalogue::{Catalogue, Product};
use plimsoll_choose::diagnosis::Diagnosis;
use plimsoll_choose::sizing::Sizing;
use plimsoll_choose::what_if::WhatIfs;
use plimsoll_choose::{Explanation, Matches, Need, Quote, Resemblance};
use plimsoll_ingest::{Demand, Outcome};
use plimsoll_record::{Curve, LoadLine, SuiteRun};

use crate::words::Counted;

pub use demand::Telling;
pub(crate) use demand::measure_name;
pub use grid::{Cells, Heading};
pub(crate) use grid::{Filled, NONE};
pub use matches::Detail;

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

/// One recorded load on several configurations beside each other, ending in a newline; nothing for fewer than two.
pub fn replays(curves: &[Curve], style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&[replays::beside(curves, &style)], &style)
}

/// Load lines at several objectives, as a table that ends in a newline; nothing for no lines.
pub fn ladder(lines: &[LoadLine], style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&[rungs::ladder(lines, &style)], &style)
}

/// The comparison of runs: the verdict, the names of the runs on each side, the figures, and differing conditions.
pub fn comparison(names: [&[String]; 2], comparison: &Comparison, style: &TextStyle) -> String {
    let style = style.at_least_40();
    let parts = [
        beside::verdict(names, comparison, &style),
        beside::figures(comparison, &style),
        beside::conditions(comparison, &style),
    ];
    paint::finish(&parts, &style)
}

/// What configurations give, cost and are bound by: of several a comparison, then each for itself. Nothing for none.
pub fn quotes(quotes: &[Quote], style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&quotes::parts(quotes, &style), &style)
}

/// What inputs were recognised as, what they ask of storage by class and over time, and what is doubtful.
pub fn demand(outcomes: &[Outcome], demand: &Demand, telling: Telling, style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&demand::parts(outcomes, demand, telling, &style), &style)
}

/// Whether storage is the problem of each database or host: verdicts, the database's time, what would change it, and
/// where the numbers stand.
pub fn diagnoses(outcomes: &[Outcome], diagnoses: &[Diagnosis], style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&diagnosis::parts(outcomes, diagnoses, &style), &style)
}

/// Products that would carry a load, the cheapest first; what the measured storage most resembles; what would not carry
/// it, and why. With [`Detail::Short`] at most eight lines.
pub fn matches(need: &Need, matches: &Matches, near: &[Resemblance], detail: Detail, style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&matches::parts(need, matches, near, detail, &style), &style)
}

/// What to buy for a demand: the design point, at most so many choices, the cheapest first, and what does not carry it.
pub fn sizing(sizing: &Sizing, most: usize, style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&sizing::parts(sizing, most, &style), &style)
}

/// What would be if: every what-if that was asked of a sizing. Nothing for none.
pub fn what_ifs(what_ifs: &WhatIfs, style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&what_if::parts(what_ifs, &style), &style)
}

/// What was measured beside what a configuration would have given, and the likely causes of the differences.
pub fn explanation(explanation: &Explanation, style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&explanation::parts(explanation, &style), &style)
}

/// A fitted model: its numbers and how well they are known, what else was tried, and what is doubtful.
pub fn fit(fitted: &Fitted, style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&fit::parts(fitted, &style), &style)
}

/// Every product of the catalogue by provider: names, sizes, prices, and how sure its figures are.
pub fn product_list(catalogue: &Catalogue, style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&products::parts(catalogue, &style), &style)
}

/// All that is known of one product, with the source of each figure.
pub fn product_page(product: &Product, style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&product::parts(product, &style), &style)
}

/// A table of anything, with notes below it. No line passes the width.
pub fn grid(headings: &[Heading], rows: &[Vec<String>], notes: &[String], style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&grid::parts(headings, rows, notes, &style), &style)
}

/// A title, then a word of at most 8 letters and what it is for each fact; facts without a text are left out.
pub fn facts(title: &str, facts: &[(&str, String)], style: &TextStyle) -> String {
    let style = style.at_least_40();
    paint::finish(&[grid::facts(title, facts, &style)], &style)
}

impl TextStyle {
    fn at_least_40(self) -> Self {
        Self { width: self.width.max(40), ..self }
    }
}
