//! Temporary directories for servers, kept runs and temporary files, and checks for leftovers on the host.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use plimsoll_record::SuiteRun;
use rustix::process::Pid;

use crate::folder::Folder;

/// Removed on drop.
pub struct Place(Folder);

impl Place {
    pub fn new(name: &str) -> Self {
        let folder = Folder::short(name).env("COLUMNS", "160");
        for name in ["storage", "tmp"] {
            folder.make(name);
        }
        let temporary = folder.join("tmp");
        Self(folder.env("TMPDIR", temporary))
    }

    /// The directory for servers.
    pub fn storage(&self) -> String {
        let storage = self.join("storage").canonicalize().expect("it is there");
        storage.to_str().expect("it has a plain name").to_owned()
    }

    #[track_caller]
    pub fn suite(&self, name: &str) -> SuiteRun {
        SuiteRun::from_json(&self.bytes(name)).expect("it is a suite")
    }

    /// Checks that no file, mount, loop device or process remains.
    #[track_caller]
    pub fn assert_clean(&self) {
        for folder in ["storage", "tmp"] {
            assert_eq!(self.names(folder), [""; 0], "left in {folder}");
        }
        let here = self.path().to_str().expect("it has a plain name");
        let mounts = fs::read_to_string("/proc/self/mounts").expect("there is one");
        assert!(!mounts.contains(here), "still mounted: {mounts}");
        assert_eq!(loop_devices(self.path()), Vec::<PathBuf>::new(), "loop devices are left");
        assert_eq!(processes(here), [], "processes are left");
    }
}

impl Deref for Place {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.0
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
