//! Storage of known load line: queues in virtual time, with optional neighbour, drift or stalls, and a generator whose
//! host takes its processor away.

use fastrand::Rng;
use plimsoll_analyse::{SlotPlan, Sweep, SweepPlan, SweepPoint};
use plimsoll_load::{Arrival, Pace};
use plimsoll_record::{HostDelay, LoadSlot, Objective, Recorder, SlotRole};
use plimsoll_units::{Instant, Kind, Span};

use crate::toy::{exponential, normal};

/// A queue with disturbances. Times in seconds, rates per second.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    pub servers: usize,
    /// Mean service time, exponential.
    pub service: f64,
    /// Rate and burst of a limit before the servers.
    pub limit: Option<(f64, f64)>,
    /// Each operation is assigned to a server, as in a bank of disks.
    pub is_bank: bool,
    /// Mean durations of phases with service times multiplied by `factor`, and of normal phases.
    pub slow: Option<(f64, f64, f64)>,
    /// Standard deviation and time constant of a drift of the logarithm of the service time.
    pub drift: Option<(f64, f64)>,
    /// Stalls per second, and their mean length.
    pub stalls: Option<(f64, f64)>,
    /// The host of the generator; the storage is not affected.
    pub host: Option<HostModel>,
}

/// A host that takes the processor away from the generator, in busy phases only. Times in seconds.
#[derive(Clone, Copy, Debug)]
pub struct HostModel {
    /// Mean durations of busy and of quiet phases.
    pub phases: (f64, f64),
    /// Mean durations without and with the processor in busy phases.
    pub pieces: (f64, f64),
}

pub const QUEUE: Model =
    Model { servers: 8, service: 8e-4, limit: None, is_bank: false, slow: None, drift: None, stalls: None, host: None };

/// State of a model.
pub struct Queue {
    model: Model,
    rng: Rng,
    now: f64,
    free: Vec<f64>,
    /// Next time at which the limit admits an operation, or its tokens and the time of their count.
    paced: f64,
    tokens: (f64, f64),
    is_slow: bool,
    switch: f64,
    drifted: (f64, f64),
    responses: Recorder,
    /// Times without the processor so far in order, begin and end.
    taken: Vec<(f64, f64)>,
    /// The host is busy until this time, or quiet.
    phase: (bool, f64),
    lateness: Recorder,
}

impl Queue {
    pub fn new(model: Model, seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed ^ 0x5eed);
        let (is_slow, switch) = match model.slow {
            Some((slow, fast, _)) => {
                let is_slow = rng.f64() < slow / (slow + fast);
                (is_slow, exponential(&mut rng, if is_slow { slow } else { fast }))
            }
            None => (false, f64::INFINITY),
        };
        let drift = model.drift.map_or(0.0, |(deviation, _)| deviation * normal(&mut rng));
        let tokens = (model.limit.map_or(0.0, |(_, burst)| burst), 0.0);
        Self {
            model,
            rng,
            now: 0.0,
            free: vec![0.0; model.servers],
            paced: 0.0,
            tokens,
            is_slow,
            switch,
            drifted: (drift, 0.0),
            responses: Recorder::new(),
            taken: Vec::new(),
            phase: (false, 0.0),
            lateness: Recorder::new(),
        }
    }

    /// Extends the times without the processor until `end`.
    fn take_away(&mut self, end: f64) {
        let Some(host) = self.model.host else { return };
        let (mut at, (mut is_busy, mut until)) = (self.taken.last().map_or(0.0, |piece| piece.1), self.phase);
        while at < end {
            if at >= until {
                is_busy = !is_busy;
                until += exponential(&mut self.rng, if is_busy { host.phases.0 } else { host.phases.1 });
            }
            if is_busy {
                let begin = at + exponential(&mut self.rng, host.pieces.0);
                at = begin + exponential(&mut self.rng, host.pieces.1);
                self.taken.push((begin, at));
            } else {
                at = until;
            }
        }
        self.phase = (is_busy, until);
    }

    /// The time at which the generator notices an event at `t`.
    fn noticed(&self, t: f64) -> f64 {
        let next = self.taken.partition_point(|piece| piece.1 <= t);
        self.taken.get(next).filter(|piece| piece.0 <= t).map_or(t, |piece| piece.1)
    }

    /// Processor time withheld between two times.
    fn withheld(&self, from: f64, to: f64) -> Option<HostDelay> {
        self.model.host?;
        let mut pauses = Recorder::new();
        for (begin, end) in &self.taken {
            let span = Span::from_secs_f64((end.min(to) - begin.max(from)).max(0.0));
            if span >= Span::from_millis(1) {
                pauses.record(span);
            }
        }
        let pauses = pauses.take();
        let run_delay = Some(Span::from_nanos(pauses.sum_ns));
        let elapsed = Span::from_secs_f64(to - from);
        Some(HostDelay { elapsed, run_delay, pauses, loops: 1, ..HostDelay::default() })
    }

    /// Factor on the service time at `t`.
    fn slowness(&mut self, t: f64) -> f64 {
        let mut factor = 1.0;
        if let Some((slow, fast, times)) = self.model.slow {
            while t >= self.switch {
                self.is_slow = !self.is_slow;
                self.switch += exponential(&mut self.rng, if self.is_slow { slow } else { fast });
            }
            factor = if self.is_slow { times } else { 1.0 };
        }
        if let Some((deviation, constant)) = self.model.drift {
            let (value, at) = self.drifted;
            if t > at + 0.02 {
                let correlation = (-(t - at) / constant).exp();
                self.drifted = (
                    correlation * value + deviation * (1.0 - correlation * correlation).sqrt() * normal(&mut self.rng),
                    t,
                );
            }
            factor *= self.drifted.0.exp();
        }
        factor
    }

    /// Completion time of an operation that arrives at `at`.
    fn serve(&mut self, at: f64) -> f64 {
        let mut begin = at;
        match self.model.limit {
            Some((rate, burst)) if burst > 0.0 => {
                let (tokens, counted) = self.tokens;
                let tokens = (tokens + (at - counted).max(0.0) * rate).min(burst);
                begin += ((1.0 - tokens) / rate).max(0.0);
                self.tokens = (tokens - 1.0, at.max(counted));
            }
            Some((rate, _)) => {
                begin = begin.max(self.paced);
                self.paced = begin + 1.0 / rate;
            }
            None => {}
        }
        let server = if self.model.is_bank {
            self.rng.usize(..self.free.len())
        } else {
            (0..self.free.len()).min_by(|a, b| self.free[*a].total_cmp(&self.free[*b])).expect("there are servers")
        };
        let begin = begin.max(self.free[server]);
        let done = begin + self.slowness(begin) * exponential(&mut self.rng, self.model.service);
        self.free[server] = done;
        done
    }

    /// Measures a point; returns its slots, several for a hold.
    pub fn measure(&mut self, point: &SweepPoint, window: Span) -> Vec<LoadSlot> {
        let start = self.now;
        self.take_away(start + point.warm_up.as_secs_f64() + point.max.as_secs_f64() + 2.0);
        self.free.iter_mut().for_each(|free| *free = start);
        self.paced = self.paced.max(start);
        let (role, pass) = point.slot.expect("slots are measured");
        let counted = if role == SlotRole::Hold { window } else { point.max };
        let windows = (point.max.as_nanos() / counted.as_nanos().max(1)).max(1);
        let warm_up = point.warm_up.as_secs_f64();
        let mut all: Vec<Vec<f64>> = vec![Vec::new(); windows as usize];
        let (length, last) = (counted.as_secs_f64(), start + warm_up + point.max.as_secs_f64());
        let mut keep = |at: f64, response: f64| {
            let index = ((at - start - warm_up) / length).floor();
            if index >= 0.0 {
                all[(index as usize).min(windows as usize - 1)].push(response);
            }
        };
        let drained = match point.pace {
            Pace::Open { rate, .. } => self.open(rate.as_f64(), last, &mut keep),
            Pace::Closed { depth } => self.closed(depth, last, &mut keep),
        };
        self.now = drained.max(last) + 0.003;
        let host = self.withheld(start, self.now);
        let lateness = self.lateness.take();
        let slot = |(index, responses): (usize, Vec<f64>)| {
            let count = responses.len() as f64;
            for seconds in responses {
                self.responses.record(Span::from_secs_f64(seconds));
            }
            LoadSlot {
                offered: point.pace,
                role,
                pass,
                start: Instant::ZERO + Span::from_secs_f64(start) + counted * index as u64,
                warm_up: point.warm_up,
                span: counted,
                iops: count / length,
                beside_iops: 0.0,
                response: vec![(Kind::Read, self.responses.take())],
                lateness: lateness.clone(),
                host: host.clone(),
            }
        };
        all.into_iter().enumerate().map(slot).collect()
    }

    fn open(&mut self, rate: f64, end: f64, keep: &mut dyn FnMut(f64, f64)) -> f64 {
        let (mut at, mut drained) = (self.now, self.now);
        let (often, length) = self.model.stalls.unwrap_or((0.0, 0.0));
        let next = |rng: &mut Rng| if often > 0.0 { exponential(rng, 1.0 / often) } else { f64::INFINITY };
        let mut stall = at + next(&mut self.rng);
        loop {
            at += exponential(&mut self.rng, 1.0 / rate);
            if at >= end {
                return drained;
            }
            while stall <= at {
                let until = stall + exponential(&mut self.rng, length);
                self.free.iter_mut().for_each(|free| *free = free.max(until));
                stall += next(&mut self.rng);
            }
            // The generator sleeps between arrivals: those that it oversleeps are intended when it wakes up.
            let issued = self.noticed(at);
            self.lateness.record(Span::from_secs_f64(issued - at));
            let done = self.serve(issued);
            let done = self.noticed(done);
            drained = drained.max(done);
            keep(issued, done - issued);
        }
    }

    fn closed(&mut self, depth: u32, end: f64, keep: &mut dyn FnMut(f64, f64)) -> f64 {
        let mut flights: Vec<(f64, f64)> = Vec::new();
        for _ in 0..depth {
            let done = self.serve(self.now);
            flights.push((self.noticed(done), self.now));
        }
        loop {
            let next = (0..flights.len()).min_by(|a, b| flights[*a].0.total_cmp(&flights[*b].0)).expect("some");
            let (done, began) = flights[next];
            if done >= end {
                return flights.iter().map(|flight| flight.0).fold(end, f64::max);
            }
            keep(done, done - began);
            let again = self.serve(done);
            flights[next] = (self.noticed(again), done);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    Quick,
    Default,
    /// Used by the benchmark only.
    #[allow(dead_code)]
    Thorough,
}

pub fn plan(effort: Effort, objective: Option<Objective>, seed: u64) -> SweepPlan {
    let (budget, least_ms, scouts, window_ms) = match effort {
        Effort::Quick => (10, 250, 1, 250),
        Effort::Default => (44, 500, 2, 500),
        Effort::Thorough => (520, 1_000, 2, 500),
    };
    let least = Span::from_millis(least_ms);
    SweepPlan {
        budget: Span::from_secs(budget),
        depths: None,
        max_depth: 256,
        rates: None,
        arrival: Arrival::Poisson,
        objective,
        precision: plimsoll_analyse::Precision::default(),
        repetitions: 1,
        least_point: least,
        max_point: least,
        slots: Some(SlotPlan {
            least,
            longest: Span::from_secs(budget) / 40,
            scouts,
            hold: 0.2,
            window: Span::from_millis(window_ms),
            overrun: 0.1,
            seed,
        }),
    }
}

/// Slots of a complete measurement, and its duration in seconds.
pub fn measured(model: Model, plan: &SweepPlan, seed: u64) -> (Vec<LoadSlot>, f64) {
    let mut queue = Queue::new(model, seed);
    let mut sweep = Sweep::new(plan.clone());
    let mut slots = Vec::new();
    let window = plan.slots.expect("slots are planned").window;
    while let Some(point) = sweep.next(&[], &slots, Span::from_secs_f64(queue.now)) {
        slots.extend(queue.measure(&point, window));
    }
    (slots, queue.now)
}

/// Probability that a response time of M/M/c exceeds `limit` seconds (Erlang C).
pub fn above(servers: usize, service: f64, rate: f64, limit: f64) -> f64 {
    let busy = rate * service;
    let mut blocked = 1.0;
    for k in 1..=servers {
        blocked = busy * blocked / (k as f64 + busy * blocked);
    }
    let used = busy / servers as f64;
    let waits = blocked / (1.0 - used * (1.0 - blocked));
    let x = limit / service;
    let difference = (servers as f64 - busy) - 1.0;
    if difference.abs() < 1e-9 {
        return (-x).exp() * (1.0 + waits * x);
    }
    (-x).exp() * (1.0 + waits * (1.0 - (-x * difference).exp()) / difference)
}

/// Rate at which 1 % of the response times of M/M/c exceed `limit` seconds.
pub fn p99_line(servers: usize, service: f64, limit: f64) -> f64 {
    let (mut low, mut high) = (0.0, servers as f64 / service * 0.999_999);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if above(servers, service, middle, limit) > 0.01 { high = middle } else { low = middle }
    }
    low
}
