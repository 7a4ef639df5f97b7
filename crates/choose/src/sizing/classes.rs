//! The load of a window as disjoint classes.
//!
//! Reports have totals, parts of these, and overlapping parts.

use std::collections::BTreeSet;

use plimsoll_ingest::{Class, DatabaseDemand, MIN_STORAGE_READ_S, Measure, Statistic};
use plimsoll_units::Span;

use super::assumption::{Assumption, LoadAssumption};
use super::design::ClassLoad;
use crate::diagnosis::FLOOR_S;

/// Assumed bytes of an operation: single blocks; scans, sorts and copies; the log.
const BLOCK: f64 = 8192.0;
const SCAN: f64 = 131_072.0;
const REDO: f64 = 4096.0;
/// Minimum mean bytes of copies and direct loads, which write up to a megabyte at once.
const BULK: f64 = 131_072.0;
/// Assumed share of reads.
const READS: f64 = 0.7;
/// A remainder below this share of a total is due to rounding.
const ROUNDED: f64 = 0.02;

/// Minimum rate: an operation in eleven days.
const MIN_RATE: f64 = 1e-6;

pub(crate) struct ClassWindows<'a> {
    subject: &'a DatabaseDemand,
    /// Assumptions, in the order of the report.
    assumed: BTreeSet<LoadAssumption>,
    /// Sums over windows of the operations per second of classes with a size, and without.
    operations: [f64; 2],
    /// Classes whose operations are assumed from their bytes.
    in_blocks: Vec<Class>,
}

/// Mean response times of classes.
#[derive(Debug, Default)]
pub(super) struct ClassLatencies {
    /// Those of storage, in the order of [`Class::ALL`].
    pub(super) of_storage: Vec<(Class, Span)>,
    /// Those that are too short for storage.
    pub(super) of_cache: Vec<CachedClass>,
}

impl ClassLatencies {
    /// Classes without response times of storage.
    pub(super) fn always_cached(&self) -> Vec<Class> {
        let is_of_storage = |class: Class| self.of_storage.iter().any(|(own, _)| *own == class);
        self.of_cache.iter().map(|own| own.class).filter(|class| !is_of_storage(*class)).collect()
    }
}

/// A class that a cache in memory answers, at least in some windows.
#[derive(Clone, Copy, Debug)]
pub(super) struct CachedClass {
    pub(super) class: Class,
    /// Mean response time in these windows.
    pub(super) mean: Span,
    /// These windows, and all windows with response times of the class.
    pub(super) windows: [usize; 2],
    /// They determine the load.
    pub(super) is_decisive: bool,
}

impl CachedClass {
    pub(super) const fn assumption(&self) -> Assumption {
        let Self { class, mean, windows, is_decisive } = *self;
        Assumption::AnsweredByCache { class, mean, windows, is_decisive }
    }
}

/// Response times of a class in windows of storage and of a cache in memory.
#[derive(Debug, Default)]
struct ClassTimes {
    of_storage: WeightedTime,
    of_cache: WeightedTime,
    is_decisive: bool,
}

impl ClassTimes {
    fn of_all(&self) -> Option<Span> {
        let [a, b] = [&self.of_storage, &self.of_cache];
        WeightedTime { sum_s: a.sum_s + b.sum_s, weight: a.weight + b.weight, windows: 0 }.mean()
    }
}

#[derive(Debug, Default)]
struct WeightedTime {
    /// Seconds times their weights.
    sum_s: f64,
    weight: f64,
    windows: usize,
}

impl WeightedTime {
    fn add(&mut self, seconds: f64, weight: f64) {
        self.sum_s += seconds * weight;
        self.weight += weight;
        self.windows += 1;
    }

    fn mean(&self) -> Option<Span> {
        (self.weight > 0.0).then(|| Span::from_secs_f64(self.sum_s / self.weight))
    }
}

/// True for reads of files of a database, which a cache in memory may answer.
pub(super) const fn is_read(class: Class) -> bool {
    matches!(class, Class::Read | Class::RandomRead | Class::SequentialRead | Class::TempRead)
}

/// Operations and bytes per second, if known.
#[derive(Clone, Copy, Debug, Default)]
struct ClassRate {
    iops: Option<f64>,
    bytes: Option<f64>,
}

impl<'a> ClassWindows<'a> {
    pub(crate) fn new(subject: &'a DatabaseDemand) -> Self {
        Self { subject, assumed: BTreeSet::new(), operations: [0.0; 2], in_blocks: Vec::new() }
    }

    /// The assumptions about the windows, in the order of the report.
    pub(super) fn assumptions(&self) -> BTreeSet<LoadAssumption> {
        /// Share of the operations without a size that does not decide.
        const FEW: f64 = 0.01;
        let [sized, without] = self.operations;
        let assumption =
            if without < FEW * (sized + without) { LoadAssumption::FewSizes } else { LoadAssumption::Sizes };
        let mut assumed = self.assumed.clone();
        assumed.extend((without > 0.0).then_some(assumption));
        assumed
    }

    /// Derives the operations of these classes from their bytes, in blocks of 8 KiB.
    pub(super) fn assume_blocks(&mut self, classes: &[Class]) {
        self.in_blocks = classes.to_vec();
    }

    fn value(&self, slot: usize, class: Class, measure: Measure, statistic: Statistic) -> Option<f64> {
        let key = (class, measure, statistic);
        let mut series =
            self.subject.series.iter().filter(|series| (series.class, series.measure, series.statistic) == key);
        series.find_map(|series| series.values[slot]).filter(|value| value.is_finite())
    }

    fn rate(&self, slot: usize, class: Class) -> ClassRate {
        let mean = |measure| self.value(slot, class, measure, Statistic::Mean);
        let iops = mean(Measure::Iops);
        let by_size = || Some(iops? * mean(Measure::Size)?);
        let bytes = mean(Measure::Throughput).or_else(by_size);
        let iops = iops.or_else(|| bytes.filter(|_| self.in_blocks.contains(&class)).map(|bytes| bytes / BLOCK));
        ClassRate { iops: iops.filter(|iops| *iops > MIN_RATE), bytes: bytes.filter(|bytes| *bytes > MIN_RATE) }
    }

    /// True if a window's operations are counted, and none took place: of all, or of each direction that the input counts
    /// in any window. A direction without a value in this window is unknown, not zero.
    pub(super) fn is_idle(&self, slot: usize) -> bool {
        const READS: [Class; 5] =
            [Class::Read, Class::RandomRead, Class::SequentialRead, Class::TempRead, Class::BackupRead];
        const WRITES: [Class; 4] = [Class::Write, Class::DataWrite, Class::RedoWrite, Class::TempWrite];
        const OTHERS: [Class; 4] = [Class::All, Class::Archive, Class::Backup, Class::Other];
        let counts = |class: Class| {
            let bytes = Some(Measure::Throughput).filter(|_| self.in_blocks.contains(&class));
            [Some(Measure::Iops), bytes]
                .into_iter()
                .flatten()
                .filter_map(move |measure| self.subject.series(class, measure))
        };
        let values = |classes: &[Class]| {
            classes.iter().copied().flat_map(counts).filter_map(|series| series.values[slot]).collect::<Vec<f64>>()
        };
        let is_counted = |classes: &[Class]| {
            let all: Vec<_> = classes.iter().copied().flat_map(counts).collect();
            let is_in_window = all.iter().any(|series| series.values[slot].is_some());
            is_in_window || all.iter().all(|series| series.values.iter().all(Option::is_none))
        };
        let all = [values(&READS), values(&WRITES), values(&OTHERS)].concat();
        let is_complete = !values(&[Class::All]).is_empty() || (is_counted(&READS) && is_counted(&WRITES));
        !all.is_empty() && is_complete && all.iter().all(|value| *value <= MIN_RATE)
    }

    /// The highest minute within a window: operations and bytes of reads and writes together, if known.
    pub(super) fn maxima(&self, slot: usize) -> (Option<f64>, Option<f64>) {
        let together = |measure| {
            let of = |class| self.value(slot, class, measure, Statistic::Maximum);
            of(Class::All).or_else(|| Some(of(Class::Read)? + of(Class::Write)?))
        };
        (together(Measure::Iops), together(Measure::Throughput))
    }

    /// Mean response times, weighted by operations if known, otherwise by time. A log write includes its flush, which
    /// databases that write to the page cache count separately. Reads of windows in which a cache in memory answered are
    /// separate; `decisive` are the slots that determine the load.
    pub(super) fn latencies(&self, decisive: &[usize]) -> ClassLatencies {
        let all = Class::ALL.map(|class| (class, self.latency(class, decisive)));
        let flush = all.iter().find(|(class, _)| *class == Class::Flush).and_then(|(_, times)| times.of_all());
        let flush = flush.unwrap_or_default();
        let mut found = ClassLatencies::default();
        for (class, times) in all {
            let (of_storage, of_cache) = match (times.of_all(), is_read(class)) {
                (None, _) => continue,
                (_, true) => (times.of_storage.mean(), times.of_cache.mean()),
                (Some(mean), false) => {
                    let mean = if class == Class::RedoWrite { mean + flush } else { mean };
                    let is_storage = mean.as_secs_f64() >= FLOOR_S;
                    (Some(mean).filter(|_| is_storage), Some(mean).filter(|_| !is_storage))
                }
            };
            found.of_storage.extend(of_storage.map(|mean| (class, mean)));
            let [cached, others] = [times.of_cache.windows, times.of_storage.windows];
            found.of_cache.extend(of_cache.map(|mean| CachedClass {
                class,
                mean,
                windows: if is_read(class) { [cached, cached + others] } else { [cached + others; 2] },
                is_decisive: is_read(class) && times.is_decisive,
            }));
        }
        found
    }

    /// The response times of a class.
    fn latency(&self, class: Class, decisive: &[usize]) -> ClassTimes {
        let floor_s = if self.subject.uses_page_cache { MIN_STORAGE_READ_S } else { FLOOR_S };
        let mut times = ClassTimes::default();
        for (slot, at) in self.subject.slots.iter().enumerate() {
            let Some(seconds) = self.subject.latency_s(class, slot).filter(|seconds| *seconds > 0.0) else { continue };
            let iops = self.value(slot, class, Measure::Iops, Statistic::Mean);
            let weight = iops.unwrap_or(1.0) * at.length.as_secs_f64();
            let is_cached = seconds < floor_s;
            let sum = if is_cached { &mut times.of_cache } else { &mut times.of_storage };
            sum.add(seconds, weight);
            times.is_decisive |= is_cached && weight > 0.0 && decisive.contains(&slot);
        }
        // Some inputs have waits for these classes without counting their operations (AWR-Miner).
        let is_specific = matches!(class, Class::RandomRead | Class::RedoWrite)
            && self.subject.series(class, Measure::Latency).is_none();
        let account = self.subject.account.as_ref().filter(|_| is_specific);
        if let (None, Some(seconds)) = (times.of_all(), account.and_then(|account| account.total.operation_s(class))) {
            let sum = if seconds < floor_s { &mut times.of_cache } else { &mut times.of_storage };
            sum.add(seconds, 1.0);
        }
        times
    }

    /// The classes of a window; empty if it has no operations.
    pub(crate) fn classes(&mut self, slot: usize) -> Vec<ClassLoad> {
        let (all, mut read, mut write) =
            (self.rate(slot, Class::All), self.rate(slot, Class::Read), self.rate(slot, Class::Write));
        if let (Some(iops), None, None) = (all.iops, read.iops, write.iops) {
            match (read.bytes, write.bytes) {
                (None, None) => {
                    self.assumed.insert(LoadAssumption::ReadShare);
                    return vec![self.load(Class::All, iops, all.bytes)];
                }
                (reads, writes) => {
                    self.assumed.insert(LoadAssumption::SplitByBytes);
                    let (reads, writes) = (reads.unwrap_or(0.0), writes.unwrap_or(0.0));
                    let share = reads / (reads + writes);
                    read.iops = Some(iops * share).filter(|iops| *iops > MIN_RATE);
                    write.iops = Some(iops * (1.0 - share)).filter(|iops| *iops > MIN_RATE);
                }
            }
        }
        let mut loads = self.direction(slot, Class::Read, read);
        loads.extend(self.direction(slot, Class::Write, write));
        if read.iops.is_none() && write.iops.is_none() {
            // Totals include these classes.
            for class in [Class::Archive, Class::Backup, Class::Other] {
                let rate = self.rate(slot, class);
                loads.extend(rate.iops.map(|iops| self.load(class, iops, rate.bytes)));
            }
        }
        loads
    }

    /// Reads or writes: their parts, and the remainder of the total.
    fn direction(&mut self, slot: usize, entire: Class, total: ClassRate) -> Vec<ClassLoad> {
        let parts: &[Class] = match entire {
            Class::Read => &[Class::RandomRead, Class::SequentialRead, Class::TempRead, Class::BackupRead],
            _ => &[Class::DataWrite, Class::RedoWrite, Class::TempWrite],
        };
        let mut loads: Vec<ClassLoad> = Vec::new();
        for &class in parts {
            let rate = self.rate(slot, class);
            loads.extend(rate.iops.map(|iops| self.load(class, iops, rate.bytes)));
        }
        if let Some(total) = total.iops {
            without_overlap(&mut loads, total);
        }
        let existing = |of: fn(&ClassLoad) -> f64| loads.iter().map(of).sum::<f64>();
        let (iops, bytes) = (existing(|load| load.iops), existing(|load| load.bytes_per_second));
        let Some(total_iops) = total.iops else { return loads };
        let rest = total_iops - iops;
        if loads.is_empty() || rest > ROUNDED * total_iops {
            let rest_bytes = total.bytes.map(|total| total - bytes).filter(|rest| *rest > 0.0);
            let is_bulk = entire == Class::Write
                && loads.iter().any(|load| load.class == Class::RedoWrite)
                && rest_bytes.is_some_and(|bytes| bytes >= BULK * rest);
            let class = if is_bulk { Class::BulkWrite } else { entire };
            loads.push(self.load(class, rest, rest_bytes));
        } else {
            let more = (total_iops / iops).max(1.0);
            let more_bytes = total.bytes.map_or(1.0, |total| (total / bytes).max(1.0));
            for load in &mut loads {
                load.iops *= more;
                load.bytes_per_second *= more_bytes;
            }
        }
        loads
    }

    fn load(&mut self, class: Class, iops: f64, bytes: Option<f64>) -> ClassLoad {
        let size = match class {
            Class::SequentialRead
            | Class::TempRead
            | Class::TempWrite
            | Class::Archive
            | Class::Backup
            | Class::BackupRead
            | Class::BulkWrite => SCAN,
            Class::RedoWrite => REDO,
            _ => BLOCK,
        };
        self.operations[usize::from(bytes.is_none())] += iops;
        let reads = match class {
            Class::Read | Class::RandomRead | Class::SequentialRead | Class::TempRead | Class::BackupRead => 1.0,
            Class::All => READS,
            Class::Archive | Class::Backup | Class::Other => 0.5,
            _ => 0.0,
        };
        ClassLoad {
            class,
            iops,
            bytes_per_second: bytes.unwrap_or(iops * size).max(iops),
            reads,
            sequential: matches!(
                class,
                Class::SequentialRead
                    | Class::TempRead
                    | Class::TempWrite
                    | Class::RedoWrite
                    | Class::Archive
                    | Class::Backup
                    | Class::BackupRead
                    | Class::BulkWrite
            ),
            durable: class == Class::RedoWrite,
        }
    }
}

/// Temporary reads overlap multi-block and single-block reads: an excess of the parts over the total is subtracted from
/// these.
fn without_overlap(loads: &mut Vec<ClassLoad>, total: f64) {
    let sum: f64 = loads.iter().map(|load| load.iops).sum();
    let mut twice = sum - total;
    let Some(temp) = loads.iter().find(|load| load.class == Class::TempRead).copied() else { return };
    if twice <= ROUNDED * total {
        return;
    }
    twice = twice.min(temp.iops);
    let mut twice_bytes = twice * temp.size();
    for class in [Class::SequentialRead, Class::RandomRead] {
        if let Some(load) = loads.iter_mut().find(|load| load.class == class) {
            let off = twice.min(load.iops);
            let left = load.iops - off;
            // The remainder keeps at least half of its mean size, because sizes and counts have separate sources.
            let bytes = (load.bytes_per_second - twice_bytes).max(left * load.size() * 0.5);
            twice_bytes -= load.bytes_per_second - bytes;
            load.bytes_per_second = bytes;
            load.iops = left;
            twice -= off;
        }
    }
    loads.retain(|load| load.iops > MIN_RATE);
}
