//! A random permutation of all blocks in constant memory.

/// Rounds of the network: sufficient to separate neighbours.
const ROUNDS: u64 = 4;

/// A Feistel network over the next power of four, with cycle walking (J. Black, P. Rogaway, "Ciphers with arbitrary
/// finite domains", 2002).
#[derive(Clone, Debug)]
pub(super) struct Shuffle {
    blocks: u64,
    half_bits: u32,
    keys: [u64; ROUNDS as usize],
    seed: u64,
    next: u64,
}

impl Shuffle {
    pub(super) fn new(blocks: u64, seed: u64) -> Self {
        let bits = u64::BITS - blocks.saturating_sub(1).leading_zeros();
        let half_bits = bits.div_ceil(2).max(1);
        let mut shuffle = Self { blocks, half_bits, keys: [0; ROUNDS as usize], seed, next: 0 };
        shuffle.turn();
        shuffle
    }

    /// The next block; after the last, the first of a new permutation.
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        if self.next == self.blocks {
            self.next = 0;
            self.turn();
        }
        let mut place = self.permute(self.next);
        while place >= self.blocks {
            place = self.permute(place);
        }
        self.next += 1;
        place
    }

    fn turn(&mut self) {
        for (round, key) in self.keys.iter_mut().enumerate() {
            *key = plimsoll_units::splitmix64(self.seed ^ round as u64);
        }
        self.seed = self.keys[0];
    }

    #[inline]
    fn permute(&self, place: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (place >> self.half_bits, place & mask);
        for key in self.keys {
            let mixed = (right ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (left, right) = (right, left ^ (mixed >> (u64::BITS - self.half_bits)));
        }
        left << self.half_bits | right
    }
}
