//! The request of a measurement.

use std::path::{Path, PathBuf};

use plimsoll_device::nbd::ExportAddress;
use plimsoll_language::{label, say};
use plimsoll_load::StreamSpec;
use plimsoll_record::Objective;
use plimsoll_units::Bytes;

use crate::emulated::FindVolume;
use crate::error::MeasureError;
use crate::invalid::InvalidRequest;
use crate::options::{LoadOptions, ReplayOptions, SweepOptions};

/// A measurement of a directory, file, device or export.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasurementRequest {
    /// A directory, in which a temporary file is created, a file, a block device, or the URI of an export.
    pub path: PathBuf,
    pub load: LoadOptions,
    /// Duration and points.
    pub sweep: SweepOptions,
    /// A recorded load in place of a generated one.
    pub replay: Option<ReplayOptions>,
    /// Size of the temporary file, or of the measured part of the target.
    pub size: Option<Bytes>,
    /// Page cache instead of direct I/O.
    pub buffered: bool,
    /// I/O engine.
    pub engine: EngineChoice,
    /// Hosts with `fio --server` that offer the load, each to this path on it.
    pub hosts: Vec<String>,
    /// Paths and URIs whose data may be overwritten.
    pub destroy: Vec<PathBuf>,
}

/// I/O engine of a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// `io_uring` if available, otherwise threads.
    #[default]
    Auto,
    /// `io_uring`.
    IoUring,
    /// Threads with pread and pwrite.
    Threads,
    Fio,
}

/// Identification of a run, and the results of earlier runs.
pub struct RunContext<'a> {
    /// Program and version.
    pub made_by: &'a str,
    /// Command line that repeats the run.
    pub command: Vec<String>,
    /// Objective chosen by an earlier run of these streams on the named subject.
    pub earlier_objective: &'a dyn Fn(&str, &[StreamSpec]) -> Option<Objective>,
    /// Finds the emulated volume of the target.
    pub find_volume: FindVolume<'a>,
}

impl MeasurementRequest {
    pub(crate) fn uri(&self) -> Option<&str> {
        self.path.to_str().filter(|text| ExportAddress::is_meant(text))
    }

    /// Fails if a target other than the measured ones may be overwritten.
    pub(crate) fn check_destroy(&self, measured: &[&Path]) -> Result<(), MeasureError> {
        let Some(other) = self.destroy.iter().find(|named| !measured.contains(&named.as_path())) else { return Ok(()) };
        let names: Vec<String> = measured.iter().map(|path| path.display().to_string()).collect();
        let names = names.join(label!(" and "));
        let (measured, paths) = match measured {
            [_] => (say!("{names} is"), label!("that path")),
            _ => (say!("{names} are"), label!("their paths")),
        };
        Err(InvalidRequest::OtherDestroyed { other: other.clone(), measured, paths }.into())
    }

    /// The measured size of a target of `available` bytes.
    pub(crate) fn choose_size(&self, available: Bytes) -> Result<Bytes, MeasureError> {
        match self.size {
            Some(size) if size > available => {
                Err(InvalidRequest::TargetSize { path: self.path.display().to_string(), available, size }.into())
            }
            size => Ok(size.unwrap_or(available)),
        }
    }
}
