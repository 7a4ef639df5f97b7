//! Files, sizes and used ranges of a clone of a job.
//!
//! Rules determined with fio 3.33: a size is shared evenly among all files, incomplete blocks are unused; with an
//! offset a file is longer than its size; an offset in percent refers to the existing size; `filesize` limits the used
//! range, and a random size is a multiple of the smallest block; a size in percent is that share of existing files, or
//! of `filesize`; without a size, existing files are used completely.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::ground::place_files;
use crate::step::{FilePart, FileSpec};
use plimsoll_fio::{Allocation, Engine, Extent, FioJob};
use plimsoll_language::{label, say};
use plimsoll_load::Region;
use plimsoll_units::Bytes;

use super::contents::Filling;

/// The object at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// A regular file of this size.
    File(Bytes),
    /// A block device of this size.
    Device(Bytes),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathMeaning {
    /// Files and devices of the host.
    Paths,
    /// A space of this size: files are placed consecutively; a file without a size takes all of it.
    Space(Bytes),
}

pub struct PathLookup<'a> {
    /// The object at a path; `None` if missing, or the reason why it cannot be used.
    pub at: &'a dyn Fn(&str) -> Result<Option<Existing>, String>,
    /// True if a path is a directory.
    pub is_directory: &'a dyn Fn(&str) -> bool,
    pub meaning: PathMeaning,
    /// Disks of the space, in the order of their addresses. Empty if all files are on one.
    pub disks: &'a [NamedDisk],
}

/// A disk of a simulated server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedDisk {
    /// Its files are below this path.
    pub path: PathBuf,
    pub size: Bytes,
}

impl PathLookup<'_> {
    /// The index of the disk with the longest path above a file.
    fn disk_of(&self, file: &str) -> Result<usize, String> {
        let above = |disk: &&NamedDisk| Path::new(file).starts_with(&disk.path);
        let found = self.disks.iter().filter(above).max_by_key(|disk| disk.path.components().count());
        match found {
            Some(disk) => Ok(self.disks.iter().position(|other| other == disk).unwrap_or_default()),
            None if self.disks.is_empty() => Ok(0),
            None => Err(say!("{file}: on none of the disks; add --on {file}=CONFIG, or --on of a path above it")),
        }
    }
}

#[expect(clippy::struct_excessive_bools, reason = "each is an independent requirement of a job")]
#[derive(Clone, Debug, PartialEq)]
pub struct FilePlan {
    /// Its path; `None` for an engine without files.
    pub path: Option<String>,
    /// Bytes up to the end of the used range.
    pub size: Bytes,
    pub existing: Option<Existing>,
    /// True if a job writes to it.
    pub writes: bool,
    /// Content to lay out where data are missing, if jobs need them.
    pub filling: Option<Filling>,
    /// True if it is laid out even where data exist.
    pub overwrite: bool,
    /// Allocation of a new file.
    pub allocation: Allocation,
    /// True if it must have its full length.
    pub is_full_length: bool,
    /// True if it may be created.
    pub may_create: bool,
    /// True if it is removed at the end, provided that a job created it.
    pub unlink: bool,
    /// Index of its disk in a space.
    pub disk: usize,
    /// Its first address in a space, known once all files are planned.
    pub base: u64,
}

impl FilePlan {
    /// The file for a backend, with padding such that the next file begins at a multiple of a MiB.
    pub fn spec(&self, meaning: PathMeaning) -> FileSpec {
        let size = match meaning {
            PathMeaning::Paths if !self.is_full_length => Bytes::new(self.size.get().next_multiple_of(1 << 20)),
            _ => self.size,
        };
        let path = self.path.as_ref().filter(|_| meaning == PathMeaning::Paths).map(PathBuf::from);
        let writes = self.writes || self.lacks_from().is_some();
        FileSpec { path, size, reserved: false, writes, device: self.disk }
    }

    /// Offset from which data are missing before jobs can read it; `None` if it is complete.
    pub fn lacks_from(&self) -> Option<Bytes> {
        self.filling.as_ref()?;
        match self.existing {
            _ if self.overwrite => Some(Bytes::ZERO),
            Some(Existing::Device(_)) => None,
            Some(Existing::File(length)) => (length < self.size).then_some(length),
            None => Some(Bytes::ZERO),
        }
    }
}

/// A file of a clone and its used range.
#[derive(Clone, Debug, PartialEq)]
struct Stretch {
    path: Option<String>,
    existing: Option<Existing>,
    disk: usize,
    start: u64,
    /// Used bytes: whole blocks.
    length: Bytes,
    /// End of the file, including an incomplete block.
    end: Bytes,
}

/// All files of a clone.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    stretches: Vec<Stretch>,
    /// `size` in bytes, if given.
    size: Option<Bytes>,
}

/// Sets the first address of each file in a space.
pub(super) fn set_bases(files: &mut [FilePlan], lookup: &PathLookup<'_>) {
    let specs: Vec<_> = files.iter().map(|file| file.spec(lookup.meaning)).collect();
    let disks: Vec<_> = lookup.disks.iter().map(|disk| disk.size).collect();
    for (file, region) in files.iter_mut().zip(place_files(&specs, &disks)) {
        file.base = region.start;
    }
}

/// Regions of a worker's parts in the common address space.
pub fn bases(parts: &[FilePart], files: &[FilePlan], meaning: PathMeaning) -> Vec<Region> {
    let size = |file: usize| files[file].spec(meaning).size.get();
    let base = |part: &FilePart| match meaning {
        PathMeaning::Space(_) => files[part.file].base,
        PathMeaning::Paths => {
            let mut before: Vec<usize> = Vec::new();
            for other in parts.iter().take_while(|other| other.file != part.file) {
                if !before.contains(&other.file) {
                    before.push(other.file);
                }
            }
            before.into_iter().map(size).sum()
        }
    };
    parts.iter().map(|part| Region { start: base(part) + part.start, length: part.length }).collect()
}

/// A number from 0 to `max` that depends only on the seed (SplitMix64; Steele, Lea and Flood, 2014).
pub(super) fn drawn(seed: u64, max: u64) -> u64 {
    let x = plimsoll_units::splitmix64(seed);
    if max == u64::MAX { x } else { x % (max + 1) }
}

/// Computes the ranges of a clone.
pub(super) fn spread(job: &FioJob, copy: u64, seed: u64, lookup: &PathLookup<'_>) -> Result<Spread, String> {
    let smallest = job.access.smallest().get().max(1);
    let paths = job.files.paths(&job.section, copy);
    let is_null = job.flow.engine == Engine::Null;
    if lookup.meaning == PathMeaning::Paths {
        let missing = job.files.directories.iter().find(|directory| !(lookup.is_directory)(directory));
        if let Some(directory) = missing {
            return Err(say!("directory={directory}: not a directory; create it first"));
        }
    }
    let mut found = Vec::new();
    for path in paths {
        let disk = if is_null { 0 } else { lookup.disk_of(&path)? };
        let existing = match lookup.meaning {
            _ if is_null => None,
            PathMeaning::Space(space) if path.starts_with("/dev/") || job.files.size.is_none() => {
                let space = lookup.disks.get(disk).map_or(space, |disk| disk.size);
                Some(Existing::Device(Bytes::new(space.get() / job.files.count.max(1))))
            }
            PathMeaning::Space(_) => None,
            PathMeaning::Paths => (lookup.at)(&path)?,
        };
        found.push(((!is_null).then_some(path), existing, disk));
    }
    let there: Bytes = found.iter().filter_map(|(_, existing, _)| existing.map(length)).fold(Bytes::ZERO, sum);
    let size = match job.files.size {
        Some(Extent::Bytes(size)) => Some(size),
        Some(Extent::Percent(_)) if there == Bytes::ZERO && job.files.each.is_none() => return Err(lacks_size()),
        Some(percent) if there > Bytes::ZERO => Some(percent.of(there)),
        _ => None,
    };
    // Of new files, a size in percent refers to `filesize`.
    let share = job.files.size.filter(|_| there == Bytes::ZERO);
    let of_new = |bytes: u64| match share {
        Some(percent @ Extent::Percent(_)) => percent.of(Bytes::new(bytes)).get(),
        _ => bytes,
    };
    let count = found.len() as u64;
    let mut stretches = Vec::new();
    for (index, (path, existing, disk)) in found.into_iter().enumerate() {
        let start = compute_offset(job, copy, existing.map_or(Bytes::ZERO, length), smallest);
        let required = match (job.files.each, size) {
            (Some((low, high)), _) => {
                let span = (high.get().max(low.get()) - low.get()) / smallest;
                of_new(low.get() + drawn(seed ^ (index as u64) << 8, span) * smallest)
            }
            (None, Some(size)) => size.get() / count,
            (None, None) => match existing {
                Some(existing) => length(existing).get().saturating_sub(start),
                None => return Err(lacks_size()),
            },
        };
        let required = match existing {
            Some(Existing::Device(device)) => required.min(device.get().saturating_sub(start)),
            _ => required,
        };
        let usable = required - required % smallest;
        if usable == 0 {
            let name = path.as_deref().unwrap_or(label!("a file"));
            return Err(say!(
                "{name}: {required} bytes from {start} on are less than a block of {smallest}; use a larger size or a \
                 smaller bs or offset"
            ));
        }
        let end = Bytes::new(start.saturating_add(required));
        stretches.push(Stretch { path, existing, disk, start, length: Bytes::new(usable), end });
    }
    Ok(Spread { stretches, size })
}

fn lacks_size() -> String {
    label!("size= is required, or the name of an existing file or device").into()
}

const fn length(existing: Existing) -> Bytes {
    match existing {
        Existing::File(length) | Existing::Device(length) => length,
    }
}

fn sum(a: Bytes, b: Bytes) -> Bytes {
    Bytes::new(a.get().saturating_add(b.get()))
}

fn compute_offset(job: &FioJob, copy: u64, there: Bytes, smallest: u64) -> u64 {
    let access = &job.access;
    let increment = access.offset_increment.of(there).get().saturating_mul(copy);
    let offset = access.offset.of(there).get().saturating_add(increment);
    let is_percent =
        matches!(access.offset, Extent::Percent(_)) || matches!(access.offset_increment, Extent::Percent(_));
    let align = access.offset_alignment.map_or(if is_percent { smallest } else { 1 }, |align| align.get().max(1));
    if is_percent { offset - offset % align } else { offset }
}

impl Spread {
    /// Bytes after which the job ends.
    pub(super) fn bytes(&self, job: &FioJob) -> u64 {
        let reached = self.stretches.iter().map(|stretch| stretch.length).fold(Bytes::ZERO, sum);
        let size = self.size.map_or(reached, |size| size.min(reached));
        let smallest = job.access.smallest().get().max(1);
        let bytes = job.access.io_size.map_or(size, |io_size| io_size.of(size)).get();
        (bytes - bytes % smallest).max(smallest)
    }

    /// Number of blocks at each multiple of `distance` bytes; `None` if a part is a whole file.
    pub(super) fn operations(&self, block: u64, distance: u64) -> Option<u64> {
        let of = |stretch: &Stretch| {
            let is_whole = stretch.length >= stretch.existing.map_or(stretch.end, length);
            let rest = stretch.length.get().checked_sub(block).filter(|_| !is_whole)?;
            Some(rest / distance.max(1) + 1)
        };
        self.stretches.iter().try_fold(0_u64, |sum, stretch| Some(sum.saturating_add(of(stretch)?)))
    }

    pub(super) fn largest(&self) -> Bytes {
        self.stretches.iter().map(|stretch| stretch.length).max().unwrap_or(Bytes::ZERO)
    }

    /// The parts, with their files added to the list of all files.
    pub(super) fn parts(
        &self,
        job: &FioJob,
        files: &mut Vec<FilePlan>,
        existing: &mut BTreeMap<String, usize>,
    ) -> Result<Vec<FilePart>, String> {
        let mut parts = Vec::new();
        for stretch in &self.stretches {
            let plan = stretch.plan(job)?;
            let place = match stretch.path.as_ref().and_then(|path| existing.get(path)) {
                Some(place) => *place,
                None => files.len(),
            };
            match files.get_mut(place) {
                Some(file) => file.join(plan),
                None => files.push(plan),
            }
            if let Some(path) = &stretch.path {
                existing.insert(path.clone(), place);
            }
            parts.push(FilePart { file: place, start: stretch.start, length: stretch.length });
        }
        Ok(parts)
    }
}

impl Stretch {
    fn plan(&self, job: &FioJob) -> Result<FilePlan, String> {
        let files = &job.files;
        let writes = job.writes() && !super::only_verifies(job);
        // A trimmed range must contain data before.
        let is_read_first = job.access.direction.reads || super::only_verifies(job) || super::only_trims(job);
        let is_mapped = job.flow.engine == Engine::Mmap;
        if files.allocation == Allocation::KeepSize {
            return Err(label!("fallocate=keep is not supported; use native, posix, truncate or none").into());
        }
        Ok(FilePlan {
            path: self.path.clone(),
            size: self.end,
            existing: self.existing,
            writes,
            filling: (is_read_first || files.overwrite).then(|| Filling::of(job)),
            overwrite: files.overwrite,
            allocation: files.allocation,
            is_full_length: is_mapped,
            may_create: files.may_create,
            unlink: files.unlink,
            disk: self.disk,
            base: 0,
        })
    }
}

impl FilePlan {
    /// Merges the requirements of another job.
    fn join(&mut self, other: Self) {
        self.size = self.size.max(other.size);
        self.writes |= other.writes;
        self.filling = self.filling.take().or(other.filling);
        self.overwrite |= other.overwrite;
        self.is_full_length |= other.is_full_length;
        self.may_create |= other.may_create;
        self.unlink |= other.unlink;
    }
}
