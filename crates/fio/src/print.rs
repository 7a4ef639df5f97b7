//! fio's output formats: normal text, JSON, terse lines and logs.
//!
//! Layouts of fio 3.42, observed from its output. Three defects of fio 3.42 are not reproduced: here the bandwidth
//! of `unified_rw_reporting=both` has its unit, the decimal bandwidth of a steady state is decimal, and `kb_base=1000`
//! converts bandwidth samples labelled `kB/s`. Percentages of zero are zero; fio prints `-nan`.

mod accumulate;
mod buckets;
mod group;
mod heading;
mod json;
mod latency;
mod log;
mod log_histogram;
mod normal;
mod number;
mod result;
mod shares;
mod steady;
mod terse;

pub use buckets::{nonempty_buckets, percentiles};
pub use heading::{Heading, heading};
pub use json::{Detail, json};
pub use latency::{LatencyHistogram, Moments};
pub use log::{DirectionCounts, LogColumns, LogKind, LogSample, LogWriter, TransferDirection, log_name};
pub use log_histogram::HistogramLog;
pub use normal::normal;
pub use number::{Kilo, RateUnit, Units};
pub use result::{
    Depths, DirectionResult, DiskCounts, DiskUse, Errors, Failure, FioReport, Idleness, JobReport, LatencyCounts,
    LatencyTarget, Percentiles, SampleStatistics, SteadyState, Unified,
};
pub use terse::{TerseVersion, terse};

/// fio version of the layouts.
pub const LAYOUT: &str = "fio-3.42";

/// Replacement of fio's version: `fio-3.42-plimsoll-0.1.0` for plimsoll `0.1.0`.
///
/// Parsers match `fio-` and the number after it; fio itself appends a suffix after a hyphen between releases.
pub fn version(plimsoll: &str) -> String {
    format!("{LAYOUT}-plimsoll-{plimsoll}")
}

/// Output format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputForm {
    /// Human-readable.
    Normal,
    /// JSON, with or without all bins.
    Json(Detail),
    /// A line per job.
    Terse(TerseVersion),
}

/// A report in several formats, in fio's order: terse lines, JSON, normal text.
pub fn format_report(report: &FioReport, forms: &[OutputForm]) -> String {
    let mut text = String::new();
    for form in forms {
        if let OutputForm::Terse(version) = form {
            text.push_str(&terse(report, *version));
        }
    }
    for form in forms {
        if let OutputForm::Json(detail) = form {
            text.push_str(&json(report, *detail));
        }
    }
    if forms.contains(&OutputForm::Normal) {
        text.push_str(&normal(report));
    }
    text
}
