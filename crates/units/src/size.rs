//! Sizes in bytes, with decimal (GB) and binary (GiB) units.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::parse::{self, Malformed, Quantity};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Bytes(u64);

impl Bytes {
    /// Zero.
    pub const ZERO: Self = Self(0);

    /// `n` bytes.
    pub const fn new(n: u64) -> Self {
        Self(n)
    }

    /// `n` KiB, 1,024 bytes each.
    pub const fn kib(n: u64) -> Self {
        Self(n << 10)
    }

    /// `n` MiB, 1,024 KiB each.
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }

    /// `n` GiB, 1,024 MiB each.
    pub const fn gib(n: u64) -> Self {
        Self(n << 30)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The largest multiple of `block` up to this size.
    ///
    /// # Panics
    /// If `block` is zero.
    pub const fn round_down(self, block: Self) -> Self {
        Self(self.0 / block.0 * block.0)
    }
}

/// Exact if divisible by the largest binary unit that fits, else with three significant digits: `8 KiB`, `1.5 GiB`,
/// `512 B`.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        if self.0 < 1024 {
            return write!(f, "{} B", self.0);
        }
        let power = (self.0.ilog2() / 10).min(6);
        let value = self.0 as f64 / (1u64 << (10 * power)) as f64;
        let unit = UNITS[power as usize - 1];
        if self.0.is_multiple_of(1u64 << (10 * power)) {
            write!(f, "{} {unit}", self.0 >> (10 * power))
        } else {
            parse::three_digits(f, value)?;
            write!(f, " {unit}")
        }
    }
}

/// Smaller sizes need a unit: `--capacity 2` does not mean two bytes.
const MIN_BARE: u64 = 512;

const UNITS: &[(&str, u128)] = &[
    ("b", 1),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("pib", 1 << 50),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("pb", 1_000_000_000_000_000),
    // Single letters are binary, as in dd, fio and the block sizes of databases.
    ("k", 1 << 10),
    ("m", 1 << 20),
    ("g", 1 << 30),
    ("t", 1 << 40),
];

impl FromStr for Bytes {
    type Err = Malformed;
    /// `8KiB`, `8 kib` and `8k` are 8,192 bytes; `8kB` and `8kb` are 8,000; a number without a unit is bytes: zero, or
    /// at least 512. Case is ignored.
    fn from_str(text: &str) -> Result<Self, Malformed> {
        let bytes = parse::parse_scaled(text, UNITS, Some(1), Quantity::Bytes)?;
        let has_unit = text.trim_end().ends_with(|last: char| last.is_ascii_alphabetic());
        if has_unit || bytes == 0 || bytes >= MIN_BARE {
            Ok(Self(bytes))
        } else {
            Err(Malformed { expected: Quantity::BareBytes })
        }
    }
}
