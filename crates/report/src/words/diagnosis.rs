//! Verdicts of a diagnosis in sentences, each with what to do. Knows nothing about layout.

mod commits;
mod devices;
mod works;

use plimsoll_choose::diagnosis::{Part, Verdict};

use super::clean;
use crate::number;

pub(crate) use works::{quantity, value};

/// A verdict in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// What kind of finding it is: `answer`, `cause`, `storage`, `limit`, `memory` or `note`.
    pub word: &'static str,
    /// What was found, in a sentence or two.
    pub text: String,
    /// What to do about it; empty where nothing follows.
    pub remedy: String,
}

/// Puts a verdict into words.
pub fn told(verdict: &Verdict) -> Told {
    answer(verdict)
        .or_else(|| commits::told(verdict))
        .or_else(|| devices::told(verdict))
        .or_else(|| works::told(verdict))
        .unwrap_or_else(|| note(verdict))
}

/// The answer in a few words; none for what is no answer.
pub(crate) const fn headline(verdict: &Verdict) -> Option<&'static str> {
    Some(match verdict {
        Verdict::Storage { .. } => "Storage is the problem",
        Verdict::StorageInPart { .. } => "Storage is part of the problem",
        Verdict::LogBehindLocks { .. } => "The log may be behind the locks",
        Verdict::NotStorage { .. } => "Storage is not the problem",
        Verdict::StorageAtLeast { .. } => "Storage cannot be cleared",
        Verdict::Untold { .. } => "Not told by these inputs",
        Verdict::Quiet { .. } => "Hardly anything to do",
        _ => return None,
    })
}

/// A part of a database's time.
pub const fn part(part: Part) -> &'static str {
    match part {
        Part::Processor => "processor",
        Part::RandomRead => "random reads",
        Part::SequentialRead => "sequential reads",
        Part::Read => "reads",
        Part::LogWrite => "log writes",
        Part::CommitRest => "commits, beside log writes",
        Part::Temp => "temp reads and writes",
        Part::OtherStorage => "other I/O",
        Part::Lock => "locks",
        Part::Concurrency => "memory structures",
        Part::Cluster => "cluster",
        Part::Network => "network",
        Part::Managed => "resource manager",
        Part::OtherWaits => "other waits",
        Part::Unsaid => "in no counter",
    }
}

/// The same within a sentence about time: "work on processors".
const fn spent(part: Part) -> &'static str {
    match part {
        Part::Processor => "work on processors",
        Part::LogWrite => "commits that wait for log writes",
        Part::CommitRest => "commits that wait for something else than the log write",
        Part::Temp => "reads and writes of temp files",
        Part::OtherStorage => "other I/O",
        Part::Lock => "locks of other transactions",
        Part::Concurrency => "structures in memory that other sessions use",
        Part::Cluster => "other instances of the cluster",
        Part::Network => "the network",
        Part::Managed => "the resource manager",
        Part::OtherWaits => "waits for other things",
        Part::Unsaid => "in no counter",
        reads => self::part(reads),
    }
}

/// A share as people say it: `42 %`, `4.2 %`, `less than 0.1 %`.
pub(crate) fn share(share: f64) -> String {
    match share * 100.0 {
        percent if percent.abs() >= 9.95 => format!("{percent:.0} %"),
        percent if percent > 0.0 && percent < 0.05 => "less than 0.1 %".to_owned(),
        // A small negative share is rounded to -0, and shown as 0.
        percent => format!("{} %", number::three((percent * 10.0).round() / 10.0 + 0.0)),
    }
}

/// Seconds with their unit: `84.1 us`, `8.2 ms`.
pub(crate) fn seconds(seconds: f64) -> String {
    number::time(seconds * 1e9)
}

fn of_all(part: f64) -> String {
    format!("{} of the database's time", share(part))
}

/// What would be saved, where it is something.
fn saving(saved: f64) -> String {
    format!("Storage ten times as fast would save {} of it.", share(saved.max(0.0)))
}

/// Hosts that are busy for less of the time have processors to spare.
const IDLE: f64 = 0.5;

/// How far a slow log may be behind what is held until a commit is written.
fn log_behind_locks(write_s: f64, all: f64, held: f64, locks: f64) -> String {
    format!(
        "A write of the log takes {}. Sessions hold row locks and blocks of the cluster until their commit is \
         written, so its time shows as theirs: storage is {} as counted, and up to {} with the waits that may \
         hang on commits (locks {}).",
        seconds(write_s),
        of_all(all),
        share(all + held),
        share(locks)
    )
}

/// What to do where the longest part is no storage.
fn not_storage(main: Part, host_busy: Option<f64>) -> &'static str {
    match main {
        Part::Processor if host_busy.is_some_and(|busy| busy < IDLE) => {
            "Do not buy storage, nor processors, which are idle most of the time: look at the statements that use \
             them."
        }
        Part::Processor => {
            "Do not buy storage for this: look at the statements that use the processors, or at more of these."
        }
        Part::Unsaid => "Do not buy storage for this: look at the processors of the host first.",
        _ => "Do not buy storage for this: look at what sessions wait for.",
    }
}

fn answer(verdict: &Verdict) -> Option<Told> {
    let (text, remedy) = match *verdict {
        Verdict::Storage { share: all, part, part_share, saved } => (
            format!(
                "Storage is what sessions wait for: {}, most of it {} ({}). {}",
                of_all(all),
                spent(part),
                share(part_share),
                saving(saved)
            ),
            "See below whether the storage is slow, at its limit, or asked for more than it need be; then size it.",
        ),
        Verdict::StorageInPart { share: all, saved, main, main_share } => (
            format!(
                "Storage is {}; the largest part is {} ({}). {}",
                of_all(all),
                spent(main),
                share(main_share),
                saving(saved)
            ),
            "Faster storage helps as far as that; look at the largest part as well.",
        ),
        Verdict::LogBehindLocks { write_s, share: all, held, locks } => (
            log_behind_locks(write_s, all, held, locks),
            "Make the log's writes faster first, with a volume of their own or a higher level; then diagnose again: what \
             is left of the locks is the application's.",
        ),
        Verdict::NotStorage { share: all, at_most, host_busy, main, main_share } => (
            format!(
                "Storage is not the problem: {} is {}, and storage {}. No storage, however fast, saves more than {}.",
                of_all(main_share),
                spent(main),
                share(all),
                share(at_most)
            ),
            not_storage(main, host_busy),
        ),
        Verdict::StorageAtLeast { share: all, unsaid } => (
            format!(
                "Storage is {} at least; {} is in no counter: processors, locks, or waits for what another session \
                 writes.",
                of_all(all),
                share(unsaid)
            ),
            "See below whether storage is slow or at its limit; the host's processors (collect linux) and samples of \
             wait events tell the rest.",
        ),
        Verdict::Untold { says_latency } => (
            format!(
                "No input says what sessions wait for, so whether storage is the problem cannot be told{}.",
                if says_latency { "; how it answers can" } else { ", nor how it answers" }
            ),
            if says_latency {
                "Give an AWR or Statspack report, or waits of the database, of the same time."
            } else {
                "Give an AWR or Statspack report, or waits of the database; or iostat -x of the host, for latencies."
            },
        ),
        Verdict::Quiet { active } => (
            format!("The database hardly works: {} sessions are active at a time, on average.", number::three(active)),
            "Give reports of a busy hour, if there is one.",
        ),
        _ => return None,
    };
    let word = if matches!(verdict, Verdict::Quiet { .. }) { "note" } else { "answer" };
    Some(Told { word, text, remedy: remedy.to_owned() })
}

fn note(verdict: &Verdict) -> Told {
    let (word, text, remedy) = match verdict {
        Verdict::CacheHelps { factor, bytes, reads, saved } => (
            "memory",
            format!(
                "A buffer cache {} times as large ({}) would save {} of the reads and {}.",
                number::three(*factor),
                plimsoll_units::Bytes::new((bytes / MIB).round() as u64 * (1 << 20)),
                share(*reads),
                of_all(*saved)
            ),
            "Compare its price with that of faster storage.",
        ),
        Verdict::CacheDoesNot { factor, saved } => (
            "memory",
            format!(
                "A buffer cache {} times as large would not help: it saves {}.",
                number::three(*factor),
                of_all(saved.max(0.0))
            ),
            "",
        ),
        Verdict::LongWindows { longest_s } => (
            "note",
            format!("A window of {} hides its peaks: all of this holds for its mean.", duration(*longest_s)),
            "Give a report for each hour, or samples of a minute.",
        ),
        _ => ("note", String::new(), ""),
    };
    Told { word, text, remedy: remedy.to_owned() }
}

const MIB: f64 = 1_048_576.0;

/// A length of time as people say it: `7 days`, `90 min`, `10 s`.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 172_800.0 => format!("{} days", number::three(s / 86_400.0)),
        s if s >= 7_200.0 => format!("{} hours", number::three(s / 3_600.0)),
        s if s >= 120.0 => format!("{} min", number::three(s / 60.0)),
        s => format!("{} s", number::three(s)),
    }
}

/// The name of an event, without what could move a cursor.
fn event(name: &str) -> String {
    clean(name)
}
