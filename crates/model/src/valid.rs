//! Validation of models.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use plimsoll_units::{Bytes, Iops, Kind, Span, Throughput};

use crate::Stage;
use crate::spec::{ChainSpec, Demand, Flushing, Invalid, Layout, Named, Rate, Service, StageSpec};

/// Maximum stages of a model, including nested ones.
const MAX_STAGES: usize = 64;
/// Maximum resources: stages times the members of the arrays around them.
const MAX_RESOURCES: usize = 20_000;
/// Maximum paths of all stages that have several.
const MAX_PATHS: usize = 128;
/// Maximum units of a stream's window.
const MAX_AHEAD: u64 = 4096;

/// Change of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitChange {
    /// None.
    Retain,
    /// Another burst, in operations or bytes.
    Burst(u64),
    /// Operations pass without the limit.
    Remove,
}

impl From<StageSpec> for Named {
    fn from(stage: StageSpec) -> Self {
        Self { stage, name: None }
    }
}

impl ChainSpec {
    /// Validates stages as a model.
    ///
    /// # Errors
    /// If the number of stages is out of range, a stage has no server, slot, queue or room, a stall lasts as long as
    /// its period, a share is not between 0 and 1, an array has too few members, or some operation takes no time:
    /// virtual time would not advance under a closed load.
    pub fn new(stages: Vec<Named>) -> Result<Self, Invalid> {
        let chain = Self(stages);
        let (stages, resources) = chain.size();
        if stages == 0 || stages > MAX_STAGES || resources > MAX_RESOURCES {
            return Err(Invalid(format!(
                "a model has 1 to {MAX_STAGES} stages, and at most {MAX_RESOURCES} with all members"
            )));
        }
        chain.check()?;
        if chain.paths().iter().map(|(_, paths)| usize::from(*paths)).sum::<usize>() > MAX_PATHS {
            return Err(Invalid(format!("a model has at most {MAX_PATHS} paths")));
        }
        if chain.takes_time() {
            Ok(chain)
        } else {
            Err(Invalid("some operation would take no time: add a link or a station with a time above zero".into()))
        }
    }

    /// Nested stages, which may be empty and are validated with the whole chain.
    pub const fn nested(stages: Vec<Named>) -> Self {
        Self(stages)
    }

    /// The top-level stages, in the order in which operations pass.
    pub fn stages(&self) -> &[Named] {
        &self.0
    }

    /// The display names of all stages, in the order of [`crate::Stage`], and of the paths of stages with several.
    pub fn names(&self) -> Vec<String> {
        let mut names = self.stage_names();
        for (stage, paths) in self.paths() {
            names.extend(
                (1..=paths).map(|path| format!("{}, path {path}", names[usize::from(stage.0)])).collect::<Vec<_>>(),
            );
        }
        names
    }

    /// The stages with several paths, and their number.
    pub(crate) fn paths(&self) -> Vec<(Stage, u8)> {
        let (mut next, mut found) = (0, Vec::new());
        self.add_paths(&mut next, &mut found);
        found
    }

    /// Numbers the stages as a program does.
    fn add_paths(&self, next: &mut u8, found: &mut Vec<(Stage, u8)>) {
        for named in &self.0 {
            if let StageSpec::Window { paths: paths @ 2.., .. } | StageSpec::Link { paths: paths @ 2.., .. } =
                named.stage
            {
                found.push((Stage(*next), paths));
            }
            *next += 1;
            named.stage.insides().into_iter().for_each(|inside| inside.add_paths(next, found));
        }
    }

    fn stage_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for named in &self.0 {
            names.push(match &named.name {
                Some(name) => String::from(&**name),
                None => named.stage.label(),
            });
            for inside in named.stage.insides() {
                names.extend(inside.stage_names());
            }
        }
        names
    }

    /// The rate that each stage limits, in the order of [`Self::names`]; none for stages that are not limits.
    pub fn limited_rates(&self) -> Vec<Option<Rate>> {
        let mut rates = self.stage_rates();
        rates.resize(self.names().len(), None);
        rates
    }

    fn stage_rates(&self) -> Vec<Option<Rate>> {
        let mut rates = Vec::new();
        for named in &self.0 {
            rates.push(match named.stage {
                StageSpec::Limit { rate, .. } => Some(rate),
                _ => None,
            });
            for inside in named.stage.insides() {
                rates.extend(inside.stage_rates());
            }
        }
        rates
    }

    /// The chain with its limits, nested ones included, replaced as `change` decides by rate and burst. It is valid with
    /// the limits removed if other stages take time.
    pub fn with_limits(&self, change: &impl Fn(Rate, u64) -> LimitChange) -> Self {
        let replace = |named: &Named| {
            let mut named = named.clone();
            if let StageSpec::Limit { rate, burst, .. } = &mut named.stage {
                match change(*rate, *burst) {
                    LimitChange::Retain => {}
                    LimitChange::Burst(changed) => *burst = changed,
                    LimitChange::Remove => return None,
                }
            }
            named.stage.insides_mut().into_iter().for_each(|inside| *inside = inside.with_limits(change));
            Some(named)
        };
        Self(self.0.iter().filter_map(replace).collect())
    }

    /// Capacity of the write-back cache in front of all stages that store data, if any.
    pub fn write_back(&self) -> Option<Bytes> {
        self.0.iter().find_map(|named| match &named.stage {
            StageSpec::WriteBack { capacity, .. } => Some(*capacity),
            _ => None,
        })
    }

    /// Number of stages, and of the resources that they need.
    fn size(&self) -> (usize, usize) {
        let mut size = (0, 0);
        for named in &self.0 {
            let members = match named.stage {
                StageSpec::Array { members, .. } => members as usize,
                _ => 1,
            };
            let inside = named.stage.insides().into_iter().map(Self::size);
            let inside = inside.fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
            size = (size.0 + 1 + inside.0, size.1 + 1 + inside.1.saturating_mul(members));
        }
        size
    }

    fn check(&self) -> Result<(), Invalid> {
        for named in &self.0 {
            if let Some(fault) = named.stage.fault() {
                return Err(Invalid(format!("{}: {fault}", named.stage.label())));
            }
            named.stage.insides().into_iter().try_for_each(Self::check)?;
        }
        Ok(())
    }

    /// True if every operation takes time on every path.
    fn takes_time(&self) -> bool {
        self.0.iter().any(|named| match &named.stage {
            StageSpec::Limit { .. } | StageSpec::Disk(_) | StageSpec::Curve { .. } => true,
            StageSpec::Station { demand, .. } | StageSpec::Bank { demand, .. } => demand.takes_time(),
            StageSpec::Link { latency, .. } => !latency.is_zero(),
            StageSpec::Stall { .. }
            | StageSpec::Pressure { .. }
            | StageSpec::Cold { .. }
            | StageSpec::Buffer { .. }
            | StageSpec::Prefetch { .. } => false,
            StageSpec::Window { inside, .. }
            | StageSpec::Pieces { inside, .. }
            | StageSpec::Array { member: inside, .. } => inside.takes_time(),
            // Space is freed only by stages that take time: these limit a load of writes in the long run.
            StageSpec::WriteBack { inside, flushing, .. } => *flushing == Flushing::Honoured && inside.takes_time(),
            StageSpec::Split { read, write, flush } => [read, write, flush].iter().all(|way| way.takes_time()),
            StageSpec::Cache { hit, miss, .. }
            | StageSpec::Clock { hit, miss, .. }
            | StageSpec::Concat { first: hit, rest: miss, .. } => hit.takes_time() && miss.takes_time(),
        })
    }
}

impl Demand {
    /// The same time for all operations.
    pub const fn constant(mean: Span) -> Self {
        Self { mean, write: None, flush: None, rate: None, write_rate: None, spread: Service::Constant }
    }

    /// Rate at which the bytes of an operation pass.
    pub(crate) const fn rate_of(&self, kind: Kind) -> Option<Throughput> {
        match kind {
            Kind::Write | Kind::DurableWrite | Kind::Trim if self.write_rate.is_some() => self.write_rate,
            _ => self.rate,
        }
    }

    fn takes_time(&self) -> bool {
        let zero = |span: Option<Span>| span.is_some_and(Span::is_zero);
        !self.mean.is_zero() && !zero(self.write) && !zero(self.flush)
    }
}

impl StageSpec {
    /// Nested chains, in textual order.
    pub fn insides(&self) -> Vec<&ChainSpec> {
        match self {
            Self::Window { inside, .. }
            | Self::Pieces { inside, .. }
            | Self::WriteBack { inside, .. }
            | Self::Prefetch { inside, .. } => alloc::vec![inside],
            Self::Array { member, .. } => alloc::vec![member],
            Self::Split { read, write, flush } => alloc::vec![read, write, flush],
            Self::Cache { hit, miss, .. } | Self::Clock { hit, miss, .. } => alloc::vec![hit, miss],
            Self::Concat { first, rest, .. } => alloc::vec![first, rest],
            _ => Vec::new(),
        }
    }

    /// The same for changes.
    pub(crate) fn insides_mut(&mut self) -> Vec<&mut ChainSpec> {
        match self {
            Self::Window { inside, .. }
            | Self::Pieces { inside, .. }
            | Self::WriteBack { inside, .. }
            | Self::Prefetch { inside, .. } => alloc::vec![inside],
            Self::Array { member, .. } => alloc::vec![member],
            Self::Split { read, write, flush } => alloc::vec![read, write, flush],
            Self::Cache { hit, miss, .. } | Self::Clock { hit, miss, .. } => alloc::vec![hit, miss],
            Self::Concat { first, rest, .. } => alloc::vec![first, rest],
            _ => Vec::new(),
        }
    }

    /// The rule that its parameters violate.
    fn fault(&self) -> Option<&'static str> {
        let share = |share: f64| (0.0..=1.0).contains(&share);
        let spread = |demand: &Demand| match demand.spread {
            Service::LogNormal(scv) => scv > 0.0 && scv.is_finite(),
            Service::Constant | Service::Exponential => true,
        };
        let (holds, rule) = match self {
            Self::Limit { burst, unit, .. } => {
                (*burst > 0 && *unit != Some(Bytes::ZERO), "burst and unit are at least 1")
            }
            Self::Station { servers, demand } => (
                *servers > 0 && *servers <= 65_536 && spread(demand),
                "1 to 65,536 servers, a log-normal spread above 0",
            ),
            Self::Bank { queues, grain, demand } => (
                *queues > 0 && *queues <= 65_536 && grain.get() >= 512 && spread(demand),
                "1 to 65,536 queues, a grain of at least 512 bytes, a log-normal spread above 0",
            ),
            Self::Disk(disk) => (
                disk.queue > 0
                    && disk.capacity > Bytes::ZERO
                    && disk.settle <= disk.seek
                    && (0.0..=1.0).contains(&disk.gain)
                    && (1.0..=65_536.0).contains(&disk.reorders_from),
                "a capacity, a queue of at least 1, a gain between 0 and 1 from a depth of at least 1, the shorter seek first",
            ),
            Self::Stall { every, length } => (length < every, "a stall is shorter than its period"),
            Self::Pressure { burst, .. } => (*burst > 0, "the burst is at least 1"),
            Self::Cold { grain, share: cold, .. } => {
                (grain.get() >= 4096 && share(*cold), "a grain of at least 4 KiB, a share of 0 to 100 %")
            }
            Self::Buffer { capacity, .. } => (*capacity > Bytes::ZERO, "it needs a capacity"),
            Self::WriteBack { capacity, halves, depth, reads, .. } => (
                *capacity > Bytes::ZERO && *depth > 0 && share(*reads) && *halves != Some(Span::ZERO),
                "it needs a capacity, a depth of at least 1, reads of 0 to 100 %, and a time of halves above 0",
            ),
            Self::Prefetch { window, unit, streams, .. } => (
                unit.get() >= 512
                    && unit.get() <= 1 << 30
                    && window >= unit
                    && window.get() / unit.get() <= MAX_AHEAD
                    && (1..=1024).contains(streams),
                "a unit of 512 bytes to 1 GiB, a window of 1 to 4,096 units, 1 to 1,024 streams",
            ),
            Self::Curve { points } => {
                (is_curve(points), "numbers in flight rise from 1 to at most 4,096, each with a rate")
            }
            Self::Window { slots, paths, .. } => (*slots > 0 && *paths > 0, "a window has at least 1 slot and 1 path"),
            Self::Pieces { size, .. } => (size.get() >= 4096, "pieces of at least 4 KiB"),
            Self::Cache { hits, .. } => (share(*hits), "a share of 0 to 100 %"),
            Self::Clock { capacity, grain, .. } => (
                grain.get() >= 512 && capacity >= grain,
                "blocks of at least 512 bytes, and room for at least one block",
            ),
            Self::Array { layout, members, interleave, .. } => (
                *members >= layout.min_members()
                    && *members <= 1024
                    && interleave.get() >= 512
                    && (*layout != Layout::Raid10 || members.is_multiple_of(2)),
                "2 to 1,024 members (3 for RAID 5, 4 for RAID 6 and 10, there an even number), an interleave of at least 512 bytes",
            ),
            Self::Link { paths, .. } => (*paths > 0, "a link has at least 1 path"),
            Self::Concat { size, .. } => (*size > Bytes::ZERO, "the first device has a size"),
            Self::Split { .. } => (true, ""),
        };
        (!holds).then_some(rule)
    }
}

fn is_curve(points: &[(u32, Iops)]) -> bool {
    let rises = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let ends = points.first().is_some_and(|first| first.0 == 1) && points.last().is_some_and(|last| last.0 <= 4096);
    rises && ends && points.iter().all(|(_, iops)| iops.as_f64() > 0.0)
}

impl Layout {
    /// Minimum number of members.
    pub const fn min_members(self) -> u32 {
        match self {
            Self::Stripe | Self::SplitStripe | Self::SerialStripe | Self::Mirror => 2,
            Self::Raid5 => 3,
            Self::Raid6 | Self::Raid10 => 4,
        }
    }

    /// The word of the notation.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stripe => "stripe",
            Self::SplitStripe => "split-stripe",
            Self::SerialStripe => "serial-stripe",
            Self::Mirror => "mirror",
            Self::Raid10 => "raid10",
            Self::Raid5 => "raid5",
            Self::Raid6 => "raid6",
        }
    }

    /// All layouts.
    pub const ALL: [Self; 7] =
        [Self::Stripe, Self::SplitStripe, Self::SerialStripe, Self::Mirror, Self::Raid10, Self::Raid5, Self::Raid6];
}
