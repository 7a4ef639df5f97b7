//! Values of a sizing request as texts.

use std::str::FromStr;

use plimsoll_catalogue::{Money, parse_money};
use plimsoll_choose::sizing::Burst;

use crate::words::InvalidValue;

/// Price of memory per GiB and month: `5 USD`, `0.75 EUR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RamPrice(pub Money);

impl FromStr for RamPrice {
    type Err = InvalidValue;
    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        parse_money(text).map(Self).map_err(|error| InvalidValue::new(error.to_string()))
    }
}

/// A percentile above 0 and up to 100, stored as a share: `95`, `p99.9`, `100`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentile(pub f64);

impl FromStr for Percentile {
    type Err = InvalidValue;
    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let number = text.trim().trim_start_matches(['p', 'P']).trim_end_matches('%').trim();
        match number.parse::<f64>() {
            Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(Self(percent / 100.0)),
            _ => Err(InvalidValue::Percentile),
        }
    }
}

/// `none`, `auto`, or a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstWord(pub Burst);

impl FromStr for BurstWord {
    type Err = InvalidValue;
    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        match text.trim() {
            "none" => Ok(Self(Burst::None)),
            "auto" => Ok(Self(Burst::Auto)),
            number => match number.trim_matches('x').trim().parse::<f64>() {
                Ok(times) if (1.0..=1e6).contains(&times) => Ok(Self(Burst::Times(times))),
                _ => Err(InvalidValue::Burst),
            },
        }
    }
}

/// Yearly growth as a share: `30%/year`, `30%`, `2%/month`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct YearlyGrowth(pub f64);

impl FromStr for YearlyGrowth {
    type Err = InvalidValue;
    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let (number, times) = match text.trim().split_once('/') {
            Some((number, "month")) => (number, 12),
            Some((number, "year" | "a")) => (number, 1),
            None => (text.trim(), 1),
            Some(_) => return Err(InvalidValue::Growth),
        };
        // Without the sign, 1.5 may mean half as much again.
        match number.trim().strip_suffix('%').unwrap_or_default().trim().parse::<f64>() {
            Ok(percent) if (-90.0..=1000.0).contains(&percent) => Ok(Self((1.0 + percent / 100.0).powi(times) - 1.0)),
            _ => Err(InvalidValue::Growth),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_converted_to_years() {
        let of = |text: &str| text.parse::<YearlyGrowth>().map(|YearlyGrowth(share)| (share * 1e4).round() / 1e4);
        for (text, share) in [("30%/year", 0.3), ("30%", 0.3), ("-10 %", -0.1), ("2%/month", 0.2682)] {
            assert_eq!(of(text).ok(), Some(share), "{text}");
        }
        for text in ["", "30", "1.5", "30%/week", "much", "-95%"] {
            assert!(of(text).is_err(), "{text}");
        }
    }

    #[test]
    fn price_of_memory_needs_a_currency() {
        let price = |text: &str| text.parse::<RamPrice>().map(|RamPrice(money)| money.to_string()).ok();
        assert_eq!(price("5 USD").as_deref(), Some("5.00 USD"));
        assert_eq!(price("0.75 EUR").as_deref(), Some("0.75 EUR"));
        for text in ["5", "USD", "-1 USD", "much USD", "5 dollars"] {
            assert_eq!(price(text), None, "{text}");
        }
    }

    #[test]
    fn bursts_and_percentiles_are_parsed() {
        let burst = |text: &str| text.parse::<BurstWord>().map(|BurstWord(burst)| burst).ok();
        assert_eq!(burst("none"), Some(Burst::None));
        assert_eq!(burst("3x"), Some(Burst::Times(3.0)));
        assert_eq!((burst("0.5"), burst("some"), burst("inf")), (None, None, None));
        let percentile = |text: &str| text.parse::<Percentile>().map(|Percentile(share)| share).ok();
        assert_eq!((percentile("p95"), percentile("100 %")), (Some(0.95), Some(1.0)));
        assert_eq!((percentile("0"), percentile("101"), percentile("NaN")), (None, None, None));
    }
}
