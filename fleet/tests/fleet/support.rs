//! Running the program, and reading what it wrote.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of a test, removed at its end.
pub struct TestFolder(PathBuf);

impl TestFolder {
    /// A new folder.
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("plimsoll-fleet-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file in it.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The program with these arguments.
pub fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll-fleet"));
    command.args(arguments);
    command
}

/// Runs the program.
pub fn output(arguments: &[&str]) -> Output {
    program(arguments).output().unwrap()
}

/// Runs the program, which has to succeed, and returns its output.
pub fn succeed(arguments: &[&str]) -> String {
    let output = output(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the program, which has to fail, and returns its message.
pub fn fail(arguments: &[&str]) -> String {
    let output = output(arguments);
    assert!(!output.status.success(), "{arguments:?} succeeded");
    String::from_utf8(output.stderr).unwrap()
}

/// Makes a fleet and returns its folder.
pub fn generate(folder: &TestFolder, name: &str, options: &[&str]) -> PathBuf {
    let path = folder.path(name);
    let mut arguments = vec!["generate", path.to_str().unwrap()];
    arguments.extend(options);
    succeed(&arguments);
    path
}

/// The rows of a CSV file by column.
pub fn table(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.deserialize().map(|row| row.unwrap()).collect()
}

/// The files below a folder with their bytes, but locks.
pub fn contents(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(path).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            found.extend(contents(&entry.path()).into_iter().map(|(rest, bytes)| (format!("{name}/{rest}"), bytes)));
        } else if name != ".lock" {
            found.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    found
}

/// The path as an argument.
pub fn arg(path: &Path) -> &str {
    path.to_str().unwrap()
}
