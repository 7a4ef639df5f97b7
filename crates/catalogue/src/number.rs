//! Formatting of numbers: grouped for messages, plain for configurations.

/// Grouped thousands, at most six decimals: `80,000`, `931.322575`.
pub(crate) fn display(value: f64) -> String {
    let plain = format_plain(value);
    let (sign, digits) = plain.strip_prefix('-').map_or(("", plain.as_str()), |digits| ("-", digits));
    let point = digits.find('.').unwrap_or(digits.len());
    format!("{sign}{}{}", grouped(&digits[..point]), &digits[point..])
}

/// Digits with commas between thousands.
pub(crate) fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Ungrouped, at most six decimals without trailing zeros: `80000`, `0.3`.
pub(crate) fn format_plain(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return (value as i64).to_string();
    }
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_or_plain() {
        for (value, grouped, digits) in [
            (0.0, "0", "0"),
            (999.0, "999", "999"),
            (80_000.0, "80,000", "80000"),
            (-1_234_567.5, "-1,234,567.5", "-1234567.5"),
            (931.322_574_6, "931.322575", "931.322575"),
            (0.1 + 0.2, "0.3", "0.3"),
        ] {
            assert_eq!((display(value).as_str(), format_plain(value).as_str()), (grouped, digits));
        }
    }
}
