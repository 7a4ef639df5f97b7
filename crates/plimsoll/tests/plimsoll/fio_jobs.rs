//! `plimsoll fio`: jobs on files and models, compared with fio.

mod beside_fio;
mod conformance;
mod exported;
mod refusals;
mod runs;
mod samples;
mod simulated;
mod trims;
mod verification;

use std::ops::Deref;
use std::process::Output;

use serde_json::Value;

use crate::folder::{Folder, stderr, stdout};

pub struct JobFolder(Folder);

impl JobFolder {
    pub fn new(name: &str) -> Self {
        Self(Folder::new(name))
    }

    /// Size of a file; `None` if missing.
    pub fn length(&self, name: &str) -> Option<u64> {
        std::fs::metadata(self.join(name)).ok().map(|metadata| metadata.len())
    }

    /// Runs `plimsoll fio` with arguments separated by blanks.
    pub fn run(&self, words: &str) -> Output {
        self.0.run(&["fio"].into_iter().chain(words.split_whitespace()).collect::<Vec<_>>())
    }

    /// The same with a job file and JSON output; it has to succeed.
    pub fn json(&self, words: &str, jobs: &str) -> Value {
        let (output, reported) = self.run_jobs(words, jobs);
        assert!(output.status.success(), "{jobs}\n{reported}");
        read(&output)
    }

    /// The same without requiring success, with standard error.
    pub fn run_jobs(&self, words: &str, jobs: &str) -> (Output, String) {
        self.write("job.fio", jobs);
        let output = self.run(&format!("--output-format=json+ {words} job.fio"));
        let reported = stderr(&output);
        (output, reported)
    }
}

impl Deref for JobFolder {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.0
    }
}

/// JSON in a program's output, after other text.
pub fn read(output: &Output) -> Value {
    let text = stdout(output);
    let start = text.find('{').unwrap_or_else(|| panic!("no JSON: {text} {}", stderr(output)));
    serde_json::from_str(&text[start..]).unwrap()
}

pub fn job<'a>(report: &'a Value, name: &str) -> &'a Value {
    let jobs = report["jobs"].as_array().unwrap();
    jobs.iter().find(|job| job["jobname"] == name).unwrap_or_else(|| panic!("no job {name}"))
}

/// A whole number by its path, such as `read.total_ios`.
pub fn integer(value: &Value, path: &str) -> u64 {
    let found = path.split('.').fold(value, |value, key| &value[key]);
    found.as_u64().unwrap_or_else(|| panic!("{path} is {found}"))
}

/// A number by its path.
pub fn real(value: &Value, path: &str) -> f64 {
    let found = path.split('.').fold(value, |value, key| &value[key]);
    found.as_f64().unwrap_or_else(|| panic!("{path} is {found}"))
}
