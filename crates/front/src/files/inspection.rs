//! Examination and repair of a data directory that is not served. Only the repair methods change anything.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use plimsoll_volume::{FileId, FileKind, FilePosition, Log, LogError, StoreId, Superblock, header};

use super::directory::{
    DataFile, Directory, DirectoryError, HeaderFault, SuperblockFile, list_lengths, make_data_file,
};
use super::sums::{BLOCK, SumFile, recompute, scan};

/// The state of a data directory.
#[derive(Debug)]
pub struct Inspection {
    directory: Directory,
    superblock: Option<SuperblockFile>,
    log: Log,
    log_bytes: Vec<u8>,
    id: StoreId,
    data_files: Vec<DataFile>,
    /// The checksums of each data file, or their fault; empty where there are none.
    sums: BTreeMap<u32, Result<SumFile, String>>,
}

impl Inspection {
    /// Examines a directory. Refused while it is served, and if it was never a data directory.
    pub fn open(path: &Path) -> Result<Self, DirectoryError> {
        let directory = Directory::lock_damaged(path)?;
        let superblock = match directory.superblock() {
            Err(DirectoryError::NoSuperblock(_)) => None,
            other => other?,
        };
        let log_bytes = directory.log_bytes()?;
        let log = Log::read(&log_bytes);
        let of_log = log.id;
        let id = superblock.as_ref().map(|superblock| superblock.state.id).or(of_log);
        let why = "has neither a superblock nor a log that can be read: restore one of them from a copy";
        let id = id.ok_or_else(|| DirectoryError::Untrusted { path: path.to_path_buf(), why: why.to_owned() })?;
        let data_files = directory.data_files(id)?;
        let mut sums = BTreeMap::new();
        if superblock.as_ref().is_some_and(|superblock| superblock.state.has_checksums) {
            for DataFile { number, .. } in &data_files {
                sums.insert(*number, directory.sum_file(id, *number)?);
            }
        }
        Ok(Self { directory, superblock, log, log_bytes, id, data_files, sums })
    }

    /// Whether its data have checksums.
    pub fn has_checksums(&self) -> bool {
        self.superblock.as_ref().is_some_and(|superblock| superblock.state.has_checksums)
    }

    /// Data files whose checksums cannot be used, with the fault.
    pub fn damaged_sums(&self) -> Vec<(FileId, String)> {
        let faults =
            self.sums.iter().filter_map(|(number, sums)| Some((FileId(*number), sums.as_ref().err()?.clone())));
        faults.collect()
    }

    /// Bytes of the extents that were being written when the directory was left.
    pub fn uncertain_bytes(&self) -> u64 {
        self.sums.values().flatten().map(SumFile::active_bytes).sum()
    }

    /// Positions of blocks within `length` bytes from `place` on that differ from their checksums, without those that
    /// were being written when the directory was left: their checksums are recomputed at the next start.
    pub fn scan(&self, place: FilePosition, length: u64) -> Result<Vec<FilePosition>, DirectoryError> {
        let data = self.data_files.iter().find(|data| data.number == place.file.0);
        let sums = self.sums.get(&place.file.0).and_then(|sums| sums.as_ref().ok());
        let (Some(data), Some(sums)) = (data, sums) else { return Ok(Vec::new()) };
        let blocks = place.at / BLOCK..(place.at + length).div_ceil(BLOCK);
        let damaged = scan(data.file.as_fd(), sums.sums(), blocks).map_err(|source| self.directory.io(source))?;
        let certain = damaged.into_iter().filter(|block| !sums.is_active(*block));
        Ok(certain.map(|block| FilePosition { file: place.file, at: block * BLOCK }).collect())
    }

    /// Computes the checksums of a data file from the data as they are.
    pub fn repair_sums(&mut self, file: FileId) -> Result<(), DirectoryError> {
        let Some(data) = self.data_files.iter().find(|data| data.number == file.0) else { return Ok(()) };
        let created = SumFile::make(&self.directory.descriptor, self.id, file.0).and_then(|sums| {
            recompute(data.file.as_fd(), sums.sums(), 0..data.length.div_ceil(BLOCK))?;
            data.file.sync_data()?;
            sums.sums().sync_all()?;
            rustix::fs::fsync(&self.directory.descriptor)?;
            Ok(sums)
        });
        let sums = created.map_err(|source| self.directory.io(source))?;
        self.sums.insert(file.0, Ok(sums));
        Ok(())
    }

    /// Adds checksums, computed from the data as they are.
    pub fn add_checksums(&mut self) -> Result<(), DirectoryError> {
        let files: Vec<FileId> = self.data_files.iter().map(|data| FileId(data.number)).collect();
        for file in files {
            self.repair_sums(file)?;
        }
        let Some(superblock) = &mut self.superblock else { return Ok(()) };
        superblock.state.has_checksums = true;
        superblock.store().map_err(|source| self.directory.io(source))
    }

    /// The identity of its store.
    pub const fn id(&self) -> StoreId {
        self.id
    }

    /// Its superblock; `None` when that is missing or damaged.
    pub fn superblock(&self) -> Option<Superblock> {
        self.superblock.as_ref().map(|superblock| superblock.state)
    }

    /// The readable part of its log.
    pub const fn log(&self) -> &Log {
        &self.log
    }

    /// Bytes behind the last commit of the log that can be used.
    pub const fn rest_bytes(&self) -> u64 {
        self.log_bytes.len() as u64 - self.log.length
    }

    /// The commits that the log has lost.
    pub fn lost(&self) -> Result<(), LogError> {
        let next = self.superblock().map_or(0, |superblock| superblock.next);
        self.log.check(self.id, if self.data_files.is_empty() { next } else { next.max(1) })
    }

    /// Bytes of each data file, 0 for one that is missing.
    pub fn lengths(&self) -> Vec<u64> {
        list_lengths(&self.data_files)
    }

    /// Data files whose header is damaged, with the fault.
    pub fn damaged_headers(&self) -> Vec<(FileId, &str)> {
        self.faults(|fault| matches!(fault, HeaderFault::Damaged(_)))
    }

    /// Data files of other directories, with the fault.
    pub fn foreign_files(&self) -> Vec<(FileId, &str)> {
        self.faults(|fault| matches!(fault, HeaderFault::Foreign(_)))
    }

    fn faults(&self, is_selected: impl Fn(&HeaderFault) -> bool) -> Vec<(FileId, &str)> {
        let faults = self.data_files.iter().filter_map(|file| Some((file.number, file.header.as_ref().err()?)));
        faults.filter(|(_, fault)| is_selected(fault)).map(|(number, fault)| (FileId(number), fault.why())).collect()
    }

    /// Makes the superblock again. Unreferenced clusters are kept.
    pub fn repair_superblock(&mut self) -> Result<(), DirectoryError> {
        let mut state = Superblock::new(self.id);
        (state.next, state.keeps_unreferenced) = (self.log.next(), true);
        // The files of checksums show that there were any.
        for DataFile { number, .. } in &self.data_files {
            if let Ok(sums) = self.directory.sum_file(self.id, *number)? {
                state.has_checksums = true;
                self.sums.insert(*number, Ok(sums));
            }
        }
        if state.has_checksums {
            for DataFile { number, .. } in &self.data_files {
                self.sums.entry(*number).or_insert_with(|| Err(format!("the checksums of data.{number} are missing")));
            }
        }
        self.superblock = Some(self.directory.make(state)?);
        Ok(())
    }

    /// Cuts the unusable end off the log, to continue from its last usable commit. Unreferenced clusters are kept.
    /// Returns the file that keeps the cut part, if any.
    pub fn repair_log(&mut self) -> Result<Option<PathBuf>, DirectoryError> {
        let rest = &self.log_bytes[self.log.length as usize..];
        let storage_full = || io::Error::from(io::ErrorKind::StorageFull);
        let torn_file = match rest {
            [] => None,
            rest => Some(self.directory.keep_torn(rest)?.ok_or_else(|| self.directory.io(storage_full()))?),
        };
        if let Some(superblock) = &mut self.superblock {
            (superblock.state.next, superblock.state.keeps_unreferenced) = (self.log.next(), true);
            superblock.store().map_err(|source| self.directory.io(source))?;
        }
        let log = self.directory.log()?;
        let cut = rustix::fs::ftruncate(&log, self.log.length);
        cut.and_then(|()| rustix::fs::fsync(&log)).map_err(|source| self.directory.io(source))?;
        self.log_bytes.truncate(self.log.length as usize);
        self.log.later.clear();
        Ok(torn_file)
    }

    /// Writes the header of a data file again.
    pub fn repair_header(&mut self, file: FileId) -> Result<(), DirectoryError> {
        let Some(data) = self.data_files.iter_mut().find(|data| data.number == file.0) else { return Ok(()) };
        let written =
            data.file.write_all_at(&header(FileKind::Data, self.id, file), 0).and_then(|()| data.file.sync_all());
        written.map_err(|source| self.directory.io(source))?;
        data.header = Ok(());
        Ok(())
    }

    /// Makes or extends a data file: missing data read as zeros from then on.
    pub fn repair_length(&mut self, file: FileId, length: u64) -> Result<(), DirectoryError> {
        let failed = |source: io::Error| self.directory.io(source);
        if !self.data_files.iter().any(|data| data.number == file.0) {
            if self.superblock.as_ref().is_some_and(|superblock| superblock.state.has_checksums) {
                let sums = SumFile::make(&self.directory.descriptor, self.id, file.0).map_err(failed)?;
                self.sums.insert(file.0, Ok(sums));
            }
            let created = make_data_file(&self.directory.descriptor, self.id, file.0).map_err(failed)?;
            let (number, header) = (file.0, Ok(()));
            self.data_files.push(DataFile { number, length: 0, file: created.into(), header });
            self.data_files.sort_unstable_by_key(|data| data.number);
        }
        let Some(data) = self.data_files.iter_mut().find(|data| data.number == file.0) else { return Ok(()) };
        let grown = data.file.set_len(length.max(data.length)).and_then(|()| data.file.sync_all());
        grown.map_err(|source| self.directory.io(source))?;
        let lost = data.length / BLOCK..length.div_ceil(BLOCK).max(data.length / BLOCK);
        if let Some(Ok(sums)) = self.sums.get(&file.0) {
            let computed = recompute(data.file.as_fd(), sums.sums(), lost).and_then(|_| sums.sums().sync_data());
            computed.map_err(|source| self.directory.io(source))?;
        }
        data.length = length.max(data.length);
        Ok(())
    }

    /// Allows the next start to free unreferenced clusters.
    pub fn release_unreferenced(&mut self) -> Result<(), DirectoryError> {
        let Some(superblock) = &mut self.superblock else { return Ok(()) };
        superblock.state.keeps_unreferenced = false;
        superblock.store().map_err(|source| self.directory.io(source))
    }
}
