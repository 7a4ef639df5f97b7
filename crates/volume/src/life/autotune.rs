//! Performance-based autotune: a volume that is throttled for some time gets a higher level; a volume with a lower
//! demand for long enough returns stepwise to its default.
//!
//! Providers publish ranges, not thresholds; the thresholds are plimsoll's, within the published ranges:
//! 1. An interval is *throttled* if level-dependent limits were binding for more than half of its replies.
//! 2. It is *idle* if it is not throttled, and the next lower level would have sustained it.
//! 3. After `up_after` of consecutive throttled intervals: a step up.
//! 4. After `down_first` of consecutive idle intervals: a step down; then a step after each `down_next`.

use plimsoll_model::analytic::Workload;
use plimsoll_units::{Bytes, Instant, Span};

use super::Ladder;
use crate::request::Class;
use crate::totals::Totals;

/// Policy of level changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Default level.
    pub default: u32,
    /// Maximum level.
    pub max: u32,
    pub step: u32,
    /// Throttled time before a step up.
    pub up_after: Span,
    /// Idle time before the first step down.
    pub down_first: Span,
    /// Idle time before each further step down.
    pub down_next: Span,
}

impl Policy {
    /// Steps of 10; up after 30 s, down after 3,600 s and then every 300 s.
    pub const fn between(default: u32, max: u32) -> Self {
        Self {
            default,
            max,
            step: 10,
            up_after: Span::from_secs(30),
            down_first: Span::from_secs(3_600),
            down_next: Span::from_secs(300),
        }
    }
}

/// Totals of a volume over an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntervalLoad {
    pub answers: u64,
    /// Requests bound by a level-dependent limit.
    pub throttled: u64,
    /// Reads among the answered requests.
    pub reads: u64,
    /// Writes among the answered requests.
    pub writes: u64,
    /// Bytes transferred.
    pub bytes: u64,
}

impl IntervalLoad {
    /// Difference of two readings of a volume's totals.
    pub fn between(ladder: &Ladder, before: &Totals, after: &Totals) -> Self {
        let of = |class: Class| after.ops[class.index()] - before.ops[class.index()];
        let sum = |counts: &[u64; 4]| counts.iter().sum::<u64>();
        Self {
            answers: sum(&after.ops) - sum(&before.ops),
            throttled: ladder.throttled(after) - ladder.throttled(before),
            reads: of(Class::Read),
            writes: of(Class::Write),
            bytes: sum(&after.bytes) - sum(&before.bytes),
        }
    }

    /// A workload with the same mix, assuming random addresses.
    fn load(&self) -> Workload {
        let moving = (self.reads + self.writes).max(1);
        Workload {
            reads: self.reads as f64 / moving as f64,
            durable: 0.0,
            flushes: self.answers.saturating_sub(moving) as f64 / self.answers.max(1) as f64,
            length: Bytes::new((self.bytes / moving).max(512)),
            sequential: 0.0,
            space: Bytes::gib(64),
        }
    }
}

#[derive(Clone, Debug)]
pub struct AutotuneState {
    policy: Policy,
    ladder: Ladder,
    level: u32,
    /// End of the last interval.
    last: Instant,
    throttled_for: Span,
    idle_for: Span,
    /// True if the last change was a step down.
    descends: bool,
}

impl AutotuneState {
    /// State of a volume with `level` at `now`.
    pub const fn new(now: Instant, policy: Policy, ladder: Ladder, level: u32) -> Self {
        Self { policy, ladder, level, last: now, throttled_for: Span::ZERO, idle_for: Span::ZERO, descends: false }
    }

    pub const fn level(&self) -> u32 {
        self.level
    }

    /// Levels of its product.
    pub const fn ladder(&self) -> &Ladder {
        &self.ladder
    }

    /// Sets the level externally, which restarts all waiting times.
    pub const fn set_level(&mut self, now: Instant, level: u32) {
        self.level = level;
        self.last = now;
        (self.throttled_for, self.idle_for, self.descends) = (Span::ZERO, Span::ZERO, false);
    }

    /// Evaluates the interval from the last call until `now`, of about a second. Returns the new level if it changed.
    pub fn observe(&mut self, now: Instant, observed: &IntervalLoad) -> Option<u32> {
        let span = now.since(self.last);
        if span.is_zero() {
            return None;
        }
        self.last = self.last.max(now);
        let before = self.level;
        if observed.throttled * 2 > observed.answers {
            (self.idle_for, self.descends) = (Span::ZERO, false);
            self.throttled_for += span;
            if self.throttled_for >= self.policy.up_after {
                self.throttled_for = Span::ZERO;
                self.rise();
            }
        } else {
            self.throttled_for = Span::ZERO;
            self.rest(span, observed);
        }
        (self.level != before).then_some(self.level)
    }

    fn rise(&mut self) {
        if self.level < self.policy.max {
            let max = self.ladder.at_most(self.policy.max);
            self.level = self.ladder.at_least(self.level.saturating_add(self.policy.step)).min(max).max(self.level);
        }
    }

    fn rest(&mut self, span: Span, observed: &IntervalLoad) {
        if self.level <= self.policy.default {
            self.idle_for = Span::ZERO;
            return;
        }
        let least = self.ladder.at_least(self.policy.default);
        let below = self.ladder.at_most(self.level.saturating_sub(self.policy.step)).max(least).min(self.level);
        let rate = observed.answers as f64 / span.as_secs_f64();
        if !self.ladder.carries(below, &observed.load(), rate) {
            (self.idle_for, self.descends) = (Span::ZERO, false);
            return;
        }
        self.idle_for += span;
        let wait = if self.descends { self.policy.down_next } else { self.policy.down_first };
        if self.idle_for >= wait {
            self.level = below;
            (self.idle_for, self.descends) = (Span::ZERO, true);
        }
    }
}

#[cfg(test)]
mod tests;
