//! Lines with emphasis, and their output with escape sequences or as ASCII.

use super::width::{columns, pad_end, split_at_columns, split_word};
use super::{Charset, Color, TextStyle};

/// Emphasis of a line or of its lead. The text carries the same meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Strong,
    Quiet,
    Red,
    Yellow,
    Blue,
}

/// A line: a lead with its own tone, then the rest.
#[derive(Clone, Debug)]
pub(super) struct PaintedLine {
    lead: String,
    lead_tone: Tone,
    rest: String,
    tone: Tone,
}

impl PaintedLine {
    pub fn of(text: impl Into<String>, tone: Tone) -> Self {
        Self { lead: String::new(), lead_tone: Tone::Plain, rest: text.into(), tone }
    }

    pub fn plain(text: impl Into<String>) -> Self {
        Self::of(text, Tone::Plain)
    }

    pub fn led(lead: impl Into<String>, lead_tone: Tone, rest: impl Into<String>) -> Self {
        Self { lead: lead.into(), lead_tone, rest: rest.into(), tone: Tone::Plain }
    }
}

/// Width of the column for hanging names.
pub(super) const INDENT: usize = 9;

/// Lines with a hanging name before the first.
pub(super) fn hanging(word: &str, tone: Tone, lines: Vec<String>) -> impl Iterator<Item = PaintedLine> {
    let word = pad_end(word, INDENT);
    lines.into_iter().enumerate().map(move |(index, line)| {
        if index == 0 {
            PaintedLine::led(word.clone(), tone, line)
        } else {
            PaintedLine::plain(format!("{:INDENT$}{line}", ""))
        }
    })
}

/// Joins the parts with empty lines; parts without lines are omitted.
pub(super) fn finish(parts: &[Vec<PaintedLine>], style: &TextStyle) -> String {
    let mut out = String::new();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        if !out.is_empty() {
            out.push('\n');
        }
        for line in part {
            let total = format!("{}{}", line.lead, line.rest);
            let retained = total.trim_end().len().max(line.lead.len());
            paint(&mut out, &line.lead, line.lead_tone, style);
            paint(&mut out, &total[line.lead.len()..retained], line.tone, style);
            out.push('\n');
        }
    }
    out
}

fn paint(out: &mut String, text: &str, tone: Tone, style: &TextStyle) {
    let code = match tone {
        Tone::Plain => "",
        Tone::Strong => "1",
        Tone::Quiet => "2",
        Tone::Red => "1;31",
        Tone::Yellow => "1;33",
        Tone::Blue => "1;34",
    };
    let text = if style.unicode == Charset::Ascii { ascii(text) } else { text.to_owned() };
    if style.color == Color::Plain || code.is_empty() || text.is_empty() {
        out.push_str(&text);
    } else {
        out.extend(["\u{1b}[", code, "m", &text, "\u{1b}[0m"]);
    }
}

/// Replaces each character by one ASCII character, which preserves columns.
fn ascii(text: &str) -> String {
    let one = |c: char| match c {
        c if c.is_ascii() => c,
        '±' | '…' => '~',
        '–' | '—' | '─' | '┄' => '-',
        '│' | '┤' => '|',
        '└' | '┴' => '+',
        '●' => '*',
        '○' => 'o',
        '▪' => '#',
        '▫' => '.',
        '×' => 'x',
        '⊖' => '@',
        'µ' => 'u',
        _ => '?',
    };
    text.chars().map(one).collect()
}

/// Wraps words at `width` columns; longer words are split.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        for (index, mut piece) in split_word(word).into_iter().enumerate() {
            let space = if index == 0 && !line.is_empty() { " " } else { "" };
            if !line.is_empty() && columns(&line) + space.len() + columns(piece) > width {
                lines.push(std::mem::take(&mut line));
            } else {
                line.push_str(space);
            }
            while columns(piece) > width {
                let (head, rest) = split_at_columns(piece, width);
                lines.push(head.to_owned());
                piece = rest;
            }
            line.push_str(piece);
        }
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_wrap_and_long_ones_are_cut() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap("負荷の上限は 8 KiB", 8), ["負荷の上", "限は 8", "KiB"]);
    }

    #[test]
    fn ascii_keeps_columns() {
        let text = "±1 % ⣿ ● │";
        assert_eq!(ascii(text).chars().count(), text.chars().count());
        assert!(ascii(text).is_ascii());
    }
}
