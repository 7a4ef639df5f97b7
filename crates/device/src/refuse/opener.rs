//! Which process has a file or device, or what shares bytes with it, open for writing.
//!
//! Looks through `/proc`, which shows a user their own processes and root all of them, in one process namespace.
//! What it cannot see counts as not there: this is a net below the other checks, not one of them.

use std::fs;
use std::path::{Path, PathBuf};

use super::Identity;
use crate::host::Tree;

/// Open files that are looked at, over all processes.
const FILES_MAX: usize = 1_000_000;

/// A process that has it open for writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opener {
    pub(super) pid: u32,
    pub(super) command: String,
    /// What it has open: as the process named it.
    pub(super) opened: PathBuf,
}

/// The first other process that has one of `identities` open for writing: the file or device at `path`, the device's
/// disk, its partitions.
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

/// Where the descriptor leads, when it is open for writing and that is one of `identities`.
fn written(tree: &Tree, pid: u32, descriptor: &str, identities: &[Identity], canonical: &Path) -> Option<PathBuf> {
    let opened = tree.path(format!("proc/{pid}/fd/{descriptor}"));
    let target = fs::read_link(&opened).ok().filter(|target| target.is_absolute())?;
    let info = tree.text(format!("proc/{pid}/fdinfo/{descriptor}")).ok()?;
    let line = |key: &str| info.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    // Octal, as for open(2): the lowest two bits say read, write or both.
    let writing =
        line("flags:").and_then(|flags| u32::from_str_radix(flags, 8).ok()).is_some_and(|flags| flags & 3 != 0);
    // Asking a dead network filesystem for a file's identity would never return: only likely files are asked.
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
