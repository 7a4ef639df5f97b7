//! Counting of a trace's load: by window, by volume, and as a working set.

use plimsoll_record::Action;

use super::misses::{Misses, PAGE};
use crate::builder::Builder;
use crate::dialect::{Mark, Sink, TraceRecord, TraceVolume, Volumes};
use crate::reading::Doubt;

/// A later record by more than this has a damaged time.
const MAX_GAP_NS: u64 = 400 * 86_400 * 1_000_000_000;

/// Counts operations.
#[derive(Default)]
pub(super) struct OpCounter {
    pub(super) volumes: Volumes,
    pub(super) by_volume: Vec<OfVolume>,
    pub(super) windows: Windows,
    pub(super) misses: Misses,
    /// The first unreadable records, and their total number.
    pub(super) broken: Vec<(u64, Doubt)>,
    pub(super) broken_count: u64,
    pub(super) operations: u64,
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    /// The largest step back in time, and the place of the first.
    pub(super) back: Option<Back>,
    /// True when records have times.
    pub(super) timed: bool,
}

#[derive(Default)]
pub(super) struct OfVolume {
    pub(super) counts: SortCounts,
    streams: RunEnds,
}

/// Decreasing times.
#[derive(Clone, Copy)]
pub(super) struct Back {
    pub(super) number: u64,
    pub(super) max_ns: u64,
}

/// In the order of their numbers.
const SORTS: [Sort; Sort::COUNT] =
    [Sort::RandomRead, Sort::SequentialRead, Sort::Write, Sort::Flush, Sort::Discard, Sort::Unknown];

impl OpCounter {
    /// False for an implausible time.
    fn time(&mut self, number: u64, at_ns: u64) -> bool {
        if !self.timed {
            (self.timed, self.first_ns, self.last_ns) = (true, at_ns, at_ns);
        }
        if at_ns > self.last_ns.saturating_add(MAX_GAP_NS) || self.first_ns > at_ns.saturating_add(MAX_GAP_NS) {
            return false;
        }
        if at_ns < self.last_ns {
            let back = self.back.get_or_insert(Back { number, max_ns: 0 });
            back.max_ns = back.max_ns.max(self.last_ns - at_ns);
        }
        self.first_ns = self.first_ns.min(at_ns);
        self.last_ns = self.last_ns.max(at_ns);
        true
    }
}

impl OfVolume {
    fn sort(&mut self, record: &TraceRecord) -> Sort {
        match record.action {
            Some(Action::Read) if self.streams.follows(record.place, record.length.unwrap_or(0)) => {
                Sort::SequentialRead
            }
            Some(Action::Read) => Sort::RandomRead,
            Some(Action::Write | Action::DurableWrite) => Sort::Write,
            Some(Action::Flush) => Sort::Flush,
            Some(Action::Trim) => Sort::Discard,
            None => Sort::Unknown,
        }
    }
}

impl Sink for OpCounter {
    fn volume(&mut self, name: &[u8]) -> TraceVolume {
        self.volumes.number(name)
    }

    fn operation(&mut self, record: &TraceRecord) -> Mark {
        let at_ns = record.at_ns.unwrap_or(0);
        if record.at_ns.is_some() && !self.time(record.number, at_ns) {
            self.broken(record.number, &Doubt::DistantTime);
            return Mark { at_ns: 0, class: u8::MAX };
        }
        self.operations += 1;
        let volume = record.volume as usize;
        if volume >= self.by_volume.len() {
            self.by_volume.resize_with(volume + 1, OfVolume::default);
        }
        let of = &mut self.by_volume[volume];
        let (sort, bytes) = (of.sort(record), record.length.unwrap_or(0));
        of.counts[sort as usize].operations += 1;
        of.counts[sort as usize].bytes = of.counts[sort as usize].bytes.saturating_add(bytes);
        match sort {
            Sort::RandomRead | Sort::SequentialRead => self.misses.operation(record.volume, record.place, bytes, true),
            Sort::Write => self.misses.operation(record.volume, record.place, bytes, false),
            Sort::Unknown => self.misses.object(record.place, record.length.unwrap_or(PAGE)),
            Sort::Flush | Sort::Discard => {}
        }
        if record.at_ns.is_some() {
            self.windows.count(at_ns, sort, record.number, bytes);
        }
        let mark = Mark { at_ns, class: sort as u8 };
        if let Some(took_ns) = record.took_ns.filter(|_| record.at_ns.is_some()) {
            self.answered(mark, took_ns);
        }
        mark
    }

    fn answered(&mut self, mark: Mark, took_ns: u64) {
        if let Some(sort) = SORTS.get(usize::from(mark.class)) {
            self.windows.answer(mark.at_ns, *sort, took_ns);
        }
    }

    fn broken(&mut self, number: u64, doubt: &Doubt) {
        self.broken_count += 1;
        if self.broken.len() < Builder::MAX_CAUTIONS {
            self.broken.push((number, doubt.clone()));
        }
    }
}

/// The kind of an operation, as far as a trace contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    RandomRead,
    SequentialRead,
    Write,
    Flush,
    Discard,
    Unknown,
}

impl Sort {
    pub(super) const COUNT: usize = 6;
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SortCount {
    pub(super) operations: u64,
    /// Bytes transferred or discarded.
    pub(super) bytes: u64,
    /// Operations with a known time.
    pub(super) answered: u64,
    /// Sum of their times.
    pub(super) took_ns: u64,
}

impl SortCount {
    pub(super) fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.answered += other.answered;
        self.took_ns = self.took_ns.saturating_add(other.took_ns);
    }
}

/// Operations of every sort, in the order of [`Sort`].
pub(super) type SortCounts = [SortCount; Sort::COUNT];

/// The maximum of a second: of all operations, of reads, of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Peak {
    pub(super) operations: u64,
    pub(super) bytes: u64,
}

impl Peak {
    fn or_more(&mut self, other: &Self) {
        self.operations = self.operations.max(other.operations);
        self.bytes = self.bytes.max(other.bytes);
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TallyWindow {
    pub(super) counts: SortCounts,
    pub(super) peaks: [Peak; 3],
    /// The first record in it; zero if it is empty.
    pub(super) first: u64,
}

impl TallyWindow {
    pub(super) fn merge(&mut self, other: &Self) {
        for (count, other) in self.counts.iter_mut().zip(&other.counts) {
            count.add(other);
        }
        for (peak, other) in self.peaks.iter_mut().zip(&other.peaks) {
            peak.or_more(other);
        }
        if self.first == 0 {
            self.first = other.first;
        }
    }
}

pub(super) const SECOND: u64 = 1_000_000_000;

/// Widths of windows in seconds, each a multiple of the preceding one; then doubling.
const WIDTHS: [u64; 11] = [1, 5, 10, 30, 60, 300, 600, 1_800, 3_600, 21_600, 86_400];

/// All windows of a trace.
#[derive(Debug, Default)]
pub(super) struct Windows {
    cells: Vec<TallyWindow>,
    /// The begin of the first window, by the clock of the trace.
    origin_ns: u64,
    /// Number of times that windows were widened.
    step: usize,
    width_ns: u64,
    /// The last second with operations: its begin and counts.
    second: (u64, [Peak; 3]),
    /// The last accessed window, with its begin.
    last: (u64, usize),
}

impl Windows {
    /// Maximum number of windows.
    pub(super) const MAX: usize = 10_000;

    pub(super) fn count(&mut self, at_ns: u64, sort: Sort, number: u64, bytes: u64) {
        let index = self.index(at_ns);
        let cell = &mut self.cells[index];
        if cell.first == 0 {
            cell.first = number;
        }
        let count = &mut cell.counts[sort as usize];
        count.operations += 1;
        count.bytes = count.bytes.saturating_add(bytes);
        self.peak(at_ns, sort, bytes);
    }

    pub(super) fn answer(&mut self, at_ns: u64, sort: Sort, took_ns: u64) {
        let index = self.index(at_ns);
        let count = &mut self.cells[index].counts[sort as usize];
        count.answered += 1;
        count.took_ns = count.took_ns.saturating_add(took_ns);
    }

    /// The begin of the first window, the length of windows, and their counts.
    pub(super) fn finish(mut self) -> (u64, u64, Vec<TallyWindow>) {
        self.end_second();
        (self.origin_ns, self.width_ns, self.cells)
    }

    /// The index of the window at a time, created if necessary.
    fn index(&mut self, at_ns: u64) -> usize {
        if self.cells.is_empty() {
            (self.origin_ns, self.width_ns, self.second.0, self.last) = (at_ns, SECOND, at_ns, (at_ns, 0));
            self.cells.push(TallyWindow::default());
        }
        if at_ns.wrapping_sub(self.last.0) < self.width_ns {
            return self.last.1;
        }
        if at_ns < self.origin_ns {
            self.begin_earlier(at_ns);
        }
        let mut index = (at_ns - self.origin_ns) / self.width_ns;
        while index >= Self::MAX as u64 {
            self.lengthen();
            index = (at_ns - self.origin_ns) / self.width_ns;
        }
        let index = index as usize;
        if index >= self.cells.len() {
            self.cells.resize(index + 1, TallyWindow::default());
        }
        self.last = (self.origin_ns + index as u64 * self.width_ns, index);
        index
    }

    fn begin_earlier(&mut self, at_ns: u64) {
        let missing = |windows: &Self| (windows.origin_ns - at_ns).div_ceil(windows.width_ns);
        while missing(self) + self.cells.len() as u64 > Self::MAX as u64 {
            self.lengthen();
        }
        let more = missing(self);
        // The first window is shortened at the clock's origin.
        self.origin_ns = self.origin_ns.saturating_sub(more * self.width_ns);
        self.cells.splice(0..0, std::iter::repeat_n(TallyWindow::default(), more as usize));
    }

    fn lengthen(&mut self) {
        self.end_second();
        let factor = match WIDTHS.get(self.step..self.step + 2) {
            Some([now, next]) => next / now,
            _ => 2,
        };
        self.step += 1;
        self.width_ns = self.width_ns.saturating_mul(factor);
        let merged = |cells: &[TallyWindow]| {
            let mut total = TallyWindow::default();
            for cell in cells {
                total.merge(cell);
            }
            total
        };
        self.cells = self.cells.chunks(factor as usize).map(merged).collect();
    }

    fn peak(&mut self, at_ns: u64, sort: Sort, bytes: u64) {
        if at_ns.wrapping_sub(self.second.0) >= SECOND {
            self.end_second();
            // Seconds are aligned with the origin, so that each lies within a window.
            self.second = (at_ns - (at_ns - self.origin_ns) % SECOND, [Peak::default(); 3]);
        }
        let moved = if sort == Sort::Discard { 0 } else { bytes };
        let part = match sort {
            Sort::RandomRead | Sort::SequentialRead => Some(1),
            Sort::Write => Some(2),
            Sort::Flush | Sort::Discard | Sort::Unknown => None,
        };
        for peak in [Some(0), part].into_iter().flatten() {
            self.second.1[peak].operations += 1;
            self.second.1[peak].bytes = self.second.1[peak].bytes.saturating_add(moved);
        }
    }

    /// Records the counts of the last second if they are the maximum of its window.
    fn end_second(&mut self) {
        let (begin, peaks) = self.second;
        let index = begin.saturating_sub(self.origin_ns).checked_div(self.width_ns).unwrap_or(0) as usize;
        if let Some(cell) = self.cells.get_mut(index) {
            for (retained, peak) in cell.peaks.iter_mut().zip(&peaks) {
                retained.or_more(peak);
            }
        }
    }
}

/// Maximum sequential runs tracked concurrently.
const RUNS: usize = 32;

#[derive(Clone, Debug)]
struct RunEnds {
    ends: [u64; RUNS],
    used: [u32; RUNS],
    clock: u32,
}

impl Default for RunEnds {
    fn default() -> Self {
        Self { ends: [u64::MAX; RUNS], used: [0; RUNS], clock: 0 }
    }
}

impl RunEnds {
    /// Adds a read. True if it begins at the end of another.
    fn follows(&mut self, place: u64, length: u64) -> bool {
        // The counter wraps after four billion reads, which resets the order of runs once.
        self.clock = self.clock.wrapping_add(1);
        let found = self.ends.iter().position(|end| *end == place);
        let oldest = || (0..RUNS).min_by_key(|run| self.used[*run]).unwrap_or(0);
        let run = found.unwrap_or_else(oldest);
        self.ends[run] = place.saturating_add(length);
        self.used[run] = self.clock;
        found.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::{RUNS, RunEnds, SECOND, Sort, Windows};

    /// Width of windows in seconds, and operations of each window.
    fn check(seconds: &[u64]) -> (u64, u64, Vec<u64>, u64) {
        let mut windows = Windows::default();
        for (number, second) in (1..).zip(seconds) {
            windows.count(second * SECOND, Sort::Write, number, 10);
        }
        let (origin, width, cells) = windows.finish();
        let peak = cells.iter().map(|cell| cell.peaks[2].operations).max();
        let counts = cells.iter().map(|cell| cell.counts[Sort::Write as usize].operations).collect();
        (origin / SECOND, width / SECOND, counts, peak.unwrap_or(0))
    }

    #[test]
    fn windows_are_widened_without_loss() {
        assert_eq!(check(&[7, 7, 9]), (7, 1, vec![2, 0, 1], 2));
        assert_eq!(check(&[9, 7, 8, 7]), (7, 1, vec![2, 1, 1], 1), "repeated seconds are not merged");
        let (origin, width, counts, peak) = check(&[0, 1, 1, 9_999, 10_000, 200_000]);
        assert_eq!((origin, width, counts.len(), peak), (0, 30, 6_667, 2));
        assert_eq!((counts[0], counts[333], counts[6_666], counts.iter().sum::<u64>()), (3, 2, 1, 6));
        let (_, width, counts, _) = check(&[1 << 33, 0, 1 << 33]);
        assert!(width > 86_400 && counts.len() <= Windows::MAX, "{width} {}", counts.len());
        assert_eq!(counts.iter().sum::<u64>(), 3);
    }

    #[test]
    fn concurrent_runs_are_tracked() {
        let mut streams = RunEnds::default();
        let count = |streams: &mut RunEnds, runs: u64| {
            let reads = (0..10).flat_map(|step| (0..runs).map(move |run| (run << 32) + step * 4096));
            reads.filter(|place| streams.follows(*place, 4096)).count()
        };
        assert_eq!(count(&mut streams, RUNS as u64), 9 * RUNS, "all but the first read of each run");
        assert_eq!(count(&mut RunEnds::default(), RUNS as u64 + 1), 0, "more runs than the maximum");
        assert!(!RunEnds::default().follows(0, 4096));
    }
}
