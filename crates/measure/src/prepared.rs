//! A prepared measurement: its target is open, and its request has passed all checks that need no operation.

mod disk;
mod export;

use jiff::Timestamp;
use plimsoll_analyse::judge;
use plimsoll_device::{Activity, ActivityDelta, ActivityWatch, Caching, Clock, describe_host, processor_limit};
use plimsoll_load::StreamSpec;
use plimsoll_record::{Curve, Finding, Objective, Source, Subject};
use plimsoll_units::{Bytes, Instant};

use crate::backend::Storage;
use crate::backend::fio::Fio;
use crate::checks::{self, Evidence};
use crate::curve::CurveHead;
use crate::emulated::{self, EmulatedVolume};
use crate::error::MeasureError;
use crate::measured_load::{MeasuredLoad, addressed_bytes};
use crate::monitor::Monitor;
use crate::plan::Grid;
use crate::request::{MeasurementRequest, RunContext};
use crate::sweep::{self, SweepResult};

use disk::DiskTarget;
use export::ExportTarget;

/// A prepared measurement on this host.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) request: MeasurementRequest,
    pub(crate) load: MeasuredLoad,
    pub(crate) storage: Storage,
    pub(crate) size: Bytes,
    /// Replaces the loops of `storage`, except for filling and probing.
    fio: Option<Fio>,
    /// Required alignment of operations.
    grid: Grid,
    caching: Caching,
    findings: Vec<Finding>,
    /// Objective of an earlier run.
    reused: Option<Objective>,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Disk(Box<DiskTarget>),
    Export(Box<ExportTarget>),
}

/// A measurement between its first probe and its last point.
pub(crate) struct Begun {
    pub(crate) streams: Vec<StreamSpec>,
    started: Timestamp,
    clock: Clock,
    evidence: Evidence,
    watch: ActivityWatch,
    before: Activity,
    /// The target, if it is an emulated volume whose service answers.
    volume: Option<EmulatedVolume>,
}

impl Begun {
    /// Activity of host and device since the first point.
    pub(crate) fn activity(&self) -> ActivityDelta {
        self.watch.snapshot().since(&self.before)
    }
}

impl Prepared {
    /// Checks the request and opens its target. Nothing is written.
    pub(crate) fn new(request: MeasurementRequest) -> Result<Self, MeasureError> {
        let load = MeasuredLoad::new(&request)?;
        let prepared = if request.uri().is_some() { export::open(request, load)? } else { disk::open(request, load)? };
        prepared.place()?;
        Ok(prepared)
    }

    /// The streams on the measured part of the target.
    pub(crate) fn place(&self) -> Result<Vec<StreamSpec>, MeasureError> {
        self.load.place(&self.request, self.size, self.grid)
    }

    /// Reuses the objective chosen by an earlier run of this load on this subject, so that runs are comparable. An
    /// objective of the request has priority.
    pub(crate) fn reuse_objective(&mut self, context: &RunContext<'_>) -> Result<(), MeasureError> {
        let (name, streams) = (self.subject().name, self.place()?);
        if let MeasuredLoad::Generated(plan) = &mut self.load
            && plan.sweep.objective.is_none()
        {
            self.reused = (context.earlier_objective)(&name, &streams);
            plan.sweep.objective = self.reused;
        }
        Ok(())
    }

    /// Measures the target: its curve with the verdict.
    pub(crate) fn measure(
        &mut self,
        context: &RunContext<'_>,
        monitor: &mut dyn Monitor,
    ) -> Result<Curve, MeasureError> {
        let begun = self.begin(context, monitor)?;
        let result = match (&self.load, &mut self.fio) {
            (MeasuredLoad::Generated(plan), Some(fio)) => sweep::run_sweep(plan, &begun.streams, &[], fio, monitor),
            (load, _) => load.run(&begun.streams, &mut self.storage, monitor),
        };
        let activity = begun.activity();
        let mut curve = self.end(begun, result, activity, context)?;
        self.judge(&mut curve, self.reused);
        Ok(curve)
    }

    /// Computes the verdict with this objective, unless the request has one.
    pub(crate) fn judge(&self, curve: &mut Curve, objective: Option<Objective>) {
        if self.reused.is_some() {
            // Only an objective of the request is a condition of the run.
            curve.conditions.objective = None;
        }
        judge(curve, objective);
    }

    /// The objective of an earlier run.
    pub(crate) const fn reused_objective(&self) -> Option<Objective> {
        self.reused
    }

    /// Probes the target, and fills a scratch file.
    pub(crate) fn begin(&mut self, context: &RunContext<'_>, monitor: &mut dyn Monitor) -> Result<Begun, MeasureError> {
        let started = Timestamp::now();
        let clock = Clock::start();
        let (buffered, processor_limit) = (self.caching == Caching::Buffered, processor_limit());
        let mut evidence = Evidence { buffered, processor_limit, ..Evidence::default() };
        match &self.target {
            Target::Disk(_) => self.probe_disk(&mut evidence, monitor)?,
            Target::Export(_) => self.probe_export(&mut evidence)?,
        }
        let streams = self.place()?;
        evidence.data = addressed_bytes(&streams);
        let watch = match &self.target {
            Target::Disk(disk) => ActivityWatch::new(&disk.subject),
            Target::Export(_) => ActivityWatch::host(),
        };
        let volume = match &self.target {
            Target::Disk(disk) => {
                disk.emulated.as_ref().and_then(|file| emulated::find_file(file, context.find_volume))
            }
            Target::Export(export) => export.find_volume(context),
        };
        let before = watch.snapshot();
        Ok(Begun { streams, started, clock, evidence, watch, before, volume })
    }

    /// The curve with its findings, without a verdict.
    pub(crate) fn end(
        &mut self,
        begun: Begun,
        result: SweepResult,
        activity: ActivityDelta,
        context: &RunContext<'_>,
    ) -> Result<Curve, MeasureError> {
        let Begun { started, clock, mut evidence, streams, volume, .. } = begun;
        evidence.activity = activity;
        evidence.omitted = result.omitted.clone();
        let mut findings = std::mem::take(&mut self.findings);
        findings.extend(self.load.findings());
        findings.extend(match &self.target {
            Target::Disk(_) => self.fio.as_ref().and_then(|fio| fio.list_differences(&streams, &result.runs)),
            Target::Export(export) => export.compare_floor(&result.runs),
        });
        findings.extend(volume.as_ref().map(|volume| (volume.findings)()).unwrap_or_default());
        let slow = volume.as_ref().filter(|_| matches!(self.target, Target::Disk(_))).map_or(1, |volume| volume.slow);
        findings.extend((slow != 1).then_some(Finding::TimeDilated { slow }));
        let head = CurveHead {
            started: Some(started),
            source: self.source(volume.as_ref()),
            subject: self.subject(),
            host: Some(describe_host()),
            conditions: self.load.conditions(streams, self.storage.threads, self.caching),
            findings,
        };
        let mut curve = head.complete(result, clock.now().since(Instant::ZERO), context)?;
        curve.findings.extend(checks::check_curve(&curve, &evidence));
        if matches!(self.target, Target::Disk(_)) {
            checks::drop_contention_findings(&mut curve);
        }
        Ok(curve)
    }

    pub(crate) fn subject(&self) -> Subject {
        match &self.target {
            Target::Disk(disk) => disk.describe(self.size),
            Target::Export(export) => export.describe(self.size),
        }
    }

    fn source(&self, volume: Option<&EmulatedVolume>) -> Source {
        match (&self.target, &self.fio) {
            (Target::Disk(disk), _) if disk.emulated.is_some() => emulated::source_of(volume),
            (Target::Disk(_), Some(fio)) => Source::Measured { engine: fio.to_string() },
            (Target::Disk(disk), None) => Source::Measured { engine: disk.engine.to_string() },
            (Target::Export(export), _) => export.source(),
        }
    }
}
