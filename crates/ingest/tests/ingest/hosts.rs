//! iostat, sar, sadf and vmstat: small inputs in the formats of these programs, with invented names.

mod coarse;
mod iostat;
mod laws;
mod samples;
mod sar;
mod vmstat;

use plimsoll_ingest::{Fate, FormatInput, Measure, Outcome, Statistic};

pub use crate::read::{outcome, reading};

/// Describes an outcome in full, an item per line.
pub fn describe(outcome: &Outcome) -> String {
    let reading = match outcome {
        Outcome::Read(reading) => reading,
        Outcome::Refused { refusal, .. } => return format!("refused: {refusal}\n"),
    };
    let mut text = format!("{} {}\n", reading.kind.id, reading.version.as_deref().unwrap_or("-"));
    for figure in &reading.figures {
        let (scope, window) = (&reading.scopes[figure.scope as usize], reading.windows[figure.window as usize]);
        let begin = window.begin.map_or("-".to_owned(), |begin| begin.to_string());
        let highest = if figure.statistic == Statistic::Maximum { " at most" } else { "" };
        let value = match figure.measure {
            Measure::Latency => format!("{} ms", round(figure.value * 1_000.0)),
            _ => round(figure.value),
        };
        text += &format!(
            "{}/{} {begin}+{} {} {:?}{highest} {value} ({})\n",
            scope.host,
            scope.part,
            round(window.length.as_secs_f64()),
            figure.class.name(),
            figure.measure,
            figure.origin,
        );
    }
    for part in reading.parts.iter().filter(|part| part.fate != Fate::Empty) {
        text += &format!("{}: {:?}\n", part.name, part.fate);
    }
    for caution in &reading.cautions {
        let place = caution.origin.as_ref().map_or(String::new(), |origin| format!("{origin}: "));
        text += &format!("! {place}{}\n", caution.doubt);
    }
    text
}

fn round(value: f64) -> String {
    format!("{}", (value * 1e4).round() / 1e4)
}

/// Compares the description of a text's outcome with the expected, ignoring indentation.
pub fn check(input: impl Into<FormatInput>, text: &str, expected: &str) {
    let told = describe(&outcome(input, text.as_bytes(), 4_096));
    let expected: Vec<&str> = expected.lines().skip(1).map(str::trim_start).collect();
    assert_eq!(told.trim_end_matches('\n'), expected.join("\n"), "\n{told}");
}

/// Message of a text's refusal.
pub fn refusal(text: &[u8]) -> String {
    match outcome("test", text, 4_096) {
        Outcome::Refused { refusal, .. } => refusal.to_string(),
        Outcome::Read(reading) => panic!("read as {}", reading.kind),
    }
}
