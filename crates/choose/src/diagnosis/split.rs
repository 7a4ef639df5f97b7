//! A database's time, divided by activity and wait.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_ingest::{Class, EventTime, HostWaiting, InputPosition, SessionTime, WaitCause, is_user_io_remainder};

/// A part of the database's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimePart {
    Processor,
    /// Reads of single blocks.
    RandomRead,
    /// Reads of many blocks at once.
    SequentialRead,
    /// Reads of unknown kind.
    Read,
    /// The remainder of the wait class User I/O, outside of its listed events.
    OtherUserIo,
    /// Log writes of commits, and other waits for the log.
    LogWrite,
    /// The rest of the commit waits: processors, commit order, a standby.
    CommitRest,
    /// Sorts and hashes that exceed memory.
    Temp,
    /// Writes in the foreground, control files, backups.
    OtherStorage,
    /// Switches of the log file, by its size and by archiving.
    LogSwitch,
    /// Locks of other transactions.
    Lock,
    /// Contention on structures in memory.
    Concurrency,
    /// Other instances of a cluster.
    Cluster,
    /// Clients, other databases, a standby.
    Network,
    /// Throttling by the database's own resource manager.
    Managed,
    OtherWaits,
    /// Time in no counter: usually queueing for a processor; all of the processor time if that is unknown.
    Unaccounted,
}

impl TimePart {
    /// All parts, in display order.
    pub const ALL: [Self; 17] = [
        Self::Processor,
        Self::RandomRead,
        Self::SequentialRead,
        Self::Read,
        Self::OtherUserIo,
        Self::LogWrite,
        Self::CommitRest,
        Self::Temp,
        Self::OtherStorage,
        Self::LogSwitch,
        Self::Lock,
        Self::Concurrency,
        Self::Cluster,
        Self::Network,
        Self::Managed,
        Self::OtherWaits,
        Self::Unaccounted,
    ];

    /// True for parts that faster storage makes shorter.
    pub const fn is_storage(self) -> bool {
        matches!(
            self,
            Self::RandomRead
                | Self::SequentialRead
                | Self::Read
                | Self::OtherUserIo
                | Self::LogWrite
                | Self::Temp
                | Self::OtherStorage
        )
    }

    /// The part of a wait; none for commits, which are divided.
    fn of(event: &EventTime) -> Option<Self> {
        Some(match event.cause {
            WaitCause::Storage(Class::Read) if is_user_io_remainder(&event.event) => Self::OtherUserIo,
            WaitCause::Storage(class) | WaitCause::Behind(class) => match class {
                Class::RandomRead => Self::RandomRead,
                Class::SequentialRead => Self::SequentialRead,
                Class::Read => Self::Read,
                Class::RedoWrite => Self::LogWrite,
                Class::TempRead | Class::TempWrite => Self::Temp,
                _ => Self::OtherStorage,
            },
            WaitCause::Processor => Self::Managed,
            WaitCause::LogSwitch => Self::LogSwitch,
            WaitCause::Lock => Self::Lock,
            WaitCause::Concurrency => Self::Concurrency,
            WaitCause::Cluster => Self::Cluster,
            WaitCause::Network => Self::Network,
            WaitCause::Other => Self::OtherWaits,
            WaitCause::Commit | WaitCause::Idle => return None,
        })
    }
}

/// A database's time by part.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// Seconds of the windows.
    pub seconds: f64,
    /// Seconds of active sessions.
    pub database_s: f64,
    /// Seconds of which the shares are: `database_s`, unless its parts show that it is invalid; then their sum.
    pub total_s: f64,
    /// Sum of the parts, if it exceeds `database_s` by more than rounding.
    pub parts_s: Option<f64>,
    /// Mean active sessions.
    pub active: f64,
    /// Its non-zero parts, the largest first. Their shares sum to 1, or to more if `parts_s` exceeds `total_s`.
    pub slices: Vec<Slice>,
    /// False if the processor time is unknown; it is then in [`TimePart::Unaccounted`].
    pub has_processor_time: bool,
    /// False if no waits are known.
    pub has_waits: bool,
    pub processors: Option<f64>,
    /// Busy share of them, 0 to 1, including other programs.
    pub host_busy: Option<f64>,
    pub host: HostWaiting,
    /// Seconds that sessions, and background processes, waited for their own reads and writes: neither for commits nor for I/O of
    /// others.
    pub io_waits_s: [f64; 2],
    /// Share of the time in hard parses with their waits, 0 to 1, and their rate per second, where known. It is a part of
    /// other slices.
    pub hard_parses: Option<(f64, Option<f64>)>,
    /// Waits that are not counted, as they are idle by name, although the input does not class them as such: names and seconds, the
    /// longest first.
    pub idle_waits: Vec<(Arc<str>, f64)>,
    /// Switches of the log file per hour and the mean bytes between them, if known.
    pub log_switches: Option<(f64, f64)>,
    /// The origin of the database's time.
    pub place: InputPosition,
}

/// A part of the time.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    pub part: TimePart,
    /// Its seconds.
    pub seconds: f64,
    /// Its share of the total, 0 to 1.
    pub share: f64,
    /// Its events, the longest first.
    pub events: Vec<EventTime>,
}

/// Composition of commit waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Commits {
    /// Seconds of all waits of sessions for commits.
    pub total_s: f64,
    /// Mean seconds of a commit wait.
    pub sync_s: f64,
    /// Mean seconds of a log write, if known.
    pub write_s: Option<f64>,
    /// Seconds that a commit at any time waits for the log at most: for the rest of a write in progress, which is the longer the
    /// more the writes vary, and for its own write. None without the histogram of log writes.
    pub behind_write_s: Option<f64>,
    /// Share of the waits taken by a single log write, 0 to 1; 1 if its time is unknown.
    pub write_share: f64,
    /// Commits per second, if known.
    pub a_second: Option<f64>,
    pub event: EventTime,
}

impl Split {
    /// The share of a part, 0 to 1.
    pub fn share(&self, part: TimePart) -> f64 {
        self.slices.iter().find(|slice| slice.part == part).map_or(0.0, |slice| slice.share)
    }

    /// The total share of storage.
    pub fn storage(&self) -> f64 {
        self.slices.iter().filter(|slice| slice.part.is_storage()).map(|slice| slice.share).sum()
    }

    /// Mean sessions in a share of the time. It is `active` times the share, unless that is invalid.
    pub fn mean_sessions(&self, share: f64) -> f64 {
        share * self.total_s / self.seconds
    }

    /// Busy share of the processors; without figures of the host the database's own use, the least that is known.
    pub fn processors_busy(&self) -> Option<f64> {
        let own = || Some(self.mean_sessions(self.share(TimePart::Processor)) / self.processors?);
        self.host_busy.or_else(|| self.has_processor_time.then(own)?)
    }

    /// Seconds that processes of the hosts waited for a processor, if that is a large part of the time in no counter.
    pub fn explaining_queue_s(&self) -> Option<f64> {
        /// Processes of other programs wait as well, and sessions stall in page faults.
        const MIN_SHARE: f64 = 0.25;
        let queue_s = self.host.processes? * self.seconds;
        let unaccounted_s = self.share(TimePart::Unaccounted) * self.total_s;
        (queue_s > 0.0 && queue_s >= MIN_SHARE * unaccounted_s).then_some(queue_s)
    }

    /// The largest part.
    pub fn main(&self) -> Option<&Slice> {
        self.slices.first()
    }

    /// The largest part of storage.
    pub fn main_storage(&self) -> Option<&Slice> {
        self.slices.iter().find(|slice| slice.part.is_storage())
    }

    /// The largest part other than storage.
    pub fn main_other(&self) -> Option<&Slice> {
        self.slices.iter().find(|slice| !slice.part.is_storage())
    }
}

/// Ratio of the sum of the parts to the time of sessions above which it is mentioned.
const EXCEEDS: f64 = 1.02;

/// Divides a database's time; none if it is zero, or has no shares.
pub(super) fn split(spent: &SessionTime) -> Option<Split> {
    let all = all_s(spent)?;
    let commits = split_commits(spent);
    let mut slices: Vec<Slice> = Vec::new();
    for part in TimePart::ALL {
        let events: Vec<EventTime> =
            spent.foreground().filter(|wait| TimePart::of(wait) == Some(part)).cloned().collect();
        let seconds =
            events.iter().map(|event| event.total_s).sum::<f64>() + outside_events(part, spent, commits.as_ref());
        slices.push(Slice { part, seconds, share: 0.0, events });
    }
    let existing: f64 = slices.iter().map(|slice| slice.seconds).sum();
    for slice in &mut slices {
        if slice.part == TimePart::Unaccounted {
            slice.seconds = (all - existing).max(0.0);
        }
        slice.share = slice.seconds / all;
    }
    if let (Some(commits), Some(slice)) = (commits, slices.iter_mut().find(|slice| slice.part == TimePart::CommitRest))
    {
        slice.events.push(commits.event);
    }
    slices.retain(|slice| slice.seconds > 0.0);
    slices.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    Some(Split {
        seconds: spent.seconds,
        database_s: spent.database_s,
        total_s: all,
        parts_s: Some(existing).filter(|sum_s| *sum_s > EXCEEDS * spent.database_s),
        active: spent.database_s / spent.seconds,
        slices,
        has_processor_time: spent.processor_s.is_some(),
        has_waits: spent.foreground().next().is_some(),
        processors: spent.processors,
        host_busy: spent.host_busy,
        host: spent.host.clone(),
        io_waits_s: [true, false].map(|foreground| sum_io_waits(spent, foreground)),
        hard_parses: spent
            .counters
            .hard_parse_s
            .map(|parse_s| ((parse_s / all).min(1.0), spent.counters.hard_parses.map(|count| count / spent.seconds))),
        idle_waits: sum_idle_waits(spent, all),
        log_switches: log_switches(spent),
        place: spent.place.clone(),
    })
}

/// Waits of the same name together, without small ones.
fn sum_idle_waits(spent: &SessionTime, all_s: f64) -> Vec<(Arc<str>, f64)> {
    const MIN_SHARE: f64 = 0.01;
    let mut sums: BTreeMap<Arc<str>, f64> = BTreeMap::new();
    for (event, seconds) in &spent.counters.idle_waits {
        *sums.entry(Arc::clone(event)).or_default() += seconds;
    }
    let mut waits: Vec<_> = sums.into_iter().filter(|(_, seconds)| *seconds >= MIN_SHARE * all_s).collect();
    waits.sort_by(|a, b| b.1.total_cmp(&a.1));
    waits
}

fn sum_io_waits(spent: &SessionTime, foreground: bool) -> f64 {
    let is_io = |wait: &&EventTime| wait.foreground == foreground && matches!(wait.cause, WaitCause::Storage(_));
    spent.waits.iter().filter(is_io).map(|wait| wait.total_s).sum()
}

fn log_switches(spent: &SessionTime) -> Option<(f64, f64)> {
    const HOUR_S: f64 = 3_600.0;
    let switches = spent.counters.log_switches.filter(|switches| *switches > 0.0)?;
    Some((switches / spent.seconds * HOUR_S, spent.counters.log_bytes? / switches))
}

/// Total seconds of sessions, of which AWR's shares are, too. Waits and processor time are sampled separately, and their sum
/// may exceed it. If the sum exceeds it by far, or waits or processor time alone do, the time of sessions is invalid, and the
/// sum is used. None if it is zero, or has no shares.
pub(super) fn all_s(spent: &SessionTime) -> Option<f64> {
    /// Largest sum of the parts for which the time of sessions is valid.
    const MAX_SUM: f64 = 1.25;
    let (processor_s, waited_s) = (spent.processor_s.unwrap_or(0.0), spent.waited_s(|_| true));
    let sum_s = processor_s + waited_s;
    let is_valid = sum_s <= MAX_SUM * spent.database_s && processor_s.max(waited_s) <= spent.database_s;
    let all = if is_valid { spent.database_s } else { sum_s.max(spent.database_s) };
    Some(all).filter(|all| *all > 0.0 && has_shares(spent))
}

/// True if the parts of the database's time are meaningful: it is neither rounded too much, nor do its waits contradict it.
pub(crate) fn has_shares(spent: &SessionTime) -> bool {
    !is_below_resolution(spent) && !spent.is_contradictory()
}

/// True if the database's time is rounded so much that its parts have no meaningful share of it.
pub(super) fn is_below_resolution(spent: &SessionTime) -> bool {
    /// Larger shares of the time that may be due to rounding change the answer.
    const MAX_ROUNDING: f64 = 0.2;
    spent.rounding_s > MAX_ROUNDING * spent.database_s
}

/// Seconds of a part outside of its own events.
fn outside_events(part: TimePart, spent: &SessionTime, commits: Option<&Commits>) -> f64 {
    let log = |commits: &Commits| commits.total_s * commits.write_share;
    match part {
        TimePart::Processor => spent.processor_s.unwrap_or(0.0),
        TimePart::LogWrite => commits.map_or_else(|| followers_s(spent, 1.0), log),
        TimePart::CommitRest => commits.map_or(0.0, |commits| commits.total_s - log(commits)),
        _ => 0.0,
    }
}

/// Seconds that sessions waited for a log write performed by another session: `writes` for each commit. Some databases,
/// such as `PostgreSQL`, count the write only for the session that performs it, and the waits of the others nowhere. A
/// commit waits for at least a whole write, because a write in progress may not include it. The result never exceeds
/// the time in no counter.
pub(super) fn followers_s(spent: &SessionTime, writes: f64) -> f64 {
    let of_log = spent.foreground().filter(|wait| wait.cause == WaitCause::Storage(Class::RedoWrite));
    let longest = of_log.max_by(|a, b| a.total_s.total_cmp(&b.total_s));
    let (Some(write), Some(commits)) = (longest, spent.commits) else { return 0.0 };
    if spent.foreground().any(|wait| wait.cause == WaitCause::Commit) {
        return 0.0;
    }
    let unaccounted = spent.database_s - spent.processor_s.unwrap_or(0.0) - spent.waited_s(|_| true);
    let seconds = (commits - write.count).max(0.0) * write.mean_s().unwrap_or(0.0) * writes;
    seconds.min(unaccounted.max(0.0))
}

/// Mean rest of an operation in progress (the residual life of renewal theory, Cox 1962), with durations at the upper bounds
/// of their buckets, and at twice the lower bound in the last.
fn find_residual_s(histogram: &[(f64, f64)]) -> Option<f64> {
    let (mut sum_s, mut squares, mut lower_s) = (0.0, 0.0, 0.0);
    for (bound, count) in histogram {
        let seconds = if bound.is_finite() { *bound } else { 2.0 * lower_s };
        (sum_s, squares, lower_s) = (sum_s + count * seconds, squares + count * seconds * seconds, seconds);
    }
    (sum_s > 0.0).then(|| squares / sum_s / 2.0)
}

/// The commit waits, divided by the duration of a log write.
pub(super) fn split_commits(spent: &SessionTime) -> Option<Commits> {
    let mut waits = spent.foreground().filter(|wait| wait.cause == WaitCause::Commit && wait.total_s > 0.0);
    let event = waits.next()?.clone();
    let sync_s = event.mean_s()?;
    let write_s = spent.operation_s(Class::RedoWrite);
    let of_log = spent.waits.iter().filter(|wait| wait.cause == WaitCause::Storage(Class::RedoWrite));
    let rest_s = of_log.max_by(|a, b| a.count.total_cmp(&b.count)).and_then(|log| {
        let in_progress = (log.total_s / spent.seconds).min(1.0);
        Some(in_progress * find_residual_s(&log.histogram)?)
    });
    Some(Commits {
        total_s: event.total_s,
        sync_s,
        write_s,
        behind_write_s: write_s.zip(rest_s).map(|(write_s, rest_s)| write_s + rest_s),
        write_share: write_s.map_or(1.0, |write_s| (write_s / sync_s).min(1.0)),
        a_second: spent.commits.map(|commits| commits.max(event.count) / spent.seconds),
        event,
    })
}
