//! A temporary data directory, its service, and commands.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::folder::{Folder, stderr, stdout};

/// Timeout of a step on a busy host.
const DEADLINE: Duration = Duration::from_secs(120);

/// Runs the model slowly, as a busy host may be too late for a product with response times below a millisecond.
pub const SLOWLY: &[&str] = &["--slow", "20"];

pub struct Home {
    folder: Folder,
    service: Option<Child>,
}

impl Home {
    /// A directory without a service.
    pub fn new(name: &str) -> Self {
        let folder = Folder::short(name).env("COLUMNS", "160");
        let data = folder.join("volumes");
        Self { folder: folder.env("PLIMSOLL_SERVICE", data), service: None }
    }

    /// A directory with a service.
    pub fn serving(name: &str, flags: &[&str]) -> Self {
        let mut home = Self::new(name);
        home.serve(flags);
        home
    }

    pub fn data(&self) -> PathBuf {
        self.join("volumes")
    }

    /// Starts the service and waits until it is ready; returns its output.
    pub fn serve(&mut self, flags: &[&str]) -> String {
        let mut command = self.command(&["serve"]);
        command.arg(self.data()).args(flags);
        self.serve_by(&mut command)
    }

    /// Like `serve`, with a prepared command.
    pub fn serve_by(&mut self, command: &mut Command) -> String {
        let service = command.stdout(Stdio::piped()).spawn();
        let service = self.service.insert(service.expect("the service starts"));
        let mut lines = BufReader::new(service.stdout.take().expect("it is piped"));
        let mut reported = String::new();
        // The last line has the next command.
        while !reported.contains("plimsoll volume") {
            let read = lines.read_line(&mut reported).expect("the service prints text");
            assert!(read > 0, "the service ended early: {reported}");
        }
        reported
    }

    /// Output of a command that has to succeed.
    #[track_caller]
    pub fn does(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let reported = stderr(&output);
        assert!(output.status.success() && reported.is_empty(), "{arguments:?}: {reported}");
        stdout(&output)
    }

    /// Checks for a one-line refusal. Files may remain, as a service writes to the directory.
    #[track_caller]
    pub fn refuses(&self, arguments: &[&str], expected: &str) {
        let message = self.refusal(arguments, expected);
        assert_eq!(message.lines().count(), 1, "{arguments:?}: {message}");
    }

    /// Sends a signal to the service and waits for its end.
    pub fn signal(&mut self, signal: Signal) -> ExitStatus {
        let service = self.service.as_mut().expect("it serves");
        kill_process(Pid::from_child(service), signal).expect("it runs");
        let begun = Instant::now();
        loop {
            if let Some(status) = service.try_wait().expect("it can be waited for") {
                self.service = None;
                return status;
            }
            assert!(begun.elapsed() < DEADLINE, "the service does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn uri(&self, name: &str) -> String {
        let volume: serde_json::Value =
            serde_json::from_str(&self.does(&["volume", "show", name, "--json"])).expect("it is JSON");
        volume["uris"][0].as_str().expect("it has a URI").to_owned()
    }
}

impl Deref for Home {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.folder
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Some(mut service) = self.service.take() {
            let _ = service.kill();
            let _ = service.wait();
        }
    }
}

/// A process that is killed on drop.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A required program, with a message if it is missing.
pub fn find_program(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}

/// Output of a third-party program.
#[track_caller]
pub fn program(name: &str, arguments: &[&str]) -> String {
    let output = Command::new(name).args(arguments).output().expect("it is installed");
    assert!(output.status.success(), "{name} {arguments:?}: {}", stderr(&output));
    stdout(&output)
}

/// Bytes that do not repeat.
pub fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    std::iter::repeat_with(&mut next).take(length.div_ceil(8)).flatten().take(length).collect()
}

pub fn content(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)).expect("the file can be read");
    bytes
}
