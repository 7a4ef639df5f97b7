//! Latency histograms: a fast recorder, and a compact form for storage, merging and queries.
//!
//! Both have the geometry of an HDR histogram with two significant digits and a unit of 1 ns: values below 256 ns have
//! their own bins, each octave above has 128, so bins are at most 0.8 % wide.

use plimsoll_units::Span;
use serde::{Deserialize, Serialize};

/// Longest recorded span, 2^42 ns or about 73 minutes; longer spans are counted as this.
const LONGEST_NS: u64 = 1 << 42;
/// Bins of an octave.
const IN_OCTAVE: usize = 128;

/// A fast recorder of spans.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// Counts by [`bin_index`].
    counts: Box<[u64]>,
    count: u64,
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
}

impl Recorder {
    /// Creates an empty recorder of 35 KiB.
    pub fn new() -> Self {
        let counts = vec![0; bin_index(LONGEST_NS) + 1].into_boxed_slice();
        Self { counts, count: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }

    /// Counts a span.
    #[inline]
    pub fn record(&mut self, span: Span) {
        let ns = span.as_nanos();
        self.counts[bin_index(ns.min(LONGEST_NS))] += 1;
        self.count += 1;
        self.sum_ns = self.sum_ns.saturating_add(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// True if no span was counted since the last [`Recorder::take`].
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the counts and resets the recorder.
    pub fn take(&mut self) -> Bins {
        if self.count == 0 {
            return Bins::default();
        }
        // The other bins are empty.
        let (first, last) = (bin_index(self.min_ns.min(LONGEST_NS)), bin_index(self.max_ns.min(LONGEST_NS)));
        let used = &mut self.counts[first..=last];
        let filled = used.iter().zip(first..).filter(|(count, _)| **count > 0);
        let bins = filled.map(|(count, index)| (bin_lowest(index), *count)).collect();
        used.fill(0);
        let taken = Bins { count: self.count, sum_ns: self.sum_ns, bins, min_ns: self.min_ns, max_ns: self.max_ns };
        (self.count, self.sum_ns, self.min_ns, self.max_ns) = (0, 0, u64::MAX, 0);
        taken
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

/// A histogram without its empty bins. Merging is lossless.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bins {
    /// Number of spans.
    pub count: u64,
    /// Exact sum of the spans in nanoseconds.
    pub sum_ns: u64,
    /// Shortest span in nanoseconds; exact if recorded by plimsoll.
    pub min_ns: u64,
    /// Longest span in nanoseconds; exact if recorded by plimsoll.
    pub max_ns: u64,
    /// `[lowest value of the bin in nanoseconds, count]`, ascending.
    pub bins: Vec<(u64, u64)>,
}

impl Bins {
    /// Converts the histogram of another program, given as a representative span and count per bin. `sum_ns` is the sum
    /// of all spans in nanoseconds according to that program.
    pub fn counted(spans: impl IntoIterator<Item = (Span, u64)>, sum_ns: u64) -> Self {
        let mut all = Self { sum_ns, min_ns: u64::MAX, ..Self::default() };
        let mut bins = std::collections::BTreeMap::new();
        for (span, count) in spans.into_iter().filter(|(_, count)| *count > 0) {
            let ns = span.as_nanos().min(LONGEST_NS);
            *bins.entry(ns & !(width(ns) - 1)).or_default() += count;
            all.count += count;
            all.min_ns = all.min_ns.min(ns);
            all.max_ns = all.max_ns.max(ns);
        }
        if all.count == 0 {
            return Self::default();
        }
        all.bins = bins.into_iter().collect();
        all
    }

    /// True for an empty histogram.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        if self.is_empty() {
            self.clone_from(other);
            return;
        }
        self.count += other.count;
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.bins = merged(&self.bins, &other.bins);
    }

    /// The quantile at the share `quantile` (0 to 1), as the middle of its bin; `None` if empty.
    pub fn quantile(&self, quantile: f64) -> Option<Span> {
        let rank = ((quantile * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut observed = 0;
        for &(lowest, count) in &self.bins {
            observed += count;
            if observed >= rank {
                let middle = lowest + (width(lowest) - 1) / 2;
                // Not `clamp`, which panics if a file has a minimum above its maximum.
                return Some(Span::from_nanos(middle.max(self.min_ns).min(self.max_ns)));
            }
        }
        None
    }

    /// Highest value and count of each bin, ascending.
    pub fn upper_bounds(&self) -> impl ExactSizeIterator<Item = (Span, u64)> {
        self.bins.iter().map(|&(lowest, count)| (Span::from_nanos(lowest + (width(lowest) - 1)), count))
    }

    /// Exact mean; `None` if empty.
    pub fn mean(&self) -> Option<Span> {
        (self.count > 0).then(|| Span::from_nanos((self.sum_ns as f64 / self.count as f64 + 0.5) as u64))
    }

    /// Merges bins to eight times their width, at most 6 %: for smaller files without the need for precision.
    #[must_use]
    pub fn coarse(&self) -> Self {
        let mut bins: Vec<(u64, u64)> = Vec::new();
        for &(lowest, count) in &self.bins {
            let lowest = lowest & !(8 * width(lowest) - 1);
            match bins.last_mut() {
                Some(last) if last.0 == lowest => last.1 += count,
                _ => bins.push((lowest, count)),
            }
        }
        Self { bins, ..self.clone() }
    }

    /// Number of spans longer than `limit`, to the bin's width.
    pub fn above(&self, limit: Span) -> u64 {
        let longer = self.bins.iter().rev().take_while(|(lowest, _)| *lowest > limit.as_nanos());
        longer.map(|(_, count)| count).sum()
    }

    /// Share of spans up to `limit`, 0 to 1, to the bin's width; 1 if empty.
    pub fn share_within(&self, limit: Span) -> f64 {
        if self.count == 0 {
            return 1.0;
        }
        let within = |&&(lowest, _): &&(u64, u64)| lowest + (width(lowest) - 1) / 2 <= limit.as_nanos();
        self.bins.iter().take_while(within).map(|(_, count)| count).sum::<u64>() as f64 / self.count as f64
    }
}

/// Width in nanoseconds of the bin that contains `ns`.
#[inline]
const fn width(ns: u64) -> u64 {
    1 << octave(ns)
}

/// Octaves from 256 ns on; 0 below.
#[inline]
const fn octave(ns: u64) -> u32 {
    (ns | 255).ilog2() - 7
}

/// Index of the bin that contains `ns`: 256 bins of a nanosecond, then [`IN_OCTAVE`] of each octave.
#[inline]
const fn bin_index(ns: u64) -> usize {
    let shift = octave(ns);
    shift as usize * IN_OCTAVE + (ns >> shift) as usize
}

/// Lowest value in nanoseconds of the bin with this index.
#[inline]
const fn bin_lowest(index: usize) -> u64 {
    let shift = (index / IN_OCTAVE).saturating_sub(1);
    ((index - shift * IN_OCTAVE) as u64) << shift
}

fn merged(a: &[(u64, u64)], b: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut out: Vec<(u64, u64)> = Vec::with_capacity(a.len().max(b.len()));
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let next = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if x.0 <= y.0 => a.next(),
            (Some(_), None) => a.next(),
            (_, Some(_)) => b.next(),
            (None, None) => return out,
        };
        let Some(&(lowest, count)) = next else { return out };
        match out.last_mut() {
            Some(last) if last.0 == lowest => last.1 += count,
            _ => out.push((lowest, count)),
        }
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;

    use super::*;

    fn recorded(spans_ns: impl IntoIterator<Item = u64>) -> Bins {
        let mut recorder = Recorder::new();
        for ns in spans_ns {
            recorder.record(Span::from_nanos(ns));
        }
        recorder.take()
    }

    #[test]
    fn quantiles_are_exact_to_the_bin_width() {
        let bins = recorded((1..=100_000).map(|i| i * 100));
        for quantile in [0.001, 0.5, 0.9, 0.99, 0.999, 1.0] {
            let observed = bins.quantile(quantile).unwrap().as_nanos() as f64;
            let truth = quantile * 1e7;
            assert!((observed / truth - 1.0).abs() < 0.008, "{quantile}: {observed} against {truth}");
        }
        assert_eq!(bins.mean(), Some(Span::from_nanos(5_000_050)));
    }

    #[test]
    fn coarse_bins_keep_the_counts() {
        let fine = recorded((1..=10_000).map(|i| i * 317));
        let coarse = fine.coarse();
        assert!(coarse.bins.len() * 5 < fine.bins.len(), "{} of {}", coarse.bins.len(), fine.bins.len());
        assert_eq!((coarse.count, coarse.sum_ns, coarse.max_ns), (fine.count, fine.sum_ns, fine.max_ns));
        assert_eq!(coarse.bins.iter().map(|(_, count)| count).sum::<u64>(), 10_000);
        let (a, b) = (coarse.quantile(0.9).unwrap(), fine.quantile(0.9).unwrap());
        assert!((a.as_secs_f64() / b.as_secs_f64() - 1.0).abs() < 0.07, "{a} {b}");
    }

    #[test]
    fn merging_equals_counting_together() {
        let mut evens = recorded((0..2_000).map(|i| i * 2 * 317));
        let odds = recorded((0..2_000).map(|i| (i * 2 + 1) * 317));
        evens.merge(&odds);
        assert_eq!(evens, recorded((0..4_000).map(|i| i * 317)));
    }

    #[test]
    fn bins_are_those_of_hdrhistogram() {
        let mut counts = Histogram::<u64>::new_with_bounds(1, LONGEST_NS, 2).unwrap();
        let spans = (0..=42).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) * 5 / 4]);
        let spans: Vec<u64> = spans.filter(|ns| *ns <= LONGEST_NS).collect();
        for ns in &spans {
            counts.record(*ns).unwrap();
        }
        let bins = recorded(spans).bins;
        let lowest = |value| counts.lowest_equivalent(value);
        let expected =
            counts.iter_recorded().map(|step| (lowest(step.value_iterated_to()), step.count_since_last_iteration()));
        assert_eq!(bins, expected.collect::<Vec<_>>());
        assert!(bins.iter().all(|(ns, _)| width(*ns) == counts.equivalent_range(*ns)), "{bins:?}");
    }

    #[test]
    fn taken_spans_do_not_return() {
        let mut recorder = Recorder::new();
        for round in [[0, 1 << 20], [300, 70_000], [5, u64::MAX]] {
            for ns in round {
                recorder.record(Span::from_nanos(ns));
            }
            assert_eq!(recorder.take(), recorded(round));
            assert!(recorder.is_empty());
        }
    }

    #[test]
    fn foreign_histogram_has_the_same_bins() {
        let spans_ns = [0, 3, 200, 256, 257, 1_000, 65_535, 123_456_789, 123_456_789];
        let sum = spans_ns.iter().sum();
        let counted = Bins::counted(spans_ns.map(|ns| (Span::from_nanos(ns), 1)), sum);
        let one_by_one = recorded(spans_ns);
        assert_eq!((counted.count, counted.sum_ns), (one_by_one.count, one_by_one.sum_ns));
        assert_eq!(counted.bins, one_by_one.bins);
        assert_eq!((counted.min_ns, counted.max_ns), (0, 123_456_789));
        assert_eq!(Bins::counted([(Span::from_nanos(5), 0)], 9), Bins::default());
    }

    #[test]
    fn contradictory_extremes_do_not_panic() {
        let bins = Bins { count: 1, sum_ns: 5, min_ns: 9, max_ns: 3, bins: vec![(5, 1)] };
        assert_eq!(bins.quantile(0.5), Some(Span::from_nanos(3)));
    }

    #[test]
    fn empty_histogram_has_no_quantile() {
        assert_eq!(Bins::default().quantile(0.5), None);
        assert_eq!(Bins::default().mean(), None);
        assert_eq!(recorded([70 * 60 * 60 * 1_000_000_000]).count, 1, "a span beyond the range is still counted");
    }
}
