//! The storage at a path: direct I/O, sectors and free space.

use std::path::Path;

use plimsoll_device::{AccessMode, Caching, Subject, SubjectKind, classify, describe_disk, open, scratch};
use plimsoll_record::{CheckNeed, Finding, HostCheck, Source};
use plimsoll_units::Bytes;

use super::checks::{caution, failed, ok, unknown};
use crate::checks::check_placement;
use crate::measured_load::MeasuredLoad;
use crate::request::MeasurementRequest;

/// Size of the file that is created to try direct I/O.
const TRIAL: Bytes = Bytes::mib(1);
/// Caches of devices hold scratch files below this size.
const CACHED_FILE: Bytes = Bytes::gib(1);

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
                let direct = Err("the path is unusable".to_owned());
                let (sectors, findings) = ([None; 2], Vec::new());
                return Self { path: name, subject: unusable, direct, sectors, findings, scratch: None };
            }
        };
        let opened = match subject.kind {
            SubjectKind::Directory => scratch(path, TRIAL, Caching::Direct),
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

/// Checks of the storage.
pub(super) fn check_storage(facts: &StorageFacts) -> Vec<HostCheck> {
    let mut found = vec![check_path(facts)];
    let source = Source::Measured { engine: String::new() };
    found.extend(
        facts.findings.iter().map(|finding| caution("storage", finding.text(), finding.remedy_for(&source).to_owned())),
    );
    found.extend([check_direct(facts), check_sectors(facts), check_space(facts)]);
    found
}

fn check_path(StorageFacts { path, subject, .. }: &StorageFacts) -> HostCheck {
    match subject {
        Ok(subject) => ok("path", CheckNeed::Necessary, format!("{path}: {}", subject.kind.name())),
        Err(reason) => failed("path", CheckNeed::Necessary, reason.clone(), String::new()),
    }
}

fn check_direct(facts: &StorageFacts) -> HostCheck {
    match &facts.direct {
        Ok(Caching::Direct) => ok("O_DIRECT", CheckNeed::Optional, "supported".to_owned()),
        Ok(Caching::Buffered) => caution(
            "O_DIRECT",
            format!("the filesystem of {} refuses it", facts.path),
            "measurements there include the page cache: use a path on ext4, XFS or a block device".to_owned(),
        ),
        Err(reason) => unknown("O_DIRECT", CheckNeed::Optional, reason.clone(), "repair the path".to_owned()),
    }
}

fn check_sectors(facts: &StorageFacts) -> HostCheck {
    match facts.sectors {
        [Some(logical), Some(physical)] => {
            ok("sectors", CheckNeed::Optional, format!("{logical} bytes logical, {physical} physical"))
        }
        _ => unknown(
            "sectors",
            CheckNeed::Optional,
            "no single block device below the path".to_owned(),
            "the alignment is assumed to be 4 KiB".to_owned(),
        ),
    }
}

fn check_space(facts: &StorageFacts) -> HostCheck {
    let Ok(subject) = &facts.subject else {
        return unknown("free space", CheckNeed::Necessary, "the path is unusable".to_owned(), String::new());
    };
    let Some(available) = subject.available else {
        return ok("free space", CheckNeed::Necessary, "not needed: no file is created".to_owned());
    };
    let Some((size, min)) = facts.scratch else {
        let remedy = "report this as a defect".to_owned();
        return unknown("free space", CheckNeed::Necessary, "the default load is invalid".to_owned(), remedy);
    };
    let found = format!("{available} free at {}", facts.path);
    if size < min {
        let remedy = format!("a measurement needs {min} of a quarter of it: free some space, or use another path");
        failed("free space", CheckNeed::Necessary, found, remedy)
    } else if size < CACHED_FILE {
        let remedy = format!(
            "its file has {size}, and caches of devices hold less than {CACHED_FILE}: free 4 GiB, or use --size"
        );
        HostCheck { need: CheckNeed::Necessary, ..caution("free space", found, remedy) }
    } else {
        ok("free space", CheckNeed::Necessary, found)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use plimsoll_record::CheckStatus;

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

    fn check(facts: &StorageFacts, name: &str, status: CheckStatus, part: &str) {
        let found = check_storage(facts);
        let check = found.iter().find(|check| check.name == name).unwrap();
        assert_eq!(check.status, status, "{check:?}");
        assert!(format!("{}: {}", check.found, check.remedy).contains(part), "{check:?}");
    }

    #[test]
    fn free_space_is_compared_with_the_scratch_file() {
        let of = |available| check_storage(&directory(available));
        assert!(of(Bytes::gib(64)).iter().all(|check| check.status == CheckStatus::Ok), "{:?}", of(Bytes::gib(64)));
        check(
            &directory(Bytes::gib(2)),
            "free space",
            CheckStatus::Caution,
            "2 GiB free at /data: its file has 512 MiB",
        );
        check(&directory(Bytes::mib(20)), "free space", CheckStatus::Failed, "free some space");
    }

    #[test]
    fn refused_direct_io_and_findings_are_cautions() {
        let buffered = StorageFacts { direct: Ok(Caching::Buffered), ..directory(Bytes::gib(64)) };
        check(&buffered, "O_DIRECT", CheckStatus::Caution, "page cache");
        let findings = vec![Finding::InMemory { what: "tmpfs".into() }];
        check(&StorageFacts { findings, ..directory(Bytes::gib(64)) }, "storage", CheckStatus::Caution, "tmpfs");
        let without = StorageFacts { sectors: [Some(512), None], ..directory(Bytes::gib(64)) };
        check(&without, "sectors", CheckStatus::Unknown, "no single block device");
    }

    #[test]
    fn unusable_path_fails_and_its_properties_are_unknown() {
        let facts = StorageFacts::gather(Path::new("/no/such/path"));
        check(&facts, "path", CheckStatus::Failed, "no such file");
        for name in ["O_DIRECT", "sectors", "free space"] {
            check(&facts, name, CheckStatus::Unknown, "");
        }
    }
}
