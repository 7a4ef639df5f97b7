//! Oracle's reports of a workload: AWR as HTML and as text, and Statspack.
//!
//! A report is read in two steps: its tables become a `Report`, which holds what it says with the place of each number;
//! then `figures` makes demand of it. The first step differs by form, the second is the same for all.
//!
//! Tables are known by the names of their columns, never by position, and not by the `summary` attribute: some reports have
//! none, and that of the buffer pool advisory names another table.

mod compare;
mod figures;
#[cfg(test)]
mod golden;
mod histogram;
mod html;
mod report;
mod rows;
mod ruler;
mod section;
mod text;
mod words;

pub(crate) use html::FORM as HTML;
pub(crate) use ruler::Ruler;
pub(crate) use text::{FORM as TEXT, STATSPACK_FORM as STATSPACK};
