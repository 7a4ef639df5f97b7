//! How the sessions of a database spent its windows: what faster storage could give back of it, and what not.
//!
//! Knows nothing of forms or products. Waits of instances and windows add up, with their histograms; each event keeps
//! the place where it was longest.

mod merge;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::events::Waited;
use crate::figure::{Class, Origin};
use crate::reading::{Reading, Wait};

/// How the sessions of a database spent their time.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// All windows together that say it, each counted once.
    pub whole: Spent,
    /// By window, in the order of [`crate::Subject::slots`], without histograms; none where no input says it.
    pub slots: Vec<Option<Spent>>,
    /// Bytes of the buffer caches of all instances together, in the last window that says it.
    pub cache_bytes: Option<f64>,
    /// Bytes of memory of all hosts together, in the last window that says it.
    pub memory_bytes: Option<f64>,
    /// What another size of the buffer cache would give: of each instance and pool, in the window with the most reads.
    pub caches: Vec<CacheCurve>,
}

/// How the sessions of a database spent some windows.
#[derive(Clone, Debug, PartialEq)]
pub struct Spent {
    /// Seconds of the windows.
    pub seconds: f64,
    /// Seconds of sessions that worked or waited.
    pub database_s: f64,
    /// Seconds of these on a processor; none when a window does not say it.
    pub processor_s: Option<f64>,
    /// Processors of all hosts; of several windows the most.
    pub processors: Option<f64>,
    /// Share of the hosts' processors that was busy, 0 to 1, with whatever else ran there.
    pub host_busy: Option<f64>,
    /// Transactions committed; none when a window does not say it.
    pub commits: Option<f64>,
    /// What sessions and the processes behind them waited for, the longest first, without what is idle.
    pub waits: Vec<EventTime>,
    /// Where the database's time was read; of several windows the busiest.
    pub place: Place,
}

/// Waits for one event.
#[derive(Clone, Debug, PartialEq)]
pub struct EventTime {
    /// As the database calls it.
    pub event: Arc<str>,
    /// What it stands for.
    pub waited: Waited,
    /// True for sessions of users, whose waits are part of the database's time; false for processes behind them.
    pub foreground: bool,
    /// How often.
    pub count: f64,
    /// Seconds in all.
    pub total_s: f64,
    /// Upper bounds in seconds, ascending, the last endless, and how many waits ended up to each and after the one
    /// before; empty where it is not said. It may hold more waits than `count`: those of both kinds of sessions.
    pub histogram: Vec<(f64, f64)>,
    /// Where it was read; of several windows, where it was longest.
    pub place: Place,
}

/// A place in an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The input's name.
    pub input: Arc<str>,
    /// Where in it.
    pub origin: Origin,
}

/// Reads over the size of a buffer cache, as the database estimates them.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheCurve {
    /// The instance; empty where it is not said.
    pub instance: String,
    /// Which cache; `D` is the default one.
    pub pool: String,
    /// Bytes of it at present.
    pub size_bytes: f64,
    /// Reads in the window at the present size.
    pub reads: f64,
    /// Sizes over the present one, ascending, each with its reads over the present ones.
    pub points: Vec<(f64, f64)>,
    /// Where it begins.
    pub place: Place,
}

impl EventTime {
    /// Seconds of one wait, in the mean.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0.0).then(|| self.total_s / self.count)
    }

    /// Seconds in which this share (0 to 1) of the waits ended: the bound of the histogram above it. None without a
    /// histogram, and endless where it ends in its last bucket.
    pub fn within_s(&self, share: f64) -> Option<f64> {
        let all: f64 = self.histogram.iter().map(|(_, waits)| waits).sum();
        let mut passed = 0.0;
        let reached = self.histogram.iter().find(|(_, waits)| {
            passed += waits;
            passed >= share * all * (1.0 - 1e-9)
        });
        reached.filter(|_| all > 0.0).map(|(bound, _)| *bound)
    }
}

impl Spent {
    /// Waits of user sessions, which are part of the database's time.
    pub fn foreground(&self) -> impl Iterator<Item = &EventTime> {
        self.waits.iter().filter(|wait| wait.foreground)
    }

    /// Seconds that user sessions waited for what `is` says.
    pub fn waited_s(&self, is: impl Fn(Waited) -> bool) -> f64 {
        self.foreground().filter(|wait| is(wait.waited)).map(|wait| wait.total_s).sum()
    }

    /// How long one operation of a class takes, in the mean, as those say who wait for just that: user sessions, or
    /// the processes behind them where no user session waits for it.
    pub fn operation_s(&self, class: Class) -> Option<f64> {
        let mean = |foreground: bool| {
            let of_class = |wait: &&EventTime| wait.waited == Waited::Storage(class) && wait.foreground == foreground;
            let waits = self.waits.iter().filter(of_class);
            let (times, seconds): (f64, f64) =
                waits.fold((0.0, 0.0), |sum, wait| (sum.0 + wait.count, sum.1 + wait.total_s));
            (times > 0.0 && seconds > 0.0).then(|| seconds / times)
        };
        // Only the log's writer writes the log.
        if class == Class::RedoWrite { mean(false).or_else(|| mean(true)) } else { mean(true).or_else(|| mean(false)) }
    }
}

impl Reading {
    /// Drops the waits that no account has a use for: idle ones, those of processes behind the sessions that are not
    /// for storage, and histograms of what is not storage. Of what remains, short ones that hang on no storage become
    /// one for each thing that is waited for. Accounts stay the same but for those names.
    pub fn thin(&mut self) {
        /// Waits with a name of their own among those that hang on no storage.
        const NAMED: usize = 12;
        let mut kept: Vec<Wait> = Vec::new();
        let mut others: Vec<(Waited, Wait)> = Vec::new();
        let mut by_name: BTreeMap<String, f64> = BTreeMap::new();
        for mut wait in std::mem::take(&mut self.waits) {
            let waited = Waited::of(&wait.event);
            if waited.class().is_some() {
                kept.push(wait);
            } else if waited != Waited::Idle && wait.foreground {
                wait.histogram = Vec::new();
                *by_name.entry(wait.event.clone()).or_default() += wait.total_s;
                others.push((waited, wait));
            }
        }
        let mut longest: Vec<(String, f64)> = by_name.into_iter().collect();
        longest.sort_by(|a, b| b.1.total_cmp(&a.1));
        longest.truncate(NAMED);
        let is_long = |wait: &Wait| longest.iter().any(|(name, _)| *name == wait.event);
        kept.extend(others.extract_if(.., |(_, wait)| is_long(wait)).map(|(_, wait)| wait));
        kept.extend(merge::short(others));
        kept.shrink_to_fit();
        self.waits = kept;
        self.figures.shrink_to_fit();
        self.parts.shrink_to_fit();
    }
}

pub(super) use merge::account as of;
