//! Oracle's workload reports: AWR as HTML and as text, and Statspack.
//!
//! A report is read in two steps: its tables are collected in a `Report` of numbers with their places; then `figures`
//! derives the demand. The first step depends on the format, the second does not.
//!
//! Tables are recognised by the names of their columns, rather than by position or by the `summary` attribute: some
//! reports have none, and that of the buffer pool advisory names another table.

mod cells;
mod compare;
mod figures;
#[cfg(test)]
mod golden;
mod html;
mod readers;
mod report;
mod rows;
mod section;
mod text;
mod top;
mod waits;

pub(crate) use cells::FORM as CELLS;
pub(crate) use html::FORM as HTML;
pub(crate) use text::{FORM as TEXT, STATSPACK_FORM as STATSPACK};
