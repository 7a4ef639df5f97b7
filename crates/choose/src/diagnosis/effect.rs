//! Effect of other storage latencies on a database's time: reads and log writes change, the rest stays.
//!
//! After Amdahl (1967): only waiting time can be saved. The work is assumed to be constant, although a faster database
//! may receive more of it.

use std::collections::BTreeMap;

use plimsoll_ingest::{Account, Class, SessionTime, WaitCause};

use super::split::{all_s, followers_s, split_commits};

/// Minimum latency of storage on the market, in seconds: a flash read with its path.
pub const FLOOR_S: f64 = 50e-6;

/// Bytes per second of scans that a processor filters, the fastest first. About 200 MB/s for each CPU are Oracle's rule for
/// data warehouses (Database 2 Day + Data Warehousing Guide 11.1, E05764-01, section on CPUs, read in 2026-11). 800 MB/s for
/// each core are those of storage servers that scan flash, 25 GB/s on 32 cores (data sheet of Exadata X8M-2, recalled).
pub const SCAN_RATES: [f64; 2] = [800e6, 200e6];

/// Mean latency in seconds by class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latencies(pub BTreeMap<Class, f64>);

/// A database's time with the present and with other storage.
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseEffect {
    /// Seconds of active sessions.
    pub before_s: f64,
    /// The same with the other storage.
    pub after_s: f64,
    /// Changed parts, by class.
    pub parts: Vec<PartEffect>,
    /// Unchanged classes of waits, for which the other storage's latency is unknown, with their seconds.
    pub retained: Vec<(Class, f64)>,
    /// Work of storage cells today that sessions do on other storage, in addition to `after_s`.
    pub filter: FilterWork,
}

/// Work of storage cells on scans that the processors of the database do on other storage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FilterWork {
    /// There is none.
    None,
    /// Cells perform scans, and the input does not count the bytes that they filter.
    Unknown,
    /// Seconds of processors at [`SCAN_RATES`], the fewest first.
    Seconds([f64; 2]),
}

impl FilterWork {
    /// The work for the smart scans of a database.
    fn of(spent: &SessionTime) -> Self {
        match spent.counters.filtered_bytes {
            Some(bytes) if bytes > 0.0 => Self::Seconds(SCAN_RATES.map(|rate| bytes / rate)),
            None if spent.waits.iter().any(|wait| wait.event.starts_with("cell smart")) => Self::Unknown,
            _ => Self::None,
        }
    }
}

/// The change of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct PartEffect {
    pub class: Class,
    /// Seconds that sessions wait for it.
    pub before_s: f64,
    /// The same with the other storage.
    pub after_s: f64,
    /// Mean latency in seconds, if known.
    pub operation_s: Option<f64>,
    /// Mean latencies in seconds today and with the other storage, of which the change is the ratio; `None` for another rule.
    pub latencies_s: Option<[f64; 2]>,
    /// How the change is derived.
    pub rule: EffectRule,
}

/// The derivation of the change of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectRule {
    /// In the ratio of the latencies of the class.
    Latency,
    /// In the ratio in which the time of the reads with a known latency changes: the remainder of the wait class User I/O
    /// has neither a latency nor a number of waits.
    LikeReads,
    /// In the same ratio: time in no counter of sessions that only read.
    UncountedReads,
}

impl DatabaseEffect {
    /// Seconds of all other time, which does not change: processors, locks, and waits other than for storage.
    pub fn other_s(&self) -> f64 {
        let parts_s = self.parts.iter().map(|part| part.before_s).sum::<f64>();
        let retained_s = self.retained.iter().map(|(_, seconds)| seconds).sum::<f64>();
        (self.before_s - parts_s - retained_s).max(0.0)
    }

    /// Factor by which the same work is faster.
    pub fn speedup(&self) -> f64 {
        self.before_s / self.after_s.max(f64::MIN_POSITIVE)
    }

    /// Saved share of the database's time; negative if it takes longer.
    pub fn saved(&self) -> f64 {
        1.0 - self.after_s / self.before_s
    }

    /// Changes the time in no counter as that of the reads, which take this share of the time with it.
    pub(crate) fn count_as_reads(&mut self, share: f64) {
        let reads = self.parts.iter().filter(|part| is_read(part));
        let [counted_s, after_s] = reads.fold([0.0; 2], |sum, part| [sum[0] + part.before_s, sum[1] + part.after_s]);
        let before_s = share * self.before_s - counted_s;
        if counted_s <= 0.0 || before_s <= 0.0 {
            return;
        }
        let after_s = before_s * after_s / counted_s;
        self.after_s += after_s - before_s;
        let rule = EffectRule::UncountedReads;
        self.parts.push(PartEffect {
            class: Class::Read,
            before_s,
            after_s,
            operation_s: None,
            latencies_s: None,
            rule,
        });
    }

    /// Seconds that the same work takes longer with the least work of filtering; negative if it is faster.
    pub fn added_s(&self) -> f64 {
        let filtering_s = if let FilterWork::Seconds([least_s, _]) = self.filter { least_s } else { 0.0 };
        self.after_s + filtering_s - self.before_s
    }

    /// The saved share if reads without a known latency take as long as today.
    pub fn saved_by_latency(&self) -> f64 {
        let assumed = self.parts.iter().filter(|part| part.rule != EffectRule::Latency);
        self.saved() - assumed.map(|part| part.before_s - part.after_s).sum::<f64>() / self.before_s
    }

    /// The least and the largest saved share: with and without a change of reads whose latency is unknown, and with the
    /// filtering of scans that storage cells do today; `None` if that is unknown.
    pub fn saved_range(&self) -> Option<[f64; 2]> {
        let (all, by_latency) = (self.saved(), self.saved_by_latency());
        let [low_s, high_s] = match self.filter {
            FilterWork::None => [0.0; 2],
            FilterWork::Unknown => return None,
            FilterWork::Seconds(work_s) => work_s,
        };
        Some([all.min(by_latency) - high_s / self.before_s, all.max(by_latency) - low_s / self.before_s])
    }

    /// Shares of the time that the filtering of scans adds, the least first; `None` without filtering, and if it is not counted.
    pub fn filtering_shares(&self) -> Option<[f64; 2]> {
        let FilterWork::Seconds(work_s) = self.filter else { return None };
        Some(work_s.map(|work_s| work_s / self.before_s))
    }

    /// True if the filtering of scans may add more than this share of the time.
    pub fn has_filtering(&self, share: f64) -> bool {
        match self.filter {
            FilterWork::None => false,
            FilterWork::Unknown => true,
            FilterWork::Seconds([_, high_s]) => high_s > share * self.before_s,
        }
    }

    /// The least saved share, as of [`Self::saved_range`].
    pub fn least_saved(&self) -> Option<f64> {
        self.saved_range().map(|[least, _]| least)
    }
}

/// The database's time on storage with these latencies. Each class is scaled by the ratio to its present latency, in
/// `today` or else of the waits; of commits only the log write. Waits of sessions can be shorter than operations, as
/// those of asynchronous reads are; those of asynchronous writes are so much shorter that they are never a latency.
/// Classes that take less than [`FLOOR_S`] today are answered by a cache in memory, which remains. Reads of unknown kind
/// without a latency change as the other reads do. None for a database without time.
pub fn effect(account: &Account, latencies: &Latencies, today: &Latencies) -> Option<DatabaseEffect> {
    let latencies_s = |class, operation_s: Option<f64>| {
        let then = latencies.0.get(&class)?;
        let is_awaited = !matches!(class, Class::DataWrite | Class::TempWrite | Class::BulkWrite | Class::Write);
        let now = today.0.get(&class).copied().or(operation_s.filter(|_| is_awaited))?;
        (now >= FLOOR_S).then_some([now, *then])
    };
    let by_latency = |class, operation_s| latencies_s(class, operation_s).map(|[now, then]| then / now);
    let with_latencies = |mut change: DatabaseEffect| {
        for part in change.parts.iter_mut().filter(|part| part.rule == EffectRule::Latency) {
            part.latencies_s = latencies_s(part.class, part.operation_s);
        }
        change
    };
    let change = DatabaseEffect { filter: FilterWork::of(&account.total), ..scaled(&account.total, 1.0, by_latency)? };
    if !change.retained.iter().any(|(class, _)| *class == Class::Read) {
        return Some(with_latencies(change));
    }
    let reads = change.parts.iter().filter(|part| is_read(part) || part.class == Class::TempRead);
    let (before_s, after_s) = reads.fold((0.0, 0.0), |sum, part| (sum.0 + part.before_s, sum.1 + part.after_s));
    let like_reads = |class| (class == Class::Read && before_s > 0.0).then(|| after_s / before_s);
    let mut change =
        scaled(&account.total, 1.0, |class, operation_s| by_latency(class, operation_s).or_else(|| like_reads(class)))?;
    change.filter = FilterWork::of(&account.total);
    for part in change.parts.iter_mut().filter(|part| part.class == Class::Read) {
        part.rule = EffectRule::LikeReads;
    }
    Some(with_latencies(change))
}

fn is_read(part: &PartEffect) -> bool {
    matches!(part.class, Class::RandomRead | Class::SequentialRead | Class::Read)
}

/// The database's time with zero storage latency: the upper bound for any storage. A commit may wait for the write in
/// progress and then for its own, so two writes count.
pub fn without_storage(account: &Account) -> Option<DatabaseEffect> {
    scaled(&account.total, 2.0, |_, _| Some(0.0))
}

/// The database's time on storage ten times as fast, within the latency floor.
pub(super) fn ten_times(account: &Account) -> Option<DatabaseEffect> {
    const TENTH: f64 = 0.1;
    let ratio = |operation_s: f64| (operation_s * TENTH).max(operation_s.min(FLOOR_S)) / operation_s;
    scaled(&account.total, 1.0, |_, operation_s| Some(operation_s.map_or(TENTH, ratio)))
}

/// Scales the waits of each class by `ratio` of the class and its present latency; of a commit, `writes` log writes are
/// scaled.
fn scaled(
    spent: &SessionTime,
    writes: f64,
    ratio: impl Fn(Class, Option<f64>) -> Option<f64>,
) -> Option<DatabaseEffect> {
    let mut by_class: BTreeMap<Class, f64> = BTreeMap::new();
    for wait in spent.foreground() {
        if let WaitCause::Storage(class) | WaitCause::Behind(class) = wait.cause {
            *by_class.entry(class).or_default() += wait.total_s;
        }
    }
    if let Some(commits) = split_commits(spent) {
        *by_class.entry(Class::RedoWrite).or_default() += commits.total_s * (writes * commits.write_share).min(1.0);
    }
    *by_class.entry(Class::RedoWrite).or_default() += followers_s(spent, writes);
    by_class.retain(|_, seconds| *seconds > 0.0);
    let before_s = all_s(spent)?;
    let (mut parts, mut retained) = (Vec::new(), Vec::new());
    for (class, before_s) in by_class {
        let operation_s = spent.operation_s(class);
        match ratio(class, operation_s).filter(|ratio| ratio.is_finite() && *ratio >= 0.0) {
            Some(ratio) => {
                let (after_s, rule) = (before_s * ratio, EffectRule::Latency);
                parts.push(PartEffect { class, before_s, after_s, operation_s, latencies_s: None, rule });
            }
            None => retained.push((class, before_s)),
        }
    }
    let changed: f64 = parts.iter().map(|part| part.after_s - part.before_s).sum();
    Some(DatabaseEffect { before_s, after_s: (before_s + changed).max(0.0), parts, retained, filter: FilterWork::None })
}
