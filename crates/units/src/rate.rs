//! Rates: operations per second as an exact fraction, and throughput.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::moment::Span;
use crate::parse::{self, Malformed, Quantity};

const NANOS: u128 = 1_000_000_000;

/// A rate of operations as the exact fraction `ops / seconds`: 7,000,000 per second has no exact interval in
/// nanoseconds, and a rounded interval drifts by 0.6 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Iops {
    /// Operations in `seconds`; at least 1.
    pub ops: u64,
    /// Duration of `ops` operations in seconds; at least 1.
    pub seconds: u64,
}

impl Iops {
    /// `ops` operations per second; zero becomes 1.
    pub const fn per_second(ops: u64) -> Self {
        Self { ops: if ops == 0 { 1 } else { ops }, seconds: 1 }
    }

    /// The nearest fraction over 1,000 seconds: exact to 0.001 operations per second.
    pub fn from_f64(per_second: f64) -> Self {
        let milli = (per_second * 1e3 + 0.5) as u64;
        if milli.is_multiple_of(1_000) { Self::per_second(milli / 1_000) } else { Self { ops: milli, seconds: 1_000 } }
    }

    /// Operations per second, for display and averages.
    pub fn as_f64(self) -> f64 {
        self.ops as f64 / self.seconds as f64
    }

    /// Duration of `n` operations, rounded down. Errors do not accumulate, because it is computed from zero.
    pub fn time_of(self, n: u64) -> Span {
        let ns = n as u128 * self.seconds as u128 * NANOS / self.ops as u128;
        Span::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// This rate multiplied by `numerator / denominator`, exactly.
    ///
    /// # Panics
    /// If a product exceeds 64 bits.
    pub fn scaled(self, numerator: u64, denominator: u64) -> Self {
        Self { ops: self.ops * numerator, seconds: self.seconds * denominator }
    }
}

/// A number for sentences: three significant digits below 100, otherwise whole with commas between thousands: `0.5`, `118`,
/// `12,345`. Negative numbers and NaN are `0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grouped(pub f64);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 100.0 { parse::three_digits(f, self.0) } else { parse::grouped(f, (self.0 + 0.5) as u64) }
    }
}

/// Three significant digits or whole operations: `0.5`, `118`, `12,345`.
impl fmt::Display for Iops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} IOPS", Grouped(self.as_f64()))
    }
}

impl FromStr for Iops {
    type Err = Malformed;
    /// `12000`, `12k` (decimal), `0.5`, optionally followed by `IOPS` or `/s`.
    fn from_str(text: &str) -> Result<Self, Malformed> {
        let bare = parse::without_suffix(text.trim(), &["iops", "/s"]);
        let milli = parse::parse_scaled(bare, &[("k", 1_000_000), ("m", 1_000_000_000)], Some(1_000), Quantity::Iops)?;
        let rate = if milli.is_multiple_of(1_000) {
            Self { ops: milli / 1_000, seconds: 1 }
        } else {
            Self { ops: milli, seconds: 1_000 }
        };
        if rate.ops == 0 { Err(Malformed { expected: Quantity::Iops }) } else { Ok(rate) }
    }
}

/// Bytes per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Throughput(u64);

impl Throughput {
    /// `n` bytes per second; zero becomes 1.
    pub const fn per_second(n: u64) -> Self {
        Self(if n == 0 { 1 } else { n })
    }

    /// Bytes per second.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// In decimal MB/s, as vendors and clouds state it: `480 MB/s`.
impl fmt::Display for Throughput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mega = self.0 as f64 / 1e6;
        if mega < 1000.0 {
            parse::three_digits(f, mega)?;
        } else {
            parse::grouped(f, (mega + 0.5) as u64)?;
        }
        f.write_str(" MB/s")
    }
}
