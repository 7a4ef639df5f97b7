//! Flags of `plimsoll suite verify`.

use std::path::{Path, PathBuf};

use clap::Args;
use plimsoll_device::{Blank, Checked};
use plimsoll_suite::recipes::verify::{Verify, VerifyMode, VerifyOptions};
use plimsoll_suite::{Facts, Recipe};
use plimsoll_units::Bytes;

use super::{Place, PlaceArgs, Suite};
use crate::words::Percent;

/// `plimsoll suite verify`
#[derive(Debug, Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Bytes that are written and checked
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    pub size: Bytes,
    /// Bytes of a block: what is written and checked as one
    #[arg(long, value_name = "SIZE", default_value = "4KiB")]
    pub block_size: Bytes,
    /// Operations in flight
    #[arg(long, value_name = "DEPTH", default_value_t = 32)]
    pub depth: u32,
    /// Share of the blocks that each pass writes over at random
    #[arg(long, value_name = "PERCENT", default_value = "50")]
    pub overwrite: Percent,
    /// How often blocks are written over and all is read back; 0 to read back what was written once
    #[arg(long, value_name = "TIMES", default_value_t = 1)]
    pub passes: u32,
    /// Tells these data from those of other runs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// A file of this name in the directory, for data that stay to be checked again
    #[arg(long, value_name = "NAME")]
    pub keep: Option<PathBuf>,
    /// A file that remembers what was written: with --check an old version of a block is a mismatch, too
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Only read what an earlier run with the same seed wrote: after a power cut, a migration, a restored backup
    #[arg(long)]
    pub check: bool,
}

impl Suite for VerifyArgs {
    fn place(&self) -> Place<'_> {
        Place::Storage(&self.place)
    }

    fn recipe(&self, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        let Percent(overwrite) = self.overwrite;
        let options = VerifyOptions {
            mode: if self.check { VerifyMode::CheckOnly } else { VerifyMode::WriteAndCheck },
            size: self.size,
            block: self.block_size,
            depth: self.depth,
            seed: self.seed,
            overwrite,
            passes: self.passes,
            file: self.keep.clone(),
            ..VerifyOptions::default()
        };
        let Some(state) = self.state.as_ref().filter(|_| self.check) else {
            return Ok(Box::new(Verify::new(options, facts)?));
        };
        let unread =
            |why: &dyn std::fmt::Display| format!("{}: {why}: give the file of the run that wrote", state.display());
        let mut file = std::fs::File::open(state).map_err(|error| unread(&error))?;
        let memory = Checked::restore(&mut file, Blank::Mismatch).map_err(|error| unread(&error))?;
        Ok(Box::new(Verify::remembering(options, memory, facts)?))
    }

    fn memory(&self) -> Option<&Path> {
        self.state.as_deref()
    }
}
