//! A temporary directory, and the program in it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");

/// Removed on drop.
pub struct Folder {
    path: PathBuf,
    environment: Vec<(&'static str, OsString)>,
}

impl Folder {
    /// On the filesystem of the build, which has direct I/O.
    pub fn new(name: &str) -> Self {
        Self::below(Path::new(env!("CARGO_TARGET_TMPDIR")), name)
    }

    /// With a short path, as those of sockets are limited.
    pub fn short(name: &str) -> Self {
        Self::below(&std::env::temp_dir(), name)
    }

    fn below(parent: &Path, name: &str) -> Self {
        static FOLDERS: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), FOLDERS.fetch_add(1, Ordering::Relaxed));
        let path = parent.join(format!("plimsoll-{name}-{process}-{number}"));
        fs::create_dir_all(&path).expect("the folder can be made");
        Self { path, environment: Vec::new() }
    }

    /// Adds a variable to the environment of the program.
    pub fn env(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The path of a file, as an argument.
    pub fn file(&self, name: &str) -> String {
        self.join(name).to_str().expect("a plain path").to_owned()
    }

    /// Creates a directory.
    pub fn make(&self, name: &str) {
        fs::create_dir_all(self.join(name)).expect("a folder can be made");
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.join(name), content).expect("a file can be written");
    }

    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    #[track_caller]
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    #[track_caller]
    pub fn names(&self, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(self.join(directory)).expect("it is there").flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Paths of all files and directories.
    fn entries(&self) -> Vec<PathBuf> {
        let mut entries = vec![self.path.clone()];
        let mut index = 0;
        while let Some(entry) = entries.get(index) {
            entries.extend(fs::read_dir(entry).into_iter().flatten().flatten().map(|entry| entry.path()));
            index += 1;
        }
        entries.sort();
        entries
    }

    /// The program, with its runs and configuration in the directory.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).current_dir(&self.path).stdin(Stdio::null()).env("LC_ALL", "C.UTF-8");
        command.env("PLIMSOLL_RUNS", self.join("runs")).env("XDG_CONFIG_HOME", self.join("config"));
        command.env("PLIMSOLL_DETAILS", "1");
        command
            .env_remove("PLIMSOLL_PRODUCTS")
            .env_remove("PLIMSOLL_PRICES")
            .env_remove("NOTIFY_SOCKET")
            .env_remove("LISTEN_FDS");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    /// Standard output of a command, which has to succeed.
    #[track_caller]
    pub fn text(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        String::from_utf8(output.stdout).expect("it is UTF-8")
    }

    /// JSON of a command, which has to succeed.
    #[track_caller]
    pub fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.text(&[arguments, &["--json", "-"]].concat())).expect("it is JSON")
    }

    /// Checks for a one-line refusal with exit code 2 that leaves no files.
    #[track_caller]
    pub fn refuses(&self, arguments: &[&str], expected: &str) {
        let message = self.refuses_usage(arguments, expected);
        assert_eq!(message.lines().count(), 1, "{arguments:?}: {message}");
    }

    /// The same with a message of any length, as the parser of the command line writes several lines. Returns the message.
    #[track_caller]
    pub fn refuses_usage(&self, arguments: &[&str], expected: &str) -> String {
        let before = self.entries();
        let message = self.refusal(arguments, expected);
        assert_eq!(self.entries(), before, "{arguments:?} left something behind");
        message
    }

    /// The message of a refusal with exit code 2.
    #[track_caller]
    pub fn refusal(&self, arguments: &[&str], expected: &str) -> String {
        let output = self.run(arguments);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(expected), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty(), "{arguments:?} printed to standard output");
        message
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let is_there = self.path.is_dir();
        let _ = fs::remove_dir_all(&self.path);
        assert!(is_there || std::thread::panicking(), "{} was removed", self.path.display());
    }
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Text with runs of spaces joined.
pub fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
