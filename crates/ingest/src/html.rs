//! The tables of an HTML document, in one pass over its bytes.
//!
//! As tolerant as reports need it: tags may be left open, attributes quoted twice (as spreadsheets save them), text may
//! hold `<`. It builds no tree, so nesting costs nothing, and keeps one table at a time.

mod grid;
mod scan;

pub(crate) use grid::{Piece, pieces};
