//! Observation of a database under load: counters, activities of sessions, storage, binding limit, and doubts about the
//! figures.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_database::{Failure, Observer, System};
use plimsoll_device::{Clock, cpu_time};
use plimsoll_record::{
    CpuTime, DatabaseAbout, DatabaseCounters, Finding, SessionLimit, SessionTimes, Spent, StorageSide,
};
use plimsoll_units::{Instant, Span};
use serde_json::{Map, Value};

use crate::below::{StorageSample, UnderlyingStorage};
use crate::sql::SessionsResult;

/// Sampling intervals of counters, of the activity of sessions, and of snapshots.
const COUNTERS: Duration = Duration::from_millis(250);
const SESSIONS: Duration = Duration::from_millis(40);
const SNAPSHOTS: Duration = Duration::from_secs(1);

/// Receives snapshots for `plimsoll diagnose`. Its creator has written their header.
pub type Sink = Box<dyn FnMut(&Map<String, Value>) + Send>;

/// A value per activity.
type Each<T> = [T; Spent::ALL.len()];

/// All counters at a moment.
#[derive(Clone, Debug)]
struct CounterSample {
    at: Instant,
    counters: DatabaseCounters,
    below: StorageSample,
    client: CpuTime,
    /// Time of sessions by activity, if the database measures it.
    spent: Option<Each<Span>>,
}

/// Everything that was observed during a step.
#[derive(Debug, Default)]
pub(super) struct Observations {
    samples: Vec<CounterSample>,
    /// Numbers of sessions per activity.
    activity: Vec<(Instant, Each<u32>)>,
    /// Changes of the storage with their times.
    pub marks: Vec<(Instant, String)>,
    /// The first error of observing the database.
    pub error: Option<String>,
}

/// Figures of a window of a step.
#[derive(Debug, Default)]
pub(super) struct MonitorWindow {
    pub counted: DatabaseCounters,
    pub storage: StorageSide,
    pub split: Option<SessionTimes>,
    pub client: Option<CpuTime>,
}

/// Observes a step on a separate thread.
pub(super) struct Monitor<'a> {
    pub clock: Clock,
    pub observer: Option<Box<dyn Observer>>,
    pub below: Option<&'a mut Box<dyn UnderlyingStorage>>,
    pub sink: Option<&'a mut Sink>,
    /// Server-side numbers of the sessions; empty if their activity is not sampled.
    pub numbers: Vec<u64>,
    /// Start of the step, the origin of scheduled changes of the storage.
    pub began: Instant,
    /// Whether the step is measured; the storage changes only in measured steps.
    pub counts: bool,
}

impl Monitor<'_> {
    /// Samples until `stop` is set, and then a last time.
    pub fn run(mut self, stop: &AtomicBool) -> Observations {
        let mut observed = Observations::default();
        let began = std::time::Instant::now();
        let (mut counters, mut sessions, mut snapshots) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        while !stop.load(Ordering::Relaxed) {
            let elapsed = began.elapsed();
            if elapsed >= counters {
                self.count(&mut observed);
                counters = began.elapsed() + COUNTERS;
            }
            if elapsed >= sessions && !self.numbers.is_empty() {
                self.sample_sessions(&mut observed);
                sessions = began.elapsed() + SESSIONS;
            }
            if elapsed >= snapshots {
                self.snapshot(&mut observed);
                snapshots = elapsed + SNAPSHOTS;
            }
            self.change(&mut observed);
            let next = if self.numbers.is_empty() { counters } else { counters.min(sessions) };
            std::thread::sleep(next.saturating_sub(began.elapsed()).min(Duration::from_millis(50)));
        }
        self.count(&mut observed);
        observed
    }

    fn count(&mut self, observed: &mut Observations) {
        let counters = self.query(observed, |observer| observer.counters()).unwrap_or_default();
        let spent = self.observer.as_mut().and_then(|observer| observer.spent());
        let spent = spent.map(|parts| {
            let mut each = Each::default();
            for (spent, span) in parts {
                each[spent as usize] += span;
            }
            each
        });
        let below = self.below.as_mut().map(|below| below.look()).unwrap_or_default();
        observed.samples.push(CounterSample { at: self.clock.now(), counters, below, client: cpu_time(), spent });
    }

    fn sample_sessions(&mut self, observed: &mut Observations) {
        let numbers = std::mem::take(&mut self.numbers);
        let activity = self.query(observed, |observer| observer.activity(&numbers)).unwrap_or_default();
        if !activity.is_empty() {
            let mut each = Each::default();
            for one in activity {
                each[one as usize] += 1;
            }
            observed.activity.push((self.clock.now(), each));
            self.numbers = numbers;
        }
    }

    fn snapshot(&mut self, observed: &mut Observations) {
        if self.sink.is_none() {
            return;
        }
        let snapshot = self.query(observed, |observer| observer.snapshot()).unwrap_or_default();
        if let Some(sink) = self.sink.as_mut().filter(|_| !snapshot.is_empty()) {
            sink(&snapshot);
        }
    }

    fn change(&mut self, observed: &mut Observations) {
        let now = self.clock.now();
        if let Some(below) = self.below.as_mut().filter(|_| self.counts)
            && let Some(what) = below.change(now.since(self.began))
        {
            observed.marks.push((now, what));
        }
    }

    /// Queries the database, unless an earlier query failed: further failures add no information.
    fn query<T>(
        &mut self,
        observed: &mut Observations,
        query: impl FnOnce(&mut dyn Observer) -> Result<T, Failure>,
    ) -> Option<T> {
        match query(self.observer.as_deref_mut()?) {
            Ok(answer) => Some(answer),
            Err(failure) => {
                observed.error.get_or_insert(failure.message);
                self.observer = None;
                None
            }
        }
    }
}

impl Observations {
    /// The window from the first to the last sample.
    pub fn total(&self) -> MonitorWindow {
        match (self.samples.first(), self.samples.last()) {
            (Some(first), Some(last)) => self.over(first.at, last.at, 1),
            _ => MonitorWindow::default(),
        }
    }

    /// Figures of `sessions` between two times. Samples do not coincide with these times: differences between samples
    /// are scaled to the window.
    pub fn over(&self, from: Instant, to: Instant, sessions: u32) -> MonitorWindow {
        let Some(first) = self.samples.iter().rev().find(|sample| sample.at <= from).or(self.samples.first()) else {
            return MonitorWindow::default();
        };
        let Some(last) = self.samples.iter().find(|sample| sample.at >= to).or(self.samples.last()) else {
            return MonitorWindow::default();
        };
        let (window_span, sampled) = (to.since(from), last.at.since(first.at));
        if sampled.is_zero() {
            return MonitorWindow::default();
        }
        let share = window_span.as_secs_f64() / sampled.as_secs_f64();
        let counted = last.counters.since(&first.counters).scaled(share);
        let client = last.client - first.client;
        MonitorWindow {
            storage: last.below.since(&first.below).scaled(share),
            split: self.split(from, to, first, last).or_else(|| of_counters(&counted, window_span, sessions)),
            client: Some(CpuTime { user: scaled(client.user, share), system: scaled(client.system, share) }),
            counted,
        }
    }

    fn split(&self, from: Instant, to: Instant, first: &CounterSample, last: &CounterSample) -> Option<SessionTimes> {
        if let Some((before, after)) = first.spent.zip(last.spent) {
            let each: Vec<f64> =
                after.iter().zip(before).map(|(after, before)| (*after - before).as_secs_f64()).collect();
            return split_of(&each, "timed by the library itself".into());
        }
        let mut each = [0.0; Spent::ALL.len()];
        let (mut samples, mut sessions) = (0, 0);
        for (_, observed) in self.activity.iter().filter(|(at, _)| *at >= from && *at <= to) {
            samples += 1;
            sessions = sessions.max(observed.iter().sum());
            each.iter_mut().zip(observed).for_each(|(sum, count)| *sum += f64::from(*count));
        }
        split_of(&each, format!("{samples} looks at {sessions} sessions"))
    }
}

/// Breakdown by the database's times. The remaining time is waiting for the client, commits and latches.
fn of_counters(counted: &DatabaseCounters, span: Span, sessions: u32) -> Option<SessionTimes> {
    let all = span.as_secs_f64() * f64::from(sessions);
    let seconds = |span: Option<Span>| span.map_or(0.0, Span::as_secs_f64);
    let (reading, locked) = (seconds(counted.read_time), seconds(counted.lock_time));
    let cpu = counted.cpu.map(|cpu| cpu.total().as_secs_f64())?;
    counted.read_time?;
    let mut each = [0.0; Spent::ALL.len()];
    each[Spent::Processor as usize] = cpu.min(all);
    each[Spent::Reading as usize] = reading.min(all);
    each[Spent::Locked as usize] = locked.min(all);
    let attributed: f64 = each.iter().sum();
    each[Spent::Other as usize] = (all - attributed).max(0.0);
    split_of(&each, "counted by the server, the rest is commits, latches and the client".into())
}

fn split_of(each: &[f64], method: String) -> Option<SessionTimes> {
    let sum: f64 = each.iter().sum();
    let shares = each.iter().zip(Spent::ALL).filter(|(part, _)| **part > 0.0);
    (sum > 0.0).then(|| SessionTimes { shares: shares.map(|(part, spent)| (spent, part / sum)).collect(), method })
}

fn scaled(span: Span, share: f64) -> Span {
    Span::from_secs_f64(span.as_secs_f64() * share)
}

/// Minimum fraction of the sessions' time for an activity to be the limit.
const DOMINANT_SHARE: f64 = 0.4;
/// Minimum utilisation of a saturated device or processor.
const FULL: f64 = 0.9;
/// Thresholds of findings.
const MAX_CLIENT_SHARE: f64 = 0.1;
const FEW_CONFLICTS: f64 = 0.01;
/// Minimum number of reads for a statement about their source.
const FEW_READS: u64 = 100;

/// The limit of the sessions; `None` if unknown.
pub(super) fn limit(observed: &SessionsResult) -> Option<SessionLimit> {
    let share = |part: Spent| {
        let shares = observed.split.iter().flat_map(|split| &split.shares);
        shares.filter(|(existing, _)| *existing == part).map(|(_, share)| share).sum::<f64>()
    };
    let processors = observed.storage.host.map(|host| host.busy.as_secs_f64() / host.total().as_secs_f64().max(1e-9));
    if share(Spent::Locked) >= DOMINANT_SHARE {
        return Some(SessionLimit::Locks);
    }
    let storage = share(Spent::Reading) + share(Spent::Writing) + share(Spent::Committing);
    if processors.is_some_and(|busy| busy >= FULL) && storage < DOMINANT_SHARE {
        return Some(SessionLimit::HostProcessors);
    }
    if storage >= DOMINANT_SHARE {
        return Some(storage_limit(observed, share(Spent::Committing) > share(Spent::Reading)));
    }
    let candidates = [
        (Spent::Processor, SessionLimit::SessionProcessor),
        (Spent::Internal, SessionLimit::Latches),
        (Spent::Client, SessionLimit::Client),
    ];
    let (part, resource) = candidates.into_iter().max_by(|a, b| share(a.0).total_cmp(&share(b.0)))?;
    (share(part) >= DOMINANT_SHARE).then_some(resource)
}

fn storage_limit(observed: &SessionsResult, commits: bool) -> SessionLimit {
    if let Some((name, share)) = observed.storage.bound_by.first()
        && *share >= DOMINANT_SHARE
    {
        return SessionLimit::Stage { stage: name.clone() };
    }
    let busy = observed.storage.disk.as_ref().map(|disk| {
        let span = (observed.window.1 - observed.window.0).as_secs_f64().max(1e-9);
        (disk.device.as_str(), disk.busy.as_secs_f64() / span)
    });
    match busy {
        _ if commits => SessionLimit::Commits,
        Some((device, share)) if share >= FULL => SessionLimit::Device { device: device.into() },
        _ => SessionLimit::Reads,
    }
}

/// Doubts about the figures.
pub(super) fn find_doubts(observed: &SessionsResult, system: System, about: &DatabaseAbout) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(share) = answered_above(observed, about).filter(|share| *share > MAX_CLIENT_SHARE) {
        findings.push(Finding::PageCacheBelowDatabase { share });
    }
    let busy = observed.storage.host.map(|host| (host.busy.as_secs_f64(), host.total().as_secs_f64().max(1e-9)));
    let client = observed.client.map(|cpu| cpu.total().as_secs_f64());
    if let Some((busy, all)) = busy.filter(|_| system != System::Sqlite) {
        let client = client.unwrap_or_default();
        // With idle processors, the client delays no session.
        if client / all > MAX_CLIENT_SHARE && busy / all > FULL {
            findings.push(Finding::ClientBound { share: client / all });
        }
        if let Some(server) = observed.counted.cpu {
            let others = (busy - client - server.total().as_secs_f64()) / all;
            if others > 2.0 * MAX_CLIENT_SHARE {
                findings.push(Finding::OtherWork { share: others });
            }
        }
    }
    if observed.differing > 0 {
        findings.push(Finding::RowsDiffered { count: observed.differing });
    }
    let (done, failed) = observed
        .series
        .iter()
        .fold((0, 0), |(done, failed), slice| (done + slice.tally.operations(), failed + slice.tally.errors()));
    let share = failed as f64 / (done + failed).max(1) as f64;
    if share > FEW_CONFLICTS {
        findings.push(Finding::Conflicts { count: failed, share });
    }
    findings
}

/// Fraction of blocks read from the operating system without reading storage.
fn answered_above(observed: &SessionsResult, about: &DatabaseAbout) -> Option<f64> {
    if about.direct == Some(true) {
        return None;
    }
    observed.counted.reads.filter(|reads| *reads >= FEW_READS)?;
    observed.storage.page_cache_share(&observed.counted, about.block)
}
