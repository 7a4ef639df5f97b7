//! What fio prints, made of plain figures: normal text, JSON, terse lines and logs.
//!
//! The layouts are those of fio 3.42, learned by running it. Three figures are printed as they are, where fio 3.42 prints
//! something else: the bandwidth of `unified_rw_reporting=both` has its unit, the decimal bandwidth of a steady state is
//! decimal, and `kb_base=1000` converts the samples of bandwidth that it labels `kB/s`. A share of nothing is zero, where
//! fio prints `-nan`.

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

pub use buckets::{buckets, percentiles};
pub use heading::{Heading, heading};
pub use json::{Detail, json};
pub use latency::{Latency, Moments};
pub use log::{Counted, Direction, Log, LogColumns, LogSample, LogWriter, log_name};
pub use log_histogram::HistogramLog;
pub use normal::normal;
pub use number::{Kilo, Unit, Units};
pub use result::{
    Depths, DiskCounts, DiskUse, Errors, Failure, Idleness, JobReport, Lane, LatencyCounts, Percentiles, Report,
    Samples, SteadyState, Target, Unified,
};
pub use terse::{TerseVersion, terse};

/// The version of fio whose layouts these are.
pub const LAYOUT: &str = "fio-3.42";

/// What is said in the place of fio's version: `fio-3.42-plimsoll-0.1.0` for plimsoll's version `0.1.0`.
///
/// Readers look for `fio-` and take the number behind it; fio itself puts a suffix behind a hyphen between releases.
pub fn version(plimsoll: &str) -> String {
    format!("{LAYOUT}-plimsoll-{plimsoll}")
}

/// A way to print a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For people.
    Normal,
    /// JSON, with or without all bins.
    Json(Detail),
    /// One line for each job.
    Terse(TerseVersion),
}

/// A report in one or several forms, in fio's order whatever the order asked for: terse lines, JSON, normal text.
pub fn text(report: &Report, forms: &[Form]) -> String {
    let mut text = String::new();
    for form in forms {
        if let Form::Terse(version) = form {
            text.push_str(&terse(report, *version));
        }
    }
    for form in forms {
        if let Form::Json(detail) = form {
            text.push_str(&json(report, *detail));
        }
    }
    if forms.contains(&Form::Normal) {
        text.push_str(&normal(report));
    }
    text
}
