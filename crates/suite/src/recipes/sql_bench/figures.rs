//! What a section came to: seconds, measured and extrapolated.
//!
//! Knows nothing about layouts.

use plimsoll_record::CpuTime;

use super::Test;
use super::section::{Counting, Section};
use crate::recipe::Done;
use crate::sql::StatementsSeen;
use crate::step::Work;

/// A section that counts.
#[derive(Clone, Debug)]
pub(super) struct Figure<'a> {
    pub(super) test: Test,
    pub(super) name: &'static str,
    /// What is done otherwise than in the definition; empty where nothing is.
    pub(super) note: &'static str,
    /// Operations at full counts.
    pub(super) full: u64,
    pub(super) outcome: Outcome<'a>,
}

/// What became of it.
#[derive(Clone, Debug)]
pub(super) enum Outcome<'a> {
    /// It was run.
    Run(Run<'a>),
    /// It was not, and why.
    Not(&'static str),
}

/// What was run of a section.
#[derive(Clone, Debug)]
pub(super) struct Run<'a> {
    /// Operations that were asked for.
    pub(super) asked: u64,
    /// Operations that were done: fewer where the time was over first.
    pub(super) done: u64,
    pub(super) seen: &'a StatementsSeen,
}

impl<'a> Figure<'a> {
    /// Of a section and the step that was made of it; none where it counts as nothing.
    pub(super) fn of(test: Test, section: &Section, made: Option<&'a Done>) -> Option<Self> {
        let (full, outcome) = match section.counting {
            Counting::Preparation => return None,
            Counting::Figure { full, at_once } => (full, run(at_once, made)),
        };
        Some(Self { test, name: section.name, note: section.note, full, outcome })
    }

    pub(super) fn run(&self) -> Option<&Run<'a>> {
        if let Outcome::Run(run) = &self.outcome { Some(run) } else { None }
    }

    /// Seconds for the full count, each operation as long as those that were done; none where none was.
    pub(super) fn full_seconds(&self) -> Option<f64> {
        Some(self.run()?.each()? * self.full as f64)
    }

    /// It is asked as often as in full, and came to its end.
    pub(super) fn is_full(&self) -> bool {
        self.run().is_some_and(|run| run.done >= self.full)
    }
}

fn run(at_once: u64, made: Option<&Done>) -> Outcome<'_> {
    let seen = made.and_then(|done| match (&done.step.work, done.seen.statements()) {
        (Work::Statements(step), Some(seen)) => Some((step, seen)),
        _ => None,
    });
    match seen {
        Some((step, seen)) => Outcome::Run(Run { asked: step.count * at_once, done: seen.done * at_once, seen }),
        None => Outcome::Not("there was nothing to ask, because a section before it came to nothing"),
    }
}

impl Run<'_> {
    /// Seconds of one operation.
    fn each(&self) -> Option<f64> {
        (self.done > 0).then(|| self.seen.span.as_secs_f64() / self.done as f64)
    }

    /// Its time was over before all was done.
    pub(super) const fn is_extrapolated(&self) -> bool {
        self.done < self.asked
    }

    /// By how much everything that was measured is multiplied to be that of all that was asked for.
    fn stretch(&self) -> f64 {
        if self.done == 0 { 1.0 } else { self.asked as f64 / self.done as f64 }
    }

    /// Seconds for all that was asked for.
    pub(super) fn seconds(&self) -> f64 {
        self.seen.span.as_secs_f64() * self.stretch()
    }

    /// Processor time of this program for all that was asked for, in seconds: user and system.
    pub(super) fn cpu(&self) -> [f64; 2] {
        let CpuTime { user, system } = self.seen.client;
        [user, system].map(|span| span.as_secs_f64() * self.stretch())
    }
}
