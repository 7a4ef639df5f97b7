//! Presets of loads, and the user's configuration.

use super::each;
use crate::pages::{PresetEntry, Settings};

view! {
    /// Presets of loads.
    struct Presets from presets: &[PresetEntry] {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.presets/1"))]
        format: &'static str = "plimsoll.presets/1",
        /// The presets.
        presets: Vec<PresetResult> = each(presets),
    }

    /// A preset.
    struct PresetResult from preset: &PresetEntry {
        /// Name for `--preset`.
        name: &'static str = preset.name,
        /// Description in a sentence.
        about: String = preset.about.clone(),
        /// Its file, as a template: TOML.
        file: &'static str = preset.file,
    }

    /// The user's configuration.
    struct Configuration from settings: &Settings {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.config/1"))]
        format: &'static str = "plimsoll.config/1",
        /// Path of the configuration file; null without a home directory.
        path: Option<String> = settings.path.clone(),
        /// Text of the file: TOML; null if there is no file.
        file: Option<String> = settings.file.clone(),
        /// Tag of the language of results.
        language: &'static str = settings.language,
        /// Origin of the language: an option, the configuration file or a variable of the environment.
        language_origin: String = settings.language_origin.clone(),
    }
}
