//! Seeds of random streams.

/// `SplitMix64` for a given state (Steele, Lea, Flood 2014): adjacent states give uncorrelated outputs.
///
/// Generators such as `WyRand` produce correlated streams from adjacent seeds, so every seed of a stream passes through
/// this.
pub const fn splitmix64(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::splitmix64;

    #[test]
    fn outputs_match_the_reference() {
        // The first outputs of the reference implementation (Vigna, splitmix64.c) for state 0.
        assert_eq!(splitmix64(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(splitmix64(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
    }
}
