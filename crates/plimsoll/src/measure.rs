//! `plimsoll measure`: measures the curve of a path or export.

mod against;
mod export;
mod fio;
mod work;

use std::fmt::Display;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use plimsoll_catalogue::{Catalogue, Like};
use plimsoll_device::nbd::ExportAddress;
use plimsoll_device::{
    AccessMode, Activity, ActivityDelta, ActivityWatch, Caching, Claim, Clock, Direct, Engine, Opened, Subject,
    SubjectKind, claim, classify, describe_disk, describe_host, processor_limit,
};
use plimsoll_load::{Region, StreamSpec};
use plimsoll_measure::backend::fio::Fio;
use plimsoll_measure::checks::{self, Evidence};
use plimsoll_measure::{AccessPath, Grid, MeasurePlan, Storage, SweepResult, probe, sweep};
use plimsoll_record::{Conditions, Curve, EndReason, FORMAT, Finding, Objective, Source};
use plimsoll_units::{Bytes, Span};

use crate::args::{EngineWord, MeasureCommand};
use crate::cli_error::CliError;
use crate::console::Console;
use crate::output::{Outputs, finish, judge};
use crate::store;

use work::MeasuredLoad;

/// Space left free on the filesystem of a scratch file.
const SPARE: Bytes = Bytes::mib(256);
/// Minimum size of a scratch file.
const LEAST_FILE: Bytes = Bytes::mib(16);

/// Measures the path or export.
pub fn run(args: &MeasureCommand) -> Result<(), CliError> {
    let work = MeasuredLoad::new(args)?;
    let outputs = Outputs::new(&args.output)?;
    fio::meant_for_fio(args)?;
    if let Some(path) = args.against.as_ref().or((!args.ab.is_empty()).then_some(&args.path)) {
        return against::run(args, path, &outputs);
    }
    let work = match work {
        MeasuredLoad::Generated(plan) if !args.target.hosts.is_empty() => {
            return fio::run_on_hosts(args, *plan, &outputs);
        }
        work => work,
    };
    if let Some(uri) = args.path.to_str().filter(|text| ExportAddress::is_meant(text)) {
        return export::run(args, work, uri, &outputs);
    }
    check_target(args, &outputs)?;
    let mut console = Console::new(args.output.quiet).map_err(|error| CliError::Failed(error.into()))?;
    let (curve, remembered) = measured(args, work, &mut console)?;
    finish(curve, remembered, &outputs)
}

/// Refuses outputs over the target, and other targets.
fn check_target(args: &MeasureCommand, outputs: &Outputs) -> Result<(), CliError> {
    classify(&args.path).map_err(|unusable| no_path(&args.path, &unusable))?;
    outputs.spare(&args.path)?;
    only_this(args)
}

/// Measures a directory, file or device. Returns the curve, and the objective of an earlier run if it has that.
fn measured(
    args: &MeasureCommand,
    work: MeasuredLoad,
    console: &mut Console,
) -> Result<(Curve, Option<Objective>), CliError> {
    let subject = classify(&args.path).map_err(|unusable| no_path(&args.path, &unusable))?;
    let mut prepared = Site::prepare(args, work, subject)?;
    let streams = prepared.work.place(args, prepared.size, prepared.grid())?;
    let remembered = prepared.work.remember_objective(&prepared.kept_subject().name, &streams);
    let mut curve = prepared.measure(args, console)?;
    forget(&mut curve, remembered);
    Ok((curve, remembered))
}

/// Measures with the refusals of the command, judges and keeps. Returns the file of the run.
pub fn kept(args: &MeasureCommand, command: Vec<String>, console: &mut Console) -> Result<PathBuf, CliError> {
    let work = MeasuredLoad::new(args)?;
    let uri = args.path.to_str().filter(|text| ExportAddress::is_meant(text));
    let (mut curve, remembered) = if let Some(uri) = uri {
        (export::measured(args, work, uri, console)?, None)
    } else {
        only_this(args)?;
        measured(args, work, console)?
    };
    curve.command = command;
    judge(&mut curve, remembered);
    Ok(store::keep(&curve)?)
}

/// Clears an objective that was chosen by an earlier run.
fn forget(curve: &mut Curve, remembered: Option<Objective>) {
    if remembered.is_some() {
        curve.conditions.objective = None;
    }
}

/// Error with the command for a model or product instead of a path.
fn no_path(path: &Path, unusable: &dyn Display) -> CliError {
    let is_model = |text: &str| match text.parse::<Like>() {
        Ok(Like::Stages(_)) => true,
        Ok(Like::Config(config)) => Catalogue::built_in().find(&config.volume.product).is_ok(),
        Err(_) => false,
    };
    match path.to_str().filter(|text| !path.exists() && is_model(text)) {
        Some(text) => CliError::usage(format!(
            "{text}: a model, not a path: run plimsoll simulate '{text}', or use a directory, file or block device"
        )),
        None => usage(unusable),
    }
}

/// Fails if `--destroy` names another path.
fn only_this(args: &MeasureCommand) -> Result<(), CliError> {
    match args.target.destroy.iter().find(|named| **named != args.path) {
        None => Ok(()),
        Some(other) => Err(CliError::usage(format!(
            "--destroy {}: only {} is measured: repeat that path exactly, or omit --destroy",
            other.display(),
            args.path.display()
        ))),
    }
}

fn usage(error: impl Display) -> CliError {
    CliError::usage(error.to_string())
}

/// A measurement site: everything that has to be valid before the first operation.
struct Site {
    work: MeasuredLoad,
    subject: Subject,
    /// The open file or device, in addition to the handles of the loops.
    file: OwnedFd,
    engine: Engine,
    storage: Storage,
    /// Replaces the loops, except for filling and probing.
    fio: Option<Fio>,
    caching: Caching,
    size: Bytes,
    findings: Vec<Finding>,
    /// Exclusive access to a device or file that is written.
    claim: Option<Claim>,
}

impl Site {
    fn prepare(args: &MeasureCommand, work: MeasuredLoad, subject: Subject) -> Result<Self, CliError> {
        let mut findings = Vec::new();
        let engine = engine(args.target.engine, &mut findings)?;
        let wanted = if args.target.buffered || work.is_buffered() { Caching::Buffered } else { Caching::Direct };
        let (work, opened, size, claim) = match subject.kind {
            SubjectKind::Directory => {
                if let Some(path) = args.target.destroy.first() {
                    return Err(CliError::usage(format!(
                        "--destroy {}: in a directory plimsoll writes only to a temporary file: omit --destroy",
                        path.display()
                    )));
                }
                let size = scratch_size(args, &work, &subject)?;
                let made = plimsoll_device::scratch(&args.path, size, wanted);
                (work, made.map_err(|error| cannot_make(&args.path, size, &error))?, size, None)
            }
            SubjectKind::File | SubjectKind::BlockDevice => {
                let (work, claim) = permitted(args, work, &mut findings)?;
                let access = if claim.is_some() { AccessMode::Write } else { AccessMode::Read };
                let size = size_of_existing(args, subject.size)?;
                let opened = plimsoll_device::open(&args.path, access, wanted);
                (work, opened.map_err(|error| usage(format!("{}: {error}", args.path.display())))?, size, claim)
            }
        };
        let Opened { file, caching } = opened;
        if let Some(claim) = &claim
            && !claim.covers(&File::from(file.try_clone().map_err(usage)?)).map_err(usage)?
        {
            return Err(CliError::usage(format!(
                "{}: it was replaced during the check: try again",
                args.path.display()
            )));
        }
        if caching != wanted {
            findings.push(Finding::DirectRefused);
        }
        findings.extend(checks::check_placement(&subject));
        let access = AccessPath::File(file.try_clone().map_err(usage)?, engine);
        let storage = Storage { access, threads: args.sweep.threads, compressible: work.compressible() };
        let writable = claim.is_some() || subject.kind == SubjectKind::Directory;
        let fio = fio::wanted(args, work.compressible(), &file, caching, writable)?;
        let prepared = Self { work, subject, file, engine, storage, fio, caching, size, findings, claim };
        prepared.work.place(args, prepared.size, prepared.grid())?;
        Ok(prepared)
    }

    /// Required alignment of operations.
    fn grid(&self) -> Grid {
        let direct = Direct::of(&self.file).unwrap_or(self.subject.direct);
        match (self.caching, direct.alignment()) {
            (Caching::Direct, Some(alignment)) => Grid::Direct(Bytes::new(u64::from(alignment.offset.max(1)))),
            (Caching::Direct, None) => Grid::Direct(Bytes::new(512)),
            (Caching::Buffered, _) => Grid::Any,
        }
    }

    fn measure(&mut self, args: &MeasureCommand, console: &mut Console) -> Result<Curve, CliError> {
        let begun = self.begin(args, console)?;
        let streams = &begun.streams;
        let result = match (&self.work, &mut self.fio) {
            (MeasuredLoad::Generated(plan), Some(fio)) => sweep::run(plan, streams, &[], fio, console),
            (work, _) => work.run(streams, &mut self.storage, console),
        };
        let activity = begun.activity();
        self.end(begun, result, activity)
    }

    /// Probes and fills the storage.
    fn begin(&mut self, args: &MeasureCommand, console: &mut Console) -> Result<Begun, CliError> {
        let started = jiff::Timestamp::now();
        let clock = Clock::start();
        let failed = |fault| CliError::Failed(anyhow::Error::new(fault));
        let (buffered, processor_limit) = (self.caching == Caching::Buffered, processor_limit());
        let mut evidence = Evidence { buffered, processor_limit, ..Evidence::default() };
        if self.fio.is_none() {
            evidence.ceiling = probe::measure_ceiling(self.engine, 64, self.storage.threads);
        }
        let own = self.subject.kind == SubjectKind::Directory;
        if own || self.claim.is_some() {
            // Before filling, which overwrites the zeroes.
            if own && !args.sweep.quick && !evidence.buffered {
                evidence.compression = probe::measure_compression(&mut self.storage, self.size).map_err(failed)?;
            }
            if own {
                self.fill(args, console)?;
            }
            evidence.commit = probe::measure_commit(&mut self.storage, self.size).map_err(failed)?;
        }
        let streams = self.work.place(args, self.size, self.grid())?;
        evidence.data = addressed(&streams);
        let watch = ActivityWatch::new(&self.subject);
        let before = watch.snapshot();
        Ok(Begun { started, clock, evidence, streams, watch, before })
    }

    /// Builds the curve with its findings.
    fn end(&mut self, begun: Begun, result: SweepResult, activity: ActivityDelta) -> Result<Curve, CliError> {
        let Begun { started, clock, mut evidence, streams, .. } = begun;
        evidence.activity = activity;
        evidence.aside = result.aside.clone();
        self.findings.extend(self.work.findings());
        self.findings.extend(self.fio.as_ref().and_then(|fio| fio::differences(fio, &streams, &result.runs)));
        let head = Head {
            started,
            source: Source::Measured { engine: self.fio.as_ref().map_or(self.engine.to_string(), Fio::to_string) },
            subject: self.kept_subject(),
            conditions: self.work.conditions(streams, self.storage.threads, self.caching),
            findings: self.findings.clone(),
        };
        let mut curve = head.curve(result, clock.now().since(plimsoll_units::Instant::ZERO))?;
        curve.findings.extend(checks::check_curve(&curve, &evidence));
        checks::drop_contention_findings(&mut curve);
        Ok(curve)
    }

    /// Fills a scratch file.
    fn fill(&mut self, args: &MeasureCommand, console: &mut Console) -> Result<(), CliError> {
        let most = self.work.filling(args);
        self.size = probe::fill(&mut self.storage, &self.file, self.size, most, console)
            .map_err(|fault| CliError::Failed(anyhow::Error::new(fault)))?;
        if console.interrupted() {
            return Err(CliError::Interrupted);
        }
        if self.size < self.work.least_size() {
            let path = self.subject.path.display();
            return Err(CliError::Failed(anyhow::anyhow!(
                "{path}: too little could be written to a file there (see dmesg)"
            )));
        }
        Ok(())
    }

    fn kept_subject(&self) -> plimsoll_record::Subject {
        // A relative path is not meaningful in a report.
        let path = self.subject.path.canonicalize().unwrap_or_else(|_| self.subject.path.clone());
        plimsoll_record::Subject {
            name: path.display().to_string(),
            kind: self.subject.kind.name().into(),
            size: self.size,
            device: Some(describe_disk(&self.subject)),
        }
    }
}

fn conditions(plan: &MeasurePlan, streams: Vec<StreamSpec>, threads: u32, caching: Caching) -> Conditions {
    Conditions {
        streams,
        threads,
        direct: caching == Caching::Direct,
        compressible: plan.compressible,
        seed: plan.seed,
        objective: plan.objective(),
        trace: None,
    }
}

/// A measurement between its first probe and its last point.
struct Begun {
    started: jiff::Timestamp,
    clock: Clock,
    evidence: Evidence,
    streams: Vec<StreamSpec>,
    watch: ActivityWatch,
    before: Activity,
}

impl Begun {
    /// Activity of host and device since the first point.
    fn activity(&self) -> ActivityDelta {
        self.watch.snapshot().since(&self.before)
    }
}

/// Fields of a curve other than its runs.
struct Head {
    started: jiff::Timestamp,
    source: Source,
    subject: plimsoll_record::Subject,
    conditions: Conditions,
    findings: Vec<Finding>,
}

impl Head {
    fn curve(self, result: SweepResult, wall: Span) -> Result<Curve, CliError> {
        let SweepResult { runs, slots, ended, fault, .. } = result;
        if runs.is_empty() {
            return Err(match (fault, ended) {
                (Some(fault), _) => CliError::Failed(anyhow::Error::new(fault)),
                (None, EndReason::Interrupted) => CliError::Interrupted,
                _ => CliError::Failed(anyhow::anyhow!(
                    "no operation completed in the given time: use a longer --duration"
                )),
            });
        }
        let mut findings = self.findings;
        findings.extend(fault.map(|fault| Finding::Fault { what: format!("{:#}", anyhow::Error::new(fault)) }));
        Ok(Curve {
            format: FORMAT.into(),
            made_by: crate::MADE_BY.into(),
            started: Some(self.started.to_string()),
            wall,
            command: std::env::args().collect(),
            ended,
            source: self.source,
            subject: self.subject,
            host: Some(describe_host()),
            conditions: self.conditions,
            runs,
            knee: None,
            load_line: None,
            closed_line: None,
            basis: None,
            slots,
            findings,
        })
    }
}

fn engine(wanted: EngineWord, findings: &mut Vec<Finding>) -> Result<Engine, CliError> {
    match wanted {
        EngineWord::Threads => Ok(Engine::Threads),
        // For filling and probing.
        EngineWord::Fio => Ok(if Engine::Ring.refused().is_none() { Engine::Ring } else { Engine::Threads }),
        EngineWord::IoUring => match Engine::Ring.refused() {
            None => Ok(Engine::Ring),
            Some(reason) => Err(CliError::usage(format!(
                "io_uring is unavailable ({reason}): omit --engine, or enable it (kernel.io_uring_disabled=0, seccomp profile)"
            ))),
        },
        EngineWord::Auto => Ok(match Engine::Ring.refused() {
            None => Engine::Ring,
            Some(reason) => {
                findings.push(Finding::RingRefused { reason });
                Engine::Threads
            }
        }),
    }
}

/// Bytes addressed by the streams; shared regions count once.
fn addressed(streams: &[StreamSpec]) -> Bytes {
    let mut regions: Vec<Region> = Vec::new();
    for stream in streams {
        match regions.iter_mut().find(|region| region.start == stream.region.start) {
            Some(region) => region.length = region.length.max(stream.region.length),
            None => regions.push(stream.region),
        }
    }
    Bytes::new(regions.iter().map(|region| region.length.get()).sum())
}

/// Permitted operations on an existing file or device: all if it was named in `--destroy` and the safety checks pass,
/// otherwise reads.
fn permitted(
    args: &MeasureCommand,
    work: MeasuredLoad,
    findings: &mut Vec<Finding>,
) -> Result<(MeasuredLoad, Option<Claim>), CliError> {
    if !args.target.destroy.is_empty() {
        let claim = claim(&args.path, &args.target.destroy).map_err(usage)?;
        return Ok((work, Some(claim)));
    }
    Ok((work.reading(args, findings)?, None))
}

/// The plan for storage without `--destroy`: without writes, unless the user requested writes.
fn reading(args: &MeasureCommand, plan: MeasurePlan, findings: &mut Vec<Finding>) -> Result<MeasurePlan, CliError> {
    if !plan.writes() {
        return Ok(plan);
    }
    let load = &args.load;
    let asked_for = load.reads.is_some() || load.preset != "oltp" || load.durable || load.flush_every.is_some();
    if asked_for {
        let path = args.path.display();
        return Err(CliError::usage(format!(
            "{path}: this load would destroy its data: add --destroy {path} to allow it, or use --reads 100"
        )));
    }
    findings.push(Finding::ReadOnly);
    Ok(plan.without_writes())
}

/// The size of a scratch file.
fn scratch_size(args: &MeasureCommand, work: &MeasuredLoad, subject: &Subject) -> Result<Bytes, CliError> {
    let available = subject.available.unwrap_or_default();
    let path = args.path.display();
    let least = LEAST_FILE.max(work.least_size());
    if let Some(size) = args.target.size {
        if size < least {
            return Err(CliError::usage(format!("--size {size} is too small: use at least {least}")));
        }
        if size.get().saturating_add(SPARE.get()) > available.get() {
            return Err(CliError::usage(format!(
                "{path}: {available} are free, and --size {size} would leave less than {SPARE}: use a smaller --size"
            )));
        }
        return Ok(size);
    }
    let (size, spare) = match work {
        MeasuredLoad::Generated(_) => (work.file_size(available), Bytes::default()),
        MeasuredLoad::Recorded(_) => (work.file_size(available).max(LEAST_FILE), SPARE),
    };
    if size < least || size.get().saturating_add(spare.get()) > available.get() {
        let size = size.max(least);
        let kept = if spare > Bytes::default() { format!(" that leaves {spare}") } else { String::new() };
        return Err(CliError::usage(format!(
            "{path}: only {available} are free, too little for a scratch file of {size}{kept}: free some space, or use \
             another path"
        )));
    }
    Ok(size)
}

fn size_of_existing(args: &MeasureCommand, has: Bytes) -> Result<Bytes, CliError> {
    match args.target.size {
        Some(size) if size > has => Err(CliError::usage(format!(
            "{}: its size is {has}, smaller than --size {size}: use a smaller --size, or omit it",
            args.path.display()
        ))),
        size => Ok(size.unwrap_or(has)),
    }
}

fn cannot_make(directory: &Path, size: Bytes, error: &std::io::Error) -> CliError {
    usage(format!("{}: cannot create a file of {size}: {error}", directory.display()))
}
