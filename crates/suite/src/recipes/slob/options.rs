//! SLOB's options, and their check against a database.

use std::str::FromStr;

use clap::ValueEnum;
use plimsoll_database::System;
use plimsoll_record::{DatabaseAbout, Objective};
use plimsoll_units::{Bytes, Span};

use super::Slob;
use super::layout::SchemaLayout;
use crate::ground::Facts;
use crate::options::{FlagError, OptionsError, SuiteOptions, Surroundings};
use crate::recipe::Recipe;

/// Size of a schema: `SCALE` of SLOB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaScale {
    /// Database blocks, with a row in each.
    Blocks(u64),
    /// Bytes, converted to blocks.
    Bytes(Bytes),
}

impl FromStr for SchemaScale {
    type Err = FlagError;

    /// A bare number is in blocks, as in SLOB; a number with a unit is in bytes.
    fn from_str(text: &str) -> Result<Self, FlagError> {
        if let Ok(blocks) = text.trim().parse() {
            return Ok(Self::Blocks(blocks));
        }
        text.parse().map(Self::Bytes).map_err(|_| FlagError::SchemaScale(text.to_owned()))
    }
}

/// Number of columns that an update changes: SLOB's `REDO_STRESS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RedoStress {
    /// Two
    Lite,
    /// All nineteen
    Heavy,
}

/// A range of each schema that is visited more often: SLOB's `DO_HOTSPOT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hotspot {
    /// Size: `HOTSPOT_MB`.
    pub size: Bytes,
    /// Offset: `HOTSPOT_OFFSET_MB`.
    pub offset: Bytes,
    /// Every Nth unit of work is in the hotspot; at least 1: `HOTSPOT_FREQUENCY`.
    pub frequency: u64,
}

/// Think time of sessions: `THINK_TM` of SLOB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThinkTime {
    /// Mean number of units of work per pause; at least 1.
    pub frequency: u64,
    /// Minimum.
    pub least: Span,
    /// Maximum.
    pub max: Span,
}

/// Three comma-separated values.
fn three(text: &str) -> Option<[&str; 3]> {
    text.split(',').map(str::trim).collect::<Vec<_>>().try_into().ok()
}

impl FromStr for Hotspot {
    type Err = FlagError;

    fn from_str(text: &str) -> Result<Self, FlagError> {
        let read = || {
            let [size, offset, frequency] = three(text)?;
            Some(Self { size: size.parse().ok()?, offset: offset.parse().ok()?, frequency: frequency.parse().ok()? })
        };
        read().ok_or_else(|| FlagError::Hotspot(text.to_owned()))
    }
}

impl FromStr for ThinkTime {
    type Err = FlagError;

    fn from_str(text: &str) -> Result<Self, FlagError> {
        let read = || {
            let [frequency, least, max] = three(text)?;
            Some(Self { frequency: frequency.parse().ok()?, least: least.parse().ok()?, max: max.parse().ok()? })
        };
        read().ok_or_else(|| FlagError::ThinkTime(text.to_owned()))
    }
}

/// Options of SLOB.
#[derive(Clone, Debug, clap::Args)]
pub struct SlobOptions {
    /// Schemas, all active at every point; each is a table with its index
    #[arg(long, value_name = "NUMBER", default_value_t = 4)]
    pub schemas: u32,
    /// Size of a schema: blocks as a bare number, or bytes; by default 64 MiB, or more so that all are four times the
    /// cache
    #[arg(long, value_name = "BLOCKS|SIZE")]
    pub scale: Option<SchemaScale>,
    /// Blocks of a unit of work, which visits all but the last, as in SLOB
    #[arg(long, value_name = "BLOCKS", default_value_t = 64)]
    pub work_unit: u64,
    /// Percentages of units of work that update, 0 to 50 or 100: a curve for each
    #[arg(long = "update-pct", value_name = "PERCENT", value_delimiter = ',', default_value = "0,25")]
    pub update_pcts: Vec<u32>,
    /// Number of columns that an update changes
    #[arg(long, value_enum, value_name = "STRESS", default_value_t = RedoStress::Lite)]
    pub redo_stress: RedoStress,
    /// Part of each schema that is visited more often: size and offset, in bytes without a unit (not in SLOB's MB), and N where
    /// every Nth unit of work is in it
    #[arg(long, value_name = "SIZE,OFFSET,FREQUENCY")]
    pub hotspot: Option<Hotspot>,
    /// Think time of sessions: after one in N units of work, minimum and maximum with their units, such as 5,100ms,500ms
    #[arg(long, value_name = "FREQUENCY,MIN,MAX")]
    pub think_time: Option<ThinkTime>,
    /// Numbers of threads per schema; by default they rise until throughput does not
    #[arg(long, value_name = "THREADS", value_delimiter = ',')]
    pub threads: Option<Vec<u32>>,
    /// Total measuring time of all curves, without loading
    #[arg(long = "duration", value_name = "TIME", default_value = "3min")]
    pub budget: Span,
    /// Objective of the units of work, such as 'p99<=50ms' or 'read mean<=10ms'
    #[arg(short, long)]
    pub objective: Option<Objective>,
    /// Maximum number of sessions
    #[arg(long, value_name = "NUMBER", default_value_t = 64)]
    pub max_sessions: u32,
    /// Load compressible text, as SLOB does without `OBFUSCATE_COLUMNS`; by default incompressible bytes
    #[arg(long)]
    pub compressible: bool,
    /// Seed of the places of rows and of the visited ranges
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
}

impl SuiteOptions for SlobOptions {
    fn sessions(&self) -> u32 {
        let listed = self.threads.as_ref().and_then(|threads| threads.iter().max());
        listed.map_or(self.max_sessions, |threads| threads.saturating_mul(self.schemas).min(self.max_sessions))
    }

    fn recipe(&self, _surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, OptionsError> {
        Ok(Box::new(Slob::new(self.clone(), facts)?))
    }
}

/// Minimum ratio of all data to the database's cache.
const TIMES_CACHE: u64 = 4;
/// Maximum default size of all data.
const MAX_DEFAULT_SIZE: Bytes = Bytes::gib(4);
/// Minimum size of a schema in units of work, so that sessions rarely collide.
const MIN_UNITS: u64 = 16;
/// Maximum number of rows for which the permutation is exact.
const MAX_ROWS: u64 = 1 << 31;

/// Options that do not suit SLOB or its database.
#[rustfmt::skip]
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub(super) enum SlobError {
    #[error("SLOB loads a database: give its URL, or --make postgres")] NoDatabase,
    #[error("{schemas} schemas with at most {sessions} sessions: every schema is active at every point: write \
        --schemas 4 --max-sessions 64")] Schemas { schemas: u32, sessions: u32 },
    #[error("a work unit of {0} is not between 3 and 1024: write --work-unit 64")] WorkUnit(u64),
    #[error("updates of {0} % are neither 0 to 50 nor 100: write --update-pct 25")] Updates(u32),
    #[error("a curve needs a share of updates and some time: write --update-pct 0,25 --duration 3min")] Empty,
    #[error("{threads} threads for each of {schemas} schemas are not 1 to {max}: write --max-sessions {needed}")]
    Threads { threads: u32, schemas: u32, max: u32, needed: u64 },
    #[error("a think time has a frequency, a least and a most: write --think-time 5,100ms,500ms")] ThinkTime,
    #[error("think time is spent inside the server, and SQLite has none: leave out --think-time")] NoServer,
    #[error("the cache of this database is {cache}, and {TIMES_CACHE} times as much data must be loaded: write --scale \
        {scale_mib}MiB, or create a server with --make")] LargeCache { cache: Bytes, scale_mib: u64 },
    #[error("{schemas} schemas of {size} are less than {TIMES_CACHE} times the database's cache of {cache}, which \
        would answer in the storage's place: write --scale {scale_mib}MiB, or give it less cache")]
    Cached { schemas: u64, size: Bytes, cache: Bytes, scale_mib: u64 },
    #[error("{system} with blocks of {block} bytes cannot hold one row in each: use a server with blocks of 4 to 32 \
        KiB")] Block { system: String, block: u64 },
    #[error("{rows} blocks for a schema are not between {least} and {MAX_ROWS}: write --scale {least}")]
    Rows { rows: u64, least: u64 },
    #[error("the hotspot does not fit a schema of {rows} blocks of {block} bytes, or is smaller than a work unit: \
        write --hotspot 8MiB,16MiB,3")] Hotspot { rows: u64, block: u64 },
}

impl SlobOptions {
    /// The layout of each schema on a database.
    ///
    /// # Errors
    /// The options do not suit the benchmark or the database.
    pub(super) fn layout(&self, system: System, about: &DatabaseAbout) -> Result<SchemaLayout, SlobError> {
        self.refuse(system)?;
        let block = if about.block.get() == 0 { 8192 } else { about.block.get() };
        let rows = self.rows(system, block, about.cache)?;
        let layout = SchemaLayout::new(system, about, block, rows, self)?;
        self.refuse_places(&layout)?;
        Ok(layout)
    }

    /// Refuses unsuitable options.
    fn refuse(&self, system: System) -> Result<(), SlobError> {
        if self.schemas == 0 || self.schemas > self.max_sessions {
            return Err(SlobError::Schemas { schemas: self.schemas, sessions: self.max_sessions });
        }
        if !(3..=1024).contains(&self.work_unit) {
            return Err(SlobError::WorkUnit(self.work_unit));
        }
        if let Some(wrong) = self.update_pcts.iter().find(|pct| **pct > 50 && **pct != 100) {
            return Err(SlobError::Updates(*wrong));
        }
        if self.update_pcts.is_empty() || self.budget < Span::from_secs(1) {
            return Err(SlobError::Empty);
        }
        let threads = self.threads.as_deref().unwrap_or(&[1]);
        if let Some(wrong) = threads.iter().find(|threads| !(1..=self.max_threads()).contains(threads)) {
            let needed = u64::from(self.schemas) * u64::from((*wrong).max(1));
            let (threads, schemas, max) = (*wrong, self.schemas, self.max_threads());
            return Err(SlobError::Threads { threads, schemas, max, needed });
        }
        let Some(think) = self.think_time else { return Ok(()) };
        if think.frequency == 0 || think.least > think.max {
            return Err(SlobError::ThinkTime);
        }
        if system.has_procedures() {
            return Ok(());
        }
        Err(SlobError::NoServer)
    }

    /// Rows of a schema, with a row per block.
    fn rows(&self, system: System, block: u64, cache: Option<Bytes>) -> Result<u64, SlobError> {
        let schemas = u64::from(self.schemas);
        // Each session of SQLite has a private cache, and works in a single schema.
        let sharing = if system == System::Sqlite { 1 } else { schemas };
        let least_whole = cache.map_or(0, |cache| cache.get().saturating_mul(TIMES_CACHE));
        let least_each = least_whole.div_ceil(sharing).next_multiple_of(block);
        let cache = cache.unwrap_or_default();
        let bytes = match self.scale {
            Some(SchemaScale::Blocks(blocks)) => blocks.saturating_mul(block),
            Some(SchemaScale::Bytes(bytes)) => bytes.get(),
            None => {
                let each = least_each.max(64 << 20);
                if each.saturating_mul(schemas) > MAX_DEFAULT_SIZE.get() {
                    return Err(SlobError::LargeCache { cache, scale_mib: each.div_ceil(1 << 20) });
                }
                each
            }
        };
        if bytes < least_each {
            let (size, scale_mib) = (Bytes::new(bytes), least_each.div_ceil(1 << 20));
            return Err(SlobError::Cached { schemas, size, cache, scale_mib });
        }
        let rows = bytes / block;
        let least = self.work_unit * MIN_UNITS;
        if rows < least || rows > MAX_ROWS {
            return Err(SlobError::Rows { rows, least });
        }
        Ok(rows)
    }

    fn refuse_places(&self, layout: &SchemaLayout) -> Result<(), SlobError> {
        let Some((first, last)) = layout.hot() else { return Ok(()) };
        let frequency = self.hotspot.map_or(0, |hotspot| hotspot.frequency);
        if frequency == 0 || last <= first || last > layout.rows - self.work_unit {
            return Err(SlobError::Hotspot { rows: layout.rows, block: layout.block });
        }
        Ok(())
    }

    /// Maximum number of threads per schema.
    pub(super) const fn max_threads(&self) -> u32 {
        self.max_sessions / self.schemas
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_count_follows_options() {
        let sessions = |threads: Option<Vec<u32>>| SlobOptions { threads, ..SlobOptions::defaults() }.sessions();
        assert_eq!((sessions(None), sessions(Some(vec![1]))), (64, 4));
        assert_eq!((sessions(Some(vec![2, 8, 1])), sessions(Some(vec![99]))), (32, 64));
    }
}
