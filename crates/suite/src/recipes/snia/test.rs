//! The tests and the loads of their rounds.

use std::fmt;

use clap::ValueEnum;
use plimsoll_record::StepQuantity;
use plimsoll_units::Bytes;

use super::SniaOptions;
use crate::options::spelled;

/// A test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SniaTest {
    /// Mixes of reads and writes at block sizes
    Iops,
    /// Sequential megabytes
    Throughput,
    /// Latency at queue depth 1
    Latency,
    /// Random writes until saturation
    WriteSaturation,
}

impl fmt::Display for SniaTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&spelled(self))
    }
}

/// A load of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundLoad {
    /// Share of reads, 0 to 1.
    pub reads: f64,
    /// Block size in bytes.
    pub block: u32,
}

impl fmt::Display for RoundLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.mix(), Bytes::new(self.block.into()))
    }
}

impl RoundLoad {
    /// `65/35`: percent of reads and of writes.
    pub(super) fn mix(&self) -> String {
        format!("{:.0}/{:.0}", self.reads * 100.0, (1.0 - self.reads) * 100.0)
    }
}

const WRITES: RoundLoad = RoundLoad { reads: 0.0, block: 4 << 10 };

impl SniaTest {
    /// Loads of a round, without block sizes that violate `grid`.
    pub(super) fn cells(self, options: &SniaOptions, grid: u64) -> Vec<RoundLoad> {
        let cells = match self {
            Self::Iops => crossed(&options.mixes, &options.blocks),
            Self::Throughput => crossed(&[1.0, 0.0], &[1 << 20]),
            Self::Latency => crossed(&[1.0, 0.65, 0.0], &[8 << 10, 4 << 10, 512]),
            Self::WriteSaturation => vec![WRITES],
        };
        cells.into_iter().filter(|cell| u64::from(cell.block).is_multiple_of(grid)).collect()
    }

    /// The load whose figure determines the steady state.
    pub(super) const fn tracked(self) -> RoundLoad {
        match self {
            Self::Throughput => RoundLoad { reads: 0.0, block: 1 << 20 },
            _ => WRITES,
        }
    }

    /// Whether the whole size is written before the test; other tests include this.
    pub(super) const fn is_preconditioned(self) -> bool {
        matches!(self, Self::Iops | Self::Latency)
    }

    pub(super) const fn measures(self) -> StepQuantity {
        match self {
            Self::Iops => StepQuantity::SaturatedThroughput,
            Self::Throughput => StepQuantity::LargeBlockStream,
            Self::Latency => StepQuantity::UnqueuedOperations,
            Self::WriteSaturation => StepQuantity::WriteSaturation,
        }
    }
}

/// All block sizes of a mix, followed by the next mix.
fn crossed(mixes: &[f64], blocks: &[u32]) -> Vec<RoundLoad> {
    mixes.iter().flat_map(|&reads| blocks.iter().map(move |&block| RoundLoad { reads, block })).collect()
}
