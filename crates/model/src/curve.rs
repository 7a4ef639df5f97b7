//! Storage measured as a whole: throughput with 1, 2, ... operations in flight.
//!
//! A queue whose rate depends on its length, with exponential service times: the load-dependent server of product-form
//! networks (Baskett, Chandy, Muntz and Palacios 1975). Members of an array therefore behave as measured for their own
//! number of operations in flight.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use fastrand::Rng;
use plimsoll_units::{Instant, Iops, Span};

use crate::spec::{Demand, Service};
use crate::variate::Variate;

#[derive(Clone, Debug)]
pub(crate) struct Curve {
    /// Operations a second by the number in flight.
    points: Vec<(u32, f64)>,
    /// Passages in the queue; the first is being served.
    queue: VecDeque<u32>,
    /// The highest rate, at which events are drawn.
    fastest: f64,
    unit: Variate,
    rng: Rng,
}

/// Effect of an event of a [`Curve`].
pub(crate) enum CurveEffect {
    /// No service (thinning): the time of the next event.
    Again(Instant),
    /// The first passage is served: the next passage and the time of its event.
    Through(Option<(u32, Instant)>),
}

/// Mean of the drawn times, scaled later.
const UNIT: Span = Span::from_secs(1);
/// The distribution of the drawn times.
pub(crate) const DRAWN: Demand = Demand { spread: Service::Exponential, ..Demand::constant(UNIT) };

impl Curve {
    /// `unit` draws [`DRAWN`].
    pub(crate) fn new(points: &[(u32, Iops)], unit: Variate, seed: u64) -> Self {
        let points: Vec<(u32, f64)> = points.iter().map(|(number, iops)| (*number, iops.as_f64())).collect();
        let fastest = points.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
        Self { points, queue: VecDeque::new(), fastest, unit, rng: Rng::with_seed(!seed) }
    }

    /// The next event, if `passage` is alone.
    pub(crate) fn enter(&mut self, now: Instant, passage: u32) -> Option<Instant> {
        self.queue.push_back(passage);
        (self.queue.len() == 1).then(|| self.draw(now))
    }

    /// Processes the event that was drawn last.
    pub(crate) fn serve(&mut self, now: Instant) -> CurveEffect {
        let rate = interpolate(&self.points, self.queue.len());
        if rate < self.fastest && self.rng.f64() * self.fastest >= rate {
            return CurveEffect::Again(self.draw(now));
        }
        self.queue.pop_front();
        let next = self.queue.front().copied();
        CurveEffect::Through(next.map(|passage| (passage, self.draw(now))))
    }

    /// Draws the next event at the highest rate. It serves with the probability that gives the rate of the number that
    /// is in the queue by then (thinning, Lewis and Shedler 1979), so that each arrival changes the rate at once.
    fn draw(&mut self, now: Instant) -> Instant {
        now + Span::from_nanos((self.unit.spread_out(UNIT).as_nanos() as f64 / self.fastest + 0.5) as u64)
    }
}

/// The rate at a queue length: linear between the points, constant beyond the last.
pub(crate) fn interpolate(points: &[(u32, f64)], number: usize) -> f64 {
    let number = number as f64;
    let above = points.iter().position(|(at, _)| f64::from(*at) >= number);
    match above {
        Some(0) => points[0].1,
        Some(index) => {
            let ((low, from), (high, to)) = (points[index - 1], points[index]);
            from + (to - from) * (number - f64::from(low)) / f64::from(high - low)
        }
        None => points[points.len() - 1].1,
    }
}
