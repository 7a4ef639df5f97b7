//! Helpers of tests of formats: figures of a text, as lines.

use plimsoll_ingest::{FormatInput, Ingest, Outcome, Reading, join};

/// Reads a text in pieces of `step` bytes.
pub fn outcome(input: impl Into<FormatInput>, text: &[u8], step: usize) -> Outcome {
    let mut ingest = Ingest::new(input);
    for piece in text.chunks(step) {
        ingest.feed(piece);
    }
    ingest.finish().remove(0)
}

pub fn reading(text: &str) -> Reading {
    reading_as("test", text)
}

pub fn reading_as(input: impl Into<FormatInput>, text: &str) -> Reading {
    match outcome(input, text.as_bytes(), 4096) {
        Outcome::Read(reading) => *reading,
        Outcome::Refused { refusal, .. } => panic!("{refusal}\n{text}"),
    }
}

/// Message of a text's refusal, a single line.
pub fn refusal(text: &str) -> String {
    match outcome("test", text.as_bytes(), 4096) {
        Outcome::Read(_) => panic!("it was read:\n{text}"),
        Outcome::Refused { refusal, .. } => refusal.to_string(),
    }
}

/// Figures of the whole as `class measure value`, without those of parts, in the order of the input; windows after the
/// first are numbered.
pub fn figures(reading: &Reading) -> Vec<String> {
    let total = reading.figures.iter().filter(|figure| reading.scopes[figure.scope as usize].part.is_empty());
    let line = |figure: &plimsoll_ingest::Figure| {
        let window = if figure.window == 0 { String::new() } else { format!(" in {}", figure.window) };
        let value = (figure.value * 1e6).round() / 1e6;
        format!("{} {:?} {value}{window}", figure.class.name(), figure.measure)
    };
    total.map(line).collect()
}

/// Checks that a text has exactly these figures, for all piece sizes.
pub fn check(text: &str, expected: &[&str]) -> Reading {
    let read = reading(text);
    assert_eq!(figures(&read), expected, "{text}");
    cut_anywhere(text);
    read
}

pub fn cut_anywhere(text: &str) {
    let total = outcome("test", text.as_bytes(), text.len().max(1));
    for step in [1, 2, 3, 7, 64, 1000] {
        assert_eq!(outcome("test", text.as_bytes(), step), total, "cut into pieces of {step}");
    }
}

/// Reads a text with a changed byte and cut at a byte: it has an outcome.
pub fn changed(text: &str, at: usize, byte: u8, cut: usize) {
    let mut bytes = text.as_bytes().to_vec();
    let at = at % bytes.len();
    bytes[at] = byte;
    bytes.truncate(cut % (bytes.len() + 1) + 1);
    match std::str::from_utf8(&bytes) {
        Ok(text) => cut_anywhere(text),
        Err(_) => drop(outcome("test", &bytes, 64)),
    }
}

/// Reads several texts and joins their snapshots.
pub fn joined(texts: &[&str]) -> Vec<Reading> {
    join(texts.iter().map(|text| reading(text)).collect())
}

pub fn cautions(reading: &Reading) -> String {
    let texts: Vec<String> = reading.cautions.iter().map(|caution| caution.doubt.to_string()).collect();
    texts.join("\n")
}
