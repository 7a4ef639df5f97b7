//! How long single waits took: several tables of one event, with buckets that overlap at their edges, as one.

use std::collections::BTreeMap;

/// Shares of the waits that were shorter than a bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Histogram {
    /// By bound in nanoseconds: the share, 0 to 1, and which table said so (the first one is the coarser and surer).
    below: BTreeMap<u64, f64>,
}

/// The bound of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bound {
    /// Waits shorter than this, in seconds, and not in a column before it.
    Below(f64),
    /// All longer ones.
    Rest,
}

impl Bound {
    /// Reads `<512us`, `<=1s`, `<1/8s`, `< 1m`, `>=32ms`, `>1s` at the end of a column's name.
    pub(super) fn of(column: &str) -> Option<Self> {
        let at = column.find(['<', '>'])?;
        let sign = &column[at..];
        let text = sign.trim_start_matches(['<', '>', '=', ' ']);
        let letters = text.find(|letter: char| letter.is_ascii_alphabetic())?;
        let (number, unit) = text.split_at(letters);
        let unit = match unit.trim() {
            "us" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            _ => return None,
        };
        let number = number.trim();
        let value: f64 = match number.split_once('/') {
            Some((over, under)) => over.parse::<f64>().ok()? / under.parse::<f64>().ok()?,
            None => number.parse().ok()?,
        };
        Some(if sign.starts_with('<') { Self::Below(value * unit) } else { Self::Rest })
    }
}

impl Histogram {
    /// Adds one table's row: its columns' bounds with their shares in per cent. What another table said already stays.
    pub(super) fn add(&mut self, row: &[(Bound, f64)]) {
        let mut below = 0.0;
        for (bound, percent) in row {
            below += percent / 100.0;
            if let Bound::Below(seconds) = bound {
                self.below.entry((seconds * 1e9).round() as u64).or_insert(below);
            }
        }
    }

    /// Upper bounds in seconds with the share of waits up to each and above the one before; the last has no bound.
    pub(super) fn shares(&self) -> Vec<(f64, f64)> {
        let mut shares = Vec::with_capacity(self.below.len() + 1);
        let mut before = 0.0;
        for (bound, below) in &self.below {
            // Shares are printed in tenths of a per cent: sums may stray by some of them.
            let below = below.min(1.0).max(before);
            shares.push((*bound as f64 / 1e9, below - before));
            before = below;
        }
        shares.push((f64::INFINITY, 1.0 - before));
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::Bound::{Below, Rest};
    use super::{Bound, Histogram};

    #[test]
    fn bounds_are_read() {
        let table = [
            ("% of waits <1ms", Some(Below(1e-3))),
            ("% of total waits <512us", Some(Below(512e-6))),
            ("% of waits <=1s", Some(Below(1.0))),
            ("<1/8s", Some(Below(0.125))),
            ("< 1m", Some(Below(60.0))),
            (">=32ms", Some(Rest)),
            ("event", None),
            ("<", None),
        ];
        for (column, expected) in table {
            let found = Bound::of(column);
            let same = match (found, expected) {
                (Some(Below(a)), Some(Below(b))) => (a - b).abs() < 1e-12,
                (a, b) => a == b,
            };
            assert!(same, "{column}: {found:?}");
        }
    }

    #[test]
    fn tables_of_one_event_become_one() {
        let mut histogram = Histogram::default();
        let us = |us: f64| Below(us * 1e-6);
        histogram.add(&[(us(8.0), 10.0), (us(16.0), 20.0), (us(512.0), 30.0), (Rest, 40.0)]);
        histogram.add(&[(us(4.0), 4.0), (us(8.0), 6.0), (Rest, 90.0)]);
        histogram.add(&[(us(512.0), 60.0), (us(1024.0), 25.0), (Rest, 15.0)]);
        let shares: Vec<_> = histogram.shares().iter().map(|(b, s)| (*b * 1e6, (s * 100.0).round())).collect();
        let bounds: Vec<_> = shares.iter().map(|(bound, _)| bound.round() as i64).collect();
        let percents: Vec<_> = shares.iter().map(|(_, percent)| *percent as i64).collect();
        assert_eq!(bounds, [4, 8, 16, 512, 1024, i64::MAX]);
        assert_eq!(percents, [4, 6, 20, 30, 25, 15]);
    }
}
