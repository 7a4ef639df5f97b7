//! Numbers for readers: three significant digits, grouped thousands, units.

use plimsoll_language::{Language, label, say};
use plimsoll_record::Estimate;
use plimsoll_units::{Span, Throughput};

/// A whole number with grouped thousands. NaN and negative values become `0`.
pub(crate) fn integer(value: f64) -> String {
    let digits = format!("{:.0}", if value.is_finite() { value.max(0.0) + 0.0 } else { 0.0 });
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Number of decimals for three significant digits.
pub(crate) fn decimals(value: f64) -> usize {
    match value.abs() {
        v if !(0.000_5..99.95).contains(&v) => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.999_5 => 2,
        _ => 3,
    }
}

/// Three significant digits without trailing zeros: `41,200`, `8.25`, `-0.5`. Zero has no sign.
pub(crate) fn three(value: f64) -> String {
    if !value.is_finite() {
        return "0".into();
    }
    let size = value.abs();
    let text = if size >= 99.95 {
        let unit = 10f64.powi(size.log10().floor() as i32 - 2);
        integer((size / unit).round() * unit)
    } else {
        let text = format!("{size:.*}", decimals(size));
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
    };
    if value < 0.0 && text != "0" { format!("-{text}") } else { text }
}

/// Operations per second: whole from 100, otherwise three significant digits. Documented figures stay exact.
pub(crate) fn rate(iops: f64) -> String {
    if iops < 100.0 { three(iops) } else { integer(iops) }
}

/// Up to three decimals, with grouped thousands: `12,800`, `1.5`.
pub(crate) fn exact(value: f64) -> String {
    let thousandths = (value.abs() * 1e3).round();
    let (units, rest) = ((thousandths / 1e3).floor(), thousandths % 1e3);
    let fraction = format!("{rest:03}");
    let fraction = fraction.trim_end_matches('0');
    let sign = if value < 0.0 && thousandths > 0.0 { "-" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}", integer(units))
}

/// Short form for axes and marks: `950`, `10k`, `41.2k`, `1.5M`.
pub(crate) fn short(value: f64) -> String {
    match value {
        v if v >= 999_500.0 => format!("{}M", three(v / 1e6)),
        v if v >= 9_995.0 => format!("{}k", three(v / 1e3)),
        v => three(v),
    }
}

/// Nanoseconds with a unit: `84.1 us`.
pub(crate) fn time(ns: f64) -> String {
    Span::from_nanos(ns.max(0.0) as u64).to_string()
}

/// Bytes per second as decimal megabytes, with the unit.
pub(crate) fn throughput(bytes_per_second: f64) -> String {
    if bytes_per_second < 1.0 { "0 MB/s".into() } else { Throughput::per_second(bytes_per_second as u64).to_string() }
}

/// A share as a percentage: `80 %`, `99.5 %`.
pub(crate) fn percent(share: f64) -> String {
    // Avoids a negative zero.
    let hundredths = (share * 1e4).round() / 1e2 + 0.0;
    format!("{hundredths} %")
}

/// A relative change as a signed percentage: `+12.3 %`. No change is `+0 %`, or a word in Japanese.
pub(crate) fn change(share: f64, decimals: u8) -> String {
    let text = signed(share, decimals);
    let is_zero = !text.contains(|digit: char| ('1'..='9').contains(&digit));
    if is_zero && Language::current() == Language::Japanese { label!("no change").to_owned() } else { text }
}

/// The ratio of a limit to a load: `+40 %`, or `x 2.5` from 2 on; in Japanese always a multiple.
pub(crate) fn headroom(times: f64) -> String {
    let is_multiple = times >= 2.0 || Language::current() == Language::Japanese;
    if is_multiple { say!("x {}", three(times)) } else { signed(times - 1.0, 0) }
}

/// A signed percentage: `+12.3 %`, and `+0 %` also for slightly negative shares.
pub(crate) fn signed(share: f64, decimals: u8) -> String {
    let unit = 10f64.powi(i32::from(decimals));
    let rounded = (share * 100.0 * unit).round() / unit + 0.0;
    format!("{rounded:+.0$} %", usize::from(decimals))
}

/// Half the width of the interval in per cent of the value, such as `0.8`.
pub(crate) fn half_width_percent(estimate: &Estimate) -> Option<f64> {
    estimate.relative_half_width().map(|half| half * 100.0).filter(|half| half.is_finite())
}

/// The value of an estimate that is finite and above zero.
pub(crate) fn value(estimate: &Estimate) -> Option<f64> {
    (estimate.value.is_finite() && estimate.value > 0.0).then_some(estimate.value)
}

/// The interval if both ends are finite.
pub(crate) fn interval(estimate: &Estimate) -> Option<(f64, f64)> {
    estimate.interval.filter(|(low, high)| low.is_finite() && high.is_finite())
}

/// A duration in whole seconds: `45 s`, `2:05`, `1:02:03`.
pub(crate) fn clock(span: Span) -> String {
    let seconds = (span.as_nanos().saturating_add(999_999_999)) / 1_000_000_000;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m}:{s:02}"),
        (h, m, s) => format!("{h}:{m:02}:{s:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_grouped_and_trimmed() {
        let cases = [(41_183.0, "41,200"), (999.6, "1,000"), (8.25, "8.25"), (0.5, "0.5"), (0.0, "0"), (12.0, "12")];
        for (value, expected) in cases {
            assert_eq!(three(value), expected);
        }
        assert_eq!(three(f64::NAN), "0");
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!((percent(-1e-9), crate::words::diagnosis::share(-1e-9)), ("0 %".to_owned(), "0 %".to_owned()));
        for format in [three, exact, rate, short, integer, crate::csv::plain] {
            assert_eq!(format(-0.0), "0");
        }
        assert_eq!(
            (three(-1e-4), exact(-1e-4), crate::page::Cell::three(-0.0).exact),
            ("0".into(), "0".into(), "0".into())
        );
        assert_eq!(
            (change(-1e-4, 1), change(-1e-4, 0), change(-0.125, 1)),
            ("+0.0 %".into(), "+0 %".into(), "-12.5 %".into())
        );
        assert_eq!((three(-1_234.0), three(-0.5)), ("-1,230".into(), "-0.5".into()));
    }

    #[test]
    fn exact_figures_keep_three_decimals_at_most() {
        let cases = [(12_800.0, "12,800"), (1.5, "1.5"), (-0.25, "-0.25"), (131.072, "131.072"), (0.999_96, "1")];
        for (value, expected) in cases {
            assert_eq!(exact(value), expected);
        }
        assert_eq!((rate(23_040.0), rate(99.4)), ("23,040".into(), "99.4".into()));
    }

    #[test]
    fn short_forms_change_at_ten_thousand() {
        let cases = [(950.0, "950"), (9_500.0, "9,500"), (10_000.0, "10k"), (41_234.0, "41.2k"), (1.5e6, "1.5M")];
        for (value, expected) in cases {
            assert_eq!(short(value), expected);
        }
    }

    #[test]
    fn shares_keep_at_most_two_decimals() {
        assert_eq!((percent(0.8), percent(0.995)), ("80 %".into(), "99.5 %".into()));
        assert_eq!(percent(1.0 / 3.0), "33.33 %");
    }
}
