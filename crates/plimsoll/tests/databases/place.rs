//! Temporary directories for servers, kept runs and temporary files, and checks for leftovers on the host.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use plimsoll_record::SuiteRun;
use rustix::process::Pid;

/// Removed on drop.
pub struct Place(PathBuf);

impl Place {
    pub fn new(name: &str) -> Self {
        // Short, as socket paths are limited.
        let path = std::env::temp_dir().join(format!("plimsoll-db-{name}-{}", std::process::id()));
        for folder in ["storage", "tmp"] {
            fs::create_dir_all(path.join(folder)).expect("the folder can be made");
        }
        Self(path)
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The directory for servers.
    pub fn storage(&self) -> String {
        let storage = self.file("storage").canonicalize().expect("it is there");
        storage.to_str().expect("it has a plain name").to_owned()
    }

    /// The program with these directories.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        command.args(arguments).current_dir(&self.0).env("LC_ALL", "C.UTF-8").env("COLUMNS", "160");
        command.env("PLIMSOLL_RUNS", self.file("runs")).env("TMPDIR", self.file("tmp"));
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    /// The suite in this file.
    #[track_caller]
    pub fn suite(&self, name: &str) -> SuiteRun {
        SuiteRun::from_json(&fs::read(self.file(name)).expect("it was written")).expect("it is a suite")
    }

    /// Checks that no file, mount, loop device or process remains.
    #[track_caller]
    pub fn assert_clean(&self) {
        for folder in ["storage", "tmp"] {
            let left: Vec<_> = fs::read_dir(self.file(folder)).expect("it is there").flatten().collect();
            assert!(left.is_empty(), "left in {folder}: {left:?}");
        }
        let here = self.0.to_str().expect("it has a plain name");
        let mounts = fs::read_to_string("/proc/self/mounts").expect("there is one");
        assert!(!mounts.contains(here), "still mounted: {mounts}");
        assert_eq!(loop_devices(&self.0), Vec::<PathBuf>::new(), "loop devices are left");
        assert_eq!(processes(here), [], "processes are left");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Loop devices on files of a directory.
pub fn loop_devices(folder: &Path) -> Vec<PathBuf> {
    let blocks = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let over = blocks.filter(|block| {
        let file = fs::read_to_string(block.path().join("loop/backing_file")).unwrap_or_default();
        Path::new(file.trim_end()).starts_with(folder)
    });
    over.map(|block| Path::new("/dev").join(block.file_name())).collect()
}

/// Running processes with this text in their arguments.
pub fn processes(text: &str) -> Vec<Pid> {
    let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = numbers.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    let has = |process: &Pid| {
        let arguments = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&arguments).contains(text)
    };
    numbers.filter(|process| *process != rustix::process::getpid()).filter(has).collect()
}

pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
