//! Output of benchmarks: evidence about storage, never demand.
//!
//! Each program has a file. Other tests (file creation, single bytes, processors) are listed as ignored; a phase too
//! short to be measured is absent, with the reason.

mod bonnie;
mod crystaldiskmark;
mod diskspd;
mod hammerdb;
mod load_curve;
mod orion;
mod pg_test_fsync;
mod pgbench;
mod slob;
mod sysbench;
mod tiotest;

pub(crate) use bonnie::FORM as BONNIE;
pub(crate) use crystaldiskmark::FORM as CRYSTALDISKMARK;
pub(crate) use diskspd::{TEXT_FORM as DISKSPD_TEXT, XML_FORM as DISKSPD_XML};
pub(crate) use hammerdb::FORM as HAMMERDB;
pub(crate) use load_curve::FORM as LOAD_CURVE;
pub(crate) use orion::{FORM as ORION, MATRIX_FORM as ORION_MATRIX};
pub(crate) use pg_test_fsync::FORM as PG_TEST_FSYNC;
pub(crate) use pgbench::FORM as PGBENCH;
pub(crate) use slob::FORM as SLOB;
pub(crate) use sysbench::FORM as SYSBENCH;
pub(crate) use tiotest::FORM as TIOTEST;

use plimsoll_language::label;
use plimsoll_record::Finding;

use crate::builder::Builder;
use crate::reading::{Origin, ReadingScope};
use crate::refusal::{InputFault, Refusal};

/// A phase of a test: its name, the share of reads, and whether addresses are consecutive.
#[derive(Clone, Copy)]
struct Phase {
    name: &'static str,
    reads: f64,
    sequential: bool,
}

/// Minimum length of a test in seconds: shorter ones show start-up and caches.
pub(crate) const MIN_SECONDS: f64 = 10.0;

/// Findings that follow from a test's options and length.
fn doubts(direct: Option<bool>, lasted_s: Option<f64>) -> Vec<Finding> {
    let buffered = (direct == Some(false)).then_some(Finding::Buffered);
    let short = lasted_s.filter(|seconds| *seconds < MIN_SECONDS).map(|seconds| Finding::TooShort { seconds });
    buffered.into_iter().chain(short).collect()
}

/// The quantiles of a test with a known maximum latency.
fn longest(seconds: Option<f64>) -> Vec<(f64, f64)> {
    seconds.map(|seconds| (1.0, seconds)).into_iter().collect()
}

/// The index of a scope that only has a part: a path, a drive, a device.
fn part(out: &mut Builder, part: &str) -> u32 {
    out.scope(ReadingScope { part: part.to_owned(), ..ReadingScope::default() })
}

/// The refusal of an input with too many results.
fn too_many(line: u64, out: &Builder) -> Refusal {
    out.unusable_at(Origin::line(line), InputFault::TooMany { limit: MAX_RESULTS, items: label!("results") })
}

/// Maximum pending results of an input.
const MAX_RESULTS: usize = 100_000;
