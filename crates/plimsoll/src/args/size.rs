//! Flags of `plimsoll size`, and the words that they take.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use plimsoll_catalogue::Money;
use plimsoll_choose::sizing::{Burst, ClassObjective};
use plimsoll_units::Bytes;

use super::inputs::InputArgs;
use super::offers::TermsArgs;
use crate::words::{Percent, Unreadable};

pub(super) const SIZE_EXAMPLES: &str = "\
Examples:
  plimsoll size awrrpt_1_100_101.html --capacity 2TiB           what carries it, the cheapest first
  plimsoll size reports/ --capacity 2TiB --provider oci --objective 'p99 <= 1 ms'
  plimsoll size reports/ --capacity 2TiB -o 'redo:p99<=1ms' -o 'read:p99<=5ms'
  plimsoll size reports/ --capacity 500GiB --growth 30%/year --months 36 --headroom 10%
  plimsoll size reports/ --capacity 2TiB --provider oci --what-if levels
  plimsoll size reports/ --capacity 2TiB --what-if cache,growth --ram-price '5 USD' --growth 30%/year
  plimsoll size reports/ --capacity 2TiB --burst none --machine aws/r6i.4xlarge --terraform volumes.tf";

/// `plimsoll size`
#[derive(Debug, Args)]
pub struct SizeArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Bytes that have to be kept today
    #[arg(long, value_name = "SIZE")]
    pub capacity: Option<Bytes>,
    /// The database to size for, where the reports are of several
    #[arg(long, value_name = "NAME")]
    pub database: Option<String>,
    /// Look at these providers or products only, such as oci or aws/gp3
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub provider: Vec<String>,
    /// The machine that volumes are attached to: its limits count, and its provider's volumes only are looked at
    #[arg(long, value_name = "MACHINE")]
    pub machine: Option<String>,
    /// So many volumes may be one stripe, at most; 1 for no stripes
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=32))]
    pub stripe: u32,
    /// What response times have to meet at the expected load, such as p99<=5ms, read:p99<=5ms or redo:p99<=1ms; of reads
    /// without a class. Classes: read, write, redo, random-read, sequential-read, data-write, temp-read, temp-write. Several
    /// may be given
    #[arg(short, long, value_name = "OBJECTIVE")]
    pub objective: Vec<ClassObjective>,
    /// Rank choices, too, that answer some class of operations more slowly, by a fifth or more, than the storage of today
    /// as the reports have it
    #[arg(long)]
    pub may_be_slower: bool,
    /// Size for the load that is not exceeded in this share of the windows' time. Without it every window counts: the
    /// whole series is replayed through the limits, and as much may wait as may miss the objective (1 % without one)
    #[arg(long, value_name = "PERCENT")]
    pub percentile: Option<Percentile>,
    /// What peaks inside of the windows are: none, so many times the average, or auto
    #[arg(long, value_name = "N|none|auto", default_value = "auto")]
    pub burst: BurstWord,
    /// What limits have to allow above the expected load
    #[arg(long, value_name = "PERCENT", default_value = "20%")]
    pub headroom: Percent,
    /// Share of the volumes that stays free
    #[arg(long, value_name = "PERCENT", default_value = "10%")]
    pub free: Percent,
    /// How load and capacity grow, such as 30%/year or 2%/month
    #[arg(long, value_name = "PERCENT/year")]
    pub growth: Option<YearlyGrowth>,
    /// Months that it has to last
    #[arg(long, value_name = "N", requires = "growth", value_parser = clap::value_parser!(u32).range(1..=240))]
    pub months: Option<u32>,
    /// And what would be if: levels that change, a cache of another size, growth
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',')]
    pub what_if: Vec<WhatIfWord>,
    /// With --what-if cache: what a GiB of memory costs in a month, such as '5 USD'
    #[arg(long, value_name = "PRICE")]
    pub ram_price: Option<RamPrice>,
    /// With --what-if levels: the level that the provider's own rule goes back to; the lowest without it
    #[arg(long, value_name = "LEVEL")]
    pub autotune_default: Option<u32>,
    /// With --what-if levels: the level that the provider's own rule never passes; the highest without it
    #[arg(long, value_name = "LEVEL")]
    pub autotune_most: Option<u32>,
    /// Show so many choices
    #[arg(long, value_name = "N", default_value_t = 12)]
    pub most: usize,
    #[command(flatten)]
    pub terms: TermsArgs,
    /// Write everything as JSON (- for standard output), too
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
    /// Write a page with pictures and sources (- for standard output), too
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,
    /// Write it as Markdown (- for standard output), too
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub markdown: Option<PathBuf>,
    /// Write choices and rejections as CSV (- for standard output), too
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub csv: Option<PathBuf>,
    /// Write the cheapest choice of each cloud as Terraform (- for standard output), too
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub terraform: Option<PathBuf>,
    /// Print without colours
    #[arg(long, help_heading = "Output")]
    pub no_color: bool,
}

/// What `--what-if` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WhatIfWord {
    /// Levels of the best choices: fixed, by the provider's own rule, by the hour
    Levels,
    /// More memory, and less storage
    Cache,
    /// How long the first choice lasts at --growth
    Growth,
    /// Hot devices, files or tablespaces on one storage, the rest on another
    Tiers,
}

/// What a GiB of memory costs in a month: `5 USD`, `0.75 EUR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RamPrice(pub Money);

impl FromStr for RamPrice {
    type Err = Unreadable;
    fn from_str(text: &str) -> Result<Self, Unreadable> {
        let refused = || Unreadable::new("not a price: write an amount and a currency, such as '5 USD'");
        let (amount, currency) = text.trim().rsplit_once(' ').ok_or_else(refused)?;
        let amount = amount.trim().parse::<f64>().ok().filter(|amount| (0.0..=1e6).contains(amount));
        let millionths = (amount.ok_or_else(refused)? * 1e6).round() as i128;
        Ok(Self(Money { millionths, currency: currency.parse().map_err(|_| refused())? }))
    }
}

/// A share of the time, above 0 and up to 1: `95`, `p99.9`, `100`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentile(pub f64);

impl FromStr for Percentile {
    type Err = Unreadable;
    fn from_str(text: &str) -> Result<Self, Unreadable> {
        let number = text.trim().trim_start_matches(['p', 'P']).trim_end_matches('%').trim();
        match number.parse::<f64>() {
            Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(Self(percent / 100.0)),
            _ => Err(Unreadable::new("not a percentile: write a number above 0 and up to 100, such as 95 or 99.5")),
        }
    }
}

/// `none`, `auto`, or how many times the average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstWord(pub Burst);

impl FromStr for BurstWord {
    type Err = Unreadable;
    fn from_str(text: &str) -> Result<Self, Unreadable> {
        match text.trim() {
            "none" => Ok(Self(Burst::None)),
            "auto" => Ok(Self(Burst::Auto)),
            number => match number.trim_matches('x').trim().parse::<f64>() {
                Ok(times) if (1.0..=1e6).contains(&times) => Ok(Self(Burst::Times(times))),
                _ => Err(Unreadable::new("not a burst: write none, auto, or a factor of at least 1, such as 3")),
            },
        }
    }
}

/// Growth by year, as a share: `30%/year`, `30%`, `2%/month`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct YearlyGrowth(pub f64);

impl FromStr for YearlyGrowth {
    type Err = Unreadable;
    fn from_str(text: &str) -> Result<Self, Unreadable> {
        let (number, times) = match text.trim().split_once('/') {
            Some((number, "month")) => (number, 12),
            Some((number, "year" | "a")) => (number, 1),
            None => (text.trim(), 1),
            Some(_) => return Err(Self::refused()),
        };
        match number.trim().trim_end_matches('%').trim().parse::<f64>() {
            Ok(percent) if (-90.0..=1000.0).contains(&percent) => Ok(Self((1.0 + percent / 100.0).powi(times) - 1.0)),
            _ => Err(Self::refused()),
        }
    }
}

impl YearlyGrowth {
    fn refused() -> Unreadable {
        Unreadable::new("not a growth: write such as 30%/year or 2%/month, from -90 % to 1,000 %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_by_the_year() {
        let of = |text: &str| text.parse::<YearlyGrowth>().map(|YearlyGrowth(share)| (share * 1e4).round() / 1e4);
        for (text, share) in [("30%/year", 0.3), ("30", 0.3), ("-10 %", -0.1), ("2%/month", 0.2682)] {
            assert_eq!(of(text).ok(), Some(share), "{text}");
        }
        for text in ["", "30%/week", "much", "-95%"] {
            assert!(of(text).is_err(), "{text}");
        }
    }

    #[test]
    fn memory_has_a_price_with_a_currency() {
        let price = |text: &str| text.parse::<RamPrice>().map(|RamPrice(money)| money.to_string()).ok();
        assert_eq!(price("5 USD").as_deref(), Some("5.00 USD"));
        assert_eq!(price("0.75 EUR").as_deref(), Some("0.75 EUR"));
        for text in ["5", "USD", "-1 USD", "much USD", "5 dollars"] {
            assert_eq!(price(text), None, "{text}");
        }
    }

    #[test]
    fn bursts_and_percentiles_are_words_and_numbers() {
        let burst = |text: &str| text.parse::<BurstWord>().map(|BurstWord(burst)| burst).ok();
        assert_eq!(burst("none"), Some(Burst::None));
        assert_eq!(burst("3x"), Some(Burst::Times(3.0)));
        assert_eq!((burst("0.5"), burst("some"), burst("inf")), (None, None, None));
        let percentile = |text: &str| text.parse::<Percentile>().map(|Percentile(share)| share).ok();
        assert_eq!((percentile("p95"), percentile("100 %")), (Some(0.95), Some(1.0)));
        assert_eq!((percentile("0"), percentile("101"), percentile("NaN")), (None, None, None));
    }
}
