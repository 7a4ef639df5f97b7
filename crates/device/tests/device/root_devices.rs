//! Claims of real block devices: loop devices that are mounted, used as swap, partitioned, held.
//!
//! Needs root and loop devices, and runs only with `PLIMSOLL_ROOT_TESTS=1`. Detaches and unmounts its devices, even on
//! failure. Touches no other device.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]
#![expect(clippy::print_stderr, reason = "a skipped suite reports the reason")]

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use plimsoll_device::{ActivityWatch, Direct, SubjectKind, check_destroy, claim_named, classify, describe_disk};
use plimsoll_units::Bytes;

const EXCLUSIVE: i32 = rustix::fs::OFlags::EXCL.bits().cast_signed();

/// Serialises the tests: `losetup --find` opens the devices of others briefly.
static TURN: Mutex<()> = Mutex::new(());

/// Lock for a test if the suite is enabled; prints the reason otherwise.
fn turn() -> Option<MutexGuard<'static, ()>> {
    let requested = std::env::var_os("PLIMSOLL_ROOT_TESTS").is_some_and(|value| value == "1");
    let root = fs::metadata("/proc/self").is_ok_and(|stat| stat.uid() == 0);
    if !requested {
        eprintln!("skipped: needs root, and runs only with PLIMSOLL_ROOT_TESTS=1");
    } else if !root {
        eprintln!("skipped: PLIMSOLL_ROOT_TESTS=1 is set, but this is not root");
    }
    (requested && root).then(|| TURN.lock().unwrap_or_else(PoisonError::into_inner))
}

fn run(command: &str, arguments: &[&Path]) -> String {
    let mut words = command.split(' ');
    let program = words.next().unwrap();
    let output = Command::new(program).args(words).args(arguments).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn installed(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}

/// A loop device over a file of 64 MiB, both removed on drop.
struct Loop {
    file: PathBuf,
    device: PathBuf,
}

impl Loop {
    fn new(name: &str) -> Self {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.img", std::process::id()));
        File::create(&file).unwrap().set_len(Bytes::mib(64).get()).unwrap();
        let device = PathBuf::from(run("losetup --find --show", &[&file]));
        assert!(device.starts_with("/dev") && device.to_string_lossy().contains("loop"), "{}", device.display());
        Self { file, device }
    }

    /// The refusal for writing to it with `--destroy`, or "allowed".
    fn verdict(&self) -> String {
        judge_path(&self.device)
    }
}

fn judge_path(path: &Path) -> String {
    crate::subject::verdict(path, &[path.to_owned()])
}

/// The refusal for `path` while another process has `written` open for writing.
fn while_written(written: &Path, path: &Path) -> String {
    let writer = File::options().write(true).open(written).unwrap();
    let mut child = Command::new("sleep").arg("60").stdout(writer).spawn().unwrap();
    let verdict = judge_path(path);
    child.kill().unwrap();
    child.wait().unwrap();
    verdict
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.device).status();
        let _ = fs::remove_file(&self.file);
    }
}

/// A partition of 16 MiB of a loop device, removed on drop.
struct Partition<'a> {
    disk: &'a Loop,
    number: &'static str,
    device: PathBuf,
}

impl<'a> Partition<'a> {
    fn new(disk: &'a Loop, number: &'static str, start: &str) -> Self {
        run("addpart", &[&disk.device, Path::new(number), Path::new(start), Path::new("32768")]);
        Self { disk, number, device: PathBuf::from(format!("{}p{number}", disk.device.display())) }
    }
}

impl Drop for Partition<'_> {
    fn drop(&mut self) {
        let _ = Command::new("delpart").arg(&self.disk.device).arg(self.number).status();
    }
}

/// Undoes a mount or swap on drop.
struct Undo(&'static str, PathBuf);

impl Drop for Undo {
    fn drop(&mut self) {
        let _ = Command::new(self.0).arg(&self.1).status();
        if self.0 == "umount" {
            let _ = fs::remove_dir(&self.1);
        }
    }
}

fn mounted(device: &Path, name: &str) -> Undo {
    let point = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    fs::create_dir_all(&point).unwrap();
    run("mount", &[device, &point]);
    Undo("umount", point)
}

#[test]
fn clean_device_is_described_and_allowed() {
    let Some(_turn) = turn() else { return };
    let clean = Loop::new("clean");
    let subject = classify(&clean.device).unwrap();
    assert_eq!((subject.kind, subject.size), (SubjectKind::BlockDevice, Bytes::mib(64)));
    assert!(!subject.read_only && subject.filesystem.is_none() && subject.direct != Direct::Refused);
    let disk = describe_disk(&subject);
    assert_eq!(disk.name.as_deref(), clean.device.file_name().and_then(|name| name.to_str()));
    assert_eq!((disk.size, disk.logical_block), (Some(Bytes::mib(64)), Some(512)));
    assert!(disk.model.is_some_and(|model| model.starts_with("loop over /")));
    assert_eq!(clean.verdict(), "allowed");
    let unnamed = check_destroy(&clean.device, &[]).unwrap_err().to_string();
    assert!(unnamed.contains("add --destroy /dev/loop"), "{unnamed}");
}

#[test]
fn a_mounted_device_is_refused_for_writing_and_read() {
    let Some(_turn) = turn() else { return };
    let disk = Loop::new("mounted");
    run("mkfs.ext4 -q", &[&disk.device]);
    assert!(
        disk.verdict().contains(
            "carries an ext4 filesystem (at byte 1080): if its data may be lost, wipe it with wipefs -a /dev/loop"
        ),
        "{}",
        disk.verdict()
    );
    let point = mounted(&disk.device, "point");
    assert!(
        disk.verdict().contains(&format!("is mounted at {}: unmount it (umount /", point.1.display())),
        "{}",
        disk.verdict()
    );
    assert_eq!(classify(&disk.device).unwrap().kind, SubjectKind::BlockDevice);
    let inside = classify(&point.1).unwrap();
    assert_eq!(inside.device, classify(&disk.device).unwrap().device);
    assert_eq!(describe_disk(&inside).filesystem.as_deref(), Some("ext4"));
    drop(point);
    run("wipefs -a -q", &[&disk.device]);
    assert_eq!(disk.verdict(), "allowed");
}

#[test]
fn btrfs_is_resolved_to_its_device() {
    let Some(_turn) = turn().filter(|_| installed("mkfs.btrfs")) else { return };
    let disk = Loop::new("btrfs");
    run("truncate -s 256M", &[&disk.file]);
    run("losetup -c", &[&disk.device]);
    run("mkfs.btrfs -q", &[&disk.device]);
    let point = mounted(&disk.device, "btrfs-point");
    assert!(disk.verdict().contains("is mounted at"), "{}", disk.verdict());
    let inside = classify(&point.1).unwrap();
    assert_eq!(inside.device, classify(&disk.device).unwrap().device);
    assert_eq!(describe_disk(&inside).filesystem.as_deref(), Some("btrfs"));
}

#[test]
fn read_only_mount_is_refused_for_new_files() {
    let Some(_turn) = turn() else { return };
    let disk = Loop::new("frozen");
    run("mkfs.ext4 -q", &[&disk.device]);
    let point = mounted(&disk.device, "frozen-point");
    fs::write(point.1.join("file"), [1; 4096]).unwrap();
    run("mount -o remount,ro", &[&point.1]);
    let refusal = classify(&point.1).unwrap_err().to_string();
    assert!(refusal.ends_with("on a read-only filesystem: give a writable directory, or a file to read"));
    let file = point.1.join("file");
    assert!(classify(&file).unwrap().read_only);
    assert!(
        judge_path(&file).ends_with("read-only: leave out --destroy, or make it writable first"),
        "{}",
        judge_path(&file)
    );
}

#[test]
fn swap_is_refused() {
    let Some(_turn) = turn() else { return };
    let disk = Loop::new("swap");
    run("mkswap -q", &[&disk.device]);
    assert!(disk.verdict().contains("carries a swap area (at byte 4086)"), "{}", disk.verdict());
    run("swapon", &[&disk.device]);
    let on = Undo("swapoff", disk.device.clone());
    assert!(disk.verdict().contains("is in use as swap: switch that off (swapoff /dev/loop"), "{}", disk.verdict());
    drop(on);
}

#[test]
fn the_file_behind_a_loop_device_is_refused() {
    let Some(_turn) = turn() else { return };
    let disk = Loop::new("behind");
    let verdict = judge_path(&disk.file);
    let expected =
        format!("the loop device {0} is set up over it: detach that (losetup -d {0}) first", disk.device.display());
    assert!(verdict.ends_with(&expected), "{verdict}");
}

#[test]
fn uses_of_partitions_apply_to_their_disk() {
    let Some(_turn) = turn().filter(|_| installed("addpart")) else { return };
    let disk = Loop::new("parts");
    let first = Partition::new(&disk, "1", "2048");
    let second = Partition::new(&disk, "2", "65536");
    assert_eq!(judge_path(&first.device), "allowed");
    assert_eq!(disk.verdict(), "allowed");
    assert!(while_written(&disk.device, &first.device).contains("is open for writing in process"));
    assert!(while_written(&second.device, &disk.device).contains("is open for writing in process"));
    assert_eq!(while_written(&second.device, &first.device), "allowed", "a sibling's writer is no reason");
    let subject = classify(&first.device).unwrap();
    assert_eq!((subject.size, describe_disk(&subject).size), (Bytes::mib(16), Some(Bytes::mib(64))));

    run("mkfs.ext4 -q", &[&second.device]);
    let point = mounted(&second.device, "parts-point");
    assert!(disk.verdict().contains("p2 is mounted at"), "{}", disk.verdict());
    assert!(judge_path(&second.device).contains("p2 is mounted at"));
    assert_eq!(judge_path(&first.device), "allowed", "a sibling's mount is no reason");
    drop(point);
    let claim = claim_named(&first.device, std::slice::from_ref(&first.device)).unwrap();
    assert!(disk.verdict().contains("held exclusively"), "{}", disk.verdict());
    drop(claim);

    run("mkfs.ext4 -q", &[&disk.device]);
    let point = mounted(&disk.device, "parts-whole");
    let expected = format!("{} is mounted at", disk.device.display());
    assert!(judge_path(&first.device).contains(&expected), "{}", judge_path(&first.device));
    drop(point);
}

#[test]
fn a_held_device_is_refused_and_a_claim_holds() {
    let Some(_turn) = turn() else { return };
    let disk = Loop::new("held");
    let holder = File::options().read(true).custom_flags(EXCLUSIVE).open(&disk.device).unwrap();
    assert!(disk.verdict().contains("held exclusively by the kernel or another program"), "{}", disk.verdict());
    drop(holder);
    let claim = claim_named(&disk.device, std::slice::from_ref(&disk.device)).unwrap();
    assert!(claim.covers(&File::open(&disk.device).unwrap()).unwrap());
    assert!(!claim.covers(&File::open(&disk.file).unwrap()).unwrap());
    assert!(File::options().read(true).custom_flags(EXCLUSIVE).open(&disk.device).is_err());
    // The claim allows writes by this process.
    File::options().write(true).open(&disk.device).unwrap().write_all(&[1; 4096]).unwrap();
    drop(claim);
    assert_eq!(disk.verdict(), "allowed");
}

#[test]
fn device_open_for_writing_elsewhere_is_refused() {
    let Some(_turn) = turn() else { return };
    let disk = Loop::new("writer");
    let writer = File::options().write(true).open(&disk.device).unwrap();
    let mut child = Command::new("sleep").arg("60").stdout(writer).spawn().unwrap();
    let verdict = disk.verdict();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(verdict.contains(&format!("open for writing in process {} (", child.id())), "{verdict}");
}

#[test]
fn a_read_only_device_is_refused() {
    let Some(_turn) = turn() else { return };
    let disk = Loop::new("readonly");
    // Not `blockdev --setro`, which would persist for the next user of the loop device.
    run("losetup -d", &[&disk.device]);
    run("losetup -r", &[&disk.device, &disk.file]);
    assert!(classify(&disk.device).unwrap().read_only);
    assert!(disk.verdict().contains("read-only: leave out --destroy"), "{}", disk.verdict());
}

#[test]
fn disk_activity_is_counted() {
    let Some(_turn) = turn() else { return };
    let disk = Loop::new("counted");
    let watch = ActivityWatch::new(&classify(&disk.device).unwrap());
    let before = watch.snapshot();
    let mut file = File::options().write(true).open(&disk.device).unwrap();
    file.write_all(&vec![7; 1 << 20]).unwrap();
    file.sync_all().unwrap();
    let delta = watch.snapshot().since(&before);
    let did = delta.disk.unwrap();
    assert!(did.written >= Bytes::mib(1) && did.writes > 0, "{did:?}");
    assert!(delta.process.unwrap().syscall_written >= Bytes::mib(1));
}
