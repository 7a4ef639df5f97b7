//! Databases in words: what they are, and where their sessions' time went. Knows nothing about layout.

use plimsoll_record::{DatabaseAbout, Spent, Split, StepWork, SuiteRun};
use plimsoll_units::Bytes;

use super::clean;
use crate::number;

/// A part of sessions' time as a word, and as the letter that stands for it where there is no colour.
pub(crate) const fn spent(spent: Spent) -> (&'static str, char) {
    match spent {
        Spent::Processor => ("CPU", 'C'),
        Spent::Reading => ("reads", 'R'),
        Spent::Writing => ("writes", 'W'),
        Spent::Committing => ("commits", 'F'),
        Spent::Locked => ("locks", 'L'),
        Spent::Internal => ("internal", 'I'),
        Spent::Client => ("client", 'N'),
        Spent::Other => ("other", 'o'),
    }
}

/// All parts, in the order in which they are shown.
pub(crate) const PARTS: [Spent; 8] = [
    Spent::Processor,
    Spent::Reading,
    Spent::Writing,
    Spent::Committing,
    Spent::Locked,
    Spent::Internal,
    Spent::Client,
    Spent::Other,
];

/// The share of one part, from 0 to 1; none where it was not seen.
pub(crate) fn share_of(split: &Split, part: Spent) -> Option<f64> {
    let shares = split.shares.iter().filter(|(known, share)| *known == part && share.is_finite());
    shares.map(|(_, share)| share.clamp(0.0, 1.0)).reduce(|a, b| (a + b).min(1.0))
}

/// A share in whole per cent, or in tenths below one: `12 %`, `0.4 %`.
pub(crate) fn share(value: f64) -> String {
    let unit = if value < 0.01 { 1e3 } else { 1e2 };
    let value = if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.0 };
    number::percent((value * unit).round() / unit)
}

/// Where the time went, in short: `CPU 12 %, reads 70 %, commits 15 %`. What is less than half a per cent is left out.
pub(crate) fn split(split: &Split) -> String {
    const LEAST: f64 = 0.005;
    let seen = PARTS.iter().filter_map(|part| Some((spent(*part).0, share_of(split, *part)?)));
    let parts: Vec<String> =
        seen.filter(|(_, value)| *value >= LEAST).map(|(name, value)| format!("{name} {}", share(value))).collect();
    parts.join(", ")
}

/// What a database is, in one line; empty where nothing is known of it.
pub(crate) fn about(about: &DatabaseAbout) -> String {
    if about.system.is_empty() {
        return String::new();
    }
    let mut parts = vec![format!("{} {}", clean(&about.system), clean(&about.version)).trim().to_owned()];
    if about.made {
        parts.push("made for the run".into());
    }
    if about.block > Bytes::ZERO {
        parts.push(format!("blocks of {}", about.block));
    }
    parts.extend(about.cache.map(|cache| format!("own cache {cache}")));
    parts.extend(about.memory.map(|memory| format!("at most {memory} of memory, page cache included")));
    let path = |direct| if direct { "past" } else { "through" };
    parts.extend(about.direct.map(|direct| format!("data files {} the page cache", path(direct))));
    let waits = |durable| if durable { "wait" } else { "do not wait" };
    parts.extend(about.durable.map(|durable| format!("commits {} for the storage", waits(durable))));
    parts.extend(about.folder.as_ref().map(|folder| format!("data in {}", clean(folder))));
    parts.join(", ")
}

/// Settings that matter for its storage: `fsync on, wal_sync_method fdatasync`.
pub(crate) fn settings(about: &DatabaseAbout) -> String {
    let each = about.settings.iter().map(|(name, value)| format!("{} {}", clean(name), clean(value)));
    each.collect::<Vec<_>>().join(", ")
}

/// How the figures of a suite are meant.
pub(crate) fn meant(suite: &SuiteRun) -> String {
    let has = |wanted: fn(&StepWork) -> bool| suite.steps.iter().any(|step| step.counts && wanted(&step.work));
    let mut parts: Vec<&str> = Vec::new();
    if has(|work| matches!(work, StepWork::Io { .. } | StepWork::Files { .. })) {
        parts.push(crate::suite::MEANT);
    }
    if has(|work| matches!(work, StepWork::Statements(_))) {
        parts.push(
            "statements: each from when it was asked to its last row, in one session after the other; figures a second are \
             over the whole of a step",
        );
    }
    if has(|work| matches!(work, StepWork::Sessions(_))) {
        parts.push(
            "transactions: response times as a session saw them, over the measured time without the warm-up, with 95 % \
             intervals by batch means; blocks and log flushes as the database counted them, and the storage's latency as \
             its block device counted it, over the same time",
        );
    }
    if parts.is_empty() { crate::suite::MEANT.into() } else { parts.join("; ") }
}
