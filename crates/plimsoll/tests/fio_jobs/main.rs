//! `plimsoll fio`: jobs on files and models, compared with fio.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]
#![allow(clippy::print_stdout, reason = "what is skipped is said")]

mod beside_fio;
mod conformance;
mod exported;
mod refusals;
mod runs;
mod samples;
mod simulated;
mod trims;
mod verification;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

/// A temporary directory, removed on drop.
pub struct Folder(PathBuf);

impl Folder {
    /// Creates it.
    pub fn new(name: &str) -> Self {
        static FOLDERS: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), FOLDERS.fetch_add(1, Ordering::Relaxed));
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fio-{name}-{process}-{number}"));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file.
    pub fn put(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    /// Size of a file; `None` if missing.
    pub fn length(&self, name: &str) -> Option<u64> {
        fs::metadata(self.0.join(name)).ok().map(|metadata| metadata.len())
    }

    /// Names of its files.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Runs `plimsoll fio` with arguments separated by blanks.
    pub fn run(&self, words: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        command.arg("fio").args(words.split_whitespace()).current_dir(&self.0).env("LC_ALL", "C.UTF-8");
        command.output().expect("the command starts")
    }

    /// The same with a job file and JSON output; it has to succeed.
    pub fn json(&self, words: &str, jobs: &str) -> Value {
        let (output, said) = self.told(words, jobs);
        assert!(output.status.success(), "{jobs}\n{said}");
        read(&output)
    }

    /// The same without requiring success, with standard error.
    pub fn told(&self, words: &str, jobs: &str) -> (Output, String) {
        self.put("job.fio", jobs);
        let output = self.run(&format!("--output-format=json+ {words} job.fio"));
        let said = stderr(&output);
        (output, said)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Standard output.
pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// JSON in a program's output, after other text.
pub fn read(output: &Output) -> Value {
    let text = stdout(output);
    let start = text.find('{').unwrap_or_else(|| panic!("no JSON: {text} {}", stderr(output)));
    serde_json::from_str(&text[start..]).unwrap()
}

/// The job of this name.
pub fn job<'a>(report: &'a Value, name: &str) -> &'a Value {
    let jobs = report["jobs"].as_array().unwrap();
    jobs.iter().find(|job| job["jobname"] == name).unwrap_or_else(|| panic!("no job {name}"))
}

/// A whole number by its path, such as `read.total_ios`.
pub fn whole(value: &Value, path: &str) -> u64 {
    let found = path.split('.').fold(value, |value, key| &value[key]);
    found.as_u64().unwrap_or_else(|| panic!("{path} is {found}"))
}

/// A number by its path.
pub fn real(value: &Value, path: &str) -> f64 {
    let found = path.split('.').fold(value, |value, key| &value[key]);
    found.as_f64().unwrap_or_else(|| panic!("{path} is {found}"))
}
