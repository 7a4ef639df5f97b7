//! Bonnie++: a byte at a time, blocks, rewriting, seeks of several processes, and small files.
//!
//! Follows what version 2.00 does, call by call; one file stands for its files of 1 GiB each, and what is written is random
//! where Bonnie++ writes nearly constant bytes. Knows nothing about how its figures are printed: that is in `print`.

mod print;
mod steps;
mod verdicts;

use std::str::FromStr;

use clap::ArgAction;
use plimsoll_record::Listing;
use plimsoll_units::{Bytes, Span};

use self::print::{Cell, Row};
use super::phase::{Counts, Phase, fits, per_second};
use crate::ground::Facts;
use crate::options::{SuiteOptions, Surroundings, block_size, defaults, switch};
use crate::recipe::{Done, Recipe};
use crate::seen::{FilesSeen, StepSeen};
use crate::step::{FileSpec, FileWork, Step};

/// What takes less is printed as `+++++`.
const LEAST: Span = Span::from_millis(500);

/// Many small files: units, largest size, smallest size and directories, as `-n` of Bonnie++ takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallFiles {
    /// Number of files in units of 1,024; 0 for none.
    pub units: u64,
    /// Bytes of the largest.
    pub largest: u64,
    /// Bytes of the smallest, at most those of the largest.
    pub least: u64,
    /// Directories that they are spread over, at least 1.
    pub directories: u64,
}

impl Default for SmallFiles {
    fn default() -> Self {
        Self { units: 16, largest: 0, least: 0, directories: 1 }
    }
}

impl FromStr for SmallFiles {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not NUMBER[:LARGEST[:LEAST[:DIRECTORIES]]]: write 16, or 16:4096:512:4");
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

/// Bytes that are transferred one at a time; none to leave these phases out.
type PerChar = Option<Bytes>;

/// Options of Bonnie++.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct BonnieOptions {
    /// Size of the file; twice the memory by default, so that the page cache cannot hold it (-s)
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Bytes of a chunk: a power of two from 256 B to 1 MiB
    #[arg(long, value_name = "SIZE", default_value = "8KiB", value_parser = block_size)]
    pub chunk: u32,
    /// Leave out the phases of one byte at a time (-f)
    #[arg(long = "fast", action = ArgAction::SetTrue, value_parser = switch(Some(Bytes::mib(3)), None))]
    pub per_char: PerChar,
    /// Small files: thousands (of 1024), largest, least size and directories; 0 for none (-n)
    #[arg(long = "files", value_name = "N[:MAX[:MIN[:DIRS]]]", default_value = "16")]
    pub small_files: SmallFiles,
    /// An fsync after each write (-b)
    #[arg(long)]
    pub flushed: bool,
    /// Past the page cache (-D)
    #[arg(long)]
    pub direct: bool,
    /// How often all of it is done (-x)
    #[arg(long, value_name = "TIMES", default_value_t = 1)]
    pub rounds: u32,
    /// What the machine is called in the listings (-m)
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
    /// Memory of the host (`-r`); zero if unknown.
    #[arg(skip)]
    pub memory: Bytes,
    /// Number of seeks of all seekers together.
    #[arg(skip = 8192_u64)]
    pub seeks: u64,
    /// Processes that seek at the same time, 1 to 255.
    #[arg(skip = 5_u32)]
    pub seekers: u32,
    /// Seed of places and data (`-z`).
    #[arg(skip = 1_u64)]
    pub seed: u64,
}

impl Default for BonnieOptions {
    fn default() -> Self {
        defaults()
    }
}

impl SuiteOptions for BonnieOptions {
    fn recipe(&self, surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
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

/// What a step is the figure of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    PutChar,
    PutBlock,
    Rewrite,
    GetChar,
    GetBlock,
    Seeks,
    /// Small files, and whether in the order of their names.
    Files(FileWork, bool),
}

/// The columns of the two tables, in their order.
const BLOCKS: [Column; 6] =
    [Column::PutChar, Column::PutBlock, Column::Rewrite, Column::GetChar, Column::GetBlock, Column::Seeks];
const FILES: [Column; 6] = [
    Column::Files(FileWork::Create, true),
    Column::Files(FileWork::Stat, true),
    Column::Files(FileWork::Delete, true),
    Column::Files(FileWork::Create, false),
    Column::Files(FileWork::Stat, false),
    Column::Files(FileWork::Delete, false),
];

/// Bonnie++ as a recipe.
#[derive(Clone, Debug)]
pub struct Bonnie {
    options: BonnieOptions,
    /// Bytes of the file.
    size: Bytes,
    plan: Vec<(Column, Step)>,
    /// Phases of one byte at a time were asked for, and mean nothing here.
    has_no_calls: bool,
}

impl Bonnie {
    /// With these options on this ground.
    ///
    /// # Errors
    /// One line that says what does not fit, and what to give instead.
    pub fn new(options: BonnieOptions, facts: &Facts) -> Result<Self, String> {
        let size = size_of(&options)?;
        refuse(&options, size)?;
        fits(facts, size)?;
        if options.direct && !u64::from(options.chunk).is_multiple_of(facts.grid.max(1)) {
            let grid = facts.grid;
            return Err(format!("direct I/O needs chunks in multiples of {grid} bytes here: give a larger chunk"));
        }
        let has_no_calls = options.per_char.is_some() && !facts.has_cache() && size > Bytes::ZERO;
        let columns = BLOCKS.iter().filter(|_| size > Bytes::ZERO).filter(|column| match column {
            Column::PutChar | Column::GetChar => options.per_char.is_some() && !has_no_calls,
            _ => true,
        });
        let columns = columns.chain(FILES.iter().filter(|_| options.small_files.units > 0));
        let columns: Vec<Column> = columns.copied().collect();
        let step = |round, column| (column, steps::step(&options, size, column).round(round));
        let plan = (1..=options.rounds).flat_map(|round| columns.iter().map(move |column| step(round, *column)));
        let plan = plan.collect();
        Ok(Self { options, size, plan, has_no_calls })
    }

    /// The figures of a step that was made.
    fn cell(column: Column, seen: &StepSeen) -> Option<(Phase, f64)> {
        let phase = match seen {
            StepSeen::Io(seen) => {
                let counts = match column {
                    Column::PutChar | Column::PutBlock => Counts::Writes,
                    _ => Counts::Reads,
                };
                Phase::of(seen, counts)
            }
            StepSeen::Files(seen) => of_files(seen),
            _ => return None,
        };
        let rate = match column {
            Column::Seeks | Column::Files(..) => phase.operations_per_second()?,
            _ => phase.bytes_per_second()? / 1024.0,
        };
        Some((phase, rate))
    }

    /// Steps that were made, with what they are the figure of.
    fn made<'a>(&'a self, done: &'a [Done]) -> impl Iterator<Item = (Column, &'a Done)> {
        self.plan.iter().map(|(column, _)| *column).zip(done)
    }

    fn row(&self, done: &[Done], round: u32) -> Row<'_> {
        let cells = |columns: [Column; 6]| {
            columns.map(|wanted| {
                let mut made = self.made(done).filter(|(column, done)| *column == wanted && done.step.round == round);
                let figure = made.next().and_then(|(column, done)| Self::cell(column, &done.seen));
                figure.map_or(Cell::default(), |(phase, rate)| Cell {
                    rate: Some(rate).filter(|_| phase.span >= LEAST),
                    cpu: phase.cpu_percent().filter(|_| phase.span >= LEAST),
                    longest: phase.longest(),
                    was_run: true,
                })
            })
        };
        Row { options: &self.options, size: self.size, blocks: cells(BLOCKS), files: cells(FILES) }
    }
}

/// A step of files, each file an operation.
fn of_files(seen: &FilesSeen) -> Phase {
    Phase { bytes: 0, operations: seen.files, span: seen.span, cpu: Some(seen.cpu), times: seen.each.clone() }
}

fn size_of(options: &BonnieOptions) -> Result<Bytes, String> {
    match options.size {
        Some(size) => Ok(size),
        None if options.memory == Bytes::ZERO => {
            Err("the host's memory is not known, so there is no size of twice as much: give --size".into())
        }
        None => Ok(Bytes::new((2 * options.memory.get()).next_multiple_of(1 << 30))),
    }
}

fn refuse(options: &BonnieOptions, size: Bytes) -> Result<(), String> {
    let SmallFiles { units, largest, least, directories } = options.small_files;
    let chunk = options.chunk;
    if !chunk.is_power_of_two() || !(256..=1 << 20).contains(&chunk) {
        return Err(format!("a chunk of {chunk} bytes: give a power of two from 256 to 1048576"));
    }
    if !size.get().is_multiple_of(1 << 20) {
        return Err(format!("a size of {} bytes: give whole MiB", size.get()));
    }
    if options.per_char == Some(Bytes::ZERO) {
        return Err("no bytes to go one at a time: give some, or leave these phases out".into());
    }
    if size > Bytes::ZERO && (options.seekers == 0 || options.seekers > 255 || options.seeks < options.seekers.into()) {
        return Err("seeks need 1 to 255 seekers, and at least one seek for each".into());
    }
    if least > largest || directories == 0 || largest > 1 << 30 {
        return Err(
            "small files: give their largest size up to 1 GiB before the least, and at least one directory".into()
        );
    }
    if options.rounds == 0 || (size == Bytes::ZERO && units == 0) {
        return Err("nothing to do: give a size, a number of small files, and at least one round".into());
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
        [
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
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    fn files(&self) -> Vec<FileSpec> {
        if self.size == Bytes::ZERO { Vec::new() } else { vec![FileSpec::growing(self.size)] }
    }

    fn expected(&self) -> usize {
        self.plan.len()
    }

    fn next(&mut self, done: &[Done], _facts: &Facts) -> Option<Step> {
        self.plan.get(done.len()).map(|(_, step)| step.clone())
    }

    fn listings(&self, done: &[Done], _facts: &Facts) -> Vec<Listing> {
        let rounds = self.made(done).map(|(_, done)| done.step.round).max().unwrap_or(0);
        let rows: Vec<Row> = (1..=rounds).map(|round| self.row(done, round)).collect();
        if rows.is_empty() {
            return Vec::new();
        }
        vec![
            Listing { title: "Bonnie++ 2.00".into(), text: rows.iter().map(Row::text).collect() },
            Listing { title: "Bonnie++ CSV 1.98".into(), text: rows.iter().map(Row::csv).collect() },
        ]
    }

    fn verdicts(&self, done: &[Done], facts: &Facts) -> Vec<String> {
        verdicts::of(self, done, facts)
    }
}

/// Operations per second of a step of files, for verdicts too.
fn files_per_second(seen: &FilesSeen) -> Option<f64> {
    per_second(seen.files as f64, seen.span)
}
