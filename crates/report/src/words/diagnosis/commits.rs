//! Verdicts about processors, commits, background writers and other waits.

use plimsoll_choose::diagnosis::{DiagnosisVerdict, TimePart};
use plimsoll_language::{label, say};

use super::{VerdictText, event, of_all, seconds, share, spent};
use crate::number;

pub(super) fn verdict_text(verdict: &DiagnosisVerdict) -> Option<VerdictText> {
    let (text, remedy) = match verdict {
        DiagnosisVerdict::Unaccounted { share } => (
            say!("{} is in no counter, although the processors are not saturated.", of_all(*share)),
            label!(
                "Processors may be saturated in peaks, or sessions may be in system calls that are not counted, such as \
             submissions of asynchronous I/O that block: check the host during the window."
            ),
        ),
        DiagnosisVerdict::CommitsElsewhere { sync_s, write_s, behind_write_s, share, a_second } => {
            commits_elsewhere([*sync_s, *write_s], *behind_write_s, *share, *a_second)
        }
        DiagnosisVerdict::CommitsForLog { sync_s, write_s, share } => (
            say!(
                "Commits take {}, of which log writes {}: {} depends on the latency of log writes.",
                seconds(*sync_s),
                seconds(*write_s),
                of_all(*share)
            ),
            label!("Move the log to storage with lower latency for small writes, or commit less often."),
        ),
        DiagnosisVerdict::WritersBehind { event: name, share } => (
            say!("Sessions wait for background writes (mostly \"{}\"): {}.", event(name), of_all(*share)),
            label!(
                "Enlarge the log files and the log buffer first, allow more writes in flight, then check the write throughput."
            ),
        ),
        DiagnosisVerdict::LogSwitches { event: name, share, switches } => {
            let (text, remedy) = log_switches(name, *share, *switches);
            return Some(VerdictText { kind: label!("cause"), text, remedy });
        }
        DiagnosisVerdict::Elsewhere { part, share, event: name } => {
            let name = name.as_ref().map_or(String::new(), |name| say!(", mostly \"{}\"", event(name)));
            (say!("{} is spent on {}{name}.", of_all(*share), spent(*part)), elsewhere(*part))
        }
        of_host => host_text(of_host)?,
    };
    let kind = if matches!(verdict, DiagnosisVerdict::HostPages { .. }) { label!("memory") } else { label!("cause") };
    Some(VerdictText { kind, text, remedy: remedy.to_owned() })
}

/// Text and remedy of commits that take longer than their log write. `behind_write_s`: a commit's wait for the log with the
/// write in progress, if that explains it.
fn commits_elsewhere(
    [sync_s, write_s]: [f64; 2],
    behind_write_s: Option<f64>,
    part: f64,
    a_second: Option<f64>,
) -> (String, &'static str) {
    let rate = a_second.map_or(String::new(), |rate| say!(", at {} commits/s", number::three(rate)));
    let (sync, write) = (seconds(sync_s), seconds(write_s));
    match behind_write_s {
        None => (
            say!("Commits take {sync}, but log writes only {write}{rate}: {} is spent on other waits.", of_all(part)),
            label!(
                "The log's storage is not the main cause: check the processors (the log writer needs one immediately), synchronous \
             standbys, and statements that commit too often; faster storage has no effect on these."
            ),
        ),
        Some(behind_s) => (
            say!(
                "Commits take {sync}{rate}, log writes {write} on average, but some so long that a commit waits up to {} for the log: \
                 {} is spent outside of the mean log write.",
                seconds(behind_s),
                of_all(part)
            ),
            label!(
                "Check the log's storage for stalls, and the log writer's processor in the same windows; if writes never stall, it is \
             scheduling, a synchronous standby or the rate of commits."
            ),
        ),
    }
}

/// Text and remedy of waits for log switches: the log files fill faster than they are checkpointed or archived.
fn log_switches(name: &str, part: f64, switches: Option<(f64, f64)>) -> (String, String) {
    /// Oracle recommends a switch every twenty minutes at most (Database Performance Tuning Guide, redo log sizing).
    const PER_HOUR: f64 = 3.0;
    let archiving =
        if name.contains("archiv") { label!(" with faster archiving (more archiver processes)") } else { "" };
    let (rate, size) = switches.filter(|(per_hour, _)| *per_hour > PER_HOUR).map_or_else(Default::default, |one| {
        let gib = (one.0 * one.1 / PER_HOUR / GIB * 10.0).ceil() / 10.0;
        let rate = say!(" ({} per hour, {} of log each)", number::three(one.0), mebibytes(one.1));
        (rate, say!(" to {} GiB", number::three(gib)))
    });
    let text = say!(
        "{} is spent on log switches{rate}: larger online logs save it{archiving}, faster storage at best a part; mostly \"{}\".",
        of_all(part),
        event(name)
    );
    (text, say!("Enlarge the online logs{size}{archiving}, so that they switch every 20 minutes."))
}

const GIB: f64 = 1_073_741_824.0;

fn mebibytes(bytes: f64) -> String {
    format!("{} MiB", number::three(bytes / 1_048_576.0))
}

/// Text and remedy of verdicts about the host's processors and the work on them.
fn host_text(verdict: &DiagnosisVerdict) -> Option<(String, &'static str)> {
    Some(match verdict {
        DiagnosisVerdict::ProcessorsFull { busy, waiting, processors } => {
            let of = processors.map_or(String::new(), |processors| say!(" {}", number::integer(processors)));
            let queue = waiting.map_or(String::new(), |waiting| {
                say!(", and {} processes wait for one on average (OS_CPU_WAIT_TIME)", number::three(waiting))
            });
            (
                say!(
                    "The{of} processors are busy {} of the time{queue}: sessions queue for them, which inflates measured storage waits.",
                    share(*busy)
                ),
                label!("Add processors or reduce the work before judging the storage."),
            )
        }
        DiagnosisVerdict::ProcessorQueue { share: part, busy, queue_s, paged_bytes } => {
            processor_queue(*part, *busy, *queue_s, *paged_bytes)
        }
        DiagnosisVerdict::HostPages { paged_bytes, seconds } => (
            say!(
                "The host is short of memory: it {} ({}). Page faults are in no wait event.",
                paged(*paged_bytes),
                paged_bytes.map(|bytes| number::throughput(bytes / seconds)).join(label!(" and "))
            ),
            label!(
                "Check free memory and paging space on the host (vmstat); reduce SGA and PGA or other programs, lock the SGA in \
             memory, or add memory."
            ),
        ),
        DiagnosisVerdict::HostIoWait { share, idle_s, waited_s } => io_wait(*share, *idle_s, *waited_s),
        DiagnosisVerdict::HardParses { share: part, a_second } => {
            let rate = a_second.map_or(String::new(), |rate| say!(", {} per second", number::three(rate)));
            (
                say!("Hard parses with their waits take {}{rate} (hard parse elapsed time).", of_all(*part)),
                label!(
                    "Use bind variables, or CURSOR_SHARING=FORCE where the statements cannot change, and check for statements that fail to parse; \
                 storage has no effect on parsing itself."
                ),
            )
        }
        _ => return None,
    })
}

/// `paged 1.73 GB in and 2.07 GB out`.
fn paged([paged_in, paged_out]: [f64; 2]) -> String {
    let gigabytes = |bytes: f64| format!("{} GB", number::three(bytes / 1e9));
    say!("paged {} in and {} out", gigabytes(paged_in), gigabytes(paged_out))
}

/// Text and remedy of time in no counter that is due to the processors of the host. `queue_s`: seconds of this time, and of
/// processes that waited for a processor.
fn processor_queue(
    part: f64,
    busy: Option<f64>,
    queue_s: Option<[f64; 2]>,
    paged_bytes: Option<[f64; 2]>,
) -> (String, &'static str) {
    let busy = busy.map(|busy| say!("busy {} of the time", share(busy)));
    let paging = paged_bytes.map(paged);
    let text = if let Some([part_s, queue_s]) = queue_s {
        let busy = busy.map_or(String::new(), |busy| say!(", although these were {busy}"));
        let paging = paging.map_or(String::new(), |paged| say!(", and the host {paged}"));
        say!(
            "{} ({} s) is in no counter: the host's processes waited {} s for processors (OS_CPU_WAIT_TIME){busy}{paging}.",
            of_all(part),
            number::three(part_s),
            number::three(queue_s)
        )
    } else {
        let busy = busy.map_or(String::new(), |busy| say!(" (they are {busy})"));
        let paging = paging.map_or(String::new(), |paged| say!("; the host {paged}"));
        say!("{} is in no counter: usually sessions that queue for a processor{busy}{paging}.", of_all(part))
    };
    let remedy = match (queue_s, paged_bytes) {
        (_, Some(_)) => {
            label!(
                "Check the host's run queue, its share of physical processors, and free memory (vmstat); give it more of both, or \
             reduce SGA and PGA."
            )
        }
        (Some(_), None) => {
            label!("Check the host's run queue, other work on it, and its share of physical processors.")
        }
        (None, None) => label!("Check the host's run queue and other work on the host."),
    };
    (text, remedy)
}

/// Text and remedy of I/O wait of the host, by the seconds that processes of the database waited.
fn io_wait(of_time: f64, idle_s: f64, [sessions_s, background_s]: [f64; 2]) -> (String, &'static str) {
    let background = match background_s {
        seconds if seconds > 0.0 => say!(", and background processes {} s", number::three(seconds)),
        _ => String::new(),
    };
    let compared = say!(
        "The host's processors were idle with I/O in flight for {} of the time (I/O wait), {} s of all processors. Sessions \
         waited {} s for their reads and writes{background}",
        share(of_time),
        number::three(idle_s),
        number::three(sessions_s)
    );
    match idle_s - sessions_s - background_s {
        rest_s if rest_s > 0.0 => (
            say!("{compared}: at least {} s are I/O of others, or not counted as waits.", number::three(rest_s)),
            label!("Check backups and other programs on the host, and submissions of I/O that block."),
        ),
        _ => (say!("{compared}, which is enough to explain it."), ""),
    }
}

fn elsewhere(part: TimePart) -> &'static str {
    match part {
        TimePart::Lock => {
            label!("Check the transactions that hold the locks; faster storage helps only if these wait for storage.")
        }
        TimePart::Concurrency => label!("Check hot blocks, parsing and latches; storage has no effect."),
        TimePart::Cluster => label!("Check the interconnect and the distribution of work among instances."),
        TimePart::Network => label!("Check round trips, the network, and synchronous standbys."),
        TimePart::Managed => label!("Its plan throttles sessions: change the plan."),
        _ => label!("See the events below."),
    }
}
