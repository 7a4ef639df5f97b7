//! The use of each limit by the time of day, on former days.

use std::collections::BTreeMap;

use plimsoll_units::{Instant, Span};

pub(super) const BIN: Span = Span::from_secs(600);
const DAY: Span = Span::from_secs(86_400);
/// Number of bins of a day.
const BINS: usize = 144;
/// Maximum number of former days.
const MAX_DAYS: usize = 28;
/// Minimum share of the bins of a day with a former load.
const MIN_COVERED: f64 = 0.8;

/// Use of the limits in a bin of a day.
#[derive(Clone, Debug, Default)]
struct BinUse {
    seconds: f64,
    /// Use of each limit, multiplied by time.
    used: Vec<f64>,
}

/// Use of the limits on former days.
#[derive(Clone, Debug, Default)]
pub(super) struct DayProfile {
    days: BTreeMap<u64, Vec<BinUse>>,
}

impl DayProfile {
    /// Adds the use of each limit during an interval that ends at `end`.
    pub(super) fn add(&mut self, end: Instant, seconds: f64, used: &[f64]) {
        let (day, bin) = place(end);
        let bins = self.days.entry(day).or_insert_with(|| vec![BinUse::default(); BINS]);
        let bin = &mut bins[bin];
        bin.seconds += seconds;
        bin.used.resize(used.len(), 0.0);
        for (sum, used) in bin.used.iter_mut().zip(used) {
            *sum += used * seconds;
        }
        // The present day and the former days.
        while self.days.len() > MAX_DAYS + 1 {
            self.days.pop_first();
        }
    }

    /// Mean use of a limit in the bins of the last `span` before `now`, each with the centre of its time in seconds relative to
    /// `now`.
    pub(super) fn latest(&self, now: Instant, span: Span, limit: usize) -> Vec<(f64, f64)> {
        let begin = now - span;
        let mut points = Vec::new();
        for (day, bins) in self.days.range(place(begin).0..) {
            for (index, bin) in (0_u64..).zip(bins).filter(|(_, bin)| bin.seconds > 0.0) {
                let start = Instant::from_nanos(day * DAY.as_nanos() + index * BIN.as_nanos());
                // A bin that has hardly begun scatters too much.
                if start < begin || now.since(start) < BIN / 2 {
                    continue;
                }
                let centre = start + now.since(start).min(BIN) / 2;
                points.push((-now.since(centre).as_secs_f64(), bin.used[limit] / bin.seconds));
            }
        }
        points
    }

    /// Number of former days at `now`, if they cover most of a day.
    pub(super) fn former_days(&self, now: Instant) -> Option<usize> {
        let (today, _) = place(now);
        let former = self.days.range(..today);
        let covered = (0..BINS).filter(|bin| former.clone().any(|(_, bins)| bins[*bin].seconds > 0.0)).count();
        (covered as f64 >= MIN_COVERED * BINS as f64).then(|| former.count())
    }

    /// Mean use of each limit at the time of day of `at`, on the days before `now`. `None` without such a load.
    pub(super) fn expect(&self, now: Instant, at: Instant) -> Option<Vec<f64>> {
        let ((today, _), (_, bin)) = (place(now), place(at));
        let former = self.days.range(..today).map(|(_, bins)| &bins[bin]).filter(|bin| bin.seconds > 0.0);
        let (mut seconds, mut sums) = (0.0, Vec::new());
        for bin in former {
            seconds += bin.seconds;
            sums.resize(bin.used.len(), 0.0);
            for (sum, used) in sums.iter_mut().zip(&bin.used) {
                *sum += used;
            }
        }
        (seconds > 0.0).then(|| sums.into_iter().map(|sum| sum / seconds).collect())
    }
}

/// Day and bin of a time in UTC.
fn place(at: Instant) -> (u64, usize) {
    let (day, rest) = (at.as_nanos() / DAY.as_nanos(), at.as_nanos() % DAY.as_nanos());
    (day, (rest / BIN.as_nanos()) as usize)
}
