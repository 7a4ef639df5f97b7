//! Results as text, HTML, Markdown, CSV, SVG and JSON.
//!
//! A builder in [`pages`] turns a result into a [`Page`], which is data; [`page_text`], [`page_html`], [`page_markdown`] and
//! [`page_csv`] render any page. The JSON of curves and suites is their own form, in `plimsoll-record`.
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

pub use csv::page_csv;
pub use html::page_html;
pub use json::{
    demand_json, diagnoses_json, explanation_json, fit_json, matches_json, product_json, products_json, quotes_json,
    runs_json, sizing_json,
};
pub use markdown::page_markdown;
pub use page::{
    Block, Cell, Chart, Column, ColumnKind, Emphasis, Fact, Headline, IntervalPlace, Item, Link, Page, Plot, PlotPoint,
    Section, Shares, Table, TableLayout, Visibility,
};
pub use progress::{Progress, progress_line};
pub use svg::svg;
pub use terraform::terraform;
pub use text::{Charset, Color, TextStyle, facts, grid, page_text};
pub use timeline::{Mark, Panel, PanelScale, Timeline, Track, timeline};
