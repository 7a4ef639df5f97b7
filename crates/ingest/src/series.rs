//! Points of many series as windows: exports of clouds and monitors have one series for each volume and metric.
//!
//! Knows no format: each hands over points in any order, with the length of a window and the end that a moment names.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use jiff::civil::DateTime;
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::reading::{Class, Figure, Measure, Origin, Statistic, Window};
use crate::snapshot::{Counted, Risen};

/// The relation of a point to its window.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    /// So much was counted in it.
    Sum(Counted),
    /// So much was counted in each second of it.
    Rate(Counted),
    /// A mean or a maximum that needs no division.
    Figure(Class, Measure, Statistic),
}

/// Which end of its window a moment names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    Begin,
    End,
}

/// Points by moment, so that windows come in the order of time, and each once for all series.
#[derive(Debug, Default)]
pub(crate) struct Points {
    by_moment: BTreeMap<DateTime, Vec<Point>>,
}

#[derive(Debug)]
struct Point {
    scope: u32,
    said: Said,
    value: f64,
    origin: Origin,
}

impl Points {
    /// Adds a point.
    pub(crate) fn add(&mut self, at: DateTime, scope: u32, said: Said, value: f64, origin: Origin) {
        self.by_moment.entry(at).or_default().push(Point { scope, said, value, origin });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_moment.is_empty()
    }

    /// Hands over all of them. How many points there were.
    pub(crate) fn put(self, length: Span, edge: Edge, out: &mut Builder) -> u32 {
        let (mut count, before) = (0, SignedDuration::try_from_secs_f64(length.as_secs_f64()).ok());
        for (at, mut points) in self.by_moment {
            let begin = match edge {
                Edge::Begin => Some(at),
                Edge::End => before.and_then(|before| at.checked_sub(before).ok()),
            };
            let window = out.window(Window { begin, length });
            count += points.len() as u32;
            points.sort_by_key(|point| point.scope);
            for of_scope in points.chunk_by(|one, other| one.scope == other.scope) {
                put_scope(of_scope, window, length.as_secs_f64(), out);
            }
        }
        count
    }
}

/// The points of one scope in one window.
fn put_scope(points: &[Point], window: u32, seconds: f64, out: &mut Builder) {
    let mut counts: Vec<(&Counted, f64, &Origin)> = Vec::new();
    for Point { scope, said, value, origin } in points {
        let (counted, sum) = match said {
            Said::Sum(counted) => (counted, *value),
            Said::Rate(counted) => (counted, value * seconds),
            Said::Figure(class, measure, statistic) => {
                let (class, measure, statistic) = (*class, *measure, *statistic);
                let (scope, value, origin) = (*scope, *value, origin.clone());
                out.figure(Figure { scope, window, class, measure, statistic, value, origin });
                continue;
            }
        };
        // The same metric twice, as two exports may have it: once is enough.
        if counts.iter().all(|(other, ..)| *other != counted) {
            counts.push((counted, sum, origin));
        }
    }
    if let (Some(first), false) = (points.first(), counts.is_empty()) {
        Risen { counts: &counts, seconds, at: (first.scope, window) }.put(&first.origin, out);
    }
}

/// How far apart the moments of series are: the smallest distance, in seconds, that two neighbours have.
#[derive(Debug, Default)]
pub(crate) struct Spacing {
    smallest: Option<f64>,
}

impl Spacing {
    /// Takes the moments of one series, in any order.
    pub(crate) fn learn(&mut self, moments: impl IntoIterator<Item = DateTime>) {
        let mut moments: Vec<DateTime> = moments.into_iter().collect();
        moments.sort_unstable();
        let gaps = moments.windows(2).map(|pair| pair[1].duration_since(pair[0]).as_secs_f64());
        self.smallest = gaps.filter(|gap| *gap > 0.0).chain(self.smallest).min_by(f64::total_cmp);
    }

    /// The length of a window: from the caller, else the smallest distance; none without either.
    pub(crate) fn length(&self, said: Option<Span>) -> Option<Span> {
        said.or_else(|| self.smallest.map(Span::from_secs_f64)).filter(|length| !length.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use plimsoll_units::Span;

    use super::{Edge, Points, Said, Spacing};
    use crate::builder::Builder;
    use crate::reading::{Class, Measure, Origin, Scope, Statistic};
    use crate::snapshot::Counted;

    fn check(points: &[(i8, u32, Said, f64)], edge: Edge, expected: &[(i8, u32, Measure, f64)]) {
        let at = |minute| date(2026, 3, 2).at(9, minute, 0, 0);
        let (mut all, mut spacing) = (Points::default(), Spacing::default());
        spacing.learn(points.iter().map(|(minute, ..)| at(*minute)));
        for (minute, scope, said, value) in points {
            all.add(at(*minute), *scope, said.clone(), *value, Origin::line(1));
        }
        let mut out = Builder::test();
        for part in ["a", "b"] {
            out.scope(Scope { part: part.to_owned(), ..Scope::default() });
        }
        assert_eq!(all.put(spacing.length(None).unwrap(), edge, &mut out), points.len() as u32);
        let reading = out.finish().unwrap();
        let minute = |window: u32| reading.windows[window as usize].begin.unwrap().minute();
        let figures = reading.figures.iter();
        let found: Vec<_> = figures.map(|f| (minute(f.window), f.scope, f.measure, f.value)).collect();
        assert_eq!(found, expected);
        assert!(reading.windows.iter().all(|window| window.length == Span::from_secs(300)));
    }

    #[test]
    fn windows_come_in_the_order_of_time() {
        let reads = || Said::Sum(Counted::Operations(Class::Read));
        let points = [(10, 0, reads(), 600.0), (5, 1, reads(), 300.0), (5, 0, reads(), 900.0), (5, 0, reads(), 900.0)];
        let iops = Measure::Iops;
        check(&points, Edge::Begin, &[(5, 0, iops, 3.0), (5, 1, iops, 1.0), (10, 0, iops, 2.0)]);
        check(&points[..2], Edge::End, &[(0, 1, iops, 1.0), (5, 0, iops, 2.0)]);
    }

    #[test]
    fn sums_and_rates_together_give_sizes_and_latencies() {
        let points = [
            (5, 0, Said::Rate(Counted::Operations(Class::Read)), 2.0),
            (5, 0, Said::Sum(Counted::Bytes(Class::Read)), 600.0 * 8_192.0),
            (5, 0, Said::Sum(Counted::OperationSeconds(Class::Read)), 0.6),
            (10, 0, Said::Figure(Class::All, Measure::Depth, Statistic::Mean), 4.0),
        ];
        let expected = [
            (5, 0, Measure::Iops, 2.0),
            (5, 0, Measure::Throughput, 16_384.0),
            (5, 0, Measure::Size, 8_192.0),
            (5, 0, Measure::Latency, 0.001),
            (10, 0, Measure::Depth, 4.0),
        ];
        check(&points, Edge::Begin, &expected);
    }
}
