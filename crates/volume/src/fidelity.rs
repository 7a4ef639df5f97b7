//! Fidelity of a served volume to its model, as its clients see it: the lateness of answers, the achieved against the
//! modelled throughput in windows of 100 ms, and the load lost because of late answers. All times are model time.
//!
//! A period is *faithful* if
//! 1. the median lateness is at most 2 % of the median response time of the model, or 15 us;
//! 2. the 99th percentile of the lateness is at most 10 % of it, or 100 us;
//! 3. in each window, the answers that left differ from those of the model by at most 5 % or a single answer;
//! 4. lateness took at most 5 % of the available request time, which is the period times the maximum number in flight:
//!    clients that follow each answer with a request lose that share of their operations.

use std::collections::VecDeque;

use plimsoll_record::{Bins, Recorder};
use plimsoll_units::{Instant, Span};

/// Maximum of the lateness at each quantile: a percentage of the median response time, or the time if that is longer.
pub const LATENESS_LIMITS: [(f64, u64, Span); 2] =
    [(0.5, 2, Span::from_micros(15)), (0.99, 10, Span::from_micros(100))];

const WINDOW: Span = Span::from_millis(100);
/// Number of windows in a period.
const WINDOWS: u64 = 10;
/// Number of periods kept: a minute. Histograms of a busy second take about 4 KB; services keep its figures longer.
const KEPT: usize = 60;

/// Number of operations and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    pub ops: u64,
    /// Bytes transferred.
    pub bytes: u64,
}

/// An interval of 100 ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FidelityWindow {
    /// Answers of the model.
    pub model: Flow,
    /// Answers that left.
    pub achieved: Flow,
}

/// The violated rule of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Breach {
    /// The median lateness was too high.
    Median,
    /// The 99th percentile of the lateness was too high.
    Tail,
    /// A window differed too much from the model.
    Flow,
    /// Clients offered less load because of late answers.
    Offered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FidelityVerdict {
    /// No requests.
    Idle,
    /// All rules are met.
    Faithful,
    /// The first violated rule.
    Unfaithful(Breach),
}

/// A second of a volume.
#[derive(Clone, Debug, PartialEq)]
pub struct Period {
    /// Start, in model time.
    pub start: Instant,
    pub windows: Vec<FidelityWindow>,
    /// Lateness of answers at the client.
    pub lateness: Bins,
    /// Response times of the model, without lateness.
    pub response: Bins,
    pub verdict: FidelityVerdict,
}

/// Recorder of a volume's fidelity.
#[derive(Clone, Debug)]
pub struct Fidelity {
    /// Number of the first open window.
    first: u64,
    open: VecDeque<FidelityWindow>,
    /// Closed windows of the current period.
    closed: Vec<FidelityWindow>,
    lateness: Recorder,
    response: Recorder,
    /// Requests in flight, and their maximum in the current window.
    in_flight: u32,
    in_flight_max: u32,
    /// Available request time of the closed windows of the current period: window length times maximum in flight.
    room: Span,
    total: Bins,
    periods: VecDeque<Period>,
    /// Number of faithful and of unfaithful periods.
    counted: (u64, u64),
}

impl Fidelity {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            first: number(now) / WINDOWS * WINDOWS,
            open: VecDeque::new(),
            closed: Vec::new(),
            lateness: Recorder::new(),
            response: Recorder::new(),
            in_flight: 0,
            in_flight_max: 0,
            room: Span::ZERO,
            total: Bins::default(),
            periods: VecDeque::new(),
            counted: (0, 0),
        }
    }

    /// Ended periods, oldest first; without idle periods, at most 60.
    pub fn periods(&self) -> impl DoubleEndedIterator<Item = &Period> + ExactSizeIterator {
        self.periods.iter()
    }

    /// Lateness of all answers of ended periods.
    pub const fn lateness(&self) -> &Bins {
        &self.total
    }

    /// Number of faithful and of unfaithful periods.
    pub const fn counted(&self) -> (u64, u64) {
        self.counted
    }

    /// Sets the number of requests in flight.
    #[inline]
    pub(crate) fn in_flight(&mut self, count: u32) {
        self.in_flight = count;
        self.in_flight_max = self.in_flight_max.max(count);
    }

    /// Registers an answer of the model that may leave at `at`.
    #[inline]
    pub(crate) fn answered(&mut self, at: Instant, response: Span, bytes: u64) {
        self.response.record(response);
        add(&mut self.window(at).model, bytes);
    }

    /// Registers an answer that reaches the client at `at`.
    #[inline]
    pub(crate) fn handed_out(&mut self, at: Instant, lateness: Span, bytes: u64) {
        self.lateness.record(lateness);
        add(&mut self.window(at).achieved, bytes);
    }

    /// The window of `at`; times before the first open window count there.
    fn window(&mut self, at: Instant) -> &mut FidelityWindow {
        let index = number(at).saturating_sub(self.first) as usize;
        if index >= self.open.len() {
            self.open.resize(index + 1, FidelityWindow::default());
        }
        &mut self.open[index]
    }

    /// Closes the windows and periods up to `now`.
    #[inline]
    pub(crate) fn close(&mut self, now: Instant) {
        if number(now) > self.first {
            self.close_until(number(now));
        }
    }

    #[cold]
    fn close_until(&mut self, end: u64) {
        while self.first < end {
            let quiet = self.open.is_empty() && self.lateness.is_empty() && self.response.is_empty();
            if quiet && self.closed.iter().all(|window| *window == FidelityWindow::default()) {
                // No events since: skips the idle time.
                self.first = end / WINDOWS * WINDOWS;
                (self.room, self.in_flight_max) = (Span::ZERO, self.in_flight);
                let begun = end % WINDOWS;
                self.closed = vec![FidelityWindow::default(); begun as usize];
                self.first += begun;
                return;
            }
            self.closed.push(self.open.pop_front().unwrap_or_default());
            self.room += WINDOW * u64::from(self.in_flight_max);
            self.in_flight_max = self.in_flight;
            self.first += 1;
            if self.first.is_multiple_of(WINDOWS) {
                self.end_period();
            }
        }
    }

    fn end_period(&mut self) {
        let windows = std::mem::take(&mut self.closed);
        let start = Instant::ZERO + WINDOW * (self.first - WINDOWS);
        let (lateness, response) = (self.lateness.take(), self.response.take());
        let verdict = judge(&windows, &lateness, &response, std::mem::take(&mut self.room));
        self.total.merge(&lateness);
        match verdict {
            FidelityVerdict::Idle => return,
            FidelityVerdict::Faithful => self.counted.0 += 1,
            FidelityVerdict::Unfaithful(_) => self.counted.1 += 1,
        }
        if self.periods.len() == KEPT {
            self.periods.pop_front();
        }
        self.periods.push_back(Period { start, windows, lateness, response, verdict });
    }
}

fn add(flow: &mut Flow, bytes: u64) {
    flow.ops += 1;
    flow.bytes += bytes;
}

const fn number(at: Instant) -> u64 {
    at.as_nanos() / WINDOW.as_nanos()
}

/// Applies the rules in the module documentation.
fn judge(windows: &[FidelityWindow], lateness: &Bins, response: &Bins, room: Span) -> FidelityVerdict {
    let idle = windows.iter().all(|window| *window == FidelityWindow::default());
    if idle && lateness.is_empty() && response.is_empty() {
        return FidelityVerdict::Idle;
    }
    let typical = response.quantile(0.5).unwrap_or(Span::ZERO);
    let beyond = |(quantile, share, least): (f64, u64, Span)| {
        let late = lateness.quantile(quantile).unwrap_or(Span::ZERO);
        late > least.max(typical * share / 100)
    };
    if beyond(LATENESS_LIMITS[0]) {
        FidelityVerdict::Unfaithful(Breach::Median)
    } else if beyond(LATENESS_LIMITS[1]) {
        FidelityVerdict::Unfaithful(Breach::Tail)
    } else if windows.iter().any(differs) {
        FidelityVerdict::Unfaithful(Breach::Flow)
    } else if lateness.sum_ns > room.as_nanos() / 20 {
        FidelityVerdict::Unfaithful(Breach::Offered)
    } else {
        FidelityVerdict::Faithful
    }
}

fn differs(window: &FidelityWindow) -> bool {
    let FidelityWindow { model, achieved } = window;
    let ops = model.ops.abs_diff(achieved.ops);
    let bytes = model.bytes.abs_diff(achieved.bytes);
    ops > 1 && (ops * 20 > model.ops || bytes * 20 > model.bytes)
}

#[cfg(test)]
mod tests;
