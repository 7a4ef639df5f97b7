//! Performance-based autotune: a volume that is throttled for a while gets a higher level, one that would do with less
//! for long enough goes back, step by step, to its default.
//!
//! Providers publish the bounds, not the thresholds; these rules are plimsoll's own, inside the published ranges:
//! 1. An interval is *throttled* when a limit that levels change held more than half of its answers longest.
//! 2. It is *idle* when it is not throttled, and the next lower level would have carried it.
//! 3. After `up_after` of throttled intervals without another one between: one step up.
//! 4. After `down_first` of idle intervals without another one between: one step down; then one after each `down_next`.

use plimsoll_model::analytic::Workload;
use plimsoll_units::{Bytes, Instant, Span};

use super::Ladder;
use crate::request::Class;
use crate::totals::Totals;

/// The rules for changes of the level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The level that it goes back to.
    pub default: u32,
    /// The level that it does not exceed.
    pub most: u32,
    /// Size of a step.
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
    pub const fn between(default: u32, most: u32) -> Self {
        Self {
            default,
            most,
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
    /// Answered requests.
    pub answers: u64,
    /// Requests that a level-dependent limit held longest.
    pub throttled: u64,
    /// Reads among them.
    pub reads: u64,
    /// Writes among them.
    pub writes: u64,
    /// Bytes that they moved.
    pub bytes: u64,
}

impl IntervalLoad {
    /// The difference between two readings of the totals of a volume.
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

    /// A load with the same mix; where its operations are is not known, and taken to be anywhere.
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

/// The level of one volume.
#[derive(Clone, Debug)]
pub struct Autotune {
    policy: Policy,
    ladder: Ladder,
    level: u32,
    /// The end of the last interval.
    last: Instant,
    throttled_for: Span,
    idle_for: Span,
    /// The last change was a step down.
    descends: bool,
}

impl Autotune {
    /// A volume at `level` at `now`.
    pub const fn new(now: Instant, policy: Policy, ladder: Ladder, level: u32) -> Self {
        Self { policy, ladder, level, last: now, throttled_for: Span::ZERO, idle_for: Span::ZERO, descends: false }
    }

    /// Its present level.
    pub const fn level(&self) -> u32 {
        self.level
    }

    /// The levels of its product.
    pub const fn ladder(&self) -> &Ladder {
        &self.ladder
    }

    /// The level was set from outside: all waiting times restart.
    pub const fn set_level(&mut self, now: Instant, level: u32) {
        self.level = level;
        self.last = now;
        (self.throttled_for, self.idle_for, self.descends) = (Span::ZERO, Span::ZERO, false);
    }

    /// An interval ended at `now` that began at the last call. Returns its new level, if it has one now.
    /// Intervals of about a second are meant.
    pub fn seen(&mut self, now: Instant, seen: &IntervalLoad) -> Option<u32> {
        let span = now.since(self.last);
        if span.is_zero() {
            return None;
        }
        self.last = self.last.max(now);
        let before = self.level;
        if seen.throttled * 2 > seen.answers {
            (self.idle_for, self.descends) = (Span::ZERO, false);
            self.throttled_for += span;
            if self.throttled_for >= self.policy.up_after {
                self.throttled_for = Span::ZERO;
                self.rise();
            }
        } else {
            self.throttled_for = Span::ZERO;
            self.rest(span, seen);
        }
        (self.level != before).then_some(self.level)
    }

    fn rise(&mut self) {
        if self.level < self.policy.most {
            let most = self.ladder.at_most(self.policy.most);
            self.level = self.ladder.at_least(self.level.saturating_add(self.policy.step)).min(most).max(self.level);
        }
    }

    fn rest(&mut self, span: Span, seen: &IntervalLoad) {
        if self.level <= self.policy.default {
            self.idle_for = Span::ZERO;
            return;
        }
        let least = self.ladder.at_least(self.policy.default);
        let below = self.ladder.at_most(self.level.saturating_sub(self.policy.step)).max(least).min(self.level);
        let asked = seen.answers as f64 / span.as_secs_f64();
        if !self.ladder.carries(below, &seen.load(), asked) {
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
