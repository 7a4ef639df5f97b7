//! The states of a bucket's volumes while its points are read, one of them in memory.
//!
//! A file of points has its volumes in ascending order, and so have the states before it: each month is a merge of both
//! into new states, which are in a file until the next month.

use std::iter::Peekable;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use plimsoll_fleet_engine::{LevelLimits, ReplayedVolume, VolumeState};

use super::operator::BucketSpec;
use super::results::{ResultsWriter, limits_path, read_states};
use crate::records::{Record, RecordReader, RecordWriter};

type States = Box<dyn Iterator<Item = Result<VolumeState>> + Send>;

/// States on their way through the months of a bucket.
pub struct BucketStates {
    results: PathBuf,
    name: String,
    has_limits: bool,
    /// Files of points that follow the present one.
    rest: usize,
    /// States before the present file.
    before: Peekable<States>,
    limits: Option<Peekable<RecordReader>>,
    /// The volume of the last points.
    last: Option<u32>,
    /// States after the present file; `None` before the first.
    after: Option<Output>,
}

/// Where states go.
enum Output {
    /// Into a temporary file, for the next month.
    Month(RecordWriter),
    /// Into the results.
    Results(Box<ResultsWriter>),
}

impl BucketStates {
    /// The states from which a bucket continues. `months` is the number of its files of points.
    pub fn begin(results: &Path, bucket: &BucketSpec, months: usize) -> Result<Self> {
        let before: States = match &bucket.from {
            Some(name) => Box::new(read_states(results, name)?.map(|state| state.map_err(anyhow::Error::from))),
            None => Box::new(std::iter::empty()),
        };
        let mut states = Self {
            results: results.to_owned(),
            name: bucket.name.clone(),
            has_limits: bucket.has_limits,
            rest: months.saturating_sub(1),
            before: before.peekable(),
            limits: None,
            last: None,
            after: None,
        };
        states.limits = states.open_limits()?;
        Ok(states)
    }

    fn open_limits(&self) -> Result<Option<Peekable<RecordReader>>> {
        let open = || RecordReader::open(&limits_path(&self.results, &self.name));
        Ok(if self.has_limits { Some(open()?.peekable()) } else { None })
    }

    /// Takes the state after a volume's points, and returns the next volume.
    pub fn exchange(&mut self, next: u32, previous: Option<VolumeState>) -> Result<ReplayedVolume> {
        if let Some(previous) = previous {
            self.write(previous)?;
        }
        if self.last.is_some_and(|last| next < last) {
            ensure!(
                self.rest > 0,
                "the points of {} are not in the order of their volumes: ingest them again",
                self.name
            );
            self.next_month()?;
        }
        self.last = Some(next);
        let is_before = |state: &Result<VolumeState>| state.as_ref().is_ok_and(|state| state.volume < next);
        while let Some(state) = self.before.next_if(is_before).transpose()? {
            self.write(state)?;
        }
        let is_own = |state: &Result<VolumeState>| state.as_ref().map_or(true, |state| state.volume == next);
        let state = self.before.next_if(is_own).transpose()?.unwrap_or_else(|| VolumeState::new(next));
        Ok(ReplayedVolume { state, limits: self.limits_of(next)? })
    }

    fn limits_of(&mut self, volume: u32) -> Result<LevelLimits> {
        let (Some(limits), key) = (&mut self.limits, volume.to_be_bytes()) else { return Ok(LevelLimits::default()) };
        let is_before = |record: &Result<Record>| record.as_ref().is_ok_and(|record| *record.key < key[..]);
        while limits.next_if(is_before).is_some() {}
        let is_own = |record: &Result<Record>| record.as_ref().map_or(true, |record| record.key == key);
        let Some(record) = limits.next_if(is_own).transpose()? else { return Ok(LevelLimits::default()) };
        serde_json::from_slice(&record.value).with_context(|| format!("read the limits of volume {volume}"))
    }

    fn write(&mut self, state: VolumeState) -> Result<()> {
        if self.after.is_none() {
            self.after = Some(if self.rest == 0 {
                Output::Results(Box::new(ResultsWriter::create(&self.results, &self.name)?))
            } else {
                Output::Month(RecordWriter::unnamed(&self.results.join(format!("{}.states", self.name)))?)
            });
        }
        match &mut self.after {
            Some(Output::Month(file)) => file.push(&state.volume.to_be_bytes(), &state.to_bytes()),
            Some(Output::Results(results)) => Ok(results.push(state)?),
            None => Ok(()),
        }
    }

    /// States after a month are those before the next one.
    fn next_month(&mut self) -> Result<()> {
        while let Some(state) = self.before.next().transpose()? {
            self.write(state)?;
        }
        if let Some(Output::Month(file)) = self.after.take() {
            let state = |record: Result<Record>| Ok(VolumeState::from_bytes(&record?.value)?);
            let before: States = Box::new(file.into_reader()?.map(state));
            self.before = before.peekable();
        }
        (self.rest, self.last) = (self.rest - 1, None);
        self.limits = self.open_limits()?;
        Ok(())
    }

    /// Takes the state of the last volume and writes the results.
    pub fn finish(mut self, last: Option<VolumeState>) -> Result<()> {
        if let Some(last) = last {
            self.write(last)?;
        }
        // Months whose volumes follow those of the month before were taken for a part of it.
        while self.rest > 0 {
            self.next_month()?;
        }
        while let Some(state) = self.before.next().transpose()? {
            self.write(state)?;
        }
        match self.after {
            Some(Output::Results(results)) => Ok(results.finish()?),
            _ => Ok(ResultsWriter::create(&self.results, &self.name)?.finish()?),
        }
    }
}
