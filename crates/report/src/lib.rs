//! Runs as text, HTML, SVG and CSV: what a person reads; demand, diagnoses and offers of storage likewise. The JSON of a curve is
//! its own form, in `plimsoll-record`.
//!
//! Pure: takes curves and choices, returns strings and bytes. Knows nothing about files, terminals, clocks or how a curve
//! came to be.

mod chart;
mod crowds;
mod csv;
mod doubts;
mod html;
mod json;
mod latency;
mod money;
mod number;
mod pick;
mod progress;
mod scale;
mod statements;
mod suite;
mod svg;
mod terraform;
mod text;
mod timeline;
pub mod words;

pub use csv::{csv, sizing_csv, suite_csv};
pub use html::{Sheet, diagnoses_html, html, html_of, sizing_html, suites_html};
pub use json::{demand_json, diagnoses_json, explanation_json, matches_json, quotes_json, sizing_json};
pub use progress::{Progress, progress_line};
pub use svg::svg;
pub use terraform::terraform;
pub use text::{
    Cells, Charset, Color, Detail, Heading, Telling, TextStyle, comparison, demand, diagnoses, explanation, facts, fit,
    grid, ladder, matches, product_list, product_page, quotes, replays, sizing, suite, text, what_ifs,
};
pub use timeline::{Mark, Panel, PanelScale, Timeline, Track, timeline};
