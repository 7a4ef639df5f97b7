//! Exact parsing of numbers with units, and output with three significant digits. Uses integers throughout: `1.1 GB` is
//! exactly 1,100,000,000 bytes.

use core::fmt;

/// The expected quantity of a malformed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A duration.
    Span,
    /// A size.
    Bytes,
    /// A size without a unit that is too small to be in bytes.
    BareBytes,
    /// A rate of operations.
    Iops,
}

/// A malformed quantity. The message lists the accepted forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The expected quantity.
    pub expected: Quantity,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.expected {
            Quantity::Span => "not a time: write a number and ns, us, ms, s, min or h, such as 250us or 60s",
            Quantity::Bytes => {
                "not a size: write a number and KiB, MiB, GiB, TiB (1,024), kB, MB, GB, TB (1,000) or k, M, G, T \
                 (1,024), such as 8KiB"
            }
            Quantity::BareBytes => {
                "not a size without a unit: write KiB, MiB, GiB, TiB (1,024), kB, MB, GB or TB (1,000) behind the number, or \
                 B for bytes"
            }
            Quantity::Iops => "not a rate: write operations per second above zero, such as 12000 or 12k",
        })
    }
}

impl core::error::Error for Malformed {}

/// Parses `number [unit]` into base units; `bare` is the scale of a number without a unit, if allowed. Fractions of a
/// base unit are truncated.
pub(crate) fn parse_scaled(
    text: &str,
    units: &[(&str, u128)],
    bare: Option<u128>,
    expected: Quantity,
) -> Result<u64, Malformed> {
    let refused = Malformed { expected };
    let text = text.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = (&text[..split], text[split..].trim());
    let scale = if unit.is_empty() {
        bare.ok_or(refused)?
    } else {
        units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).ok_or(refused)?.1
    };
    let (entire, fraction) = number.split_once('.').unwrap_or((number, ""));
    if number.is_empty() || fraction.contains('.') || fraction.len() > 9 || (entire.is_empty() && fraction.is_empty()) {
        return Err(refused);
    }
    let digits = |part: &str| if part.is_empty() { Ok(0) } else { part.parse::<u64>().map_err(|_| refused) };
    let below_one = digits(fraction)? as u128 * scale / 10u128.pow(fraction.len() as u32);
    let total = (digits(entire)? as u128).checked_mul(scale).ok_or(refused)? + below_one;
    u64::try_from(total).map_err(|_| refused)
}

/// `text` without the first matching suffix of `suffixes`, ignoring case.
pub(crate) fn without_suffix<'a>(text: &'a str, suffixes: &[&str]) -> &'a str {
    for suffix in suffixes {
        if let Some(cut) = text.len().checked_sub(suffix.len())
            && text.is_char_boundary(cut)
            && text[cut..].eq_ignore_ascii_case(suffix)
        {
            return text[..cut].trim_end();
        }
    }
    text
}

/// Formats `value` (0 to below 1,000,000) with three significant digits, without trailing zeros.
pub(crate) fn three_digits(f: &mut fmt::Formatter<'_>, value: f64) -> fmt::Result {
    let decimals = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    let scale = [1u64, 10, 100][decimals];
    let mut scaled = (value * scale as f64 + 0.5) as u64;
    let mut places = decimals;
    while places > 0 && scaled.is_multiple_of(10) {
        scaled /= 10;
        places -= 1;
    }
    let scale = [1u64, 10, 100][places];
    if places == 0 { write!(f, "{scaled}") } else { write!(f, "{}.{:0places$}", scaled / scale, scaled % scale) }
}

/// Formats a whole number with commas as thousands separators.
pub(crate) fn grouped(f: &mut fmt::Formatter<'_>, value: u64) -> fmt::Result {
    if value < 1000 {
        return write!(f, "{value}");
    }
    grouped(f, value / 1000)?;
    write!(f, ",{:03}", value % 1000)
}
