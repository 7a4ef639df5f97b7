//! The design point as data; it is derived from windows in the module `derivation`.

use std::sync::Arc;

use plimsoll_catalogue::Ask;
use plimsoll_ingest::{Account, Class, Doubt};
use plimsoll_load::{Arrival, BlockMix, Mix, Pace, Pattern, Region, StreamSpec};
use plimsoll_units::{Bytes, Iops, Span};

use super::assumption::Assumption;
use super::backlog::Allowance;
use super::compute::{Compute, ComputeOrigin};
use super::objective::ClassObjective;
use super::platform::Platform;
use crate::diagnosis::{Censored, DiagnosisVerdict};

/// Parameters for deriving a design point from a demand.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// Share of the time, by windows, whose load is covered, 0 to 1. `None` for the lowest limit that the whole series
    /// passes within the [`Allowance`].
    pub quantile: Option<f64>,
    /// Assumption about shorter peaks within windows.
    pub burst: Burst,
    pub growth: Growth,
    /// Required headroom of ceilings above the expected load: 0.2 for a fifth.
    pub headroom: f64,
    /// Bytes to store today.
    pub capacity: Bytes,
    /// Share of the volume that stays free, from 0 up to but excluding 1.
    pub free: f64,
    /// Objectives for response times. Objectives for all operations are evaluated on reads, if there are any.
    pub objectives: Vec<ClassObjective>,
    /// Allows choices that are slower than today's storage by any amount.
    pub may_be_slower: bool,
    /// Share of the database's time that a choice may add: 0.02 for 2 %.
    pub tolerance: f64,
    /// Sizes for the load without a limit of the resource manager on processors, which is a setting of the database. Other
    /// causes of a rate below the demand are always lifted.
    pub lifts_processor_cap: bool,
    /// Derives operations that no input counts from their bytes.
    pub assumes_blocks: bool,
    /// Processors and memory of a machine; those that are absent follow from the input.
    pub compute: Compute,
}

/// Default share of the database's time that a choice may add.
const DEFAULT_TOLERANCE: f64 = 0.02;

impl Design {
    /// Defaults: the whole series, a fifth of headroom, a tenth of free space.
    pub fn of(capacity: Bytes) -> Self {
        Self {
            quantile: None,
            burst: Burst::Auto,
            growth: Growth::default(),
            headroom: 0.2,
            capacity,
            free: 0.1,
            objectives: Vec::new(),
            may_be_slower: false,
            tolerance: DEFAULT_TOLERANCE,
            lifts_processor_cap: false,
            assumes_blocks: false,
            compute: Compute::default(),
        }
    }
}

/// Assumption about peaks within averaging windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Burst {
    /// No hidden peaks.
    None,
    /// A multiple of the average.
    Times(f64),
    /// Maxima of the input if it has any; otherwise a factor measured elsewhere for windows of this length.
    Auto,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Growth {
    /// Growth in a year: 0.3 for 30 %.
    pub yearly: f64,
    /// Months that the storage has to last.
    pub months: u32,
}

impl Growth {
    /// Total growth factor, compounded.
    pub fn times(self) -> f64 {
        libm::pow(1.0 + self.yearly, f64::from(self.months) / 12.0)
    }
}

/// The design point.
#[derive(Clone, Debug, PartialEq)]
pub struct SizingRequirements {
    pub subject: String,
    /// The expected load: in the windows with the most operations and, if different, in those with the most bytes.
    /// Never empty. The points do not coincide; each has to be sustained.
    pub points: Vec<DesignPoint>,
    /// The mean load of the input without growth, for comparison with today's storage; `None` if it is the expected
    /// load.
    pub usual: Option<DesignPoint>,
    /// Required headroom of ceilings above the expected load: 0.2 for a fifth.
    pub headroom: f64,
    /// Mean operations per second over all windows, idle ones included, with growth, for billing by operations.
    pub mean_iops: f64,
    /// Bytes to provide: stored data with growth, and the free space.
    pub capacity: Bytes,
    /// Share of them that stays free, from 0 up to but excluding 1.
    pub free: f64,
    /// Objectives for response times.
    pub objectives: Vec<ClassObjective>,
    /// Bounds at the design point for classes whose mean response times today are known.
    pub peak_bounds: Vec<ClassObjective>,
    /// The cluster or Exadata platform, as far as the input shows it.
    pub platform: Platform,
    /// Processors and memory that a machine needs.
    pub compute: Compute,
    /// Where they come from.
    pub compute_origin: ComputeOrigin,
    /// Verdict on whether storage is the problem, if the input contains waits of sessions.
    pub answer: Option<DiagnosisVerdict>,
    /// The reason why the measured load is below the demand, if any. The expected load is then the upper end of a range.
    pub censored: Option<Censored>,
    /// Windows whose rates are not their demand: storage does not answer, or is at its limit.
    pub incomplete: Option<DiagnosisVerdict>,
    /// Doubts about the combination of the inputs, such as gaps between their windows.
    pub doubts: Vec<Doubt>,
    /// Mean response times of today's storage, in the order of [`Class::ALL`]; empty if unknown.
    pub today: Vec<(Class, Span)>,
    /// The split of the database's time, if the input contains waits of sessions.
    pub account: Option<Arc<Account>>,
    /// Allows choices that are slower than today's storage by any amount.
    pub may_be_slower: bool,
    /// Share of the database's time that a choice may add, 0 to 1.
    pub tolerance: f64,
    /// Measured load before the steps.
    pub measured: Measured,
    /// The windows of the input in order, with growth, for the replay of choices. Empty with a percentile.
    pub series: Vec<DemandWindow>,
    /// Tolerance for delays in the replay.
    pub allowance: Allowance,
    /// The steps to the expected load, in order.
    pub steps: Vec<GrowthStep>,
    /// Assumptions about missing data.
    pub assumptions: Vec<Assumption>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DemandWindow {
    /// Length in seconds.
    pub seconds: f64,
    /// Its load by class; empty if it is idle.
    pub classes: Vec<ClassLoad>,
}

/// Summary of the input's windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The percentile in use, if any: share of the time, 0 to 1, whose load is covered.
    pub quantile: Option<f64>,
    /// Windows that count operations, idle ones included.
    pub windows: usize,
    /// The longest of them, which may hide shorter peaks.
    pub longest: Span,
    /// Operations per second before the steps: the percentile, or the lowest limit that the whole series passes within
    /// the [`Allowance`].
    pub iops: f64,
    /// The same for bytes per second.
    pub bytes_per_second: f64,
    /// Operations per second of the highest window.
    pub highest_iops: f64,
    /// Bytes per second of the highest window.
    pub highest_bytes_per_second: f64,
}

/// Selection of windows for a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Busiest {
    /// Windows with the most operations.
    Operations,
    /// Windows with the most bytes.
    Bytes,
}

impl Busiest {
    pub const ALL: [Self; 2] = [Self::Operations, Self::Bytes];
}

/// A load of several classes.
#[derive(Clone, Debug, PartialEq)]
pub struct DesignPoint {
    pub of: Busiest,
    /// Number of windows that determine the mix.
    pub windows: usize,
    /// Its classes, by operations. Never empty.
    pub classes: Vec<ClassLoad>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassLoad {
    pub class: Class,
    /// Operations a second, above zero.
    pub iops: f64,
    /// Bytes a second, above zero.
    pub bytes_per_second: f64,
    /// Share of reads, 0 to 1.
    pub reads: f64,
    /// Consecutive addresses.
    pub sequential: bool,
    /// Answered when durable.
    pub durable: bool,
}

/// A step from the measured to the expected load.
#[derive(Clone, Debug, PartialEq)]
pub struct GrowthStep {
    pub kind: StepKind,
    /// Factor for classes with small operations.
    pub small: f64,
    /// Factor for classes with a mean size of 64 KiB and more.
    pub large: f64,
    /// Factor for scans, sorts, archiving and backups.
    pub scans: f64,
    /// Range of measurements elsewhere, if the factor is based on these.
    pub spread: Option<(f64, f64)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepKind {
    /// Peaks within windows.
    Peaks(PeakSource),
    /// The rate without a stall or a limit.
    WithoutStall {
        /// True if the input determines the rate; otherwise it is an assumption.
        is_estimated: bool,
    },
    Growth(Growth),
}

/// Origins of the factor for peaks within windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeakSource {
    Request,
    /// The input's own maxima over its averages.
    Input,
    /// Windows of up to a minute, without relevant peaks.
    Minute,
    /// Ratios of databases with windows of half an hour to an hour.
    Databases,
    /// The same, reduced for shorter windows.
    ShorterWindows,
    /// The same for windows beyond an hour, with the busiest half hours of traced disks.
    LongerWindows,
    /// The same for busy periods of a longer window, by the database's own analysis.
    BusyPeriods,
}

impl SizingRequirements {
    /// A design point with these loads, each of a minute, without headroom, objective or series.
    pub fn of(points: Vec<DesignPoint>, capacity: Bytes) -> Self {
        let (iops, bytes_per_second) = (points[0].iops(), points[0].bytes_per_second());
        Self {
            subject: String::new(),
            headroom: 0.0,
            mean_iops: iops,
            capacity,
            free: 0.0,
            objectives: Vec::new(),
            peak_bounds: Vec::new(),
            platform: Platform::default(),
            compute: Compute::default(),
            compute_origin: ComputeOrigin::default(),
            answer: None,
            censored: None,
            incomplete: None,
            doubts: Vec::new(),
            today: Vec::new(),
            account: None,
            may_be_slower: false,
            tolerance: DEFAULT_TOLERANCE,
            measured: Measured {
                quantile: None,
                windows: points.len(),
                longest: Span::from_secs(60),
                iops,
                bytes_per_second,
                highest_iops: iops,
                highest_bytes_per_second: bytes_per_second,
            },
            series: Vec::new(),
            allowance: Allowance::default(),
            points,
            usual: None,
            steps: Vec::new(),
            assumptions: Vec::new(),
        }
    }

    /// Required multiple of the expected load: 1.2 for a headroom of a fifth.
    pub fn room(&self) -> f64 {
        1.0 + self.headroom
    }
}

impl DemandWindow {
    /// Operations or bytes per second.
    pub fn rate(&self, of: Busiest) -> f64 {
        let each = |load: &ClassLoad| match of {
            Busiest::Operations => load.iops,
            Busiest::Bytes => load.bytes_per_second,
        };
        self.classes.iter().map(each).sum()
    }
}

impl DesignPoint {
    /// Operations a second.
    pub fn iops(&self) -> f64 {
        self.classes.iter().map(|class| class.iops).sum()
    }

    /// Bytes a second.
    pub fn bytes_per_second(&self) -> f64 {
        self.classes.iter().map(|class| class.bytes_per_second).sum()
    }

    /// True if every class has at least these rates.
    pub fn covers(&self, others: &[ClassLoad]) -> bool {
        let enough = |own: f64, others: f64| own >= others * (1.0 - 1e-9);
        others.iter().all(|load| {
            let own = self.classes.iter().find(|own| own.class == load.class);
            own.is_some_and(|own| enough(own.iops, load.iops) && enough(own.bytes_per_second, load.bytes_per_second))
        })
    }

    /// True if both have the same classes and their rates differ by less than a twentieth.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let is_near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.05;
        let has_match = |load: &ClassLoad| {
            let twin = other.classes.iter().find(|twin| twin.class == load.class);
            twin.is_some_and(|twin| {
                is_near(load.iops, twin.iops) && is_near(load.bytes_per_second, twin.bytes_per_second)
            })
        };
        self.classes.len() == other.classes.len() && self.classes.iter().all(has_match)
    }

    /// Its operations with their rates, for ceilings.
    pub fn asks(&self) -> Vec<(Ask, f64)> {
        self.classes.iter().map(|class| (class.ask(), class.iops)).collect()
    }

    /// The load as independent streams over `capacity`, by operations.
    pub fn streams(&self, capacity: Bytes) -> Vec<StreamSpec> {
        self.classes.iter().map(|class| class.stream(capacity)).collect()
    }
}

/// Granularity and maximum of operation sizes.
const SECTOR: f64 = 512.0;
const LARGEST: f64 = (16 << 20) as f64;

impl ClassLoad {
    /// Mean bytes of an operation.
    pub fn size(&self) -> f64 {
        self.bytes_per_second / self.iops
    }

    /// Its operations, for ceilings.
    pub fn ask(&self) -> Ask {
        let block = Bytes::new((self.size() + 0.5).max(1.0) as u64);
        Ask { block, reads: self.reads, sequential: self.sequential }
    }

    /// The load as a stream over `capacity`.
    pub fn stream(&self, capacity: Bytes) -> StreamSpec {
        let size = Bytes::new(((self.size() / SECTOR).round() * SECTOR).clamp(SECTOR, LARGEST) as u64);
        StreamSpec {
            name: self.class.name().into(),
            mix: Mix { sizes: BlockMix::one(size), reads: self.reads, durable: self.durable, flush_every: 0 },
            pattern: if self.sequential { Pattern::Sequential } else { Pattern::Uniform },
            region: Region { start: 0, length: capacity.max(size) },
            pace: Pace::Open { rate: Iops::from_f64(self.iops), arrival: Arrival::Poisson },
        }
    }
}
