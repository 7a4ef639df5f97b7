//! What paths are, and what may be destroyed: on files that need no rights.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use plimsoll_device::{Direct, Filesystem, SubjectKind, check_destroy, claim, classify, describe_disk};
use plimsoll_units::Bytes;

/// A directory of its own, removed when it is dropped.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path.canonicalize().unwrap())
    }

    fn file(&self, name: &str, bytes: u64) -> PathBuf {
        let path = self.0.join(name);
        File::create(&path).unwrap().set_len(bytes).unwrap();
        path
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What is said of `path`, without its directory.
fn check(place: &Place, path: &Path, expected: &str) {
    let said = match classify(path) {
        Ok(subject) => format!("{} of {}", subject.kind.name(), subject.size),
        Err(error) => error.to_string().replace(&format!("{}/", place.0.display()), ""),
    };
    assert_eq!(said, expected);
    assert_eq!(said.lines().count(), 1);
}

#[test]
fn paths_are_told_apart() {
    let place = Place::new("kinds");
    let file = place.file("file", 8192);
    check(&place, &file, "file of 8 KiB");
    let link = place.0.join("link");
    symlink(&file, &link).unwrap();
    check(&place, &link, "file of 8 KiB");
    let give = "give an existing directory, file or block device";
    check(&place, &place.0.join("absent"), &format!("absent: no such file or directory: {give}"));
    check(&place, &file.join("below"), &format!("file/below: no such file or directory: {give}"));
    check(&place, &place.0.join("two\nlines"), &format!("two\\nlines: no such file or directory: {give}"));
    let dangling = place.0.join("dangling");
    symlink("/nowhere/at/all", &dangling).unwrap();
    let said = format!("dangling: a symbolic link to /nowhere/at/all, which is not there: {give}");
    check(&place, &dangling, &said);
    let give = "give a directory, file or block device";
    check(&place, Path::new("/dev/null"), &format!("/dev/null: a character device: {give}"));
    let _socket = UnixListener::bind(place.0.join("s")).unwrap();
    check(&place, &place.0.join("s"), &format!("s: a socket: {give}"));
    let said = "empty: holds no bytes: give a file or device that does, or a directory to make a file in";
    check(&place, &place.file("empty", 0), said);
    let said = format!("/proc/version: made up by the kernel (proc), not stored: {give} on storage");
    check(&place, Path::new("/proc/version"), &said);
}

#[test]
fn permission_is_asked_for() {
    let place = Place::new("permission");
    if place.0.metadata().unwrap().uid() == 0 {
        eprintln!("skipped: root has every permission");
        return;
    }
    let file = place.file("file", 512);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    let whence = "run as a user who has it (sudo, or the group disk), or give another path";
    check(&place, &file, &format!("file: no permission to read it: {whence}"));
    let directory = place.0.join("directory");
    fs::create_dir(&directory).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o500)).unwrap();
    check(&place, &directory, &format!("directory: no permission to make files in it: {whence}"));
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o000)).unwrap();
    check(&place, &directory.join("x"), &format!("directory/x: no permission to reach it: {whence}"));
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn facts_are_gathered() {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    if !table.lines().any(|line| line.split(' ').nth(4) == Some("/")) {
        eprintln!("skipped: the mount table has no root, as in a chroot");
        return;
    }
    let place = Place::new("facts");
    let directory = classify(&place.0).unwrap();
    assert_eq!(directory.kind, SubjectKind::Directory);
    assert!(directory.available.is_some_and(|free| Bytes::ZERO < free && free <= directory.size));
    let filesystem = directory.filesystem.clone().unwrap();
    assert!(!filesystem.kind.is_empty() && place.0.starts_with(&filesystem.point), "{filesystem:?}");
    assert_eq!(describe_disk(&directory).filesystem, Some(filesystem.kind));

    let path = place.file("holes", 1 << 20);
    let file = classify(&path).unwrap();
    assert_eq!((file.allocated, file.available, file.read_only), (Some(Bytes::ZERO), None, false));
    assert_eq!((file.device, file.filesystem), (directory.device, directory.filesystem));
    let asked = Direct::of(File::open(&path).unwrap());
    assert!(asked.is_none_or(|asked| asked == file.direct));
}

#[test]
fn memory_is_noted() {
    let Ok(subject) = classify(Path::new("/dev/shm")) else {
        eprintln!("skipped: no /dev/shm");
        return;
    };
    let Some(note) = subject.filesystem.as_ref().and_then(Filesystem::note) else {
        eprintln!("skipped: /dev/shm is not a tmpfs here");
        return;
    };
    assert_eq!(note, "tmpfs keeps its data in memory: figures describe that, not storage");
    assert_eq!((subject.device, describe_disk(&subject).name), (None, None));
}

/// What is said of writing to `path` when `named` was given to `--destroy`.
fn refused(place: &Place, path: &Path, named: &[&Path], expected: &str) {
    let named: Vec<PathBuf> = named.iter().map(|path| (*path).to_owned()).collect();
    let said = match check_destroy(path, &named) {
        Ok(()) => "allowed".to_owned(),
        Err(refusal) => refusal.to_string().replace(&format!("{}/", place.0.display()), ""),
    };
    assert_eq!(said, expected);
}

#[test]
fn only_the_exact_name_is_leave_to_destroy() {
    let place = Place::new("named");
    let file = place.file("file", 1 << 20);
    let link = place.0.join("link");
    symlink(&file, &link).unwrap();
    let unnamed = "file: writing would destroy what it holds: if that may be lost, add --destroy file";
    refused(&place, &file, &[], unnamed);
    refused(&place, &file, &[&place.file("other", 1), Path::new("/absent")], unnamed);
    let otherwise = "file: --destroy names it as link: the two have to be the same, letter for letter: --destroy file";
    refused(&place, &file, &[&link], otherwise);
    let dotted = place.0.join(".").join("file");
    refused(&place, &file, &[&dotted], &otherwise.replace("link", "./file"));
    refused(&place, &file, &[&link, &file], "allowed");
    refused(&place, &link, &[&link], "allowed");
    fs::write(&file, b"SQLite format 3\0").unwrap();
    let carries = "carries an SQLite database (at byte 0): if its data may be lost, delete the file, and give its \
                   directory instead: plimsoll never does";
    refused(&place, &link, &[&link], &format!("link (file): {carries}"));
}

#[test]
fn directories_and_nothing_are_not_destroyed() {
    let place = Place::new("never");
    let below = place.0.join("below");
    fs::create_dir(&below).unwrap();
    let said =
        "below: a directory, and those are never destroyed: plimsoll makes its own file in it, without --destroy";
    refused(&place, &below, &[&below], said);
    let absent = place.0.join("absent");
    let said = "absent: no such file or directory: give an existing directory, file or block device";
    refused(&place, &absent, &[&absent], said);
}

/// A child has the descriptors of its parent, and so its locks, until it runs its own program: no claim meanwhile.
static SPAWN: Mutex<()> = Mutex::new(());

#[test]
fn a_claim_keeps_other_runs_out() {
    let _none_spawned = SPAWN.lock().unwrap();
    let place = Place::new("claim");
    let file = place.file("file", 1 << 20);
    let named = [file.clone()];
    let kept = claim(&file, &named).unwrap();
    let said = "file: locked by another process, such as another run of plimsoll: wait for that, or stop it first";
    refused(&place, &file, &[&file], said);
    assert!(kept.covers(&File::open(&file).unwrap()).unwrap());
    assert!(!kept.covers(&File::open(place.file("other", 1)).unwrap()).unwrap());
    drop(kept);
    refused(&place, &file, &[&file], "allowed");
}

#[test]
fn a_file_that_another_process_writes_is_refused() {
    let place = Place::new("writer");
    let file = place.file("file", 1 << 20);
    let writer = fs::OpenOptions::new().append(true).open(&file).unwrap();
    let mut child = {
        let _no_claim = SPAWN.lock().unwrap();
        std::process::Command::new("sleep").arg("60").stdout(writer).spawn().unwrap()
    };
    // spawn() returns after the child has its output; its name may still be this program's.
    let said = check_destroy(&file, std::slice::from_ref(&file)).map_err(|refusal| refusal.to_string());
    child.kill().unwrap();
    child.wait().unwrap();
    let said = said.unwrap_err();
    assert!(said.contains(&format!("open for writing in process {} (", child.id())), "{said}");
    refused(&place, &file, &[&file], "allowed");
}
