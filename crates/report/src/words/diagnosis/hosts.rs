//! The verdict from the load of a host's processors and devices.

use plimsoll_choose::diagnosis::{DiagnosisVerdict, HostEvidence, HostLimit};
use plimsoll_language::{label, say};

use super::{VerdictText, duration, share};
use crate::number;

pub(super) fn verdict_text(verdict: &DiagnosisVerdict) -> Option<VerdictText> {
    let DiagnosisVerdict::Host { limit, evidence } = verdict else {
        return free_devices(verdict).or_else(|| contradiction(verdict));
    };
    let (answer, remedy) = match limit {
        HostLimit::Processors => (
            label!("Storage is not the bottleneck"),
            label!("Faster storage helps little: tune the programs that use the processors, or add processors."),
        ),
        HostLimit::Neither => (
            label!("Neither storage nor processors limit this host"),
            label!("Faster storage helps little: check locks, the network, and programs with a single thread."),
        ),
        HostLimit::Storage => (
            label!("Programs wait for storage"),
            label!(
                "Check below whether the storage is slow or at its limit; wait events of the database have its share of the \
             database's time."
            ),
        ),
        HostLimit::FastStorage => (
            label!("Programs wait for storage, which is fast"),
            label!(
                "Fewer or larger operations help more than faster storage, as do more of them at a time: find the programs that issue \
             them (pidstat -d, statements of the database)."
            ),
        ),
    };
    let text = say!("{answer}: {}.", load(evidence));
    Some(VerdictText { kind: label!("answer"), text, remedy: remedy.to_owned() })
}

fn free_devices(verdict: &DiagnosisVerdict) -> Option<VerdictText> {
    let DiagnosisVerdict::DevicesFree(devices) = verdict else { return None };
    let [mean, highest] = devices.busy.map(share);
    let text = say!(
        "The storage is not at its limit: the busiest device is busy {mean} of the time, and at most {highest} of a window; the windows \
         of up to {} hide shorter peaks.",
        duration(devices.longest_s)
    );
    let remedy = label!("Whether sessions wait for its latency needs wait events of the database.");
    Some(VerdictText { kind: label!("answer"), text, remedy: remedy.to_owned() })
}

/// Figures of a host that the operations in flight contradict.
fn contradiction(verdict: &DiagnosisVerdict) -> Option<VerdictText> {
    let (text, remedy) = match *verdict {
        DiagnosisVerdict::IoWaitWithoutIo { io_wait, processors, in_flight } => (
            say!(
                "The input contradicts itself: {} of the time of {} processors in I/O wait needs at least {} waiting tasks, but \
                 {} operations are in flight on the devices.",
                share(io_wait),
                number::three(processors),
                number::three(io_wait * processors),
                number::three(in_flight)
            ),
            label!(
                "The answer follows from the devices. Check whether tasks wait for I/O that the input lacks, such as network file \
                 systems and other disks."
            ),
        ),
        DiagnosisVerdict::BusyWithoutIo { busy, in_flight } => (
            say!(
                "The input contradicts itself: the busiest device is busy {} of the time with {} operations in flight on average, \
                 which are at least as many as that share.",
                share(busy),
                number::three(in_flight)
            ),
            label!(
                "The answer follows from the operations in flight: kernels round the busy time of each operation up to a tick of their \
                 clock, so that many short ones appear as a busy device."
            ),
        ),
        _ => return None,
    };
    Some(VerdictText { kind: label!("note"), text, remedy: remedy.to_owned() })
}

/// The load of processors and devices.
pub(super) fn load(evidence: &HostEvidence) -> String {
    let in_flight =
        evidence.in_flight.map_or(String::new(), |count| say!("; {} operations in flight", number::three(count)));
    let idle = evidence.io_wait.map_or(String::new(), |idle| say!(", in I/O wait {}", share(idle)));
    let devices = evidence.devices_busy.map_or(String::new(), |busy| say!("; the busiest device {}", share(busy)));
    say!("processors are busy {}{idle}{devices}{in_flight}", share(evidence.busy))
}
