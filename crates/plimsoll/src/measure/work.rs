//! The load of a measurement: generated or recorded.
//!

use plimsoll_device::Caching;
use plimsoll_load::StreamSpec;
use plimsoll_measure::{Grid, MeasurePlan, Replaying, Storage, SweepResult, TargetKind, WorkingSet, sweep};
use plimsoll_record::{Conditions, Finding, Objective};
use plimsoll_units::{Bytes, Span};

use crate::args::{EngineWord, MeasureCommand};
use crate::cli_error::CliError;
use crate::console::Console;
use crate::store;

/// The load.
pub(super) enum MeasuredLoad {
    /// A generated load.
    Generated(Box<MeasurePlan>),
    /// A recorded load.
    Recorded(Box<Replaying>),
}

impl MeasuredLoad {
    /// Checks the flags and reads a recording to its end.
    pub(super) fn new(args: &MeasureCommand) -> Result<Self, CliError> {
        let (load, sweep) = (args.load.options(), args.sweep.options());
        let Some(replay) = args.replay.options() else {
            return Ok(Self::Generated(MeasurePlan::new(&load, &sweep, TargetKind::Storage)?.into()));
        };
        if args.target.engine == EngineWord::Fio {
            return Err(CliError::usage("fio replays only its own recordings (--read_iolog): omit --engine fio"));
        }
        let replaying = Replaying::new(&replay, &load, &sweep, TargetKind::Storage)?;
        Ok(Self::Recorded(replaying.into()))
    }

    /// True if the preset uses the page cache.
    pub(super) fn is_buffered(&self) -> bool {
        matches!(self, Self::Generated(plan) if plan.buffered)
    }

    /// Compressibility of the written data, 0 to 1.
    pub(super) fn compressible(&self) -> f64 {
        match self {
            Self::Generated(plan) => plan.compressible,
            Self::Recorded(replaying) => replaying.compressible(),
        }
    }

    /// Reuses the objective chosen by an earlier run of this load on this subject, so that runs are comparable.
    ///
    /// `None` if the user gave an objective, or there is no earlier run.
    pub(super) fn remember_objective(&mut self, subject: &str, streams: &[StreamSpec]) -> Option<Objective> {
        let Self::Generated(plan) = self else { return None };
        if plan.sweep.objective.is_some() {
            return None;
        }
        plan.sweep.objective = store::chosen_objective(subject, streams);
        plan.sweep.objective
    }

    /// True if operations change the storage.
    pub(super) fn writes(&self) -> bool {
        match self {
            Self::Generated(plan) => plan.writes(),
            Self::Recorded(replaying) => replaying.recording().writes(),
        }
    }

    /// Size of the largest operation.
    pub(super) fn largest(&self) -> Bytes {
        match self {
            Self::Generated(plan) => plan.largest(),
            Self::Recorded(replaying) => replaying.recording().largest(),
        }
    }

    /// Minimum size of the storage in bytes.
    pub(super) fn least_size(&self) -> Bytes {
        match self {
            Self::Generated(plan) => plan.largest(),
            Self::Recorded(replaying) => replaying.recording().reach(),
        }
    }

    /// Size of a scratch file for the available space: a part of it, or the extent of a recording.
    pub(super) fn file_size(&self, available: Bytes) -> Bytes {
        let whole = Bytes::mib(1);
        match self {
            Self::Generated(plan) => Bytes::new(available.get() / 4).min(plan.effort.largest_file).round_down(whole),
            Self::Recorded(replaying) => {
                let reach = replaying.recording().reach().get();
                Bytes::new(reach.checked_next_multiple_of(whole.get()).unwrap_or(u64::MAX))
            }
        }
    }

    /// Maximum time for filling a scratch file: unlimited for a given size or a recording, otherwise that of the
    /// effort.
    pub(super) fn filling(&self, args: &MeasureCommand) -> Span {
        match self {
            Self::Generated(plan)
                if args.target.size.is_none() && !matches!(plan.working_set, Some(WorkingSet::Size(_))) =>
            {
                plan.effort.filling
            }
            _ => Span::from_secs(24 * 3600),
        }
    }

    /// The load for storage without `--destroy`: without writes, unless the user requested writes.
    pub(super) fn reading(self, args: &MeasureCommand, findings: &mut Vec<Finding>) -> Result<Self, CliError> {
        match self {
            Self::Generated(plan) => Ok(Self::Generated(super::reading(args, *plan, findings)?.into())),
            Self::Recorded(replaying) if replaying.recording().writes() => {
                let path = args.path.display();
                Err(CliError::usage(format!(
                    "{path}: this recording would destroy its data: add --destroy {path} to allow it, or use --reads-only"
                )))
            }
            Self::Recorded(replaying) => Ok(Self::Recorded(replaying)),
        }
    }

    /// Remedy that avoids writes.
    pub(super) const fn to_read_only(&self) -> &'static str {
        match self {
            Self::Generated(_) => "--reads 100",
            Self::Recorded(_) => "add --reads-only",
        }
    }

    /// Remedy that makes operations smaller.
    pub(super) const fn to_ask_for_less(&self) -> &'static str {
        match self {
            Self::Generated(_) => "lower --block-size",
            Self::Recorded(_) => "attach it (nbd-client) and use the block device, whose driver splits requests",
        }
    }

    /// The streams on a space of `size` bytes; for a recording, its average. Fails if the space is too small.
    pub(super) fn place(&self, args: &MeasureCommand, size: Bytes, grid: Grid) -> Result<Vec<StreamSpec>, CliError> {
        match self {
            Self::Generated(plan) => Ok(plan.place(size, grid)?),
            Self::Recorded(replaying) => {
                replaying.check_grid(grid)?;
                let (limit, remedy) = match args.target.size {
                    Some(_) => ("--size".to_owned(), "use a larger --size"),
                    None => (format!("the size of {}", args.path.display()), "use a larger target"),
                };
                replaying.recording().fit(&limit, size, remedy)?;
                Ok(vec![replaying.stream()])
            }
        }
    }

    /// Runs the load on this storage.
    pub(super) fn run(&self, streams: &[StreamSpec], storage: &mut Storage, console: &mut Console) -> SweepResult {
        match self {
            Self::Generated(plan) => sweep::run(plan, streams, &[], storage, console),
            Self::Recorded(replaying) => replaying.run(storage, console),
        }
    }

    /// Conditions of the measurement.
    pub(super) fn conditions(&self, streams: Vec<StreamSpec>, threads: u32, caching: Caching) -> Conditions {
        match self {
            Self::Generated(plan) => super::conditions(plan, streams, threads, caching),
            Self::Recorded(replaying) => replaying.conditions(caching == Caching::Direct),
        }
    }

    /// Gaps, assumptions and omissions of a recording.
    pub(super) fn findings(&self) -> Vec<Finding> {
        match self {
            Self::Generated(_) => Vec::new(),
            Self::Recorded(replaying) => replaying.findings().collect(),
        }
    }
}
