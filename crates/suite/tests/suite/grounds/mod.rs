//! Grounds for tests of recipes: a single-station model in virtual time, and a temporary directory.
#![allow(dead_code)]

use std::path::{Path, PathBuf};

use plimsoll_drive::Onward;
use plimsoll_ingest::{Ingest, ReadingEvidence};
use plimsoll_model::parse;
use plimsoll_record::{EndReason, Slice, Source, Subject};
use plimsoll_suite::{
    Disk, DiskPlace, Facts, Ground, Model, Nature, Recipe, Step, SuiteObserver, SuiteOutcome, perform,
};
use plimsoll_units::Bytes;

/// Facts of a ground of this kind and size.
pub fn facts(nature: Nature, space: Bytes) -> Facts {
    let source = match nature {
        Nature::Model => Source::Simulated { model: "test".into() },
        _ => Source::Measured { engine: "sync".into() },
    };
    let subject = Subject { name: "place".into(), kind: "test".into(), size: space, device: None };
    Facts {
        source,
        subject,
        host: None,
        space,
        grid: 1,
        nature,
        read_only: false,
        stages: Vec::new(),
        page_cache: None,
        write_back: None,
        database: None,
    }
}

/// A model from its notation.
pub fn model(notation: &str, space: Bytes) -> Model {
    Model::new(&parse(notation).expect("a notation"), 1, facts(Nature::Model, space))
}

/// A directory removed on drop.
pub struct Temporary(pub PathBuf);

impl Temporary {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("plimsoll-suite-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).expect("a directory");
        Self(path)
    }

    pub fn ground(&self) -> Disk {
        Disk::new(DiskPlace::Directory(self.0.clone()), facts(Nature::Directory, Bytes::gib(1)), Vec::new())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A watch without effect.
pub struct Silent;

impl SuiteObserver for Silent {
    fn step_begins(&mut self, _step: &Step, place: usize, expected: usize) {
        assert!(place < expected, "more steps than were expected");
    }

    fn observe(&mut self, _step: &Step, _series: &[Slice]) -> Onward {
        Onward::Continue(())
    }
}

/// Runs a recipe to its end.
pub fn all(recipe: &mut dyn Recipe, ground: &mut dyn Ground) -> SuiteOutcome {
    let outcome = perform(recipe, ground, &mut Silent).expect("a ground that fits");
    assert_eq!(outcome.ended, EndReason::Complete, "{:?}", outcome.fault);
    assert!(outcome.done.iter().all(|done| done.result.io().is_none_or(|seen| seen.total().errors() == 0)));
    outcome
}

/// Results parsed from a listing, and its detected format.
pub fn read_back(name: &str, text: &str) -> (&'static str, Vec<ReadingEvidence>) {
    let mut ingest = Ingest::new(name);
    ingest.feed(text.as_bytes());
    let outcome = ingest.finish().remove(0);
    let reading = outcome.reading().unwrap_or_else(|| panic!("{name} is not read:\n{text}"));
    (outcome.kind().expect("it was read").id, reading.evidence.clone())
}
