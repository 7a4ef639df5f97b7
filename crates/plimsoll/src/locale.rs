//! The language of results and messages: that of `--lang` or the configuration file, otherwise that of the locale.

use std::ffi::OsString;

use clap::ValueEnum;
use plimsoll_language::{Language, label};

use crate::args::LanguageWord;

/// Environment variables of the language of messages, by precedence (POSIX).
const VARIABLES: [&str; 3] = ["LC_ALL", "LC_MESSAGES", "LANG"];

/// The variable that decides the language, and its value.
fn read_locale() -> Option<(&'static str, String)> {
    let read = |name: &'static str| Some((name, std::env::var(name).ok().filter(|value| !value.is_empty())?));
    VARIABLES.into_iter().find_map(read)
}

/// The language of `--lang` in arguments that are not parsed yet, or its default in the configuration file.
pub fn find_choice(command: &clap::Command, arguments: impl Iterator<Item = OsString>) -> Option<LanguageWord> {
    let words = arguments.map(|word| word.to_string_lossy().into_owned()).take_while(|word| word != "--");
    let words: Vec<String> = words.collect();
    let by_space = words.windows(2).find(|pair| pair[0] == "--lang").map(|pair| pair[1].as_str());
    let given = by_space.or_else(|| words.iter().find_map(|word| word.strip_prefix("--lang=")));
    let option = command.get_arguments().find(|argument| argument.get_long() == Some("lang"));
    let default = option.and_then(|option| option.get_default_values().first()?.to_str());
    LanguageWord::from_str(given.or(default)?, false).ok()
}

pub fn set_language(chosen: Option<LanguageWord>) {
    let of_word = |word| match word {
        LanguageWord::En => Language::English,
        LanguageWord::Ja => Language::Japanese,
    };
    let of_locale = || read_locale().map_or(Language::English, |(_, locale)| Language::of_locale(&locale));
    chosen.map_or_else(of_locale, of_word).set_default();
}

/// The origin of the language: `LANG=ja_JP.UTF-8`.
pub fn describe_origin(chosen: Option<LanguageWord>) -> String {
    match (chosen, read_locale()) {
        (Some(_), _) => label!("--lang or the configuration file").to_owned(),
        (None, Some((name, locale))) => format!("{name}={locale}"),
        (None, None) => label!("no locale in the environment").to_owned(),
    }
}
