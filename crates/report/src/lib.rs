//! Results as text, HTML, Markdown, CSV, SVG and JSON.
//!
//! A builder in [`pages`] turns a result into a [`Page`], which is data; [`page_text`], [`page_html`], [`page_markdown`] and
//! [`page_csv`] render any page. Curves and suites still have renderers of their own. The JSON of a
//! curve is its own form, in `plimsoll-record`.
//!
//! Pure: takes results, returns strings and bytes. Knows nothing about files, terminals, clocks or the origin of a result.

mod chart;
mod crowds;
mod csv;
mod doubts;
mod html;
mod json;
mod latency;
mod markdown;
mod money;
mod number;
mod page;
pub mod pages;
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

pub use csv::{csv, page_csv, suite_csv};
pub use html::{Sheet, html, html_of, page_html, suites_html};
pub use json::{
    demand_json, diagnoses_json, explanation_json, fit_json, matches_json, product_json, products_json, quotes_json,
    runs_json, sizing_json,
};
pub use markdown::page_markdown;
pub use page::{
    Block, Cell, Chart, Column, ColumnKind, Emphasis, Fact, Headline, Item, Link, Page, Section, Table, TableLayout,
    Visibility,
};
pub use progress::{Progress, progress_line};
pub use svg::svg;
pub use terraform::terraform;
pub use text::{Charset, Color, TextStyle, facts, grid, ladder, matches_short, page_text, replays, suite, text};
pub use timeline::{Mark, Panel, PanelScale, Timeline, Track, timeline};
