//! Observation of a load against the limits of a configuration: headroom, burst credits and their end, alerts, and the
//! forecast of the day.
//!
//! A state machine without clock and I/O: [`Watcher::observe`] takes the loads of successive intervals, from a running
//! system or a file, and [`Watcher::state`] describes the present. Credits are those of the model ([`plimsoll_model`]),
//! and their forecast is the model run ahead.

mod alert;
mod credits;
mod profile;
mod sample;
mod step;
mod trend;

use std::collections::VecDeque;

use plimsoll_catalogue::{Counts, Offer};
use plimsoll_units::{Instant, Span};

use alert::{AlertStates, Condition, LASTING};
use credits::CreditMeter;
use profile::{BIN, DayProfile};
use sample::mix_of;
use trend::Trend;

pub use alert::{AlertKind, WatchAlert};
pub use sample::{LoadFlow, LoadSample, SessionLoad, read_samples};
pub use step::{DecidingLimit, LimitStep, WatchPeriod};

/// Time over which the load is averaged for limits.
pub const MEAN_SPAN: Span = Span::from_secs(300);
/// Averaging times of the load of a forecast, the shortest first. A longer time is averaged if its earlier part agrees with
/// its later part.
const PRESENT_SPANS: [Span; 5] =
    [Span::from_secs(240), Span::from_secs(480), Span::from_secs(900), Span::from_secs(1_800), MAX_PRESENT_SPAN];
const MAX_PRESENT_SPAN: Span = Span::from_secs(3_600);
/// Time whose load is always averaged.
const LATEST: Span = Span::from_secs(120);
/// Standard errors within which loads agree, and a relative difference that is always allowed.
const AGREEMENT: (f64, f64) = (3.0, 0.02);
/// Times over which the load may have a trend, the longest first.
const TREND_SPANS: [Span; 4] =
    [Span::from_secs(21_600), Span::from_secs(10_800), Span::from_secs(7_200), Span::from_secs(3_600)];
/// Minimum share of the time of a trend with observations.
const MIN_TREND_COVERAGE: f64 = 0.75;
/// Forecasts reach this far.
pub const HORIZON: Span = Span::from_secs(86_400);
/// Bins of the day in a forecast.
const BINS_AHEAD: u64 = HORIZON.as_nanos() / BIN.as_nanos();
/// Use from which a load is at a limit.
pub const AT_LIMIT: f64 = 0.95;
/// Use of a lasting limit at which an alert is raised, and below which it is cleared.
const NEAR: [f64; 2] = [0.9, 0.8];
/// Share of credits below which they are used up, and above which they are not.
const USED_UP: [f64; 2] = [0.01, 0.05];
/// An alert about the end of credits needs at most this share of them: short bursts are what they are for.
const SPENT: f64 = 0.5;
/// A longer interval without observations is a gap, in lengths of the next interval.
const GAP: u64 = 3;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WatchOptions {
    /// Time before the end of credits at which an alert is raised.
    pub lead: Span,
    /// Share of the credits at the start, 0 to 1; unknown by default, and full credits are then assumed.
    pub credits: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WatchedLimit {
    /// Index in [`Offer::ceilings`].
    pub ceiling: usize,
    pub counts: Counts,
    /// Operations or bytes per second; `None` if it counts both, one after the other.
    pub rate: Option<f64>,
    /// Full credits, in operations or bytes.
    pub burst: Option<f64>,
}

/// Use of a limit; 1 is the limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitUse {
    /// Index in [`Watcher::limits`].
    pub limit: usize,
    /// In the latest interval.
    pub now: f64,
    /// Mean over [`MEAN_SPAN`], or since the start.
    pub mean: f64,
    /// Time at or above [`AT_LIMIT`]; of a limit with credits, time above it.
    pub above: Span,
    pub highest: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CreditBalance {
    /// Index in [`Watcher::limits`].
    pub limit: usize,
    /// Share that is left at least and at most, 0 to 1. They differ until the balance at the start no longer matters.
    pub shares: [f64; 2],
    /// Use by the present load: credits drain above 1.
    pub load: f64,
    /// Change of this use per hour, if it has a trend, which the forecast continues.
    pub trend: Option<f64>,
    /// Time until the credits end at the present load and its trend, if they were full at the start. `None` if they last
    /// for [`HORIZON`].
    pub ends_in: Option<Span>,
}

/// The next 24 hours, by the loads at the same time of former days.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DayForecast {
    /// Number of former days.
    pub days: usize,
    /// Highest use of a limit without credits: its index, the use, and the time.
    pub peak: Option<(usize, f64, Instant)>,
    /// The first credits that end: index of the limit, and the time.
    pub credits_end: Option<(usize, Instant)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WatchState {
    /// The latest load; its end is the present.
    pub latest: LoadSample,
    pub observed: Span,
    /// Limits, the highest mean use first: it is the limit that binds first. Limits that the source cannot tell are
    /// absent.
    pub limits: Vec<LimitUse>,
    /// Credits of limits, those that end first at the top.
    pub credits: Vec<CreditBalance>,
    /// Forecast by former days; `None` if they do not cover most of a day.
    pub day: Option<DayForecast>,
    /// Firing alerts, the gravest first.
    pub firing: Vec<WatchAlert>,
    /// Alerts that were cleared, in the order of time.
    pub cleared: Vec<WatchAlert>,
}

/// Use of all limits in an interval.
#[derive(Clone, Debug)]
struct IntervalUse {
    end: Instant,
    seconds: f64,
    used: Vec<f64>,
    flows: Vec<LoadFlow>,
}

/// The interval with the highest use of a limit.
#[derive(Clone, Debug, Default)]
struct HighestUse {
    used: f64,
    flows: Vec<LoadFlow>,
}

/// The course of which a trend is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TrendOf {
    Load,
    /// The difference to former days.
    Difference,
}

/// The state of a watch.
#[derive(Clone, Debug)]
pub struct Watcher {
    offer: Option<Offer>,
    options: WatchOptions,
    limits: Vec<WatchedLimit>,
    /// Of limits with credits, from the first observation on.
    meters: Vec<(usize, CreditMeter)>,
    recent: VecDeque<IntervalUse>,
    above: Vec<Span>,
    highest: Vec<HighestUse>,
    profile: DayProfile,
    alerts: AlertStates,
    observed: Span,
    latest: Option<LoadSample>,
}

impl Watcher {
    /// Watches the limits of an offer; without one, only the load.
    pub fn new(offer: Option<Offer>, options: WatchOptions) -> Self {
        let limits = offer.as_ref().map(find_limits).unwrap_or_default();
        let (above, highest) = (vec![Span::ZERO; limits.len()], vec![HighestUse::default(); limits.len()]);
        Self {
            offer,
            options,
            limits,
            meters: Vec::new(),
            recent: VecDeque::new(),
            above,
            highest,
            profile: DayProfile::default(),
            alerts: AlertStates::default(),
            observed: Span::ZERO,
            latest: None,
        }
    }

    pub const fn offer(&self) -> Option<&Offer> {
        self.offer.as_ref()
    }

    pub fn limits(&self) -> &[WatchedLimit] {
        &self.limits
    }

    /// Takes the load of the next interval. An interval that ends before the present is ignored.
    pub fn observe(&mut self, sample: LoadSample) {
        if let Some((begin, end)) = self.take(sample) {
            self.update_alerts(begin, end);
        }
    }

    /// Takes a load of a history: as [`Watcher::observe`], without alerts about it.
    pub fn recall(&mut self, sample: LoadSample) {
        self.take(sample);
    }

    /// Takes a load, and returns the begin and end of its new part.
    fn take(&mut self, sample: LoadSample) -> Option<(Instant, Instant)> {
        let (end, previous) = (sample.end, self.latest.as_ref().map(|latest| latest.end));
        if previous.is_some_and(|previous| end <= previous) || sample.length.is_zero() {
            return None;
        }
        let begin = previous.map_or(sample.begin(), |previous| sample.begin().max(previous));
        let used = self.compute_use(&sample);
        if previous.is_none() {
            self.meters = self.build_meters(begin);
        }
        if let Some(previous) = previous.filter(|previous| begin > *previous) {
            self.skip(previous, begin);
            if begin.since(previous) > sample.length * GAP {
                self.recent.clear();
            }
        }
        for (limit, meter) in &mut self.meters {
            let rate = self.limits[*limit].rate.unwrap_or_default();
            meter.observe(begin, end, used[*limit] * rate);
        }
        let seconds = end.since(begin).as_secs_f64();
        for (index, above) in self.above.iter_mut().enumerate() {
            let threshold = if self.limits[index].burst.is_some() { 1.0 } else { AT_LIMIT };
            if used[index] > threshold {
                *above += end.since(begin);
            }
        }
        for (highest, used) in self.highest.iter_mut().zip(&used) {
            if *used > highest.used {
                *highest = HighestUse { used: *used, flows: sample.flows.clone() };
            }
        }
        self.profile.add(end, seconds, &used);
        self.recent.push_back(IntervalUse { end, seconds, used, flows: sample.flows.clone() });
        let oldest = end - MAX_PRESENT_SPAN;
        while self.recent.len() > 1 && self.recent.front().is_some_and(|first| first.end <= oldest) {
            self.recent.pop_front();
        }
        self.observed += end.since(begin);
        self.latest = Some(sample);
        Some((begin, end))
    }

    /// A time without observations.
    fn skip(&mut self, begin: Instant, end: Instant) {
        for index in 0..self.meters.len() {
            let peak = self.find_peak(self.meters[index].0);
            self.meters[index].1.skip(begin, end, peak);
        }
    }

    /// The rate that no load exceeds while credits of a limit last: the lowest limit without credits in the same place.
    fn find_peak(&self, limit: usize) -> Option<f64> {
        let offer = self.offer.as_ref()?;
        let place = |limit: &WatchedLimit| (limit.counts, offer.ceilings[limit.ceiling].scope);
        let own = place(&self.limits[limit]);
        let lasting = self.limits.iter().filter(|other| other.burst.is_none() && place(other) == own);
        lasting.filter_map(|other| other.rate).min_by(f64::total_cmp)
    }

    /// The present state; `None` before the first observation.
    pub fn state(&self) -> Option<WatchState> {
        let latest = self.latest.clone()?;
        let is_watched = |limit: &usize| latest.has_bytes || self.limits[*limit].counts == Counts::Operations;
        let mut limits: Vec<LimitUse> = (0..self.limits.len())
            .filter(is_watched)
            .map(|limit| LimitUse {
                limit,
                now: self.recent.back().map_or(0.0, |last| last.used[limit]),
                mean: self.mean_use(limit, MEAN_SPAN),
                above: self.above[limit],
                highest: self.highest[limit].used,
            })
            .collect();
        limits.sort_by(|a, b| b.mean.total_cmp(&a.mean));
        let mut credits: Vec<CreditBalance> =
            (0..self.meters.len()).map(|meter| self.balance(meter, latest.end)).collect();
        credits.sort_by_key(|balance| balance.ends_in.unwrap_or(Span::MAX));
        Some(WatchState {
            observed: self.observed,
            limits,
            credits,
            day: self.forecast_day(latest.end),
            firing: self.alerts.firing(),
            cleared: self.alerts.cleared.clone(),
            latest,
        })
    }

    fn build_meters(&self, start: Instant) -> Vec<(usize, CreditMeter)> {
        let meter = |(index, limit): (usize, &WatchedLimit)| {
            let (rate, burst) = (limit.rate?, limit.burst?);
            Some((index, CreditMeter::new(limit.counts, rate, burst, start, self.options.credits)))
        };
        self.limits.iter().enumerate().filter_map(meter).collect()
    }

    /// Use of each limit by a load.
    fn compute_use(&self, sample: &LoadSample) -> Vec<f64> {
        let mut used = vec![0.0; self.limits.len()];
        let mix = mix_of(&sample.flows);
        let Some(offer) = self.offer.as_ref().filter(|_| !mix.is_empty()) else { return used };
        let iops: f64 = mix.iter().map(|(_, iops)| iops).sum();
        for bound in offer.standing_of(&mix).bounds {
            let is_it = |limit: &WatchedLimit| (limit.ceiling, limit.counts) == (bound.ceiling, bound.counts);
            let is_assumed = bound.counts == Counts::Bytes && !sample.has_bytes;
            if let Some(index) = self.limits.iter().position(is_it).filter(|_| !is_assumed) {
                used[index] = iops / bound.iops;
            }
        }
        used
    }

    /// Intervals of the last `span`, the latest first.
    fn latest_intervals(&self, span: Span) -> impl Iterator<Item = &IntervalUse> {
        let begin = self.recent.back().map(|last| last.end - span);
        self.recent.iter().rev().take_while(move |interval| begin.is_some_and(|begin| interval.end > begin))
    }

    /// Mean use of a limit over the last `span`.
    fn mean_use(&self, limit: usize, span: Span) -> f64 {
        mean(self.latest_intervals(span), limit)
    }

    /// Use of a limit by the present load: the mean over the latest minutes, and over as much earlier time as agrees.
    fn present_use(&self, limit: usize) -> f64 {
        let mut present = self.mean_use(limit, LATEST);
        let mut count = self.latest_intervals(LATEST).count();
        for span in PRESENT_SPANS {
            let added = self.latest_intervals(span).count() - count;
            let earlier = mean(self.latest_intervals(span).skip(count), limit);
            let error = self.scatter(limit, span) * libm::sqrt(1.0 / count as f64 + 1.0 / added as f64);
            if added == 0 || (present - earlier).abs() > AGREEMENT.0 * error + AGREEMENT.1 * present {
                break;
            }
            present = self.mean_use(limit, span);
            count += added;
        }
        present
    }

    /// Standard deviation of the use of a limit, from successive differences (von Neumann, 1941) without the largest: a
    /// single rise or fall of the load is no scatter.
    fn scatter(&self, limit: usize, span: Span) -> f64 {
        let used = || self.latest_intervals(span).map(|interval| interval.used[limit]);
        let squares = used().zip(used().skip(1)).map(|(later, earlier)| (later - earlier) * (later - earlier));
        let (sum, largest, count) = squares.fold((0.0_f64, 0.0_f64, 0_u32), |(sum, largest, count), square| {
            (sum + square, square.max(largest), count + 1)
        });
        libm::sqrt((sum - largest) / (f64::from(count) - 1.0).max(1.0) / 2.0)
    }

    /// The trend of the use of a limit, or of its difference to that of former days, over the longest time with a trend that
    /// agrees with the latest load.
    fn find_trend(&self, limit: usize, now: Instant, of: TrendOf) -> Option<Trend> {
        let expect = |at: Instant| {
            let expected = if of == TrendOf::Difference { self.profile.expect(now, at) } else { None };
            expected.map_or(0.0, |used| used[limit])
        };
        let ago = |seconds: f64| now - Span::from_secs_f64(-seconds);
        let agrees = |trend: &Trend| {
            let latest = self.mean_use(limit, LATEST);
            let count = self.latest_intervals(LATEST).count();
            let error = self.scatter(limit, PRESENT_SPANS[0]) / libm::sqrt(count as f64);
            let expected = trend.before(LATEST / 2) + expect(now);
            (latest - expected).abs() <= AGREEMENT.0 * error + AGREEMENT.1 * latest
        };
        TREND_SPANS.into_iter().find_map(|span| {
            let mut points = self.profile.latest(now, span, limit);
            let bins = span.as_secs_f64() / BIN.as_secs_f64();
            if (points.len() as f64) < MIN_TREND_COVERAGE * bins {
                return None;
            }
            for (time, used) in &mut points {
                *used -= expect(ago(*time));
            }
            Trend::fit(&points, span).filter(agrees)
        })
    }

    fn balance(&self, meter: usize, now: Instant) -> CreditBalance {
        let (limit, meter) = &self.meters[meter];
        let rate = self.limits[*limit].rate.unwrap_or_default();
        let trend = self.find_trend(*limit, now, TrendOf::Load);
        let load = trend.map_or_else(|| self.present_use(*limit), |trend| trend.at(Span::ZERO));
        let ends_in = match trend {
            Some(trend) => {
                let expected = self.expect_bins(*limit, now, &trend);
                meter.end_within(now, HORIZON, |at| expected(at) * rate)
            }
            None if load > 1.0 => meter.end_within(now, HORIZON, |_| load * rate),
            None => None,
        };
        let trend = trend.map(|trend| trend.per_hour());
        CreditBalance { limit: *limit, shares: meter.shares(now), load, trend, ends_in }
    }

    /// The use of a limit ahead of `now` under a load with a trend: the trend is continued for as long as it was observed. With
    /// former days it is that at the same time of day, and the difference to them is continued.
    fn expect_bins(&self, limit: usize, now: Instant, trend: &Trend) -> impl Fn(Instant) -> f64 {
        let trend = *trend;
        let has_former = self.profile.former_days(now).is_some();
        let residual = if has_former { self.find_trend(limit, now, TrendOf::Difference) } else { None };
        let former = |at: Instant| Some(self.profile.expect(now, at).filter(|_| has_former)?[limit]);
        let offset = former(now).map_or(0.0, |former| trend.at(Span::ZERO) - former);
        let bins: Vec<Option<f64>> = (0..=BINS_AHEAD).map(|bin| former(now + BIN * bin)).collect();
        move |at| {
            let ahead = at.since(now);
            let former = bins.get((ahead.as_nanos() / BIN.as_nanos()) as usize).copied().flatten();
            let used = match (former, residual) {
                (None, _) => trend.at(ahead),
                (Some(former), Some(residual)) => former + residual.within(ahead),
                (Some(former), None) => former + if ahead <= trend.span { offset } else { 0.0 },
            };
            used.max(0.0)
        }
    }

    fn update_alerts(&mut self, begin: Instant, end: Instant) {
        for index in 0..self.meters.len() {
            let CreditBalance { limit, shares, load, ends_in, .. } = self.balance(index, end);
            let left = shares[1];
            let used_up = match left {
                // A fact, not a forecast.
                left if left <= USED_UP[0] && load > NEAR[0] => Condition::Holds(Span::ZERO),
                left if left > USED_UP[1] => Condition::Clear,
                _ => Condition::Near,
            };
            self.alerts.update((AlertKind::CreditsUsedUp, limit), used_up, begin, end);
            let lead = self.options.lead;
            let ends = match ends_in {
                // Credits of a few minutes leave less time.
                Some(ends_in) if ends_in <= lead && left <= SPENT => Condition::Holds(LASTING.min(ends_in / 3)),
                Some(ends_in) if ends_in <= lead + lead / 2 => Condition::Near,
                _ => Condition::Clear,
            };
            self.alerts.update((AlertKind::CreditsEnd, limit), ends, begin, end);
        }
        let lasting = |index: &usize| self.limits[*index].burst.is_none();
        for limit in (0..self.limits.len()).filter(lasting).collect::<Vec<_>>() {
            let near = match self.mean_use(limit, MEAN_SPAN) {
                mean if mean >= NEAR[0] => Condition::Holds(LASTING),
                mean if mean >= NEAR[1] => Condition::Near,
                _ => Condition::Clear,
            };
            self.alerts.update((AlertKind::NearLimit, limit), near, begin, end);
        }
    }

    /// The next day at the loads of former days, and the trend of the difference to them; at times without such a load, at the
    /// present load.
    fn forecast_day(&self, now: Instant) -> Option<DayForecast> {
        let days = self.profile.former_days(now)?;
        let present: Vec<f64> = (0..self.limits.len()).map(|limit| self.present_use(limit)).collect();
        let residuals: Vec<Option<Trend>> =
            (0..self.limits.len()).map(|limit| self.find_trend(limit, now, TrendOf::Difference)).collect();
        let at = |bin: u64| now + BIN * bin;
        let expect = |bin: u64| {
            let Some(mut former) = self.profile.expect(now, at(bin)) else { return present.clone() };
            for (used, residual) in former.iter_mut().zip(&residuals) {
                *used = (*used + residual.map_or(0.0, |residual| residual.within(BIN * bin))).max(0.0);
            }
            former
        };
        let expected: Vec<Vec<f64>> = (0..BINS_AHEAD).map(expect).collect();
        let mut peak: Option<(usize, f64, Instant)> = None;
        for (bin, used) in (0..).zip(&expected) {
            for (limit, used) in used.iter().enumerate().filter(|(limit, _)| self.limits[*limit].burst.is_none()) {
                if peak.is_none_or(|(_, highest, _)| *used > highest) {
                    peak = Some((limit, *used, at(bin)));
                }
            }
        }
        let ends = self.meters.iter().filter_map(|(limit, meter)| {
            let rate = self.limits[*limit].rate?;
            let bin = |time: Instant| (time.since(now).as_nanos() / BIN.as_nanos()) as usize;
            let units = |time: Instant| expected.get(bin(time)).map_or(0.0, |used| used[*limit] * rate);
            Some((*limit, now + meter.end_within(now, HORIZON, units)?))
        });
        Some(DayForecast { days, peak, credits_end: ends.min_by_key(|(_, at)| *at) })
    }
}

/// Mean use of a limit, by the time of intervals.
fn mean<'a>(intervals: impl Iterator<Item = &'a IntervalUse>, limit: usize) -> f64 {
    let add = |(used, seconds): (f64, f64), interval: &IntervalUse| {
        (used + interval.used[limit] * interval.seconds, seconds + interval.seconds)
    };
    let (used, seconds) = intervals.fold((0.0, 0.0), add);
    if seconds > 0.0 { used / seconds } else { 0.0 }
}

/// The rates of all ceilings.
fn find_limits(offer: &Offer) -> Vec<WatchedLimit> {
    let mut limits = Vec::new();
    for (index, ceiling) in offer.ceilings.iter().enumerate() {
        let limit = |counts, rate, burst| WatchedLimit { ceiling: index, counts, rate, burst };
        match (ceiling.added, ceiling.iops, ceiling.bytes_per_second) {
            (true, Some(_), Some(_)) => limits.push(limit(Counts::Operations, None, None)),
            (_, iops, bytes) => {
                limits.extend(iops.map(|rate| limit(Counts::Operations, Some(rate), ceiling.credits)));
                limits.extend(bytes.map(|rate| limit(Counts::Bytes, Some(rate), ceiling.credit_bytes)));
            }
        }
    }
    limits
}
