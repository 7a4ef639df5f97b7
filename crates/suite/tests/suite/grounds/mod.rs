//! Grounds for tests of recipes: a single-station model in virtual time, a temporary directory, and created databases;
//! and steps that were not executed.
#![allow(clippy::print_stderr)] // a skipped test prints its reason

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use plimsoll_database::{Database as _, FailureKind, Flushes, Make, System};
use plimsoll_drive::Onward;
use plimsoll_ingest::{Ingest, ReadingEvidence};
use plimsoll_model::parse;
use plimsoll_record::{Bins, Counter, CpuTime, EndReason, Slice, Source, Subject, Tally, Verdict};
use plimsoll_suite::{
    CompletedStep, DatabaseGround, Disk, DiskPlace, Facts, FilesResult, Ground, IoResult, IoStep, Model, Nature,
    OptionsError, Recipe, Step, StepResult, SuiteObserver, SuiteOutcome, Work, WorkerResult, perform,
};
use plimsoll_units::{Bytes, Instant, Kind, Span};

/// Sentences of verdicts.
pub fn words(verdicts: &[Verdict]) -> Vec<String> {
    verdicts.iter().map(plimsoll_report::words::verdict).collect()
}

/// Facts of a ground of this kind and size.
pub fn build_facts(nature: Nature, space: Bytes) -> Facts {
    let source = match nature {
        Nature::Model => Source::Simulated { model: "test".into(), credits: None },
        _ => Source::Measured { engine: "sync".into() },
    };
    Facts::new(nature, source, Subject { name: "place".into(), kind: "test".into(), size: space, device: None })
}

pub fn model(notation: &str, space: Bytes) -> Model {
    Model::new(&parse(notation).expect("a notation"), 1, build_facts(Nature::Model, space))
}

/// A directory removed on drop.
pub struct Temporary(pub PathBuf);

impl Temporary {
    pub fn new(name: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("plimsoll-suite-{name}-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).expect("a directory");
        Self(path)
    }

    pub fn ground(&self) -> Disk {
        Disk::new(DiskPlace::Directory(self.0.clone()), build_facts(Nature::Directory, Bytes::gib(1)), Vec::new())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn assert_empty(&self) {
        assert_eq!(std::fs::read_dir(&self.0).expect("a directory").count(), 0, "something was left behind");
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
    assert!(outcome.done.iter().all(|done| done.result.io().is_none_or(|observed| observed.total().errors() == 0)));
    outcome
}

/// All steps of a recipe on a model.
pub fn on_model<R: Recipe>(
    notation: &str,
    recipe: impl FnOnce(&Facts) -> Result<R, OptionsError>,
) -> (R, Vec<CompletedStep>) {
    let mut ground = model(notation, Bytes::gib(8));
    let mut recipe = recipe(ground.facts()).expect("options that fit");
    let done = all(&mut recipe, &mut ground).done;
    (recipe, done)
}

/// All steps of a recipe in a temporary directory, which must be empty afterwards.
pub fn on_disk<R: Recipe>(
    name: &str,
    recipe: impl FnOnce(&Facts) -> Result<R, OptionsError>,
) -> (R, Vec<CompletedStep>) {
    let directory = Temporary::new(name);
    let mut ground = directory.ground();
    let mut recipe = recipe(ground.facts()).expect("options that fit");
    let done = all(&mut recipe, &mut ground).done;
    drop(ground);
    directory.assert_empty();
    (recipe, done)
}

/// A database of this system, dropped before its directory; `None`, with the reason printed, if it is not installed.
pub fn database(system: System, cache: Bytes, flushes: Flushes) -> Option<(DatabaseGround, Temporary)> {
    let directory = Temporary::new(system.name());
    let folder = directory.0.clone();
    let order =
        Make { system, folder, log_folder: None, cache, memory: None, flushes, settings: Vec::new(), sessions: 8 };
    let created = match order.make() {
        Ok(created) => created,
        Err(failure) if matches!(failure.kind, FailureKind::Missing | FailureKind::Unsupported) => {
            eprintln!("skipped: {failure}");
            return None;
        }
        Err(failure) => panic!("{failure}"),
    };
    let source = Source::Measured { engine: system.name().into() };
    let facts = Facts::of_database("a test".into(), source, system, created.about().clone());
    Some((DatabaseGround::new(Box::new(created), facts), directory))
}

/// All steps of a recipe, without execution.
pub fn planned(recipe: &mut dyn Recipe, facts: &Facts) -> Vec<Step> {
    let done = played(recipe, facts, |step| CompletedStep { step, result: StepResult::Paused });
    done.into_iter().map(|done| done.step).collect()
}

/// All steps of a recipe, each with the result of `play`.
pub fn played(
    recipe: &mut dyn Recipe,
    facts: &Facts,
    mut play: impl FnMut(Step) -> CompletedStep,
) -> Vec<CompletedStep> {
    let mut done = Vec::new();
    while let Some(step) = recipe.next(&done, facts) {
        assert!(done.len() < recipe.expected(), "more steps than were expected");
        done.push(play(step));
    }
    done
}

/// The workers of a step on blocks.
pub fn io_step(step: &Step) -> &IoStep {
    let Work::Io(io) = &step.work else { panic!("{} is not of blocks", step.name) };
    io
}

/// Results parsed from a listing, and its detected format.
pub fn read_back(name: &str, text: &str) -> (&'static str, Vec<ReadingEvidence>) {
    let mut ingest = Ingest::new(name);
    ingest.feed(text.as_bytes());
    let outcome = ingest.finish().remove(0);
    let reading = outcome.reading().unwrap_or_else(|| panic!("{name} is not read:\n{text}"));
    (outcome.kind().expect("it was read").id, reading.evidence.clone())
}

/// Operations of a worker: kind, number, bytes each, mean and maximum time.
pub type Ops = (Kind, u64, u64, Span, Span);

/// A worker with this duration, processor time and operations.
pub fn worker(index: u8, span: Span, cpu: Option<Span>, ops: &[Ops]) -> WorkerResult {
    let counter = |&(kind, count, bytes, mean, longest): &Ops| Counter {
        stream: index,
        kind,
        bytes: count * bytes,
        errors: Vec::new(),
        response: bins(count, mean, longest),
        service: None,
    };
    let tally = Tally(ops.iter().map(counter).collect());
    let mut observed = WorkerResult { began: Instant::ZERO, ended: Instant::ZERO + span, ..WorkerResult::default() };
    observed.observed.series = vec![Slice { start: Instant::ZERO, span, tally }];
    observed.cpu = cpu.map(|user| CpuTime { user, system: Span::ZERO });
    observed
}

/// `count` values with this mean and this maximum.
pub fn bins(count: u64, mean: Span, longest: Span) -> Bins {
    let (mean, longest) = (mean.as_nanos(), longest.as_nanos());
    Bins { count, sum_ns: mean * count, min_ns: mean, max_ns: longest, bins: vec![(mean, count)] }
}

/// An executed step of these workers.
pub fn complete_io(step: Step, workers: Vec<WorkerResult>) -> CompletedStep {
    CompletedStep { step, result: StepResult::Io(IoResult { workers, ..IoResult::default() }) }
}

/// An executed step on files.
pub fn files(step: Step, files: u64, span: Span, cpu: Span, longest: Span) -> CompletedStep {
    let cpu = CpuTime { user: cpu, system: Span::ZERO };
    let each = bins(files, span / files.max(1), longest);
    CompletedStep { step, result: StepResult::Files(FilesResult { files, span, each, cpu }) }
}
