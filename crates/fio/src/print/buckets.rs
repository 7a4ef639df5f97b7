//! fio's histogram, derived from plimsoll's: 64 buckets per octave instead of 128.
//!
//! Observed from fio's JSON+ and histogram logs: a bucket per nanosecond below 128 ns, 64 per octave above, 29 groups
//! of 64 in total; the last bucket includes everything above 17 s. A bucket is reported by its middle.

use plimsoll_record::Bins;

/// Buckets per octave.
const EACH: usize = 64;
/// Number of buckets: two groups below 128 ns, and 27 octaves.
pub(super) const BUCKETS: usize = 29 * EACH;

/// Bucket of a latency in nanoseconds.
pub(super) fn index(latency_ns: u64) -> usize {
    let octave = (latency_ns | 1).ilog2() as usize;
    if octave < 7 {
        return latency_ns as usize;
    }
    // The six bits below the highest are the index within the octave.
    let place = (latency_ns >> (octave - 6)) as usize - EACH;
    ((octave - 5) * EACH + place).min(BUCKETS - 1)
}

/// Middle of a bucket in nanoseconds, as reported by fio.
pub(super) fn middle_ns(index: usize) -> u64 {
    let (group, place) = (index / EACH, (index % EACH) as u64);
    match group {
        0 | 1 => index as u64,
        _ => (((EACH as u64 + place) << 1) + 1) << (group - 2),
    }
}

/// Non-empty buckets: middles in nanoseconds with their counts, ascending.
///
/// plimsoll's bins are halves of fio's buckets or equal to them, so that the conversion is exact.
pub fn nonempty_buckets(bins: &Bins) -> Vec<(u64, u64)> {
    let mut buckets: Vec<(u64, u64)> = Vec::with_capacity(bins.bins.len() / 2 + 1);
    for &(lowest, count) in &bins.bins {
        let middle = middle_ns(index(lowest));
        match buckets.last_mut() {
            Some(last) if last.0 == middle => last.1 += count,
            _ => buckets.push((middle, count)),
        }
    }
    buckets
}

/// Latencies in nanoseconds at the percentages of `list` (ascending), as middles of fio's buckets. Empty without bins.
pub fn percentiles(bins: &Bins, list: &[f64]) -> Vec<u64> {
    let buckets = nonempty_buckets(bins);
    let all: u64 = buckets.iter().map(|(_, count)| count).sum();
    let mut passed = 0;
    let mut found = Vec::with_capacity(list.len());
    for (middle, count) in buckets {
        passed += count;
        // Fused, without rounding the product, as in fio: 99.95 % of 2,000 slightly exceeds 1,999, because the nearest
        // double exceeds 99.95.
        let holds = |percent: &f64| passed == all || percent.mul_add(all as f64, -(passed as f64 * 100.0)) <= 0.0;
        while list.get(found.len()).is_some_and(holds) {
            found.push(middle);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use plimsoll_record::Recorder;
    use plimsoll_units::Span;

    use super::{BUCKETS, index, middle_ns, nonempty_buckets, percentiles};

    #[test]
    fn buckets_match_fio() {
        // Middles printed by fio 3.42 for latencies near them.
        for (latency_ns, middle) in [
            (0, 0),
            (110, 110),
            (127, 127),
            (130, 131),
            (1_021, 1_020),
            (4_316, 4_320),
            (10_526, 10_560),
            (46_399, 46_336),
            (5_184_486, 5_210_112),
            (20_000_000_000, 17_112_760_320),
            (u64::MAX, 17_112_760_320),
        ] {
            assert_eq!(middle_ns(index(latency_ns)), middle, "{latency_ns}");
        }
        assert!((1..BUCKETS).all(|bucket| middle_ns(bucket) > middle_ns(bucket - 1)));
        assert!((0..BUCKETS).all(|bucket| index(middle_ns(bucket)) == bucket));
    }

    #[test]
    fn bins_fall_into_the_bucket_of_their_latencies() {
        let latencies: Vec<u64> = (0..40_000_u64).map(|i| i * i * 3).collect();
        let mut recorder = Recorder::new();
        for ns in &latencies {
            recorder.record(Span::from_nanos(*ns));
        }
        let mut expected = std::collections::BTreeMap::new();
        for ns in latencies {
            *expected.entry(middle_ns(index(ns))).or_insert(0) += 1;
        }
        assert_eq!(nonempty_buckets(&recorder.take()), expected.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn percentile_is_middle_of_its_bucket() {
        let mut recorder = Recorder::new();
        (1..=100).for_each(|ns| recorder.record(Span::from_nanos(ns)));
        let bins = recorder.take();
        assert_eq!(percentiles(&bins, &[0.5, 1.0, 50.0, 99.0, 99.1, 100.0]), [1, 1, 50, 99, 100, 100]);
        assert_eq!(percentiles(&plimsoll_record::Bins::default(), &[50.0]), Vec::<u64>::new());
        let two_thousand = plimsoll_record::Bins { count: 2_000, bins: vec![(5, 1_999), (19, 1)], ..bins };
        assert_eq!(percentiles(&two_thousand, &[99.9, 99.95]), [5, 19]);
    }
}
