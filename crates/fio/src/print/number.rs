//! Numbers in fio's notation: limited figures, with a prefix and a unit.

/// Base of the prefixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kilo {
    /// 1,024, written `Ki` (`kb_base=1024`, the default).
    Binary,
    /// 1,000, written `k` (`kb_base=1000`).
    Decimal,
}

impl Kilo {
    /// Ratio of adjacent prefixes.
    pub(super) fn step(self) -> u64 {
        match self {
            Self::Binary => 1_024,
            Self::Decimal => 1_000,
        }
    }

    /// Prefix of a power of the base, at most 6.
    pub(super) fn prefix(self, steps: usize) -> &'static str {
        match self {
            Self::Binary => ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"][steps],
            Self::Decimal => ["", "k", "M", "G", "T", "P", "E"][steps],
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Binary => Self::Decimal,
            Self::Decimal => Self::Binary,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateUnit {
    /// Bytes (`unit_base=8`, the default).
    Bytes,
    /// Bits (`unit_base=1`).
    Bits,
}

/// Units of figures in normal text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// Base written first; the other follows in brackets.
    pub kilo: Kilo,
    pub unit: RateUnit,
    /// `significant_figures`, 1 to 10.
    pub figures: u8,
}

impl Default for Units {
    fn default() -> Self {
        Self { kilo: Kilo::Binary, unit: RateUnit::Bytes, figures: 4 }
    }
}

impl Units {
    /// Bytes: `95.7MiB`.
    pub(super) fn bytes(self, bytes: u64) -> String {
        abbreviated(bytes, self.figures, self.kilo) + "B"
    }

    /// Bytes with the other base: `100MB`.
    pub(super) fn bytes_other(self, bytes: u64) -> String {
        self.other().bytes(bytes)
    }

    /// Bytes per second, as bytes or bits: `95.6MiB/s`.
    pub(super) fn rate(self, bytes_s: u64) -> String {
        match self.unit {
            RateUnit::Bytes => self.bytes(bytes_s) + "/s",
            RateUnit::Bits => abbreviated(bytes_s.saturating_mul(8), self.figures, self.kilo) + "bit/s",
        }
    }

    /// Bytes per second with the other base: `100MB/s`.
    pub(super) fn rate_other(self, bytes_s: u64) -> String {
        self.other().rate(bytes_s)
    }

    /// A dimensionless count: `24.5k`.
    pub(super) fn count(self, count: u64) -> String {
        abbreviated(count, self.figures, Kilo::Decimal)
    }

    fn other(self) -> Self {
        Self { kilo: self.kilo.other(), ..self }
    }
}

/// A number of at most `figures` characters without its prefix: `24.5k`. Rounded to an integer if a decimal point and a
/// digit do not fit.
pub(super) fn abbreviated(number: u64, figures: u8, kilo: Kilo) -> String {
    let (mut quotient, mut remainder, mut steps) = (number, 0, 0);
    while digits(quotient) > usize::from(figures) && steps < 6 {
        remainder = quotient % kilo.step();
        quotient /= kilo.step();
        steps += 1;
    }
    let places = usize::from(figures).saturating_sub(digits(quotient) + 1);
    let text = match (steps, places) {
        (0, _) => quotient.to_string(),
        (_, 0) => (quotient + u64::from(remainder * 2 >= kilo.step())).to_string(),
        _ => {
            // fio truncates smaller units, and rounds the decimals separately.
            let decimals = format!("{:.places$}", remainder as f64 / kilo.step() as f64);
            (quotient + u64::from(decimals.starts_with('1'))).to_string() + &decimals[1..]
        }
    };
    text + kilo.prefix(steps)
}

/// Number of decimal digits.
pub(super) fn digits(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::{Kilo, RateUnit, Units, abbreviated};

    #[test]
    fn numbers_are_abbreviated_like_fio() {
        let table = [
            (512, "512B", "512B"),
            (9_999, "9999B", "9999B"),
            (10_000, "9.77KiB", "10.0kB"),
            (10_240, "10.0KiB", "10.2kB"),
            (10_300, "10.1KiB", "10.3kB"),
            (99_999, "97.7KiB", "100.0kB"),
            (100_000, "97.7KiB", "100kB"),
            (102_350, "100.0KiB", "102kB"),
            (102_400, "100KiB", "102kB"),
            (1_023_488, "1000KiB", "1023kB"),
            (1_048_064, "1024KiB", "1048kB"),
            (1_048_576, "1024KiB", "1049kB"),
            (10_250_137, "9.77MiB", "10.2MB"),
            (10_484_736, "10.00MiB", "10.5MB"),
            (1_073_217_536, "1024MiB", "1073MB"),
            (0, "0B", "0B"),
        ];
        let units = Units::default();
        for (bytes, binary, decimal) in table {
            assert_eq!((units.bytes(bytes), units.bytes_other(bytes)), (binary.to_owned(), decimal.to_owned()));
        }
        let five = Units { figures: 5, ..units };
        assert_eq!((five.bytes(10_250_137), five.bytes(102_451)), ("10010KiB".to_owned(), "100.0KiB".to_owned()));
    }

    #[test]
    fn counts_and_bits_have_their_prefixes() {
        for (count, expected) in [(5_790, "5790"), (24_479, "24.5k"), (5_676_406, "5676k"), (10_240_000, "10.2M")] {
            assert_eq!(Units::default().count(count), expected);
        }
        assert_eq!(abbreviated(2_956_051, 6, Kilo::Decimal), "2956.1k");
        assert_eq!(abbreviated(1_350_000, 3, Kilo::Decimal), "1.3M");
        assert_eq!(abbreviated(u64::MAX, 4, Kilo::Decimal), "18.4E");
        let bits = Units { unit: RateUnit::Bits, ..Units::default() };
        assert_eq!(
            (bits.rate(2_031_616_000), bits.rate_other(2_031_616_000)),
            ("15.1Gibit/s".into(), "16.3Gbit/s".into())
        );
    }
}
