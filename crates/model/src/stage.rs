//! The stages that a model is built of: a closed set, as data.

use alloc::vec::Vec;
use core::fmt;

use plimsoll_units::{Bytes, Instant, Iops, Op, Span, Throughput};
use serde::{Deserialize, Serialize};

use crate::limit::Limit;
use crate::link::Link;
use crate::stall::Stall;
use crate::station::Station;

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rate {
    /// Operations, whatever their size.
    Operations(Iops),
    /// Bytes.
    Bytes(Throughput),
}

/// How the service times of a station spread around their mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Service {
    /// All alike.
    Constant,
    /// Exponential: squared coefficient of variation 1.
    Exponential,
    /// Log-normal with this squared coefficient of variation, above 0.
    LogNormal(f64),
}

/// One stage as data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StageSpec {
    /// Lets operations pass no faster than a rate, evenly but for a burst.
    Limit {
        /// The rate.
        rate: Rate,
        /// How much may pass at once after a rest: operations, or bytes for a limit by bytes.
        burst: u64,
    },
    /// Servers with one queue, first come first served.
    Station {
        /// Operations served at the same time, at least 1.
        servers: u32,
        /// Mean service time.
        mean: Span,
        /// Spread of the service times.
        service: Service,
    },
    /// A pipe: transfers one after the other, then a latency that overlaps.
    Link {
        /// Time that every operation takes besides its transfer.
        latency: Span,
        /// Transfer rate; `None` when it never binds.
        bandwidth: Option<Throughput>,
    },
    /// A device that answers nothing at the end of every period: a garbage collection, a failover.
    Stall {
        /// From one stall's end to the next one's end.
        every: Span,
        /// How long each lasts, below `every`.
        length: Span,
    },
}

/// Stages that every operation passes one after the other. Never empty, at most 16.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChainSpec(Vec<StageSpec>);

impl ChainSpec {
    /// `None` when there are no stages or more than 16, a station has no server, a stall lasts as long as its period, a
    /// log-normal spread is not above zero, or no stage takes time: a closed load on it would never let time pass.
    pub fn new(stages: Vec<StageSpec>) -> Option<Self> {
        let valid = |stage: &StageSpec| match stage {
            StageSpec::Limit { burst, .. } => *burst > 0,
            StageSpec::Station { servers, service, .. } => {
                *servers > 0 && !matches!(service, Service::LogNormal(scv) if *scv <= 0.0 || !scv.is_finite())
            }
            StageSpec::Link { .. } => true,
            StageSpec::Stall { every, length } => length < every,
        };
        let takes_time = |stage: &StageSpec| match stage {
            StageSpec::Limit { .. } => true,
            StageSpec::Station { mean, .. } => !mean.is_zero(),
            StageSpec::Link { latency, .. } => !latency.is_zero(),
            StageSpec::Stall { .. } => false,
        };
        let lasting = stages.iter().all(valid) && stages.iter().any(takes_time);
        (lasting && stages.len() <= 16).then_some(Self(stages))
    }

    /// The stages, from the side where operations enter.
    pub fn stages(&self) -> &[StageSpec] {
        &self.0
    }
}

/// A stage with its state: where an operation that enters now will leave.
#[derive(Clone, Debug)]
pub(crate) enum State {
    Limit(Limit),
    Station(Station),
    Link(Link),
    Stall(Stall),
}

impl State {
    pub(crate) fn new(spec: &StageSpec, seed: u64) -> Self {
        match *spec {
            StageSpec::Limit { rate, burst } => Self::Limit(Limit::new(rate, burst)),
            StageSpec::Station { servers, mean, service } => Self::Station(Station::new(servers, mean, service, seed)),
            StageSpec::Link { latency, bandwidth } => Self::Link(Link::new(latency, bandwidth)),
            StageSpec::Stall { every, length } => Self::Stall(Stall::new(every, length)),
        }
    }

    /// The moment at which an operation that enters at `now` leaves. Called in order of time.
    #[inline]
    pub(crate) fn enter(&mut self, now: Instant, op: &Op) -> Instant {
        match self {
            Self::Station(station) => station.enter(now),
            Self::Limit(limit) => limit.enter(now, op),
            Self::Link(link) => link.enter(now, op),
            Self::Stall(stall) => stall.enter(now),
        }
    }
}

/// The notation that `parse` reads: `limit(3,000 IOPS)` is shown without the comma.
impl fmt::Display for StageSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit { rate: Rate::Operations(rate), burst } => {
                write!(f, "limit({}", rate.as_f64())?;
                if *burst == 1 { f.write_str(")") } else { write!(f, ", burst {burst})") }
            }
            Self::Limit { rate: Rate::Bytes(rate), burst } => {
                write!(f, "limit({}MB/s, burst {})", rate.get() as f64 / 1e6, Compact(Bytes::new(*burst)))
            }
            Self::Station { servers, mean, service } => {
                write!(f, "station({servers}, {}", CompactSpan(*mean))?;
                match service {
                    Service::Constant => f.write_str(")"),
                    Service::Exponential => f.write_str(", exponential)"),
                    Service::LogNormal(scv) => write!(f, ", lognormal {scv})"),
                }
            }
            Self::Link { latency, bandwidth } => {
                write!(f, "link({}", CompactSpan(*latency))?;
                bandwidth.map_or(Ok(()), |rate| write!(f, ", {}MB/s", rate.get() as f64 / 1e6))?;
                f.write_str(")")
            }
            Self::Stall { every, length } => {
                write!(f, "stall({}, {})", CompactSpan(*every), CompactSpan(*length))
            }
        }
    }
}

impl fmt::Display for ChainSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, stage) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(" then ")?;
            }
            write!(f, "{stage}")?;
        }
        Ok(())
    }
}

/// A span exactly, in the largest unit that divides it: what is written can be read again.
struct CompactSpan(Span);

impl fmt::Display for CompactSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0.as_nanos();
        for (unit, name) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")] {
            if ns > 0 && ns.is_multiple_of(unit) {
                return write!(f, "{}{name}", ns / unit);
            }
        }
        write!(f, "{ns}ns")
    }
}

/// A size exactly, without a space.
struct Compact(Bytes);

impl fmt::Display for Compact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0.get();
        for (power, name) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
            if bytes > 0 && bytes.is_multiple_of(1 << power) {
                return write!(f, "{}{name}", bytes >> power);
            }
        }
        write!(f, "{bytes}B")
    }
}
