//! Open loads: some below the most that is carried, then ever closer to the load line, then those beside it again.

use plimsoll_load::Pace;
use plimsoll_record::{Counter, Objective, Run};
use plimsoll_units::Iops;

use super::{Point, Purpose, Sweep};
use crate::load_line::{bounds, crossing};
use crate::standing::{self, Meets, Standing, offered_size};

/// Share of the time after the bracket for the loads below.
const SHARE_BELOW: f64 = 0.4;
/// The loads below, as shares of the most that was carried, by how many there is time for.
const BELOW: [&[f64]; 4] = [&[0.4, 0.8], &[0.3, 0.6, 0.85], &[0.25, 0.5, 0.7, 0.9], &[0.25, 0.5, 0.7, 0.85, 0.95]];
/// The load line is between two loads that are this near each other: near enough.
const NEAR: f64 = 0.03;
/// Nearer than this, a load whose interval holds the limit is repeated before a nearer one is tried.
const NEAR_FOR_NOISE: f64 = 0.08;
/// A side of the load line on which no load is clear is followed by this factor, and no further than that one.
const FURTHER: f64 = 0.7;
const FURTHEST: f64 = 0.3;
/// No lighter load than this share of the most carried is tried.
const LIGHTEST: f64 = 0.01;

impl Sweep {
    /// The next open load, or `None` when the load line is known well enough or `left_s` is too short.
    pub(super) fn search(&mut self, runs: &[Run], left_s: f64) -> Option<Point> {
        if left_s < self.plan.least_point.as_secs_f64() {
            return None;
        }
        let carried = carried(runs)?;
        let objective = self.objective?;
        if self.below.is_none() {
            self.below = Some(self.rates_below(carried, left_s));
        }
        let loads = standing::open(runs, objective);
        if let Some(point) = self.below(&loads, left_s) {
            return Some(point);
        }
        let found = bounds(&loads);
        match (found.meets, found.fails) {
            (None, None) => None,
            (None, Some(lightest)) => self.lighter(runs, lightest, carried, objective, left_s),
            (Some(meets), None) => self.heavier(meets, carried, left_s),
            (Some(meets), Some(fails)) => self.between(&loads, meets, fails, left_s),
        }
    }

    fn rates_below(&self, carried: f64, left_s: f64) -> Vec<Iops> {
        let each = self.seconds_wanted(carried / 2.0) * (1.0 + super::WARM_UP);
        let count = (SHARE_BELOW * left_s / each.max(1e-9)) as usize;
        BELOW[count.clamp(2, 5) - 2].iter().map(|share| Iops::from_f64(share * carried)).collect()
    }

    /// The next of the loads below that was not issued. After two that clearly failed, heavier ones say nothing new.
    fn below(&self, loads: &[Standing], left_s: f64) -> Option<Point> {
        let rates = self.below.as_ref()?;
        let done = self.issued.iter().filter(|point| point.purpose == Purpose::Below).count();
        let failed = loads.iter().filter(|load| load.meets == Meets::No).count();
        let rate = *rates.get(done).filter(|_| failed < 2)?;
        let share = SHARE_BELOW * left_s / (rates.len() - done) as f64;
        let seconds = share.max(self.seconds_wanted(rate.as_f64()).min(left_s / (rates.len() - done + 1) as f64));
        Some(self.open_point(rate.as_f64(), Purpose::Below, seconds))
    }

    /// Nothing met the objective: a lighter load, down to where no queueing is left.
    fn lighter(
        &self,
        runs: &[Run],
        lightest: &Standing,
        carried: f64,
        objective: Objective,
        left_s: f64,
    ) -> Option<Point> {
        let alone = standing::closed(runs, objective).into_iter().next();
        let alone_rate = alone.as_ref().map_or(0.0, |alone| alone.iops.value);
        let floor = (LIGHTEST * carried).max(0.05 * alone_rate);
        let rate = offered_size(lightest.offered);
        if rate <= floor * 1.01 {
            return self.repeat(&[lightest], left_s);
        }
        // When one operation at a time is too slow, only the floor itself is worth a look.
        let hopeless = alone.is_some_and(|alone| alone.meets == Meets::No);
        let next = if hopeless { floor } else { (rate / 2.5).max(floor) };
        Some(self.open_point(next, Purpose::LoadLine, (left_s / 3.0).max(self.seconds_wanted(next))))
    }

    /// Everything met the objective: up to the most carried, and a little beyond.
    fn heavier(&self, meets: &Standing, carried: f64, left_s: f64) -> Option<Point> {
        let rate = offered_size(meets.offered);
        let next = [1.0, 1.05].into_iter().map(|share| share * carried).find(|next| *next > 1.01 * rate);
        match next {
            Some(next) => Some(self.open_point(next, Purpose::LoadLine, left_s / 3.0)),
            None => self.repeat(&[meets], left_s),
        }
    }

    /// Between a load that meets the objective and one that fails, where a straight line in log response time crosses
    /// the limit; half-way when the failing one was overloaded. When they are near each other, what is doubtful about
    /// them is repeated, and then what is doubtful about others: they bound the load line's interval.
    fn between(&self, loads: &[Standing], meets: &Standing, fails: &Standing, left_s: f64) -> Option<Point> {
        let (from, to) = (offered_size(meets.offered), offered_size(fails.offered));
        let gap = to / from - 1.0;
        let noisy = is_doubtful(meets) || is_doubtful(fails);
        let again = || self.repeat(&[meets, fails], left_s);
        if noisy && gap <= NEAR_FOR_NOISE {
            // Repeating narrows the doubt about the place; only clear loads on both sides bound it.
            let next = self.unbounded(loads, from, to, left_s).or_else(again);
            if next.is_some() {
                return next;
            }
        }
        if gap <= NEAR {
            return again().or_else(|| self.bound(loads, from, to, left_s));
        }
        let objective = self.objective?;
        let way = if fails.overloaded { 0.5 } else { crossing(meets, fails, objective).clamp(0.2, 0.8) };
        let rate = from + (to - from) * way;
        let steps = (gap / NEAR).log2().ceil().max(1.0) + 1.0;
        let seconds = (left_s / steps).max(self.seconds_wanted(rate).min(left_s / 2.0));
        Some(self.open_point(rate, Purpose::LoadLine, seconds))
    }

    /// What bounds the load line's interval: doubtful loads again, the nearest to the line first; where none on a side is
    /// clear, a new one further out.
    fn bound(&self, loads: &[Standing], from: f64, to: f64, left_s: f64) -> Option<Point> {
        let away = |load: &&Standing| (offered_size(load.offered) / from).ln().abs();
        let mut doubtful: Vec<&Standing> = loads.iter().filter(|load| is_doubtful(load)).collect();
        doubtful.sort_by(|a, b| away(a).total_cmp(&away(b)));
        let further = self.unbounded(loads, from, to, left_s);
        further.or_else(|| doubtful.iter().find_map(|load| self.repeat(&[load], left_s)))
    }

    /// A load further out on a side of the line where none is clear, unless that side was followed far enough.
    fn unbounded(&self, loads: &[Standing], from: f64, to: f64, left_s: f64) -> Option<Point> {
        let clear = |wanted| loads.iter().any(|load| load.meets == wanted);
        let lightest = offered_size(loads.first()?.offered);
        let heaviest = offered_size(loads.last()?.offered);
        let below = (!clear(Meets::Yes) && lightest > from * FURTHEST).then_some(lightest * FURTHER);
        let above = (!clear(Meets::No) && heaviest < to / FURTHEST).then_some(heaviest / FURTHER);
        let rate = below.or(above)?;
        Some(self.open_point(rate, Purpose::LoadLine, (left_s / 4.0).max(self.seconds_wanted(rate))))
    }

    /// The one of these loads that is known worst, again; `None` when all are known well enough.
    fn repeat(&self, loads: &[&Standing], left_s: f64) -> Option<Point> {
        let width = |load: &&&Standing| load.measured.relative_half_width().unwrap_or(f64::INFINITY);
        let goal = self.plan.precision.quantile;
        let unsure = |load: &&&Standing| {
            // A load whose measure is at the limit, and known well, is the load line itself.
            !load.overloaded && (is_doubtful(load) && width(load) > NEAR || width(load) > goal)
        };
        let worst = loads.iter().filter(unsure).max_by(|a, b| width(a).total_cmp(&width(b)))?;
        let rate = offered_size(worst.offered);
        let seconds = (left_s / 4.0).max(self.seconds_wanted(rate)).min(left_s);
        Some(Point { pace: worst.offered, ..self.open_point(rate, Purpose::Repeat, seconds) })
    }

    fn open_point(&self, rate: f64, purpose: Purpose, seconds: f64) -> Point {
        let pace = Pace::Open { rate: Iops::from_f64(rate), arrival: self.plan.arrival };
        self.point(pace, purpose, seconds / (1.0 + super::WARM_UP), 0.0)
    }

    /// Seconds until the objective's measure has its operations at this rate, within the plan's bounds.
    fn seconds_wanted(&self, rate: f64) -> f64 {
        let (least, most) = (self.plan.least_point.as_secs_f64(), self.plan.most_point.as_secs_f64());
        (self.operations_wanted() / rate.max(1e-9)).min(most).max(least)
    }
}

/// True when the load's interval holds the limit.
fn is_doubtful(load: &Standing) -> bool {
    matches!(load.meets, Meets::Barely | Meets::Hardly)
}

/// The most operations of the leading stream per second that a closed load achieved: what its rates are shares of.
fn carried(runs: &[Run]) -> Option<f64> {
    let closed = runs.iter().filter(|run| matches!(run.offered, Pace::Closed { .. }));
    closed.map(leading_iops).max_by(f64::total_cmp).filter(|iops| *iops > 0.0)
}

fn leading_iops(run: &Run) -> f64 {
    let all = run.total.operations();
    let leading: u64 = run.total.0.iter().filter(|counter| counter.stream == 0).map(Counter::operations).sum();
    if all == 0 { run.figures.iops.value } else { run.figures.iops.value * leading as f64 / all as f64 }
}
