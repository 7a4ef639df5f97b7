//! Lines with emphasis, and their output with escape sequences or as ASCII.

use super::width::{columns, is_wide, pad_end, split_at_columns, split_word};
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

/// Lines with a hanging name before the first, or on a line of its own if it is too wide.
pub(super) fn hanging(word: &str, tone: Tone, lines: Vec<String>) -> impl Iterator<Item = PaintedLine> {
    let mut lines = lines.into_iter();
    let beside = if columns(word) < INDENT { lines.next() } else { None };
    let first = PaintedLine::led(pad_end(word, INDENT), tone, beside.unwrap_or_default());
    std::iter::once(first).chain(lines.map(|line| PaintedLine::plain(format!("{:INDENT$}{line}", ""))))
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

/// The lines of a text of at most `width` columns; prices, and in Japanese numbers with their units, stay on a line, and
/// longer words are split.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in join_units(text) {
        for (index, mut piece) in split_word(&word).into_iter().enumerate() {
            let space = if index == 0 && !line.is_empty() { " " } else { "" };
            if !line.is_empty() && columns(&line) + space.len() + columns(piece) > width {
                lines.push(std::mem::take(&mut line));
            } else {
                line.push_str(space);
            }
            while columns(piece) > width {
                let (head, _) = split_at_columns(piece, width + 1);
                let end = head.rfind(' ').unwrap_or_else(|| split_at_columns(piece, width).0.len());
                lines.push(piece[..end].to_owned());
                piece = piece[end..].trim_start();
            }
            line.push_str(piece);
        }
    }
    lines.push(line);
    lines
}

/// The words of a text; an amount, its currency and `a month` are a single one, as are a number and its unit in Japanese,
/// whose lines have many other places to break.
fn join_units(text: &str) -> Vec<String> {
    let is_japanese = text.contains(is_wide);
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(last) if continues_price(last, word) || (is_japanese && ends_with_number(last)) => {
                last.extend([" ", word]);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// True if a number is at the end of a text without spaces in Japanese, such as `最大3,000`, and not part of a name.
fn ends_with_number(text: &str) -> bool {
    let start = text.rfind(|c: char| is_wide(c) || c.is_whitespace() || c == '(').map_or(text, |at| &text[at..]);
    let number =
        start.trim_start_matches(|c: char| is_wide(c) || c.is_whitespace() || matches!(c, '(' | '-' | '+' | '±'));
    number.ends_with(|c: char| c.is_ascii_digit())
        && number.starts_with(|c: char| c.is_ascii_digit())
        && number.chars().all(|c| matches!(c, '0'..='9' | ',' | '.'))
}

fn continues_price(price: &str, word: &str) -> bool {
    let is_amount = |text: &str| {
        let digits = text.trim_start_matches(['(', '-']);
        digits.starts_with(|c: char| c.is_ascii_digit()) && digits.chars().all(|c| matches!(c, '0'..='9' | ',' | '.'))
    };
    let is_currency = |text: &str| text.len() == 3 && text.chars().all(|c| c.is_ascii_uppercase());
    let mut parts = price.split(' ');
    let parts = (parts.next().is_some_and(is_amount), parts.next(), parts.next());
    match parts {
        (true, None, _) => is_currency(word.trim_end_matches(|c: char| c.is_ascii_punctuation())),
        (true, Some(currency), None) => is_currency(currency) && word == "a",
        (true, Some(_), Some("a")) => word.starts_with("month"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_wrap_and_long_ones_are_cut() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap("負荷の上限は 8 KiB", 8), ["負荷の上", "限は", "8 KiB"]);
        assert_eq!(wrap("p99 の値（最大 3,000 件）", 16), ["p99 の値（最大", "3,000 件）"]);
        assert_eq!(wrap("約 99.99 %、2026 年", 10), ["約", "99.99 %、", "2026 年"]);
        assert_eq!(wrap("ストレージ", 4), ["スト", "レー", "ジ"], "a word that is too long for its column");
    }

    #[test]
    fn prices_stay_on_a_line_that_has_room_for_them() {
        let text = "a volume for 279.81 USD a month, or 5 JPY.";
        assert_eq!(wrap(text, 26), ["a volume for", "279.81 USD a month, or", "5 JPY."]);
        assert_eq!(wrap(text, 12), ["a volume for", "279.81 USD a", "month, or", "5 JPY."]);
        assert_eq!(wrap("reads 8,240 IOPS", 11), ["reads 8,240", "IOPS"], "other units wrap");
    }

    #[test]
    fn ascii_keeps_columns() {
        let text = "±1 % ⣿ ● │";
        assert_eq!(ascii(text).chars().count(), text.chars().count());
        assert!(ascii(text).is_ascii());
    }
}
