//! Values of load parameters and their syntax, on the command line and in preset files.

use std::str::FromStr;

use plimsoll_load::{BlockMix, Pattern};
use plimsoll_units::{Bytes, Malformed};

/// An invalid value with the expected form.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidValue {
    /// A value of an option of the caller, with its message.
    #[error("{0}")]
    Other(String),
    #[error("{size:?} is {error}")]
    BlockSize { size: String, error: Malformed },
    #[error("{0:?} is not a share: write a whole number, such as 4KiB:30,16KiB:70")]
    BlockShare(String),
    #[error("not block sizes: each has to be above zero, at most 1 GiB, and a multiple of the smallest")]
    BlockSizes,
    #[error("not a working set: write a percentage above 0, such as 20%")]
    WorkingSetShare,
    #[error("not a working set: write a size or a percentage, such as 2GiB or 20%")]
    WorkingSet,
    #[error("not a percentile: write a number above 0 and up to 100, such as 95 or 99.5")]
    Percentile,
    #[error("not a burst: write none, auto, or a factor of at least 1, such as 3")]
    Burst,
    #[error("not a growth rate: write -90 % to 1,000 % per year or month, with the sign, such as 30%/year or 2%/month")]
    Growth,
    #[error("write a time such as 2026-03-02T08:00:00")]
    Begin,
    #[error("neither an offset such as +09:00 nor a zone in the time zone database of this host")]
    Zone,
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error("the interval must be positive, such as 10s")]
    Interval,
    /// An access pattern.
    #[error(
        "not a pattern: write sequential, uniform, shuffled, backward, stride:BLOCKS, zipf:THETA (0 to 10, such as \
         zipf:0.99), pareto:H (0 to 1, such as pareto:0.2) or hot:OPERATIONS/SPACE in percent (such as hot:90/10)"
    )]
    Pattern,
}

impl InvalidValue {
    /// An error with the expected form.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Other(message.into())
    }
}

/// A percentage, stored as a fraction of 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percent(pub f64);

impl FromStr for Percent {
    type Err = InvalidValue;
    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        plimsoll_suite::percent(text).map(Self).map_err(|error| InvalidValue::new(error.to_string()))
    }
}

/// Block sizes with shares: `8KiB`, or `4KiB:30,16KiB:70`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSizes(pub BlockMix);

impl FromStr for BlockSizes {
    type Err = InvalidValue;
    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let mut sizes = Vec::new();
        for part in text.split(',') {
            let (size, share) = part.split_once(':').unwrap_or((part, "1"));
            let size: Bytes = size.parse().map_err(|error| InvalidValue::BlockSize { size: size.to_owned(), error })?;
            let Ok(share) = share.trim().trim_end_matches('%').parse::<u32>() else {
                return Err(InvalidValue::BlockShare(share.to_owned()));
            };
            sizes.push((size, share));
        }
        BlockMix::weighted(sizes).map(Self).ok_or(InvalidValue::BlockSizes)
    }
}

/// The addressed part of the space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WorkingSet {
    /// Bytes.
    Size(Bytes),
    Share(f64),
}

impl FromStr for WorkingSet {
    type Err = InvalidValue;
    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        if text.trim().ends_with('%') {
            return match text.parse::<Percent>() {
                Ok(Percent(share)) if share > 0.0 => Ok(Self::Share(share)),
                _ => Err(InvalidValue::WorkingSetShare),
            };
        }
        match text.parse::<Bytes>() {
            Ok(size) if size.get() > 0 => Ok(Self::Size(size)),
            _ => Err(InvalidValue::WorkingSet),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatternWord(pub Pattern);

impl FromStr for PatternWord {
    type Err = InvalidValue;
    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let (name, argument) = text.split_once(':').unwrap_or((text, ""));
        let pattern = match (name.trim(), argument.trim()) {
            ("sequential", "") => Some(Pattern::Sequential),
            ("uniform" | "random", "") => Some(Pattern::Uniform),
            ("zipf", theta) => {
                let theta = theta.parse().ok().filter(|theta| (0.0..10.0).contains(theta));
                theta.map(|theta| Pattern::Zipf { theta })
            }
            ("hot", shares) => hot_spot(shares),
            ("shuffled", "") => Some(Pattern::Shuffled),
            ("backward", "") => Some(Pattern::Backward),
            ("stride", blocks) => {
                blocks.parse().ok().filter(|blocks| *blocks > 0).map(|blocks| Pattern::Stride { blocks })
            }
            ("pareto", h) => h.parse().ok().filter(|h| *h > 0.0 && *h < 1.0).map(|h| Pattern::Pareto { h }),
            _ => None,
        };
        pattern.map(Self).ok_or(InvalidValue::Pattern)
    }
}

fn hot_spot(shares: &str) -> Option<Pattern> {
    let (operations, space) = shares.split_once('/')?;
    let Percent(operations) = operations.parse().ok()?;
    let Percent(space) = space.parse().ok()?;
    (space > 0.0 && space < 1.0).then_some(Pattern::HotSpot { operations, space })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_parsed_or_refused_with_the_form() {
        let read = |text: &str| text.parse::<PatternWord>().ok().map(|word| word.0);
        assert_eq!(read("uniform"), Some(Pattern::Uniform));
        assert_eq!(read("zipf:0.99"), Some(Pattern::Zipf { theta: 0.99 }));
        assert_eq!(read("hot:90/10"), Some(Pattern::HotSpot { operations: 0.9, space: 0.1 }));
        for bad in ["", "zipf", "zipf:x", "zipf:-1", "hot", "hot:90", "hot:90/0", "hot:90/100", "linear", "uniform:3"] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn block_sizes_are_parsed_or_refused_with_the_form() {
        assert!("8KiB".parse::<BlockSizes>().is_ok());
        assert!("4KiB:30,16KiB:70".parse::<BlockSizes>().is_ok());
        for bad in ["", "8 foo", "4KiB:x", "4KiB:1,6KiB:1", "0", "2GiB", "4KiB:0"] {
            assert!(bad.parse::<BlockSizes>().is_err(), "{bad:?}");
        }
    }
}
