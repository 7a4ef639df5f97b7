//! Check and repair of a data directory that is not in use.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::api::{CHECK_FORMAT, Check, CheckedVolume, DamagedBlock, MAX_NAMED_DAMAGES};
use crate::metadata::StoredMetadata;
use crate::refusal::display;
use plimsoll_front::{DirectoryError, Inspection};
use plimsoll_language::{label, say};
use plimsoll_volume::{
    Commit, FileId, FilePosition, Log, LogError, Record, Recovered, ShortFile, Store, Unrecoverable, Unreferenced,
    VolumeId,
};

/// Whether a check may repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Changes nothing.
    Never,
    /// Repairs the directory so that it can be served. Losses are final, and listed.
    Requested,
}

/// Whether a check adds checksums to data without them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddChecksums {
    /// Keeps the directory as it is.
    Never,
    /// Computes them.
    Requested,
}

/// Checks and optionally repairs a data directory. Fails if it is in use, foreign, or unreadable.
pub fn fsck(directory: &Path, repair: Repair, checksums: AddChecksums) -> Result<Check, DirectoryError> {
    let mut inspection = Inspection::open(directory)?;
    let mut check = Check { format: CHECK_FORMAT, id: inspection.id().to_string(), ..Check::default() };
    let was_sound = metadata(&mut inspection, &mut check, repair)? & data_files(&mut inspection, &mut check, repair)?;
    let log = inspection.log();
    check.commits = log.next();
    check.log_bytes = log.length + inspection.rest_bytes();
    if checksums == AddChecksums::Requested && !inspection.has_checksums() && check.problems.is_empty() {
        inspection.add_checksums()?;
        check.repaired.push(label!("checksums were computed for all data, as they are").to_owned());
    }
    sums(&mut inspection, &mut check, repair)?;
    let is_sound = store(&mut inspection, &mut check, repair)?;
    if repair == Repair::Requested && check.problems.is_empty() && was_sound && is_sound {
        release(&mut inspection, &mut check)?;
    }
    check.has_checksums = inspection.has_checksums();
    check.data_bytes = inspection.lengths().iter().sum();
    check.keeps_unreferenced = inspection.superblock().is_some_and(|superblock| superblock.keeps_unreferenced);
    Ok(check)
}

/// Releases the space that was kept for dropped commits.
fn release(inspection: &mut Inspection, check: &mut Check) -> Result<(), DirectoryError> {
    if inspection.superblock().is_some_and(|superblock| superblock.keeps_unreferenced) {
        inspection.release_unreferenced()?;
        let bytes = display(check.unreferenced_bytes);
        check.repaired.push(say!("{bytes} of data files that no volume refers to are freed at the next start"));
    }
    Ok(())
}

/// Checks superblock and log. Returns whether they are sound.
fn metadata(inspection: &mut Inspection, check: &mut Check, repair: Repair) -> Result<bool, DirectoryError> {
    let mut is_sound = true;
    if inspection.superblock().is_none() {
        is_sound = false;
        let problem = label!("the superblock is missing or damaged").to_owned();
        if repair == Repair::Requested && inspection.log().next() > 0 {
            inspection.repair_superblock()?;
            check.repaired.push(say!("{problem}: made again from the log"));
        } else {
            check.problems.push(problem);
        }
    }
    let problem = match inspection.lost() {
        Ok(()) if inspection.rest_bytes() == 0 => return Ok(is_sound),
        Ok(()) => say!("the log ends in {} bytes of a commit that was never answered", inspection.rest_bytes()),
        Err(error) => lost(&error, inspection.log()),
    };
    // Without the beginning of the log, or with a foreign log, no state can be recovered.
    let is_hopeless = matches!(inspection.lost(), Err(LogError::Foreign { .. } | LogError::Missing { .. }))
        || inspection.log().next() == 0;
    if repair == Repair::Requested && !is_hopeless && inspection.superblock().is_some() {
        let torn_file = inspection.repair_log()?;
        let copy = torn_file.map_or_else(String::new, |file| say!(", kept as {}", file.display()));
        check.repaired.push(say!("{problem}: cut off{copy}"));
    } else {
        check.problems.push(problem);
    }
    Ok(false)
}

/// Checks the headers of the data files. Returns whether they are sound.
fn data_files(inspection: &mut Inspection, check: &mut Check, repair: Repair) -> Result<bool, DirectoryError> {
    let describe = |faults: Vec<(FileId, &str)>| {
        let text = |(file, why): (FileId, &str)| (file, format!("data.{} {why}", file.0));
        faults.into_iter().map(text).collect::<Vec<_>>()
    };
    let foreign = describe(inspection.foreign_files());
    let damaged = describe(inspection.damaged_headers());
    let is_sound = foreign.is_empty() && damaged.is_empty();
    check.problems.extend(foreign.into_iter().map(|(_, why)| say!("{why}: restore it from a copy")));
    for (file, why) in damaged {
        if repair == Repair::Requested {
            inspection.repair_header(file)?;
            check.repaired.push(say!("{why}: written again"));
        } else {
            check.problems.push(why);
        }
    }
    Ok(is_sound)
}

/// Checks the checksum files.
fn sums(inspection: &mut Inspection, check: &mut Check, repair: Repair) -> Result<(), DirectoryError> {
    for (file, why) in inspection.damaged_sums() {
        if repair == Repair::Requested {
            inspection.repair_sums(file)?;
            check.repaired.push(say!("{why}: computed again, from the data as they are"));
        } else {
            check.problems.push(why);
        }
    }
    Ok(())
}

/// Compares the content of all volumes with its checksums.
fn verify(
    inspection: &Inspection,
    check: &mut Check,
    store: &Store,
    names: &BTreeMap<VolumeId, String>,
) -> Result<(), DirectoryError> {
    if !inspection.has_checksums() {
        return Ok(());
    }
    check.uncertain_bytes = inspection.uncertain_bytes();
    for (place, length) in store.places(None) {
        check.verified_bytes += length;
        for damaged in inspection.scan(place, length)? {
            check.damaged.extend(damaged_blocks(store, damaged, names));
        }
    }
    check.damaged.sort_unstable();
    for DamagedBlock { volume, offset } in check.damaged.iter().take(MAX_NAMED_DAMAGES) {
        check.problems.push(say!(
            "volume {volume} is damaged at byte {offset}: the 4 KiB there differ from their checksum and are not served; \
             restore or overwrite them"
        ));
    }
    if check.damaged.len() > MAX_NAMED_DAMAGES {
        check.problems.push(say!("and {} further blocks", check.damaged.len() - MAX_NAMED_DAMAGES));
    }
    Ok(())
}

/// Maps a block of a data file to the blocks of volumes that refer to it.
pub(crate) fn damaged_blocks(
    store: &Store,
    place: FilePosition,
    names: &BTreeMap<VolumeId, String>,
) -> Vec<DamagedBlock> {
    let blocks = store.volumes_at(place).into_iter();
    blocks.filter_map(|(id, offset)| Some(DamagedBlock { volume: names.get(&id)?.clone(), offset })).collect()
}

/// Checks the extent map and the lengths of the data files. Returns whether they are sound.
fn store(inspection: &mut Inspection, check: &mut Check, repair: Repair) -> Result<bool, DirectoryError> {
    let names = collect_names(&inspection.log().commits);
    let recover = |inspection: &Inspection| {
        let commits = inspection.log().commits.iter().cloned();
        Store::recover(commits, &inspection.lengths(), u64::MAX, Unreferenced::Keep)
    };
    if inspection.log().commits.is_empty() {
        return Ok(true);
    }
    let mut is_sound = true;
    let mut recovered = recover(inspection);
    if let Err(Unrecoverable::Short(files)) = &recovered {
        is_sound = false;
        for file in files {
            let problem = format!("{file} ({})", of(&file.volumes, &names));
            if repair == Repair::Requested {
                inspection.repair_length(file.file, file.needed)?;
                check.repaired.push(say!("{problem}: reads as zeros"));
            } else {
                check.problems.push(problem);
            }
        }
        if repair == Repair::Requested {
            recovered = recover(inspection);
        }
    }
    match recovered {
        Ok(Recovered { store, unreferenced_bytes, .. }) => {
            check.unreferenced_bytes = unreferenced_bytes;
            check.volumes = volumes(&store, &names);
            verify(inspection, check, &store, &names)?;
        }
        Err(Unrecoverable::Short(_)) => {}
        Err(error) => check.problems.push(say!("{error}: restore the log from a copy")),
    }
    Ok(is_sound)
}

fn volumes(store: &Store, names: &BTreeMap<VolumeId, String>) -> Vec<CheckedVolume> {
    let used = |volume, size| {
        let extents = store.extents(volume, 0, size, usize::MAX);
        extents.iter().filter(|extent| extent.allocated).map(|extent| extent.length).sum()
    };
    let listed = store.volumes().filter_map(|about| Some((about, names.get(&about.volume)?)));
    let checked = listed.map(|(about, name)| CheckedVolume {
        name: name.clone(),
        size_bytes: about.size,
        used_bytes: used(about.volume, about.size),
    });
    checked.collect()
}

/// Describes the loss of a log, with the affected volumes.
pub(crate) fn lost(error: &LogError, log: &Log) -> String {
    let names = collect_names(log.commits.iter().chain(&log.later));
    let touched: BTreeSet<VolumeId> =
        log.later.iter().flat_map(|commit| &commit.records).filter_map(volume_of).collect();
    match error {
        LogError::Foreign { .. } => say!("{error}: restore it from a copy"),
        LogError::Missing { .. } => say!("{error}: restore it from a copy, volumes cannot be found without it"),
        LogError::Damaged { .. } => {
            let touched: Vec<VolumeId> = touched.into_iter().collect();
            say!("{error}; the sound commits behind the damage concern {}", of(&touched, &names))
        }
        LogError::Lost { .. } => {
            let ids: Vec<VolumeId> = names.keys().copied().collect();
            say!("{error}; they may concern {}, and others made since", of(&ids, &names))
        }
    }
}

/// Message for a directory that is not served because of its log.
pub(crate) fn refusal(directory: &Path, error: &LogError, log: &Log) -> String {
    match error {
        LogError::Foreign { .. } | LogError::Missing { .. } => lost(error, log),
        LogError::Damaged { .. } | LogError::Lost { .. } => format!("{}; {}", lost(error, log), remedy(directory)),
    }
}

/// Message for a directory that is not served because data files are too short.
pub(crate) fn short(directory: &Path, files: &[ShortFile], names: &BTreeMap<VolumeId, String>) -> String {
    let text = |file: &ShortFile| format!("{file} ({})", of(&file.volumes, names));
    format!("{}; {}", files.iter().map(text).collect::<Vec<_>>().join("; "), remedy(directory))
}

fn remedy(directory: &Path) -> String {
    let directory = directory.display();
    say!("restore it from a copy, or continue with the remaining data: plimsoll volume fsck {directory} --repair")
}

fn of(volumes: &[VolumeId], names: &BTreeMap<VolumeId, String>) -> String {
    let names: Vec<&str> = volumes.iter().filter_map(|volume| names.get(volume)).map(String::as_str).collect();
    match names.as_slice() {
        [] => label!("no volume that has a name").to_owned(),
        [name] => say!("volume {name}"),
        names => say!("volumes {}", names.join(", ")),
    }
}

/// Names of volumes from commits. Groups are not included.
pub(crate) fn collect_names<'a>(commits: impl IntoIterator<Item = &'a Commit>) -> BTreeMap<VolumeId, String> {
    let mut names = BTreeMap::new();
    for record in commits.into_iter().flat_map(|commit| &commit.records) {
        match record {
            Record::Describe { volume, text } => {
                if let Ok(StoredMetadata::Volume(metadata)) = StoredMetadata::read(text) {
                    names.insert(*volume, metadata.name);
                }
            }
            Record::Delete { volume } => {
                names.remove(volume);
            }
            _ => {}
        }
    }
    names
}

const fn volume_of(record: &Record) -> Option<VolumeId> {
    match record {
        Record::Create { volume, .. }
        | Record::Map { volume, .. }
        | Record::Unmap { volume, .. }
        | Record::Grow { volume, .. }
        | Record::Describe { volume, .. }
        | Record::Delete { volume }
        | Record::Fork { to: volume, .. } => Some(*volume),
        Record::Geometry { .. } => None,
    }
}
