//! Pages in Japanese.

use plimsoll_language::Language;
use plimsoll_report::{TextStyle, diagnoses_json, page_html, page_text};
use unicode_width::UnicodeWidthStr;

use super::diagnosis::{diagnose_outcomes, diagnoses, read_outcomes};
use super::support::{build_curve, page};

/// Lines with four successive words of English, except commands. Names of wait events count, as they look the same.
fn find_english(text: &str) -> Vec<&str> {
    let is_word = |word: &&str| word.len() > 1 && word.chars().all(|letter| letter.is_ascii_lowercase());
    let is_english = |line: &&str| {
        let words: Vec<&str> = line.split([' ', ',']).collect();
        words.windows(4).any(|words| words.iter().all(is_word)) && !line.contains("plimsoll ")
    };
    text.lines().filter(is_english).collect()
}

#[test]
fn pages_in_japanese_fit_the_width_and_have_no_more_english() {
    let style = TextStyle::default();
    let texts = Language::Japanese.scope(|| {
        let outcomes = read_outcomes();
        [
            (page_text(&page(&[&build_curve()]), &style), 5),
            (diagnoses(&outcomes, &diagnose_outcomes(&outcomes), &style), 6),
        ]
    });
    // The numbers may only shrink: texts of crates below, and texts without a translation.
    for (text, max_english) in texts {
        let english = find_english(&text);
        assert!(english.len() <= max_english, "{} lines are English:\n{}", english.len(), english.join("\n"));
        let wide: Vec<&str> = text.lines().filter(|line| line.width() > 80 && !line.contains("plimsoll ")).collect();
        assert!(wide.is_empty(), "wider than 80 columns:\n{}", wide.join("\n"));
    }
}

/// Results have kinds of operations in English.
#[test]
fn kinds_of_operations_are_japanese() {
    let text = Language::Japanese.scope(|| page_text(&page(&[&build_curve()]), &TextStyle::default()));
    let table =
        text.lines().skip_while(|line| !line.starts_with("ストリームと種類別")).take_while(|line| !line.is_empty());
    let words: Vec<&str> = table.flat_map(str::split_whitespace).collect();
    assert!(words.contains(&"読み取り"), "{text}");
    let is_english = |word: &&&str| ["read", "write", "durable", "flush"].contains(*word);
    assert_eq!(words.iter().find(is_english), None, "{text}");
}

#[test]
fn html_has_the_language_of_its_texts() {
    let html = |language: Language| language.scope(|| page_html(&page(&[&build_curve()])));
    let (english, japanese) = (html(Language::English), html(Language::Japanese));
    assert!(english.contains("<html lang=\"en\">") && english.contains("Load line: "), "{english}");
    assert!(japanese.contains("<html lang=\"ja\">") && japanese.contains("負荷上限: "), "{japanese}");
}

#[test]
fn json_is_the_same_in_all_languages() {
    let outcomes = read_outcomes();
    let json = || diagnoses_json(&outcomes, &diagnose_outcomes(&outcomes));
    assert_eq!(String::from_utf8(Language::Japanese.scope(json)), String::from_utf8(Language::English.scope(json)));
}
