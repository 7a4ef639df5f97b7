//! Storage of this host and exports as grounds of suites.

use std::path::{Path, PathBuf};

use plimsoll_device::nbd::wire::flag;
use plimsoll_device::nbd::{Connection, Emulation, ExportAddress, NoNbdAddress, TalkError};
use plimsoll_device::{Direct, SubjectKind, classify, describe_disk, describe_host};
use plimsoll_record::{Source, Subject};
use plimsoll_suite::{Disk, DiskPlace, Export, Facts, Ground, Nature};
use plimsoll_units::Bytes;

use crate::checks;
use crate::emulated::{self, FindVolume};
use crate::error::{MeasureError, describe};
use crate::invalid::InvalidRequest;

/// Space left free on a filesystem.
const SPARE: Bytes = Bytes::mib(256);

/// The ground of a directory, file or block device. Paths in `destroy` may be overwritten. `find` finds the emulated
/// volume that holds it. Nothing is written.
///
/// # Errors
/// The path is unusable, or `destroy` names a directory.
pub fn open_disk(path: &Path, destroy: &[PathBuf], find: FindVolume<'_>) -> Result<Box<dyn Ground>, MeasureError> {
    let subject = classify(path).map_err(MeasureError::usage)?;
    let is_directory = subject.kind == SubjectKind::Directory;
    let named = destroy.iter().any(|named| named == path);
    if is_directory && named {
        let (named, files) = (path.to_owned(), "temporary files");
        return Err(InvalidRequest::DestroyedDirectory { named, files }.into());
    }
    let findings = checks::check_placement(&subject);
    let claim = (!is_directory && named)
        .then(|| plimsoll_device::claim_named(path, destroy))
        .transpose()
        .map_err(MeasureError::usage)?;
    let space = match subject.available {
        Some(available) => Bytes::new(available.get().saturating_sub(SPARE.get())),
        None => subject.size,
    };
    let grid = subject.direct.alignment().map_or(512, |alignment| u64::from(alignment.offset.max(1)));
    let described = Subject {
        name: path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string(),
        kind: subject.kind.name().into(),
        size: if is_directory { space } else { subject.size },
        device: Some(describe_disk(&subject)),
    };
    // Steps record their own engines.
    let measured = || Source::Measured { engine: "suite".into() };
    let source = emulated::source_of_subject(&subject, find).unwrap_or_else(measured);
    let nature = if is_directory { Nature::Directory } else { Nature::Blocks };
    let facts = Facts {
        host: Some(describe_host()),
        space,
        grid: if matches!(subject.direct, Direct::Refused) { 1 } else { grid },
        read_only: subject.read_only || (!is_directory && claim.is_none()),
        ..Facts::new(nature, source, described)
    };
    let place = match subject.kind {
        SubjectKind::Directory => DiskPlace::Directory(path.to_owned()),
        SubjectKind::File | SubjectKind::BlockDevice => DiskPlace::Existing(path.to_owned(), claim),
    };
    Ok(Box::new(Disk::new(place, facts, destroy.to_vec()).doubted(findings)))
}

/// The ground of an export. URIs in `destroy` may be overwritten. Nothing is written.
///
/// # Errors
/// The address is malformed, or its server does not answer.
pub fn open_export(uri: &str, destroy: &[PathBuf]) -> Result<Box<dyn Ground>, MeasureError> {
    let address: ExportAddress = uri.parse().map_err(|error: NoNbdAddress| MeasureError::usage(error))?;
    let unreachable =
        |error: TalkError| InvalidRequest::Unreachable { address: address.to_string(), error: describe(&error) };
    let chosen = Connection::open(&address).map_err(unreachable)?.chosen().clone();
    let named = destroy.iter().any(|named| named == Path::new(uri));
    let emulation: Option<Emulation> = chosen.description.as_deref().and_then(|text| text.parse().ok());
    let name = emulation.as_ref().and_then(|emulation| emulation.like.clone());
    let source = match &emulation {
        Some(emulation) => Source::Emulated { model: emulation.model.clone() },
        None => Source::Measured { engine: "NBD".into() },
    };
    let name = name.unwrap_or_else(|| address.to_string());
    let subject = Subject { name, kind: "NBD export".into(), size: Bytes::new(chosen.size), device: None };
    let facts = Facts {
        host: Some(describe_host()),
        grid: chosen.blocks.map_or(512, |[least, ..]| u64::from(least.max(1))),
        read_only: !named || chosen.flags & flag::READ_ONLY != 0,
        ..Facts::new(Nature::Export, source, subject)
    };
    Ok(Box::new(Export::new(address, facts)))
}
