//! Loads for which a product's ceilings and its model give different rates at saturation.

use plimsoll_units::Bytes;
use schemars::JsonSchema;
use serde::Serialize;

use crate::standing::Ask;

/// A load that saturates a product: one kind of operation of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub enum SaturatingLoad {
    /// Random reads of 8 KiB.
    #[serde(rename = "random read")]
    RandomRead,
    /// Random writes of 8 KiB.
    #[serde(rename = "random write")]
    RandomWrite,
    /// Sequential reads of 1 MiB.
    #[serde(rename = "sequential read")]
    SequentialRead,
    /// Sequential writes of 1 MiB.
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

    /// The operations, as the ceilings of an offer take them.
    pub const fn ask(self) -> Ask {
        let (block, sequential) = match self {
            Self::RandomRead | Self::RandomWrite => (Bytes::kib(8), false),
            Self::SequentialRead | Self::SequentialWrite => (Bytes::mib(1), true),
        };
        let reads = match self {
            Self::RandomRead | Self::SequentialRead => 1.0,
            Self::RandomWrite | Self::SequentialWrite => 0.0,
        };
        Ask { block, reads, sequential }
    }
}

/// Loads whose quoted and simulated rates differ by more than 5 %, or that have no quoted rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Deviation {
    /// The loads.
    pub loads: Vec<SaturatingLoad>,
    /// Range of the simulated rate over the quoted one, less 1, in whole percent; `None` if no rate is quoted.
    #[serde(rename = "difference_percent")]
    pub difference: Option<(i32, i32)>,
    /// Operations in flight with which both agree, if their number is the cause.
    pub depth: Option<u32>,
    /// The reason.
    pub why: String,
}
