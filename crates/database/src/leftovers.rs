//! Folders that a process made for itself: marked with that process, so that a later one can remove what a killed one left.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// How names of marked folders begin.
const PREFIX: &str = "plimsoll-";
/// The marker in a folder.
const OWNER: &str = "plimsoll.owner";
/// A marker is shorter than this, in bytes.
const MAX_MARK_BYTES: u64 = 256;

/// Marks a folder as that of this process.
///
/// # Errors
/// It cannot be written to.
pub(crate) fn mark(folder: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join(OWNER))?;
    file.write_all(identity("self").unwrap_or_default().as_bytes())
}

/// Takes the marker away: the folder stays until the user removes it.
pub(crate) fn keep(folder: &Path) {
    let _ = fs::remove_file(folder.join(OWNER));
}

/// Removes marked folders of processes that are gone from a directory. Those that were removed.
pub fn remove_leftovers(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX)));
    let gone = ours.map(|entry| entry.path()).filter(|folder| is_left(folder));
    let mut removed: Vec<PathBuf> = gone.filter(|folder| fs::remove_dir_all(folder).is_ok()).collect();
    removed.sort();
    removed
}

/// True for a folder that a process of this user marked which is gone. What cannot be read is no such folder.
fn is_left(folder: &Path) -> bool {
    let read = || -> io::Result<String> {
        let nofollow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(nofollow).open(folder.join(OWNER))?;
        let stat = file.metadata()?;
        let is_ours = stat.is_file() && stat.uid() == rustix::process::geteuid().as_raw();
        let mut text = String::new();
        file.take(if is_ours { MAX_MARK_BYTES } else { 0 }).read_to_string(&mut text)?;
        Ok(text)
    };
    let is_directory = folder.symlink_metadata().is_ok_and(|stat| stat.is_dir());
    let Some(owner) = read().ok().filter(|_| is_directory) else { return false };
    let fields: Vec<&str> = owner.split_whitespace().collect();
    let [pid, _, boot, namespace] = fields[..] else { return false };
    // A process of another host (the directory may be shared) or of another container is not visible here.
    scope().is_ok_and(|here| here == format!("{boot} {namespace}"))
        && pid.parse::<u32>().is_ok()
        && identity(pid).ok().as_deref() != Some(owner.as_str())
}

/// The number of a process, when it started (in ticks since the host did), and the scope of its number.
fn identity(process: &str) -> io::Result<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let number = stat.split(' ').next().unwrap_or_default();
    // The second field is a name in brackets, which may hold anything.
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let started = rest.split_whitespace().nth(19).unwrap_or("0");
    Ok(format!("{number} {started} {}", scope()?))
}

/// Where numbers of processes are unique: the boot of the host and the namespace. The first namespace of every host has the same
/// number, and only the boot distinguishes hosts with a shared directory.
fn scope() -> io::Result<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(format!("{} {}", boot.trim(), fs::read_link("/proc/self/ns/pid")?.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_processes_that_are_gone_are_removed() {
        let parent = std::env::temp_dir().join(format!("leftovers-{}", std::process::id()));
        let folder = |name: &str, owner: Option<&str>| {
            let folder = parent.join(name);
            fs::create_dir_all(folder.join("data")).expect("a folder");
            if let Some(owner) = owner {
                fs::write(folder.join(OWNER), owner).expect("a marker");
            }
            folder
        };
        let here = scope().expect("a scope");
        let (boot, namespace) = here.split_once(' ').expect("two parts");
        let alive = folder("plimsoll-a-1", None);
        mark(&alive).expect("a marker");
        let reused = format!("{} 1 {here}", std::process::id());
        let gone = [
            // No process has so large a number.
            folder("plimsoll-a-2", Some(&format!("999999999 1 {here}"))),
            folder("plimsoll-a-3", Some(&reused)),
        ];
        let others = [
            folder("plimsoll-a-4", None),
            folder("plimsoll-a-5", Some(&format!("999999999 1 {boot} pid:[1]"))),
            // Of another host.
            folder("plimsoll-a-8", Some(&format!("999999999 1 00000000-0000-4000-8000-000000000000 {namespace}"))),
            folder("plimsoll-a-6", Some("")),
            folder("data", Some(&format!("999999999 1 {here}"))),
        ];
        let linked = parent.join("plimsoll-a-7");
        std::os::unix::fs::symlink(&gone[0], &linked).expect("a link");
        assert_eq!(remove_leftovers(&parent), gone);
        assert!(alive.exists() && others.iter().all(|folder| folder.exists()));
        fs::remove_dir_all(&parent).expect("it is there");
    }
}
