//! Exact decimal numbers for prices.

use std::fmt;
use std::str::FromStr;

/// `mantissa / 10^scale`, exactly. Sums and products are exact or refused, never rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    mantissa: i128,
    scale: u32,
}

/// Maximum number of decimals.
const SCALE_MAX: u32 = 30;

impl Decimal {
    pub(crate) const ZERO: Self = Self { mantissa: 0, scale: 0 };

    /// A computed quantity, rounded to nine decimals to remove floating-point noise.
    pub(crate) fn from_quantity(value: f64) -> Option<Self> {
        value.is_finite().then(|| format!("{value:.9}").parse().ok()).flatten()
    }

    pub(crate) const fn from_integer(value: i128) -> Self {
        Self { mantissa: value, scale: 0 }
    }

    pub(crate) fn times(self, other: Self) -> Option<Self> {
        let mantissa = self.mantissa.checked_mul(other.mantissa)?;
        Some(Self { mantissa, scale: self.scale + other.scale }.without_zeros()).filter(|d| d.scale <= SCALE_MAX)
    }

    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let mantissa = self.mantissa_at(scale)?.checked_add(other.mantissa_at(scale)?)?;
        Some(Self { mantissa, scale }.without_zeros())
    }

    pub(crate) fn minus(self, other: Self) -> Option<Self> {
        self.plus(Self { mantissa: -other.mantissa, ..other })
    }

    pub(crate) const fn is_negative(self) -> bool {
        self.mantissa < 0
    }

    pub(crate) fn is_less_than(self, other: Self) -> bool {
        self.minus(other).is_some_and(|difference| difference.mantissa < 0)
    }

    /// The nearest number.
    pub(crate) fn as_f64(self) -> f64 {
        self.mantissa as f64 / 10f64.powi(self.scale.cast_signed())
    }

    fn mantissa_at(self, scale: u32) -> Option<i128> {
        self.mantissa.checked_mul(10i128.checked_pow(scale - self.scale)?)
    }

    /// Rounds half to even, to millionths.
    pub(crate) fn millionths(self) -> Option<i128> {
        if self.scale <= 6 {
            return self.mantissa_at(6);
        }
        let unit = 10i128.pow(self.scale - 6);
        let (below, rest) = (self.mantissa.div_euclid(unit), self.mantissa.rem_euclid(unit));
        let up = rest * 2 > unit || (rest * 2 == unit && below % 2 != 0);
        Some(below + i128::from(up))
    }

    fn without_zeros(mut self) -> Self {
        while self.scale > 0 && self.mantissa % 10 == 0 {
            self.mantissa /= 10;
            self.scale -= 1;
        }
        self
    }
}

impl FromStr for Decimal {
    type Err = ();

    /// Digits with at most one point, such as `0.00000037`; optional minus sign.
    fn from_str(text: &str) -> Result<Self, ()> {
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
        let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let complete = !integer.is_empty() && (digits.len() == integer.len() || !fraction.is_empty());
        if !complete || !plain(integer) || !plain(fraction) || integer.len() + fraction.len() > 30 {
            return Err(());
        }
        let mantissa: i128 = format!("{integer}{fraction}").parse().map_err(|_| ())?;
        let mantissa = if negative { -mantissa } else { mantissa };
        Ok(Self { mantissa, scale: fraction.len() as u32 }.without_zeros())
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.mantissa < 0 { "-" } else { "" };
        let width = self.scale as usize + 1;
        let digits = format!("{:0width$}", self.mantissa.unsigned_abs());
        let (integer, fraction) = digits.split_at(digits.len() - self.scale as usize);
        let point = if fraction.is_empty() { "" } else { "." };
        write!(f, "{sign}{integer}{point}{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap_or_else(|()| panic!("{text:?}"))
    }

    #[test]
    fn no_digit_is_lost() {
        let product = decimal("0.000006849").times(decimal("730")).unwrap().times(decimal("77000")).unwrap();
        assert_eq!(product.to_string(), "384.98229");
        assert_eq!(decimal("0.00000037").times(decimal("1000000")).unwrap().to_string(), "0.37");
        assert_eq!(decimal("-0.5").plus(decimal("0.25")).unwrap().to_string(), "-0.25");
        assert_eq!(Decimal::from_quantity(0.1 + 0.2).unwrap().to_string(), "0.3");
        assert!(decimal("1").is_less_than(decimal("1.01")));
    }

    #[test]
    fn halves_go_to_the_even_millionth() {
        for (text, millionths) in [
            ("0.0000005", 0),
            ("0.0000015", 2),
            ("0.00000251", 3),
            ("-0.0000005", 0),
            ("-0.0000015", -2),
            ("7", 7_000_000),
        ] {
            assert_eq!(decimal(text).millionths(), Some(millionths), "{text}");
        }
    }

    #[test]
    fn invalid_decimals_are_refused() {
        for text in ["", ".5", "1.", "1e3", "1,5", "+1", "--1", "1.2.3", " 1", "0x1"] {
            assert!(text.parse::<Decimal>().is_err(), "{text:?}");
        }
    }
}
