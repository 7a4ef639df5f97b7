//! Finds processes that have a file or device, or an overlapping device, open for writing.
//!
//! Scans `/proc`, which shows users their own processes and root all, within a process namespace. An additional check:
//! invisible processes are not detected.

use std::fs;
use std::path::{Path, PathBuf};

use super::Identity;
use crate::host::Tree;

/// Maximum number of open files examined, over all processes.
const FILES_MAX: usize = 1_000_000;

/// A process with a file or device open for writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opener {
    pub(super) pid: u32,
    pub(super) command: String,
    /// Path as opened by the process.
    pub(super) opened: PathBuf,
}

/// First other process that has one of `identities` open for writing: the file or device at `path`, its disk, or its
/// partitions.
pub(super) fn writer(tree: &Tree, identities: &[Identity], path: &Path) -> Option<Opener> {
    let canonical = path.canonicalize().ok()?;
    let own = std::process::id();
    let mut left = FILES_MAX;
    let pids = tree.names("proc").ok()?.into_iter().filter_map(|name| name.parse::<u32>().ok());
    for pid in pids.filter(|pid| *pid != own) {
        for descriptor in tree.names(format!("proc/{pid}/fd")).unwrap_or_default() {
            left = left.checked_sub(1)?;
            if let Some(opened) = written(tree, pid, &descriptor, identities, &canonical) {
                let command = tree.word(format!("proc/{pid}/comm")).unwrap_or_else(|| "unknown".into());
                return Some(Opener { pid, command, opened });
            }
        }
    }
    None
}

/// Target of the descriptor if it is open for writing and has one of `identities`.
fn written(tree: &Tree, pid: u32, descriptor: &str, identities: &[Identity], canonical: &Path) -> Option<PathBuf> {
    let opened = tree.path(format!("proc/{pid}/fd/{descriptor}"));
    let target = fs::read_link(&opened).ok().filter(|target| target.is_absolute())?;
    let info = tree.text(format!("proc/{pid}/fdinfo/{descriptor}")).ok()?;
    let line = |key: &str| info.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    // Octal flags of open(2): the lowest two bits are the access mode.
    let writing =
        line("flags:").and_then(|flags| u32::from_str_radix(flags, 8).ok()).is_some_and(|flags| flags & 3 != 0);
    // stat on a hung network filesystem would block, so only plausible files are examined.
    let inode = line("ino:").and_then(|inode| inode.parse::<u64>().ok());
    let likely = |identity: &Identity| match identity {
        Identity::Block(_) => target.starts_with("/dev"),
        Identity::File { inode: mine, .. } => inode == Some(*mine),
    };
    let found = writing
        && (target == canonical || identities.iter().any(likely))
        && fs::metadata(&opened).is_ok_and(|stat| identities.contains(&Identity::of(&stat)));
    found.then_some(target)
}

#[cfg(test)]
mod tests;
