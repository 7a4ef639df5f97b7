//! A directory, file or device as the target of a measurement.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use plimsoll_device::{
    AccessMode, Caching, Claim, Direct, Engine, Opened, Subject, SubjectKind, claim_named, classify, describe_disk,
};
use plimsoll_record::Finding;
use plimsoll_units::Bytes;

use super::{Prepared, Target};
use crate::backend::fio::{Fio, FioHost, Installed, IoEngine};
use crate::backend::{AccessPath, Storage};
use crate::checks::{self, Evidence};
use crate::error::MeasureError;
use crate::invalid::InvalidRequest;
use crate::measured_load::MeasuredLoad;
use crate::monitor::Monitor;
use crate::options::EffortLevel;
use crate::plan::Grid;
use crate::probe;
use crate::request::{EngineChoice, MeasurementRequest};

/// Space left free on the filesystem of a scratch file.
const SPARE: Bytes = Bytes::mib(256);

/// An open file or device.
#[derive(Debug)]
pub(super) struct DiskTarget {
    pub(super) subject: Subject,
    pub(super) engine: Engine,
    /// In addition to the handles of the loops.
    file: OwnedFd,
    /// The file of the emulated volume that holds it, if it is on one.
    pub(super) emulated: Option<PathBuf>,
    /// Exclusive access to a device or file that is written.
    claim: Option<Claim>,
}

impl DiskTarget {
    /// True for a file that the measurement creates.
    const fn is_scratch(&self) -> bool {
        matches!(self.subject.kind, SubjectKind::Directory)
    }

    /// The subject of the curve.
    pub(super) fn describe(&self, size: Bytes) -> plimsoll_record::Subject {
        // A relative path is not meaningful in a report.
        let path = self.subject.path.canonicalize().unwrap_or_else(|_| self.subject.path.clone());
        plimsoll_record::Subject {
            name: path.display().to_string(),
            kind: self.subject.kind.name().into(),
            size,
            device: Some(describe_disk(&self.subject)),
        }
    }
}

/// Opens the path of the request.
pub(super) fn open(request: MeasurementRequest, load: MeasuredLoad) -> Result<Prepared, MeasureError> {
    let subject = classify(&request.path).map_err(MeasureError::usage)?;
    let mut findings = Vec::new();
    let engine = select_engine(request.engine, &mut findings)?;
    let requested = if request.buffered || load.is_buffered() { Caching::Buffered } else { Caching::Direct };
    let path = request.path.display().to_string();
    let (load, opened, size, claim) = if subject.kind == SubjectKind::Directory {
        if let Some(named) = request.destroy.first() {
            let (named, files) = (named.clone(), "a temporary file");
            return Err(InvalidRequest::DestroyedDirectory { named, files }.into());
        }
        let size = scratch_size(&request, &load, &subject)?;
        let scratch = plimsoll_device::scratch(&request.path, size, requested);
        let refused =
            |error: std::io::Error| InvalidRequest::Scratch { path: path.clone(), size, error: error.to_string() };
        (load, scratch.map_err(refused)?, size, None)
    } else {
        let (load, claim) = permit(&request, load, &mut findings)?;
        let access = if claim.is_some() { AccessMode::Write } else { AccessMode::Read };
        let size = request.choose_size(subject.size)?;
        let opened = plimsoll_device::open(&request.path, access, requested);
        (load, opened.map_err(|error| MeasureError::usage(format!("{path}: {error}")))?, size, claim)
    };
    let Opened { file, caching } = opened;
    let copy = || file.try_clone().map_err(MeasureError::usage);
    if let Some(claim) = &claim
        && !claim.covers(&File::from(copy()?)).map_err(MeasureError::usage)?
    {
        return Err(InvalidRequest::Replaced { path }.into());
    }
    if caching != requested {
        findings.push(Finding::DirectRefused);
    }
    findings.extend(checks::check_placement(&subject));
    let storage = Storage {
        access: AccessPath::File(copy()?, engine),
        threads: request.sweep.threads,
        compressible: load.compressible(),
    };
    let grid = grid_of(&file, &subject, caching);
    let emulated = plimsoll_device::emulated_file(&subject);
    let disk = DiskTarget { subject, engine, file, emulated, claim };
    let fio = (request.engine == EngineChoice::Fio).then(|| prepare_fio(&disk, &storage, caching)).transpose()?;
    let target = Target::Disk(disk.into());
    Ok(Prepared { request, load, storage, size, fio, grid, caching, findings, reused: None, target })
}

fn select_engine(choice: EngineChoice, findings: &mut Vec<Finding>) -> Result<Engine, MeasureError> {
    let refused = Engine::Ring.refused();
    match (choice, refused) {
        // fio needs an engine for filling and probing.
        (EngineChoice::Threads, _) | (EngineChoice::Fio, Some(_)) => Ok(Engine::Threads),
        (_, None) => Ok(Engine::Ring),
        (EngineChoice::IoUring, Some(reason)) => Err(InvalidRequest::Ring(reason).into()),
        (EngineChoice::Auto, Some(reason)) => {
            findings.push(Finding::RingRefused { reason });
            Ok(Engine::Threads)
        }
    }
}

/// Permitted operations on an existing file or device: all if it was named in `destroy` and the safety checks pass,
/// otherwise reads.
fn permit(
    request: &MeasurementRequest,
    load: MeasuredLoad,
    findings: &mut Vec<Finding>,
) -> Result<(MeasuredLoad, Option<Claim>), MeasureError> {
    if request.destroy.is_empty() {
        return Ok((load.read_only(request, findings)?, None));
    }
    Ok((load, Some(claim_named(&request.path, &request.destroy).map_err(MeasureError::usage)?)))
}

/// Required alignment of operations.
fn grid_of(file: &OwnedFd, subject: &Subject, caching: Caching) -> Grid {
    let direct = Direct::of(file).unwrap_or(subject.direct);
    match (caching, direct.alignment()) {
        (Caching::Direct, Some(alignment)) => Grid::Direct(Bytes::new(u64::from(alignment.offset.max(1)))),
        (Caching::Direct, None) => Grid::Direct(Bytes::new(512)),
        (Caching::Buffered, _) => Grid::Any,
    }
}

/// The fio backend for an open file or device.
fn prepare_fio(disk: &DiskTarget, storage: &Storage, caching: Caching) -> Result<Fio, MeasureError> {
    let installed = Installed::find().map_err(MeasureError::usage)?;
    let direct = caching == Caching::Direct;
    let io = if installed.has_ring && Engine::Ring.refused().is_none() { IoEngine::Ring } else { IoEngine::Libaio };
    if io == IoEngine::Libaio && !direct {
        return Err(InvalidRequest::FioBuffered.into());
    }
    // The file may be unnamed, or its name may refer to another file by then.
    let path = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), disk.file.as_raw_fd()));
    let writable = disk.claim.is_some() || disk.is_scratch();
    let Storage { threads, compressible, .. } = *storage;
    Ok(Fio { installed, io, place: FioHost::Local(path), threads, compressible, direct, writable })
}

fn scratch_size(request: &MeasurementRequest, load: &MeasuredLoad, subject: &Subject) -> Result<Bytes, MeasureError> {
    let available = subject.available.unwrap_or_default();
    let path = request.path.display().to_string();
    let min = load.min_scratch();
    if let Some(size) = request.size {
        if size < min {
            return Err(InvalidRequest::SmallSize { size, min }.into());
        }
        if size.get().saturating_add(SPARE.get()) > available.get() {
            return Err(InvalidRequest::LargeSize { path, available, size, spare: SPARE }.into());
        }
        return Ok(size);
    }
    let (size, spare) = match load {
        MeasuredLoad::Generated(_) => (load.file_size(available), Bytes::default()),
        MeasuredLoad::Recorded(_) => (load.file_size(available).max(min), SPARE),
    };
    if size < min || size.get().saturating_add(spare.get()) > available.get() {
        let (size, spare) = (size.max(min), (spare > Bytes::default()).then_some(spare));
        return Err(InvalidRequest::FreeSpace { path, available, size, spare }.into());
    }
    Ok(size)
}

impl Prepared {
    /// Probes a disk, and fills a scratch file.
    pub(super) fn probe_disk(
        &mut self,
        evidence: &mut Evidence,
        monitor: &mut dyn Monitor,
    ) -> Result<(), MeasureError> {
        let Target::Disk(disk) = &self.target else { return Ok(()) };
        if self.fio.is_none() {
            evidence.ceiling = probe::measure_ceiling(disk.engine, 64, self.storage.threads);
        }
        if disk.is_scratch() {
            // Before filling, which overwrites the zeroes.
            if self.request.sweep.effort != EffortLevel::Quick && !evidence.buffered {
                evidence.compression = probe::measure_compression(&mut self.storage, self.size)?;
            }
            let limit = self.load.filling_limit(self.request.size);
            self.size = probe::fill(&mut self.storage, &disk.file, self.size, limit, monitor)?;
            if monitor.is_interrupted() {
                return Err(MeasureError::Interrupted);
            }
            if self.size < self.load.min_size() {
                return Err(MeasureError::ScratchTooSmall(self.request.path.display().to_string()));
            }
        }
        if disk.is_scratch() || disk.claim.is_some() {
            evidence.commit = probe::measure_commit(&mut self.storage, self.size)?;
        }
        Ok(())
    }
}
