//! The operations of a load, to which ceilings, fits and published rates refer.

use plimsoll_units::Bytes;
use schemars::JsonSchema;
use serde::Serialize;

/// A load on an offer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Ask {
    /// Size of each operation, positive.
    #[serde(rename = "block_bytes")]
    pub block: Bytes,
    /// Fraction of reads, 0 to 1.
    #[serde(rename = "reads_share")]
    pub reads: f64,
    /// Sequential addresses; random otherwise.
    pub sequential: bool,
}
