//! Objectives for single classes of operations, such as `redo:p99<=1ms`.

use std::fmt;
use std::str::FromStr;

use plimsoll_ingest::Class;
use plimsoll_record::{Counter, Measure, Objective, ObjectiveError, Scope};
use plimsoll_units::Span;

use super::design::{ClassLoad, DesignPoint};
use crate::trial::OpenTrial;

/// Names of the classes that an objective can have.
const WORDS: [(&str, Class); 6] = [
    ("redo", Class::RedoWrite),
    ("random-read", Class::RandomRead),
    ("sequential-read", Class::SequentialRead),
    ("data-write", Class::DataWrite),
    ("temp-read", Class::TempRead),
    ("temp-write", Class::TempWrite),
];

/// An objective on the response time of a class, or of all operations in the scope of the objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassObjective {
    /// The class; `None` for the scope of `objective`.
    pub class: Option<Class>,
    /// The measure, and its bound.
    pub objective: Objective,
}

/// Simulated response time for an objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reached {
    pub objective: ClassObjective,
    /// Its measure at the expected load.
    pub time: Span,
}

impl ClassObjective {
    /// The measure without its bound: `redo p99`.
    pub fn bounded(&self) -> String {
        match self.class {
            Some(class) => format!("{} {}", class.label(), self.objective.bounded()),
            None => self.objective.bounded(),
        }
    }

    /// The objective restricted to reads, if it covers all operations and some of them are reads: writes mostly happen
    /// in the background, and would hide the tail of the reads.
    pub(super) fn on_reads(self, points: &[DesignPoint]) -> Self {
        let has_reads = points.iter().flat_map(|point| &point.classes).any(|load| load.reads > 0.0);
        let is_general = self.class.is_none() && self.objective.over == Scope::All;
        let over = if is_general && has_reads { Scope::Read } else { self.objective.over };
        Self { objective: Objective { over, ..self.objective }, ..self }
    }

    /// Evaluates a trial of the point's classes; `None` if no operation is in scope.
    pub(super) fn reached(self, point: &DesignPoint, done: &OpenTrial) -> Option<Reached> {
        let class = match self.class {
            Some(class) => Some(class_for(&point.classes, class)?),
            None => None,
        };
        let counts = |counter: &Counter| match class {
            Some(class) => point.classes.get(usize::from(counter.stream)).is_some_and(|load| load.class == class),
            None => self.objective.over.covers(counter.kind),
        };
        let bins = done.tally.response_where(counts);
        let time = match self.objective.measure {
            Measure::Mean => bins.mean(),
            Measure::Quantile(quantile) => bins.quantile(quantile),
        };
        Some(Reached { objective: self, time: time? })
    }
}

impl Reached {
    /// True if the objective is met.
    pub fn is_met(&self) -> bool {
        self.time <= self.objective.objective.limit
    }

    /// Ratio of the response time to its limit: above 1 the objective is missed.
    pub fn over(&self) -> f64 {
        self.time.as_secs_f64() / self.objective.objective.limit.as_secs_f64()
    }
}

/// The total of reads or writes that contains a class; others are their own.
pub(super) const fn total_of(class: Class) -> Class {
    match class {
        Class::RandomRead | Class::SequentialRead | Class::TempRead => Class::Read,
        Class::DataWrite | Class::RedoWrite | Class::TempWrite | Class::BulkWrite => Class::Write,
        other => other,
    }
}

/// The class that represents `class` among the loads: itself, or the total that contains it.
pub(super) fn class_for(loads: &[ClassLoad], class: Class) -> Option<Class> {
    [class, total_of(class), Class::All].into_iter().find(|class| loads.iter().any(|load| load.class == *class))
}

impl fmt::Display for ClassObjective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <= {}", self.bounded(), self.objective.limit)
    }
}

impl FromStr for ClassObjective {
    type Err = ObjectiveError;

    fn from_str(text: &str) -> Result<Self, ObjectiveError> {
        let of_class = |(word, class): (&str, Class)| {
            let rest = text.trim_start().strip_prefix(word)?;
            Some((class, rest.strip_prefix([':', ' '])?.trim_start()))
        };
        match WORDS.into_iter().find_map(of_class) {
            Some((class, rest)) => Ok(Self { class: Some(class), objective: rest.parse()? }),
            None => Ok(Self { class: None, objective: text.parse()? }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_and_scopes_have_one_spelling() {
        let check = |text: &str, expected: &str| {
            let displayed =
                text.parse::<ClassObjective>().map_or_else(|e| e.to_string(), |objective| objective.to_string());
            assert!(displayed.starts_with(expected), "{text:?} gave {displayed:?}");
        };
        check("redo:p99<=1ms", "redo p99 <= 1 ms");
        check("redo p99 <= 1 ms", "redo p99 <= 1 ms");
        check("random-read:mean<=500us", "random reads mean <= 500 us");
        check("read:p99<=5ms", "read p99 <= 5 ms");
        check("p99.9<=5ms", "p99.9 <= 5 ms");
        check("redox:p99<=5ms", "not a measure");
        check("redo:p99", "not an objective");
    }
}
