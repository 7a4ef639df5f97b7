//! Presets of loads.

use plimsoll_language::{label, say};

use crate::page::{Block, Fact, Page, PageSection, Table};

/// A built-in preset.
#[derive(Clone, Debug)]
pub struct PresetEntry {
    pub name: &'static str,
    /// Description in a sentence.
    pub about: String,
    /// Its file: TOML.
    pub file: &'static str,
}

/// Names and descriptions.
pub fn presets(presets: &[PresetEntry]) -> Page {
    let facts = presets.iter().map(|preset| Fact::new(preset.name, preset.about.as_str())).collect();
    let rows = presets.iter().map(|preset| vec![preset.name.to_owned(), preset.about.clone()]);
    let blocks = vec![Block::Facts(facts), Table::data(&["preset", "load"], rows)];
    Page { title: label!("Presets").to_owned(), sections: vec![PageSection::bare("", blocks)], ..Page::default() }
}

/// The file of a preset.
pub fn preset(preset: &PresetEntry) -> Page {
    Page::of_block(say!("Preset {}", preset.name), Block::Listing(preset.file.to_owned()))
}
