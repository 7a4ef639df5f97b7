//! Grounds to try recipes on: models in virtual time, and a directory that is removed afterwards.

use std::path::{Path, PathBuf};

use plimsoll_drive::Onward;
use plimsoll_ingest::{Evidence, Ingest};
use plimsoll_model::parse;
use plimsoll_record::{Slice, Source, Subject};
use plimsoll_suite::{Disk, DiskPlace, Done, Facts, Ground, Model, Nature, Recipe, Step, Watch, perform};
use plimsoll_units::Bytes;

/// Nobody looks on.
pub struct Nobody;

impl Watch for Nobody {
    fn begins(&mut self, _step: &Step, _place: usize, _expected: usize) {}

    fn looks(&mut self, _step: &Step, _series: &[Slice]) -> Onward {
        Onward::Continue(())
    }
}

/// What is known of a ground of this nature.
pub fn facts(nature: Nature, space: Bytes) -> Facts {
    let (source, kind) = match nature {
        Nature::Model => (Source::Simulated { model: "trial".into() }, "model"),
        _ => (Source::Measured { engine: "io_uring".into() }, "directory"),
    };
    Facts {
        source,
        subject: Subject { name: "trial".into(), kind: kind.into(), size: space, device: None },
        host: None,
        space,
        grid: 512,
        nature,
        read_only: false,
        stages: Vec::new(),
    }
}

/// A model, in the notation of models, with this space.
pub fn model(stages: &str, space: Bytes) -> Model {
    Model::new(&parse(stages).expect("the stages are a model"), 1, facts(Nature::Model, space))
}

/// A new directory that is removed with all that is in it.
pub struct Place(PathBuf);

impl Place {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("plimsoll-suite-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory can be made");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn ground(&self) -> Disk {
        let place = DiskPlace::Directory(self.path().to_owned());
        Disk::new(place, facts(Nature::Directory, Bytes::gib(1)), Vec::new())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).expect("a directory of our own can be removed");
    }
}

/// Makes all steps of a recipe.
pub fn made(recipe: &mut dyn Recipe, ground: &mut dyn Ground) -> Vec<Done> {
    let outcome = perform(recipe, ground, &mut Nobody).expect("its files fit");
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    outcome.done
}

/// What a listing says when it is read back, and as which kind.
pub fn read_back(name: &str, text: &str) -> (&'static str, Vec<Evidence>) {
    let mut ingest = Ingest::new(name);
    ingest.feed(text.as_bytes());
    let outcome = ingest.finish().remove(0);
    let reading = outcome.reading().unwrap_or_else(|| panic!("{name} is not read:\n{text}"));
    (outcome.kind().expect("it was read").id, reading.evidence.clone())
}
