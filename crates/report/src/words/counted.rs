//! Units and paces of storage runs (operations) and database runs (transactions).

use plimsoll_language::{label, say};
use plimsoll_load::Pace;
use plimsoll_record::{ClosedLine, Estimate, HostShares, LoadLine, NoLine, Objective};
use plimsoll_units::Span;

use super::spacing;
use crate::number;

/// Smaller shares of withheld processor time are not a cause.
const LEAST_SHARE: f64 = 0.01;

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
    pub fn unit(self) -> &'static str {
        match self {
            Self::Operations => "IOPS",
            Self::Transactions => label!("transactions/s"),
        }
    }

    /// Heading of the offered load of closed loads.
    pub fn closed(self) -> &'static str {
        match self {
            Self::Operations => label!("closed, depth"),
            Self::Transactions => label!("sessions"),
        }
    }

    /// Heading of the offered load of open loads.
    pub fn open(self) -> &'static str {
        match self {
            Self::Operations => label!("open, offered IOPS"),
            Self::Transactions => label!("offered per second"),
        }
    }

    /// A pace: `depth 8`, `8 sessions`, `20,000 IOPS, Poisson`.
    pub fn pace(self, pace: &Pace) -> String {
        match (self, *pace) {
            (Self::Operations, Pace::Closed { depth }) => say!("depth {}", number::integer(f64::from(depth))),
            (Self::Operations, Pace::Open { rate, arrival }) => say!("{rate}, {}", spacing(arrival)),
            (Self::Transactions, Pace::Closed { depth }) => sessions(depth),
            (Self::Transactions, Pace::Open { rate, arrival }) => {
                say!("{} transactions/s offered, {}", number::rate(rate.as_f64()), spacing(arrival))
            }
        }
    }

    /// A rate with its interval: `41,200 IOPS (39,800 to 42,600)`.
    pub fn rate(self, rate: &Estimate) -> String {
        let (value, unit) = (number::three(rate.value), self.unit());
        match number::interval(rate) {
            Some((low, high)) => say!("{value} {unit} ({} to {})", number::three(low), number::three(high)),
            None => format!("{value} {unit}"),
        }
    }

    /// A load line as a sentence without full stop: `41,200 IOPS (39,800 to 42,600) keep p99 <= 1 ms`.
    pub fn load_line(self, line: &LoadLine) -> String {
        let objective = line.objective();
        match line {
            LoadLine::At { iops, .. } => say!("{} keep {objective}", self.rate(iops)),
            LoadLine::Beyond { iops, .. } => say!("at least {} keep {objective}", self.rate(iops)),
            LoadLine::Never { least, .. } if *least <= objective.limit => {
                say!(
                    "none: the storage did not keep up with the lightest load (lowest {} {least})",
                    objective.bounded()
                )
            }
            LoadLine::Never { least, .. } => {
                let measure = objective.bounded();
                say!("none: {objective} was missed even at the lightest load (lowest {measure} {least})")
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
                    say!("between {} and {} {unit}", number::three(low), number::three(high))
                } else {
                    say!("below {} {unit}", number::three(high))
                };
                let needed = number::clock(Span::from_secs_f64(seconds));
                say!(
                    "{range} at {objective}: response times vary too much for a single value (measure for about {needed})"
                )
            }
            NoLine::HostTaken { share, ref host, lateness_p99, seconds } => {
                let needed = seconds.map(|seconds| {
                    say!("; about {} s of measuring would leave enough", number::integer(tens(seconds)))
                });
                say!(
                    "none at {objective}: {} (in {} % of the slots{})",
                    unjudged(host, lateness_p99),
                    number::integer(100.0 * share),
                    needed.unwrap_or_default()
                )
            }
            NoLine::Generator { lateness_p99 } => say!(
                "none at {objective}: the generator's lateness is {lateness_p99} (p99); the shortest limit it can verify is \
                 {}",
                lateness_p99 * 5
            ),
            NoLine::NotLasting { below } => {
                say!("below {} {unit} at {objective}: no sustained load met it until the end", number::three(below))
            }
        }
    }
}

/// Seconds rounded up to tens, as in the suggested `--duration`.
pub(crate) fn tens(seconds: f64) -> f64 {
    (seconds / 10.0).ceil() * 10.0
}

/// The reason why arrivals at a rate have no load line: `arrivals at a rate cannot be judged while the hypervisor takes
/// 13 %`.
pub(crate) fn unjudged(host: &HostShares, lateness_p99: Span) -> String {
    let causes = [
        (host.stolen, label!("the hypervisor takes"), label!("of the processor time")),
        (host.throttled, label!("a processor limit stops the generator for"), label!("of the time")),
        (host.waiting, label!("other threads take the generator's processor for"), label!("of the time")),
    ];
    let existing = causes.into_iter().filter_map(|(share, verb, of)| Some((share?, verb, of)));
    let main = existing.filter(|(share, ..)| *share >= LEAST_SHARE).max_by(|a, b| a.0.total_cmp(&b.0));
    match main {
        Some((share, verb, of)) => {
            say!("arrivals at a rate cannot be judged while {verb} {} % {of}", number::integer(100.0 * share))
        }
        None => say!("arrivals at a rate cannot be judged while the generator is late by {lateness_p99} (p99)"),
    }
}

/// The answer of closed loads: `with 64 in flight 68,100 IOPS keep p99 <= 5 ms`.
pub(crate) fn closed_line(line: &ClosedLine) -> String {
    let at_least = if line.is_deepest { label!("at least ") } else { "" };
    let depth = number::integer(f64::from(line.depth));
    say!("with {depth} in flight {at_least}{} keep {}", Counted::Operations.rate(&line.iops), line.objective)
}

/// Number of sessions: `1 session`, `8 sessions`.
pub(crate) fn sessions(count: u32) -> String {
    if count == 1 { label!("1 session").into() } else { say!("{} sessions", number::integer(f64::from(count))) }
}
