//! Load of a host's processors and devices, which bounds what storage can cost it.

use plimsoll_ingest::{Class, DatabaseDemand, Measure, Resource};

use super::response::{self, Response};
use super::totals::value;

/// The limit of a host by the load of its processors and devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostLimit {
    /// Processors are busy and devices are not.
    Processors,
    /// Processors are idle with I/O in flight, and devices are busy.
    Storage,
    /// Neither processors nor devices are busy.
    Neither,
}

/// The load of a host: means over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostEvidence {
    /// Busy share of the processors, 0 to 1.
    pub busy: f64,
    /// Their number, if known.
    pub processors: Option<f64>,
    /// Share of their time that they are idle with I/O in flight, 0 to 1, if known.
    pub io_wait: Option<f64>,
    /// Share of time with I/O in flight on the busiest device, 0 to 1, if known.
    pub devices_busy: Option<f64>,
    /// Operations in flight over all devices, if known.
    pub in_flight: Option<f64>,
}

/// The load of the hosts of a subject, if an input has it.
pub(super) fn find_evidence(subject: &DatabaseDemand, responses: &[Response]) -> Option<HostEvidence> {
    let host = subject.host.as_ref()?;
    let of_processors = subject.resources.iter().filter(|found| found.resource == Resource::HostProcessors);
    Some(HostEvidence {
        busy: host.busy,
        processors: of_processors.map(|found| found.value).max_by(f64::total_cmp),
        io_wait: host.io_wait,
        devices_busy: response::compute_busy(subject, 0..subject.slots.len()),
        in_flight: count_in_flight(subject, responses),
    })
}

/// Mean operations in flight over all devices: by rates and latencies, otherwise as reported.
fn count_in_flight(subject: &DatabaseDemand, responses: &[Response]) -> Option<f64> {
    let of = |class| responses.iter().find(|response| response.class == class).map(|response| response.in_flight);
    match (of(Class::Read), of(Class::Write)) {
        (None, None) => of(Class::All).or_else(|| mean_depth(subject)),
        (reads, writes) => Some(reads.unwrap_or(0.0) + writes.unwrap_or(0.0)),
    }
}

fn mean_depth(subject: &DatabaseDemand) -> Option<f64> {
    let window = |slot: usize| {
        let seconds = subject.slots[slot].length.as_secs_f64();
        Some((value(subject, Class::All, Measure::Depth, slot)? * seconds, seconds))
    };
    let windows = (0..subject.slots.len()).filter_map(window);
    let (depth_s, seconds) = windows.fold((0.0, 0.0), |sum, window| (sum.0 + window.0, sum.1 + window.1));
    (seconds > 0.0).then(|| depth_s / seconds)
}
