//! Latency of operations over their rate, window by window.

use plimsoll_ingest::{Class, DatabaseDemand, EventTime, Measure, WaitCause};

use super::totals::value;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResponsePoint {
    /// Operations a second.
    pub iops: f64,
    /// Mean latency, seconds.
    pub latency_s: f64,
    /// Seconds of the window.
    pub length_s: f64,
}

/// The events whose rate and duration a response has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedEvent {
    Operation,
    /// Writes of the log, each of which may be several operations: of members of a group, and of pieces.
    LogWrite,
    /// Waits of sessions, each of which may be for several operations, or for a part of the time of one.
    SessionWait,
}

/// Latency of a class of operations under load.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    pub class: Class,
    /// The events whose rates and latencies follow.
    pub counted: CountedEvent,
    /// Windows with both figures, by rate.
    pub points: Vec<ResponsePoint>,
    /// Mean operations per second over time.
    pub iops: f64,
    /// Operations per second in the busiest window, whether its latency is known or not.
    pub highest_iops: f64,
    /// Mean latency over operations, seconds.
    pub latency_s: f64,
    /// Mean operations of the class in flight over time: rate times latency (Little 1961).
    pub in_flight: f64,
    /// Share of time with any operation in flight on the storage, 0 to 1, if known.
    pub busy: Option<f64>,
    /// Mean bytes of an operation or wait, if known.
    pub bytes: Option<f64>,
    /// Mean latency in the half of the windows with the lowest rates, seconds; from six windows on, unless their rates are
    /// alike.
    pub quiet_s: Option<f64>,
    /// Mean latency in the tenth of the windows with the highest rates, seconds; from six windows on, unless their rates are
    /// alike.
    pub loaded_s: Option<f64>,
    /// Share of time with any operation in flight on the storage in these windows, 0 to 1, if known.
    pub loaded_busy: Option<f64>,
    /// Mean bytes of an operation in these windows, if known.
    pub loaded_bytes: Option<f64>,
    /// Spearman's rank correlation of latency and rate, -1 to 1; from eight windows on, unless their rates are alike.
    pub correlation: Option<f64>,
    /// Rate from which operations take at least twice as long as in quiet windows, if any.
    pub knee_iops: Option<f64>,
}

/// Minimum windows for quiet and loaded latencies.
const FEW: usize = 6;
const FOR_CORRELATION: usize = 8;
const FOR_KNEE: usize = 16;

/// The responses of each class, in the order of the subject's series.
pub(super) fn responses(subject: &DatabaseDemand) -> Vec<Response> {
    Class::ALL.into_iter().filter_map(|class| fit_response(subject, class)).collect()
}

/// The classes that are not among `existing`, from the waits of sessions for them: the rate is that of the waits. Log writes
/// are those of the log writer, if it performs them.
pub(super) fn of_waits(subject: &DatabaseDemand, existing: &[Response]) -> Vec<Response> {
    let Some(time) = subject.account.as_ref().map(|account| &account.total) else { return Vec::new() };
    let response = |class: Class| {
        let of_class = || time.waits.iter().filter(|wait| wait.cause == WaitCause::Storage(class) && wait.count > 0.0);
        let is_background = class == Class::RedoWrite && of_class().any(|wait| !wait.foreground);
        let waits = of_class().filter(|wait| wait.foreground != is_background);
        let (count, total_s) = waits.fold((0.0, 0.0), |sum, wait| (sum.0 + wait.count, sum.1 + wait.total_s));
        let (iops, latency_s, length_s) = (count / time.seconds, total_s / count, time.seconds);
        let is_timed = count > 0.0 && total_s > 0.0 && length_s > 0.0;
        is_timed.then(|| Response {
            class,
            counted: if is_background { CountedEvent::LogWrite } else { CountedEvent::SessionWait },
            iops,
            highest_iops: iops,
            latency_s,
            in_flight: total_s / length_s,
            busy: None,
            bytes: waited_bytes(subject, class, count),
            quiet_s: None,
            loaded_s: None,
            loaded_busy: None,
            loaded_bytes: None,
            correlation: None,
            knee_iops: None,
            points: vec![ResponsePoint { iops, latency_s, length_s }],
        })
    };
    let missing = Class::ALL.into_iter().filter(|class| existing.iter().all(|one| one.class != *class));
    missing.filter_map(response).collect()
}

/// Mean bytes that a session receives for each of `count` waits: those of the class in all windows. None where waits are so
/// few that most bytes were read without one.
fn waited_bytes(subject: &DatabaseDemand, class: Class, count: f64) -> Option<f64> {
    /// Waits for scans are for several reads of a MiB at most.
    const MAX_BYTES: f64 = 16_777_216.0;
    let window = |slot: usize| {
        let length_s = subject.slots[slot].length.as_secs_f64();
        Some(value(subject, class, Measure::Throughput, slot)? * length_s)
    };
    let bytes: f64 = (0..subject.slots.len()).map(window).sum::<Option<f64>>()? / count;
    (bytes > 0.0 && bytes <= MAX_BYTES).then_some(bytes)
}

fn fit_response(subject: &DatabaseDemand, class: Class) -> Option<Response> {
    let log_writes: Vec<Option<f64>> = (0..subject.slots.len())
        .map(|slot| log_writes_s(subject, slot).filter(|_| class == Class::RedoWrite))
        .collect();
    let counts_writes = log_writes.iter().any(Option::is_some);
    let at = |measure, slot: usize| match measure {
        Measure::Iops if counts_writes => log_writes[slot],
        _ => value(subject, class, measure, slot),
    };
    let point = |slot: usize| {
        let (iops, latency_s) = (at(Measure::Iops, slot)?, subject.latency_s(class, slot)?);
        let length_s = subject.slots[slot].length.as_secs_f64();
        let is_timed = iops > 0.0 && latency_s > 0.0 && length_s > 0.0;
        is_timed.then_some((ResponsePoint { iops, latency_s, length_s }, slot))
    };
    let mut windows: Vec<(ResponsePoint, usize)> = (0..subject.slots.len()).filter_map(point).collect();
    windows.sort_by(|(a, _), (b, _)| a.iops.total_cmp(&b.iops));
    let (points, slots): (Vec<ResponsePoint>, Vec<usize>) = windows.into_iter().unzip();
    if points.is_empty() {
        return None;
    }
    // With windows without operations, which have no latency.
    let rate = |slot: usize| Some((at(Measure::Iops, slot)?, subject.slots[slot].length.as_secs_f64()));
    let rates = (0..subject.slots.len()).filter_map(rate).filter(|(iops, _)| iops.is_finite());
    let highest_iops = rates.clone().map(|(iops, _)| iops).fold(0.0, f64::max);
    let (operations, seconds, idle_s) = rates.fold((0.0, 0.0, 0.0), |sum, (iops, length_s)| {
        (sum.0 + iops * length_s, sum.1 + length_s, sum.2 + if iops > 0.0 { 0.0 } else { length_s })
    });
    let in_flight_s: f64 = points.iter().map(|point| point.iops * point.latency_s * point.length_s).sum();
    let timed_s: f64 = idle_s + points.iter().map(|point| point.length_s).sum::<f64>();
    let size = |slot: usize| {
        let iops = at(Measure::Iops, slot)?;
        let bytes = at(Measure::Size, slot).or_else(|| Some(at(Measure::Throughput, slot)? / iops))?;
        (iops > 0.0 && bytes.is_finite()).then_some((iops, iops * bytes))
    };
    let mean_bytes = |slots: &[usize]| {
        let sizes = slots.iter().filter_map(|slot| size(*slot));
        let (iops, bytes_s) = sizes.fold((0.0, 0.0), |sum, size| (sum.0 + size.0, sum.1 + size.1));
        (iops > 0.0).then(|| bytes_s / iops)
    };
    let all: Vec<usize> = (0..subject.slots.len()).collect();
    let loaded = points.len() - points.len().div_ceil(10);
    // Differences of latency between equal rates are no effect of the load.
    let several = points.len() >= FEW && has_several_rates(&points[..points.len() / 2], &points[loaded..]);
    let quiet_s = several.then(|| mean_s(&points[..points.len() / 2]));
    let loaded_s = several.then(|| mean_s(&points[loaded..]));
    let correlation = (several && points.len() >= FOR_CORRELATION).then(|| correlate(&points));
    Some(Response {
        class,
        counted: if counts_writes { CountedEvent::LogWrite } else { CountedEvent::Operation },
        iops: operations / seconds,
        highest_iops,
        latency_s: mean_s(&points),
        in_flight: in_flight_s / timed_s,
        busy: compute_busy(subject, all.iter().copied()),
        bytes: mean_bytes(&all),
        quiet_s,
        loaded_s,
        loaded_busy: compute_busy(subject, slots[loaded..].iter().copied()).filter(|_| several),
        loaded_bytes: mean_bytes(&slots[loaded..]).filter(|_| several),
        correlation,
        knee_iops: knee(&points, quiet_s, correlation),
        points,
    })
}

/// Writes of the log per second, of Oracle: the waits of the log writer for them, whose duration is the latency. The
/// operations are those of all members and pieces, and in flight together.
fn log_writes_s(subject: &DatabaseDemand, slot: usize) -> Option<f64> {
    let spent = subject.account.as_ref()?.slots.get(slot)?.as_ref()?;
    let is_write =
        |wait: &&EventTime| !wait.foreground && &*wait.event == "log file parallel write" && wait.count > 0.0;
    let count = spent.waits.iter().find(is_write)?.count;
    Some(count / spent.seconds).filter(|rate| rate.is_finite())
}

/// Mean share of time with any operation in flight, over the windows among `slots` that state it.
pub(super) fn compute_busy(subject: &DatabaseDemand, slots: impl Iterator<Item = usize>) -> Option<f64> {
    let window = |slot: usize| Some((value(subject, Class::All, Measure::Busy, slot)?, subject.slots[slot].length));
    let windows = slots.filter_map(window);
    let sum = windows.fold((0.0, 0.0), |sum, (busy, length)| {
        let seconds = length.as_secs_f64();
        (sum.0 + busy * seconds, sum.1 + seconds)
    });
    (sum.1 > 0.0).then(|| sum.0 / sum.1)
}

/// True if the rates of the loaded windows differ from those of the quiet ones.
fn has_several_rates(quiet: &[ResponsePoint], loaded: &[ResponsePoint]) -> bool {
    const MIN_TIMES: f64 = 1.15;
    mean_iops(loaded) >= MIN_TIMES * mean_iops(quiet)
}

/// Mean operations per second over time.
fn mean_iops(points: &[ResponsePoint]) -> f64 {
    let (operations, seconds) =
        points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.iops * point.length_s, sum.1 + point.length_s));
    operations / seconds
}

/// Mean latency over operations, seconds.
fn mean_s(points: &[ResponsePoint]) -> f64 {
    let weigh = |sum: (f64, f64), point: &ResponsePoint| {
        let operations = point.iops * point.length_s;
        (sum.0 + operations, sum.1 + operations * point.latency_s)
    };
    let (operations, seconds) = points.iter().fold((0.0, 0.0), weigh);
    seconds / operations
}

/// Spearman's rank correlation of rate and latency; 0 if either is constant.
fn correlate(points: &[ResponsePoint]) -> f64 {
    let values = |of: fn(&ResponsePoint) -> f64| points.iter().map(of).collect::<Vec<f64>>();
    spearman(&values(|point| point.iops), &values(|point| point.latency_s))
}

/// Spearman's rank correlation of two series of equal length; 0 if either is constant.
pub(super) fn spearman(xs: &[f64], ys: &[f64]) -> f64 {
    let (xs, ys) = (assign_ranks(xs.iter().copied()), assign_ranks(ys.iter().copied()));
    let middle = (xs.len() as f64 - 1.0) / 2.0;
    let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum::<f64>();
    let spread = (sum(&xs, &xs) * sum(&ys, &ys)).sqrt();
    if spread > 0.0 { sum(&xs, &ys) / spread } else { 0.0 }
}

/// Ranks from 0; equal values share their mean rank.
fn assign_ranks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    for same in order.chunk_by(|a, b| values[*a].total_cmp(&values[*b]).is_eq()) {
        let first = order.partition_point(|at| values[*at] < values[same[0]]);
        let rank = first as f64 + (same.len() as f64 - 1.0) / 2.0;
        for at in same {
            ranks[*at] = rank;
        }
    }
    ranks
}

/// The lowest rate from which the median of every eighth of the windows is at least twice the quiet latency.
fn knee(points: &[ResponsePoint], quiet_s: Option<f64>, correlation: Option<f64>) -> Option<f64> {
    const RISES: f64 = 0.4;
    const TIMES: f64 = 2.0;
    let quiet_s = quiet_s?;
    if points.len() < FOR_KNEE || correlation? < RISES {
        return None;
    }
    let eighths: Vec<&[ResponsePoint]> = points.chunks(points.len().div_ceil(8)).collect();
    let median = |points: &[ResponsePoint]| {
        let mut latencies: Vec<f64> = points.iter().map(|point| point.latency_s).collect();
        latencies.sort_by(f64::total_cmp);
        latencies[latencies.len() / 2]
    };
    let slow = eighths.iter().rev().take_while(|eighth| median(eighth) >= TIMES * quiet_s).count();
    eighths.get(eighths.len() - slow).filter(|_| slow < eighths.len()).map(|eighth| eighth[0].iops)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(pairs: impl Iterator<Item = (f64, f64)>) -> Vec<ResponsePoint> {
        pairs.map(|(iops, latency_s)| ResponsePoint { iops, latency_s, length_s: 60.0 }).collect()
    }

    #[test]
    fn equal_values_share_their_rank() {
        assert_eq!(assign_ranks([3.0, 1.0, 3.0, 2.0].into_iter()), [2.5, 0.0, 2.5, 1.0]);
    }

    #[test]
    fn a_queue_has_its_knee_where_the_wait_is_as_long_as_the_service() {
        let one_server = |at: i32| {
            let busy = f64::from(at) / 100.0;
            (busy * 1_000.0, 1e-3 / (1.0 - busy))
        };
        let queue = points((1..95).map(one_server));
        let quiet_s = mean_s(&queue[..47]);
        assert!((correlate(&queue) - 1.0).abs() < 1e-9);
        let found = knee(&queue, Some(quiet_s), Some(1.0)).expect("it has a knee");
        assert!((500.0..800.0).contains(&found), "{found}");
        let flat = points((1..95).map(|at| (f64::from(at), 1e-3)));
        assert_eq!((correlate(&flat), knee(&flat, Some(1e-3), Some(0.0))), (0.0, None));
    }
}
