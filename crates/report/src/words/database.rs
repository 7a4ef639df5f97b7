//! Databases and the wait classes of their sessions as text.

use plimsoll_language::{label, say};
use plimsoll_record::{DatabaseAbout, SessionTimes, Spent, StepWork, SuiteRun};
use plimsoll_units::Bytes;

use super::clean;
use crate::number;

/// Name of a wait class, and its letter for bars without colour.
pub(crate) fn spent(spent: Spent) -> (&'static str, char) {
    match spent {
        Spent::Processor => ("CPU", 'C'),
        Spent::Reading => (label!("reads"), 'R'),
        Spent::Writing => (label!("writes"), 'W'),
        Spent::Committing => (label!("commits"), 'F'),
        Spent::Locked => (label!("locks"), 'L'),
        Spent::Internal => (label!("internal"), 'I'),
        Spent::Client => (label!("client"), 'N'),
        Spent::Other => (label!("other"), 'o'),
    }
}

/// All wait classes in display order.
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

/// The share of a wait class, 0 to 1; `None` if it was not sampled.
pub(crate) fn share_of(split: &SessionTimes, part: Spent) -> Option<f64> {
    let shares = split.shares.iter().filter(|(existing, share)| *existing == part && share.is_finite());
    shares.map(|(_, share)| share.clamp(0.0, 1.0)).reduce(|a, b| (a + b).min(1.0))
}

/// A share in whole per cent, with one decimal below 1 %: `12 %`, `0.4 %`.
pub(crate) fn share(value: f64) -> String {
    let unit = if value < 0.01 { 1e3 } else { 1e2 };
    let value = if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.0 };
    number::percent((value * unit).round() / unit)
}

/// Wait classes in short: `CPU 12 %, reads 70 %, commits 15 %`. Shares below half a per cent are omitted.
pub(crate) fn split(split: &SessionTimes) -> String {
    const LEAST: f64 = 0.005;
    let observed = PARTS.iter().filter_map(|part| Some((spent(*part).0, share_of(split, *part)?)));
    let parts: Vec<String> =
        observed.filter(|(_, value)| *value >= LEAST).map(|(name, value)| format!("{name} {}", share(value))).collect();
    parts.join(label!(", "))
}

/// Description of a database on one line; empty if unknown.
pub(crate) fn about(about: &DatabaseAbout) -> String {
    if about.system.is_empty() {
        return String::new();
    }
    let mut parts = vec![format!("{} {}", clean(&about.system), clean(&about.version)).trim().to_owned()];
    if about.created {
        parts.push(label!("created for the run").into());
    }
    if about.block > Bytes::ZERO {
        parts.push(say!("blocks of {}", about.block));
    }
    parts.extend(about.cache.map(|cache| say!("own cache {cache}")));
    parts.extend(about.memory.map(|memory| say!("at most {memory} of memory, page cache included")));
    let path = |direct| if direct { label!("bypass") } else { label!("use") };
    parts.extend(about.direct.map(|direct| say!("data files {} the page cache", path(direct))));
    let waits = |durable| if durable { label!("wait") } else { label!("do not wait") };
    parts.extend(about.durable.map(|durable| say!("commits {} for the storage", waits(durable))));
    parts.extend(about.folder.as_ref().map(|folder| say!("data in {}", clean(folder))));
    parts.join(label!(", "))
}

/// Settings that affect storage: `fsync on, wal_sync_method fdatasync`.
pub(crate) fn settings(about: &DatabaseAbout) -> String {
    let each = about.settings.iter().map(|(name, value)| format!("{} {}", clean(name), clean(value)));
    each.collect::<Vec<_>>().join(label!(", "))
}

fn step_figures() -> &'static str {
    label!(
        "over the whole of each step, from its first operation to its last answer, a final flush \
                            included; times are service times; 1 MB is 1,000,000 bytes"
    )
}

/// Definitions of the figures of a suite.
pub(crate) fn meant(suite: &SuiteRun) -> String {
    let has = |required: fn(&StepWork) -> bool| suite.steps.iter().any(|step| step.counts && required(&step.work));
    let mut parts: Vec<&str> = Vec::new();
    if has(|work| matches!(work, StepWork::Io { .. } | StepWork::Files { .. })) {
        parts.push(step_figures());
    }
    if has(|work| matches!(work, StepWork::Statements(_))) {
        parts.push(label!(
            "statements: time from submission to the last row, in sequence in a single session; rates are \
             averages over the step"
        ));
    }
    if has(|work| matches!(work, StepWork::Sessions(_))) {
        parts.push(label!(
            "transactions: response times measured by the sessions without the warm-up, with 95 % \
             intervals by batch means; blocks and log flushes counted by the database, and storage latency measured by \
             its block device, over the same time"
        ));
    }
    if parts.is_empty() { step_figures().into() } else { parts.join(label!("; ")) }
}
