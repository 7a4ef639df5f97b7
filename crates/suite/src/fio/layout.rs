//! Files of jobs: checks, creation, layout before jobs, and removal afterwards.
//!
//! Permission for writes is decided by the backend before anything is written.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::{Path, PathBuf};

use plimsoll_device::{Space, drop_cache, preallocate};
use plimsoll_drive::Onward;
use plimsoll_fio::{Allocation, JobNote};
use plimsoll_language::{label, say};
use plimsoll_units::Bytes;

use super::plan::{Existing, FilePlan, Filling, PathMeaning};
use crate::ground::{Ground, Unfit};

/// Bytes per write during layout.
const CHUNK: usize = 1 << 20;

/// The object at a path; `None` if missing, or the reason why it cannot be used.
pub fn find_file(path: &str) -> Result<Option<Existing>, String> {
    let failed = |error: io::Error| format!("{path}: {error}");
    let kind = match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => return Ok(Some(Existing::File(Bytes::new(metadata.len())))),
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if !kind.is_block_device() {
        return Err(say!("{path}: neither a file nor a block device; use one of these"));
    }
    let length = File::open(path).and_then(|mut device| device.seek(SeekFrom::End(0))).map_err(failed)?;
    Ok(Some(Existing::Device(Bytes::new(length))))
}

/// True if a path is a directory.
pub fn is_directory(path: &str) -> bool {
    Path::new(path).is_dir()
}

/// Receives the path, the written bytes and the size of a file during its layout, and can end it.
pub type LayoutProgress<'a> = &'a mut dyn FnMut(&str, Bytes, Bytes) -> Onward;

/// The files of a run: created, laid out, and removed.
#[derive(Debug)]
pub struct JobFiles<'a> {
    files: &'a [FilePlan],
    meaning: PathMeaning,
    /// Directories created for them, parents first.
    directories: Vec<PathBuf>,
}

impl<'a> JobFiles<'a> {
    /// Creates missing files. On errors, created files are removed.
    ///
    /// # Errors
    /// The error in a line.
    pub fn new(
        files: &'a [FilePlan],
        meaning: PathMeaning,
        ground: &mut dyn Ground,
        progress: LayoutProgress<'_>,
    ) -> Result<Self, String> {
        let mut laid = Self { files, meaning, directories: Vec::new() };
        let missing = |file: &&FilePlan| file.existing.is_none() && !file.may_create && meaning == PathMeaning::Paths;
        if let Some(path) = files.iter().find(missing).and_then(|file| file.path.as_ref()) {
            return Err(say!("{path}: missing, and allow_file_create=0 is set; create it first"));
        }
        let specs: Vec<_> = files.iter().map(|file| file.spec(meaning)).collect();
        let created = laid
            .make_directories()
            .and_then(|()| ground.prepare_files(&specs).map_err(|unfit| describe(&unfit)))
            .and_then(|()| laid.prepare(progress));
        match created {
            Ok(()) => Ok(laid),
            Err(why) => {
                laid.discard();
                Err(why)
            }
        }
    }

    /// Creates parent directories, as fio does.
    fn make_directories(&mut self) -> Result<(), String> {
        let missing = self.files.iter().filter(|file| file.existing.is_none() && self.meaning == PathMeaning::Paths);
        for parent in missing.filter_map(|file| Path::new(file.path.as_ref()?).parent()) {
            let absent = parent.ancestors().take_while(|above| !above.as_os_str().is_empty() && !above.exists());
            let mut absent: Vec<PathBuf> = absent.map(Path::to_path_buf).collect();
            while let Some(directory) = absent.pop() {
                std::fs::create_dir(&directory)
                    .map_err(|error| say!("creating the directory {}: {error}", directory.display()))?;
                self.directories.push(directory);
            }
        }
        Ok(())
    }

    fn prepare(&self, progress: LayoutProgress<'_>) -> Result<(), String> {
        if self.meaning != PathMeaning::Paths {
            return Ok(());
        }
        for file in self.files {
            let Some(path) = &file.path else { continue };
            let onward = prepare(file, path, progress).map_err(|error| format!("{path}: {error}"))?;
            if onward.is_break() {
                return Err(label!("interrupted during layout of files").into());
            }
        }
        Ok(())
    }

    /// Removes created files and directories if no job ran on them.
    pub fn discard(&self) {
        let created = self.files.iter().filter(|file| file.existing.is_none() && self.meaning == PathMeaning::Paths);
        for path in
            created.filter_map(|file| file.path.as_ref()).filter(|path| plimsoll_device::is_ours(Path::new(path)))
        {
            // Leftovers are recognised and used by the next run.
            let _ = std::fs::remove_file(path);
        }
        for directory in self.directories.iter().rev() {
            // Fails for directories with other files.
            let _ = std::fs::remove_dir(directory);
        }
    }

    /// Removes files with `unlink` that plimsoll created.
    pub fn remove(&self) -> Vec<JobNote> {
        let mut retained = Vec::new();
        for path in self.files.iter().filter(|file| file.unlink).filter_map(|file| file.path.as_ref()) {
            let was_made = plimsoll_device::is_ours(Path::new(path));
            if self.meaning == PathMeaning::Paths && (!was_made || std::fs::remove_file(path).is_err()) {
                retained.push(JobNote::FileRetained { path: path.clone() });
            }
        }
        retained
    }

    /// Prepares a file in the page cache before the jobs of a stage.
    pub fn prepare_cache(&self, file: usize, preparation: CachePreparation) -> io::Result<()> {
        let Some(path) = self.files[file].path.as_ref().filter(|_| self.meaning == PathMeaning::Paths) else {
            return Ok(());
        };
        let mut opened = File::open(path)?;
        match preparation {
            CachePreparation::Evict => drop_cache(&opened),
            CachePreparation::Read => {
                let mut chunk = vec![0; CHUNK];
                while opened.read(&mut chunk)? > 0 {}
                Ok(())
            }
        }
    }
}

/// Treatment of a file in the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePreparation {
    /// Evicted (`invalidate`).
    Evict,
    /// Read completely (`pre_read`).
    Read,
}

/// The refusal with the flag that permits it.
fn describe(unfit: &Unfit) -> String {
    let mut text = unfit.to_string();
    let mut source = std::error::Error::source(unfit);
    while let Some(error) = source {
        text.push_str(&format!(": {error}"));
        source = error.source();
    }
    text
}

/// Allocates and fills a file.
fn prepare(file: &FilePlan, path: &str, progress: LayoutProgress<'_>) -> io::Result<Onward> {
    let length = match file.existing {
        Some(Existing::Device(_)) => None,
        Some(Existing::File(length)) => Some(length),
        None => Some(Bytes::ZERO),
    };
    if let (Some(from), Some(filling)) = (file.lacks_from(), &file.filling) {
        return fill(path, (from, file.size), filling, progress);
    }
    let Some(length) = length.filter(|length| *length < file.size) else { return Ok(Onward::Continue(())) };
    let reserves = matches!(file.allocation, Allocation::Native | Allocation::Posix) && length == Bytes::ZERO;
    let sizes = file.is_full_length || file.allocation == Allocation::Truncate;
    if file.writes && (reserves || sizes) {
        let opened: OwnedFd = OpenOptions::new().write(true).open(path)?.into();
        preallocate(&opened, file.size, if reserves { Space::Reserve } else { Space::Sparse })?;
    }
    Ok(Onward::Continue(()))
}

/// Writes a range of a file and makes it durable.
fn fill(path: &str, (from, to): (Bytes, Bytes), filling: &Filling, progress: LayoutProgress<'_>) -> io::Result<Onward> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    let mut chunk = vec![0; CHUNK];
    // Starts at a chunk boundary, so that content is independent of an earlier, partial layout.
    let mut at = from.get() - from.get() % CHUNK as u64;
    let mut onward = Onward::Continue(());
    while at < to.get() && onward.is_continue() {
        let length = (to.get() - at).min(CHUNK as u64) as usize;
        filling.fill(at, &mut chunk[..length]);
        file.write_all_at(&chunk[..length], at)?;
        at += length as u64;
        onward = progress(path, Bytes::new(at), to);
    }
    file.flush()?;
    file.sync_data()?;
    Ok(onward)
}
