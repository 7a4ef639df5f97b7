//! What looks on while a database is loaded: its counters, what its sessions are at, and the storage below.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_database::{Failure, Observer};
use plimsoll_device::{Clock, cpu_time};
use plimsoll_record::{CpuTime, DatabaseCounters, Spent, Split, StorageSide};
use plimsoll_units::{Instant, Span};
use serde_json::{Map, Value};

use crate::below::{Below, Looked};

/// Between two looks at counters, at what sessions are at, and between two snapshots.
const COUNTERS: Duration = Duration::from_millis(250);
const SESSIONS: Duration = Duration::from_millis(40);
const SNAPSHOTS: Duration = Duration::from_secs(1);

/// Where snapshots go that `plimsoll diagnose` reads. Their head is for who makes this to write.
pub type Sink = Box<dyn FnMut(&Map<String, Value>) + Send>;

/// Something for each way in which sessions spend their time.
type Each<T> = [T; Spent::ALL.len()];

/// All counters at a moment.
#[derive(Clone, Debug)]
struct Look {
    at: Instant,
    counters: DatabaseCounters,
    below: Looked,
    client: CpuTime,
    /// Time that the database itself says its sessions spent.
    spent: Option<Each<Span>>,
}

/// What was seen beside a step.
#[derive(Debug, Default)]
pub(super) struct Seen {
    looks: Vec<Look>,
    /// Sessions by what they were at.
    activity: Vec<(Instant, Each<u32>)>,
    /// What was changed below, and when.
    pub marks: Vec<(Instant, String)>,
    /// Why the database could not be looked at, the first time.
    pub blind: Option<String>,
}

/// What was seen over a part of a step.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub counted: DatabaseCounters,
    pub storage: StorageSide,
    pub split: Option<Split>,
    pub client: Option<CpuTime>,
}

/// Who looks on.
pub(super) struct Beside<'a> {
    pub clock: Clock,
    pub observer: Option<Box<dyn Observer>>,
    pub below: Option<&'a mut Box<dyn Below>>,
    pub sink: Option<&'a mut Sink>,
    /// The server's numbers of the sessions; empty where it is not asked what they are at.
    pub numbers: Vec<u64>,
    /// When the step began; changes below are counted from here.
    pub began: Instant,
    /// The step is in no figure: nothing below is changed for it.
    pub counts: bool,
}

impl Beside<'_> {
    /// Looks on until `stop` is set, and once more then.
    pub fn look_on(mut self, stop: &AtomicBool) -> Seen {
        let mut seen = Seen::default();
        let began = std::time::Instant::now();
        let (mut counters, mut sessions, mut snapshots) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        while !stop.load(Ordering::Relaxed) {
            let elapsed = began.elapsed();
            if elapsed >= counters {
                self.count(&mut seen);
                counters = began.elapsed() + COUNTERS;
            }
            if elapsed >= sessions && !self.numbers.is_empty() {
                self.ask_sessions(&mut seen);
                sessions = began.elapsed() + SESSIONS;
            }
            if elapsed >= snapshots {
                self.snapshot(&mut seen);
                snapshots = elapsed + SNAPSHOTS;
            }
            self.change(&mut seen);
            let next = if self.numbers.is_empty() { counters } else { counters.min(sessions) };
            std::thread::sleep(next.saturating_sub(began.elapsed()).min(Duration::from_millis(50)));
        }
        self.count(&mut seen);
        seen
    }

    fn count(&mut self, seen: &mut Seen) {
        let counters = self.ask(seen, |observer| observer.counters()).unwrap_or_default();
        let spent = self.observer.as_mut().and_then(|observer| observer.spent());
        let spent = spent.map(|parts| {
            let mut each = Each::default();
            for (spent, span) in parts {
                each[spent as usize] += span;
            }
            each
        });
        let below = self.below.as_mut().map(|below| below.look()).unwrap_or_default();
        seen.looks.push(Look { at: self.clock.now(), counters, below, client: cpu_time(), spent });
    }

    fn ask_sessions(&mut self, seen: &mut Seen) {
        let numbers = std::mem::take(&mut self.numbers);
        let activity = self.ask(seen, |observer| observer.activity(&numbers)).unwrap_or_default();
        if !activity.is_empty() {
            let mut each = Each::default();
            for one in activity {
                each[one as usize] += 1;
            }
            seen.activity.push((self.clock.now(), each));
            self.numbers = numbers;
        }
    }

    fn snapshot(&mut self, seen: &mut Seen) {
        if self.sink.is_none() {
            return;
        }
        let snapshot = self.ask(seen, |observer| observer.snapshot()).unwrap_or_default();
        if let Some(sink) = self.sink.as_mut().filter(|_| !snapshot.is_empty()) {
            sink(&snapshot);
        }
    }

    fn change(&mut self, seen: &mut Seen) {
        let now = self.clock.now();
        if let Some(below) = self.below.as_mut().filter(|_| self.counts)
            && let Some(what) = below.change(now.since(self.began))
        {
            seen.marks.push((now, what));
        }
    }

    /// Asks the database, unless it failed to answer before: a second failure tells nothing new.
    fn ask<T>(&mut self, seen: &mut Seen, ask: impl FnOnce(&mut dyn Observer) -> Result<T, Failure>) -> Option<T> {
        match ask(self.observer.as_deref_mut()?) {
            Ok(answer) => Some(answer),
            Err(failure) => {
                seen.blind.get_or_insert(failure.message);
                self.observer = None;
                None
            }
        }
    }
}

impl Seen {
    /// Everything, from the first look to the last.
    pub fn whole(&self) -> Part {
        match (self.looks.first(), self.looks.last()) {
            (Some(first), Some(last)) => self.over(first.at, last.at, 1),
            _ => Part::default(),
        }
    }

    /// What was seen of `sessions` from one moment to another. Looks lie beside these moments: what was counted between looks is
    /// scaled to the time asked for.
    pub fn over(&self, from: Instant, to: Instant, sessions: u32) -> Part {
        let Some(first) = self.looks.iter().rev().find(|look| look.at <= from).or(self.looks.first()) else {
            return Part::default();
        };
        let Some(last) = self.looks.iter().find(|look| look.at >= to).or(self.looks.last()) else {
            return Part::default();
        };
        let (asked, looked) = (to.since(from), last.at.since(first.at));
        if looked.is_zero() {
            return Part::default();
        }
        let share = asked.as_secs_f64() / looked.as_secs_f64();
        let counted = last.counters.since(&first.counters).scaled(share);
        let client =
            CpuTime { user: last.client.user - first.client.user, system: last.client.system - first.client.system };
        Part {
            storage: last.below.since(&first.below).scaled(share),
            split: self.split(from, to, first, last).or_else(|| of_counters(&counted, asked, sessions)),
            client: Some(CpuTime { user: scaled(client.user, share), system: scaled(client.system, share) }),
            counted,
        }
    }

    fn split(&self, from: Instant, to: Instant, first: &Look, last: &Look) -> Option<Split> {
        if let Some((before, after)) = first.spent.zip(last.spent) {
            let each: Vec<f64> =
                after.iter().zip(before).map(|(after, before)| (*after - before).as_secs_f64()).collect();
            return divided(&each, "timed by the library itself".into());
        }
        let mut each = [0.0; Spent::ALL.len()];
        let (mut looks, mut sessions) = (0, 0);
        for (_, seen) in self.activity.iter().filter(|(at, _)| *at >= from && *at <= to) {
            looks += 1;
            sessions = sessions.max(seen.iter().sum());
            each.iter_mut().zip(seen).for_each(|(sum, count)| *sum += f64::from(*count));
        }
        divided(&each, format!("{looks} looks at {sessions} sessions"))
    }
}

/// The split that the database's own times give: what they do not cover is work on processors, or waiting for the client.
fn of_counters(counted: &DatabaseCounters, span: Span, sessions: u32) -> Option<Split> {
    let all = span.as_secs_f64() * f64::from(sessions);
    let seconds = |span: Option<Span>| span.map_or(0.0, Span::as_secs_f64);
    let (reading, locked) = (seconds(counted.read_time), seconds(counted.lock_time));
    let cpu = counted.cpu.map(|cpu| (cpu.user + cpu.system).as_secs_f64())?;
    counted.read_time?;
    let mut each = [0.0; Spent::ALL.len()];
    each[Spent::Processor as usize] = cpu.min(all);
    each[Spent::Reading as usize] = reading.min(all);
    each[Spent::Locked as usize] = locked.min(all);
    let known: f64 = each.iter().sum();
    each[Spent::Other as usize] = (all - known).max(0.0);
    divided(&each, "counted by the server, the rest is commits, latches and the client".into())
}

fn divided(each: &[f64], method: String) -> Option<Split> {
    let sum: f64 = each.iter().sum();
    let shares = each.iter().zip(Spent::ALL).filter(|(part, _)| **part > 0.0);
    (sum > 0.0).then(|| Split { shares: shares.map(|(part, spent)| (spent, part / sum)).collect(), method })
}

fn scaled(span: Span, share: f64) -> Span {
    Span::from_secs_f64(span.as_secs_f64() * share)
}
