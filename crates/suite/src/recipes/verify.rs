//! Data verification: writes self-describing blocks, overwrites a part of them, and compares all of them with the last
//! written version.
//!
//! [`Checked`] generates and compares the data. A later process can repeat the check, for example after a power cut.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ArgAction;
use plimsoll_device::{Blank, Checked, Checking, Contents, Mismatches};
use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until, WorkerOps};
use plimsoll_record::{Listing, SharedVerdict, StepQuantity, Verdict, VerifyVerdict};
use plimsoll_units::{Bytes, Kind};

use super::target::check_space;
use crate::ground::{Facts, Nature};
use crate::options::{OptionsError, SuiteOptions, Surroundings, percent, switch};
use crate::recipe::{CompletedStep, Recipe, settings};
use crate::step::{Before, FileAccess, FileSpec, Step, Worker};

/// Minimum size of operations that fill and read back, in bytes.
const STRETCH: u64 = 1 << 20;

/// Fraction of reads among the overwrites.
const READS: f64 = 0.3;

/// The `errno` of a read with wrong data.
const WRONG: i32 = 84;

/// The part of a verification that is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyMode {
    /// Writes all data, overwrites a part, and reads all back.
    WriteAndCheck,
    /// Reads data of an earlier run: after a power cut, a migration or a restored backup.
    CheckOnly,
}

/// Options of verify.
#[derive(Clone, Debug, clap::Args)]
pub struct VerifyOptions {
    /// Size of the verified data
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    pub size: Bytes,
    /// Block size, the unit of writing and verification
    #[arg(long = "block-size", value_name = "SIZE", default_value = "4KiB")]
    pub block: Bytes,
    /// Queue depth
    #[arg(long, value_name = "DEPTH", default_value_t = 32)]
    pub depth: u32,
    /// Share of the blocks that each pass overwrites at random
    #[arg(long, value_name = "PERCENT", default_value = "50", value_parser = percent)]
    pub overwrite: f64,
    /// Number of passes that overwrite blocks and read back all data; 0 to read back only the first write
    #[arg(long, value_name = "TIMES", default_value_t = 1)]
    pub passes: u32,
    /// Distinguishes the data from those of other runs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Name of a file in the directory whose data remain for a later check
    #[arg(long = "keep", value_name = "NAME")]
    pub file: Option<PathBuf>,
    /// File that stores the written versions, so that --check also detects old versions of blocks
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Only read data of an earlier run with the same seed: after a power failure, a migration, a restored backup
    #[arg(
        long = "check",
        action = ArgAction::SetTrue,
        value_parser = switch(VerifyMode::WriteAndCheck, VerifyMode::CheckOnly)
    )]
    pub mode: VerifyMode,
}

impl SuiteOptions for VerifyOptions {
    fn recipe(&self, _surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, OptionsError> {
        let Some(state) = self.state.as_ref().filter(|_| self.mode == VerifyMode::CheckOnly) else {
            return Ok(Box::new(Verify::new(self.clone(), facts)?));
        };
        let unread = |error: OptionsError| VerifyError::State { path: state.clone(), error };
        let mut file = std::fs::File::open(state).map_err(|error| unread(error.into()))?;
        let memory = Checked::restore(&mut file, Blank::Mismatch).map_err(|error| unread(error.into()))?;
        Ok(Box::new(Verify::remembering(self.clone(), memory, facts)?))
    }

    fn state(&self) -> Option<&Path> {
        self.state.as_deref()
    }
}

/// Data that cannot be verified.
#[rustfmt::skip]
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
enum VerifyError {
    #[error("{}: {error}: give the file of the run that wrote", path.display())]
    State { path: PathBuf, error: OptionsError },
    #[error("a model keeps no bytes: verify storage, or a volume that plimsoll serves")] Model,
    #[error("blocks of {block} cannot be checked here: give a multiple of {grid} bytes up to 1GiB")]
    Block { block: Bytes, grid: u64 },
    #[error("{size} are less than one operation: give at least {needed}")] Size { size: Bytes, needed: Bytes },
    #[error("give a depth of at least 1, and shares of 0 or more")] Depth,
    #[error("{0}: data are written to be verified: name it with --destroy too, or only check")] ReadOnly(String),
    #[error("in a directory, name the file that an earlier run wrote")] File,
}

/// Verification of data.
#[derive(Debug)]
pub struct Verify {
    options: VerifyOptions,
    /// Size in whole operations.
    size: Bytes,
    checked: Arc<Checked>,
    /// Whether earlier writes are known, so that an old version is a mismatch.
    remembers: bool,
    steps: Vec<Step>,
}

impl Verify {
    /// The recipe on a ground with these facts. A check without earlier state accepts every version of a block.
    ///
    /// # Errors
    /// Sizes that cannot be verified, insufficient space, or a target that may not be written or keeps no data.
    pub fn new(options: VerifyOptions, facts: &Facts) -> Result<Self, OptionsError> {
        let size = options.fitting(facts)?;
        let checking = Checking {
            seed: options.seed,
            interval: options.block,
            region: Region::first(size),
            compressible: 0.0,
            blank: if options.mode == VerifyMode::CheckOnly { Blank::Mismatch } else { Blank::PassedOver },
        };
        let checked = Checked::new(&checking)?;
        let remembers = options.mode == VerifyMode::WriteAndCheck;
        Ok(Self::planned(options, size, checked, remembers))
    }

    /// Restores the state of an earlier run, so that a check detects old versions. Seed, block and size must be those
    /// of that run, or its data count as foreign.
    ///
    /// # Errors
    /// As for [`Verify::new`].
    pub fn remembering(options: VerifyOptions, memory: Checked, facts: &Facts) -> Result<Self, OptionsError> {
        let size = options.fitting(facts)?;
        Ok(Self::planned(options, size, memory, true))
    }

    fn planned(options: VerifyOptions, size: Bytes, checked: Checked, remembers: bool) -> Self {
        let mut verify = Self { options, size, checked: Arc::new(checked), remembers, steps: Vec::new() };
        verify.steps = verify.plan();
        verify
    }

    /// Writes and reads back all data; then each pass overwrites a part and reads all data back.
    fn plan(&self) -> Vec<Step> {
        let passes = if self.options.overwrite > 0.0 { self.options.passes } else { 0 };
        let pass = |pass: u32| [self.over(pass).round(pass), self.read_back().round(pass + 1)];
        match self.options.mode {
            VerifyMode::CheckOnly => vec![self.read_back()],
            VerifyMode::WriteAndCheck => {
                [self.fill(), self.read_back()].into_iter().chain((1..=passes).flat_map(pass)).collect()
            }
        }
    }

    /// State of written and compared data, to be saved for a later check.
    pub fn checked(&self) -> &Checked {
        &self.checked
    }

    /// Mismatches so far.
    pub fn mismatches(&self) -> Mismatches {
        self.checked.mismatches()
    }

    fn blocks(&self) -> u64 {
        self.size.get() / self.options.block.get()
    }

    /// A worker on all data.
    fn worker(&self, job: JobSpec) -> Vec<Worker> {
        let access =
            FileAccess { contents: Contents::Generated(Arc::clone(&self.checked) as _), ..FileAccess::direct() };
        let job = JobSpec { depth: self.options.depth, seed: self.options.seed, ..job };
        vec![Worker::new(job, 0, self.size, access)]
    }

    /// A sequential pass over all data.
    fn sweep(&self, work: WorkerOps) -> Vec<Worker> {
        let lane = LaneSpec::new(stretch(self.options.block) as u32, Pattern::Sequential);
        let job = JobSpec::new(work, lane, Region::first(self.size), Until::bytes(self.size.get()));
        self.worker(JobSpec { flush_at_end: true, ..job })
    }

    fn fill(&self) -> Step {
        Step::io("Write all", self.sweep(WorkerOps::Writes)).measuring(StepQuantity::VerifiableWrites)
    }

    fn read_back(&self) -> Step {
        Step::io("Read all back", self.sweep(WorkerOps::Reads))
            .together(|step| step.before = Before::Uncached)
            .measuring(StepQuantity::ComparedReads)
    }

    /// Random overwrites with concurrent reads that are compared.
    fn over(&self, pass: u32) -> Step {
        let writes = self.options.overwrite * self.blocks() as f64;
        let lane = LaneSpec::new(self.options.block.get() as u32, Pattern::Uniform);
        let until = Until::operations(((writes / (1.0 - READS)).ceil() as u64).max(1));
        let job = JobSpec::new(WorkerOps::Mixed { reads: READS }, lane, Region::first(self.size), until);
        let mut workers = self.worker(JobSpec { flush_at_end: true, ..job });
        // Each pass visits different blocks.
        workers[0].job.seed = self.options.seed.wrapping_add(u64::from(pass) << 32);
        Step::io("Write over at random", workers).measuring(StepQuantity::ComparedOverwrites)
    }
}

/// Size of an operation that fills or reads back: whole blocks.
fn stretch(block: Bytes) -> u64 {
    block.get() * (STRETCH / block.get()).max(1)
}

impl VerifyOptions {
    /// The size in whole operations.
    fn fitting(&self, facts: &Facts) -> Result<Bytes, OptionsError> {
        let Self { mode, size, block, depth, overwrite, .. } = self;
        if facts.nature == Nature::Model {
            return Err(VerifyError::Model.into());
        }
        let grid = 8.max(facts.grid);
        if !(64..=1 << 30).contains(&block.get()) || !block.get().is_multiple_of(grid) {
            return Err(VerifyError::Block { block: *block, grid }.into());
        }
        let rounded = size.round_down(Bytes::new(stretch(*block)));
        if rounded.get() == 0 {
            return Err(VerifyError::Size { size: *size, needed: Bytes::new(stretch(*block)) }.into());
        }
        if *depth == 0 || !(*overwrite >= 0.0 && overwrite.is_finite()) {
            return Err(VerifyError::Depth.into());
        }
        if *mode == VerifyMode::WriteAndCheck && facts.read_only {
            return Err(VerifyError::ReadOnly(facts.subject.name.clone()).into());
        }
        if *mode == VerifyMode::CheckOnly && facts.nature == Nature::Directory && self.file.is_none() {
            return Err(VerifyError::File.into());
        }
        if *mode == VerifyMode::WriteAndCheck {
            check_space(facts, rounded)?;
        }
        Ok(rounded)
    }
}

impl Recipe for Verify {
    fn name(&self) -> &'static str {
        "verify"
    }

    fn follows(&self) -> String {
        "self-describing blocks, read back".into()
    }

    fn settings(&self) -> Vec<(String, String)> {
        let mode = match self.options.mode {
            VerifyMode::WriteAndCheck => "write and check",
            VerifyMode::CheckOnly => "check only",
        };
        settings([
            ("mode", mode.to_owned()),
            ("size", self.size.to_string()),
            ("block", self.options.block.to_string()),
            ("depth", self.options.depth.to_string()),
            ("seed", self.options.seed.to_string()),
            ("overwrite", self.options.overwrite.to_string()),
            ("passes", self.options.passes.to_string()),
        ])
    }

    fn files(&self) -> Vec<FileSpec> {
        let writes = self.options.mode == VerifyMode::WriteAndCheck;
        vec![FileSpec { path: self.options.file.clone(), size: self.size, reserved: writes, writes, device: 0 }]
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn listings(&self, done: &[CompletedStep], _facts: &Facts) -> Vec<Listing> {
        let text = report(&VerifyFigures {
            blocks: self.blocks(),
            block: self.options.block,
            seed: self.options.seed,
            written: operations(done, |kind| kind != Kind::Read && kind != Kind::Flush),
            compared: self.checked.compared(),
            passed_over: self.checked.passed_over(),
            unreadable: unreadable(done),
            mismatches: self.mismatches(),
        });
        vec![Listing { title: "verify".into(), text }]
    }

    fn verdicts(&self, done: &[CompletedStep], _facts: &Facts) -> Vec<Verdict> {
        let (wrong, failed) = (self.mismatches().total, unreadable(done));
        let compared = self.checked.compared();
        let mut verdicts: Vec<Verdict> = vec![match (wrong, failed) {
            (0, 0) if done.len() == self.expected() => SharedVerdict::DataIntact { blocks: compared }.into(),
            (0, 0) => VerifyVerdict::PartIntact { blocks: compared }.into(),
            (_, 0) => SharedVerdict::WrongData { blocks: compared, wrong, first: None }.into(),
            _ => {
                let size_bytes = Bytes::new(stretch(self.options.block));
                VerifyVerdict::FailedOperations { wrong, failed, size_bytes }.into()
            }
        }];
        let blocks = self.blocks();
        let unread = blocks.saturating_sub(compared + self.checked.passed_over());
        if self.options.mode == VerifyMode::CheckOnly && unread > 0 {
            verdicts.push(VerifyVerdict::UnreadBlocks { unread, blocks }.into());
        }
        match self.options.mode {
            VerifyMode::WriteAndCheck => verdicts.push(VerifyVerdict::PoweredRead.into()),
            VerifyMode::CheckOnly if !self.remembers => verdicts.push(VerifyVerdict::VersionsUnknown.into()),
            VerifyMode::CheckOnly => {}
        }
        verdicts
    }

    fn state(&self) -> Option<Vec<u8>> {
        let mut memory = Vec::new();
        // Writing to memory cannot fail.
        self.checked.save(&mut memory).ok().map(|()| memory)
    }

    fn has_failed(&self, done: &[CompletedStep]) -> bool {
        self.mismatches().total > 0 || unreadable(done) > 0
    }
}

/// Number of operations of matching kinds.
fn operations(done: &[CompletedStep], is_selected: impl Fn(Kind) -> bool) -> u64 {
    let tallies = done.iter().filter_map(|done| done.result.io()).map(crate::result::IoResult::total);
    tallies.map(|tally| tally.only(|counter| is_selected(counter.kind)).operations()).sum()
}

/// Failed operations except mismatches.
fn unreadable(done: &[CompletedStep]) -> u64 {
    let tallies = done.iter().filter_map(|done| done.result.io()).map(crate::result::IoResult::total);
    let failed = |tally: plimsoll_record::Tally| -> u64 {
        let errors = tally.0.iter().flat_map(|counter| &counter.errors);
        errors.filter(|(errno, _)| *errno != WRONG).map(|(_, count)| count).sum()
    };
    tallies.map(failed).sum()
}

/// Figures of the report.
#[derive(Debug)]
struct VerifyFigures {
    blocks: u64,
    block: Bytes,
    seed: u64,
    /// Successful writes.
    written: u64,
    /// Blocks read and compared.
    compared: u64,
    /// Blocks read without comparison.
    passed_over: u64,
    /// Failed operations.
    unreadable: u64,
    mismatches: Mismatches,
}

/// The report.
fn report(observed: &VerifyFigures) -> String {
    let VerifyFigures { blocks, block, seed, .. } = observed;
    let mut text = format!("blocks        {blocks} of {block}, seed {seed}\n");
    let lines = [
        ("writes", observed.written, ""),
        ("compared", observed.compared, " blocks"),
        ("not compared", observed.passed_over, " blocks, read before they were written"),
        ("failed", observed.unreadable, " operations"),
        ("mismatches", observed.mismatches.total, ""),
    ];
    for (name, count, unit) in lines.into_iter().filter(|(name, count, _)| *name != "not compared" || *count > 0) {
        text.push_str(&format!("{name:<14}{count}{unit}\n"));
    }
    for mismatch in &observed.mismatches.first {
        text.push_str(&format!("  {mismatch}\n"));
    }
    let listed = observed.mismatches.first.len() as u64;
    if observed.mismatches.total > listed {
        text.push_str(&format!("  {} more\n", observed.mismatches.total - listed));
    }
    text
}

#[cfg(test)]
mod tests {
    use plimsoll_device::{Mismatch, MismatchKind};

    use super::*;

    #[test]
    fn mismatches_are_listed_with_their_places() {
        let stale =
            Mismatch { offset: 8192, length: 4096, kind: MismatchKind::Stale, expected: Some(2), found: Some(1) };
        let observed = VerifyFigures {
            blocks: 256,
            block: Bytes::kib(4),
            seed: 7,
            written: 300,
            compared: 500,
            passed_over: 0,
            unreadable: 0,
            mismatches: Mismatches { first: vec![stale], total: 3 },
        };
        let expected = format!(
            "blocks        256 of 4 KiB, seed 7\nwrites        300\ncompared      500 blocks\n\
             failed        0 operations\nmismatches    3\n  {stale}\n  2 more\n"
        );
        assert_eq!(report(&observed), expected);
    }
}
