//! The verdict from the load of a host's processors and devices, without the time of sessions.

use super::{Diagnosis, FREE, LARGE, MINOR, NOTABLE, devices};
use crate::diagnosis::host::{HostEvidence, HostLimit};
use crate::diagnosis::verdict::DiagnosisVerdict;

/// The limit of a host, if its load determines it.
pub(super) fn judge_host(diagnosis: &Diagnosis) -> Option<DiagnosisVerdict> {
    let evidence = diagnosis.host?;
    let HostEvidence { busy, processors, in_flight, .. } = evidence;
    let (io_wait, devices_busy) = (evidence.explained_io_wait(), evidence.explained_busy());
    // At most as many tasks wait for storage as operations are in flight; the others run.
    let waiting = in_flight.zip(processors).map(|(waiting, count)| waiting / (waiting + busy * count));
    let is_unused = devices_busy.is_some_and(|share| share < LARGE) || waiting.is_some_and(|share| share < MINOR);
    let limit = if is_unused && io_wait.is_none_or(|share| share < NOTABLE) {
        if busy >= FREE { HostLimit::Processors } else { HostLimit::Neither }
    } else if io_wait.is_some_and(|share| share >= MINOR) && devices_busy.is_none_or(|share| share >= FREE) {
        if devices::are_responses_fast(diagnosis) { HostLimit::FastStorage } else { HostLimit::Storage }
    } else {
        return None;
    };
    Some(DiagnosisVerdict::Host { limit, evidence })
}

/// Figures of the host that the operations in flight contradict.
pub(super) fn find_contradictions(diagnosis: &Diagnosis) -> Vec<DiagnosisVerdict> {
    let Some(host) = diagnosis.host else { return Vec::new() };
    let Some(in_flight) = host.in_flight else { return Vec::new() };
    let wait = host.io_wait.zip(host.processors).filter(|_| host.contradicts_io_wait());
    let wait = wait.map(|(io_wait, processors)| DiagnosisVerdict::IoWaitWithoutIo { io_wait, processors, in_flight });
    let busy = host.devices_busy.filter(|_| host.contradicts_busy());
    wait.into_iter().chain(busy.map(|busy| DiagnosisVerdict::BusyWithoutIo { busy, in_flight })).collect()
}
