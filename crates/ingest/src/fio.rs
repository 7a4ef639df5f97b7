//! Output of fio: JSON, text, terse lines and logs, of versions 2 and 3. Evidence of storage, never demand.
//!
//! Each form is read into jobs ([`job::Job`]), which are handed over alike. Latencies are fio's total ones (from
//! submission on) if present, otherwise those of completion; quantiles are of completion unless fio was set to give
//! those of the total.

mod job;
mod json;
mod log;
mod terse;
mod text;

pub(crate) use json::FORM as JSON;
pub(crate) use log::{FORM as LOG, HISTOGRAM_FORM as HISTOGRAM};
pub(crate) use terse::FORM as TERSE;
pub(crate) use text::FORM as TEXT;
