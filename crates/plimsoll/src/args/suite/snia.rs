//! Flags of `plimsoll suite snia`.

use clap::{Args, ValueEnum};
use plimsoll_suite::recipes::snia::{Snia, SniaOptions, SniaTest};
use plimsoll_suite::{Facts, Recipe};
use plimsoll_units::{Bytes, Span};

use super::{Place, PlaceArgs, Suite};
use crate::words::Percent;

/// `plimsoll suite snia`
#[derive(Debug, Args)]
pub struct SniaArgs {
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Which tests, one after the other
    #[arg(long, value_enum, value_delimiter = ',', default_value = "iops")]
    pub tests: Vec<TestWord>,
    /// Bytes that are written and visited; all of a device, or 1 GiB of a directory
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// How long each load of a round lasts
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub point: Span,
    /// Rounds at most
    #[arg(long, value_name = "ROUNDS", default_value_t = 25)]
    pub rounds: u32,
    /// So many times all is written before a test of random loads
    #[arg(long, value_name = "TIMES", default_value_t = 2)]
    pub precondition: u32,
    /// Threads of random loads
    #[arg(long, value_name = "THREADS", default_value_t = 2)]
    pub threads: u32,
    /// Operations in flight of each thread
    #[arg(long, value_name = "DEPTH", default_value_t = 16)]
    pub depth: u32,
    /// The test of IOPS: shares of reads
    #[arg(long, value_name = "PERCENT", value_delimiter = ',')]
    pub mixes: Vec<Percent>,
    /// The test of IOPS: block sizes
    #[arg(long, value_name = "SIZE", value_delimiter = ',')]
    pub blocks: Vec<Bytes>,
    /// Write saturation ends after so long
    #[arg(long, value_name = "TIME", default_value = "24h")]
    pub saturation: Span,
}

/// A test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TestWord {
    /// Mixes of reads and writes at block sizes
    Iops,
    /// Sequential megabytes
    Throughput,
    /// One operation in flight
    Latency,
    /// Random writes until they are as slow as they become
    WriteSaturation,
}

impl From<TestWord> for SniaTest {
    fn from(word: TestWord) -> Self {
        match word {
            TestWord::Iops => Self::Iops,
            TestWord::Throughput => Self::Throughput,
            TestWord::Latency => Self::Latency,
            TestWord::WriteSaturation => Self::WriteSaturation,
        }
    }
}

impl Suite for SniaArgs {
    fn place(&self) -> Place<'_> {
        Place::Storage(&self.place)
    }

    fn recipe(&self, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        let usual = SniaOptions::default();
        let bytes = |size: &Bytes| u32::try_from(size.get()).map_err(|_| format!("{size} is too large for a block"));
        let blocks = self.blocks.iter().map(bytes).collect::<Result<Vec<_>, _>>()?;
        let options = SniaOptions {
            tests: self.tests.iter().map(|test| (*test).into()).collect(),
            size: self.size,
            point: self.point,
            rounds: self.rounds,
            precondition: self.precondition,
            threads: self.threads,
            depth: self.depth,
            mixes: match &self.mixes[..] {
                [] => usual.mixes,
                mixes => mixes.iter().map(|Percent(reads)| *reads).collect(),
            },
            blocks: if blocks.is_empty() { usual.blocks } else { blocks },
            saturation_span: self.saturation,
            ..usual
        };
        Ok(Box::new(Snia::new(options, facts)?))
    }
}
