//! The log of a Job that measured a claim of Kubernetes.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use plimsoll_language::say;
use plimsoll_record::Curve;

use crate::error::MeasureError;
use crate::invalid::InvalidRequest;
use crate::runs::{StoredRun, parse_run_file};

/// Maximum bytes of a log: kubelet rotates logs at 10 MiB by default.
const MAX_BYTES: u64 = 256 << 20;

/// A log with a run.
#[derive(Clone, Debug)]
pub struct JobLog {
    /// The file, or the command that printed it.
    name: String,
    bytes: Vec<u8>,
}

impl JobLog {
    /// Reads a file, or standard input if the path is `-`.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(path: &Path) -> Result<Self, MeasureError> {
        let name = path.display().to_string();
        let mut bytes = Vec::new();
        let read = if path.as_os_str() == "-" {
            io::stdin().lock().take(MAX_BYTES).read_to_end(&mut bytes)
        } else {
            File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes))
        };
        match read {
            Ok(_) => Ok(Self { name, bytes }),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(InvalidRequest::MissingInput { path: name }.into())
            }
            Err(error) => Err(MeasureError::File(say!("cannot read {name}: {error}"))),
        }
    }

    /// The output of `kubectl logs` for a Job.
    ///
    /// # Errors
    /// kubectl is not installed, or fails.
    pub fn fetch(job: &str, namespace: Option<&str>) -> Result<Self, MeasureError> {
        let mut words = vec!["logs".to_owned()];
        if let Some(namespace) = namespace {
            words.extend(["--namespace".to_owned(), namespace.to_owned()]);
        }
        words.extend([format!("job/{job}"), "-c".to_owned(), "plimsoll".to_owned()]);
        let name = format!("kubectl {}", words.join(" "));
        let output = Command::new("kubectl").args(&words).stdin(Stdio::null()).output();
        let output = output.map_err(|error| match error.kind() {
            ErrorKind::NotFound => InvalidRequest::NoKubectl { name: name.clone() }.into(),
            _ => MeasureError::Source(format!("{name}: {error}")),
        })?;
        if output.status.success() {
            return Ok(Self { name, bytes: output.stdout });
        }
        let error = String::from_utf8_lossy(&output.stderr);
        let error = error.trim().lines().last().unwrap_or_default().to_owned();
        Err(MeasureError::JobLog { name, error })
    }

    /// The run in the log.
    ///
    /// # Errors
    /// The log has no run, or that of a suite.
    pub fn parse(&self) -> Result<Curve, MeasureError> {
        let name = self.name.clone();
        if !self.bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"{")) {
            let text = String::from_utf8_lossy(&self.bytes);
            let last = text.trim().lines().last().unwrap_or_default().to_owned();
            return Err(InvalidRequest::NoRunInLog { name, last }.into());
        }
        match parse_run_file(Path::new(&name), &self.bytes)? {
            StoredRun::Curve(curve) => Ok(*curve),
            StoredRun::Suite(suite) => Err(InvalidRequest::SuiteInLog { name, suite: suite.suite.clone() }.into()),
        }
    }
}
