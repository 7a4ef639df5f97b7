//! The verdict from the load of a host's processors and devices.

use plimsoll_choose::diagnosis::{DiagnosisVerdict, HostEvidence, HostLimit};
use plimsoll_language::{label, say};

use super::{VerdictText, share};

pub(super) fn verdict_text(verdict: &DiagnosisVerdict) -> Option<VerdictText> {
    let DiagnosisVerdict::Host { limit, evidence } = verdict else { return None };
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
    };
    let text = say!("{answer}: {}.", load(evidence));
    Some(VerdictText { kind: label!("answer"), text, remedy: remedy.to_owned() })
}

/// The load of processors and devices.
pub(super) fn load(evidence: &HostEvidence) -> String {
    let idle = evidence.io_wait.map_or(String::new(), |idle| say!(", in I/O wait {}", share(idle)));
    let devices = evidence.devices_busy.map_or(String::new(), |busy| say!("; the busiest device {}", share(busy)));
    say!("processors are busy {}{idle}{devices}", share(evidence.busy))
}
