//! Sizes and kinds of operations by share.

use alloc::vec::Vec;

use fastrand::Rng;
use plimsoll_units::{Bytes, Kind};
use serde::{Deserialize, Serialize};

/// Block sizes with weights. Never empty; every size is a multiple of the smallest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct BlockMix(Vec<(Bytes, u32)>);

impl BlockMix {
    /// The same size for every operation.
    pub fn one(size: Bytes) -> Self {
        Self(alloc::vec![(size, 1)])
    }

    /// Sizes with weights; `None` if the list is empty, a size or the sum of weights is zero, the sum exceeds 32 bits,
    /// a size exceeds 1 GiB, or a size is not a multiple of the smallest.
    pub fn weighted(sizes: Vec<(Bytes, u32)>) -> Option<Self> {
        let smallest = sizes.iter().map(|(size, _)| size.get()).min()?;
        let fits = |size: &Bytes| size.get() > 0 && size.get() <= 1 << 30 && size.get().is_multiple_of(smallest);
        let weight: u64 = sizes.iter().map(|&(_, weight)| weight as u64).sum();
        let weight_fits = weight > 0 && u32::try_from(weight).is_ok();
        (smallest > 0 && weight_fits && sizes.iter().all(|(size, _)| fits(size))).then_some(Self(sizes))
    }

    /// Sizes and weights.
    pub fn sizes(&self) -> &[(Bytes, u32)] {
        &self.0
    }

    /// Smallest size: the alignment of operations.
    pub fn smallest(&self) -> Bytes {
        self.0.iter().map(|&(size, _)| size).min().unwrap_or_default()
    }

    /// Largest size: the required buffer length.
    pub fn largest(&self) -> Bytes {
        self.0.iter().map(|&(size, _)| size).max().unwrap_or_default()
    }
}

/// The proportions of a stream's operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mix {
    /// Sizes by weight.
    pub sizes: BlockMix,
    /// Share of reads, 0 to 1.
    pub reads: f64,
    /// Writes complete when durable (`O_DSYNC`).
    pub durable: bool,
    /// Number of writes before a flush; 0 for never.
    pub flush_every: u32,
}

/// Draws kinds and sizes according to a mix.
#[derive(Clone, Debug)]
pub(crate) struct Draws {
    sizes: Vec<(u32, u32)>,
    weight: u32,
    reads: Reads,
    write: Kind,
    flush_every: u32,
    writes_since_flush: u32,
    rng: Rng,
}

/// Shares of 0 and 1 need no random number.
#[derive(Clone, Debug)]
enum Reads {
    All,
    None,
    Share(f64),
}

impl Draws {
    /// Sizes are converted to multiples of `grid`, the smallest size.
    pub(crate) fn new(mix: &Mix, grid: u64, seed: u64) -> Self {
        let sizes: Vec<_> = mix.sizes.sizes().iter().map(|&(size, w)| ((size.get() / grid) as u32, w)).collect();
        let reads = match mix.reads {
            share if share >= 1.0 => Reads::All,
            share if share <= 0.0 => Reads::None,
            share => Reads::Share(share),
        };
        Self {
            weight: sizes.iter().map(|&(_, weight)| weight).sum(),
            sizes,
            reads,
            write: if mix.durable { Kind::DurableWrite } else { Kind::Write },
            flush_every: mix.flush_every,
            writes_since_flush: 0,
            rng: Rng::with_seed(seed),
        }
    }

    #[inline]
    pub(crate) fn kind(&mut self) -> Kind {
        if self.flush_every > 0 && self.writes_since_flush == self.flush_every {
            self.writes_since_flush = 0;
            return Kind::Flush;
        }
        let read = match self.reads {
            Reads::All => true,
            Reads::None => false,
            Reads::Share(share) => self.rng.f64() < share,
        };
        if read {
            return Kind::Read;
        }
        self.writes_since_flush = self.writes_since_flush.saturating_add(1);
        self.write
    }

    /// Size of an operation in blocks of the grid.
    #[inline]
    pub(crate) fn blocks(&mut self) -> u32 {
        weighted(&self.sizes, self.weight, &mut self.rng)
    }
}

/// Draws a size by weight; `total` is the sum of the weights. A single size needs no random number.
#[inline]
pub(crate) fn weighted(sizes: &[(u32, u32)], total: u32, rng: &mut Rng) -> u32 {
    if let [(size, _)] = sizes {
        return *size;
    }
    let mut ticket = rng.u32(0..total);
    for &(size, weight) in sizes {
        match ticket.checked_sub(weight) {
            Some(rest) => ticket = rest,
            None => return size,
        }
    }
    1
}
