//! Conversion of options to a plan. Pure: checks options against each other, and against size and alignment of the storage.

use plimsoll_analyse::{Precision, SlotPlan, SweepPlan};
use plimsoll_language::label;
use plimsoll_load::{Pace, Pattern, Region, StreamSpec};
use plimsoll_record::Conditions;
use plimsoll_units::{Bytes, Span};

use crate::error::MeasureError;
use crate::invalid::InvalidRequest;
use crate::options::{EffortLevel, LoadOptions, SweepOptions};
use crate::preset::{Preset, Template};
use crate::words::WorkingSet;

/// Maximum operations in flight of an open load before arrivals queue in the generator.
const OPEN_SLOTS: u64 = 1024;
/// Memory for the buffers of all loops if the depth is automatic.
const BUFFER_MEMORY: u64 = 32 << 20;
/// Maximum memory in bytes for the buffers of all loops if the user sets the depth.
pub const MAX_BUFFER_MEMORY: u64 = 1 << 30;
/// Maximum queue depth of storage. Buffers and the kernel's queues bound it.
const MAX_STORAGE_DEPTH: u32 = 4096;
/// Maximum queue depth of a model, which has neither: the entries of a queue of `NVMe`.
const MAX_MODEL_DEPTH: u32 = 1 << 16;
/// Minimum operations of a simulated point as a multiple of its depth, so that the queue has a steady state.
const MIN_QUEUE_TURNS: f64 = 20.0;
/// Maximum queue depth of a sweep by default.
const MAX_SWEEP_DEPTH: u32 = 256;
/// Shorter measurements have a single scout pass and short slots.
const SHORT_MEASUREMENT: Span = Span::from_secs(20);
/// Measurements of at least this length have slots of a second.
const LONG_MEASUREMENT: Span = Span::from_secs(200);
/// Share of the measuring time for sustaining the load line.
const HOLD_SHARE: f64 = 0.2;
/// Maximum arrivals per second of a loop.
const MAX_RATE: f64 = 2e7;

/// A plan, independent of its target.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasurePlan {
    /// The streams before placement.
    pub templates: Vec<Template>,
    /// The addressed part of the space.
    pub working_set: Option<WorkingSet>,
    /// Compressibility of the written data, 0 to 1.
    pub compressible: f64,
    /// Seed of the random streams.
    pub seed: u64,
    /// Number of loops.
    pub threads: u32,
    /// True if the preset uses the page cache.
    pub buffered: bool,
    /// The first failed operation ends the measurement.
    pub stop_on_error: bool,
    /// Minimum warm-up of each point.
    pub warm_up: Span,
    /// Minimum length of slices, long enough for several operations.
    pub shortest_slice: Span,
    /// Maximum queue depth, if given.
    pub max_depth: Option<u32>,
    pub sweep: SweepPlan,
    /// Time limits.
    pub effort: Effort,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// A model, which accepts all operations without buffers.
    Model,
    /// Storage, which reads, writes and flushes.
    Storage,
}

impl TargetKind {
    /// Maximum queue depth.
    pub const fn max_depth(self) -> u32 {
        match self {
            Self::Model => MAX_MODEL_DEPTH,
            Self::Storage => MAX_STORAGE_DEPTH,
        }
    }
}

/// Alignment of operation sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// None.
    Any,
    /// Block size of direct I/O.
    Direct(Bytes),
    /// Block size of an export.
    Export(Bytes),
}

/// Time limits of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    pub measuring: Span,
    /// For filling a scratch file.
    pub filling: Span,
    /// Maximum size of a scratch file.
    pub largest_file: Bytes,
    /// Minimum and maximum duration of a point.
    pub point: (Span, Span),
    /// Operations per point in virtual time; `None` if the user gave a duration.
    pub operations: Option<f64>,
    /// Required precision of a point.
    pub precision: Precision,
}

impl Effort {
    fn of(options: &SweepOptions) -> Self {
        let rough = Precision { iops: 0.05, mean: 0.10, quantile: 0.20 };
        let usual = Precision::default();
        let fine = Precision { iops: 0.01, mean: 0.02, quantile: 0.05 };
        let effort = |measuring_s, filling_s, gib, least_ms, max_s, precision| Self {
            measuring: Span::from_secs(measuring_s),
            filling: Span::from_secs(filling_s),
            largest_file: Bytes::gib(gib),
            point: (Span::from_millis(least_ms), Span::from_secs(max_s)),
            operations: None,
            precision,
        };
        let with_operations = |operations: f64, effort: Self| Self { operations: Some(operations), ..effort };
        match options.effort {
            EffortLevel::Quick => with_operations(10_000.0, effort(10, 3, 2, 500, 1, rough)),
            EffortLevel::Standard => with_operations(50_000.0, effort(44, 10, 8, 1_000, 5, usual)),
            EffortLevel::Thorough => with_operations(500_000.0, effort(520, 60, 32, 6_000, 60, fine)),
            EffortLevel::Within(measuring) => {
                let point = ((measuring / 40).max(Span::from_millis(200)), measuring / 4);
                Self { measuring, point, ..effort(0, 12, 8, 0, 0, usual) }
            }
        }
    }
}

impl MeasurePlan {
    /// Checks the options against each other, against the preset and the kind of target.
    pub fn new(load: &LoadOptions, options: &SweepOptions, target: TargetKind) -> Result<Self, MeasureError> {
        let preset = Preset::find(&load.preset)?;
        check_depths(options, &preset, target)?;
        check_points(options, &preset)?;
        let mut templates = preset.streams;
        apply_load_options(&mut templates[0], load)?;
        let effort = Effort::of(options);
        let fixed = options.depths.clone().or_else(|| preset.depths.filter(|_| options.rates.is_none()));
        let repetitions = options.repetitions;
        let points = fixed.as_ref().map(Vec::len).or(options.rates.as_ref().map(Vec::len));
        let (mut least, mut max) = effort.point;
        if let Some(points) = points {
            // Named points share the time.
            max = effort.measuring / (points as u64 * u64::from(repetitions)).max(1);
            max = max - options.warm_up.unwrap_or_default();
            least = if options.duration().is_some() { max } else { least.min(max) };
        }
        let largest = templates.iter().map(|template| template.sizes().largest().get()).max().unwrap_or(1);
        let deepest = u32::try_from(BUFFER_MEMORY / largest).unwrap_or(u32::MAX).clamp(8, 256);
        if target == TargetKind::Storage {
            check_memory(options, largest)?;
        }
        if repetitions > 1 && points.is_none() {
            return Err(InvalidRequest::RepeatedSearch.into());
        }
        let sweep = SweepPlan {
            budget: effort.measuring,
            depths: fixed,
            max_depth: options.max_depth.or(preset.max_depth.map(|max| max.min(deepest))).unwrap_or(deepest),
            rates: options.rates.clone(),
            arrival: options.arrival,
            objective: options.objective.or(preset.objective),
            precision: effort.precision,
            repetitions,
            least_point: least,
            max_point: max,
            slots: Some(slot_plan(effort.measuring, load.seed)),
        };
        Ok(Self {
            templates,
            working_set: load.working_set,
            compressible: load.compressible,
            seed: load.seed,
            threads: options.threads,
            buffered: preset.buffered,
            stop_on_error: options.stop_on_error,
            warm_up: options.warm_up.unwrap_or_default(),
            shortest_slice: Span::from_millis(20),
            max_depth: options.max_depth.or(preset.max_depth),
            sweep,
            effort,
        })
    }

    /// The plan for a model, whose time is free: the duration of points follows from the required operations if the
    /// rate is given, and the load line is always sustained. Durations given by the user stay.
    pub fn in_virtual_time(&self, iops: Option<f64>) -> Self {
        let mut plan = self.clone();
        if let Some((operations, iops)) = self.effort.operations.zip(iops) {
            let deepest = self.sweep.depths.iter().flatten().max().copied().unwrap_or(0);
            let operations = operations.max(MIN_QUEUE_TURNS * f64::from(deepest));
            let least = Span::from_secs_f64(operations / iops).max(Span::from_millis(10));
            plan.sweep.least_point = least;
            plan.sweep.max_point = least * 5;
            plan.sweep.budget = least * 40;
            plan.shortest_slice = least / 40;
            plan.sweep.max_depth = self.max_depth.unwrap_or(MAX_SWEEP_DEPTH);
            plan.sweep.slots = plan.sweep.slots.map(|slots| {
                let scale = plan.sweep.budget.as_secs_f64() / self.sweep.budget.as_secs_f64();
                let scaled = |span: Span| Span::from_secs_f64(span.as_secs_f64() * scale);
                SlotPlan {
                    least: scaled(slots.least).min(slots.least),
                    longest: scaled(slots.longest),
                    window: scaled(slots.window),
                    ..slots
                }
            });
        }
        plan.sweep.slots = plan.sweep.slots.map(|slots| SlotPlan { overrun: 1.0, ..slots });
        plan
    }

    /// The plan for passes that alternate between two targets: shorter slots, so that slow storage has enough passes,
    /// and no sustained load. Named loads are measured in at least two passes, so that drift affects both sides.
    pub fn in_turns(&self) -> Self {
        let SweepPlan { repetitions, least_point, max_point, .. } = self.sweep;
        let longest = self.sweep.budget / 80;
        let slots = self.sweep.slots.map(|slots| SlotPlan { scouts: 1, longest, hold: 0.0, ..slots });
        let passes = repetitions.max(2);
        let shorten = |span: Span| if self.sweep.is_named() { span * repetitions.into() / passes.into() } else { span };
        let sweep = SweepPlan {
            slots,
            repetitions: passes,
            least_point: shorten(least_point),
            max_point: shorten(max_point),
            ..self.sweep.clone()
        };
        Self { sweep, ..self.clone() }
    }

    /// Conditions of a measurement with this plan.
    pub fn conditions(&self, streams: Vec<StreamSpec>, threads: u32, direct: bool) -> Conditions {
        Conditions {
            streams,
            threads,
            direct,
            compressible: self.compressible,
            seed: self.seed,
            objective: self.sweep.objective,
            trace: None,
        }
    }

    /// True if operations change the storage.
    pub fn writes(&self) -> bool {
        self.templates.iter().any(|template| template.mix.reads < 1.0)
    }

    /// The plan without writes.
    pub fn without_writes(&self) -> Self {
        Self { templates: self.templates.iter().map(Template::reading).collect(), ..self.clone() }
    }

    /// Size of the largest operation.
    pub fn largest(&self) -> Bytes {
        self.templates.iter().map(|template| template.sizes().largest()).max().unwrap_or_default()
    }

    /// The streams on a space of `size` bytes. The pace of the first is a placeholder.
    ///
    /// Further sequential streams have separate regions at the end, as log files do.
    pub fn place(&self, size: Bytes, grid: Grid) -> Result<Vec<StreamSpec>, MeasureError> {
        self.check_grid(grid)?;
        let has_own_region = |index: usize, template: &Template| index > 0 && template.pattern == Pattern::Sequential;
        let logs =
            self.templates.iter().enumerate().filter(|(index, template)| has_own_region(*index, template)).count()
                as u64;
        let part = Bytes::new(size.get() / 16).round_down(Bytes::mib(1));
        // Logs begin at multiples of a MiB.
        let shared =
            if logs == 0 { size } else { Bytes::new(size.get() - logs * part.get()).round_down(Bytes::mib(1)) };
        let mut logs_before = 0;
        let mut streams = Vec::new();
        for (index, template) in self.templates.iter().enumerate() {
            let region = if has_own_region(index, template) {
                logs_before += 1;
                Region { start: shared.get() + (logs_before - 1) * part.get(), length: part }
            } else {
                Region::first(self.working_set_of(shared)?)
            };
            if region.length < template.sizes().largest() {
                let (stream, operation) = (template.name.clone(), template.sizes().largest());
                return Err(InvalidRequest::StreamSpace { stream, space: region.length, operation }.into());
            }
            let pace = template.pace.unwrap_or(Pace::Closed { depth: 1 });
            let (name, mix, pattern) = (template.name.clone(), template.mix.clone(), template.pattern);
            streams.push(StreamSpec { name, mix, pattern, region, pace });
        }
        Ok(streams)
    }

    fn working_set_of(&self, space: Bytes) -> Result<Bytes, MeasureError> {
        match self.working_set {
            None => Ok(space),
            Some(WorkingSet::Share(share)) => Ok(Bytes::new((space.get() as f64 * share) as u64)),
            Some(WorkingSet::Size(size)) if size <= space => Ok(size),
            Some(WorkingSet::Size(size)) => Err(InvalidRequest::WorkingSet { size, space }.into()),
        }
    }

    fn check_grid(&self, grid: Grid) -> Result<(), MeasureError> {
        let (grid, why, instead) = match grid {
            Grid::Any => return Ok(()),
            Grid::Direct(grid) => (grid, label!("direct I/O requires here"), label!(", or add --buffered")),
            Grid::Export(grid) => (grid, label!("the export requires"), ""),
        };
        for template in &self.templates {
            for (size, _) in template.sizes().sizes() {
                if !size.get().is_multiple_of(grid.get()) {
                    let (size, grid) = (size.get(), grid.get());
                    let nearest = Bytes::new(size.next_multiple_of(1024).next_multiple_of(grid));
                    let nearest = nearest.to_string().replace(' ', "");
                    return Err(InvalidRequest::BlockSize { size, grid, why, nearest, instead }.into());
                }
            }
        }
        Ok(())
    }
}

/// Slots for a measuring time.
fn slot_plan(measuring: Span, seed: u64) -> SlotPlan {
    let is_short = measuring < SHORT_MEASUREMENT;
    let longest = if measuring < LONG_MEASUREMENT { Span::from_millis(500) } else { Span::from_secs(1) };
    SlotPlan {
        least: if is_short { measuring / 40 } else { (measuring / 88).min(longest) },
        longest: measuring / 40,
        scouts: if is_short { 1 } else { 2 },
        hold: HOLD_SHARE,
        window: if is_short { measuring / 40 } else { (measuring / 88).min(Span::from_millis(500)) },
        overrun: 0.1,
        seed,
    }
}

/// Slots per loop for these streams.
pub(crate) fn count_slots(streams: &[StreamSpec], loops: u32) -> u32 {
    let largest = streams.iter().map(|stream| stream.mix.sizes.largest().get()).max().unwrap_or(1).max(1);
    let open = (BUFFER_MEMORY / largest).clamp(16, OPEN_SLOTS) as u32;
    let open = (open / loops.max(1)).max(16);
    let slots = streams.iter().map(|stream| match stream.pace {
        Pace::Closed { depth } => depth,
        Pace::Open { .. } => open,
    });
    slots.sum()
}

/// Fails if the buffers for a depth exceed the memory limit.
fn check_memory(options: &SweepOptions, largest: u64) -> Result<(), MeasureError> {
    let depth = options.depths.iter().flatten().chain(&options.max_depth).max().copied().unwrap_or(0);
    // A read buffer and a write buffer.
    let needed = 2 * u64::from(depth) * largest;
    if needed <= MAX_BUFFER_MEMORY {
        return Ok(());
    }
    let [block, needed, max] = [largest, needed, MAX_BUFFER_MEMORY].map(Bytes::new);
    Err(InvalidRequest::BlockBuffers { depth, block, needed, max }.into())
}

fn check_depths(options: &SweepOptions, preset: &Preset, target: TargetKind) -> Result<(), MeasureError> {
    let max = target.max_depth();
    let others = preset.streams.iter().filter_map(|stream| match stream.pace {
        Some(Pace::Closed { depth }) => Some(depth),
        _ => None,
    });
    let depths = options.depths.iter().flatten().chain(&options.max_depth).chain(preset.depths.iter().flatten());
    match depths.chain(&preset.max_depth).copied().chain(others).find(|depth| !(1..=max).contains(depth)) {
        Some(depth) => Err(InvalidRequest::QueueDepth { depth, max }.into()),
        None => Ok(()),
    }
}

fn check_points(options: &SweepOptions, preset: &Preset) -> Result<(), MeasureError> {
    if let Some(rate) = options.rates.iter().flatten().find(|rate| rate.as_f64() > MAX_RATE) {
        return Err(InvalidRequest::Rate { rate: *rate, max: MAX_RATE }.into());
    }
    if options.max_depth.is_some() && preset.depths.is_some() {
        return Err(InvalidRequest::FixedQueueDepths.into());
    }
    let max = 200 / options.repetitions.max(1) as usize;
    let points = options.depths.as_ref().map(Vec::len).or(options.rates.as_ref().map(Vec::len)).unwrap_or(0);
    if points > max {
        return Err(InvalidRequest::Points { points, max }.into());
    }
    if options.warm_up.zip(options.duration()).is_some_and(|(warm_up, all)| warm_up * points.max(1) as u64 >= all) {
        return Err(InvalidRequest::WarmUp.into());
    }
    if !(1..=256).contains(&options.threads) {
        return Err(InvalidRequest::Threads(options.threads).into());
    }
    if !(1..=1000).contains(&options.repetitions) {
        return Err(InvalidRequest::Repetitions(options.repetitions).into());
    }
    if let Some(least) = options.depths.iter().flatten().min()
        && *least < options.threads
    {
        return Err(InvalidRequest::SharedDepth { depth: *least, threads: options.threads }.into());
    }
    if options.duration().is_some_and(|duration| duration < Span::from_millis(100)) {
        return Err(InvalidRequest::ShortDuration.into());
    }
    Ok(())
}

/// Applies the options of the load to the preset's first stream.
fn apply_load_options(first: &mut Template, load: &LoadOptions) -> Result<(), MeasureError> {
    if let Some(sizes) = &load.block_size {
        first.mix.sizes = sizes.clone();
    }
    if let Some(reads) = load.reads {
        first.mix.reads = reads;
    }
    if let Some(pattern) = load.pattern {
        first.pattern = pattern;
    }
    first.mix.durable |= load.durable;
    first.mix.flush_every = load.flush_every.unwrap_or(first.mix.flush_every);
    let writes = first.mix.reads < 1.0;
    if (load.durable || load.flush_every.is_some()) && !writes {
        return Err(InvalidRequest::DurableReads.into());
    }
    // A read-only variant of a durable preset has no durable writes.
    first.mix.durable &= writes;
    Ok(())
}
