//! Whether commits reached the storage, and which figures are about that and not about speed.
//!
//! A commit is looked at from three sides: how long it took, how often the server flushed its log for it, and how often the
//! device was flushed. Knows nothing about layouts.

use plimsoll_record::Finding;
use plimsoll_units::Span;

use super::create::MANY;
use super::figures::{Figure, Run};
use super::{COMMITS, Test};
use crate::ground::Facts;
use crate::recipes::commits::{Durable, durable};
use crate::sql::StatementsSeen;

/// A statement with fewer flushes than this was not flushed each time.
const FLUSHED: f64 = 0.5;
/// A test that spends more of its time in flushes than this is about flushing; one below the other is not.
const MOSTLY: f64 = 0.5;
const HARDLY: f64 = 0.1;

/// How a statement was flushed, on average.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Flushed {
    /// Median time of one.
    median: Span,
    /// Flushes of the server's log for each; none where the server does not count them.
    server: Option<f64>,
    /// Flushes of the device for each; none where the device is not known.
    device: Option<f64>,
}

impl Flushed {
    fn of(seen: &StatementsSeen) -> Option<Self> {
        let each = |flushes: u64| flushes as f64 / seen.done as f64;
        Some(Self {
            median: seen.each.quantile(0.5).filter(|_| seen.done > 0)?,
            server: seen.counted.log_flushes.map(each),
            device: seen.storage.disk.as_ref().map(|disk| each(disk.flushes)),
        })
    }

    fn counted(&self) -> String {
        let known = |flushes: Option<f64>, who: &str| {
            flushes.map_or_else(
                || format!("{who} does not say how often"),
                |flushes| format!("{who} counted {flushes:.2}"),
            )
        };
        format!(
            "{}, {}",
            known(self.server, "the server"),
            known(self.device, "the device with all that else is on it")
        )
    }
}

/// What can be said of commits, and of the figures that hang on them.
pub(super) fn verdicts(commits: Option<&StatementsSeen>, figures: &[Figure<'_>], facts: &Facts) -> Vec<String> {
    let mut said = Vec::new();
    let commit = commits.and_then(Flushed::of);
    if let Some(commit) = &commit {
        said.push(format!(
            "a row in a transaction of its own took {} (median of {}); flushes for each: {}",
            commit.median,
            commits.map_or(COMMITS, |seen| seen.done),
            commit.counted()
        ));
        said.push(judged(commit, facts));
    }
    said.extend(tables(figures));
    said.extend(commits.and_then(|seen| shares(seen, figures)));
    said
}

/// Whether commits reached the storage, as far as can be told.
fn judged(commit: &Flushed, facts: &Facts) -> String {
    let about = facts.database.as_ref().map(|(_, about)| about);
    let is_durable = about.and_then(|about| about.durable);
    let Durable { least, medium } = durable(facts);
    if is_durable == Some(false) {
        return "commits did not reach the storage: the server's settings tell it not to flush; every figure of a test that \
                writes is about memory, and its data are lost when the host fails"
            .into();
    }
    if commit.server.is_some_and(|flushes| flushes < FLUSHED) {
        return "commits did not reach the storage one by one: the server flushed its log for fewer than every second of them; \
                look at its settings for commits before its figures are compared with those of a server that flushes"
            .into();
    }
    if commit.median < least {
        let finding = Finding::FlushNotHonoured { median: commit.median };
        return format!("{}; {}", finding.text(), finding.remedy());
    }
    let set = match is_durable {
        Some(true) => "the server is set to flush at each commit",
        _ => "how the server is set to flush is not known",
    };
    match commit.device {
        Some(flushes) if flushes < FLUSHED => format!("{set}, and the device was not flushed: {}", unflushed(facts)),
        Some(_) => format!(
            "{set}, the device was flushed for it, and it took no less than {medium} can take: nothing speaks against it that \
             commits reached the storage, and only a power cut proves it"
        ),
        None => format!(
            "{set}, and it took no less than {medium} can take; the device is not on this host, so whether it was flushed \
             cannot be told"
        ),
    }
}

/// Why a device saw no flush.
fn unflushed(facts: &Facts) -> String {
    let cache = facts.subject.device.as_ref().and_then(|device| device.write_cache.as_deref());
    match cache {
        Some("write through") => "the kernel takes its write cache for none or a safe one (write through), and passes no \
                                  flush on; is there a volatile cache behind it, commits are lost with its power"
            .into(),
        Some(cache) => format!(
            "its write cache says {cache}, so that commits may be in it and nowhere else; look for a filesystem without \
             barriers, or data that are not on this device"
        ),
        None => "either the kernel takes it for one without a volatile cache, or the filesystem sends no flushes (mounted \
                 without barriers, or in memory); the time of a commit says which: what takes tens of microseconds was in no \
                 disk's medium"
            .into(),
    }
}

/// What the tables of the test create cost.
fn tables(figures: &[Figure<'_>]) -> Option<String> {
    let made = figures.iter().find(|figure| figure.test == Test::Create && figure.name == MANY)?;
    let run = made.run()?;
    let flushed = Flushed::of(run.seen)?;
    Some(format!(
        "a CREATE TABLE took {} (median; {:.0} a second); flushes for each: {}",
        flushed.median,
        run.done as f64 / run.seen.span.as_secs_f64().max(1e-9),
        flushed.counted()
    ))
}

/// Which tests spent their time in flushes.
fn shares(commits: &StatementsSeen, figures: &[Figure<'_>]) -> Option<String> {
    let counted = commits.counted.log_flushes?;
    if (counted as f64) < commits.done as f64 * FLUSHED {
        return None;
    }
    let one = commits.span.as_secs_f64() / counted as f64;
    let mut groups: [Vec<String>; 3] = Default::default();
    for test in Test::ALL {
        let runs: Vec<&Run<'_>> =
            figures.iter().filter(|figure| figure.test == test).filter_map(|figure| figure.run()).collect();
        let seconds: f64 = runs.iter().map(|run| run.seen.span.as_secs_f64()).sum();
        let flushed: f64 = runs.iter().map(|run| flushing(run.seen, one)).sum();
        if seconds > 0.0 {
            let share = flushed / seconds;
            let group = if share > MOSTLY { 0 } else { usize::from(share < HARDLY) + 1 };
            groups[group].push(format!("{} {:.0} %", test.name(), share * 100.0));
        }
    }
    let meanings = ["about flushing and not about speed", "about both", "about processors and hardly about storage"];
    let said = groups.iter().zip(meanings).filter(|(tests, _)| !tests.is_empty());
    let said: Vec<String> = said.map(|(tests, meaning)| format!("{meaning}: {}", tests.join(", "))).collect();
    Some(format!("by the share of their time in flushes the tests are {}", said.join("; ")))
}

/// Seconds of flushes: as the server timed them; where it only counts them, each as long as `one`, which is that of a commit
/// that did little else. No less than the device was busy with flushes, which also has those of files that are no log.
fn flushing(seen: &StatementsSeen, one: f64) -> f64 {
    let timed = seen.counted.log_flush_time.map(Span::as_secs_f64);
    let of_log = timed.or_else(|| Some(seen.counted.log_flushes? as f64 * one)).unwrap_or(0.0);
    let of_device = seen.storage.disk.as_ref().map_or(0.0, |disk| disk.flush_time.as_secs_f64());
    of_log.max(of_device).min(seen.span.as_secs_f64())
}
