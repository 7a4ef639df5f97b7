//! Runs as text, HTML, SVG and CSV: what a person reads. JSON is the curve's own form, in `plimsoll-record`.
//!
//! Pure: takes curves, returns strings. Knows nothing about files, terminals, clocks or how a curve came to be.

mod chart;
mod csv;
mod doubts;
mod html;
mod latency;
mod number;
mod pick;
mod progress;
mod scale;
mod svg;
mod text;
pub mod words;

pub use csv::csv;
pub use html::{Sheet, html, html_of};
pub use progress::{Progress, progress_line};
pub use svg::svg;
pub use text::{Charset, Color, TextStyle, comparison, ladder, text};
