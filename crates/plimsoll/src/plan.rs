//! From flags to a plan. Pure: what is asked is checked against itself here, and against the storage once that is
//! known.

use plimsoll_analyse::{Precision, SlotPlan, SweepPlan};
use plimsoll_load::{Arrival, Pace, Pattern, Region, StreamSpec};
use plimsoll_record::Objective;
use plimsoll_units::{Bytes, Span};

use crate::args::{ArrivalWord, CourseArgs, LoadArgs};
use crate::preset::{Preset, Template};
use crate::trouble::Trouble;
use crate::words::{BlockSizes, PatternWord, Percent, WorkingSet};

/// Slots for an open load: so many operations may be in flight before arrivals wait in the generator.
const OPEN_SLOTS: u64 = 1024;
/// Memory for the buffers of all loops, where plimsoll chooses the depth.
const BUFFER_MEMORY: u64 = 32 << 20;
/// Memory for the buffers of all loops, in bytes, where the user chooses it.
pub const MOST_BUFFER_MEMORY: u64 = 1 << 30;
/// No queue of storage is deeper.
pub const DEEPEST: u32 = 4096;
/// Without a wish of the user no queue of a sweep is deeper.
const DEEPEST_SWEEP: u32 = 256;
/// Less measuring time than this is spent on one scout pass and short slots.
const SHORT: Span = Span::from_secs(20);
/// From this much measuring time on, slots last a second.
const LONG: Span = Span::from_secs(200);
/// Share of the measuring time for holding the load line.
const HOLD_SHARE: f64 = 0.2;
/// No loop offers more arrivals than this in a second.
const MOST_RATE: f64 = 2e7;

/// What will be done, whatever it is done to.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The streams, not yet placed.
    pub templates: Vec<Template>,
    /// The part of the space that they address.
    pub working_set: Option<WorkingSet>,
    /// Share of the written data that compresses away, 0 to 1.
    pub compressible: f64,
    /// What determines the random streams.
    pub seed: u64,
    /// Loops that share the load.
    pub threads: u32,
    /// Through the page cache, because the preset is about that.
    pub buffered: bool,
    /// The first operation that fails ends the measurement.
    pub stop_on_error: bool,
    /// Each point warms up for at least this long.
    pub warm_up: Span,
    /// Runs are watched in slices no shorter than this: long enough to hold something.
    pub shortest_slice: Span,
    /// The deepest queue, where that was said.
    pub deepest_asked: Option<u32>,
    /// The course of the measurement.
    pub sweep: SweepPlan,
    /// How much time the whole may take.
    pub effort: Effort,
}

/// What sizes of operations have to be multiples of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// Nothing.
    Any,
    /// Blocks that direct I/O moves whole.
    Direct(Bytes),
    /// Blocks that an export is served in.
    Export(Bytes),
}

/// How much time a measurement may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// For measuring.
    pub measuring: Span,
    /// For filling a file of our own.
    pub filling: Span,
    /// The largest file of our own.
    pub largest_file: Bytes,
    /// The shortest point, and the longest.
    pub point: (Span, Span),
    /// Operations that a point needs where time costs nothing; `None` when the user gave the time.
    pub operations: Option<f64>,
    /// How well a point has to be known.
    pub precision: Precision,
}

impl Effort {
    fn of(course: &CourseArgs) -> Self {
        let rough = Precision { iops: 0.05, mean: 0.10, quantile: 0.20 };
        let usual = Precision::default();
        let fine = Precision { iops: 0.01, mean: 0.02, quantile: 0.05 };
        let effort = |measuring_s, filling_s, gib, least_ms, most_s, precision| Self {
            measuring: Span::from_secs(measuring_s),
            filling: Span::from_secs(filling_s),
            largest_file: Bytes::gib(gib),
            point: (Span::from_millis(least_ms), Span::from_secs(most_s)),
            operations: None,
            precision,
        };
        let worth = |operations: f64, effort: Self| Self { operations: Some(operations), ..effort };
        match (course.quick, course.thorough, course.duration) {
            (true, ..) => worth(10_000.0, effort(10, 3, 2, 500, 1, rough)),
            (_, true, _) => worth(500_000.0, effort(520, 60, 32, 6_000, 60, fine)),
            (_, _, Some(measuring)) => {
                let point = ((measuring / 40).max(Span::from_millis(200)), measuring / 4);
                Self { measuring, point, ..effort(0, 12, 8, 0, 0, usual) }
            }
            _ => worth(50_000.0, effort(44, 10, 8, 1_000, 5, usual)),
        }
    }
}

impl Plan {
    /// Checks the flags against each other and the preset.
    pub fn new(load: &LoadArgs, course: &CourseArgs) -> Result<Self, Trouble> {
        let preset = Preset::find(&load.preset)?;
        check_course(course, &preset)?;
        let mut templates = preset.streams;
        override_first(&mut templates[0], load)?;
        let effort = Effort::of(course);
        let fixed = course.depth.clone().or_else(|| preset.depths.filter(|_| course.rate.is_none()));
        let repetitions = course.repetitions;
        let points = fixed.as_ref().map(Vec::len).or(course.rate.as_ref().map(Vec::len));
        let (mut least, mut most) = effort.point;
        if let Some(points) = points {
            // Named points share the time among themselves.
            most = effort.measuring / (points as u64 * u64::from(repetitions)).max(1);
            most = most - course.warm_up.unwrap_or_default();
            least = if course.duration.is_some() { most } else { least.min(most) };
        }
        let largest = templates.iter().map(|template| template.sizes().largest().get()).max().unwrap_or(1);
        let deepest = u32::try_from(BUFFER_MEMORY / largest).unwrap_or(u32::MAX).clamp(8, 256);
        check_memory(course, largest)?;
        if repetitions > 1 && points.is_none() {
            return Err(Trouble::usage(
                "--repetitions is for loads that you name: add --depth or --rate, or leave it out, as a search measures \
                 loads again and again",
            ));
        }
        let sweep = SweepPlan {
            budget: effort.measuring,
            depths: fixed,
            max_depth: course.max_depth.or(preset.max_depth.map(|most| most.min(deepest))).unwrap_or(deepest),
            rates: course.rate.clone(),
            arrival: match course.arrival {
                ArrivalWord::Poisson => Arrival::Poisson,
                ArrivalWord::Constant => Arrival::Constant,
            },
            objective: course.objective.or(preset.objective),
            precision: effort.precision,
            repetitions,
            least_point: least,
            most_point: most,
            slots: Some(slot_plan(effort.measuring, load.seed)),
        };
        let Percent(compressible) = load.compressible;
        Ok(Self {
            templates,
            working_set: load.working_set,
            compressible,
            seed: load.seed,
            threads: course.threads,
            buffered: preset.buffered,
            stop_on_error: course.stop_on_error,
            warm_up: course.warm_up.unwrap_or_default(),
            shortest_slice: Span::from_millis(20),
            deepest_asked: course.max_depth.or(preset.max_depth),
            sweep,
            effort,
        })
    }

    /// The same for a model, which takes no time to measure: points are as long as their operations need, where it is
    /// known how many it answers in a second, and the line is always held. What the user said about time stays.
    pub fn in_virtual_time(&self, iops: Option<f64>) -> Self {
        let mut plan = self.clone();
        if let Some((operations, iops)) = self.effort.operations.zip(iops) {
            let least = Span::from_secs_f64(operations / iops).max(Span::from_millis(10));
            plan.sweep.least_point = least;
            plan.sweep.most_point = least * 5;
            plan.sweep.budget = least * 40;
            plan.shortest_slice = least / 40;
            plan.sweep.max_depth = self.deepest_asked.unwrap_or(DEEPEST_SWEEP);
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

    /// The same for passes that alternate between two targets: shorter slots, so that slow storage has enough passes, and
    /// no hold, which compares nothing.
    pub fn in_turns(&self) -> Self {
        let longest = self.sweep.budget / 80;
        let slots = self.sweep.slots.map(|slots| SlotPlan { scouts: 1, longest, hold: 0.0, ..slots });
        Self { sweep: SweepPlan { slots, ..self.sweep.clone() }, ..self.clone() }
    }

    /// What the load line has to meet, if that was said.
    pub const fn objective(&self) -> Option<Objective> {
        self.sweep.objective
    }

    /// True when some operations change the storage.
    pub fn writes(&self) -> bool {
        self.templates.iter().any(|template| template.mix.reads < 1.0)
    }

    /// The same plan without writes.
    pub fn reading(&self) -> Self {
        Self { templates: self.templates.iter().map(Template::reading).collect(), ..self.clone() }
    }

    /// The largest operation.
    pub fn largest(&self) -> Bytes {
        self.templates.iter().map(|template| template.sizes().largest()).max().unwrap_or_default()
    }

    /// The streams on a space of `size` bytes. The first one's pace is a depth of 1 until a point says otherwise.
    ///
    /// Sequential streams beside the first one get a place of their own at the end, as log files have.
    pub fn place(&self, size: Bytes, grid: Grid) -> Result<Vec<StreamSpec>, Trouble> {
        self.check_grid(grid)?;
        let alone = |index: usize, template: &Template| index > 0 && template.pattern == Pattern::Sequential;
        let logs = self.templates.iter().enumerate().filter(|(index, template)| alone(*index, template)).count() as u64;
        let part = Bytes::new(size.get() / 16).round_down(Bytes::mib(1));
        // Logs begin on a whole MiB, whatever the size is.
        let shared =
            if logs == 0 { size } else { Bytes::new(size.get() - logs * part.get()).round_down(Bytes::mib(1)) };
        let mut logs_before = 0;
        let mut streams = Vec::new();
        for (index, template) in self.templates.iter().enumerate() {
            let region = if alone(index, template) {
                logs_before += 1;
                Region { start: shared.get() + (logs_before - 1) * part.get(), length: part }
            } else {
                Region::first(self.working_set_of(shared)?)
            };
            if region.length < template.sizes().largest() {
                return Err(Trouble::usage(format!(
                    "the space for stream {:?} is {}, smaller than one operation of {}: give --size or --working-set more",
                    template.name,
                    region.length,
                    template.sizes().largest()
                )));
            }
            let pace = template.pace.unwrap_or(Pace::Closed { depth: 1 });
            let (name, mix, pattern) = (template.name.clone(), template.mix.clone(), template.pattern);
            streams.push(StreamSpec { name, mix, pattern, region, pace });
        }
        Ok(streams)
    }

    fn working_set_of(&self, space: Bytes) -> Result<Bytes, Trouble> {
        match self.working_set {
            None => Ok(space),
            Some(WorkingSet::Share(share)) => Ok(Bytes::new((space.get() as f64 * share) as u64)),
            Some(WorkingSet::Size(size)) if size <= space => Ok(size),
            Some(WorkingSet::Size(size)) => Err(Trouble::usage(format!(
                "the working set of {size} is larger than the space of {space}: make it smaller, or give --size more"
            ))),
        }
    }

    fn check_grid(&self, grid: Grid) -> Result<(), Trouble> {
        let (grid, why, instead) = match grid {
            Grid::Any => return Ok(()),
            Grid::Direct(grid) => (grid, "direct I/O needs here", ", or add --buffered"),
            Grid::Export(grid) => (grid, "the export is served in", ""),
        };
        for template in &self.templates {
            for (size, _) in template.sizes().sizes() {
                if !size.get().is_multiple_of(grid.get()) {
                    let nearest = Bytes::new(size.get().next_multiple_of(1024).next_multiple_of(grid.get()));
                    return Err(Trouble::usage(format!(
                        "a block size of {} bytes is no multiple of {} bytes, which {why}: write {}{instead}",
                        size.get(),
                        grid.get(),
                        nearest.to_string().replace(' ', ""),
                    )));
                }
            }
        }
        Ok(())
    }
}

/// Slots for so much measuring time.
fn slot_plan(measuring: Span, seed: u64) -> SlotPlan {
    let is_short = measuring < SHORT;
    let longest = if measuring < LONG { Span::from_millis(500) } else { Span::from_secs(1) };
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

/// Slots that one of `loops` needs for these streams.
pub fn slots(streams: &[StreamSpec], loops: u32) -> u32 {
    let largest = streams.iter().map(|stream| stream.mix.sizes.largest().get()).max().unwrap_or(1).max(1);
    let open = (BUFFER_MEMORY / largest).clamp(16, OPEN_SLOTS) as u32;
    let open = (open / loops.max(1)).max(16);
    let slots = streams.iter().map(|stream| match stream.pace {
        Pace::Closed { depth } => depth,
        Pace::Open { .. } => open,
    });
    slots.sum()
}

/// Refuses depths whose buffers no machine should have to hold.
fn check_memory(course: &CourseArgs, largest: u64) -> Result<(), Trouble> {
    let deepest = course.depth.iter().flatten().chain(&course.max_depth).max().copied().unwrap_or(0);
    // One buffer to read into and one to write from.
    let needed = 2 * u64::from(deepest) * largest;
    if needed <= MOST_BUFFER_MEMORY {
        return Ok(());
    }
    Err(Trouble::usage(format!(
        "a depth of {deepest} with blocks of {} needs {} of buffers, more than {}: lower the depth or the block size",
        Bytes::new(largest),
        Bytes::new(needed),
        Bytes::new(MOST_BUFFER_MEMORY)
    )))
}

fn check_course(course: &CourseArgs, preset: &Preset) -> Result<(), Trouble> {
    let depths = course.depth.iter().flatten().chain(&course.max_depth).chain(preset.depths.iter().flatten());
    for depth in depths.chain(&preset.max_depth) {
        if !(1..=DEEPEST).contains(depth) {
            return Err(Trouble::usage(format!("a queue depth of {depth} cannot be: write 1 to {DEEPEST}")));
        }
    }
    if let Some(rate) = course.rate.iter().flatten().find(|rate| rate.as_f64() > MOST_RATE) {
        return Err(Trouble::usage(format!("{rate} are more than any loop can offer: write at most {MOST_RATE:.0}")));
    }
    if course.max_depth.is_some() && preset.depths.is_some() {
        return Err(Trouble::usage("this preset has queue depths of its own: give --depth instead of --max-depth"));
    }
    let most_points = 200 / course.repetitions.max(1) as usize;
    let named = course.depth.as_ref().map(Vec::len).or(course.rate.as_ref().map(Vec::len)).unwrap_or(0);
    if named > most_points {
        return Err(Trouble::usage(format!("{named} loads are too many for one run: write at most {most_points}")));
    }
    if course.warm_up.zip(course.duration).is_some_and(|(warm_up, all)| warm_up * named.max(1) as u64 >= all) {
        return Err(Trouble::usage(
            "the warm-up leaves nothing of the duration: lower --warm-up, or give --duration more",
        ));
    }
    if !(1..=256).contains(&course.threads) {
        return Err(Trouble::usage(format!("{} threads cannot be: write 1 to 256", course.threads)));
    }
    if !(1..=1000).contains(&course.repetitions) {
        return Err(Trouble::usage(format!("{} repetitions cannot be: write 1 to 1000", course.repetitions)));
    }
    if let Some(least) = course.depth.iter().flatten().min()
        && *least < course.threads
    {
        return Err(Trouble::usage(format!(
            "a queue depth of {least} cannot be shared by {} threads: lower --threads",
            course.threads
        )));
    }
    if course.duration.is_some_and(|duration| duration < Span::from_millis(100)) {
        return Err(Trouble::usage("a duration below 100 ms says nothing: give at least 1s"));
    }
    Ok(())
}

/// Flags of the load change the preset's first stream.
fn override_first(first: &mut Template, load: &LoadArgs) -> Result<(), Trouble> {
    if let Some(BlockSizes(sizes)) = &load.block_size {
        first.mix.sizes = sizes.clone();
    }
    if let Some(Percent(reads)) = load.reads {
        first.mix.reads = reads;
    }
    if let Some(PatternWord(pattern)) = load.pattern {
        first.pattern = pattern;
    }
    first.mix.durable |= load.durable;
    first.mix.flush_every = load.flush_every.unwrap_or(first.mix.flush_every);
    let writes = first.mix.reads < 1.0;
    if (load.durable || load.flush_every.is_some()) && !writes {
        return Err(Trouble::usage(
            "--durable and --flush-every are about writes, and this load only reads: lower --reads",
        ));
    }
    // A preset that writes durably and is then asked to read only has nothing left to make durable.
    first.mix.durable &= writes;
    Ok(())
}
