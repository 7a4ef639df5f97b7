//! Which process has a file or device open for writing.
//!
//! Looks through `/proc`, which shows a user their own processes and root all of them, in one process namespace.
//! What it cannot see counts as not there: this is a net below the other checks, not one of them.

use std::fs;
use std::path::Path;

use super::Identity;
use crate::host::Tree;

/// Open files that are looked at, over all processes.
const FILES_MAX: usize = 1_000_000;

/// A process that has it open for writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opener {
    pub(super) pid: u32,
    pub(super) command: String,
}

/// The first other process that has the file or device at `path` open for writing.
pub(super) fn writer(tree: &Tree, identity: &Identity, path: &Path) -> Option<Opener> {
    let canonical = path.canonicalize().ok()?;
    let own = std::process::id();
    let mut left = FILES_MAX;
    let pids = tree.names("proc").ok()?.into_iter().filter_map(|name| name.parse::<u32>().ok());
    for pid in pids.filter(|pid| *pid != own) {
        for descriptor in tree.names(format!("proc/{pid}/fd")).unwrap_or_default() {
            left = left.checked_sub(1)?;
            if writes(tree, pid, &descriptor, identity, &canonical) {
                let command = tree.word(format!("proc/{pid}/comm")).unwrap_or_else(|| "unknown".into());
                return Some(Opener { pid, command });
            }
        }
    }
    None
}

fn writes(tree: &Tree, pid: u32, descriptor: &str, identity: &Identity, canonical: &Path) -> bool {
    let opened = tree.path(format!("proc/{pid}/fd/{descriptor}"));
    let Ok(target) = fs::read_link(&opened) else { return false };
    if !target.is_absolute() {
        return false;
    }
    let Ok(info) = tree.text(format!("proc/{pid}/fdinfo/{descriptor}")) else { return false };
    let line = |key: &str| info.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    // Octal, as for open(2): the lowest two bits say read, write or both.
    let writing =
        line("flags:").and_then(|flags| u32::from_str_radix(flags, 8).ok()).is_some_and(|flags| flags & 3 != 0);
    // Asking a dead network filesystem for a file's identity would never return: only likely files are asked.
    let inode = line("ino:").and_then(|inode| inode.parse::<u64>().ok());
    let likely = match identity {
        Identity::Block(_) => target.starts_with("/dev"),
        Identity::File { inode: mine, .. } => inode == Some(*mine),
    };
    writing
        && (likely || target == canonical)
        && fs::metadata(&opened).is_ok_and(|stat| Identity::of(&stat) == *identity)
}
