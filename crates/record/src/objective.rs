//! A latency objective: a measure of the response time and its limit.

use std::fmt;
use std::str::FromStr;

use plimsoll_language::label;
use plimsoll_units::{Kind, Malformed, Span};
use serde::{Deserialize, Serialize};

/// A statistic of a distribution of response times.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// The mean.
    Mean,
    /// The quantile at this share of operations, above 0 and below 1.
    Quantile(f64),
}

/// Operations whose response times count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// All operations.
    #[default]
    All,
    /// Reads.
    Read,
    /// Writes, including durable writes.
    Write,
    /// Flushes.
    Flush,
}

impl Scope {
    /// Objectives are accepted in each language in which they are displayed.
    const WORDS: [(&'static str, Self); 6] = [
        ("read", Self::Read),
        ("write", Self::Write),
        ("flush", Self::Flush),
        ("読み取り", Self::Read),
        ("書き込み", Self::Write),
        ("フラッシュ", Self::Flush),
    ];

    /// True if operations of this kind count.
    pub const fn covers(self, kind: Kind) -> bool {
        match self {
            Self::All => true,
            Self::Read => matches!(kind, Kind::Read),
            Self::Write => kind.writes(),
            Self::Flush => matches!(kind, Kind::Flush),
        }
    }

    // Signature required by serde.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_all(&self) -> bool {
        *self == Self::All
    }
}

/// A bound on the response time, such as `p99<=1ms`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Objective {
    /// Operations that count; absent for all.
    #[serde(default, skip_serializing_if = "Scope::is_all")]
    pub over: Scope,
    /// The limited statistic.
    pub measure: Measure,
    /// Limit in nanoseconds.
    #[serde(rename = "limit_ns")]
    pub limit: Span,
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mean => f.write_str(label!("mean")),
            // Six decimals suffice for p99.9999; rounding hides the error of 0.999 * 100.
            Self::Quantile(q) => write!(f, "p{}", (q * 1e8).round() / 1e6),
        }
    }
}

impl Objective {
    /// The measure without its limit: `p99`, `flush p99`.
    pub fn bounded(&self) -> String {
        let word = match self.over {
            Scope::All => return self.measure.to_string(),
            Scope::Read => label!("read"),
            Scope::Write => label!("write"),
            Scope::Flush => label!("flush"),
        };
        format!("{word} {}", self.measure)
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <= {}", self.bounded(), self.limit)
    }
}

/// Not an objective.
#[plimsoll_language::say_errors]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectiveError {
    /// No `<=`.
    #[error("not an objective: write a measure, <= and a time, such as p99<=1ms, mean<=500us or read:p99<=1ms")]
    Form,
    /// Neither `mean` nor `pNN`.
    #[error("not a measure: write mean or a percentile above p0 and below p100, such as p99 or p99.9")]
    Measure,
    /// A limit of zero.
    #[error("a limit of zero, which no storage meets: write a time above it, such as p99<=1ms")]
    Zero,
    /// An invalid time.
    #[error(transparent)]
    Limit(#[from] Malformed),
}

impl FromStr for Objective {
    type Err = ObjectiveError;
    fn from_str(text: &str) -> Result<Self, ObjectiveError> {
        let (measure, limit) = text.split_once("<=").or_else(|| text.split_once('<')).ok_or(ObjectiveError::Form)?;
        let measure = measure.trim();
        let named = Scope::WORDS.iter().find_map(|(word, scope)| Some((measure.strip_prefix(word)?, *scope)));
        let (measure, over) = named.unwrap_or((measure, Scope::All));
        let measure = match measure.trim_start_matches([':', ' ']) {
            "mean" | "avg" | "平均" => Measure::Mean,
            "median" => Measure::Quantile(0.5),
            other => {
                let percent = other.strip_prefix('p').and_then(|p| p.parse::<f64>().ok());
                let valid = percent.filter(|p| *p > 0.0 && *p < 100.0).ok_or(ObjectiveError::Measure)?;
                Measure::Quantile(valid / 100.0)
            }
        };
        let limit: Span = limit.parse()?;
        if limit.is_zero() { Err(ObjectiveError::Zero) } else { Ok(Self { over, measure, limit }) }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_language::Language;

    use super::*;

    fn check(text: &str, expected: &str) {
        let displayed = text.parse::<Objective>().map_or_else(|e| e.to_string(), |objective| objective.to_string());
        assert!(displayed.starts_with(expected), "{text:?} gave {displayed:?}");
    }

    #[test]
    fn displayed_objectives_are_accepted_in_each_language() {
        for text in ["mean <= 500 us", "read p99.9 <= 5 ms", "write mean <= 1 ms", "flush p99 <= 10 ms"] {
            let objective: Objective = text.parse().expect("an objective");
            let displayed = Language::Japanese.scope(|| objective.to_string());
            assert_ne!(displayed, text);
            assert_eq!(displayed.parse(), Ok(objective), "{displayed}");
        }
    }

    #[test]
    fn objectives_are_parsed() {
        check("p99<=1ms", "p99 <= 1 ms");
        check("p99.9 <= 5 ms", "p99.9 <= 5 ms");
        check("p99.99<250us", "p99.99 <= 250 us");
        check("mean<=500us", "mean <= 500 us");
        check("median<=1ms", "p50 <= 1 ms");
        check("read p99.9<=5ms", "read p99.9 <= 5 ms");
        check("read:p99.9<=5ms", "read p99.9 <= 5 ms");
        check("flush p99<=10ms", "flush p99 <= 10 ms");
        check("trim p99<=10ms", "not a measure");
        check("p50<=0ms", "a limit of zero, which no storage meets");
        check("p99=1ms", "not an objective");
        check("p100<=1ms", "not a measure");
        check("q99<=1ms", "not a measure");
        check("p99<=1", "not a time");
    }
}
