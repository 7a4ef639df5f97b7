//! Joining of neighbouring windows, to limit the memory of long inputs.
//!
//! A mean of the longer window is weighted by the lengths of its parts; latency and size are also weighted by
//! operations. The maximum of the parts is kept as [`Statistic::Maximum`].

use std::collections::HashMap;

use jiff::civil::DateTime;
use plimsoll_units::Span;

use crate::reading::{Class, Figure, Measure, ReadingWindow, Statistic};

/// Joins windows to a length of about `target`. Windows are returned in order of time, and figures in order of windows.
pub(crate) fn coarsen(windows: &mut Vec<ReadingWindow>, figures: &mut Vec<Figure>, target: Span) {
    let (group_of, groups) = group(windows, target);
    let old = std::mem::replace(windows, groups);
    let place = |figure: &Figure| (group_of[figure.window as usize], figure.window);
    if !figures.is_sorted_by_key(place) {
        figures.sort_by_key(place);
    }
    let mut sizes = vec![0_u32; windows.len()];
    for group in &group_of {
        sizes[*group as usize] += 1;
    }
    let mut fold = Fold::default();
    // A group never has more figures than its parts, so they are written in place: half of the memory.
    let mut kept = 0;
    for index in 0..figures.len() {
        let figure = &figures[index];
        let group = group_of[figure.window as usize];
        if group != fold.window {
            kept = fold.put(figures, kept);
            fold.window = group;
        }
        if sizes[group as usize] == 1 {
            // A window that is kept, such as a long window among short ones.
            figures.swap(kept, index);
            figures[kept].window = group;
            kept += 1;
            continue;
        }
        let figure = &figures[index];
        fold.take(index, figure, old[figure.window as usize].length.as_secs_f64().max(1e-9));
    }
    kept = fold.put(figures, kept);
    figures.truncate(kept);
}

/// The group of each window, and the resulting windows.
fn group(windows: &[ReadingWindow], target: Span) -> (Vec<u32>, Vec<ReadingWindow>) {
    let mut order: Vec<u32> = (0..windows.len() as u32).collect();
    order.sort_by_key(|number| {
        let window = &windows[*number as usize];
        (window.begin, std::cmp::Reverse(window.begin.map(|_| window.length)))
    });
    let mut group_of = vec![0; windows.len()];
    let mut groups: Vec<ReadingWindow> = Vec::new();
    let mut end: Option<DateTime> = None;
    for number in order {
        let window = windows[number as usize];
        let its_end = window.begin.and_then(|begin| begin.checked_add(signed(window.length)).ok());
        let inside = matches!((window.begin, end), (Some(begin), Some(end)) if begin < end);
        match groups.last_mut().filter(|group| inside || fits(group, &window, target)) {
            Some(group) if inside => {
                if let Some(more) = its_end.filter(|its| Some(*its) > end) {
                    let more = end.map_or(0.0, |end| more.duration_since(end).as_secs_f64());
                    group.length = Span::from_secs_f64(group.length.as_secs_f64() + more);
                }
            }
            Some(group) => {
                group.length = Span::from_nanos(group.length.as_nanos().saturating_add(window.length.as_nanos()));
            }
            None => groups.push(window),
        }
        end = if inside { end.max(its_end) } else { its_end };
        group_of[number as usize] = groups.len() as u32 - 1;
    }
    (group_of, groups)
}

/// Windows with and without a time are never joined, and none exceeds the target length.
fn fits(group: &ReadingWindow, next: &ReadingWindow, target: Span) -> bool {
    let length = group.length.as_secs_f64() + next.length.as_secs_f64();
    group.begin.is_some() == next.begin.is_some() && length <= target.as_secs_f64() * 1.01
}

fn signed(length: Span) -> jiff::SignedDuration {
    jiff::SignedDuration::from_nanos(i64::try_from(length.as_nanos()).unwrap_or(i64::MAX))
}

type CoarseKey = (u32, Class, Measure);

/// The figures of a longer window in progress.
#[derive(Default)]
struct Fold {
    window: u32,
    sums: Vec<WindowSum>,
    by_key: HashMap<CoarseKey, usize>,
    /// Expected index of the next figure: windows of an input are similar.
    next: usize,
    /// The window of the last figure.
    from: Option<u32>,
    /// Operations per second of each class, with their owner.
    rates: [Option<(u32, f64)>; Class::ALL.len()],
    /// Figures to emit, kept to reuse its memory.
    done: Vec<Figure>,
}

struct WindowSum {
    key: CoarseKey,
    /// Index of its first figure.
    first: usize,
    weighed: f64,
    weight: f64,
    means: u32,
    highest: f64,
    has_maximum: bool,
}

impl Fold {
    fn take(&mut self, number: usize, figure: &Figure, seconds: f64) {
        if self.from.replace(figure.window) != Some(figure.window) {
            self.next = 0;
            self.rates = Default::default();
        }
        let weight = self.weight(figure, seconds);
        let key = (figure.scope, figure.class, figure.measure);
        let index = self.index(key);
        if index == self.sums.len() {
            let (weighed, weight, means, highest, has_maximum) = (0.0, 0.0, 0, 0.0, false);
            self.sums.push(WindowSum { key, first: number, weighed, weight, means, highest, has_maximum });
        }
        self.sums[index].add(figure.statistic, figure.value, weight);
    }

    /// The index of the figure's sum, created if necessary.
    fn index(&mut self, key: CoarseKey) -> usize {
        let expected = self.next;
        let is = |sum: &WindowSum| sum.key == key;
        // A maximum follows its mean.
        let index = if self.sums.get(expected).is_some_and(is) {
            expected
        } else if expected > 0 && self.sums.get(expected - 1).is_some_and(is) {
            expected - 1
        } else {
            *self.by_key.entry(key).or_insert(self.sums.len())
        };
        self.next = index + 1;
        index
    }

    /// Weight of a mean: its window's length, times operations for figures per operation. Formats emit rates before
    /// latencies; otherwise only the length counts.
    fn weight(&mut self, figure: &Figure, seconds: f64) -> f64 {
        let rate = &mut self.rates[figure.class as usize];
        match figure.measure {
            Measure::Iops if figure.statistic == Statistic::Mean => {
                *rate = Some((figure.scope, figure.value));
                seconds
            }
            Measure::Latency | Measure::Size => {
                let known = rate.filter(|(scope, _)| *scope == figure.scope);
                seconds * known.map_or(1.0, |(_, iops)| iops.max(1e-9))
            }
            _ => seconds,
        }
    }

    /// Appends the window's figures to those kept, begins the next window, and returns the number kept.
    fn put(&mut self, figures: &mut [Figure], mut kept: usize) -> usize {
        for sum in self.sums.drain(..) {
            sum.put(&figures[sum.first], self.window, &mut self.done);
        }
        for figure in self.done.drain(..) {
            figures[kept] = figure;
            kept += 1;
        }
        self.by_key.clear();
        self.from = None;
        kept
    }
}

impl WindowSum {
    fn add(&mut self, statistic: Statistic, value: f64, weight: f64) {
        if statistic == Statistic::Maximum {
            self.has_maximum = true;
        } else {
            self.weighed += value * weight;
            self.weight += weight;
            self.means += 1;
        }
        self.highest = self.highest.max(value);
    }

    fn put(&self, first: &Figure, window: u32, done: &mut Vec<Figure>) {
        let speaks = matches!(first.measure, Measure::Iops | Measure::Throughput | Measure::Latency | Measure::Depth);
        let figure = |statistic, value| Figure { window, statistic, value, ..first.clone() };
        if self.means > 0 {
            // A single mean stays bit-identical.
            let alone = self.means == 1 && first.statistic == Statistic::Mean;
            done.push(figure(Statistic::Mean, if alone { first.value } else { self.weighed / self.weight }));
        }
        if self.has_maximum || (self.means > 1 && speaks) {
            done.push(figure(Statistic::Maximum, self.highest));
        }
    }
}
