//! A temporary data directory, its service, and commands.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Timeout of a step on a busy host.
const DEADLINE: Duration = Duration::from_secs(120);

/// Runs the model slowly, as a busy host may be too late for a product with response times below a millisecond.
pub const SLOWLY: &[&str] = &["--slow", "20"];

pub struct Home {
    path: PathBuf,
    service: Option<Child>,
}

impl Home {
    /// A directory without a service.
    pub fn new(name: &str) -> Self {
        // Short, as socket paths are limited.
        let path = std::env::temp_dir().join(format!("plimsoll-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("the folder can be made");
        Self { path, service: None }
    }

    /// A directory with a service.
    pub fn serving(name: &str, flags: &[&str]) -> Self {
        let mut home = Self::new(name);
        home.serve(flags);
        home
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The data directory.
    pub fn data(&self) -> PathBuf {
        self.path.join("volumes")
    }

    /// Starts the service and waits until it is ready; returns its output.
    pub fn serve(&mut self, flags: &[&str]) -> String {
        let service = self.command(&["serve"]).arg(self.data()).args(flags).stdout(Stdio::piped()).spawn();
        let service = self.service.insert(service.expect("the service starts"));
        let mut lines = BufReader::new(service.stdout.take().expect("it is piped"));
        let mut said = String::new();
        // The last line has the next command.
        while !said.contains("plimsoll volume") {
            let read = lines.read_line(&mut said).expect("the service prints text");
            assert!(read > 0, "the service ended early: {said}");
        }
        said
    }

    /// Output of a command that has to succeed.
    #[track_caller]
    pub fn does(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{arguments:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Checks for a one-line refusal with exit code 2 that contains `expected`.
    #[track_caller]
    pub fn refuses(&self, arguments: &[&str], expected: &str) {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(expected) && said.lines().count() == 1, "{arguments:?}: {said}");
        assert!(output.stdout.is_empty(), "{arguments:?} printed to standard output");
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the command starts")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        command.args(arguments).current_dir(&self.path).env("LC_ALL", "C.UTF-8").env("COLUMNS", "160");
        command.env("PLIMSOLL_SERVICE", self.data()).env("PLIMSOLL_RUNS", self.path.join("runs"));
        command.env_remove("NOTIFY_SOCKET").env_remove("LISTEN_FDS");
        command
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

    /// The URI of a volume.
    pub fn uri(&self, name: &str) -> String {
        let shown: serde_json::Value =
            serde_json::from_str(&self.does(&["volume", "show", name, "--json"])).expect("it is JSON");
        shown["uris"][0].as_str().expect("it has a URI").to_owned()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Some(mut service) = self.service.take() {
            let _ = service.kill();
            let _ = service.wait();
        }
        let _ = fs::remove_dir_all(&self.path);
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
pub fn found(program: &str) -> bool {
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
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
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

/// Content of a file.
pub fn content(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)).expect("the file can be read");
    bytes
}
