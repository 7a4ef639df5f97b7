//! The user's configuration.

use plimsoll_language::{label, say};

use crate::page::{Block, Page, PageSection};

/// The configuration file and the language.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Path of the configuration file and its text; the text is absent if there is no file, the path without a home
    /// directory.
    pub path: Option<String>,
    pub file: Option<String>,
    /// Tag of the language of results, and its origin.
    pub language: &'static str,
    pub language_origin: String,
}

/// The file, and the language with its origin.
pub fn settings(settings: &Settings) -> Page {
    let Settings { path, file, language, language_origin } = settings;
    let place = path.as_deref().unwrap_or_else(|| label!("there is no home directory"));
    let place = if file.is_some() { format!("{place}:") } else { say!("no configuration file: {place}") };
    let lines = place + "\n" + file.as_deref().unwrap_or_default();
    let language = say!("language: {language} ({language_origin})");
    let blocks = vec![Block::Listing(lines), Block::Text(language)];
    Page {
        title: label!("Configuration file").to_owned(),
        sections: vec![PageSection::bare("", blocks)],
        ..Page::default()
    }
}
