//! Units and paces of storage runs (operations) and database runs (transactions).

use plimsoll_load::Pace;
use plimsoll_record::{Estimate, LoadLine, NoLine, Objective};
use plimsoll_units::Span;

use super::spacing;
use crate::number;

/// Kind of completion that a run counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Operations of storage, with a queue depth.
    Operations,
    /// Transactions of a database, by sessions.
    Transactions,
}

impl Counted {
    /// The unit of rates: `IOPS`.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Operations => "IOPS",
            Self::Transactions => "transactions/s",
        }
    }

    /// Heading of the offered load of closed loads.
    pub const fn closed(self) -> &'static str {
        match self {
            Self::Operations => "closed, depth",
            Self::Transactions => "sessions",
        }
    }

    /// Heading of the offered load of open loads.
    pub const fn open(self) -> &'static str {
        match self {
            Self::Operations => "open, offered IOPS",
            Self::Transactions => "offered per second",
        }
    }

    /// A pace: `depth 8`, `8 sessions`, `20,000 IOPS, Poisson`.
    pub fn pace(self, pace: &Pace) -> String {
        match (self, *pace) {
            (Self::Operations, Pace::Closed { depth }) => format!("depth {}", number::whole(f64::from(depth))),
            (Self::Operations, Pace::Open { rate, arrival }) => format!("{rate}, {}", spacing(arrival)),
            (Self::Transactions, Pace::Closed { depth }) => sessions(depth),
            (Self::Transactions, Pace::Open { rate, arrival }) => {
                format!("{} transactions/s offered, {}", number::rate(rate.as_f64()), spacing(arrival))
            }
        }
    }

    /// A rate with its interval: `41,200 IOPS (39,800 to 42,600)`.
    pub fn rate(self, rate: &Estimate) -> String {
        let (value, unit) = (number::three(rate.value), self.unit());
        match number::interval(rate) {
            Some((low, high)) => format!("{value} {unit} ({} to {})", number::three(low), number::three(high)),
            None => format!("{value} {unit}"),
        }
    }

    /// A load line as a sentence without full stop: `41,200 IOPS (39,800 to 42,600) keep p99 <= 1 ms`.
    pub fn load_line(self, line: &LoadLine) -> String {
        let objective = line.objective();
        match line {
            LoadLine::At { iops, .. } => format!("{} keep {objective}", self.rate(iops)),
            LoadLine::Beyond { iops, .. } => format!("at least {} keep {objective}", self.rate(iops)),
            LoadLine::Never { least, .. } => {
                let measure = objective.bounded();
                format!("none: {objective} was missed even at the lightest load (lowest {measure} {least})")
            }
            LoadLine::Refused { why, .. } => self.no_line(&objective, why),
        }
    }

    /// The reason for a missing load line, as a sentence without full stop.
    fn no_line(self, objective: &Objective, why: &NoLine) -> String {
        let unit = self.unit();
        match *why {
            NoLine::Scatter { low, high, seconds } => {
                let range = if low > 0.0 {
                    format!("between {} and {} {unit}", number::three(low), number::three(high))
                } else {
                    format!("below {} {unit}", number::three(high))
                };
                let needed = number::clock(Span::from_secs_f64(seconds));
                format!(
                    "{range} at {objective}: response times vary too much for a single value (measure for about {needed})"
                )
            }
            NoLine::Generator { lateness_p99 } => format!(
                "none at {objective}: the generator's lateness is {lateness_p99} (p99); the shortest limit it can verify is \
                 {}",
                lateness_p99 * 5
            ),
            NoLine::NotLasting { below } => {
                format!("below {} {unit} at {objective}: no sustained load met it until the end", number::three(below))
            }
        }
    }
}

/// Number of sessions: `1 session`, `8 sessions`.
pub(crate) fn sessions(count: u32) -> String {
    if count == 1 { "1 session".into() } else { format!("{} sessions", number::whole(f64::from(count))) }
}
