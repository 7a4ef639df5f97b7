//! The design point: what storage has to carry, as data. How it is worked out of windows is `wanted`'s.

use plimsoll_catalogue::Ask;
use plimsoll_ingest::Class;
use plimsoll_load::{Arrival, Mix, Pace, Pattern, Region, Split, StreamSpec};
use plimsoll_units::{Bytes, Iops, Span};

use super::backlog::Allowance;
use super::objective::ClassObjective;
use super::platform::Platform;
use crate::diagnosis::Verdict;

/// How a demand becomes a design point.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// Size for the load that is not exceeded in this share of the time, 0 to 1, by windows. `None` for the lowest load
    /// through which the whole series passes within the [`Allowance`].
    pub quantile: Option<f64>,
    /// What shorter peaks inside of the windows are taken to be.
    pub burst: Burst,
    /// What it grows by.
    pub growth: Growth,
    /// What ceilings have to allow above the expected load: 0.2 for a fifth.
    pub headroom: f64,
    /// Bytes that have to be kept today.
    pub capacity: Bytes,
    /// Share of the volume that stays free, 0 up to 1, exclusive.
    pub free: f64,
    /// What response times have to meet. One that is about all operations is judged on reads, where there are any.
    pub objectives: Vec<ClassObjective>,
    /// Choices may answer more slowly than the storage of today.
    pub may_be_slower: bool,
}

impl Design {
    /// Every window counts, with a fifth of headroom, a tenth of free space, and nothing besides.
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
        }
    }
}

/// What peaks inside of averaging windows are taken to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Burst {
    /// The averages are all that there is.
    None,
    /// So many times the average.
    Times(f64),
    /// Maxima of the input where it has some; else what was measured elsewhere for windows of this length.
    Auto,
}

/// Growth from year to year.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Growth {
    /// Share by which it grows in a year: 0.3 for 30 %.
    pub yearly: f64,
    /// Months that the storage has to last.
    pub months: u32,
}

impl Growth {
    /// How many times today's it is at the end, compounded.
    pub fn times(self) -> f64 {
        libm::pow(1.0 + self.yearly, f64::from(self.months) / 12.0)
    }
}

/// What storage has to carry.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// Whose demand it is.
    pub subject: String,
    /// The expected load: in the windows with the most operations, and in those with the most bytes where these are
    /// others. Never empty. Each has to be carried; they do not come together.
    pub points: Vec<Point>,
    /// What ceilings have to allow above the expected load: 0.2 for a fifth.
    pub headroom: f64,
    /// Operations a second in the mean of all windows, grown: some vendors bill each.
    pub mean_iops: f64,
    /// Bytes that volumes have to hold: those that are kept, grown, and the free space.
    pub capacity: Bytes,
    /// Share of them that stays free, 0 up to 1, exclusive.
    pub free: f64,
    /// What response times have to meet.
    pub objectives: Vec<ClassObjective>,
    /// A cluster or Exadata, as far as the input shows it.
    pub platform: Platform,
    /// Whether storage is the problem at all, where the input says what sessions wait for.
    pub answer: Option<Verdict>,
    /// Mean response times of the storage of today, in the order of [`Class::ALL`]; empty where the input has none.
    pub today: Vec<(Class, Span)>,
    /// Choices may answer more slowly than that.
    pub may_be_slower: bool,
    /// What was measured, before the steps.
    pub measured: Measured,
    /// The windows of the input in their order, grown: what a choice is replayed with. Empty where percentiles are sized
    /// for.
    pub series: Vec<Window>,
    /// How much of the series may wait for a limit.
    pub allowance: Allowance,
    /// How the expected load came about, in order.
    pub steps: Vec<Step>,
    /// What the input does not say and was taken to be so.
    pub assumptions: Vec<String>,
}

/// A window of the input.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// How long it lasts.
    pub seconds: f64,
    /// What is asked in it.
    pub classes: Vec<ClassLoad>,
}

/// What the windows of the input say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Where a percentile is sized for: the share of the time, 0 to 1, in which the load is not exceeded.
    pub quantile: Option<f64>,
    /// Windows with operations.
    pub windows: usize,
    /// The longest of them: peaks that are shorter are hidden in it.
    pub longest: Span,
    /// Operations a second that are sized for: not exceeded in that share of the time, or the lowest limit through which
    /// the whole series passes within the [`Allowance`].
    pub iops: f64,
    /// The same of bytes a second.
    pub bytes_per_second: f64,
    /// Operations a second of the window with the most.
    pub highest_iops: f64,
    /// Bytes a second of the window with the most.
    pub highest_bytes_per_second: f64,
}

/// Which windows a point is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Busiest {
    /// Those with the most operations.
    Operations,
    /// Those with the most bytes.
    Bytes,
}

impl Busiest {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Operations, Self::Bytes];
}

/// A load: operations of several classes together.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Of which windows.
    pub of: Busiest,
    /// How many windows its mix was taken from.
    pub windows: usize,
    /// What is asked, the most operations first. Never empty.
    pub classes: Vec<ClassLoad>,
}

/// What a class of operations asks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassLoad {
    /// What the operations are for.
    pub class: Class,
    /// Operations a second, above zero.
    pub iops: f64,
    /// Bytes a second, above zero.
    pub bytes_per_second: f64,
    /// Share of reads, 0 to 1.
    pub reads: f64,
    /// Their addresses follow each other.
    pub sequential: bool,
    /// They answer when what they wrote is durable.
    pub durable: bool,
}

/// A step from what was averaged to what is expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it is, in a few words.
    pub what: String,
    /// What classes of small operations are multiplied by.
    pub small: f64,
    /// What classes of large operations are multiplied by: those of 64 KiB and more in the mean.
    pub large: f64,
    /// Lowest and highest of what was measured elsewhere, where the factor comes from there.
    pub spread: Option<(f64, f64)>,
    /// Where it comes from, in a sentence.
    pub why: String,
}

impl Wanted {
    /// The loads of these points, each of one minute, and nothing besides: no headroom, objective or series.
    pub fn of(points: Vec<Point>, capacity: Bytes) -> Self {
        let (iops, bytes_per_second) = (points[0].iops(), points[0].bytes_per_second());
        Self {
            subject: String::new(),
            headroom: 0.0,
            mean_iops: iops,
            capacity,
            free: 0.0,
            objectives: Vec::new(),
            platform: Platform::default(),
            answer: None,
            today: Vec::new(),
            may_be_slower: false,
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
            steps: Vec::new(),
            assumptions: Vec::new(),
        }
    }

    /// What ceilings have to allow over the expected load: 1.2 for a headroom of a fifth.
    pub fn room(&self) -> f64 {
        1.0 + self.headroom
    }
}

impl Window {
    /// Operations, or bytes, a second.
    pub fn rate(&self, of: Busiest) -> f64 {
        let each = |load: &ClassLoad| match of {
            Busiest::Operations => load.iops,
            Busiest::Bytes => load.bytes_per_second,
        };
        self.classes.iter().map(each).sum()
    }
}

impl Point {
    /// Operations a second.
    pub fn iops(&self) -> f64 {
        self.classes.iter().map(|class| class.iops).sum()
    }

    /// Bytes a second.
    pub fn bytes_per_second(&self) -> f64 {
        self.classes.iter().map(|class| class.bytes_per_second).sum()
    }

    /// True when it asks at least as much of every class.
    pub fn covers(&self, others: &[ClassLoad]) -> bool {
        let enough = |own: f64, others: f64| own >= others * (1.0 - 1e-9);
        others.iter().all(|load| {
            let own = self.classes.iter().find(|own| own.class == load.class);
            own.is_some_and(|own| enough(own.iops, load.iops) && enough(own.bytes_per_second, load.bytes_per_second))
        })
    }

    /// What it asks of ceilings, each with its operations a second.
    pub fn asks(&self) -> Vec<(Ask, f64)> {
        self.classes.iter().map(|class| (class.ask(), class.iops)).collect()
    }

    /// The same as streams of independent operations over so many bytes, the most operations first.
    pub fn streams(&self, capacity: Bytes) -> Vec<StreamSpec> {
        self.classes.iter().map(|class| class.stream(capacity)).collect()
    }
}

/// Operations are multiples of a sector, and none is larger than this.
const SECTOR: f64 = 512.0;
const LARGEST: f64 = (16 << 20) as f64;

impl ClassLoad {
    /// Bytes of an operation, in the mean.
    pub fn size(&self) -> f64 {
        self.bytes_per_second / self.iops
    }

    /// What it asks of ceilings.
    pub fn ask(&self) -> Ask {
        let block = Bytes::new((self.size() + 0.5).max(1.0) as u64);
        Ask { block, reads: self.reads, sequential: self.sequential }
    }

    /// The same as a stream of independent operations over so many bytes.
    pub fn stream(&self, capacity: Bytes) -> StreamSpec {
        let size = Bytes::new(((self.size() / SECTOR).round() * SECTOR).clamp(SECTOR, LARGEST) as u64);
        StreamSpec {
            name: self.class.name().into(),
            mix: Mix { sizes: Split::one(size), reads: self.reads, durable: self.durable, flush_every: 0 },
            pattern: if self.sequential { Pattern::Sequential } else { Pattern::Uniform },
            region: Region { start: 0, length: capacity.max(size) },
            pace: Pace::Open { rate: Iops::from_f64(self.iops), arrival: Arrival::Poisson },
        }
    }
}
