//! Values of settings of volumes and of the service, as texts.

use std::str::FromStr;

use plimsoll_language::say;
use plimsoll_units::{Bytes, Span};

use crate::api::Volume;

/// A text that is not the value of a setting.
#[plimsoll_language::say_errors]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSetting {
    #[error("not an interval of commits: write 1s to 1h, such as 5s, or none")]
    CommitInterval,
    #[error("not a share: write 0.1% or 1000ppm")]
    ShareUnit,
    #[error("not a share: write 0% to 100%, or 0ppm to 1000000ppm")]
    Share,
}

/// Maximum age of acknowledged writes that are not durable: a time, or `none`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitInterval(pub Option<Span>);

impl FromStr for CommitInterval {
    type Err = InvalidSetting;
    fn from_str(text: &str) -> Result<Self, InvalidSetting> {
        let range = Span::from_secs(1)..=Span::from_secs(3_600);
        match text.parse() {
            _ if text == "none" => Ok(Self(None)),
            Ok(interval) if range.contains(&interval) => Ok(Self(Some(interval))),
            _ => Err(InvalidSetting::CommitInterval),
        }
    }
}

/// A size as written, whose decimal units may be binary ones of a vendor.
#[derive(Clone, Debug)]
pub struct SizeText(pub String);

impl FromStr for SizeText {
    type Err = <Bytes as FromStr>::Err;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse::<Bytes>().map(|_| Self(text.to_owned()))
    }
}

impl SizeText {
    /// Caution if a volume has the size with a vendor's unit, such as a GB of 2^30 bytes.
    pub fn caution(&self, volume: &Volume) -> Option<String> {
        let Self(text) = self;
        let decimal = text.parse().ok()?;
        let binary: Bytes = text.to_ascii_uppercase().replacen('B', "iB", 1).parse().ok()?;
        let size = Bytes::new(volume.size_bytes);
        (size == binary && size != decimal)
            .then(|| say!("{text} as the vendor of {} counts is {size}, not {decimal}", volume.like))
    }
}

/// A share of requests in millionths: `0.1%`, `50ppm`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultShare(pub u32);

impl FromStr for FaultShare {
    type Err = InvalidSetting;
    fn from_str(text: &str) -> Result<Self, InvalidSetting> {
        let text = text.trim();
        let (number, scale) = match (text.strip_suffix("ppm"), text.strip_suffix('%')) {
            (Some(number), _) => (number, 1.0),
            (_, Some(number)) => (number, 1e4),
            _ => return Err(InvalidSetting::ShareUnit),
        };
        match number.trim_end().parse::<f64>().map(|value| value * scale) {
            Ok(ppm) if (0.0..=1e6).contains(&ppm) => Ok(Self(ppm.round() as u32)),
            _ => Err(InvalidSetting::Share),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_commits_are_times_or_none() {
        let interval = |text: &str| text.parse::<CommitInterval>().map(|CommitInterval(interval)| interval).ok();
        assert_eq!((interval("5s"), interval("none")), (Some(Some(Span::from_secs(5))), Some(None)));
        for text in ["0s", "2h", "5", "often"] {
            assert_eq!(interval(text), None, "{text}");
        }
    }
}
