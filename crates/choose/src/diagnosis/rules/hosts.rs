//! The verdict from the load of a host's processors and devices, without the time of sessions.

use super::{Diagnosis, FREE, LARGE, MINOR, NOTABLE};
use crate::diagnosis::host::{HostEvidence, HostLimit};
use crate::diagnosis::verdict::DiagnosisVerdict;

/// The limit of a host, if its load determines it.
pub(super) fn judge_host(diagnosis: &Diagnosis) -> Option<DiagnosisVerdict> {
    let evidence = diagnosis.host?;
    let HostEvidence { busy, processors, io_wait, devices_busy, in_flight } = evidence;
    // At most as many tasks wait for storage as operations are in flight; the others run.
    let waiting = in_flight.zip(processors).map(|(waiting, count)| waiting / (waiting + busy * count));
    let is_unused = devices_busy.is_some_and(|share| share < LARGE) || waiting.is_some_and(|share| share < MINOR);
    let limit = if is_unused && io_wait.is_none_or(|share| share < NOTABLE) {
        if busy >= FREE { HostLimit::Processors } else { HostLimit::Neither }
    } else if io_wait.is_some_and(|share| share >= MINOR) && devices_busy.is_none_or(|share| share >= FREE) {
        HostLimit::Storage
    } else {
        return None;
    };
    Some(DiagnosisVerdict::Host { limit, evidence })
}
