//! Finds the process that prevents unmounting: by its working directory, root or an open file below the mount point.
//!
//! Scans `/proc`, where users see their own processes and root sees all. Does not follow paths: a hung filesystem would
//! block.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::host::Tree;

/// Maximum number of links examined, over all processes.
const LINKS_MAX: usize = 1_000_000;

/// A process whose working directory, root or open file is at or below a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupant {
    /// Process ID.
    pub pid: u32,
    /// Process name.
    pub command: String,
    /// Path of the working directory, root or file.
    pub path: PathBuf,
}

/// `process 812 (postgres, /data/base/1)`.
impl fmt::Display for Occupant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ({}, {})", self.pid, self.command, self.path.display())
    }
}

/// A process with an open path at or below `path`, which is absolute and without links. This process is returned only
/// if there is no other.
pub fn occupant(path: &Path) -> Option<Occupant> {
    find(&Tree::system(), path)
}

fn find(tree: &Tree, path: &Path) -> Option<Occupant> {
    let mut left = LINKS_MAX;
    let own = std::process::id();
    let mut pids: Vec<u32> = tree.names("proc").ok()?.into_iter().filter_map(|name| name.parse().ok()).collect();
    pids.sort_by_key(|pid| *pid == own);
    for pid in pids {
        let open = tree.names(format!("proc/{pid}/fd")).unwrap_or_default();
        let links = ["cwd", "root"].into_iter().map(str::to_owned).chain(open.iter().map(|name| format!("fd/{name}")));
        for link in links {
            left = left.checked_sub(1)?;
            let target = fs::read_link(tree.path(format!("proc/{pid}/{link}")));
            if let Ok(target) = target.as_ref().map(PathBuf::as_path)
                && target.starts_with(path)
            {
                let command = tree.word(format!("proc/{pid}/comm")).unwrap_or_else(|| "unknown".into());
                return Some(Occupant { pid, command, path: target.to_owned() });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn process_with_the_file_open_is_found() {
        let directory = std::env::temp_dir().join(format!("plimsoll-occupant-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let directory = directory.canonicalize().unwrap();
        assert_eq!(occupant(&directory), None);
        let file = File::create(directory.join("file")).unwrap();
        let found = occupant(&directory).unwrap();
        assert_eq!((found.pid, found.path), (std::process::id(), directory.join("file")));
        drop(file);
        fs::remove_dir_all(&directory).unwrap();
    }
}
