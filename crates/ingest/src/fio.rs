//! Output of fio 2 and 3: JSON, text, terse lines and logs. Evidence about storage, never demand.
//!
//! Each format is converted to jobs ([`job::JobResult`]), which are emitted alike. Latencies are fio's total ones (from
//! submission on) if present, otherwise those of completion; quantiles are of completion unless fio was configured for
//! the total.

mod job;
mod json;
mod judge;
mod log;
mod terse;
mod text;

/// The text of a line that was not overwritten: fio's progress ends with a carriage return, also in files.
fn without_progress(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    line.rsplit_once('\r').map_or(line, |(_, text)| text)
}

pub(crate) use json::FORM as JSON;
pub(crate) use log::{FORM as LOG, HISTOGRAM_FORM as HISTOGRAM};
pub(crate) use terse::FORM as TERSE;
pub(crate) use text::FORM as TEXT;
