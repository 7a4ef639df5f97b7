//! The verdict from the load of a host's processors and devices.

use plimsoll_choose::diagnosis::{DiagnosisVerdict, HostEvidence, HostLimit};

use super::{VerdictText, share};

pub(super) fn verdict_text(verdict: &DiagnosisVerdict) -> Option<VerdictText> {
    let DiagnosisVerdict::Host { limit, evidence } = verdict else { return None };
    let (answer, remedy) = match limit {
        HostLimit::Processors => (
            "Storage is not the bottleneck",
            "Faster storage helps little: tune the programs that use the processors, or add processors.",
        ),
        HostLimit::Neither => (
            "Neither storage nor processors limit this host",
            "Faster storage helps little: check locks, the network, and programs with a single thread.",
        ),
        HostLimit::Storage => (
            "Programs wait for storage",
            "Check below whether the storage is slow or at its limit; wait events of the database have its share of the \
             database's time.",
        ),
    };
    let text = format!("{answer}: {}.", load(evidence));
    Some(VerdictText { kind: "answer", text, remedy: remedy.to_owned() })
}

/// The load of processors and devices.
pub(super) fn load(evidence: &HostEvidence) -> String {
    let idle = evidence.io_wait.map_or(String::new(), |idle| format!(", in I/O wait {}", share(idle)));
    let devices = evidence.devices_busy.map_or(String::new(), |busy| format!("; the busiest device {}", share(busy)));
    format!("processors are busy {}{idle}{devices}", share(evidence.busy))
}
