//! The storage at a path: direct I/O, sectors and free space.

use std::path::Path;

use plimsoll_device::{AccessMode, Caching, Subject, SubjectKind, classify, describe_disk, open, scratch};
use plimsoll_language::label;
use plimsoll_record::{CheckStatus, Finding, FreeSpace, HostCheck, HostFact};
use plimsoll_units::Bytes;

use super::checks::{necessary, optional};
use crate::checks::check_placement;
use crate::measured_load::MeasuredLoad;
use crate::request::MeasurementRequest;

/// Size of the file that is created to try direct I/O.
const TRIAL_FILE: Bytes = Bytes::mib(1);
/// Smaller scratch files fit into caches of devices.
const MIN_UNCACHED_FILE: Bytes = Bytes::gib(1);

/// Facts about the storage at a path.
#[derive(Debug)]
pub(super) struct StorageFacts {
    pub(super) path: String,
    /// The subject, or the reason why the path is unusable.
    pub(super) subject: Result<Subject, String>,
    /// Effective caching of a file that was opened for direct I/O, or the error.
    pub(super) direct: Result<Caching, String>,
    /// Logical and physical block size in bytes.
    pub(super) sectors: [Option<u32>; 2],
    pub(super) findings: Vec<Finding>,
    /// Size of the scratch file of a measurement, and its minimum; `None` if no file is created.
    pub(super) scratch: Option<(Bytes, Bytes)>,
}

impl StorageFacts {
    /// Examines `path`. The trial file has no name and is removed.
    pub(super) fn gather(path: &Path) -> Self {
        let name = path.display().to_string();
        let subject = match classify(path) {
            Ok(subject) => subject,
            Err(error) => {
                let unusable = Err(error.to_string());
                let direct = Err(label!("the path is unusable").to_owned());
                let (sectors, findings) = ([None; 2], Vec::new());
                return Self { path: name, subject: unusable, direct, sectors, findings, scratch: None };
            }
        };
        let opened = match subject.kind {
            SubjectKind::Directory => scratch(path, TRIAL_FILE, Caching::Direct),
            SubjectKind::File | SubjectKind::BlockDevice => open(path, AccessMode::Read, Caching::Direct),
        };
        let disk = describe_disk(&subject);
        Self {
            path: name,
            direct: opened.map(|opened| opened.caching).map_err(|error| error.to_string()),
            sectors: [disk.logical_block, disk.physical_block],
            findings: check_placement(&subject),
            scratch: subject.available.and_then(scratch_sizes),
            subject: Ok(subject),
        }
    }
}

/// Size and minimum size of the scratch file of the default measurement with this free space.
fn scratch_sizes(available: Bytes) -> Option<(Bytes, Bytes)> {
    let load = MeasuredLoad::new(&MeasurementRequest::default()).ok()?;
    Some((load.file_size(available), load.min_scratch()))
}

pub(super) fn check_storage(facts: &StorageFacts) -> Vec<HostCheck> {
    let mut found = vec![check_path(facts)];
    let cautions = facts.findings.iter().map(|finding| HostFact::Storage(finding.clone()));
    found.extend(cautions.map(|fact| optional(CheckStatus::Caution, fact)));
    found.extend([check_direct(facts), check_sectors(facts), check_space(facts)]);
    found
}

fn check_path(StorageFacts { path, subject, .. }: &StorageFacts) -> HostCheck {
    match subject {
        Ok(subject) => necessary(CheckStatus::Ok, HostFact::Path(format!("{path}: {}", subject.kind.name()))),
        Err(reason) => necessary(CheckStatus::Failed, HostFact::Path(reason.clone())),
    }
}

fn check_direct(facts: &StorageFacts) -> HostCheck {
    let (status, text) = match &facts.direct {
        Ok(Caching::Direct) => (CheckStatus::Ok, &facts.path),
        Ok(Caching::Buffered) => (CheckStatus::Caution, &facts.path),
        Err(reason) => (CheckStatus::Unknown, reason),
    };
    optional(status, HostFact::DirectIo(text.clone()))
}

fn check_sectors(facts: &StorageFacts) -> HostCheck {
    let [logical, physical] = facts.sectors;
    let sectors = logical.zip(physical).map(|(logical, physical)| [logical, physical]);
    let status = if sectors.is_some() { CheckStatus::Ok } else { CheckStatus::Unknown };
    optional(status, HostFact::Sectors(sectors))
}

fn check_space(facts: &StorageFacts) -> HostCheck {
    let (status, space) = match (&facts.subject, facts.scratch) {
        (Err(_), _) => (CheckStatus::Unknown, FreeSpace::NoPath),
        (Ok(Subject { available: None, .. }), _) => (CheckStatus::Ok, FreeSpace::NotNeeded),
        (Ok(_), None) => (CheckStatus::Unknown, FreeSpace::NoLoad),
        (Ok(Subject { available: Some(available), .. }), Some((size, min))) => {
            let status = match size {
                size if size < min => CheckStatus::Failed,
                size if size < MIN_UNCACHED_FILE => CheckStatus::Caution,
                _ => CheckStatus::Ok,
            };
            let (available, path) = (*available, facts.path.clone());
            (status, FreeSpace::Free { available, path, size, min, cached: MIN_UNCACHED_FILE })
        }
    };
    necessary(status, HostFact::FreeSpace(space))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A directory with `available` bytes on a filesystem with direct I/O.
    pub(in crate::doctor) fn directory(available: Bytes) -> StorageFacts {
        let mut facts = StorageFacts::gather(&std::env::temp_dir());
        let subject = facts.subject.as_mut().unwrap();
        subject.available = Some(available);
        facts.path = "/data".into();
        facts.scratch = scratch_sizes(available);
        facts.direct = Ok(Caching::Direct);
        facts.sectors = [Some(512), Some(4096)];
        facts.findings.clear();
        facts
    }

    fn check(facts: &StorageFacts, name: &str) -> (CheckStatus, HostFact) {
        let found = check_storage(facts);
        let check = found.into_iter().find(|check| check.name() == name).unwrap();
        (check.status, check.fact)
    }

    #[test]
    fn free_space_is_compared_with_the_scratch_file() {
        let of = |available| check_storage(&directory(available));
        assert!(of(Bytes::gib(64)).iter().all(|check| check.status == CheckStatus::Ok), "{:?}", of(Bytes::gib(64)));
        let (status, fact) = check(&directory(Bytes::gib(2)), "free space");
        assert_eq!(status, CheckStatus::Caution);
        let HostFact::FreeSpace(FreeSpace::Free { size, path, .. }) = &fact else { panic!("{fact:?}") };
        assert_eq!((*size, path.as_str()), (Bytes::mib(512), "/data"));
        assert_eq!(check(&directory(Bytes::mib(20)), "free space").0, CheckStatus::Failed);
    }

    #[test]
    fn refused_direct_io_and_findings_are_cautions() {
        let buffered = StorageFacts { direct: Ok(Caching::Buffered), ..directory(Bytes::gib(64)) };
        let path = HostFact::DirectIo("/data".into());
        assert_eq!(check(&buffered, "O_DIRECT"), (CheckStatus::Caution, path));
        let finding = Finding::InMemory { target: "tmpfs".into() };
        let in_memory = StorageFacts { findings: vec![finding.clone()], ..directory(Bytes::gib(64)) };
        assert_eq!(check(&in_memory, "storage"), (CheckStatus::Caution, HostFact::Storage(finding)));
        let without = StorageFacts { sectors: [Some(512), None], ..directory(Bytes::gib(64)) };
        assert_eq!(check(&without, "sectors"), (CheckStatus::Unknown, HostFact::Sectors(None)));
    }

    #[test]
    fn unusable_path_fails_and_its_properties_are_unknown() {
        let facts = StorageFacts::gather(Path::new("/no/such/path"));
        let (status, fact) = check(&facts, "path");
        assert!(status == CheckStatus::Failed && format!("{fact:?}").contains("no such file"), "{fact:?}");
        for name in ["O_DIRECT", "sectors", "free space"] {
            assert_eq!(check(&facts, name).0, CheckStatus::Unknown, "{name}");
        }
    }
}
