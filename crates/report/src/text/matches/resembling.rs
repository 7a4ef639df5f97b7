//! What the measured storage most resembles.

use plimsoll_choose::Resemblance;

use crate::number;
use crate::text::TextStyle;
use crate::text::paint::{Line, Tone, wrap};
use crate::words::clean;

/// A line each, with the depths that were compared.
pub(super) fn lines(near: &[Resemblance], style: &TextStyle) -> Vec<Line> {
    if near.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![Line::of("What was measured most resembles", Tone::Strong)];
    for one in near {
        let text = format!("{}, {}: {}", clean(&one.config.to_string()), factor(one.factor), points(one));
        let hanging = wrap(&text, style.width - 2).into_iter().enumerate();
        lines.extend(hanging.map(|(index, line)| Line::plain(format!("{}{line}", if index == 0 { "" } else { "  " }))));
    }
    lines
}

/// The nearest in one sentence.
pub(super) fn sentence(nearest: &Resemblance) -> String {
    format!("most like {} ({})", clean(&nearest.config.to_string()), factor(nearest.factor))
}

/// A factor that is no better than half or twice says that nothing is alike.
fn factor(factor: f64) -> String {
    let far = if factor > 2.0 { ", which is far" } else { "" };
    format!("within a factor of {factor:.2}{far}")
}

/// `depth 1 9,800 of 10,200 IOPS, ...`: measured of simulated.
fn points(one: &Resemblance) -> String {
    let point = |(depth, measured, simulated): &(u32, f64, f64)| {
        format!("{depth}: {} / {}", number::three(*measured), number::three(*simulated))
    };
    let points: Vec<String> = one.points.iter().map(point).collect();
    format!("IOPS measured / modelled at depth {}", points.join(", "))
}
