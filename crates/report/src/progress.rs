//! Progress of a measurement on one line.

use std::borrow::Cow;

use plimsoll_language::say;
use plimsoll_units::Span;
use unicode_width::UnicodeWidthStr;

use crate::number;

/// State of a measurement.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// Current phase, such as `open load`.
    pub phase: Cow<'a, str>,
    /// The offered load, such as `depth 8`.
    pub point: String,
    /// Recent operations per second.
    pub rate: f64,
    /// Unit of `rate`, such as `IOPS`.
    pub unit: &'static str,
    /// Recent 99th percentile.
    pub p99: Option<Span>,
    /// Completed share of the whole measurement, 0 to 1.
    pub done: f64,
    /// Estimated remaining time.
    pub left: Span,
}

/// Columns of the bar between its brackets.
const BAR: usize = 20;

/// Formats the state as a line of ASCII of at most `width` columns, without a newline. If the width is too small, the
/// bar is omitted first, then the phase, then the end.
pub fn progress_line(view: &Progress<'_>, width: usize) -> String {
    let done = if view.done.is_finite() { view.done.clamp(0.0, 1.0) } else { 0.0 };
    let filled = (done * BAR as f64).round() as usize;
    let bar = format!("[{}{}]", "#".repeat(filled), ".".repeat(BAR - filled));
    let share = format!("{:>3.0} %", (done * 100.0).floor());
    let rate = format!("{} {}", number::three(view.rate), view.unit);
    let p99 = view.p99.map(|p99| format!("p99 {p99}"));
    let left = say!("{} left", number::clock(view.left));
    let (phase, point) = (crate::words::clean(&view.phase), crate::words::clean(&view.point));
    let join = |parts: &[Option<&str>]| parts.iter().flatten().copied().collect::<Vec<_>>().join("  ");
    let p99 = p99.as_deref();
    let full = join(&[Some(&bar), Some(&share), Some(&phase), Some(&point), Some(&rate), p99, Some(&left)]);
    let no_bar = join(&[Some(&share), Some(&phase), Some(&point), Some(&rate), p99, Some(&left)]);
    let short = join(&[Some(&share), Some(&point), Some(&rate), p99, Some(&left)]);
    let fits = [full, no_bar].into_iter().find(|line| line.width() <= width);
    fits.unwrap_or_else(|| short.chars().take(width).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_never_passes_the_width() {
        let view = Progress {
            phase: "open load".into(),
            point: "20,000 IOPS, Poisson".into(),
            rate: 19_981.3,
            unit: "IOPS",
            p99: Some(Span::from_micros(842)),
            done: 0.42,
            left: Span::from_secs(125),
        };
        let full = progress_line(&view, 120);
        assert_eq!(
            full,
            "[########............]   42 %  open load  20,000 IOPS, Poisson  20,000 IOPS  p99 842 us  2:05 left"
        );
        for width in [0, 1, 20, 40, 60, 80, 100] {
            assert!(progress_line(&view, width).chars().count() <= width);
        }
    }

    #[test]
    fn odd_shares_do_no_harm() {
        for done in [f64::NAN, -1.0, 7.0] {
            let view = Progress {
                phase: "".into(),
                point: String::new(),
                rate: f64::NAN,
                unit: "IOPS",
                p99: None,
                done,
                left: Span::MAX,
            };
            assert!(!progress_line(&view, 80).is_empty());
        }
    }
}
