//! Presets: loads as data. Built-in presets are files in `presets/`; users' files have the same format.

use std::path::Path;

use plimsoll_language::label;
use plimsoll_load::{BlockMix, Mix, Pace, Pattern};
use plimsoll_record::Objective;
use plimsoll_units::Iops;
use serde::Deserialize;

use crate::error::MeasureError;
use crate::invalid::InvalidRequest;
use crate::words::{BlockSizes, PatternWord, Percent};

/// Built-in presets: name and text.
pub const BUILT_IN: [(&str, &str); 6] = [
    ("oltp", include_str!("../presets/oltp.toml")),
    ("redo", include_str!("../presets/redo.toml")),
    ("scan", include_str!("../presets/scan.toml")),
    ("backup", include_str!("../presets/backup.toml")),
    ("etcd", include_str!("../presets/etcd.toml")),
    ("database", include_str!("../presets/database.toml")),
];

/// A load as data.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// Description in a sentence.
    pub about: String,
    /// Fixed queue depths.
    pub depths: Option<Vec<u32>>,
    /// Maximum queue depth.
    pub max_depth: Option<u32>,
    /// Uses the page cache.
    pub buffered: bool,
    /// Default objective.
    pub objective: Option<Objective>,
    /// Streams; the pace of the first is varied.
    pub streams: Vec<Template>,
}

/// A stream before placement.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    pub name: String,
    /// Sizes and kinds.
    pub mix: Mix,
    /// How blocks are visited.
    pub pattern: Pattern,
    /// Its pace; absent for the stream whose pace is varied.
    pub pace: Option<Pace>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PresetFile {
    about: String,
    /// Source of the figures, for readers of the file.
    #[serde(default, rename = "source")]
    _source: Option<String>,
    depths: Option<Vec<u32>>,
    max_depth: Option<u32>,
    #[serde(default)]
    buffered: bool,
    objective: Option<String>,
    stream: Vec<StreamFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamFile {
    name: String,
    block_size: String,
    #[serde(default = "all_reads")]
    reads: f64,
    #[serde(default = "uniform_pattern")]
    pattern: String,
    #[serde(default)]
    durable: bool,
    #[serde(default)]
    flush_every: u32,
    rate: Option<u64>,
    depth: Option<u32>,
}

fn all_reads() -> f64 {
    100.0
}

fn uniform_pattern() -> String {
    "uniform".into()
}

impl Preset {
    /// A built-in preset by name, or the file at that path.
    pub fn find(name: &str) -> Result<Self, MeasureError> {
        if let Some((_, text)) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name) {
            return Self::read(name, text);
        }
        let built_in = BUILT_IN.map(|(built_in, _)| built_in).join(", ");
        if !Path::new(name).is_file() {
            return Err(InvalidRequest::Preset { name: name.to_owned(), built_in }.into());
        }
        let text = std::fs::read_to_string(name).map_err(|error| MeasureError::usage(format!("{name}: {error}")))?;
        Self::read(name, &text)
    }

    fn read(name: &str, text: &str) -> Result<Self, MeasureError> {
        let file: PresetFile = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            MeasureError::usage(format!("{name}, line {line}: {}", error.message()))
        })?;
        let invalid = |key: &str, error: &dyn std::fmt::Display| MeasureError::usage(format!("{name}, {key}: {error}"));
        let objective = file.objective.map(|text| text.parse()).transpose().map_err(|e| invalid("objective", &e))?;
        let streams: Result<Vec<_>, _> =
            file.stream.iter().enumerate().map(|(i, s)| parse_template(name, i, s)).collect();
        let streams = streams?;
        if streams.is_empty() || streams.len() > 16 {
            return Err(invalid("stream", &label!("1 to 16 streams are required")));
        }
        let (about, depths, max_depth, buffered) = (file.about, file.depths, file.max_depth, file.buffered);
        Ok(Self { about, depths, max_depth, buffered, objective, streams })
    }
}

fn parse_template(preset: &str, index: usize, file: &StreamFile) -> Result<Template, MeasureError> {
    let invalid = |key: &str, error: &dyn std::fmt::Display| {
        MeasureError::usage(format!("{preset}, stream {:?}, {key}: {error}", file.name))
    };
    let BlockSizes(sizes) = file.block_size.parse().map_err(|error| invalid("block_size", &error))?;
    let Percent(reads) = file.reads.to_string().parse().map_err(|error| invalid("reads", &error))?;
    let PatternWord(pattern) = file.pattern.parse().map_err(|error| invalid("pattern", &error))?;
    let pace = match (index, file.rate, file.depth) {
        (_, Some(_), Some(_)) => return Err(invalid("rate", &InvalidRequest::RateAndDepth)),
        (0, None, None) => None,
        (0, ..) => return Err(invalid("rate", &InvalidRequest::FirstPace)),
        (_, Some(rate), None) if rate > 0 => {
            Some(Pace::Open { rate: Iops::per_second(rate), arrival: plimsoll_load::Arrival::Poisson })
        }
        (_, None, Some(depth)) if depth > 0 => Some(Pace::Closed { depth }),
        _ => return Err(invalid("rate", &InvalidRequest::FurtherPace)),
    };
    let mix = Mix { sizes, reads, durable: file.durable, flush_every: file.flush_every };
    Ok(Template { name: file.name.clone(), mix, pattern, pace })
}

impl Template {
    /// The stream without writes.
    pub fn reading(&self) -> Self {
        let mix = Mix { reads: 1.0, durable: false, flush_every: 0, ..self.mix.clone() };
        Self { mix, ..self.clone() }
    }

    pub const fn sizes(&self) -> &BlockMix {
        &self.mix.sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_presets_are_valid() {
        for (name, text) in BUILT_IN {
            let preset = Preset::read(name, text).unwrap();
            assert!(preset.streams[0].pace.is_none(), "{name}");
        }
    }

    #[test]
    fn errors_of_files_have_line_numbers() {
        let check = |text: &str, expected: &str| {
            let message = Preset::read("mine.toml", text).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        };
        check("about = 'x'\nstreams = 3\n", "mine.toml, line 2: unknown field `streams`");
        let one = |line: &str| format!("about = 'x'\n[[stream]]\nname = 'a'\n{line}\n");
        check(&one("block_size = '8 foo'"), "stream \"a\", block_size");
        check(&one("block_size = '8KiB'\nreads = 120"), "not a percentage");
        check(&one("block_size = '8KiB'\ndepth = 3"), "the pace of the first stream is varied");
    }
}
