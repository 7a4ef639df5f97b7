//! Languages of texts, and the macros that write texts in the language of the reader. Numbers, units and names of products
//! are the same in all languages.
//!
//! The language belongs to the thread that renders a result, or else to the process: an argument would have to pass through
//! every function with a text.
#![deny(missing_docs)]

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

pub use plimsoll_say::{label, say, say_errors, static_text, translations};

/// A language of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Japanese.
    Japanese,
}

/// True if the language of the process is Japanese.
static IS_JAPANESE: AtomicBool = AtomicBool::new(false);

thread_local! {
    static SCOPE: Cell<Option<Language>> = const { Cell::new(None) };
}

/// Puts the language of the thread back at the end of a scope, also after a panic.
struct Restore(Option<Language>);

impl Drop for Restore {
    fn drop(&mut self) {
        SCOPE.set(self.0);
    }
}

impl Language {
    /// The language of texts: that of the thread's scope, otherwise that of the process.
    pub fn current() -> Self {
        let process = || if IS_JAPANESE.load(Ordering::Relaxed) { Self::Japanese } else { Self::English };
        SCOPE.get().unwrap_or_else(process)
    }

    /// Sets the language of the process.
    pub fn set_default(self) {
        IS_JAPANESE.store(self == Self::Japanese, Ordering::Relaxed);
    }

    /// Runs a function whose texts are in this language. Threads that it starts have the language of the process.
    pub fn scope<T>(self, run: impl FnOnce() -> T) -> T {
        let _restore = Restore(SCOPE.replace(Some(self)));
        run()
    }

    /// The language that the user chose, or that the browser prefers in `Accept-Language`; otherwise English.
    pub fn of(chosen: Option<&str>, accepted: Option<&str>) -> Self {
        match chosen {
            Some("ja") => Self::Japanese,
            Some(_) => Self::English,
            None => accepted.map_or(Self::English, Self::preferred),
        }
    }

    /// The language of a locale of POSIX, such as `ja_JP.UTF-8`; English for other languages, and for other character sets.
    pub fn of_locale(locale: &str) -> Self {
        let (place, charset) = locale.split_once('.').unwrap_or((locale, "UTF-8"));
        let is_japanese = place.split(['_', '@']).next() == Some("ja");
        let is_unicode = charset.to_ascii_lowercase().replace('-', "").starts_with("utf8");
        if is_japanese && is_unicode { Self::Japanese } else { Self::English }
    }

    /// The language of highest quality in a list of ranges (RFC 9110, section 12.5.4), the first of equals.
    fn preferred(ranges: &str) -> Self {
        let quality = |range: &str| {
            let (tag, parameter) = range.split_once(';').unwrap_or((range, ""));
            let quality =
                parameter.trim().strip_prefix("q=").map_or(Some(1.0), |text| text.trim().parse::<f64>().ok())?;
            let language = match tag.trim().split('-').next()?.to_ascii_lowercase().as_str() {
                "ja" => Self::Japanese,
                "en" | "*" => Self::English,
                _ => return None,
            };
            (quality > 0.0).then_some((language, quality))
        };
        let best = ranges.split(',').filter_map(quality).reduce(|a, b| if b.1 > a.1 { b } else { a });
        best.map_or(Self::English, |(language, _)| language)
    }

    /// Tag of BCP 47.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Japanese => "ja",
        }
    }
}

/// A constant text of a table, as `static_text!` makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticText {
    english: &'static str,
    japanese: &'static str,
}

impl StaticText {
    #[doc(hidden)]
    pub const fn new(english: &'static str, japanese: &'static str) -> Self {
        Self { english, japanese }
    }

    /// The text in the language of the reader.
    pub fn get(self) -> &'static str {
        match Language::current() {
            Language::English => self.english,
            Language::Japanese => self.japanese,
        }
    }
}

impl fmt::Display for StaticText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.get())
    }
}

/// A text of data in the language of the reader, by a table of `translations!`; English if the table does not have it.
pub fn translate<'a>(japanese: &[(&'static str, &'static str)], english: &'a str) -> &'a str {
    match Language::current() {
        Language::English => english,
        Language::Japanese => {
            japanese.binary_search_by(|(text, _)| (*text).cmp(english)).map_or(english, |at| japanese[at].1)
        }
    }
}

/// Sentences one after the other; Japanese has no space between them.
pub fn join_sentences<S: AsRef<str>>(sentences: impl IntoIterator<Item = S>) -> String {
    let mut text = String::new();
    for sentence in sentences {
        let sentence = sentence.as_ref();
        let is_apart = !text.is_empty() && !sentence.is_empty() && !text.ends_with(['。', '」']);
        text.extend(is_apart.then_some(' '));
        text.push_str(sentence);
    }
    text
}

/// The text of a `label!`. Not `const`, as the language is a variable.
#[doc(hidden)]
pub fn literal(text: &'static str) -> &'static str {
    text
}

/// Replaces the marks around the values of a translation: Japanese has spaces only between its letters and those of other
/// scripts, and a sentence has a single full stop.
#[doc(hidden)]
pub fn space_values(marked: &str) -> String {
    let mut text = String::with_capacity(marked.len());
    let mut gap = None;
    for letter in marked.chars() {
        if matches!(letter, '\u{fdd0}' | '\u{fdd1}') {
            gap = gap.max(Some(letter));
            continue;
        }
        let before = text.chars().next_back();
        let scripts = before.map(|before| (Script::of(before), Script::of(letter)));
        match (gap.take(), scripts) {
            (Some('\u{fdd0}'), Some((Script::Latin, Script::Japanese) | (Script::Japanese, Script::Latin))) => {
                text.push(' ');
            }
            (Some('\u{fdd1}'), scripts) if scripts != Some((Script::Japanese, Script::Japanese)) => text.push(' '),
            (Some('\u{fdd0}'), _) if before == Some('。') && letter == '。' => continue,
            _ => {}
        }
        text.push(letter);
    }
    text.extend((gap == Some('\u{fdd1}')).then_some(' '));
    text
}

#[derive(Clone, Copy, PartialEq)]
enum Script {
    /// Kana and kanji.
    Japanese,
    /// Punctuation, and white space.
    Space,
    Latin,
}

impl Script {
    const fn of(letter: char) -> Self {
        match letter {
            '々' | 'ぁ'..='ゟ' | 'ァ'..='ヺ' | 'ー' | '㐀'..='鿿' => Self::Japanese,
            '\u{3000}'..='〿' | '・' | '\u{ff00}'..='\u{ffef}' | ':' | ';' | ',' | '.' | ')' => Self::Space,
            _ if letter.is_whitespace() => Self::Space,
            _ => Self::Latin,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferred_language_is_chosen() {
        let of = |text: &str| Language::of(None, Some(text)).tag();
        for text in ["ja", "ja-JP,ja;q=0.9,en;q=0.8", "fr, ja;q=0.7, en;q=0.3", "en;q=0.1,ja"] {
            assert_eq!(of(text), "ja", "{text}");
        }
        for text in ["en-US,en;q=0.9,ja;q=0.8", "fr", "", "ja;q=0", "ja;q=x", "*, ja;q=0.5"] {
            assert_eq!(of(text), "en", "{text}");
        }
        assert_eq!(Language::of(Some("en"), Some("ja")), Language::English, "the user chose it");
        assert_eq!(Language::of(None, None), Language::English);
    }

    #[test]
    fn locales_of_japan_are_japanese() {
        for (locale, tag) in
            [("ja_JP.UTF-8", "ja"), ("ja", "ja"), ("ja_JP.eucJP", "en"), ("C.UTF-8", "en"), ("jam", "en")]
        {
            assert_eq!(Language::of_locale(locale).tag(), tag, "{locale}");
        }
    }

    #[test]
    fn japanese_sentences_have_no_space_between_them() {
        assert_eq!(join_sentences(["Reads wait.", "", "Check them."]), "Reads wait. Check them.");
        assert_eq!(join_sentences(["読み取りが待つ。", "10 倍速い。"]), "読み取りが待つ。10 倍速い。");
    }

    #[test]
    fn values_are_spaced_by_their_script() {
        for (marked, text) in [
            ("ランダム|読み取り|で|25 IOPS", "ランダム読み取りで 25 IOPS"),
            ("6 日|の平均 7 %|を占める", "6 日の平均 7 % を占める"),
            ("最大は|CPU^処理、ランダム^読み取り^p99", "最大は CPU 処理、ランダム読み取り p99"),
            ("「名前」|の構成（8 件）|は必要。|。", "「名前」の構成（8 件）は必要。"),
            ("/データ 1/x2|は||ない||", "/データ 1/x2 はない"),
            ("|x|は無効|: 整数ではない|", "x は無効: 整数ではない"),
            ("a^", "a "),
        ] {
            assert_eq!(space_values(&marked.replace('|', "\u{fdd0}").replace('^', "\u{fdd1}")), text);
        }
    }

    #[test]
    fn scope_ends_with_its_function() {
        let inner = Language::Japanese.scope(|| (Language::current(), Language::English.scope(Language::current)));
        assert_eq!(inner, (Language::Japanese, Language::English));
        let panicked = std::panic::catch_unwind(|| Language::Japanese.scope(|| panic!("in the scope")));
        assert!(panicked.is_err());
        assert_eq!(Language::current(), Language::English);
    }
}
