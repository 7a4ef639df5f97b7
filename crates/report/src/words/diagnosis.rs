//! Verdicts of a diagnosis as sentences with remedies.

mod busy;
mod censored;
mod commits;
mod devices;
mod headline;
mod hosts;
mod works;

use plimsoll_choose::diagnosis::{DiagnosisVerdict, Split, TimePart};
use plimsoll_language::{label, say};

use super::clean;
use crate::number;

pub(crate) use busy::highest as busiest;
pub(crate) use censored::reason as censored_reason;
pub(crate) use devices::rate_of;
pub(crate) use headline::headline;
pub(crate) use works::{quantity, value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictText {
    /// Kind of finding: `answer`, `cause`, `storage`, `limit`, `memory` or `note`.
    pub kind: &'static str,
    /// The finding in a sentence or two.
    pub text: String,
    /// The remedy; may be empty.
    pub remedy: String,
}

pub fn verdict_text(verdict: &DiagnosisVerdict) -> VerdictText {
    censored::verdict_text(verdict)
        .or_else(|| contradiction(verdict))
        .or_else(|| answer(verdict))
        .or_else(|| hosts::verdict_text(verdict))
        .or_else(|| busy::verdict_text(verdict))
        .or_else(|| commits::verdict_text(verdict))
        .or_else(|| devices::describe(verdict))
        .or_else(|| works::verdict_text(verdict))
        .unwrap_or_else(|| note(verdict))
}

/// Name of a part of a database's time.
pub fn part(part: TimePart) -> &'static str {
    match part {
        TimePart::Processor => label!("processor"),
        TimePart::RandomRead => label!("random reads"),
        TimePart::SequentialRead => label!("sequential reads"),
        TimePart::Read => label!("reads"),
        TimePart::OtherUserIo => label!("other User I/O"),
        TimePart::LogWrite => label!("log writes"),
        TimePart::CommitRest => label!("commits, except log writes"),
        TimePart::Temp => label!("temp reads and writes"),
        TimePart::OtherStorage => label!("other I/O"),
        TimePart::LogSwitch => label!("log switches"),
        TimePart::Lock => label!("locks"),
        TimePart::Concurrency => label!("memory structures"),
        TimePart::Cluster => label!("cluster"),
        TimePart::Network => label!("network"),
        TimePart::Managed => label!("resource manager"),
        TimePart::OtherWaits => label!("other waits"),
        TimePart::Unaccounted => label!("in no counter"),
    }
}

/// Description of a part within a sentence: "work on processors".
fn spent(part: TimePart) -> &'static str {
    match part {
        TimePart::Processor => label!("work on processors"),
        TimePart::LogWrite => label!("commits that wait for log writes"),
        TimePart::CommitRest => label!("commits that wait for other things than log writes"),
        TimePart::Temp => label!("reads and writes of temp files"),
        TimePart::OtherStorage => label!("other I/O"),
        TimePart::LogSwitch => label!("switches of the log file"),
        TimePart::Lock => label!("locks of other transactions"),
        TimePart::Concurrency => label!("memory structures used by other sessions"),
        TimePart::Cluster => label!("other instances of the cluster"),
        TimePart::Network => label!("the network"),
        TimePart::Managed => label!("the resource manager"),
        TimePart::OtherWaits => label!("waits for other things"),
        TimePart::Unaccounted => label!("in no counter"),
        reads => self::part(reads),
    }
}

/// A share: `42 %`, `4.2 %`, `less than 0.1 %`.
pub(crate) fn share(share: f64) -> String {
    match share * 100.0 {
        percent if percent.abs() >= 9.95 => format!("{percent:.0} %"),
        percent if percent > 0.0 && percent < 0.05 => label!("less than 0.1 %").to_owned(),
        percent => format!("{} %", number::three((percent * 10.0).round() / 10.0)),
    }
}

/// Seconds with a unit: `84.1 us`, `8.2 ms`.
pub(crate) fn seconds(seconds: f64) -> String {
    number::time(seconds * 1e9)
}

fn of_all(part: f64) -> String {
    say!("{} of the database's time", share(part))
}

/// Saving by faster storage.
fn saving(saved: f64) -> String {
    say!("Storage ten times as fast would save {}.", of_all(saved.max(0.0)))
}

/// `most of it random reads (30 %)`, where its part is more than half of storage.
fn largest_part(part: TimePart, part_share: f64, storage: f64) -> String {
    let of = if part_share > storage / 2.0 { label!("most of it") } else { label!("the largest part of it") };
    say!("{of} {} ({})", spent(part), share(part_share))
}

/// Storage and the largest other part, the larger first.
fn storage_in_part(all: f64, [part, other]: [(TimePart, f64); 2]) -> String {
    let (next, next_share) = (spent(other.0), share(other.1));
    if all > other.1 {
        let of = say!("of which {} {}", spent(part.0), share(part.1));
        say!("Storage has the largest share: {}, {of}; the next is {next} ({next_share}).", of_all(all))
    } else {
        say!("Storage is {}; the largest part is {next} ({next_share}).", of_all(all))
    }
}

/// Hosts with a lower utilisation have processors to spare.
const IDLE: f64 = 0.5;

/// Text of the effect of slow log writes on lock waits.
fn log_behind_locks(write_s: f64, all: f64, sustained: f64, locks: f64) -> String {
    say!(
        "A log write takes {}. Sessions hold row locks and cluster blocks until their commit is \
         written, so part of the lock time is log time: storage is {} as counted, and up to {} with waits that may \
         depend on commits (locks {}).",
        seconds(write_s),
        of_all(all),
        share(all + sustained),
        share(locks)
    )
}

/// Processors that the sessions use, if those of the host are busier by more than `host_busy` explains.
///
/// `host_busy` is a number of processors.
pub(crate) fn own_processors(split: &Split, host_busy: f64) -> Option<String> {
    /// Smaller differences come from sampling.
    const NOTABLE: f64 = 0.2;
    let own = split.mean_sessions(split.share(TimePart::Processor));
    let is_notable = split.has_processor_time && own < host_busy * (1.0 - NOTABLE);
    is_notable.then(|| say!("{} in use, {} by sessions of this database", number::three(host_busy), number::three(own)))
}

/// The difference between storage's share and its bound.
pub(crate) fn second_log_write(all: f64, bound: f64) -> &'static str {
    if bound > all && share(bound) != share(all) { label!(", if each commit waits for two log writes") } else { "" }
}

/// Remedy if the largest part is not storage, with the bound of what storage saves.
fn not_storage(main: TimePart, host_busy: Option<f64>, bound: f64) -> String {
    let rest = match main {
        TimePart::Processor if host_busy.is_some_and(|busy| busy < IDLE) => {
            label!(
                ", and more processors save no more, as the database uses a small part of them: tune the statements that use them."
            )
        }
        TimePart::Processor => label!(": tune the statements that use the processors, or add processors."),
        TimePart::Unaccounted if host_busy.is_some_and(|busy| busy < IDLE) => {
            label!(", as far as waits are counted: check the time in no counter, below.")
        }
        TimePart::Unaccounted => label!(": check the host's processors first."),
        _ => label!(": check the events that sessions wait for."),
    };
    say!("Faster storage saves at most {}{rest}", of_all(bound))
}

/// Text and remedy if time in no counter may be waiting for storage, too.
/// The share of storage as counted, and with two log writes for each commit.
fn at_least([all, at_most]: [f64; 2], unaccounted: f64, are_processors_free: bool) -> (String, &'static str) {
    /// Smaller differences do not change the answer.
    const FAR: f64 = 0.05;
    let counted = say!("Storage is at least {}; {} is in no counter", of_all(all), share(unaccounted));
    if are_processors_free {
        let text = say!(
            "{counted}, although the processors are free: it may be storage as well, as submissions of direct I/O that block \
             are not counted as waits."
        );
        let remedy = label!(
            "Check the host's time in I/O wait and the latencies of its devices (iostat -xt) in the same period, then run \
                      plimsoll size."
        );
        return (text, remedy);
    }
    let twice = if at_most > all + FAR {
        say!(
            " If each commit waits for two log writes, the one in progress and its own, storage is {}.",
            share(at_most)
        )
    } else {
        String::new()
    };
    let text = say!("{counted}: processors, locks, or waits for writes of another session.{twice}");
    let remedy = label!(
        "Check below whether storage is slow or at its limit; add the host's processor load (plimsoll collect linux) and \
                  samples of wait events."
    );
    (text, remedy)
}

/// The answer if times contradict each other.
fn contradiction(verdict: &DiagnosisVerdict) -> Option<VerdictText> {
    let DiagnosisVerdict::WaitsExceedTime { waited_s, processor_s, database_s } = *verdict else { return None };
    let [waited, all] = [waited_s, database_s].map(number::three);
    let worked = processor_s.map(|worked_s| say!(" and {} s of processors", number::three(worked_s)));
    let text = say!(
        "The input contradicts itself: {waited} s of waits{} are more than the {all} s of database time allow, so that \
         shares of it and the effect of faster storage are unknown.",
        worked.unwrap_or_default()
    );
    let remedy = label!(
        "Check that all tables are of the same report and period, and that none was edited; provide the report as the \
         database wrote it."
    );
    Some(VerdictText { kind: label!("answer"), text, remedy: remedy.to_owned() })
}

/// Text and remedy of an idle database.
fn idle(verdict: &DiagnosisVerdict) -> Option<(String, &'static str)> {
    Some(match *verdict {
        DiagnosisVerdict::Quiet { active } => (
            say!("The database is nearly idle: {} active sessions on average.", number::three(active)),
            label!("Use reports of a busy period, if any."),
        ),
        DiagnosisVerdict::BelowResolution { active_max } => (
            say!(
                "The database is nearly idle: at most {} active sessions on average, which the input rounds, so shares of \
                 its time and the effect of faster storage are unknown.",
                number::three(active_max)
            ),
            label!("Use reports of a busy period, or an AWR report of this one, which has the time in seconds."),
        ),
        _ => return None,
    })
}

fn answer(verdict: &DiagnosisVerdict) -> Option<VerdictText> {
    if let DiagnosisVerdict::NotStorage { share: all, at_most: bound, host_busy, main, main_share } = *verdict {
        let text = say!(
            "Storage is not the problem: {} is {}, and storage {}. Even zero-latency storage saves at most {}{}.",
            of_all(main_share),
            spent(main),
            share(all),
            share(bound),
            second_log_write(all, bound)
        );
        return Some(VerdictText { kind: label!("answer"), text, remedy: not_storage(main, host_busy, bound) });
    }
    let (text, remedy) = match *verdict {
        DiagnosisVerdict::Storage { share: all, part, part_share, saved } => (
            say!(
                "Sessions mostly wait for storage: {}, {}. {}",
                of_all(all),
                largest_part(part, part_share, all),
                saving(saved)
            ),
            label!("Check below whether the storage is slow, at its limit, or overused; then run plimsoll size."),
        ),
        DiagnosisVerdict::StorageInPart { share: all, part, part_share, saved, main, main_share, behind } => (
            say!("{} {}", storage_in_part(all, [(part, part_share), (main, main_share)]), saving(saved)),
            if behind >= 0.8 * all {
                label!(
                    "Nearly all of it is waiting for background writes: enlarge the log files before the storage is changed, and check \
                 the largest other part."
                )
            } else {
                label!("Faster storage reduces this part only; check the largest other part as well.")
            },
        ),
        DiagnosisVerdict::LogBehindLocks { write_s, share: all, sustained, locks } => (
            log_behind_locks(write_s, all, sustained, locks),
            label!(
                "Speed up log writes first, with a separate volume or a higher level; then diagnose again: the remaining \
             lock time is caused by the application."
            ),
        ),
        DiagnosisVerdict::StorageAtLeast { share: all, at_most, unaccounted, are_processors_free } => {
            at_least([all, at_most], unaccounted, are_processors_free)
        }
        DiagnosisVerdict::NoSessionTimes { has_latency, on_processor, host } => (
            say!(
                "No input has wait events, so it is undetermined whether storage is the problem{}.{}{}",
                if has_latency {
                    label!("; latencies are available")
                } else {
                    label!("; latencies are missing as well")
                },
                on_processor.map_or(String::new(), |busy| say!(" Processors are {}.", of_all(busy))),
                host.map_or(String::new(), |host| say!(" The {}.", hosts::load(&host)))
            ),
            if has_latency {
                label!("Add an AWR or Statspack report, or wait events of the database, of the same period.")
            } else {
                label!(
                    "Add an AWR or Statspack report, or wait events of the database; for latencies, iostat -x of the host."
                )
            },
        ),
        DiagnosisVerdict::Quiet { .. } | DiagnosisVerdict::BelowResolution { .. } => idle(verdict)?,
        _ => return None,
    };
    let word = if matches!(verdict, DiagnosisVerdict::Quiet { .. }) { label!("note") } else { label!("answer") };
    Some(VerdictText { kind: word, text, remedy: remedy.to_owned() })
}

fn note(verdict: &DiagnosisVerdict) -> VerdictText {
    let (word, text, remedy) = match verdict {
        DiagnosisVerdict::CacheHelps { factor, bytes, reads, saved } => (
            label!("memory"),
            say!(
                "A buffer cache {} times as large ({}) would save {} of the reads and {}.",
                number::three(*factor),
                plimsoll_units::Bytes::new((bytes / MIB).round() as u64 * (1 << 20)),
                share(*reads),
                of_all(*saved)
            ),
            label!("Compare its price with that of faster storage."),
        ),
        DiagnosisVerdict::CacheDoesNot { factor, saved } => (
            label!("memory"),
            say!(
                "A buffer cache {} times as large would not help: it saves {}.",
                number::three(*factor),
                of_all(saved.max(0.0))
            ),
            "",
        ),
        DiagnosisVerdict::LongWindows { longest_s } => (
            label!("note"),
            say!("A window of {} hides peaks: these verdicts apply to its mean.", duration(*longest_s)),
            label!("Use hourly reports, or samples per minute."),
        ),
        _ => (label!("note"), String::new(), ""),
    };
    VerdictText { kind: word, text, remedy: remedy.to_owned() }
}

const MIB: f64 = 1_048_576.0;

/// A duration: `7 days`, `90 min`, `10 s`.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 172_800.0 => say!("{} days", number::three(s / 86_400.0)),
        s if s >= 7_200.0 => say!("{} hours", number::three(s / 3_600.0)),
        s if s >= 120.0 => format!("{} min", number::three(s / 60.0)),
        s => format!("{} s", number::three(s)),
    }
}

/// Name of an event without control characters.
/// The name of an event, or of a part of the work: a statement, segment or file.
pub(crate) fn event(name: &str) -> String {
    match name.split_once(' ') {
        Some(("statement", of)) => say!("statement {}", clean(of)),
        Some(("segment", of)) => say!("segment {}", clean(of)),
        Some(("file", of)) => say!("file {}", clean(of)),
        _ => clean(name),
    }
}
