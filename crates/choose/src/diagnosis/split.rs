//! A database's time, divided into what sessions did or waited for.

use plimsoll_ingest::{Class, EventTime, Place, Spent, Waited};

/// What a part of the database's time went to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Work on a processor.
    Processor,
    /// Reads of single blocks.
    RandomRead,
    /// Reads of many blocks at once.
    SequentialRead,
    /// Reads that the input does not tell apart.
    Read,
    /// Commits, as far as the log was being written, and other waits for the log.
    LogWrite,
    /// The rest of the waits of commits: processors, the order of commits, a standby.
    CommitRest,
    /// Sorts and hashes that did not fit in memory.
    Temp,
    /// Writes that sessions waited for, control files, backups.
    OtherStorage,
    /// Locks of other transactions.
    Lock,
    /// Structures in memory.
    Concurrency,
    /// Other instances of a cluster.
    Cluster,
    /// Clients, other databases, a standby.
    Network,
    /// A turn that the database itself keeps sessions from: its resource manager.
    Managed,
    /// Waits for what has no part of its own.
    OtherWaits,
    /// What no counter says: queueing for a processor, as a rule; all of the processors' time where that is not said.
    Unsaid,
}

impl Part {
    /// Every part, in the order in which they are shown.
    pub const ALL: [Self; 15] = [
        Self::Processor,
        Self::RandomRead,
        Self::SequentialRead,
        Self::Read,
        Self::LogWrite,
        Self::CommitRest,
        Self::Temp,
        Self::OtherStorage,
        Self::Lock,
        Self::Concurrency,
        Self::Cluster,
        Self::Network,
        Self::Managed,
        Self::OtherWaits,
        Self::Unsaid,
    ];

    /// True for what storage that answers sooner makes shorter.
    pub const fn is_storage(self) -> bool {
        matches!(
            self,
            Self::RandomRead | Self::SequentialRead | Self::Read | Self::LogWrite | Self::Temp | Self::OtherStorage
        )
    }

    /// The part that a wait belongs to; commits are divided, so they have none of their own.
    const fn of(waited: Waited) -> Option<Self> {
        Some(match waited {
            Waited::Storage(class) | Waited::Behind(class) => match class {
                Class::RandomRead => Self::RandomRead,
                Class::SequentialRead => Self::SequentialRead,
                Class::Read => Self::Read,
                Class::RedoWrite => Self::LogWrite,
                Class::TempRead | Class::TempWrite => Self::Temp,
                _ => Self::OtherStorage,
            },
            Waited::Processor => Self::Managed,
            Waited::Lock => Self::Lock,
            Waited::Concurrency => Self::Concurrency,
            Waited::Cluster => Self::Cluster,
            Waited::Network => Self::Network,
            Waited::Other => Self::OtherWaits,
            Waited::Commit | Waited::Idle => return None,
        })
    }
}

/// A database's time by part.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// Seconds of sessions that worked or waited.
    pub database_s: f64,
    /// Sessions that worked or waited at a time, in the mean.
    pub active: f64,
    /// Its parts, the longest first; those of no time are left out. Their shares sum to 1.
    pub slices: Vec<Slice>,
    /// False where the time on processors is not said: it is in [`Part::Unsaid`] then.
    pub says_processor: bool,
    /// False where no wait is said at all.
    pub says_waits: bool,
    /// Processors of the hosts.
    pub processors: Option<f64>,
    /// Share of them that was busy, 0 to 1, with whatever else ran there.
    pub host_busy: Option<f64>,
    /// Where the database's time was read.
    pub place: Place,
}

/// One part.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// What it went to.
    pub part: Part,
    /// Seconds of it.
    pub seconds: f64,
    /// The share of all, 0 to 1.
    pub share: f64,
    /// The events that it is made of, the longest first.
    pub events: Vec<EventTime>,
}

/// What commits waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct Commits {
    /// Seconds of all waits of sessions for their commits.
    pub total_s: f64,
    /// Seconds of one such wait, in the mean.
    pub sync_s: f64,
    /// Seconds of one write of the log, in the mean, where it is said.
    pub write_s: Option<f64>,
    /// Share of the waits that one write of the log takes, 0 to 1; all of them where its time is not said.
    pub write_share: f64,
    /// Commits a second, where they are said.
    pub a_second: Option<f64>,
    /// The waits.
    pub event: EventTime,
}

impl Split {
    /// The share of a part, 0 to 1.
    pub fn share(&self, part: Part) -> f64 {
        self.slices.iter().find(|slice| slice.part == part).map_or(0.0, |slice| slice.share)
    }

    /// The share of all that storage makes shorter.
    pub fn storage(&self) -> f64 {
        self.slices.iter().filter(|slice| slice.part.is_storage()).map(|slice| slice.share).sum()
    }

    /// The longest part.
    pub fn main(&self) -> Option<&Slice> {
        self.slices.first()
    }
}

/// Divides a database's time; none where there was none.
pub(super) fn split(spent: &Spent) -> Option<Split> {
    let commits = commits(spent);
    let mut slices: Vec<Slice> = Vec::new();
    for part in Part::ALL {
        let events: Vec<EventTime> =
            spent.foreground().filter(|wait| Part::of(wait.waited) == Some(part)).cloned().collect();
        let seconds = events.iter().map(|event| event.total_s).sum::<f64>() + beside(part, spent, commits.as_ref());
        slices.push(Slice { part, seconds, share: 0.0, events });
    }
    let known: f64 = slices.iter().map(|slice| slice.seconds).sum();
    let all = all_s(spent);
    if all <= 0.0 {
        return None;
    }
    for slice in &mut slices {
        if slice.part == Part::Unsaid {
            slice.seconds = (all - known).max(0.0);
        }
        slice.share = slice.seconds / all;
    }
    if let (Some(commits), Some(slice)) = (commits, slices.iter_mut().find(|slice| slice.part == Part::CommitRest)) {
        slice.events.push(commits.event);
    }
    slices.retain(|slice| slice.seconds > 0.0);
    slices.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    Some(Split {
        database_s: spent.database_s,
        active: spent.database_s / spent.seconds,
        slices,
        says_processor: spent.processor_s.is_some(),
        says_waits: spent.foreground().next().is_some(),
        processors: spent.processors,
        host_busy: spent.host_busy,
        place: spent.place.clone(),
    })
}

/// All seconds of sessions. Counters of waits and of the whole are not read at the same moment: where the waits and the
/// processors' time are more, their sum counts.
pub(super) fn all_s(spent: &Spent) -> f64 {
    let known = spent.processor_s.unwrap_or(0.0) + spent.waited_s(|_| true);
    known.max(spent.database_s)
}

/// Seconds of a part that are in no event of its own.
fn beside(part: Part, spent: &Spent, commits: Option<&Commits>) -> f64 {
    let log = |commits: &Commits| commits.total_s * commits.write_share;
    match part {
        Part::Processor => spent.processor_s.unwrap_or(0.0),
        Part::LogWrite => commits.map_or_else(|| followers_s(spent, 1.0), log),
        Part::CommitRest => commits.map_or(0.0, |commits| commits.total_s - log(commits)),
        _ => 0.0,
    }
}

/// Seconds that sessions waited for a write of the log that another session made: so many `writes` for each commit. A
/// database that counts such a write with the session that makes it alone, as `PostgreSQL` does, counts the wait of the
/// others nowhere. A commit has to wait for a whole write at least, for one that is under way may lack it; never is it more
/// than the time that is in no counter.
pub(super) fn followers_s(spent: &Spent, writes: f64) -> f64 {
    let of_log = spent.foreground().filter(|wait| wait.waited == Waited::Storage(Class::RedoWrite));
    let longest = of_log.max_by(|a, b| a.total_s.total_cmp(&b.total_s));
    let (Some(write), Some(commits)) = (longest, spent.commits) else { return 0.0 };
    if spent.foreground().any(|wait| wait.waited == Waited::Commit) {
        return 0.0;
    }
    let unsaid = spent.database_s - spent.processor_s.unwrap_or(0.0) - spent.waited_s(|_| true);
    let seconds = (commits - write.count).max(0.0) * write.mean_s().unwrap_or(0.0) * writes;
    seconds.min(unsaid.max(0.0))
}

/// The waits of commits, divided by how long a write of the log takes.
pub(super) fn commits(spent: &Spent) -> Option<Commits> {
    let mut waits = spent.foreground().filter(|wait| wait.waited == Waited::Commit && wait.total_s > 0.0);
    let event = waits.next()?.clone();
    let sync_s = event.mean_s()?;
    let write_s = spent.operation_s(Class::RedoWrite);
    Some(Commits {
        total_s: event.total_s,
        sync_s,
        write_s,
        write_share: write_s.map_or(1.0, |write_s| (write_s / sync_s).min(1.0)),
        a_second: spent.commits.map(|commits| commits / spent.seconds),
        event,
    })
}
