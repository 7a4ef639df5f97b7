//! A demand, window by window, on a volume whose level stays or changes.

use std::collections::BTreeMap;

use plimsoll_catalogue::{Currency, Money};
use plimsoll_ingest::Slot;
use plimsoll_model::analytic::{Offered, capacity, solve};
use plimsoll_units::{Bytes, Instant, Span};
use plimsoll_volume::{Autotune, IntervalLoad, Policy};

use super::asked::Asked;
use super::levels::{Level, Levels};

/// Who sets the level.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// Nobody: it stays.
    Fixed(u32),
    /// The load.
    Autotune(Policy),
    /// The clock: a level for each hour of the day.
    Daily([u32; 24]),
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelReplay {
    /// Who set the level.
    pub rule: Rule,
    /// How long it was.
    pub span: Span,
    /// What it cost.
    pub cost: Money,
    /// The same for a month of 730 hours.
    pub monthly: Money,
    /// Share of the time in which more was asked than the level let through, 0 to 1.
    pub throttled: f64,
    /// Share of the operations that had to wait for the level, 0 to 1.
    pub delayed: f64,
    /// The longest that an operation had to wait for the level.
    pub longest_wait: Span,
    /// Mean latency of the operations, waits for the level included; modelled.
    pub mean: Span,
    /// How often the level changed.
    pub changes: u32,
    /// The level at the end of each slot.
    pub levels: Vec<u32>,
}

/// The clock of a rule that follows the load ticks so often.
const TICK: Span = Span::from_secs(10);
/// At most so many ticks within a window: a window of a day need not be cut finer than some ten seconds.
const MOST_TICKS: u64 = 10_000;
/// What a month is to a price by the hour.
const MONTH_S: f64 = 730.0 * 3_600.0;
/// At the end of their strength queues grow without end: what is modelled is what 98 % of it gives.
const NEARLY: f64 = 0.98;

/// Replays windows with what is asked in them; windows without a figure are passed over.
pub fn replay(levels: &Levels, slots: &[Slot], asked: &[Option<Asked>], rule: &Rule) -> LevelReplay {
    let mut course = Course::new(levels, rule);
    let mut shown = Vec::with_capacity(slots.len());
    for (slot, asked) in slots.iter().zip(asked) {
        if let Some(asked) = asked {
            course.window(slot, asked);
        }
        shown.push(course.level);
    }
    course.done(rule.clone(), shown)
}

/// Every level that stays, the load's own, and the least that each hour of the day needs.
pub fn compare(levels: &Levels, slots: &[Slot], asked: &[Option<Asked>], policy: Option<Policy>) -> Vec<LevelReplay> {
    let mut rules: Vec<Rule> = levels.levels.iter().map(|level| Rule::Fixed(level.level)).collect();
    rules.extend(policy.map(Rule::Autotune));
    rules.extend(daily(levels, slots, asked));
    rules.iter().map(|rule| replay(levels, slots, asked, rule)).collect()
}

/// For each hour of the day the lowest level that let through whatever was asked in it; `None` where windows have no
/// time of the day, or are longer than hours.
fn daily(levels: &Levels, slots: &[Slot], asked: &[Option<Asked>]) -> Option<Rule> {
    let lowest = levels.levels.first()?.level;
    let mut hours = [lowest; 24];
    for (slot, asked) in slots.iter().zip(asked) {
        let Some(asked) = asked else { continue };
        if slot.length > Span::from_secs(3_600 + 60) {
            return None;
        }
        let hour = &mut hours[usize::try_from(slot.begin?.hour()).ok()?];
        let carries = |level: &&Level| levels.ladder.carries(level.level, &asked.workload(SPACE), asked.iops);
        let needed = levels.levels.iter().find(carries).or(levels.levels.last())?;
        *hour = needed.level.max(*hour);
    }
    Some(Rule::Daily(hours))
}

/// Operations may go anywhere in this much; caches of products that have any see them all miss.
const SPACE: Bytes = Bytes::gib(64);

/// A replay on its way.
struct Course<'a> {
    levels: &'a Levels,
    latencies: Latencies,
    level: u32,
    autotune: Option<Autotune>,
    hours: Option<[u32; 24]>,
    now: Instant,
    /// Operations that wait for the level.
    backlog: f64,
    cost: f64,
    throttled_s: f64,
    delayed: f64,
    longest_s: f64,
    operations: f64,
    latency_sum_s: f64,
    changes: u32,
}

impl<'a> Course<'a> {
    fn new(levels: &'a Levels, rule: &Rule) -> Self {
        let level = match rule {
            Rule::Fixed(level) => *level,
            Rule::Autotune(policy) => levels.ladder.at_least(policy.default),
            Rule::Daily(hours) => hours[0],
        };
        let autotune = match rule {
            Rule::Autotune(policy) => Some(Autotune::new(Instant::ZERO, *policy, levels.ladder.clone(), level)),
            Rule::Fixed(_) | Rule::Daily(_) => None,
        };
        let hours = if let Rule::Daily(hours) = rule { Some(*hours) } else { None };
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

    fn window(&mut self, slot: &Slot, asked: &Asked) {
        if let Some(hour) = slot.begin.and_then(|begin| usize::try_from(begin.hour()).ok())
            && let Some(hours) = self.hours
        {
            self.set(hours[hour]);
        }
        let ticks = (slot.length.as_nanos() / TICK.as_nanos()).clamp(1, MOST_TICKS);
        let tick = slot.length / ticks;
        let mut known: Option<(u32, Carried)> = None;
        for _ in 0..ticks {
            let carried = match known {
                Some((level, carried)) if level == self.level => carried,
                _ => self.carried(asked),
            };
            known = Some((self.level, carried));
            self.tick(tick, asked, carried);
        }
    }

    fn carried(&mut self, asked: &Asked) -> Carried {
        let limits = self.levels.ladder.model(self.level).expect("a rule goes to levels of the ladder only");
        let most = capacity(limits, &asked.workload(SPACE)).iops;
        Carried { most, mean_s: self.latencies.mean_s(self.levels.level(self.level), asked, most) }
    }

    fn tick(&mut self, tick: Span, asked: &Asked, carried: Carried) {
        let seconds = tick.as_secs_f64();
        let waiting = self.backlog;
        let wanted = asked.iops * seconds + waiting;
        let served = wanted.min(carried.most * seconds);
        self.backlog = wanted - served;
        let is_throttled = self.backlog > 0.0 && asked.iops > carried.most || waiting > 0.0;
        let mean_backlog = f64::midpoint(waiting, self.backlog);
        let wait_s = if carried.most.is_finite() { mean_backlog / carried.most } else { 0.0 };
        if is_throttled {
            self.throttled_s += seconds;
            self.delayed += asked.iops * seconds;
            self.longest_s = self.longest_s.max(waiting.max(self.backlog) / carried.most);
        }
        self.operations += asked.iops * seconds;
        self.latency_sum_s += asked.iops * seconds * (carried.mean_s + wait_s);
        self.cost += self.monthly() * seconds / MONTH_S;
        self.now += tick;
        if let Some(autotune) = &mut self.autotune {
            let answers = served.round() as u64;
            let reads = (served * asked.reads).round() as u64;
            let seen = IntervalLoad {
                answers,
                throttled: if is_throttled { answers } else { 0 },
                reads,
                writes: answers.saturating_sub(reads),
                bytes: (served * asked.size_bytes) as u64,
            };
            if let Some(level) = autotune.seen(self.now, &seen) {
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
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
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

/// What a level gives of what is asked.
#[derive(Clone, Copy)]
struct Carried {
    /// Operations a second that it lets through.
    most: f64,
    /// Mean latency without waiting for the level, in seconds.
    mean_s: f64,
}

/// Mean latencies that were worked out: windows that are nearly alike share one.
#[derive(Default)]
struct Latencies(BTreeMap<(u32, [i32; 3]), f64>);

impl Latencies {
    /// Steps of utilisation and of the share of reads.
    const STEPS: f64 = 20.0;
    /// Steps of the size to each doubling.
    const SIZES: f64 = 4.0;

    /// In seconds, of what is asked at a level that lets `most` operations a second through.
    fn mean_s(&mut self, level: &Level, asked: &Asked, most: f64) -> f64 {
        let used = (asked.iops / most).min(NEARLY);
        let steps = [
            (used * Self::STEPS).round() as i32,
            (asked.reads * Self::STEPS).round() as i32,
            (libm::log2(asked.size_bytes.max(1.0)) * Self::SIZES).round() as i32,
        ];
        *self.0.entry((level.level, steps)).or_insert_with(|| {
            let alike = Asked {
                iops: f64::from(steps[0].max(1)).min(NEARLY * Self::STEPS) / Self::STEPS * most,
                reads: f64::from(steps[1]) / Self::STEPS,
                size_bytes: libm::exp2(f64::from(steps[2]) / Self::SIZES),
            };
            let workload = alike.workload(SPACE);
            let bound = capacity(&level.model, &workload).iops * NEARLY;
            solve(&level.model, &workload, Offered::Open { iops: alike.iops.min(bound) }).mean_ns / 1e9
        })
    }
}
