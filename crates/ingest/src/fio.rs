//! What fio says of its tests: JSON, text, terse lines and logs, of versions 2 and 3. Evidence of what storage gives.
//!
//! Each form is read into jobs ([`job::Job`]); what becomes of a job is the same for all. Latencies are fio's total ones
//! (from submission on) where they are there, otherwise those of completion; quantiles are of completion unless fio was
//! told to give those of the total.

mod hist;
mod job;
mod json;
mod log;
mod options;
mod series;
mod terse;
mod text;
mod words;

pub(crate) use json::FORM as JSON;
pub(crate) use log::{FORM as LOG, HISTOGRAM_FORM as HISTOGRAM};
pub(crate) use terse::FORM as TERSE;
pub(crate) use text::FORM as TEXT;
