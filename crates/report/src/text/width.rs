//! Columns of texts on a terminal, where characters of East Asia have two, and the places where lines may break.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Characters that no line begins with, as they belong to the one before (JIS X 4051).
const NO_START: &str =
    "、。，．,.:;!?）」』】〕〉》)]}%ー・：；！？…‥～々ゝゞヽヾぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ ";
/// Characters that no line ends with.
const NO_END: &str = "（「『【〔〈《([{～ ";

pub(super) fn columns(text: &str) -> usize {
    text.width()
}

/// The text with spaces up to `width` columns, of which characters of East Asia have two.
pub fn pad_end(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// True for a character with two columns, as those of East Asia.
pub(super) fn is_wide(letter: char) -> bool {
    letter.width() == Some(2)
}

/// The parts of a word between which a line may break: words of languages without spaces have several, of which those in
/// katakana are a part each.
pub(super) fn split_word(word: &str) -> Vec<&str> {
    let is_katakana = |letter: char| matches!(letter, 'ァ'..='ヺ' | 'ー');
    let mut pieces = Vec::new();
    let (mut start, mut last) = (0, None);
    for (at, letter) in word.char_indices() {
        let may_break = |last: char| {
            (is_wide(last) || is_wide(letter))
                && !(is_katakana(last) && is_katakana(letter))
                && !NO_START.contains(letter)
                && !NO_END.contains(last)
        };
        if last.is_some_and(may_break) {
            pieces.push(&word[start..at]);
            start = at;
        }
        last = Some(letter);
    }
    pieces.push(&word[start..]);
    pieces
}

/// Columns of the longest part of a text without a break.
pub(super) fn longest_piece(text: &str) -> usize {
    text.split_whitespace().flat_map(split_word).map(columns).max().unwrap_or(0)
}

/// The start of a text that fits `width` columns, at least a character, and the rest.
pub(super) fn split_at_columns(text: &str, width: usize) -> (&str, &str) {
    let mut used = 0;
    let end = text.char_indices().find(|(at, letter)| {
        used += letter.width().unwrap_or(0);
        *at > 0 && used > width
    });
    text.split_at(end.map_or(text.len(), |(at, _)| at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_have_two_columns() {
        assert_eq!([columns("p99"), columns("読み取り"), columns("±1 µs…")], [3, 8, 6]);
        assert_eq!(pad_end("負荷", 6), "負荷  ");
        assert_eq!(split_at_columns("負荷線", 5), ("負荷", "線"));
        assert_eq!(split_at_columns("負荷線", 1), ("負", "荷線"));
        assert_eq!(split_at_columns("abc", 3), ("abc", ""));
    }

    #[test]
    fn lines_break_between_characters_but_not_before_punctuation() {
        assert_eq!(split_word("読取（8KiB）は、速い。"), ["読", "取", "（8KiB）", "は、", "速", "い。"]);
        assert_eq!(split_word("最大スループットは"), ["最", "大", "スループット", "は"]);
        assert_eq!(split_word("12 件、2～3%"), ["12 件、", "2～3%"]);
        assert_eq!(split_word("io_uring"), ["io_uring"]);
        assert_eq!(split_word(""), [""]);
        assert_eq!(longest_piece("上限 aws/gp3:500GiB を超過"), 14);
    }
}
