//! Caches: by hit ratio, and by stored blocks.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use fastrand::Rng;
use plimsoll_units::{Bytes, Kind, Op};

/// A cache with a given hit ratio.
#[derive(Clone, Debug)]
pub(crate) struct HitRatio {
    hits: f64,
    rng: Rng,
}

impl HitRatio {
    pub(crate) fn new(hits: f64, seed: u64) -> Self {
        Self { hits, rng: Rng::with_seed(seed) }
    }

    #[inline]
    pub(crate) fn hit(&mut self, op: &Op) -> bool {
        op.kind == Kind::Read && self.rng.f64() < self.hits
    }
}

/// A cache with CLOCK replacement (Corbató 1968): a circulating hand skips blocks that were used since its last pass.
#[derive(Clone, Debug)]
pub(crate) struct ClockCache {
    grain: u64,
    places: usize,
    /// Block, and whether it was used since the hand passed.
    ring: Vec<(u64, bool)>,
    /// Position of each block in the ring.
    place: BTreeMap<u64, u32>,
    hand: usize,
}

impl ClockCache {
    pub(crate) fn new(capacity: Bytes, grain: Bytes) -> Self {
        let places = (capacity.get() / grain.get()).max(1) as usize;
        Self { grain: grain.get(), places, ring: Vec::new(), place: BTreeMap::new(), hand: 0 }
    }

    /// True for a read whose blocks are all cached. Afterwards the blocks are cached in any case.
    pub(crate) fn hit(&mut self, op: &Op) -> bool {
        if op.length == 0 {
            return false;
        }
        let last = (op.offset + u64::from(op.length) - 1) / self.grain;
        let mut all = true;
        for block in op.offset / self.grain..=last {
            all &= self.touch(block);
        }
        all && op.kind == Kind::Read
    }

    fn touch(&mut self, block: u64) -> bool {
        if let Some(&place) = self.place.get(&block) {
            self.ring[place as usize].1 = true;
            return true;
        }
        if self.ring.len() < self.places {
            self.place.insert(block, self.ring.len() as u32);
            self.ring.push((block, false));
            return false;
        }
        while self.ring[self.hand].1 {
            self.ring[self.hand].1 = false;
            self.hand = (self.hand + 1) % self.places;
        }
        self.place.remove(&self.ring[self.hand].0);
        self.ring[self.hand] = (block, false);
        self.place.insert(block, self.hand as u32);
        self.hand = (self.hand + 1) % self.places;
        false
    }
}
