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
    /// The same with operations that are fast for their medium: their number takes the time.
    FastStorage,
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

impl HostEvidence {
    /// Tasks that wait for I/O at least on average by the time in I/O wait: a processor counts as such while it is idle and a
    /// task waits.
    pub fn io_waiting(&self) -> Option<f64> {
        Some(self.io_wait? * self.processors?)
    }

    /// True if notably more tasks wait for I/O than operations are in flight: both cannot be the I/O of these devices.
    pub(super) fn contradicts_io_wait(&self) -> bool {
        self.io_waiting().zip(self.in_flight).is_some_and(|(tasks, in_flight)| is_notably_more(tasks, in_flight))
    }

    /// True if the busiest device is busy for a larger share of the time than operations are in flight on average, which is
    /// at least that share.
    pub(super) fn contradicts_busy(&self) -> bool {
        self.devices_busy.zip(self.in_flight).is_some_and(|(busy, in_flight)| is_notably_more(busy, in_flight))
    }

    /// Share of the processors' time in I/O wait that the operations in flight explain: these are counted, while the I/O wait
    /// is sampled. As stated unless both contradict each other.
    pub(super) fn explained_io_wait(&self) -> Option<f64> {
        let explained = self.in_flight.zip(self.processors).map(|(in_flight, count)| in_flight / count);
        explained.filter(|_| self.contradicts_io_wait()).or(self.io_wait)
    }

    /// Busy share of the busiest device that the operations in flight explain, likewise: kernels round the time of each
    /// operation up to a tick of their clock.
    pub(super) fn explained_busy(&self) -> Option<f64> {
        self.in_flight.filter(|_| self.contradicts_busy()).or(self.devices_busy)
    }
}

/// True if a figure is above its bound by more than rounding and sampling explain.
fn is_notably_more(value: f64, bound: f64) -> bool {
    const MIN_TIMES: f64 = 1.5;
    const MIN_DIFFERENCE: f64 = 0.2;
    value >= MIN_TIMES * bound && value - bound >= MIN_DIFFERENCE
}

/// The use of devices in all windows, none of which is full.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeDevices {
    /// Share of time with any operation in flight on the busiest device, 0 to 1: the mean, and that of the busiest window.
    pub busy: [f64; 2],
    /// Seconds of the longest window: peaks that are shorter are hidden in its mean.
    pub longest_s: f64,
}

/// The use of the devices if they are idle half of the time or more in each window; `None` if it is unknown in any.
pub(super) fn find_free_devices(subject: &DatabaseDemand) -> Option<FreeDevices> {
    const MAX_BUSY: f64 = 0.5;
    let window = |slot: usize| {
        let at = |measure| value(subject, Class::All, measure, slot);
        // With few operations in flight, a device is busy for at most as large a share of the time (Little 1961).
        let busy = at(Measure::Busy).into_iter().chain(at(Measure::Depth)).reduce(f64::min)?;
        Some((busy, subject.slots[slot].length.as_secs_f64(), subject.slots[slot].resolution.as_secs_f64()))
    };
    let windows = (0..subject.slots.len()).map(window).collect::<Option<Vec<_>>>()?;
    let highest = windows.iter().map(|(busy, ..)| *busy).fold(0.0, f64::max);
    let (busy_s, seconds) = windows.iter().fold((0.0, 0.0), |sum, (busy, s, _)| (sum.0 + busy * s, sum.1 + s));
    let longest_s = windows.iter().map(|(.., resolution_s)| *resolution_s).fold(0.0, f64::max);
    (seconds > 0.0 && highest < MAX_BUSY).then(|| FreeDevices { busy: [busy_s / seconds, highest], longest_s })
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

/// Mean operations in flight over all devices: by rates and latencies, otherwise as reported. Without a latency of writes,
/// those of reads are not all.
fn count_in_flight(subject: &DatabaseDemand, responses: &[Response]) -> Option<f64> {
    let of = |class| responses.iter().find(|response| response.class == class).map(|response| response.in_flight);
    let has_operations = |class| {
        let rate = |slot| value(subject, class, Measure::Iops, slot);
        (0..subject.slots.len()).filter_map(rate).any(|iops| iops > 0.0)
    };
    let directions = [Class::Read, Class::Write].map(|class| (of(class), has_operations(class)));
    if directions.iter().any(|(in_flight, has_operations)| in_flight.is_none() && *has_operations) {
        return mean_depth(subject);
    }
    let depths: Vec<f64> = directions.iter().filter_map(|(in_flight, _)| *in_flight).collect();
    if depths.is_empty() { of(Class::All).or_else(|| mean_depth(subject)) } else { Some(depths.iter().sum()) }
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
