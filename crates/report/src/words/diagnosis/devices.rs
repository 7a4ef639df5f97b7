//! Verdicts about the latency of storage and its limits.

use plimsoll_catalogue::Counts;
use plimsoll_choose::diagnosis::{CountedEvent, DiagnosisVerdict};
use plimsoll_ingest::{Class, Measure, WaitCause};
use plimsoll_language::{label, say};

use super::{VerdictText, duration, event, seconds, share};
use crate::number;
use crate::words::clean;

pub(super) fn describe(verdict: &DiagnosisVerdict) -> Option<VerdictText> {
    let verdict_text =
        |word, (text, remedy): (String, &str)| VerdictText { kind: word, text, remedy: remedy.to_owned() };
    speed(verdict)
        .map(|text| verdict_text(label!("storage"), text))
        .or_else(|| limits(verdict).map(|text| verdict_text(label!("limit"), text)))
}

/// Operations of a class, as the subject of a sentence.
fn operations(class: Class) -> &'static str {
    match class {
        Class::All => label!("Operations"),
        Class::Read => label!("Reads"),
        Class::RandomRead => label!("Random reads"),
        Class::SequentialRead => label!("Sequential reads"),
        Class::Write => label!("Writes"),
        Class::RedoWrite => label!("Log writes"),
        Class::Flush => label!("Flushes"),
        Class::TempRead => label!("Temp reads"),
        Class::TempWrite => label!("Temp writes"),
        class => class.label(),
    }
}

/// The operations whose waits are counted together with those of a class.
fn waited(class: Class) -> &'static str {
    match class {
        Class::TempRead | Class::TempWrite => label!("temp reads and writes"),
        Class::Write => label!("storage"),
        _ => label!("them"),
    }
}

fn iops(rate: f64) -> String {
    format!("{} IOPS", number::three(rate))
}

/// A rate with the events that it counts.
pub(crate) fn rate_of(counted: CountedEvent, rate: f64) -> String {
    match counted {
        CountedEvent::Operation => iops(rate),
        CountedEvent::LogWrite => say!("{} log writes/s", number::three(rate)),
        CountedEvent::SessionWait => say!("{} waits/s", number::three(rate)),
    }
}

/// Mean bytes of operations from which their size is a part of their latency.
const LARGE_BYTES: f64 = 65_536.0;
/// Mean bytes from which their transfer takes as long as the latency of slow storage.
const TRANSFER_BYTES: f64 = 800_000.0;

/// ` of 4.67 MB` for large operations, otherwise empty.
fn format_size(bytes: Option<f64>) -> String {
    bytes.filter(|bytes| *bytes >= LARGE_BYTES).map_or_else(String::new, |bytes| match bytes {
        bytes if bytes < 1e6 => say!(" of {} kB", number::three(bytes / 1e3)),
        bytes => say!(" of {} MB", number::three(bytes / 1e6)),
    })
}

/// `Reads of 131 kB take 8 ms at 300 IOPS`, or the waits of sessions for them.
fn format_latency(class: Class, counted: CountedEvent, [latency_s, rate]: [f64; 2], bytes: Option<f64>) -> String {
    let (time, rate, size) = (seconds(latency_s), rate_of(counted, rate), format_size(bytes));
    match counted {
        CountedEvent::SessionWait => say!("Sessions wait {time} each for {}{size}, at {rate}", class.label()),
        _ => say!("{}{size} take {time} at {rate}", operations(class)),
    }
}

/// `2.4 in flight on average`, or the sessions that wait.
fn format_in_flight(counted: CountedEvent, count: f64) -> String {
    let count = number::three(count);
    match counted {
        CountedEvent::SessionWait => say!("{count} sessions waiting on average"),
        _ => say!("{count} in flight on average"),
    }
}

/// `3 of 60 windows`, `all 60 windows`.
fn count_windows(windows: usize, of: usize) -> String {
    if windows < of || of < 2 { say!("{windows} of {of} windows") } else { say!("all {of} windows") }
}

fn stalled(class: Class, pending: f64, [windows, of]: [usize; 2]) -> (String, &'static str) {
    let text = say!(
        "{} are pending (up to {}) while none completes, in {}: the storage, or its path, does not answer.",
        operations(class),
        number::three(pending),
        count_windows(windows, of)
    );
    (
        text,
        label!(
            "Check the device, its path and the kernel's log for errors and resets before changing the configuration."
        ),
    )
}

/// Seconds and rate of a class, and the share of the database's time that sessions wait for it.
fn slow_class(class: Class, latency: &str, of: Option<f64>) -> (String, &'static str) {
    let seldom = match of {
        None => label!("there are few of them").to_owned(),
        Some(of) if of <= 0.0 => label!("sessions do not wait for them").to_owned(),
        Some(of) => say!("sessions wait for {} in {} of the database's time", waited(class), share(of)),
    };
    (say!("{latency}: slow, but {seldom}."), label!("Only the statements that wait for them gain from faster storage."))
}

fn speed(verdict: &DiagnosisVerdict) -> Option<(String, &'static str)> {
    Some(match verdict {
        DiagnosisVerdict::Slow { class, counted, latency_s, iops: rate, bytes, in_flight } => (
            say!(
                "{}, with {}: the storage is slow, not overloaded.",
                format_latency(*class, *counted, [*latency_s, *rate], *bytes),
                format_in_flight(*counted, *in_flight)
            ),
            if bytes.is_some_and(|bytes| bytes >= TRANSFER_BYTES) {
                label!("Most of it is transfer: use storage or a path with more throughput for each stream.")
            } else {
                label!("More IOPS of the same kind do not help; use a medium or path with lower latency.")
            },
        ),
        DiagnosisVerdict::SlowClass { class, counted, latency_s, iops: rate, bytes, share } => {
            slow_class(*class, &format_latency(*class, *counted, [*latency_s, *rate], *bytes), *share)
        }
        DiagnosisVerdict::Transfer { class, counted, latency_s, iops: rate, bytes } => (
            say!(
                "{}: {} for each, so their time is that of the transfer, not a slow latency.",
                format_latency(*class, *counted, [*latency_s, *rate], Some(*bytes)),
                number::throughput(bytes / latency_s)
            ),
            label!(
                "More throughput of the storage or its path, or fewer bytes to read, help; a medium with lower latency does not."
            ),
        ),
        DiagnosisVerdict::Stalled { class, pending, windows, of } => stalled(*class, *pending, [*windows, *of]),
        DiagnosisVerdict::AtItsLimit { class, quiet_s, loaded_s, knee_iops, highest_iops } => {
            let knee = knee_iops.map_or(String::new(), |knee| say!(" Their latency doubles above {}.", iops(knee)));
            (
                say!(
                    "{} take {} in quiet windows and {} in the busiest (up to {}): the storage, or its path, is at its \
                     limit there.{knee}",
                    operations(*class),
                    seconds(*quiet_s),
                    seconds(*loaded_s),
                    iops(*highest_iops)
                ),
                label!("Raise that limit (IOPS, throughput, or the machine's limit), or spread the load over time."),
            )
        }
        DiagnosisVerdict::SlowOrLoaded { class, counted, latency_s, iops: rate, bytes, in_flight } => (
            say!(
                "{}, with {}: slow or overloaded storage.",
                format_latency(*class, *counted, [*latency_s, *rate], *bytes),
                format_in_flight(*counted, *in_flight)
            ),
            label!("Add several windows, quiet and busy: latency by rate distinguishes the two."),
        ),
        other => return waits(other),
    })
}

/// Text and remedy of verdicts about operations that are fast on average, and about single events.
fn waits(verdict: &DiagnosisVerdict) -> Option<(String, &'static str)> {
    Some(match verdict {
        DiagnosisVerdict::Many { class, counted, latency_s, iops: rate } => (
            say!(
                "{} take only {}: the wait time is high because of their number ({}).",
                operations(*class),
                seconds(*latency_s),
                rate_of(*counted, *rate)
            ),
            label!("Fewer reads (memory, indexes, statements) help more than faster storage."),
        ),
        DiagnosisVerdict::Quick { class, counted, latency_s, iops: rate } => {
            (say!("{}: the storage is fast.", format_latency(*class, *counted, [*latency_s, *rate], None)), "")
        }
        DiagnosisVerdict::Tail { event: name, mean_s, p99_s: [lower, upper], .. } => {
            let upper = if upper.is_finite() { say!(" (up to {})", seconds(*upper)) } else { String::new() };
            (
                say!(
                    "The slowest hundredth of the waits for \"{}\" takes more than {}{upper}; the mean is {}.",
                    event(name),
                    seconds(*lower),
                    seconds(*mean_s)
                ),
                label!("Check for short stalls of the storage: throttling, backups, other tenants, failing paths."),
            )
        }
        DiagnosisVerdict::SlowEvent { event: name, cause, mean_s, a_second, class_s, share: part } => {
            slow_event(name, *cause, [*mean_s, *a_second], *class_s, *part)
        }
        _ => return None,
    })
}

/// Text and remedy of an event with a mean far beyond its medium: its seconds and its rate.
fn slow_event(
    name: &str,
    cause: WaitCause,
    [mean_s, a_second]: [f64; 2],
    class_s: Option<f64>,
    part: f64,
) -> (String, &'static str) {
    let class = if let WaitCause::Storage(class) = cause { class.label() } else { label!("such waits") };
    let compared = class_s.map_or(String::new(), |class_s| say!(", all {class} {} on average", seconds(class_s)));
    let text = say!(
        "Waits for \"{}\" take {} at {} waits/s{compared}: more than any medium needs; it is {} of the database's time.",
        event(name),
        seconds(mean_s),
        number::three(a_second),
        share(part)
    );
    let remedy = if cause == WaitCause::Commit {
        label!(
            "Check the latency of log writes, which the input lacks, the processors, synchronous standbys and the rate of commits."
        )
    } else {
        label!(
            "Find the statements that wait for it; check whether it stands for many operations, and the storage for stalls."
        )
    };
    (text, remedy)
}

/// Minimum ratio of a demand to a ceiling that it cannot have passed: figures of inputs are rounded.
const IMPOSSIBLE: f64 = 1.1;

fn use_all_paths() -> &'static str {
    label!(
        "Set path_grouping_policy to multibus in /etc/multipath.conf, if the vendor of the storage supports it, and run multipathd \
     reconfigure."
    )
}

/// `window`: the queue depth of a path, and the seconds of an operation.
fn idle_paths(name: &str, paths: usize, window: Option<(u32, f64)>) -> String {
    let rates = window.map_or_else(String::new, |(depth, latency_s)| {
        let one = f64::from(depth) / latency_s;
        say!(
            " With at most {depth} operations in flight that take {} each it carries {}; {paths} would carry {}.",
            seconds(latency_s),
            iops(one),
            iops(one * paths as f64)
        )
    });
    say!("{} has {paths} paths and uses one at a time: its paths are grouped for failover.{rates}", clean(name))
}

fn limits(verdict: &DiagnosisVerdict) -> Option<(String, &'static str)> {
    Some(match verdict {
        DiagnosisVerdict::IdlePaths { name, paths, queue_depth, latency_s } => {
            (idle_paths(name, *paths, queue_depth.zip(*latency_s)), use_all_paths())
        }
        DiagnosisVerdict::Pinned { class, measure, value, windows, of } => {
            let (rate, subject) = match measure {
                Measure::Throughput => (number::throughput(*value), label!("The throughput")),
                _ => (iops(*value), label!("The rate")),
            };
            let whose = if *class == Class::All { String::new() } else { say!(" of {}", class.label()) };
            (
                say!(
                    "{subject}{whose} stays at {rate} in {windows} of {of} windows with I/O and never significantly exceeds it: a limit."
                ),
                label!(
                    "Find the limit (volume, level, machine, path) with this value; --on CONFIG compares with the limits of a product."
                ),
            )
        }
        DiagnosisVerdict::AtCeiling { name, counts, allows, demand, near, windows } => {
            let rate = |value: f64| match counts {
                Counts::Operations => iops(value),
                Counts::Bytes => number::throughput(value),
            };
            let (name, allowed, demand_rate) = (clean(name), rate(*allows), rate(*demand));
            let compared = say!("\"{name}\" allows {allowed} for this mix, and the peak demand is {demand_rate}");
            if *demand > allows * IMPOSSIBLE {
                let text = say!(
                    "{compared}, more than it carries: the load did not run on this configuration, or on a burst."
                );
                return Some((
                    text,
                    label!(
                        "State the configuration of that time with --on; plimsoll size finds one that carries the load."
                    ),
                ));
            }
            (
                say!("{compared}: {} are at or above 95 % of it.", count_windows(*near, *windows)),
                label!("Raise it: plimsoll quote CONFIG shows the options and their prices."),
            )
        }
        DiagnosisVerdict::BelowCeilings { name, highest, longest_s } => {
            let hidden = if *longest_s > 60.0 {
                say!(" Peaks shorter than the windows of {} may reach it.", duration(*longest_s))
            } else {
                String::new()
            };
            (
                say!(
                    "No ceiling of the configuration is reached: peak {} of \"{}\".{hidden}",
                    share(*highest),
                    clean(name)
                ),
                "",
            )
        }
        DiagnosisVerdict::Unequal { reported, derived } => (
            say!(
                "Rates and latencies imply {} operations in flight, but the input has {}: operations are counted twice or \
                 missing.",
                number::three(*derived),
                number::three(*reported)
            ),
            label!("Check that the inputs do not include both devices and their partitions or members."),
        ),
        _ => return None,
    })
}
