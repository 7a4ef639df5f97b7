//! Temporary folders, marked with their process, so that a later process can remove those of a killed process.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Prefix of marked folders.
const PREFIX: &str = "plimsoll-";
/// Name of the marker file.
const OWNER: &str = "plimsoll.owner";
/// Maximum length of a marker file in bytes.
const MAX_MARK_BYTES: u64 = 256;

/// Marks a folder as owned by this process.
///
/// # Errors
/// The marker cannot be written.
pub(crate) fn mark(folder: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join(OWNER))?;
    file.write_all(identity("self").unwrap_or_default().as_bytes())
}

/// Removes the marker: the folder stays until the user removes it.
pub(crate) fn keep(folder: &Path) {
    let _ = fs::remove_file(folder.join(OWNER));
}

/// Removes marked folders of ended processes from a directory, and returns them.
pub fn remove_leftovers(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX)));
    let gone = ours.map(|entry| entry.path()).filter(|folder| is_left(folder));
    let mut removed: Vec<PathBuf> = gone.filter(|folder| fs::remove_dir_all(folder).is_ok()).collect();
    removed.sort();
    removed
}

/// True for a folder marked by an ended process of this user. False for unreadable markers.
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
    // Processes of another host (the directory may be shared) or container are not visible here.
    scope().is_ok_and(|here| here == format!("{boot} {namespace}"))
        && pid.parse::<u32>().is_ok()
        && identity(pid).ok().as_deref() != Some(owner.as_str())
}

/// Identity of a process: its PID, start time (in clock ticks since boot), and the scope of the PID.
fn identity(process: &str) -> io::Result<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let number = stat.split(' ').next().unwrap_or_default();
    // The second field is the program name in parentheses, which may contain any character.
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let started = rest.split_whitespace().nth(19).unwrap_or("0");
    Ok(format!("{number} {started} {}", scope()?))
}

/// Scope in which PIDs are unique: boot ID and PID namespace. The first namespace has the same number on every host, so
/// that only the boot ID distinguishes hosts with a shared directory.
fn scope() -> io::Result<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(format!("{} {}", boot.trim(), fs::read_link("/proc/self/ns/pid")?.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_ended_processes_are_removed() {
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
            // Exceeds the largest PID.
            folder("plimsoll-a-2", Some(&format!("999999999 1 {here}"))),
            folder("plimsoll-a-3", Some(&reused)),
        ];
        let others = [
            folder("plimsoll-a-4", None),
            folder("plimsoll-a-5", Some(&format!("999999999 1 {boot} pid:[1]"))),
            // Marked on another host.
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
