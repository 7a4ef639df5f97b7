//! Replay of a demand on a volume with a fixed or changing level.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use plimsoll_catalogue::{Currency, Money};
use plimsoll_ingest::Slot;
use plimsoll_model::analytic::{Offered, capacity, solve};
use plimsoll_units::{Bytes, Instant, Span};
use plimsoll_volume::{AutotuneState, IntervalLoad, Policy};

use super::demand::WindowDemand;
use super::levels::{Level, Levels};

/// The rule that sets the level.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    Fixed(u32),
    Autotune(Policy),
    /// A level for each hour of the day.
    Daily(DailyPlan),
}

/// A level for each hour of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DailyPlan {
    pub levels: [u32; 24],
    /// Hours with a demand; the others have the level of the highest one.
    pub covered: u32,
}

impl DailyPlan {
    /// Changes of the level in a day, at midnight included.
    fn count_changes(&self) -> u32 {
        let following = self.levels.iter().cycle().skip(1);
        self.levels.iter().zip(following).map(|(own, next)| u32::from(own != next)).sum()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct LevelReplay {
    pub rule: Rule,
    /// Length of the demand.
    pub span: Span,
    /// Total cost; of a daily plan, that of its entire days for the length of the demand.
    pub cost: Money,
    /// Cost of a month of 730 hours.
    pub monthly: Money,
    /// Share of time with a demand above the level's limit, 0 to 1.
    pub throttled: f64,
    /// Share of operations delayed by the level, 0 to 1.
    pub delayed: f64,
    /// Longest delay by the level.
    pub longest_wait: Span,
    /// Mean modelled latency, including delays by the level.
    pub mean: Span,
    /// Number of level changes; of a daily plan, those of its entire days on the days of the demand.
    pub changes: u32,
    /// The level at the end of each slot.
    pub levels: Vec<u32>,
}

/// Interval at which a rule is evaluated.
const TICK: Span = Span::from_secs(10);
/// Maximum intervals in a window.
const MAX_TICKS: u64 = 10_000;
/// Seconds of a month in hourly billing.
const MONTH_S: f64 = 730.0 * 3_600.0;
/// Maximum utilisation: the open model diverges at saturation.
const MAX_UTILISATION: f64 = 0.98;

/// Replays the demand of windows; windows without data are skipped.
pub fn replay(levels: &Levels, slots: &[Slot], demand: &[Option<WindowDemand>], rule: &Rule) -> LevelReplay {
    let mut course = ReplayCourse::new(levels, rule);
    let mut displayed = Vec::with_capacity(slots.len());
    for (slot, demand) in slots.iter().zip(demand) {
        if let Some(demand) = demand {
            course.window(slot, demand);
        }
        displayed.push(course.level);
    }
    let replayed = course.done(rule.clone(), displayed);
    match rule {
        Rule::Daily(plan) => with_plan(replayed, levels, plan, count_days(slots, demand)),
        Rule::Fixed(_) | Rule::Autotune(_) => replayed,
    }
}

fn count_days(slots: &[Slot], demand: &[Option<WindowDemand>]) -> u32 {
    let counted = slots.iter().zip(demand).filter(|(_, demand)| demand.is_some());
    let days: BTreeSet<Date> = counted.filter_map(|(slot, _)| Some(slot.begin?.date())).collect();
    days.len() as u32
}

/// Price and changes of entire days of a plan, which may have hours without a demand.
fn with_plan(replay: LevelReplay, levels: &Levels, plan: &DailyPlan, days: u32) -> LevelReplay {
    let monthly = plan.levels.iter().map(|level| levels.level(*level).monthly.as_f64()).sum::<f64>() / 24.0;
    let currency = replay.monthly.currency;
    LevelReplay {
        cost: money(monthly * replay.span.as_secs_f64() / MONTH_S, currency),
        monthly: money(monthly, currency),
        changes: plan.count_changes() * days,
        ..replay
    }
}

/// Replays every fixed level, autotuning if `policy` is given, and the lowest sufficient daily schedule.
pub fn compare(
    levels: &Levels,
    slots: &[Slot],
    demand: &[Option<WindowDemand>],
    policy: Option<Policy>,
) -> Vec<LevelReplay> {
    let mut rules: Vec<Rule> = levels.levels.iter().map(|level| Rule::Fixed(level.level)).collect();
    rules.extend(policy.map(Rule::Autotune));
    rules.extend(daily(levels, slots, demand));
    rules.iter().map(|rule| replay(levels, slots, demand, rule)).collect()
}

/// For each hour of the day the lowest level that is sufficient in all its windows; hours without a demand, which is unknown
/// and not zero, have the highest of these. `None` if windows have no time of day or are longer than an hour.
fn daily(levels: &Levels, slots: &[Slot], demand: &[Option<WindowDemand>]) -> Option<Rule> {
    let mut hours: [Option<u32>; 24] = [None; 24];
    for (slot, demand) in slots.iter().zip(demand) {
        let Some(demand) = demand else { continue };
        if slot.length > Span::from_secs(3_600 + 60) {
            return None;
        }
        let hour = &mut hours[usize::try_from(slot.begin?.hour()).ok()?];
        let carries = |level: &&Level| levels.ladder.carries(level.level, &demand.workload(SPACE), demand.iops);
        let needed = levels.levels.iter().find(carries).or(levels.levels.last())?;
        *hour = (*hour).max(Some(needed.level));
    }
    let highest = hours.iter().flatten().max().copied()?;
    let covered = hours.iter().flatten().count() as u32;
    Some(Rule::Daily(DailyPlan { levels: hours.map(|level| level.unwrap_or(highest)), covered }))
}

/// Assumed address range: large enough that caches of products do not hit.
const SPACE: Bytes = Bytes::gib(64);

struct ReplayCourse<'a> {
    levels: &'a Levels,
    latencies: Latencies,
    level: u32,
    autotune: Option<AutotuneState>,
    hours: Option<[u32; 24]>,
    now: Instant,
    /// Operations delayed by the level.
    backlog: f64,
    cost: f64,
    throttled_s: f64,
    delayed: f64,
    longest_s: f64,
    operations: f64,
    latency_sum_s: f64,
    changes: u32,
}

impl<'a> ReplayCourse<'a> {
    fn new(levels: &'a Levels, rule: &Rule) -> Self {
        let level = match rule {
            Rule::Fixed(level) => *level,
            Rule::Autotune(policy) => levels.ladder.at_least(policy.default),
            Rule::Daily(plan) => plan.levels[0],
        };
        let autotune = match rule {
            Rule::Autotune(policy) => Some(AutotuneState::new(Instant::ZERO, *policy, levels.ladder.clone(), level)),
            Rule::Fixed(_) | Rule::Daily(_) => None,
        };
        let hours = if let Rule::Daily(plan) = rule { Some(plan.levels) } else { None };
        Self {
            levels,
            latencies: Latencies::default(),
            level,
            autotune,
            hours,
            now: Instant::ZERO,
            backlog: 0.0,
            cost: 0.0,
            throttled_s: 0.0,
            delayed: 0.0,
            longest_s: 0.0,
            operations: 0.0,
            latency_sum_s: 0.0,
            changes: 0,
        }
    }

    fn window(&mut self, slot: &Slot, demand: &WindowDemand) {
        if let Some(hour) = slot.begin.and_then(|begin| usize::try_from(begin.hour()).ok())
            && let Some(hours) = self.hours
        {
            self.set(hours[hour]);
        }
        let ticks = (slot.length.as_nanos() / TICK.as_nanos()).clamp(1, MAX_TICKS);
        let tick = slot.length / ticks;
        let mut existing: Option<(u32, Carried)> = None;
        for _ in 0..ticks {
            let carried = match existing {
                Some((level, carried)) if level == self.level => carried,
                _ => self.carried(demand),
            };
            existing = Some((self.level, carried));
            self.tick(tick, demand, carried);
        }
    }

    fn carried(&mut self, demand: &WindowDemand) -> Carried {
        let limits = self.levels.ladder.model(self.level).expect("rules use levels of the ladder only");
        let max = capacity(limits, &demand.workload(SPACE)).iops;
        Carried { max, mean_s: self.latencies.mean_s(self.levels.level(self.level), demand, max) }
    }

    fn tick(&mut self, tick: Span, demand: &WindowDemand, carried: Carried) {
        let seconds = tick.as_secs_f64();
        let waiting = self.backlog;
        let required = demand.iops * seconds + waiting;
        let served = required.min(carried.max * seconds);
        self.backlog = required - served;
        let is_throttled = self.backlog > 0.0 && demand.iops > carried.max || waiting > 0.0;
        let mean_backlog = f64::midpoint(waiting, self.backlog);
        let wait_s = if carried.max.is_finite() { mean_backlog / carried.max } else { 0.0 };
        if is_throttled {
            self.throttled_s += seconds;
            self.delayed += demand.iops * seconds;
            self.longest_s = self.longest_s.max(waiting.max(self.backlog) / carried.max);
        }
        self.operations += demand.iops * seconds;
        self.latency_sum_s += demand.iops * seconds * (carried.mean_s + wait_s);
        self.cost += self.monthly() * seconds / MONTH_S;
        self.now += tick;
        if let Some(autotune) = &mut self.autotune {
            let answers = served.round() as u64;
            let reads = (served * demand.reads).round() as u64;
            let observed = IntervalLoad {
                answers,
                throttled: if is_throttled { answers } else { 0 },
                reads,
                writes: answers.saturating_sub(reads),
                bytes: (served * demand.size_bytes) as u64,
            };
            if let Some(level) = autotune.observe(self.now, &observed) {
                self.set(level);
            }
        }
    }

    fn set(&mut self, level: u32) {
        if level != self.level {
            self.level = level;
            self.changes += 1;
        }
    }

    fn monthly(&self) -> f64 {
        self.levels.level(self.level).monthly.as_f64()
    }

    fn done(self, rule: Rule, levels: Vec<u32>) -> LevelReplay {
        let currency = self.levels.levels[0].monthly.currency;
        let seconds = self.now.since(Instant::ZERO).as_secs_f64();
        let share = |part: f64, total: f64| if total > 0.0 { part / total } else { 0.0 };
        LevelReplay {
            rule,
            span: self.now.since(Instant::ZERO),
            cost: money(self.cost, currency),
            monthly: money(share(self.cost, seconds) * MONTH_S, currency),
            throttled: share(self.throttled_s, seconds),
            delayed: share(self.delayed, self.operations),
            longest_wait: Span::from_secs_f64(self.longest_s),
            mean: Span::from_secs_f64(share(self.latency_sum_s, self.operations)),
            changes: self.changes,
            levels,
        }
    }
}

fn money(amount: f64, currency: Currency) -> Money {
    Money { millionths: (amount * 1e6).round() as i128, currency }
}

/// Capacity and latency of a level for a demand.
#[derive(Clone, Copy)]
struct Carried {
    /// Maximum operations per second.
    max: f64,
    /// Mean latency in seconds, without delays by the level.
    mean_s: f64,
}

/// Cached mean latencies, shared by similar windows.
#[derive(Default)]
struct Latencies(BTreeMap<(u32, [i32; 3]), f64>);

impl Latencies {
    /// Steps of utilisation and of the share of reads.
    const STEPS: f64 = 20.0;
    /// Steps of the size per doubling.
    const SIZES: f64 = 4.0;

    /// Mean latency in seconds of a demand at a level that allows `max` operations per second.
    fn mean_s(&mut self, level: &Level, demand: &WindowDemand, max: f64) -> f64 {
        let used = (demand.iops / max).min(MAX_UTILISATION);
        let steps = [
            (used * Self::STEPS).round() as i32,
            (demand.reads * Self::STEPS).round() as i32,
            (libm::log2(demand.size_bytes.max(1.0)) * Self::SIZES).round() as i32,
        ];
        *self.0.entry((level.level, steps)).or_insert_with(|| {
            let rounded = WindowDemand {
                iops: f64::from(steps[0].max(1)).min(MAX_UTILISATION * Self::STEPS) / Self::STEPS * max,
                reads: f64::from(steps[1]) / Self::STEPS,
                size_bytes: libm::exp2(f64::from(steps[2]) / Self::SIZES),
            };
            let workload = rounded.workload(SPACE);
            let bound = capacity(&level.model, &workload).iops * MAX_UTILISATION;
            solve(&level.model, &workload, Offered::Open { iops: rounded.iops.min(bound) }).mean_ns / 1e9
        })
    }
}
