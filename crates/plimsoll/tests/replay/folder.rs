//! A directory with traces, and the program run in it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A temporary directory, removed on drop.
pub struct Folder(pub PathBuf);

impl Folder {
    /// Creates it.
    pub fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("the folder can be made");
        Self(path)
    }

    /// Writes a trace with these lines.
    pub fn write(&self, name: &str, lines: &str) {
        let text = format!("#plimsoll.trace/1\ntime_ns,kind,offset,length\n{lines}");
        fs::write(self.0.join(name), text).expect("the file can be written");
    }

    /// Runs the program in it.
    pub fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_plimsoll"))
            .args(arguments)
            .current_dir(&self.0)
            .env("PLIMSOLL_RUNS", self.0.join("runs"))
            .env("LC_ALL", "C.UTF-8")
            .output()
            .expect("the command starts")
    }

    /// Standard output.
    pub fn text(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The run that it writes.
    pub fn json(&self, arguments: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.text(&[arguments, &["--json", "-"]].concat())).expect("it is JSON")
    }

    /// Checks for a single error message that contains the text.
    pub fn refuses(&self, arguments: &[&str], expected: &str) {
        let output = self.run(arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(expected), "{arguments:?}: {message}");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Reads of 4 KiB, evenly spaced.
pub fn evenly(count: u64, gap_ns: u64) -> String {
    let line = |n| format!("{},read,{},4096", n * gap_ns, n * 4096);
    (0..count).map(line).collect::<Vec<_>>().join("\n") + "\n"
}
