//! Joining of neighbouring windows, to limit the memory of long inputs.
//!
//! The busiest windows stay as they are: highest rates, and the waits for any limit that these windows exceed, are those
//! of the input. A mean of the longer window is weighted by the lengths of its parts; latency and size are also weighted
//! by operations. The maximum of latencies and depths is kept as [`Statistic::Maximum`], as that of rates where windows
//! overlap.

use std::collections::{BTreeMap, HashMap};

use jiff::civil::DateTime;
use plimsoll_units::Span;

use crate::reading::{Class, Figure, JoinedWindow, Measure, ReadingWindow, Statistic};

/// Parameters of a joining.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coarsening {
    /// The length of joined windows.
    pub(crate) target: Span,
    /// Number of windows that stay as they are: those with the most operations, and with the most bytes.
    pub(crate) busiest: usize,
}

type JoinedWindows = BTreeMap<u32, JoinedWindow>;

/// Joins windows. They are returned in order of time, and figures in order of windows; the result is the new number of
/// each window.
pub(crate) fn coarsen(
    windows: &mut Vec<ReadingWindow>,
    figures: &mut Vec<Figure>,
    joined: &mut JoinedWindows,
    how: Coarsening,
) -> Vec<u32> {
    let busiest = find_busiest(windows.len(), figures, joined, how.busiest);
    let WindowGroups { of: group_of, windows: groups, overlap } = group_windows(windows, &busiest, how.target);
    let old = std::mem::replace(windows, groups);
    let place = |figure: &Figure| (group_of[figure.window as usize], figure.window);
    if !figures.is_sorted_by_key(place) {
        figures.sort_by_key(place);
    }
    let mut sizes = vec![0_u32; windows.len()];
    for group in &group_of {
        sizes[*group as usize] += 1;
    }
    *joined = joined_windows(&old, joined, &group_of, &sizes);
    let mut fold = Fold::default();
    // A group never has more figures than its parts, so they are written in place: half of the memory.
    let mut retained = 0;
    for index in 0..figures.len() {
        let figure = &figures[index];
        let group = group_of[figure.window as usize];
        if group != fold.window {
            retained = fold.put(figures, retained);
            fold.window = group;
            fold.overlaps = overlap[group as usize];
        }
        if sizes[group as usize] == 1 {
            // A window that is kept, such as a long window among short ones.
            if retained < index {
                figures.swap(retained, index);
            }
            figures[retained].window = group;
            retained += 1;
            continue;
        }
        let figure = &figures[index];
        fold.take(index, figure, old[figure.window as usize].length.as_secs_f64().max(1e-9));
    }
    retained = fold.put(figures, retained);
    figures.truncate(retained);
    group_of
}

fn joined_windows(old: &[ReadingWindow], before: &JoinedWindows, group_of: &[u32], sizes: &[u32]) -> JoinedWindows {
    let mut joined = JoinedWindows::new();
    for (number, group) in (0..).zip(group_of) {
        let before = before.get(&number).copied();
        if sizes[*group as usize] > 1 || before.is_some() {
            let part = before.unwrap_or(JoinedWindow { longest: old[number as usize].length, count: 1 });
            let all = joined.entry(*group).or_default();
            *all = JoinedWindow { longest: all.longest.max(part.longest), count: all.count.saturating_add(part.count) };
        }
    }
    joined
}

/// The busiest windows that were not joined yet: half by operations, half by bytes.
fn find_busiest(windows: usize, figures: &[Figure], joined: &JoinedWindows, count: usize) -> Vec<bool> {
    let mut rates = vec![[WindowRate::default(); 2]; windows];
    for figure in figures.iter().filter(|figure| figure.statistic == Statistic::Mean) {
        let measure = match figure.measure {
            Measure::Iops => 0,
            Measure::Throughput => 1,
            _ => continue,
        };
        rates[figure.window as usize][measure].add(figure);
    }
    let mut busiest = vec![false; windows];
    let mut order: Vec<(f64, u32)> = Vec::with_capacity(windows);
    for measure in 0..2 {
        let all = (0..).zip(&rates).map(|(number, rates)| (rates[measure].total(), number));
        order.clear();
        order.extend(all.filter(|(rate, number)| *rate > 0.0 && !joined.contains_key(number)));
        let max = (count / 2).min(order.len());
        if max < order.len() {
            // Among equal rates the first ones, which stayed before, too.
            order.select_nth_unstable_by(max, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        }
        for (_, number) in &order[..max] {
            busiest[*number as usize] = true;
        }
    }
    busiest
}

/// A rate of a window over all scopes: totals of all operations, of reads and writes, and of their parts.
#[derive(Clone, Copy, Default)]
struct WindowRate([f32; 3]);

impl WindowRate {
    fn add(&mut self, figure: &Figure) {
        let sum = match figure.class {
            Class::All => 0,
            Class::Read | Class::Write => 1,
            Class::Flush | Class::Discard => return,
            _ => 2,
        };
        self.0[sum] += figure.value as f32;
    }

    fn total(self) -> f64 {
        f64::from(self.0.into_iter().fold(0.0, f32::max))
    }
}

#[derive(Default)]
struct WindowGroups {
    /// The group of each window.
    of: Vec<u32>,
    windows: Vec<ReadingWindow>,
    /// Groups with windows that overlap others of them.
    overlap: Vec<bool>,
}

/// Groups windows up to the target length; a window that is `alone` is joined only with windows inside it.
fn group_windows(windows: &[ReadingWindow], alone: &[bool], target: Span) -> WindowGroups {
    let mut order: Vec<u32> = (0..windows.len() as u32).collect();
    order.sort_by_key(|number| {
        let window = &windows[*number as usize];
        (window.begin, std::cmp::Reverse(window.begin.map(|_| window.length)))
    });
    let mut groups = WindowGroups { of: vec![0; windows.len()], ..WindowGroups::default() };
    let mut end: Option<DateTime> = None;
    let mut is_last_alone = false;
    for number in order {
        let window = windows[number as usize];
        let its_end = window.begin.and_then(|begin| begin.checked_add(signed(window.length)).ok());
        let inside = matches!((window.begin, end), (Some(begin), Some(end)) if begin < end);
        let is_alone = alone[number as usize];
        let may_join =
            |group: &&mut ReadingWindow| inside || (!is_last_alone && !is_alone && fits(group, &window, target));
        match groups.windows.last_mut().filter(may_join) {
            Some(group) if inside => {
                if let Some(more) = its_end.filter(|its| Some(*its) > end) {
                    let more = end.map_or(0.0, |end| more.duration_since(end).as_secs_f64());
                    group.length = Span::from_secs_f64(group.length.as_secs_f64() + more);
                }
                if let Some(overlaps) = groups.overlap.last_mut() {
                    *overlaps = true;
                }
            }
            Some(group) => {
                group.length = Span::from_nanos(group.length.as_nanos().saturating_add(window.length.as_nanos()));
            }
            None => {
                groups.windows.push(window);
                groups.overlap.push(false);
                is_last_alone = is_alone;
            }
        }
        end = if inside { end.max(its_end) } else { its_end };
        groups.of[number as usize] = groups.windows.len() as u32 - 1;
    }
    groups
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
    overlaps: bool,
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
                let existing = rate.filter(|(scope, _)| *scope == figure.scope);
                seconds * existing.map_or(1.0, |(_, iops)| iops.max(1e-9))
            }
            _ => seconds,
        }
    }

    /// Appends the window's figures to those kept, begins the next window, and returns the number kept.
    fn put(&mut self, figures: &mut [Figure], mut retained: usize) -> usize {
        for sum in self.sums.drain(..) {
            sum.put(&figures[sum.first], (self.window, self.overlaps), &mut self.done);
        }
        for figure in self.done.drain(..) {
            figures[retained] = figure;
            retained += 1;
        }
        self.by_key.clear();
        self.from = None;
        retained
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

    fn put(&self, first: &Figure, (window, overlaps): (u32, bool), done: &mut Vec<Figure>) {
        let speaks = match first.measure {
            Measure::Latency | Measure::Depth => true,
            Measure::Iops | Measure::Throughput => overlaps,
            Measure::Size | Measure::Busy => false,
        };
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
