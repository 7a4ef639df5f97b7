//! Is storage the problem at all? The parts of a database's time, the effect of faster storage or more memory, latency
//! under load, limits, and the origin of the work: verdicts as data, with their evidence.
//!
//! Knows the demand ([`plimsoll_ingest::Subject`]) and at most one offer; no form of report and no words: those are the
//! report's.

mod cache;
mod ceilings;
mod effect;
mod history;
mod pinned;
mod response;
mod rules;
mod split;
mod totals;
mod verdict;

use plimsoll_catalogue::Offer;
use plimsoll_ingest::{Class, Slot, Subject};

pub use cache::CacheStep;
pub(crate) use cache::steps as cache_steps;
pub use ceilings::{CeilingUse, OnOffer};
pub use effect::{DatabaseEffect, FLOOR_S, Latencies, PartEffect, effect, without_storage};
pub use history::{Change, Changed, History, Quantity, Unusual, WindowTime, WithLoad};
pub use pinned::Pinned;
pub use response::{Point, Response};
pub use split::{Commits, Part, Slice, Split};
pub use verdict::Verdict;

/// What is asked beside what the inputs say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Question<'a> {
    /// The configuration that the storage is: its ceilings are put beside the demand.
    pub on: Option<&'a Offer>,
    /// Misses of a cache over all reads, by its size in bytes, ascending: of a trace. It goes before what the database
    /// estimates.
    pub misses: Option<&'a [(f64, f64)]>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// The database or host; empty where no input says it.
    pub name: String,
    /// Over which windows.
    pub windows: Windows,
    /// How sessions spent their time, where an input says it.
    pub split: Option<Split>,
    /// What commits waited for, where sessions waited for them.
    pub commits: Option<Commits>,
    /// What storage ten times as fast would give back.
    pub ten_times: Option<DatabaseEffect>,
    /// What storage that answers at once would give back: no storage gives more.
    pub at_most: Option<DatabaseEffect>,
    /// What other sizes of the buffer cache would give, by size.
    pub cache: Vec<CacheStep>,
    /// How each class is answered, over its rate.
    pub responses: Vec<Response>,
    /// Rates that stay at one value in many windows.
    pub pinned: Vec<Pinned>,
    /// Its windows over time, where there are several that state the database's time.
    pub history: Option<History>,
    /// The demand beside the ceilings of the configuration that was asked for.
    pub on: Option<OnOffer>,
    /// What follows, the answer first.
    pub verdicts: Vec<Verdict>,
}

/// The windows of a subject.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Windows {
    /// How many.
    pub count: usize,
    /// Seconds of all.
    pub seconds: f64,
    /// Seconds of the longest: peaks that are shorter are hidden in its means.
    pub longest_s: f64,
    /// The first of them.
    pub first: Option<Slot>,
}

/// Diagnoses a subject.
pub fn diagnose(subject: &Subject, question: &Question<'_>) -> Diagnosis {
    let account = subject.account.as_ref();
    let split = account.and_then(|account| split::split(&account.whole));
    let mut diagnosis = Diagnosis {
        name: subject.name.clone(),
        windows: windows(subject),
        commits: account.and_then(|account| split::commits(&account.whole)),
        ten_times: account.and_then(effect::ten_times),
        at_most: account.and_then(without_storage),
        cache: account.map(|account| cache::steps(account, question.misses)).unwrap_or_default(),
        responses: response::responses(subject),
        pinned: pinned::pinned(subject),
        history: history::history(subject),
        on: question.on.map(|offer| ceilings::on(subject, offer)),
        verdicts: Vec::new(),
        split,
    };
    diagnosis.verdicts = rules::verdicts(subject, &diagnosis);
    diagnosis
}

fn windows(subject: &Subject) -> Windows {
    let lengths = subject.slots.iter().map(|slot| slot.length.as_secs_f64());
    Windows {
        count: subject.slots.len(),
        seconds: lengths.clone().sum(),
        longest_s: lengths.fold(0.0, f64::max),
        first: subject.slots.first().copied(),
    }
}

impl Diagnosis {
    /// The share of the database's time that is spent on a part, 0 to 1; 0 where nothing is said of it.
    pub fn share(&self, part: Part) -> f64 {
        self.split.as_ref().map_or(0.0, |split| split.share(part))
    }

    /// How a class is answered.
    pub fn response(&self, class: Class) -> Option<&Response> {
        self.responses.iter().find(|response| response.class == class)
    }
}
