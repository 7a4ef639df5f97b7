//! Closed loads of increasing depth, and loads given by the user, on a queue with several servers.

use fastrand::Rng;
use plimsoll_analyse::{Precision, Purpose, Settle, Sweep, SweepPlan, SweepPoint, settle};
use plimsoll_load::{Arrival, Pace};
use plimsoll_record::{Objective, Run, Slice};
use plimsoll_units::{Iops, Span};

use crate::measured;
use crate::toy::{self, exponential, poisson};

/// `servers` with exponential service times of mean `service_ns`.
#[derive(Clone, Copy)]
struct Storage {
    servers: f64,
    service_ns: f64,
}

const FAST: Storage = Storage { servers: 50.0, service_ns: 1e5 };
const SLOW: Storage = Storage { servers: 1.0, service_ns: 1.6e7 };

impl Storage {
    fn capacity(self) -> f64 {
        self.servers / self.service_ns * 1e9
    }

    /// Probability that an arrival waits (Erlang C).
    fn waits(self, rate: f64) -> f64 {
        let busy = rate * self.service_ns / 1e9;
        let mut blocked = 1.0;
        for k in 1..=self.servers as u32 {
            blocked = busy * blocked / (f64::from(k) + busy * blocked);
        }
        let used = busy / self.servers;
        blocked / (1.0 - used * (1.0 - blocked))
    }

    /// A response time at `at` in the run.
    fn response_ns(self, rng: &mut Rng, pace: Pace, at: f64) -> f64 {
        let served = exponential(rng, self.service_ns);
        served
            + match pace {
                Pace::Open { rate, .. } if rate.as_f64() >= self.capacity() => {
                    1e9 * at * (1.0 - self.capacity() / rate.as_f64())
                }
                Pace::Open { rate, .. } if rng.f64() < self.waits(rate.as_f64()) => {
                    exponential(rng, 1e9 / (self.capacity() - rate.as_f64()))
                }
                Pace::Open { .. } => 0.0,
                Pace::Closed { depth } => {
                    let ahead = (f64::from(depth) - self.servers).max(0.0);
                    (ahead + ahead.sqrt() * toy::normal(rng)).max(0.0) * self.service_ns / self.servers
                }
            }
    }

    fn answered(self, pace: Pace) -> f64 {
        match pace {
            Pace::Closed { depth } => f64::from(depth).min(self.servers) / self.service_ns * 1e9,
            Pace::Open { rate, .. } => rate.as_f64().min(self.capacity()),
        }
    }

    fn slice(self, rng: &mut Rng, pace: Pace, start: Span, span: Span) -> Slice {
        let count = poisson(rng, self.answered(pace) * span.as_secs_f64());
        // A fast slice is represented by a sample.
        let times = (count / 300).max(1);
        let at = (start + span / 2).as_secs_f64();
        let mut responses: Vec<u64> = (0..count / times).map(|_| self.response_ns(rng, pace, at) as u64).collect();
        toy::slice(start, span, toy::build_bins(&mut responses, times))
    }

    /// Measures a point like the real loop, with regular checks for its end. Also returns the duration.
    fn measure(self, rng: &mut Rng, sweep: &Sweep, point: &SweepPoint) -> (Run, Span) {
        let span = point.least / 16;
        let mut series = Vec::new();
        let mut settle_for = Settle {
            least_warm_up: point.warm_up,
            offered_span: Span::MAX,
            objective: sweep.objective(),
            offered: point.pace,
            unserved: 0,
        };
        for i in 1..=(point.warm_up + point.max).as_nanos().div_ceil(span.as_nanos()) {
            series.push(self.slice(rng, point.pace, span * (i - 1), span));
            let measured = span * i - point.warm_up;
            if i % 10 == 0 && measured >= point.least {
                let figures = settle(&series, &settle_for).figures;
                if sweep.is_enough(point, measured, &figures) {
                    break;
                }
            }
        }
        let end = span * series.len() as u64;
        settle_for.offered_span = end;
        let mut drained = end;
        if let Pace::Open { rate, .. } = point.pace {
            let backlog = end.as_secs_f64() * (rate.as_f64() / self.capacity() - 1.0).max(0.0);
            while drained < end + Span::from_secs_f64(backlog) {
                let mut last = self.slice(rng, point.pace, end, span);
                last.start += drained - end;
                series.push(last);
                drained += span;
            }
        }
        let settled = settle(&series, &settle_for);
        let mut run = measured::run(point.pace, settled.figures);
        (run.warm_up, run.span, run.total, run.series) = (settled.warm_up, settled.span, settled.total, series);
        (run, drained)
    }
}

fn plan(budget: Span, objective: Option<Objective>) -> SweepPlan {
    SweepPlan {
        budget,
        depths: None,
        max_depth: 256,
        rates: None,
        arrival: Arrival::Poisson,
        objective,
        precision: Precision::default(),
        repetitions: 1,
        least_point: budget / 60,
        max_point: budget / 6,
        slots: None,
    }
}

struct Swept {
    points: Vec<SweepPoint>,
    spent: Span,
}

impl Swept {
    fn count(&self, purpose: Purpose) -> usize {
        self.points.iter().filter(|point| point.purpose == purpose).count()
    }
}

/// Runs a complete sweep, and checks its invariants.
fn run_sweep(storage: Storage, plan: &SweepPlan, seed: u64) -> Swept {
    let rng = &mut Rng::with_seed(seed);
    let mut sweep = Sweep::new(plan.clone());
    let (mut runs, mut points, mut spent, mut last_share) = (Vec::new(), Vec::new(), Span::ZERO, 0.0);
    while let Some(point) = sweep.next(&runs, &[], spent) {
        assert!(point.least >= plan.least_point && point.least <= point.max, "{point:?}");
        let (run, took) = storage.measure(rng, &sweep, &point);
        let named = plan.depths.is_some() || plan.rates.is_some();
        assert!(named || spent <= plan.budget, "spent {spent} before {point:?}");
        spent += took;
        assert!(sweep.share_done(spent) >= last_share && sweep.share_done(spent) <= 1.0);
        last_share = sweep.share_done(spent);
        runs.push(run);
        points.push(point);
    }
    Swept { points, spent }
}

#[test]
fn depth_increases_until_saturation() {
    for (storage, deepest) in [(FAST, 64..=256), (SLOW, 2..=64)] {
        let swept = run_sweep(storage, &plan(Span::from_secs(60), None), 1);
        let depth =
            |point: &SweepPoint| if let Pace::Closed { depth } = point.pace { depth } else { panic!("{point:?}") };
        let rising = swept.count(Purpose::Bracket);
        let (rising, closer) = swept.points.split_at(rising);
        assert!(
            rising.len() >= 3 && rising.iter().all(|point| point.purpose == Purpose::Bracket),
            "{:?}",
            swept.points
        );
        assert!(deepest.contains(&depth(&rising[rising.len() - 1])), "{rising:?}");
        // Depths around the load line are new, and between measured depths.
        let mut depths: Vec<u32> = swept.points.iter().map(depth).collect();
        assert!(closer.iter().all(|point| depth(point) < depths[rising.len() - 1]), "{closer:?}");
        depths.sort_unstable();
        assert!(depths.windows(2).all(|pair| pair[0] < pair[1]), "{depths:?}");
    }
}

#[test]
fn only_given_loads_are_measured() {
    let named = SweepPlan {
        depths: Some(vec![1, 4, 16]),
        rates: Some(vec![Iops::per_second(1_000)]),
        repetitions: 2,
        ..plan(Span::from_secs(20), None)
    };
    let swept = run_sweep(FAST, &named, 1);
    let paces: Vec<Pace> = swept.points.iter().map(|point| point.pace).collect();
    let once = [1, 4, 16].map(|depth| Pace::Closed { depth }).into_iter().chain([toy::open(1_000.0)]);
    assert_eq!(paces, once.clone().chain(once).collect::<Vec<_>>());
}

/// With `--duration` the time of each point is fixed, and its warm-up is beyond the budget.
#[test]
fn loads_of_a_fixed_time_are_all_repeated() {
    let point = Span::from_secs(1);
    let named = SweepPlan {
        rates: Some(vec![Iops::per_second(1_000)]),
        repetitions: 20,
        least_point: point,
        max_point: point,
        ..plan(point * 20, None)
    };
    assert_eq!(run_sweep(FAST, &named, 1).points.len(), 20);
}

#[test]
fn repetitions_are_interleaved() {
    let twice = SweepPlan { repetitions: 2, ..plan(Span::from_secs(60), Some(toy::p99_within(Span::from_millis(1)))) };
    let swept = run_sweep(FAST, &twice, 1);
    let again = swept.points.iter().filter(|point| point.pace == Pace::Closed { depth: 1 }).count();
    assert_eq!(again, 2, "{:?}", swept.points);
    assert!(swept.spent <= Span::from_secs(72));
}
