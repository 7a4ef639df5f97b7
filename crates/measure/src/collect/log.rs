//! The output file of snapshots: a line each, passed to the system before the next snapshot.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use plimsoll_drive::Fault;
use plimsoll_language::{label, say};
use plimsoll_suite::snapshots;
use serde_json::{Map, Value, json};

use crate::error::MeasureError;
use crate::invalid::InvalidRequest;

pub(super) struct CollectLog {
    name: String,
    out: Box<dyn Write>,
    count: u64,
}

impl CollectLog {
    /// Writes the header to standard output.
    pub(super) fn to_stdout(out: Box<dyn Write>, head: &Map<String, Value>) -> Result<Self, MeasureError> {
        Self { name: label!("standard output").to_owned(), out, count: 0 }.begin(head)
    }

    /// Creates the file, which must not exist, and writes the header.
    pub(super) fn create(path: Option<&Path>, source: &str, head: &Map<String, Value>) -> Result<Self, MeasureError> {
        let time = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S");
        let name = path.map_or_else(|| format!("{source}-{time}.jsonl"), |path| path.display().to_string());
        let file = OpenOptions::new().write(true).create_new(true).open(path.unwrap_or(Path::new(&name)));
        let file = file.map_err(|source| match source.kind() {
            ErrorKind::AlreadyExists => MeasureError::from(InvalidRequest::OutExists(name.clone())),
            _ => Fault { attempt: say!("cannot write {name}: see --out"), source }.into(),
        })?;
        Self { name, out: Box::new(file), count: 0 }.begin(head)
    }

    fn begin(mut self, head: &Map<String, Value>) -> Result<Self, MeasureError> {
        self.put(head)?;
        Ok(self)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Number of snapshots.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn write(&mut self, sample: &Map<String, Value>) -> Result<(), MeasureError> {
        self.put(sample)?;
        self.count += 1;
        Ok(())
    }

    /// Records an error with its time.
    pub(super) fn note(&mut self, text: &str) -> Result<(), MeasureError> {
        let note = [("at".to_owned(), snapshots::timestamp()), ("note".to_owned(), json!(text))];
        self.put(&note.into_iter().collect())
    }

    fn put(&mut self, object: &Map<String, Value>) -> Result<(), MeasureError> {
        let written = self.out.write_all(snapshots::line(object).as_bytes()).and_then(|()| self.out.flush());
        let attempt = || say!("cannot write {}: earlier snapshots are kept", self.name);
        Ok(written.map_err(|source| Fault { attempt: attempt(), source })?)
    }
}
