//! Slices reduced to sums, and grouped into batches of equal length.
//!
//! All operations of a slice are combined, regardless of stream and kind.

use std::ops::Range;

use plimsoll_record::{Bins, Slice};

/// Sums over an interval.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) seconds: f64,
    pub(crate) operations: f64,
    pub(crate) response_ns: f64,
    pub(crate) bytes: f64,
}

impl Sums {
    /// Operations per second; zero for an empty interval.
    pub(crate) fn iops(&self) -> f64 {
        if self.seconds > 0.0 { self.operations / self.seconds } else { 0.0 }
    }

    /// Bytes per second; zero for an empty interval.
    pub(crate) fn bytes_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.bytes / self.seconds } else { 0.0 }
    }

    /// Mean response time in nanoseconds; zero without operations.
    pub(crate) fn mean_ns(&self) -> f64 {
        if self.operations > 0.0 { self.response_ns / self.operations } else { 0.0 }
    }

    pub(crate) fn of(pieces: &[ReducedSlice]) -> Self {
        pieces.iter().fold(Self::default(), |sums, piece| Self {
            seconds: sums.seconds + piece.sums.seconds,
            operations: sums.operations + piece.sums.operations,
            response_ns: sums.response_ns + piece.sums.response_ns,
            bytes: sums.bytes + piece.sums.bytes,
        })
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ReducedSlice {
    pub(crate) sums: Sums,
    pub(crate) response: Bins,
}

/// Reduces each slice.
pub(crate) fn pieces(series: &[Slice]) -> Vec<ReducedSlice> {
    let piece = |slice: &Slice| {
        let response = slice.tally.response();
        let sums = Sums {
            seconds: slice.span.as_secs_f64(),
            operations: response.count as f64,
            response_ns: response.sum_ns as f64,
            bytes: slice.tally.bytes() as f64,
        };
        ReducedSlice { sums, response }
    };
    series.iter().map(piece).collect()
}

/// Response times of all pieces.
pub(crate) fn responses(pieces: &[ReducedSlice]) -> Bins {
    let mut all = Bins::default();
    for piece in pieces {
        all.merge(&piece.response);
    }
    all
}

/// Sums of `pieces` in `count` batches.
pub(crate) fn gathered(pieces: &[ReducedSlice], count: usize) -> Vec<Sums> {
    cuts(pieces.len(), count).map(|range| Sums::of(&pieces[range])).collect()
}

/// Divides `n` items into `count` ranges of nearly equal length; into `n` ranges if `count` is larger.
pub(crate) fn cuts(n: usize, count: usize) -> impl Iterator<Item = Range<usize>> {
    let count = count.min(n);
    (0..count).map(move |i| i * n / count..(i + 1) * n / count)
}

/// Median; the mean of the middle two for an even number; zero without values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n.is_multiple_of(2) => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
        n => sorted[n / 2],
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn median_of_an_even_number_is_between_the_middle_two() {
        assert_eq!((median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0, 2.0, 3.0]), median(&[])), (2.0, 2.5, 0.0));
    }
}
