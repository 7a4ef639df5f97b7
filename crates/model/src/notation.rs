//! The notation for stages: `limit(3000) then station(8, 80us, exponential) then link(25us, 1200MB/s)`.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use plimsoll_units::{Bytes, Span, Throughput};

use crate::stage::{ChainSpec, Rate, Service, StageSpec};

/// A text that names no chain of stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotationError {
    /// A part is not of the form `name(...)`, or the name is unknown.
    Stage(String),
    /// An argument of a stage cannot be read.
    Argument {
        /// The stage as written.
        stage: String,
        /// What it takes.
        takes: &'static str,
    },
    /// The stages can be read, but not together or not with these numbers.
    Chain(String),
}

impl fmt::Display for NotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stage(part) => {
                write!(
                    f,
                    "{part:?} is no stage: write limit(...), station(...), link(...) or stall(...), joined by then"
                )
            }
            Self::Argument { stage, takes } => write!(f, "{stage:?} cannot be read: write {takes}"),
            Self::Chain(text) => write!(
                f,
                "{text:?} cannot be a model: 1 to 16 stages, one of them taking time, servers and bursts at least 1, \
                 a stall shorter than its period"
            ),
        }
    }
}

impl core::error::Error for NotationError {}

const LIMIT: &str = "limit(IOPS or MB/s [, burst OPERATIONS or SIZE]), such as limit(3000) or limit(480MB/s)";
const STATION: &str = "station(SERVERS, MEAN [, exponential | lognormal SCV]), such as station(8, 80us, exponential)";
const LINK: &str = "link(LATENCY [, MB/s]), such as link(25us, 1200MB/s)";
const STALL: &str = "stall(EVERY, LENGTH), such as stall(100s, 10s)";

/// Reads stages joined by `then`.
pub fn parse(text: &str) -> Result<ChainSpec, NotationError> {
    let stages: Result<Vec<_>, _> = text.split(" then ").map(|part| stage(part.trim())).collect();
    ChainSpec::new(stages?).ok_or_else(|| NotationError::Chain(text.to_string()))
}

fn stage(part: &str) -> Result<StageSpec, NotationError> {
    let unknown = || NotationError::Stage(part.to_string());
    let (name, rest) = part.split_once('(').ok_or_else(unknown)?;
    let inside = rest.strip_suffix(')').ok_or_else(unknown)?;
    let arguments: Vec<&str> = inside.split(',').map(str::trim).collect();
    let (read, takes) = match name.trim() {
        "limit" => (limit(&arguments), LIMIT),
        "station" => (station(&arguments), STATION),
        "link" => (link(&arguments), LINK),
        "stall" => (stall(&arguments), STALL),
        _ => return Err(unknown()),
    };
    read.ok_or_else(|| NotationError::Argument { stage: part.to_string(), takes })
}

fn limit(arguments: &[&str]) -> Option<StageSpec> {
    let (rate, burst) = match arguments {
        [rate] => (*rate, None),
        [rate, burst] => (*rate, Some(burst.strip_prefix("burst")?.trim())),
        _ => return None,
    };
    if let Some(rate) = throughput(rate) {
        // One operation of any size passes at once, as devices let it.
        let burst = burst.map_or(Some(Bytes::mib(1)), |size| size.parse().ok())?;
        return Some(StageSpec::Limit { rate: Rate::Bytes(rate), burst: burst.get() });
    }
    let burst = burst.map_or(Some(1), |operations| operations.parse().ok())?;
    Some(StageSpec::Limit { rate: Rate::Operations(rate.parse().ok()?), burst })
}

fn station(arguments: &[&str]) -> Option<StageSpec> {
    let (servers, mean, service) = match arguments {
        [servers, mean] => (servers, mean, Service::Constant),
        [servers, mean, "exponential"] => (servers, mean, Service::Exponential),
        [servers, mean, spread] => {
            (servers, mean, Service::LogNormal(spread.strip_prefix("lognormal")?.trim().parse().ok()?))
        }
        _ => return None,
    };
    Some(StageSpec::Station { servers: servers.parse().ok()?, mean: mean.parse().ok()?, service })
}

fn link(arguments: &[&str]) -> Option<StageSpec> {
    let (latency, bandwidth) = match arguments {
        [latency] => (latency, None),
        [latency, bandwidth] => (latency, Some(throughput(bandwidth)?)),
        _ => return None,
    };
    Some(StageSpec::Link { latency: latency.parse().ok()?, bandwidth })
}

fn stall(arguments: &[&str]) -> Option<StageSpec> {
    let [every, length] = arguments else { return None };
    let (every, length): (Span, Span) = (every.parse().ok()?, length.parse().ok()?);
    Some(StageSpec::Stall { every, length })
}

/// `480MB/s`, `1.2GB/s`, `512MiB/s`.
fn throughput(text: &str) -> Option<Throughput> {
    let size: Bytes = text.strip_suffix("/s")?.parse().ok()?;
    // A number without a unit of bytes is a rate of operations.
    let has_unit = text.trim_end_matches("/s").ends_with(|c: char| c.eq_ignore_ascii_case(&'b'));
    (has_unit && size.get() > 0).then(|| Throughput::per_second(size.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let shown = parse(text).map_or_else(|e| e.to_string(), |spec| spec.to_string());
        assert!(shown.starts_with(expected), "{text:?} gave {shown:?}");
    }

    #[test]
    fn what_is_shown_can_be_read_again() {
        for text in [
            "limit(3000)",
            "limit(2.5, burst 60)",
            "limit(480MB/s, burst 1MiB)",
            "station(8, 80us)",
            "station(1, 1500ns, exponential) then link(25us, 1200MB/s)",
            "station(4, 1ms, lognormal 0.3) then stall(100s, 10s) then link(10us)",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn what_cannot_be_read_says_what_can() {
        check("disk(3)", "\"disk(3)\" is no stage");
        check("station(8)", "\"station(8)\" cannot be read: write station(SERVERS, MEAN");
        check("station(0, 80us)", "\"station(0, 80us)\" cannot be a model");
        check("stall(1s, 2s)", "\"stall(1s, 2s)\" cannot be a model");
        check("link(0us)", "\"link(0us)\" cannot be a model");
        check("stall(2ms, 1ms)", "\"stall(2ms, 1ms)\" cannot be a model");
        check("limit(3000", "\"limit(3000\" is no stage");
        check("limit(0)", "\"limit(0)\" cannot be read");
    }
}
