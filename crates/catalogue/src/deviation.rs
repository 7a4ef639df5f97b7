//! Loads for which a product's ceilings and its model give different rates at saturation.

use plimsoll_units::Bytes;
use schemars::JsonSchema;
use serde::Serialize;

use crate::ask::Ask;

/// Sizes of operations at which the quotes and models of all products are compared.
pub const COMPARED_BLOCKS: [Bytes; 5] = [Bytes::new(512), Bytes::kib(4), Bytes::kib(8), Bytes::kib(64), Bytes::mib(1)];

/// A load that saturates a product: operations of one kind, of some size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub enum SaturatingLoad {
    /// Random reads.
    #[serde(rename = "random read")]
    RandomRead,
    /// Random writes.
    #[serde(rename = "random write")]
    RandomWrite,
    /// Sequential reads.
    #[serde(rename = "sequential read")]
    SequentialRead,
    /// Sequential writes.
    #[serde(rename = "sequential write")]
    SequentialWrite,
}

impl SaturatingLoad {
    /// Every load.
    pub const ALL: [Self; 4] = [Self::RandomRead, Self::RandomWrite, Self::SequentialRead, Self::SequentialWrite];

    /// Its name in product files: `random read`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RandomRead => "random read",
            Self::RandomWrite => "random write",
            Self::SequentialRead => "sequential read",
            Self::SequentialWrite => "sequential write",
        }
    }

    /// Operations of a size, as the ceilings of an offer take them.
    pub const fn ask(self, block: Bytes) -> Ask {
        let reads = match self {
            Self::RandomRead | Self::SequentialRead => 1.0,
            Self::RandomWrite | Self::SequentialWrite => 0.0,
        };
        Ask { block, reads, sequential: matches!(self, Self::SequentialRead | Self::SequentialWrite) }
    }
}

/// Loads whose quoted and simulated rates differ by more than 10 %, or that have no quoted rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Deviation {
    /// The loads.
    pub loads: Vec<SaturatingLoad>,
    /// Sizes of their operations, of [`COMPARED_BLOCKS`].
    #[serde(rename = "blocks_bytes")]
    pub blocks: Vec<Bytes>,
    /// Range of the simulated rate over the quoted one, less 1, in whole percent; `None` if no rate is quoted.
    #[serde(rename = "difference_percent")]
    pub difference: Option<(i32, i32)>,
    /// Operations in flight with which both agree, if their number is the cause.
    pub depth: Option<u32>,
    /// The reason.
    pub why: String,
}

impl Deviation {
    /// True if it covers operations of a load and size.
    pub fn covers(&self, load: SaturatingLoad, block: Bytes) -> bool {
        self.loads.contains(&load) && self.blocks.contains(&block)
    }
}
