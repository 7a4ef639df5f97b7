//! What storage is asked during a measurement: loads that are generated as the course needs them, or a recorded one.
//!
//! Knows nothing about how the storage is reached.

use plimsoll_device::Caching;
use plimsoll_load::StreamSpec;
use plimsoll_record::{Conditions, Finding, Objective};
use plimsoll_units::{Bytes, Span};

use crate::args::{EngineWord, Measure};
use crate::console::Console;
use crate::course::{Travelled, follow};
use crate::plan::{Grid, Plan};
use crate::replay::{Replaying, Venue};
use crate::stand::Storage;
use crate::store;
use crate::trouble::Trouble;
use crate::words::WorkingSet;

/// What is asked.
pub(super) enum Work {
    /// Loads that are generated as the course needs them.
    Generated(Box<Plan>),
    /// A recorded one.
    Recorded(Box<Replaying>),
}

impl Work {
    /// Checks the flags against each other, and reads a recording to its end.
    pub(super) fn new(args: &Measure) -> Result<Self, Trouble> {
        let Some(path) = &args.replay.replay else {
            return Ok(Self::Generated(Plan::new(&args.load, &args.course)?.into()));
        };
        if args.target.engine == EngineWord::Fio {
            return Err(Trouble::usage("fio replays what it records itself (--read_iolog): leave out --engine fio"));
        }
        let replaying = Replaying::new(path, &args.replay, &args.load, &args.course, Venue::Storage)?;
        Ok(Self::Recorded(replaying.into()))
    }

    /// Through the page cache, because the preset is about that.
    pub(super) fn is_buffered(&self) -> bool {
        matches!(self, Self::Generated(plan) if plan.buffered)
    }

    /// Share of the written data that compresses away, 0 to 1.
    pub(super) fn compressible(&self) -> f64 {
        match self {
            Self::Generated(plan) => plan.compressible,
            Self::Recorded(replaying) => replaying.compressible(),
        }
    }

    /// Takes the objective that was chosen for an earlier run of this load on this subject, so that runs compare.
    ///
    /// `None` when the user named one, or nothing was kept.
    pub(super) fn remember_objective(&mut self, subject: &str, streams: &[StreamSpec]) -> Option<Objective> {
        let Self::Generated(plan) = self else { return None };
        if plan.sweep.objective.is_some() {
            return None;
        }
        plan.sweep.objective = store::chosen_objective(subject, streams);
        plan.sweep.objective
    }

    /// True when some operations change the storage.
    pub(super) fn writes(&self) -> bool {
        match self {
            Self::Generated(plan) => plan.writes(),
            Self::Recorded(replaying) => replaying.recording().writes(),
        }
    }

    /// The largest operation.
    pub(super) fn largest(&self) -> Bytes {
        match self {
            Self::Generated(plan) => plan.largest(),
            Self::Recorded(replaying) => replaying.recording().largest(),
        }
    }

    /// Bytes that the storage has to have.
    pub(super) fn least_size(&self) -> Bytes {
        match self {
            Self::Generated(plan) => plan.largest(),
            Self::Recorded(replaying) => replaying.recording().reach(),
        }
    }

    /// The size of a file of our own where so many bytes are free: a part of them, or as far as a recording reaches.
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

    /// How long a file of our own may be filled: what was asked for however long that takes, else as long as the effort
    /// allows. A recording may go to every part of it.
    pub(super) fn filling(&self, args: &Measure) -> Span {
        match self {
            Self::Generated(plan)
                if args.target.size.is_none() && !matches!(plan.working_set, Some(WorkingSet::Size(_))) =>
            {
                plan.effort.filling
            }
            _ => Span::from_secs(24 * 3600),
        }
    }

    /// The work for storage that was not named for destruction: without writes, unless the user asked for them.
    pub(super) fn reading(self, args: &Measure, findings: &mut Vec<Finding>) -> Result<Self, Trouble> {
        match self {
            Self::Generated(plan) => Ok(Self::Generated(super::reading(args, *plan, findings)?.into())),
            Self::Recorded(replaying) if replaying.recording().writes() => {
                let path = args.path.display();
                Err(Trouble::usage(format!(
                    "{path}: this recording writes, and its data would be lost: add --destroy {path} if they may be, or --reads-only"
                )))
            }
            Self::Recorded(replaying) => Ok(Self::Recorded(replaying)),
        }
    }

    /// What to write so that nothing is written to the storage.
    pub(super) const fn to_read_only(&self) -> &'static str {
        match self {
            Self::Generated(_) => "--reads 100",
            Self::Recorded(_) => "add --reads-only",
        }
    }

    /// What to do so that operations become smaller.
    pub(super) const fn to_ask_for_less(&self) -> &'static str {
        match self {
            Self::Generated(_) => "lower --block-size",
            Self::Recorded(_) => "attach it (nbd-client) and give the block device, whose driver splits them",
        }
    }

    /// The streams on a space of `size` bytes; of a recording its average. Refuses what does not fit there.
    pub(super) fn place(&self, args: &Measure, size: Bytes, grid: Grid) -> Result<Vec<StreamSpec>, Trouble> {
        match self {
            Self::Generated(plan) => plan.place(size, grid),
            Self::Recorded(replaying) => {
                replaying.check_grid(grid)?;
                let (name, remedy) = match args.target.size {
                    Some(_) => ("--size".to_owned(), "give --size more"),
                    None => (args.path.display().to_string(), "give one that is as large"),
                };
                replaying.recording().fit(&name, size, remedy)?;
                Ok(vec![replaying.stream()])
            }
        }
    }

    /// What becomes of it on this storage.
    pub(super) fn follow(&self, streams: &[StreamSpec], storage: &mut Storage, console: &mut Console) -> Travelled {
        match self {
            Self::Generated(plan) => follow(plan, streams, &[], storage, console),
            Self::Recorded(replaying) => replaying.follow(storage, console),
        }
    }

    /// What was constant.
    pub(super) fn conditions(&self, streams: Vec<StreamSpec>, threads: u32, caching: Caching) -> Conditions {
        match self {
            Self::Generated(plan) => super::conditions(plan, streams, threads, caching),
            Self::Recorded(replaying) => replaying.conditions(caching == Caching::Direct),
        }
    }

    /// What is missing in a recording, or was guessed or left out.
    pub(super) fn findings(&self) -> Vec<Finding> {
        match self {
            Self::Generated(_) => Vec::new(),
            Self::Recorded(replaying) => replaying.findings().collect(),
        }
    }
}
