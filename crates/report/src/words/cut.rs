//! Truncation of texts.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Truncates a text to `width` columns, after a word if it has several. A number at the end is omitted: its other digits,
/// the end of its range or its unit would be missing.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut columns = 0;
    let mut fits = |letter: char| {
        columns += letter.width().unwrap_or(0);
        columns < width
    };
    let end = text.find(|letter| !fits(letter)).unwrap_or(text.len());
    let (mut head, rest) = text.split_at(end);
    // Between two words, or between characters of a language without spaces.
    let is_break = |letter: char| letter.is_whitespace() || letter.width() == Some(2);
    if !rest.starts_with(is_break) {
        head = head.rsplit_once(char::is_whitespace).map_or(head, |(words, _)| words);
    }
    while let Some((words, last)) = head.trim_end().rsplit_once(char::is_whitespace) {
        if !last.contains(|letter: char| letter.is_ascii_digit()) {
            break;
        }
        head = words;
    }
    let is_in_number = |letter: char| letter.is_ascii_digit() || matches!(letter, ',' | '.');
    format!("{}…", head.trim_end().trim_end_matches(is_in_number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_after_words_and_never_within_numbers() {
        let text = "random reads 1,837 to 10,890 IOPS";
        assert_eq!(cut(text, 33), text);
        for (width, expected) in [(32, "random reads 1,837 to…"), (25, "random reads 1,837 to…"), (18, "random reads…")]
        {
            assert_eq!(cut(text, width), expected, "{width}");
        }
        assert_eq!(
            [cut("12,345,678", 6), cut("awr_10_2.html", 7), cut("saves 12 % of it", 9)],
            ["…", "awr_…", "saves…"]
        );
        for width in 1..40 {
            let short = cut(text, width);
            let numbers = short.trim_end_matches('…').split_whitespace().filter(|word| word.contains(['0', '1', '8']));
            assert!(numbers.into_iter().all(|number| ["1,837", "10,890"].contains(&number)), "{width}: {short}");
            assert!(short.chars().count() <= width, "{width}: {short}");
        }
    }
}
