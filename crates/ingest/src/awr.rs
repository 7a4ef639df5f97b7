//! Oracle's workload reports: AWR as HTML and as text, and Statspack.
//!
//! A report is read in two steps: its tables become a `Report`, a set of numbers with their places; then `figures`
//! derives the demand. The first step differs by form, the second is the same for all.
//!
//! Tables are known by the names of their columns, never by position, and not by the `summary` attribute: some reports
//! have none, and that of the buffer pool advisory names another table.

mod compare;
mod figures;
#[cfg(test)]
mod golden;
mod html;
mod report;
mod rows;
mod section;
mod text;

pub(crate) use html::FORM as HTML;
pub(crate) use text::{FORM as TEXT, STATSPACK_FORM as STATSPACK};
