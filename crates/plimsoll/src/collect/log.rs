//! The output file of snapshots: a line each, passed to the system before the next snapshot.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use serde_json::{Map, Value, json};

use plimsoll_suite::snapshots;

use crate::cli_error::CliError;

pub(super) struct CollectLog {
    name: String,
    out: Box<dyn Write>,
    count: u64,
}

impl CollectLog {
    /// Creates the file, which must not exist, and writes the header.
    pub(super) fn create(path: Option<&Path>, source: &str, head: &Map<String, Value>) -> Result<Self, CliError> {
        let (name, out): (String, Box<dyn Write>) = match path {
            Some(path) if path.as_os_str() == "-" => ("standard output".to_owned(), Box::new(std::io::stdout())),
            _ => {
                let time = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S");
                let name = path.map_or_else(|| format!("{source}-{time}.jsonl"), |path| path.display().to_string());
                let file = OpenOptions::new().write(true).create_new(true).open(path.unwrap_or(Path::new(&name)));
                match file {
                    Ok(file) => (name, Box::new(file)),
                    Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                        return Err(CliError::usage(format!("{name} exists: use another name with --out")));
                    }
                    Err(error) => {
                        let error = anyhow::Error::from(error).context(format!("cannot write {name}: see --out"));
                        return Err(CliError::Failed(error));
                    }
                }
            }
        };
        let mut log = Self { name, out, count: 0 };
        log.put(head)?;
        Ok(log)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Number of snapshots.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn write(&mut self, sample: &Map<String, Value>) -> Result<(), CliError> {
        self.put(sample)?;
        self.count += 1;
        Ok(())
    }

    /// Records an error with its time.
    pub(super) fn note(&mut self, text: &str) -> Result<(), CliError> {
        let note = [("at".to_owned(), snapshots::timestamp()), ("note".to_owned(), json!(text))];
        self.put(&note.into_iter().collect())
    }

    fn put(&mut self, object: &Map<String, Value>) -> Result<(), CliError> {
        let written = self.out.write_all(snapshots::line(object).as_bytes()).and_then(|()| self.out.flush());
        let context = || format!("cannot write {}: earlier snapshots are kept", self.name);
        written.with_context(context).map_err(CliError::Failed)
    }
}
