//! Bonnie++: single bytes, blocks, rewriting, seeks of several processes, and small files.
//!
//! Follows version 2.00 call by call, with two differences: a single file replaces its files of 1 GiB each, and the
//! data are random instead of nearly constant. The table and the comma-separated line correct two defects of 2.00: the
//! number of files instead of their rate, and the number of directories in the column of another figure.

use std::str::FromStr;

use clap::ArgAction;
use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until, WorkerOps};
use plimsoll_record::{BonnieVerdict, Listing, SharedVerdict, ShortPhase, StepQuantity, Verdict};
use plimsoll_units::{Bytes, Span};

use super::phase::{PhaseCounts, PhaseTotals, per_second};
use super::target::{check_grid, check_writable};
use crate::ground::{Facts, Nature};
use crate::options::{FlagError, OptionsError, SuiteOptions, Surroundings, block_size, switch};
use crate::recipe::{CompletedStep, Recipe, StepPlan, settings};
use crate::result::{FilesResult, StepResult};
use crate::step::{Before, FileAccess, FilePart, FileSpec, FileWork, FilesStep, Step, Work as StepWork, Worker};

/// Shorter phases are printed as `+++++`.
const MIN_SPAN: Span = Span::from_millis(500);

/// Small files: units, maximum size, minimum size and directories, as in `-n` of Bonnie++.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallFiles {
    /// Number of files in units of 1,024; 0 for none.
    pub units: u64,
    /// Maximum size in bytes.
    pub largest: u64,
    /// Minimum size in bytes.
    pub least: u64,
    /// Number of directories, at least 1.
    pub directories: u64,
}

impl Default for SmallFiles {
    fn default() -> Self {
        Self { units: 16, largest: 0, least: 0, directories: 1 }
    }
}

impl FromStr for SmallFiles {
    type Err = FlagError;

    fn from_str(text: &str) -> Result<Self, FlagError> {
        let wrong = || FlagError::SmallFiles(text.to_owned());
        let parts: Vec<u64> = text.split(':').map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
        let default = Self::default();
        if parts.is_empty() || parts.len() > 4 {
            return Err(wrong());
        }
        let part = |index: usize, default| parts.get(index).copied().unwrap_or(default);
        Ok(Self {
            units: parts[0],
            largest: part(1, default.largest),
            least: part(2, default.least),
            directories: part(3, default.directories),
        })
    }
}

/// Bytes transferred individually; `None` skips these phases.
type PerChar = Option<Bytes>;

/// Options of Bonnie++.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct BonnieOptions {
    /// Size of the file; by default twice the memory, so that the page cache cannot hold it (-s)
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Chunk size: a power of two from 256 B to 1 MiB
    #[arg(long, value_name = "SIZE", default_value = "8KiB", value_parser = block_size)]
    pub chunk: u32,
    /// Skip the phases of single bytes (-f)
    #[arg(long = "fast", action = ArgAction::SetTrue, value_parser = switch(Some(Bytes::mib(3)), None))]
    pub per_char: PerChar,
    /// Small files: number in units of 1024, maximum size, minimum size, directories; 0 for none (-n)
    #[arg(long = "files", value_name = "N[:MAX[:MIN[:DIRS]]]", default_value = "16")]
    pub small_files: SmallFiles,
    /// fsync after each write (-b)
    #[arg(long)]
    pub flushed: bool,
    /// Direct I/O (-D)
    #[arg(long)]
    pub direct: bool,
    /// Number of repetitions (-x)
    #[arg(long, value_name = "TIMES", default_value_t = 1)]
    pub rounds: u32,
    /// Name of the machine in the listings (-m)
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
    /// Memory of the host (`-r`); zero if unknown.
    #[arg(skip)]
    pub memory: Bytes,
    /// Total number of seeks.
    #[arg(skip = 8192_u64)]
    pub seeks: u64,
    /// Number of concurrent seekers, 1 to 255.
    #[arg(skip = 5_u32)]
    pub seekers: u32,
    /// Seed of offsets and data (`-z`).
    #[arg(skip = 1_u64)]
    pub seed: u64,
}

impl SuiteOptions for BonnieOptions {
    fn recipe(&self, surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, OptionsError> {
        let machine = self.machine.clone().or_else(|| Some(surroundings.host.clone()).filter(|host| !host.is_empty()));
        let options = Self { machine, memory: surroundings.memory, ..self.clone() };
        Ok(Box::new(Bonnie::new(options, facts)?))
    }
}

impl BonnieOptions {
    fn machine(&self) -> &str {
        self.machine.as_deref().unwrap_or("localhost")
    }
}

/// The column of a step's figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FigureColumn {
    PutChar,
    PutBlock,
    Rewrite,
    GetChar,
    GetBlock,
    Seeks,
    /// Small files, and whether in order of names.
    Files(FileWork, bool),
}

/// Columns of the two tables, in order.
const BLOCKS: [FigureColumn; 6] = [
    FigureColumn::PutChar,
    FigureColumn::PutBlock,
    FigureColumn::Rewrite,
    FigureColumn::GetChar,
    FigureColumn::GetBlock,
    FigureColumn::Seeks,
];
const FILES: [FigureColumn; 6] = [
    FigureColumn::Files(FileWork::Create, true),
    FigureColumn::Files(FileWork::Stat, true),
    FigureColumn::Files(FileWork::Delete, true),
    FigureColumn::Files(FileWork::Create, false),
    FigureColumn::Files(FileWork::Stat, false),
    FigureColumn::Files(FileWork::Delete, false),
];

/// Bonnie++ as a recipe.
#[derive(Clone, Debug)]
pub struct Bonnie {
    options: BonnieOptions,
    /// Bytes of the file.
    size: Bytes,
    plan: StepPlan<FigureColumn>,
    /// Single-byte phases are requested, but this ground has no system calls.
    has_no_calls: bool,
}

impl Bonnie {
    /// The recipe on a ground with these facts.
    ///
    /// # Errors
    /// The options do not suit the benchmark or the ground.
    pub fn new(options: BonnieOptions, facts: &Facts) -> Result<Self, OptionsError> {
        let size = size_of(&options)?;
        refuse(&options, size)?;
        check_writable(facts, size)?;
        if options.direct {
            check_grid(facts.grid, options.chunk.into())?;
        }
        let has_no_calls = options.per_char.is_some() && !facts.has_cache() && size > Bytes::ZERO;
        let columns = BLOCKS.iter().filter(|_| size > Bytes::ZERO).filter(|column| match column {
            FigureColumn::PutChar | FigureColumn::GetChar => options.per_char.is_some() && !has_no_calls,
            _ => true,
        });
        let columns = columns.chain(FILES.iter().filter(|_| options.small_files.units > 0));
        let columns: Vec<FigureColumn> = columns.copied().collect();
        let step = |round, column| (column, step_of(&options, size, column).round(round));
        let plan = (1..=options.rounds).flat_map(|round| columns.iter().map(move |column| step(round, *column)));
        let plan = plan.collect();
        Ok(Self { options, size, plan, has_no_calls })
    }

    /// Figures of an executed step.
    fn cell(column: FigureColumn, observed: &StepResult) -> Option<(PhaseTotals, f64)> {
        let phase = match observed {
            StepResult::Io(observed) => {
                let counts = match column {
                    FigureColumn::PutChar | FigureColumn::PutBlock => PhaseCounts::Writes,
                    _ => PhaseCounts::Reads,
                };
                PhaseTotals::of(observed, counts)
            }
            StepResult::Files(observed) => of_files(observed),
            _ => return None,
        };
        let rate = match column {
            FigureColumn::Seeks | FigureColumn::Files(..) => phase.operations_per_second()?,
            _ => phase.bytes_per_second()? / 1024.0,
        };
        Some((phase, rate))
    }

    /// Executed steps with their columns.
    fn executed<'a>(&'a self, done: &'a [CompletedStep]) -> impl Iterator<Item = (FigureColumn, &'a CompletedStep)> {
        self.plan.done(done).map(|(column, done)| (*column, done))
    }

    fn row(&self, done: &[CompletedStep], round: u32) -> RoundFigures<'_> {
        let cells = |columns: [FigureColumn; 6]| {
            columns.map(|selected| {
                let mut matching =
                    self.executed(done).filter(|(column, done)| *column == selected && done.step.round == round);
                let figure = matching.next().and_then(|(column, done)| Self::cell(column, &done.result));
                figure.map_or(PhaseFigure::default(), |(phase, rate)| PhaseFigure {
                    rate: Some(rate).filter(|_| phase.span >= MIN_SPAN),
                    cpu: phase.cpu_percent().filter(|_| phase.span >= MIN_SPAN),
                    longest: phase.longest(),
                    was_run: true,
                })
            })
        };
        RoundFigures { options: &self.options, size: self.size, blocks: cells(BLOCKS), files: cells(FILES) }
    }
}

/// A step on files, with each file as an operation.
fn of_files(observed: &FilesResult) -> PhaseTotals {
    PhaseTotals {
        bytes: 0,
        operations: observed.files,
        span: observed.span,
        cpu: Some(observed.cpu),
        times: observed.each.clone(),
    }
}

/// Options that Bonnie++ refuses, or that leave nothing to measure.
#[rustfmt::skip]
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
enum BonnieError {
    #[error("the host's memory is unknown, which determines the default size: give --size")] MemoryUnknown,
    #[error("a chunk of {0} bytes: give a power of two from 256 to 1048576")] Chunk(u32),
    #[error("a size of {0} bytes: give whole MiB")] Size(u64),
    #[error("no bytes to go one at a time: give some, or leave these phases out")] NoBytes,
    #[error("seeks need 1 to 255 seekers, and at least one seek for each")] Seeks,
    #[error("small files: give their largest size up to 1 GiB before the least, and at least one directory")]
    SmallFiles,
    #[error("nothing to do: give a size, a number of small files, and at least one round")] Empty,
}

fn size_of(options: &BonnieOptions) -> Result<Bytes, BonnieError> {
    match options.size {
        Some(size) => Ok(size),
        None if options.memory == Bytes::ZERO => Err(BonnieError::MemoryUnknown),
        None => Ok(Bytes::new((2 * options.memory.get()).next_multiple_of(1 << 30))),
    }
}

fn refuse(options: &BonnieOptions, size: Bytes) -> Result<(), BonnieError> {
    let SmallFiles { units, largest, least, directories } = options.small_files;
    let chunk = options.chunk;
    if !chunk.is_power_of_two() || !(256..=1 << 20).contains(&chunk) {
        return Err(BonnieError::Chunk(chunk));
    }
    if !size.get().is_multiple_of(1 << 20) {
        return Err(BonnieError::Size(size.get()));
    }
    if options.per_char == Some(Bytes::ZERO) {
        return Err(BonnieError::NoBytes);
    }
    if size > Bytes::ZERO && (options.seekers == 0 || options.seekers > 255 || options.seeks < options.seekers.into()) {
        return Err(BonnieError::Seeks);
    }
    if least > largest || directories == 0 || largest > 1 << 30 {
        return Err(BonnieError::SmallFiles);
    }
    if options.rounds == 0 || (size == Bytes::ZERO && units == 0) {
        return Err(BonnieError::Empty);
    }
    Ok(())
}

impl Recipe for Bonnie {
    fn name(&self) -> &'static str {
        "bonnie"
    }

    fn follows(&self) -> String {
        "Bonnie++ 2.00".into()
    }

    fn settings(&self) -> Vec<(String, String)> {
        let options = &self.options;
        let SmallFiles { units, largest, least, directories } = options.small_files;
        let per_char = match options.per_char {
            Some(bytes) if !self.has_no_calls => bytes.to_string(),
            _ => "left out".into(),
        };
        let flush = if options.flushed { "after each write" } else { "at the end of each phase" };
        settings([
            ("machine", options.machine().to_owned()),
            ("size", self.size.to_string()),
            ("memory", options.memory.to_string()),
            ("chunk", Bytes::new(options.chunk.into()).to_string()),
            ("one byte at a time", per_char),
            ("seeks", format!("{} by {}", options.seeks, options.seekers)),
            ("small files", format!("{} of {least} to {largest} B in {directories}", units * 1024)),
            ("flush", flush.into()),
            ("page cache", if options.direct { "passed by" } else { "in between" }.into()),
            ("rounds", options.rounds.to_string()),
            ("seed", options.seed.to_string()),
        ])
    }

    fn files(&self) -> Vec<FileSpec> {
        if self.size == Bytes::ZERO { Vec::new() } else { vec![FileSpec::growing(self.size)] }
    }

    fn steps(&self) -> &[Step] {
        &self.plan.steps
    }

    fn listings(&self, done: &[CompletedStep], _facts: &Facts) -> Vec<Listing> {
        let rounds = self.executed(done).map(|(_, done)| done.step.round).max().unwrap_or(0);
        let rows: Vec<RoundFigures> = (1..=rounds).map(|round| self.row(done, round)).collect();
        if rows.is_empty() {
            return Vec::new();
        }
        vec![
            Listing { title: "Bonnie++ 2.00".into(), text: rows.iter().map(RoundFigures::text).collect() },
            Listing { title: "Bonnie++ CSV 1.98".into(), text: rows.iter().map(RoundFigures::csv).collect() },
        ]
    }

    fn verdicts(&self, done: &[CompletedStep], facts: &Facts) -> Vec<Verdict> {
        conclusions(self, done, facts)
    }
}

/// Operations per second of a step on files, also for verdicts.
fn files_per_second(observed: &FilesResult) -> Option<f64> {
    per_second(observed.files as f64, observed.span)
}

/// Seeks per rewritten block.
const WRITTEN_BACK: u32 = 10;

/// Step of a column.
fn step_of(options: &BonnieOptions, size: Bytes, column: FigureColumn) -> Step {
    match column {
        FigureColumn::PutChar => {
            let worker = byte_by_byte(options, size, WorkerOps::Writes);
            anew(Step::io("Per-char write", vec![worker])).measuring(StepQuantity::ByteWriteCalls)
        }
        FigureColumn::PutBlock => {
            let worker = block_by_block(options, size, WorkerOps::Writes);
            anew(Step::io("Block write", vec![worker])).measuring(StepQuantity::NewDurableFile)
        }
        FigureColumn::Rewrite => {
            let worker = block_by_block(options, size, WorkerOps::WriteBack { every: 1 });
            Step::io("Rewrite", vec![worker]).measuring(StepQuantity::RewrittenChunks)
        }
        FigureColumn::GetChar => Step::io("Per-char read", vec![byte_by_byte(options, size, WorkerOps::Reads)])
            .measuring(StepQuantity::ByteReadCalls),
        FigureColumn::GetBlock => Step::io("Block read", vec![block_by_block(options, size, WorkerOps::Reads)])
            .measuring(StepQuantity::UncachedReads),
        FigureColumn::Seeks => Step::io("Seeks", build_seekers(options, size)).measuring(StepQuantity::ConcurrentSeeks),
        FigureColumn::Files(work, ordered) => build_file_step(options, work, ordered),
    }
}

fn anew(step: Step) -> Step {
    step.together(|io| io.before = Before::Anew)
}

fn access(options: &BonnieOptions, size: u32) -> FileAccess {
    // A single byte requires the page cache.
    FileAccess { direct: options.direct && size > 1, ..FileAccess::buffered() }
}

fn build_worker(
    options: &BonnieOptions,
    size: u32,
    length: Bytes,
    work: WorkerOps,
    pattern: Pattern,
    until: Until,
) -> Worker {
    let job = JobSpec {
        flush_every: u32::from(options.flushed),
        flush_at_end: work != WorkerOps::Reads,
        seed: options.seed,
        ..JobSpec::new(work, LaneSpec::new(size, pattern), Region::first(length), until)
    };
    let parts = vec![FilePart { file: 0, start: 0, length }];
    Worker { parts, ..Worker::new(job, 0, length, access(options, size)) }
}

fn byte_by_byte(options: &BonnieOptions, size: Bytes, work: WorkerOps) -> Worker {
    let length = options.per_char.map_or(size, |bytes| bytes.min(size));
    build_worker(options, 1, length, work, Pattern::Sequential, Until::bytes(length.get()))
}

fn block_by_block(options: &BonnieOptions, size: Bytes, work: WorkerOps) -> Worker {
    build_worker(options, options.chunk, size, work, Pattern::Sequential, Until::bytes(size.get()))
}

/// Bonnie++ assigns each seek to a free process; here each process has an equal share from the start.
fn build_seekers(options: &BonnieOptions, size: Bytes) -> Vec<Worker> {
    let (count, all) = (u64::from(options.seekers), options.seeks);
    let work = WorkerOps::WriteBack { every: WRITTEN_BACK };
    let one = |index: u64| {
        let seeks = all / count + u64::from(index < all % count);
        let mut worker = build_worker(options, options.chunk, size, work, Pattern::Uniform, Until::operations(seeks));
        worker.job.seed = options.seed.wrapping_add(1 + index);
        worker
    };
    (0..count).map(one).collect()
}

fn build_file_step(options: &BonnieOptions, work: FileWork, ordered: bool) -> Step {
    let small = options.small_files;
    let verb = match work {
        FileWork::Create => "Create",
        FileWork::Stat => "Stat",
        FileWork::Delete => "Delete",
    };
    let order = if ordered { "sequential" } else { "random" };
    let files = FilesStep {
        work,
        files: small.units * 1024,
        ordered,
        sizes: (small.least, small.largest),
        directories: small.directories,
        seed: options.seed,
    };
    Step::new(format!("{verb} files, {order}"), StepWork::Files(files)).measuring(StepQuantity::FileOperations)
}

/// Placeholders for missing figures.
const NO_RATE: &str = "+++++";
const NO_CPU: &str = "+++";

/// A figure of a phase.
#[derive(Clone, Copy, Debug, Default)]
struct PhaseFigure {
    /// KiB, seeks or files per second; `None` if the phase was too short.
    pub rate: Option<f64>,
    /// Processor utilisation in percent; `None` without a figure.
    pub cpu: Option<f64>,
    /// The longest operation.
    pub longest: Option<Span>,
    /// Whether the phase was executed.
    pub was_run: bool,
}

/// All figures of a round.
#[derive(Debug)]
struct RoundFigures<'a> {
    pub options: &'a BonnieOptions,
    pub size: Bytes,
    pub blocks: [PhaseFigure; 6],
    pub files: [PhaseFigure; 6],
}

impl RoundFigures<'_> {
    /// The two tables, without tables that have no executed phase.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if self.blocks.iter().any(|cell| cell.was_run) {
            text += "Version  2.00       ------Sequential Output------ --Sequential Input- --Random-\n";
            text += "                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--\n";
            text += &heads("Name:Size etc");
            let size = self.size_text();
            let room = 18_usize.saturating_sub(size.len());
            let name: String = self.options.machine().chars().take(room).collect();
            let of = |index: usize, rate: f64| if index < 5 { kib_text(rate) } else { seeks_text(rate) };
            text += &format!("{name:<room$} {size}{}\n", format_columns(&self.blocks, of));
            text += &latencies(&self.blocks);
        }
        if self.files.iter().any(|cell| cell.was_run) {
            text += "Version  2.00       ------Sequential Create------ --------Random Create--------\n";
            let name: String = self.options.machine().chars().take(19).collect();
            text += &format!("{name:<19} -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--\n");
            let has_sizes = self.options.small_files.largest > 0;
            text += &heads(if has_sizes { "files:max:min" } else { "              files" });
            text +=
                &format!("{:>19}{}\n", self.files_text(), format_columns(&self.files, |_, rate| format!("{rate:.0}")));
            text += &latencies(&self.files);
        }
        text
    }

    /// The line of format 1.98.
    pub fn csv(&self) -> String {
        let BonnieOptions { seed, chunk, seeks, seekers, .. } = self.options;
        let name: String =
            self.options.machine().chars().map(|letter| if letter == ',' { ' ' } else { letter }).collect();
        let mut line = format!("1.98,2.00,{name},1,{seed}");
        if self.blocks.iter().any(|cell| cell.was_run) {
            let chunk = if *chunk == 8192 { String::new() } else { size_text(u64::from(*chunk)) };
            line += &format!(",{},{chunk},{seeks},{seekers}", megabytes(self.size));
        } else {
            line += ",,,,";
        }
        line +=
            &format_cells(&self.blocks, |index, rate| if index < 5 { format!("{rate:.0}") } else { seeks_text(rate) });
        let SmallFiles { units, largest, least, directories } = self.options.small_files;
        if self.files.iter().any(|cell| cell.was_run) {
            let some = |value: u64, none: u64| if value == none { String::new() } else { value.to_string() };
            line += &format!(",{units},{},{},{},", some(largest, 0), some(least, 0), some(directories, 1));
        } else {
            line += ",,,,,";
        }
        line += &format_cells(&self.files, |_, rate| format!("{rate:.0}"));
        for cell in self.blocks.iter().chain(&self.files) {
            line += ",";
            line += &cell.longest.map_or(String::new(), latency_text);
        }
        line + "\n"
    }

    fn size_text(&self) -> String {
        let size = megabytes(self.size);
        match self.options.chunk {
            8192 => size,
            chunk => format!("{size}:{}", size_text(chunk.into())),
        }
    }

    fn files_text(&self) -> String {
        let SmallFiles { units, largest, least, directories } = self.options.small_files;
        let sizes = if largest > 0 { format!("{units}:{largest}:{least}") } else { units.to_string() };
        if directories > 1 { format!("{sizes}/{directories}") } else { sizes }
    }
}

fn heads(first: &str) -> String {
    format!("{first:<20}{}\n", [" /sec %CP"; 6].join(" "))
}

fn format_columns(cells: &[PhaseFigure; 6], text: impl Fn(usize, f64) -> String) -> String {
    let one = |(index, cell): (usize, &PhaseFigure)| {
        if !cell.was_run {
            return " ".repeat(10);
        }
        let rate = cell.rate.map_or(NO_RATE.into(), |rate| text(index, rate));
        format!(" {rate:>5} {:>3}", cell.cpu.map_or(NO_CPU.into(), per_cent))
    };
    cells.iter().enumerate().map(one).collect()
}

fn format_cells(cells: &[PhaseFigure; 6], text: impl Fn(usize, f64) -> String) -> String {
    let one = |(index, cell): (usize, &PhaseFigure)| {
        if !cell.was_run {
            return ",,".to_owned();
        }
        let rate = cell.rate.map_or(NO_RATE.into(), |rate| text(index, rate));
        format!(",{rate},{}", cell.cpu.map_or(NO_CPU.into(), per_cent))
    };
    cells.iter().enumerate().map(one).collect()
}

fn latencies(cells: &[PhaseFigure; 6]) -> String {
    let one = |cell: &PhaseFigure| format!("{:>10}", cell.longest.map_or(String::new(), latency_text));
    format!("{:<17}{}\n", "Latency", cells.iter().map(one).collect::<String>())
}

/// Percentage, truncated.
fn per_cent(value: f64) -> String {
    format!("{}", value as u64)
}

/// KiB per second in five characters: `2075k`, `9.8m`, `378m`, `1.4g`.
fn kib_text(kib: f64) -> String {
    let (mib, gib) = (kib / 1024.0, kib / 1_048_576.0);
    match kib.round() {
        rounded if rounded < 10_000.0 => format!("{rounded}k"),
        rounded if rounded < 102_400.0 => format!("{mib:.1}m"),
        rounded if rounded < 1_024_000.0 => format!("{mib:.0}m"),
        _ => format!("{gib:.1}g"),
    }
}

/// Seeks per second, with a decimal below 1,000.
fn seeks_text(rate: f64) -> String {
    if rate < 999.95 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}

/// A latency in at most five digits of a unit.
fn latency_text(span: Span) -> String {
    let micros = span.as_nanos() / 1_000;
    match micros {
        0..100_000 => format!("{micros}us"),
        100_000..100_000_000 => format!("{}ms", micros / 1_000),
        _ => format!("{}s", micros / 1_000_000),
    }
}

fn megabytes(size: Bytes) -> String {
    let mib = size.get() >> 20;
    if mib > 0 && mib.is_multiple_of(1024) { format!("{}G", mib / 1024) } else { format!("{mib}M") }
}

fn size_text(bytes: u64) -> String {
    if bytes.is_multiple_of(1024) { format!("{}k", bytes / 1024) } else { bytes.to_string() }
}

fn conclusions(bonnie: &Bonnie, done: &[CompletedStep], facts: &Facts) -> Vec<Verdict> {
    let mut verdicts: Vec<BonnieVerdict> = find_short_phases(bonnie.executed(done)).into_iter().collect();
    for (column, done) in bonnie.executed(done) {
        verdicts.extend(of_step(column, done, bonnie.options.seekers));
    }
    if bonnie.has_no_calls {
        verdicts.push(BonnieVerdict::BytePhasesSkipped);
    }
    let mut verdicts: Vec<Verdict> = verdicts.into_iter().map(Verdict::from).collect();
    if bonnie.size > Bytes::ZERO && facts.has_cache() {
        verdicts.extend(of_memory(bonnie));
    }
    if done.iter().any(|done| matches!(done.result, StepResult::Files(_))) {
        verdicts.push(BonnieVerdict::SmallFileRates.into());
    }
    if facts.nature == Nature::Model {
        verdicts.push(BonnieVerdict::NoProcessorTime.into());
    }
    verdicts
}

/// Figures that Bonnie++ does not show.
fn find_short_phases<'a>(
    phase_steps: impl Iterator<Item = (FigureColumn, &'a CompletedStep)>,
) -> Option<BonnieVerdict> {
    let phase = |(column, done): (FigureColumn, &CompletedStep)| {
        let (phase, rate) = Bonnie::cell(column, &done.result)?;
        let unit = match column {
            FigureColumn::Seeks => "seeks/s",
            FigureColumn::Files(..) => "files/s",
            _ => "KiB/s",
        };
        let rate = done.result.files().map_or(Some(rate), files_per_second)?;
        let step = done.step.name.clone();
        (phase.span < MIN_SPAN).then(|| ShortPhase { step, rate, unit: unit.into(), span: phase.span })
    };
    let phases: Vec<ShortPhase> = phase_steps.filter_map(phase).collect();
    (!phases.is_empty()).then_some(BonnieVerdict::ShortPhases { phases })
}

fn of_step(column: FigureColumn, done: &CompletedStep, seekers: u32) -> Option<BonnieVerdict> {
    let (phase, figure) = Bonnie::cell(column, &done.result).filter(|(phase, _)| phase.span >= MIN_SPAN)?;
    match column {
        FigureColumn::PutChar | FigureColumn::GetChar => Some(BonnieVerdict::ByteCalls {
            step: done.step.name.clone(),
            call: if column == FigureColumn::PutChar { "write" } else { "read" }.into(),
            kib_per_second: figure,
            calls_per_second: phase.operations_per_second()?,
            kernel_ns: phase.cpu.map(|cpu| cpu.system.as_nanos() / phase.operations.max(1)),
        }),
        FigureColumn::Seeks => Some(BonnieVerdict::Seeks { per_second: figure, seekers }),
        _ => None,
    }
}

fn of_memory(bonnie: &Bonnie) -> Option<Verdict> {
    let (size_bytes, memory_bytes) = (bonnie.size, bonnie.options.memory);
    if bonnie.options.direct {
        return Some(BonnieVerdict::DirectPhases.into());
    }
    if memory_bytes == Bytes::ZERO {
        return Some(SharedVerdict::MemoryUnknown { size_bytes }.into());
    }
    if size_bytes <= memory_bytes {
        return Some(SharedVerdict::DataInMemory { size_bytes, memory_bytes }.into());
    }
    let is_below_twice = size_bytes.get() < 2 * memory_bytes.get();
    is_below_twice.then(|| BonnieVerdict::BelowTwiceMemory { size_bytes, memory_bytes }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T>(text: impl Fn(T) -> String, expected: Vec<(T, &str)>) {
        for (value, expected) in expected {
            assert_eq!(text(value), expected);
        }
    }

    /// Rates as printed by the converter of Bonnie++ 2.00.
    #[test]
    fn rates_are_scaled_to_five_characters() {
        let rates = vec![
            (5.0, "5k"),
            (9_999.0, "9999k"),
            (10_000.0, "9.8m"),
            (99_999.0, "97.7m"),
            (102_399.0, "100.0m"),
            (102_400.0, "100m"),
            (1_023_999.0, "1000m"),
            (1_024_000.0, "1.0g"),
            (10_485_760.0, "10.0g"),
        ];
        check(kib_text, rates);
        check(seeks_text, vec![(533.84, "533.8"), (999.99, "1000"), (15_958.4, "15958")]);
    }

    #[test]
    fn latencies_are_scaled_to_five_digits() {
        let spans = vec![
            (Span::from_micros(8_522), "8522us"),
            (Span::from_micros(99_999), "99999us"),
            (Span::from_millis(558), "558ms"),
            (Span::from_millis(99_999), "99999ms"),
            (Span::from_secs(100), "100s"),
        ];
        check(latency_text, spans);
    }

    #[test]
    fn whole_sizes_are_in_gigabytes() {
        let sizes = vec![(Bytes::mib(7423), "7423M"), (Bytes::gib(8), "8G"), (Bytes::mib(256), "256M")];
        check(megabytes, sizes);
    }
}
