//! Storage requirements that products publish: jobs in fio's language, and conditions on their results.

mod judge;

use std::fmt;
use std::sync::Arc;

use crate::built_in;
use crate::cite::Cite;
use crate::nearest::{nearest, one_of};
use plimsoll_language::say;

pub use judge::{
    JudgedCondition, ObservedFigure, RequirementVerdict, RunValidity, Undecided, judge_all, needs_another_run,
};

/// A storage requirement of a product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// Name of a built-in requirement, or path of its file.
    pub name: String,
    /// Name of the product in sentences.
    pub title: String,
    /// The requirement in a sentence.
    pub about: String,
    /// Jobs in fio's language.
    pub jobs: String,
    /// Source of the jobs.
    pub cite: Arc<Cite>,
    /// Choices that the source leaves open, a sentence each.
    pub assumptions: Vec<String>,
    /// Conditions, at least one.
    pub conditions: Vec<RequirementCondition>,
}

/// A condition on the result of the jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequirementCondition {
    /// The limited figure.
    pub figure: RequiredFigure,
    /// Name of the job that it is taken from; the sum over all jobs if absent.
    pub job: Option<String>,
    /// Limit: IOPS, bytes per second or nanoseconds. The minimum of a rate, the maximum of a time.
    pub bound: u64,
    /// Source of the limit.
    pub cite: Arc<Cite>,
}

/// A figure of the result of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredFigure {
    /// Operations per second.
    Iops(RequiredOps),
    /// Bytes per second.
    Bandwidth(RequiredOps),
    /// Completion latency, or duration of flushes.
    Time(TimedOps, TimeStatistic),
}

/// The operations of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredOps {
    /// Reads and writes.
    All,
    /// Reads.
    Reads,
    /// Writes.
    Writes,
}

/// The operations of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimedOps {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
    /// `fsync` and `fdatasync`.
    Flushes,
}

/// A statistic of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeStatistic {
    /// The mean.
    Mean,
    /// A percentile, in thousandths of a percent: 99,900 is p99.9.
    Percentile(u32),
}

/// The unit of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredUnit {
    /// Operations per second.
    Iops,
    /// Bytes per second.
    BytesPerSecond,
    /// Nanoseconds.
    Nanoseconds,
}

/// There is no built-in requirement of this name.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no requirement is named {name:?}{}: use one of {}, or the path of a file", near_names(.name), one_of(&built_in_requirements().map(|(name, _)| name).collect::<Vec<_>>()))]
pub struct UnknownRequirement {
    /// The name.
    pub name: String,
}

fn near_names(name: &str) -> String {
    let near = nearest(name, built_in_requirements().map(|(name, _)| name));
    if near.is_empty() { String::new() } else { say!("; did you mean {}?", one_of(&near)) }
}

/// Name and text of each built-in requirement, by name.
pub fn built_in_requirements() -> impl Iterator<Item = (&'static str, &'static str)> {
    built_in::REQUIREMENTS.iter().map(|(path, text)| {
        let name = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".toml");
        (name, *text)
    })
}

impl Requirement {
    /// The text of the built-in requirement of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn built_in_text(name: &str) -> Result<&'static str, UnknownRequirement> {
        let found = built_in_requirements().find(|(own, _)| *own == name);
        found.map(|(_, text)| text).ok_or_else(|| UnknownRequirement { name: name.to_owned() })
    }
}

impl RequiredFigure {
    /// The unit of its limits.
    pub const fn unit(self) -> RequiredUnit {
        match self {
            Self::Iops(_) => RequiredUnit::Iops,
            Self::Bandwidth(_) => RequiredUnit::BytesPerSecond,
            Self::Time(..) => RequiredUnit::Nanoseconds,
        }
    }

    /// Each form of a figure in files, with p99 for all percentiles.
    pub(crate) const FORMS: [&str; 12] = [
        "iops",
        "read iops",
        "write iops",
        "bandwidth",
        "read bandwidth",
        "write bandwidth",
        "read mean",
        "read p99",
        "write mean",
        "write p99",
        "sync mean",
        "sync p99",
    ];

    /// Parses a figure as in files.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (of, figure) = text.split_once(' ').unwrap_or(("", text));
        let ops = match of {
            "" => Some(RequiredOps::All),
            "read" => Some(RequiredOps::Reads),
            "write" => Some(RequiredOps::Writes),
            _ => None,
        };
        let timed = match of {
            "read" => Some(TimedOps::Reads),
            "write" => Some(TimedOps::Writes),
            "sync" => Some(TimedOps::Flushes),
            _ => None,
        };
        match figure {
            "iops" => ops.map(Self::Iops),
            "bandwidth" => ops.map(Self::Bandwidth),
            "mean" => Some(Self::Time(timed?, TimeStatistic::Mean)),
            percentile => {
                let percent: f64 = percentile.strip_prefix('p')?.parse().ok()?;
                let thousandths = (percent * 1e3).round();
                let is_percentile = (1.0..100_000.0).contains(&thousandths);
                is_percentile.then_some(Self::Time(timed?, TimeStatistic::Percentile(thousandths as u32)))
            }
        }
    }
}

/// As in files: `write iops`, `bandwidth`, `sync p99.9`.
impl fmt::Display for RequiredFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ops = |ops| match ops {
            RequiredOps::All => "",
            RequiredOps::Reads => "read ",
            RequiredOps::Writes => "write ",
        };
        match *self {
            Self::Iops(of) => write!(f, "{}iops", ops(of)),
            Self::Bandwidth(of) => write!(f, "{}bandwidth", ops(of)),
            Self::Time(of, statistic) => {
                let of = match of {
                    TimedOps::Reads => "read",
                    TimedOps::Writes => "write",
                    TimedOps::Flushes => "sync",
                };
                match statistic {
                    TimeStatistic::Mean => write!(f, "{of} mean"),
                    TimeStatistic::Percentile(thousandths) => write!(f, "{of} p{}", f64::from(thousandths) / 1e3),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_of_a_figure_is_read_as_written() {
        for form in RequiredFigure::FORMS.into_iter().chain(["sync p99.9", "read p50", "write p99.999"]) {
            assert_eq!(RequiredFigure::parse(form).map(|figure| figure.to_string()).as_deref(), Some(form));
        }
        for other in ["", "sync", "sync iops", "p99", "trim iops", "read p100", "read p0", "read pNaN", "read  mean"] {
            assert_eq!(RequiredFigure::parse(other), None, "{other}");
        }
    }

    #[test]
    fn misspelt_name_has_a_suggestion() {
        let why = Requirement::built_in_text("etdc").unwrap_err().to_string();
        assert!(why.starts_with("no requirement is named \"etdc\"; did you mean etcd?: use one of "), "{why}");
    }
}
