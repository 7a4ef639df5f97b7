//! The search for the load that a limit of latency allows, from what was tried.
//!
//! It doubles the load until the limit is broken or nothing more gets through, and halves the way back to the limit.
//! Knows nothing about operations.

use plimsoll_units::Span;

/// What came of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tried {
    /// How many were outstanding.
    pub(super) outstanding: u32,
    /// How much got through, in whatever unit.
    pub(super) rate: f64,
    /// Mean latency.
    pub(super) latency: Span,
}

/// What to try next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asks {
    /// So many outstanding.
    Load(u32),
    /// The search is over.
    Nothing,
}

/// A search among loads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    /// The first load, at least 1.
    pub(super) first: u32,
    /// The last.
    pub(super) most: u32,
    /// What the latency may be.
    pub(super) limit: Option<Span>,
}

/// What a doubled load has to bring for a search to go on, as a share.
const GAIN: f64 = 0.03;

impl Search {
    pub(super) fn next(&self, tried: &[Tried]) -> Asks {
        if tried.is_empty() {
            return Asks::Load(self.first.min(self.most));
        }
        let within = |one: &&Tried| self.limit.is_none_or(|limit| one.latency <= limit);
        let broken = tried.iter().filter(|one| !within(one)).map(|one| one.outstanding).min();
        let kept = tried.iter().filter(within).map(|one| one.outstanding).max();
        match (kept, broken) {
            // Even the first is too much: fewer, down to one.
            (None, None | Some(1)) => Asks::Nothing,
            (None, Some(broken)) => Asks::Load(broken / 2),
            // Where latencies waver, a load above a broken one may keep the limit.
            (Some(kept), Some(broken)) if broken.saturating_sub(kept) <= (kept / 16).max(1) => Asks::Nothing,
            (Some(kept), Some(broken)) => Asks::Load(kept.midpoint(broken)),
            (Some(kept), None) if kept >= self.most || Self::is_flat(tried) => Asks::Nothing,
            (Some(kept), None) => Asks::Load((kept * 2).min(self.most)),
        }
    }

    /// The last two doublings brought nothing: one alone may have been disturbed.
    fn is_flat(tried: &[Tried]) -> bool {
        let (before, last) = tried.split_at(tried.len().saturating_sub(2));
        let best = |some: &[Tried]| some.iter().map(|one| one.rate).reduce(f64::max);
        best(before).zip(best(last)).is_some_and(|(before, last)| last < before * (1.0 + GAIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loads that are tried on one server of 1 ms that has so many places.
    fn loads(search: Search, servers: u32) -> Vec<u32> {
        let mut tried = Vec::new();
        while let Asks::Load(outstanding) = search.next(&tried) {
            let latency = Span::from_millis(1) * u64::from(outstanding.div_ceil(servers).max(1));
            tried.push(Tried { outstanding, rate: f64::from(outstanding.min(servers)), latency });
            assert!(tried.len() < 100, "it ends");
        }
        tried.into_iter().map(|one| one.outstanding).collect()
    }

    proptest::proptest! {
        #[test]
        fn it_ends_and_tries_no_load_twice(
            (first, most, limit_us) in (1..100_u32, 1..5_000_u32, proptest::option::of(1..5_000_u64)),
            seen in proptest::collection::vec((1..10_000_u64, 1..10_000_u64), 64),
        ) {
            let search = Search { first, most, limit: limit_us.map(Span::from_micros) };
            let mut tried: Vec<Tried> = Vec::new();
            while let Asks::Load(outstanding) = search.next(&tried) {
                proptest::prop_assert!((1..=most).contains(&outstanding), "{} of {}", outstanding, most);
                proptest::prop_assert!(tried.iter().all(|one| one.outstanding != outstanding), "{} again", outstanding);
                let (latency_us, rate) = seen[tried.len()];
                tried.push(Tried { outstanding, rate: rate as f64, latency: Span::from_micros(latency_us) });
            }
        }
    }

    #[test]
    fn loads_grow_to_the_limit_and_not_beyond_what_they_bring() {
        let check = |first, limit_ms: Option<u64>, servers, expected: &[u32]| {
            let search = Search { first, most: 256, limit: limit_ms.map(Span::from_millis) };
            assert_eq!(loads(search, servers), expected, "{first} {limit_ms:?} {servers}");
        };
        check(1, Some(20), 8, &[1, 2, 4, 8, 16, 32]);
        check(4, Some(1), 8, &[4, 8, 16, 12, 10, 9]);
        check(1, Some(20), 1000, &[1, 2, 4, 8, 16, 32, 64, 128, 256]);
        check(8, Some(2), 1, &[8, 4, 2, 3]);
        check(8, Some(1), 2, &[8, 4, 2, 3]);
        check(1, None, 8, &[1, 2, 4, 8, 16, 32]);
        check(300, None, 8, &[256]);
        // A load that was disturbed does not end it.
        let disturbed = |tried: &[Tried]| {
            tried
                .iter()
                .map(|one| Tried { rate: if one.outstanding == 4 { 0.5 } else { one.rate }, ..*one })
                .collect::<Vec<_>>()
        };
        let mut tried = vec![];
        while let Asks::Load(outstanding) = (Search { first: 1, most: 256, limit: None }).next(&disturbed(&tried)) {
            tried.push(Tried { outstanding, rate: f64::from(outstanding.min(8)), latency: Span::ZERO });
        }
        assert_eq!(tried.last().map(|one| one.outstanding), Some(32));
        // Not even one keeps it.
        let search = Search { first: 2, most: 256, limit: Some(Span::from_micros(10)) };
        assert_eq!(loads(search, 1), [2, 1]);
    }
}
