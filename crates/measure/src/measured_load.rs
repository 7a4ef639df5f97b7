//! The load of a measurement: generated or recorded.

use plimsoll_device::Caching;
use plimsoll_language::{label, say};
use plimsoll_load::{Region, StreamSpec};
use plimsoll_record::{Conditions, Finding};
use plimsoll_units::{Bytes, Span};

use crate::backend::Storage;
use crate::error::MeasureError;
use crate::invalid::InvalidRequest;
use crate::monitor::Monitor;
use crate::plan::{Grid, MeasurePlan, TargetKind};
use crate::replay::Replaying;
use crate::request::{EngineChoice, MeasurementRequest};
use crate::sweep::{self, SweepResult};
use crate::words::WorkingSet;

/// Minimum size of a scratch file.
const MIN_SCRATCH: Bytes = Bytes::mib(16);

#[derive(Debug)]
pub(crate) enum MeasuredLoad {
    Generated(Box<MeasurePlan>),
    Recorded(Box<Replaying>),
}

impl MeasuredLoad {
    /// Checks the options and reads a recording to its end.
    pub(crate) fn new(request: &MeasurementRequest) -> Result<Self, MeasureError> {
        let (load, sweep) = (&request.load, &request.sweep);
        let Some(replay) = &request.replay else {
            return Ok(Self::Generated(MeasurePlan::new(load, sweep, TargetKind::Storage)?.into()));
        };
        if request.engine == EngineChoice::Fio {
            return Err(InvalidRequest::FioReplay.into());
        }
        Ok(Self::Recorded(Replaying::new(replay, load, sweep, TargetKind::Storage)?.into()))
    }

    /// True if the preset uses the page cache.
    pub(crate) fn is_buffered(&self) -> bool {
        matches!(self, Self::Generated(plan) if plan.buffered)
    }

    /// Compressibility of the written data, 0 to 1.
    pub(crate) fn compressible(&self) -> f64 {
        match self {
            Self::Generated(plan) => plan.compressible,
            Self::Recorded(replaying) => replaying.compressible(),
        }
    }

    /// True if operations change the storage.
    pub(crate) fn writes(&self) -> bool {
        match self {
            Self::Generated(plan) => plan.writes(),
            Self::Recorded(replaying) => replaying.recording().writes(),
        }
    }

    /// Size of the largest operation.
    pub(crate) fn largest(&self) -> Bytes {
        match self {
            Self::Generated(plan) => plan.largest(),
            Self::Recorded(replaying) => replaying.recording().largest(),
        }
    }

    /// Minimum size of the storage in bytes.
    pub(crate) fn min_size(&self) -> Bytes {
        match self {
            Self::Generated(plan) => plan.largest(),
            Self::Recorded(replaying) => replaying.recording().reach(),
        }
    }

    /// Minimum size of a scratch file.
    pub(crate) fn min_scratch(&self) -> Bytes {
        MIN_SCRATCH.max(self.min_size())
    }

    /// Size of a scratch file for the available space: a part of it, or the extent of a recording.
    pub(crate) fn file_size(&self, available: Bytes) -> Bytes {
        let step = Bytes::mib(1);
        match self {
            Self::Generated(plan) => Bytes::new(available.get() / 4).min(plan.effort.largest_file).round_down(step),
            Self::Recorded(replaying) => {
                let reach = replaying.recording().reach().get();
                Bytes::new(reach.checked_next_multiple_of(step.get()).unwrap_or(u64::MAX))
            }
        }
    }

    /// Maximum time for filling a scratch file: unlimited for a given size or a recording, otherwise that of the
    /// effort.
    pub(crate) fn filling_limit(&self, size: Option<Bytes>) -> Span {
        match self {
            Self::Generated(plan) if size.is_none() && !matches!(plan.working_set, Some(WorkingSet::Size(_))) => {
                plan.effort.filling
            }
            _ => Span::from_secs(24 * 3600),
        }
    }

    /// The load for storage that may not be written: without writes, unless the user requested writes.
    pub(crate) fn read_only(
        self,
        request: &MeasurementRequest,
        findings: &mut Vec<Finding>,
    ) -> Result<Self, MeasureError> {
        match self {
            Self::Generated(plan) => Ok(Self::Generated(read_only_plan(*plan, request, findings)?.into())),
            Self::Recorded(replaying) if replaying.recording().writes() => {
                Err(InvalidRequest::WritingRecording { path: request.path.display().to_string() }.into())
            }
            Self::Recorded(replaying) => Ok(Self::Recorded(replaying)),
        }
    }

    /// The streams on a space of `size` bytes; for a recording, its average. Fails if the space is too small.
    pub(crate) fn place(
        &self,
        request: &MeasurementRequest,
        size: Bytes,
        grid: Grid,
    ) -> Result<Vec<StreamSpec>, MeasureError> {
        match self {
            Self::Generated(plan) => plan.place(size, grid),
            Self::Recorded(replaying) => {
                replaying.check_grid(grid)?;
                let (limit, remedy) = match request.size {
                    Some(_) => ("--size".to_owned(), label!("use a larger --size")),
                    None => (say!("the size of {}", request.path.display()), label!("use a larger target")),
                };
                replaying.recording().fit(&limit, size, remedy)?;
                Ok(vec![replaying.stream()])
            }
        }
    }

    /// Runs the load on this storage.
    pub(crate) fn run(&self, streams: &[StreamSpec], storage: &mut Storage, monitor: &mut dyn Monitor) -> SweepResult {
        match self {
            Self::Generated(plan) => sweep::run_sweep(plan, streams, &[], storage, monitor),
            Self::Recorded(replaying) => replaying.run(storage, monitor),
        }
    }

    pub(crate) fn conditions(&self, streams: Vec<StreamSpec>, threads: u32, caching: Caching) -> Conditions {
        match self {
            Self::Generated(plan) => plan.conditions(streams, threads, caching == Caching::Direct),
            Self::Recorded(replaying) => replaying.conditions(caching == Caching::Direct),
        }
    }

    /// Gaps, assumptions and omissions of a recording.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        match self {
            Self::Generated(_) => Vec::new(),
            Self::Recorded(replaying) => replaying.findings().collect(),
        }
    }
}

/// The plan for storage that may not be written: without writes, unless the user requested writes.
pub(crate) fn read_only_plan(
    plan: MeasurePlan,
    request: &MeasurementRequest,
    findings: &mut Vec<Finding>,
) -> Result<MeasurePlan, MeasureError> {
    if !plan.writes() {
        return Ok(plan);
    }
    let load = &request.load;
    if load.reads.is_some() || load.preset != "oltp" || load.durable || load.flush_every.is_some() {
        return Err(InvalidRequest::WritingLoad { path: request.path.display().to_string() }.into());
    }
    findings.push(Finding::ReadOnly);
    Ok(plan.without_writes())
}

/// Bytes addressed by the streams; shared regions count once.
pub(crate) fn addressed_bytes(streams: &[StreamSpec]) -> Bytes {
    let mut regions: Vec<Region> = Vec::new();
    for stream in streams {
        match regions.iter_mut().find(|region| region.start == stream.region.start) {
            Some(region) => region.length = region.length.max(stream.region.length),
            None => regions.push(stream.region),
        }
    }
    Bytes::new(regions.iter().map(|region| region.length.get()).sum())
}
