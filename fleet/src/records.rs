//! Records in the order of their keys, in bounded memory: those that do not fit wait in sorted runs in temporary files.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::folder::temporary_name;

/// A key and its value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Records are in the order of its bytes.
    pub key: Vec<u8>,
    /// Any bytes.
    pub value: Vec<u8>,
}

impl Record {
    /// The number of a key that is one.
    pub fn number(&self) -> Result<u32> {
        let bytes = self.key.as_slice().try_into().context("a key of four bytes")?;
        Ok(u32::from_be_bytes(bytes))
    }
}

/// Bytes of a reader's or writer's buffer.
const BUFFER: usize = 64 << 10;
/// Runs that are merged at a time: each has an open file.
const MAX_RUNS: usize = 32;

/// Memory and place of sorters.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    max_bytes: usize,
    files: AtomicUsize,
}

impl Scratch {
    /// Each sorter has at most `max_bytes` in memory, and the rest in files without a name in `folder`.
    pub fn new(folder: &Path, max_bytes: usize) -> Self {
        Self { folder: folder.to_owned(), max_bytes, files: AtomicUsize::new(0) }
    }

    /// A sorter without records.
    pub fn sorter(&self) -> Sorter<'_> {
        Sorter { scratch: self, bytes: Vec::new(), places: Vec::new(), runs: Vec::new() }
    }

    fn writer(&self) -> Result<RecordWriter> {
        let number = self.files.fetch_add(1, Ordering::Relaxed);
        RecordWriter::unnamed(&self.folder.join(format!("records-{number}")))
    }
}

/// Collects records in any order.
pub struct Sorter<'a> {
    scratch: &'a Scratch,
    bytes: Vec<u8>,
    places: Vec<RecordPlace>,
    runs: Vec<RecordReader>,
}

/// A record in a buffer.
#[derive(Clone, Copy, Debug)]
struct RecordPlace {
    begin: usize,
    key_end: usize,
    end: usize,
}

impl Sorter<'_> {
    /// Adds a record. Records of the same key stay in the order of their addition.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let used = self.bytes.len() + self.places.len() * size_of::<RecordPlace>();
        if used + key.len() + value.len() > self.scratch.max_bytes && !self.places.is_empty() {
            self.spill()?;
        }
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        self.places.push(RecordPlace { begin, key_end: begin + key.len(), end: self.bytes.len() });
        Ok(())
    }

    /// Adds a record whose value is JSON.
    pub fn push_json(&mut self, key: &[u8], value: &impl Serialize) -> Result<()> {
        self.push(key, &serde_json::to_vec(value)?)
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.places.sort_by(|a, b| bytes[a.begin..a.key_end].cmp(&bytes[b.begin..b.key_end]));
    }

    fn spill(&mut self) -> Result<()> {
        self.sort();
        let mut writer = self.scratch.writer()?;
        for RecordPlace { begin, key_end, end } in &self.places {
            writer.push(&self.bytes[*begin..*key_end], &self.bytes[*key_end..*end])?;
        }
        self.runs.push(writer.into_reader()?);
        self.bytes.clear();
        self.places.clear();
        if self.runs.len() == MAX_RUNS {
            let mut writer = self.scratch.writer()?;
            for record in SortedRecords::of(self.runs.drain(..).map(Run::File).collect())? {
                let record = record?;
                writer.push(&record.key, &record.value)?;
            }
            self.runs.push(writer.into_reader()?);
        }
        Ok(())
    }

    /// The records in the order of their keys.
    pub fn finish(mut self) -> Result<SortedRecords> {
        self.sort();
        let mut runs: Vec<Run> = self.runs.into_iter().map(Run::File).collect();
        runs.push(Run::Memory { bytes: self.bytes, places: self.places.into_iter() });
        SortedRecords::of(runs)
    }
}

enum Run {
    File(RecordReader),
    Memory { bytes: Vec<u8>, places: std::vec::IntoIter<RecordPlace> },
}

impl Run {
    fn next(&mut self) -> Result<Option<Record>> {
        match self {
            Self::File(reader) => reader.next().transpose(),
            Self::Memory { bytes, places } => Ok(places.next().map(|RecordPlace { begin, key_end, end }| Record {
                key: bytes[begin..key_end].to_vec(),
                value: bytes[key_end..end].to_vec(),
            })),
        }
    }
}

/// Records in the order of their keys.
pub struct SortedRecords {
    runs: Vec<Run>,
    /// The first key of each run, with the number of the run.
    heads: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    /// The values of these keys.
    values: Vec<Vec<u8>>,
}

impl SortedRecords {
    fn of(runs: Vec<Run>) -> Result<Self> {
        let values = vec![Vec::new(); runs.len()];
        let mut records = Self { runs, heads: BinaryHeap::new(), values };
        for number in 0..records.runs.len() {
            records.refill(number)?;
        }
        Ok(records)
    }

    fn refill(&mut self, number: usize) -> Result<()> {
        if let Some(record) = self.runs[number].next()? {
            self.heads.push(Reverse((record.key, number)));
            self.values[number] = record.value;
        }
        Ok(())
    }
}

impl Iterator for SortedRecords {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((key, number)) = self.heads.pop()?;
        let value = std::mem::take(&mut self.values[number]);
        Some(self.refill(number).map(|()| Record { key, value }))
    }
}

/// Writes records into a file.
pub struct RecordWriter {
    path: PathBuf,
    file: BufWriter<File>,
}

impl RecordWriter {
    /// A file of this name. It is not synced: nobody reads it after the process.
    pub fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).with_context(|| format!("create {}", path.display()))?;
        Ok(Self { path: path.to_owned(), file: BufWriter::with_capacity(BUFFER, file) })
    }

    /// A file in the folder of `path` that has no name, so that it does not outlive the process.
    pub fn unnamed(path: &Path) -> Result<Self> {
        let path = temporary_name(path);
        let context = || format!("create {}", path.display());
        let file = File::options().read(true).write(true).create_new(true).open(&path).with_context(context)?;
        fs::remove_file(&path).with_context(context)?;
        Ok(Self { path, file: BufWriter::with_capacity(BUFFER, file) })
    }

    /// Adds a record.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let lengths = [key.len(), value.len()].map(|length| (length as u32).to_le_bytes()).concat();
        let parts = [&lengths[..], key, value];
        parts
            .into_iter()
            .try_for_each(|part| self.file.write_all(part))
            .with_context(|| format!("write {}", self.path.display()))
    }

    /// Writes what is buffered.
    pub fn finish(mut self) -> Result<()> {
        self.file.flush().with_context(|| format!("write {}", self.path.display()))
    }

    /// Reads the records again.
    pub fn into_reader(self) -> Result<RecordReader> {
        let context = || format!("write {}", self.path.display());
        let mut file = self.file.into_inner().map_err(std::io::IntoInnerError::into_error).with_context(context)?;
        file.rewind()?;
        Ok(RecordReader { path: self.path, file: BufReader::with_capacity(BUFFER, file) })
    }
}

/// Reads the records of a file.
pub struct RecordReader {
    path: PathBuf,
    file: BufReader<File>,
}

impl RecordReader {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("open {}", path.display()))?;
        Ok(Self { path: path.to_owned(), file: BufReader::with_capacity(BUFFER, file) })
    }

    fn read(&mut self) -> std::io::Result<Option<Record>> {
        if self.file.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let mut lengths = [[0; 4]; 2];
        self.file.read_exact(lengths.as_flattened_mut())?;
        let [mut key, mut value] = lengths.map(|length| vec![0; u32::from_le_bytes(length) as usize]);
        self.file.read_exact(&mut key)?;
        self.file.read_exact(&mut value)?;
        Ok(Some(Record { key, value }))
    }
}

impl Iterator for RecordReader {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().with_context(|| format!("read {}", self.path.display())).transpose()
    }
}
