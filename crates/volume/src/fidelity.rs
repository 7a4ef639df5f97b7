//! The fidelity of a served volume to its model, as its clients see it: the lateness of answers, the achieved against
//! the modelled throughput in windows of 100 ms, and the load that clients did not offer because answers came late. In
//! model time throughout.
//!
//! A period is *faithful* when
//! 1. the median lateness is at most 2 % of the median response time of the model, or 15 us;
//! 2. the 99th percentile of the lateness is at most 10 % of it, or 100 us;
//! 3. in no window did the answers handed out differ from those that the model gave by more than 5 %, or one answer;
//! 4. lateness took at most 5 % of the time that requests can be in flight, which is the period times the most that were in
//!    flight: clients that follow each answer with a request lose that part of their operations.

use std::collections::VecDeque;

use plimsoll_record::{Bins, Recorder};
use plimsoll_units::{Instant, Span};

/// The length of a window.
const WINDOW: Span = Span::from_millis(100);
/// Windows in a period.
const WINDOWS: u64 = 10;
/// Periods that are kept: ten minutes.
const KEPT: usize = 600;

/// Operations and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Operations.
    pub ops: u64,
    /// Bytes that they moved.
    pub bytes: u64,
}

/// 100 ms of a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Answers of the model.
    pub model: Flow,
    /// Answers that left.
    pub achieved: Flow,
}

/// A rule that a period broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Breach {
    /// The median lateness was too high.
    Median,
    /// The 99th percentile of the lateness was too high.
    Tail,
    /// A window differed too much from the model.
    Flow,
    /// Clients offered less load, as answers came late.
    Offered,
}

/// Whether figures of a period are those of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No requests.
    Idle,
    /// They are.
    Faithful,
    /// They are not: the first rule that was broken.
    Unfaithful(Breach),
}

/// One second of a volume.
#[derive(Clone, Debug, PartialEq)]
pub struct Period {
    /// Its first moment, in model time.
    pub start: Instant,
    /// Its windows, in order.
    pub windows: Vec<Window>,
    /// How late clients had its answers.
    pub lateness: Bins,
    /// The response times that the model gave, without the lateness.
    pub response: Bins,
    /// Whether it was faithful.
    pub verdict: Verdict,
}

/// A volume's record of its own faithfulness.
#[derive(Clone, Debug)]
pub struct Fidelity {
    /// The number of the first window that is not closed.
    first: u64,
    /// Windows that are not closed.
    open: VecDeque<Window>,
    /// Closed windows of the present period.
    closed: Vec<Window>,
    lateness: Recorder,
    response: Recorder,
    /// Requests in flight, and the most of the present window.
    in_flight: u32,
    in_flight_max: u32,
    /// The time that requests can be in flight in the closed windows of the present period: of each, its most.
    room: Span,
    total: Bins,
    periods: VecDeque<Period>,
    /// Periods in all: faithful, unfaithful.
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

    /// The periods that ended, oldest first; idle ones are left out, and no more than 600 are kept.
    pub fn periods(&self) -> impl ExactSizeIterator<Item = &Period> {
        self.periods.iter()
    }

    /// How late all answers of the ended periods were.
    pub const fn lateness(&self) -> &Bins {
        &self.total
    }

    /// How many periods were faithful, and how many were not.
    pub const fn counted(&self) -> (u64, u64) {
        self.counted
    }

    /// So many requests are in flight from now on.
    #[inline]
    pub(crate) fn in_flight(&mut self, count: u32) {
        self.in_flight = count;
        self.in_flight_max = self.in_flight_max.max(count);
    }

    /// The model answered; the answer may leave at `at`.
    #[inline]
    pub(crate) fn answered(&mut self, at: Instant, response: Span, bytes: u64) {
        self.response.record(response);
        add(&mut self.window(at).model, bytes);
    }

    /// A client has the answer at `at`.
    #[inline]
    pub(crate) fn handed_out(&mut self, at: Instant, lateness: Span, bytes: u64) {
        self.lateness.record(lateness);
        add(&mut self.window(at).achieved, bytes);
    }

    /// The window of a time; times before the first open window belong to that.
    fn window(&mut self, at: Instant) -> &mut Window {
        let index = number(at).saturating_sub(self.first) as usize;
        if index >= self.open.len() {
            self.open.resize(index + 1, Window::default());
        }
        &mut self.open[index]
    }

    /// Closes the windows and periods that ended by `now`.
    #[inline]
    pub(crate) fn close(&mut self, now: Instant) {
        if number(now) > self.first {
            self.close_until(number(now));
        }
    }

    #[cold]
    fn close_until(&mut self, present: u64) {
        while self.first < present {
            let quiet = self.open.is_empty() && self.lateness.is_empty() && self.response.is_empty();
            if quiet && self.closed.iter().all(|window| *window == Window::default()) {
                // There are no events until then, however long that is.
                self.first = present / WINDOWS * WINDOWS;
                (self.room, self.in_flight_max) = (Span::ZERO, self.in_flight);
                let begun = present % WINDOWS;
                self.closed = vec![Window::default(); begun as usize];
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
            Verdict::Idle => return,
            Verdict::Faithful => self.counted.0 += 1,
            Verdict::Unfaithful(_) => self.counted.1 += 1,
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

/// The rule at the head of this file.
fn judge(windows: &[Window], lateness: &Bins, response: &Bins, room: Span) -> Verdict {
    let idle = windows.iter().all(|window| *window == Window::default());
    if idle && lateness.is_empty() && response.is_empty() {
        return Verdict::Idle;
    }
    let typical = response.quantile(0.5).unwrap_or(Span::ZERO);
    let beyond = |quantile, share, least: Span| {
        let late = lateness.quantile(quantile).unwrap_or(Span::ZERO);
        late > least.max(typical * share / 100)
    };
    if beyond(0.5, 2, Span::from_micros(15)) {
        Verdict::Unfaithful(Breach::Median)
    } else if beyond(0.99, 10, Span::from_micros(100)) {
        Verdict::Unfaithful(Breach::Tail)
    } else if windows.iter().any(differs) {
        Verdict::Unfaithful(Breach::Flow)
    } else if lateness.sum_ns > room.as_nanos() / 20 {
        Verdict::Unfaithful(Breach::Offered)
    } else {
        Verdict::Faithful
    }
}

fn differs(window: &Window) -> bool {
    let Window { model, achieved } = window;
    let ops = model.ops.abs_diff(achieved.ops);
    let bytes = model.bytes.abs_diff(achieved.bytes);
    ops > 1 && (ops * 20 > model.ops || bytes * 20 > model.bytes)
}

#[cfg(test)]
mod tests;
