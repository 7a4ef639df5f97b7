//! Grounds for tests: a single-station model, and a temporary directory.
#![allow(dead_code, reason = "each test uses what it needs")]

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use plimsoll_drive::Onward;
use plimsoll_ingest::{Ingest, Outcome as Reading, ReadingEvidence};
use plimsoll_model::parse;
use plimsoll_record::{Bins, Counter, CpuTime, Slice, Source, Subject, Tally};
use plimsoll_suite::{
    CompletedStep, Disk, DiskPlace, Facts, FilesResult, IoResult, Model, Nature, Recipe, Step, StepResult,
    SuiteObserver, WorkerResult, perform,
};
use plimsoll_units::{Bytes, Instant, Kind, Span};

/// A watch without effect.
pub struct Unseen;

impl SuiteObserver for Unseen {
    fn step_begins(&mut self, _step: &Step, _place: usize, _expected: usize) {}

    fn observe(&mut self, _step: &Step, _series: &[Slice]) -> Onward {
        ControlFlow::Continue(())
    }
}

/// Facts of a ground of this kind and size.
pub fn facts(nature: Nature, space: Bytes) -> Facts {
    let source = match nature {
        Nature::Model => Source::Simulated { model: "a model".into() },
        _ => Source::Measured { engine: "sync".into() },
    };
    let subject = Subject { name: "here".into(), kind: "directory".into(), size: space, device: None };
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

/// All steps of a recipe on a model.
pub fn on_model(
    model: &str,
    recipe: impl FnOnce(&Facts) -> Result<Box<dyn Recipe>, String>,
) -> (Box<dyn Recipe>, Vec<CompletedStep>) {
    let facts = facts(Nature::Model, Bytes::gib(8));
    let mut recipe = recipe(&facts).expect("options that fit");
    let mut ground = Model::new(&parse(model).expect("a model"), 1, facts);
    let outcome = perform(&mut *recipe, &mut ground, &mut Unseen).expect("room for the files");
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    (recipe, outcome.done)
}

/// All steps of a recipe in a temporary directory, which must be empty afterwards.
pub fn on_disk(
    name: &str,
    recipe: impl FnOnce(&Facts) -> Result<Box<dyn Recipe>, String>,
) -> (Box<dyn Recipe>, Vec<CompletedStep>) {
    let directory = Directory::new(name);
    let facts = facts(Nature::Directory, Bytes::gib(1));
    let mut recipe = recipe(&facts).expect("options that fit");
    let mut ground = Disk::new(DiskPlace::Directory(directory.0.clone()), facts, Vec::new());
    let outcome = perform(&mut *recipe, &mut ground, &mut Unseen).expect("room for the files");
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    drop(ground);
    assert_eq!(fs::read_dir(&directory.0).expect("a directory").count(), 0, "something was left behind");
    (recipe, outcome.done)
}

/// A directory for a test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("plimsoll-suite-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Results parsed from a listing.
pub fn read_back(text: &str) -> Vec<ReadingEvidence> {
    let mut ingest = Ingest::new("listing");
    ingest.feed(text.as_bytes());
    match ingest.finish().remove(0) {
        Reading::Read(reading) => reading.evidence,
        Reading::Refused { refusal, .. } => panic!("{refusal}"),
    }
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
    let mut seen = WorkerResult { began: Instant::ZERO, ended: Instant::ZERO + span, ..WorkerResult::default() };
    seen.seen.series = vec![Slice { start: Instant::ZERO, span, tally }];
    seen.cpu = cpu.map(|user| CpuTime { user, system: Span::ZERO });
    seen
}

/// `count` values with this mean and this maximum.
pub fn bins(count: u64, mean: Span, longest: Span) -> Bins {
    let (mean, longest) = (mean.as_nanos(), longest.as_nanos());
    Bins { count, sum_ns: mean * count, min_ns: mean, max_ns: longest, bins: vec![(mean, count)] }
}

/// An executed step of these workers.
pub fn io(step: Step, workers: Vec<WorkerResult>) -> CompletedStep {
    CompletedStep { step, result: StepResult::Io(IoResult { workers, ..IoResult::default() }) }
}

/// An executed step on files.
pub fn files(step: Step, files: u64, span: Span, cpu: Span, longest: Span) -> CompletedStep {
    let cpu = CpuTime { user: cpu, system: Span::ZERO };
    let each = bins(files, span / files.max(1), longest);
    CompletedStep { step, result: StepResult::Files(FilesResult { files, span, each, cpu }) }
}
