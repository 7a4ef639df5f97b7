//! The command on loop devices created by the test. Runs as root with `PLIMSOLL_ROOT_TESTS=1`; otherwise skipped with a
//! message.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::folder::{Folder, PROGRAM, stderr, stdout, words};

/// `losetup --find` briefly opens other devices, which would disturb a test that searches for openers.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A loop device on a temporary file, detached on drop.
struct Loop {
    folder: Folder,
    device: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

impl Loop {
    /// `None`, with a message, if the tests cannot run.
    fn new(name: &str) -> Option<Self> {
        if std::env::var_os("PLIMSOLL_ROOT_TESTS").is_none() {
            eprintln!("skipped: needs root and loop devices: set PLIMSOLL_ROOT_TESTS=1");
            return None;
        }
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = Folder::new(name);
        let image = folder.join("image");
        File::create(&image).and_then(|file| file.set_len(64 << 20)).expect("the image can be made");
        let created = Command::new("losetup").args(["--find", "--show"]).arg(&image).output();
        let created = created.ok().filter(|output| output.status.success());
        let Some(created) = created else {
            eprintln!("skipped: losetup made no loop device (not root, or none is left)");
            return None;
        };
        let device = PathBuf::from(String::from_utf8_lossy(&created.stdout).trim());
        Some(Self { folder, device, _turn: turn })
    }

    fn device(&self) -> &str {
        self.device.to_str().expect("loop devices have plain names")
    }

    fn measure(&self, arguments: &[&str]) -> Output {
        self.folder.run(&[&["measure", self.device(), "--duration", "400ms"], arguments].concat())
    }

    fn refuses(&self, arguments: &[&str], expected: &str) {
        self.folder.refuses(&[&["measure", self.device(), "--duration", "400ms"], arguments].concat(), expected);
    }

    fn contents(&self) -> Vec<u8> {
        self.folder.bytes("image")
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.folder.join("mount")).output();
        let _ = Command::new("losetup").arg("--detach").arg(&self.device).output();
    }
}

fn command_of_job(folder: &Folder, block: &[&str], options: &[&str]) -> Vec<String> {
    let job = [&["k8s", "job", "data-0", "--image", "registry.example/plimsoll:0.2"], block, &["--"], options].concat();
    let manifest = folder.text(&job);
    let lines = manifest.lines().skip_while(|line| line.trim() != "args:").skip(1);
    let words = lines.map_while(|line| line.trim().strip_prefix("- \""));
    words.map(|word| word.trim_end_matches('"').to_owned()).collect()
}

/// Runs a command as the container of a Job does: in a read-only root directory of its own with the claim in it, without
/// network, home directory and variables but PATH. Returns its log, which has both streams, if it succeeded.
fn run_in_container(folder: &Folder, claim: &str, command: &[String]) -> String {
    let script = r#"
        root=$1; program=$2; claim=$3; shift 3
        mount -t tmpfs none "$root"
        for name in usr lib lib64 bin etc sys; do
            if [ -d "/$name" ]; then mkdir "$root/$name"; mount --rbind "/$name" "$root/$name"; fi
        done
        mkdir "$root/proc" "$root/dev" "$root/tmp" "$root/claim"
        mount -t proc none "$root/proc"
        cp -a /dev/null /dev/urandom "$root/dev/"
        if [ -b "$claim" ]; then cp -a "$claim" "$root/dev/claim"; else mount --bind "$claim" "$root/claim"; fi
        touch "$root/plimsoll"; mount --bind "$program" "$root/plimsoll"
        mount -o remount,ro "$root"
        exec env -i PATH="$PATH" chroot "$root" /plimsoll "$@" 2>&1
    "#;
    folder.make("root");
    let root = folder.file("root");
    let arguments = ["-m", "-n", "sh", "-ec", script, "sh", &root, PROGRAM, claim];
    let output = Command::new("unshare").args(arguments).args(command).output().expect("unshare is installed");
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    stdout(&output)
}

#[test]
fn the_job_of_a_claim_measures_a_directory_and_a_device() {
    let Some(device) = Loop::new("job") else { return };
    let folder = Folder::new("job-claim");
    folder.make("claim");
    let options = ["--depth", "1", "--duration", "300ms"];
    let in_directory = command_of_job(&folder, &[], &[&options[..], &["--size", "16MiB"]].concat());
    assert_eq!(in_directory[..2], ["measure", "/claim"]);
    let log = run_in_container(&folder, &folder.file("claim"), &in_directory);
    // kubectl has both streams: lines before and after the run are left out.
    folder.write("pod.log", format!("plimsoll: io_uring is refused here\n{log}plimsoll: done\n"));
    let report = words(&folder.text(&["k8s", "collect", "data-0", "--log", "pod.log"]));
    assert!(report.contains("data-0") && report.contains("IOPS") && report.contains("Kept as"), "{report}");
    assert!(folder.names("claim").is_empty(), "the test file is removed");
    let before = device.contents();
    let of_device = command_of_job(&folder, &["--block"], &options);
    assert_eq!(of_device[..2], ["measure", "/dev/claim"]);
    let log = run_in_container(&folder, device.device(), &of_device);
    folder.write("device.log", log);
    let report = words(&folder.text(&["k8s", "collect", "data-0", "-n", "db", "--log", "device.log"]));
    assert!(report.contains("db/data-0") && report.contains("read-only"), "{report}");
    assert!(device.contents() == before, "not a byte has changed");
}

fn run(program: &str, arguments: &[&Path]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

#[test]
fn a_device_is_read_without_a_word_and_written_by_name_only() {
    let Some(device) = Loop::new("by-name") else { return };
    let before = device.contents();
    let read = device.measure(&[]);
    assert!(read.status.success(), "{}", stderr(&read));
    assert!(stdout(&read).contains("read-only"));
    assert!(device.contents() == before, "not a byte has changed");
    device.refuses(&["--preset", "redo"], "add --destroy");
    device.refuses(&["--destroy", "/dev/null"], "--destroy");
    let name = device.device().to_owned();
    let written = device.measure(&["--destroy", &name]);
    assert!(written.status.success(), "{}", stderr(&written));
    assert!(device.contents() != before, "its data were given up");
}

#[test]
fn a_recording_that_writes_needs_the_name_too() {
    let Some(device) = Loop::new("replayed") else { return };
    let line = |n: usize| format!("{},{},{},8192\n", n * 100_000, ["read", "write"][n % 2], n * 4096);
    let lines: Vec<String> = (0..200).map(line).collect();
    let trace = format!("#plimsoll.trace/1\ntime_ns,kind,offset,length\n{}", lines.concat());
    device.folder.write("load.trace", trace);
    let measure = ["measure", device.device(), "--replay", "load.trace"];
    let replay = |more: &[&str]| device.folder.run(&[&measure, more].concat());
    let before = device.contents();
    device.folder.refuses(&measure, "--reads-only");
    let read = replay(&["--reads-only"]);
    assert!(read.status.success(), "{}", stderr(&read));
    assert!(device.contents() == before, "not a byte has changed");
    let written = replay(&["--destroy", device.device()]);
    assert!(written.status.success(), "{}", stderr(&written));
    assert!(device.contents() != before, "its data were given up");
}

#[test]
fn a_device_with_something_on_it_is_refused_although_it_is_named() {
    let Some(device) = Loop::new("in-use") else { return };
    if !run("mkfs.ext4", &[Path::new("-q"), &device.device]) {
        eprintln!("skipped: mkfs.ext4 is not there");
        return;
    }
    let name = device.device().to_owned();
    device.refuses(&["--destroy", &name], "ext");
    let mount = device.folder.join("mount");
    device.folder.make("mount");
    if !run("mount", &[&device.device, &mount]) {
        eprintln!("skipped: the filesystem cannot be mounted here");
        return;
    }
    device.refuses(&["--destroy", &name], "mounted");
    let before = fs::read_dir(&mount).expect("it is mounted").count();
    let read = device.measure(&[]);
    assert!(read.status.success(), "a mounted device may be read: {}", stderr(&read));
    assert_eq!(fs::read_dir(&mount).expect("it is mounted").count(), before);
}

#[test]
fn a_device_is_served_by_name_only_and_not_when_it_carries_something() {
    let Some(device) = Loop::new("served") else { return };
    device.folder.write("source", vec![0x5a; 64 << 20]);
    let nbd = ["nbd", device.device(), "--run", "nbdcopy --flush source \"$uri\""];
    let serve = |more: &[&str]| device.folder.run(&[&nbd, more].concat());
    let refused = |more: &[&str], expected: &str| device.folder.refuses(&[&nbd, more].concat(), expected);
    if Command::new("nbdcopy").arg("--version").output().is_err() {
        eprintln!("skipped: nbdcopy is not installed (Debian: apt-get install libnbd-bin)");
        return;
    }
    refused(&[], "--destroy");
    refused(&["--destroy", "/dev/null"], "--destroy");
    assert!(device.contents().iter().all(|byte| *byte == 0), "it was written to");
    let output = serve(&["--destroy", device.device()]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(device.contents().iter().all(|byte| *byte == 0x5a), "it was not written to");
    if run("mkfs.ext4", &[Path::new("-qF"), &device.device]) {
        refused(&["--destroy", device.device()], "ext4");
        let output = serve(&["--read-only"]);
        assert_ne!(output.status.code(), Some(0), "a copy to what is read-only");
    }
}

/// Findings in the output of `plimsoll measure` for a device, as one text.
fn found(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    words(&stdout(output))
}

#[test]
fn a_cached_or_sparse_file_behind_a_loop_device_is_found() {
    let Some(device) = Loop::new("cached") else { return };
    let sparse = found(&device.measure(&[]));
    assert!(sparse.contains("in the page cache"), "{sparse}");
    assert!(sparse.contains("were ever written"), "{sparse}");
    let direct = ["--direct-io=on".as_ref(), device.device.as_path()];
    if !run("losetup", &direct) {
        eprintln!("skipped: the filesystem of the image has no direct I/O");
        return;
    }
    device.folder.write("image", vec![0x5a; 64 << 20]);
    let clean = found(&device.measure(&[]));
    assert!(!clean.contains("in the page cache") && !clean.contains("were ever written"), "{clean}");
}

#[test]
fn disabled_barriers_are_found() {
    let Some(device) = Loop::new("nobarrier") else { return };
    let mount = device.folder.join("mount");
    device.folder.make("mount");
    let created = run("mkfs.ext4", &[Path::new("-q"), &device.device]);
    for (options, expected) in [("barrier=0", true), ("barrier=1", false)] {
        if !created || !run("mount", &[Path::new("-o"), Path::new(options), &device.device, &mount]) {
            eprintln!("skipped: ext4 cannot be made or mounted here");
            return;
        }
        device.folder.write("mount/data", vec![0x5a; 16 << 20]);
        let text = found(&device.folder.run(&["measure", "--duration", "400ms", "mount/data"]));
        assert_eq!(text.contains("flushes do not reach the storage"), expected, "{options}: {text}");
        assert!(run("umount", &[&mount]), "the mount is the test's own");
    }
}

/// A control group with a limit on a disk, removed on drop.
struct LimitedGroup(PathBuf);

impl LimitedGroup {
    /// Limits reads of `device` to `iops`; `None` without a usable I/O controller.
    fn new(device: &Path, iops: u32) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let rdev = fs::metadata(device).ok()?.rdev();
        let number = format!("{}:{}", rustix::fs::major(rdev), rustix::fs::minor(rdev));
        let name = format!("plimsoll-test-{}", std::process::id());
        let forms = [
            ("/sys/fs/cgroup/blkio", "blkio.throttle.read_iops_device", format!("{number} {iops}")),
            ("/sys/fs/cgroup", "io.max", format!("{number} riops={iops}")),
        ];
        for (root, file, line) in forms {
            let group = Path::new(root).join(&name);
            if !Path::new(root).join("cgroup.procs").exists() || fs::create_dir(&group).is_err() {
                continue;
            }
            let group = Self(group);
            if group.0.join(file).exists() && fs::write(group.0.join(file), line).is_ok() {
                return Some(group);
            }
        }
        None
    }
}

impl Drop for LimitedGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn a_limit_of_the_control_group_is_named() {
    let Some(device) = Loop::new("throttled") else { return };
    let Some(group) = LimitedGroup::new(&device.device, 300) else {
        eprintln!("skipped: no control group can limit I/O here");
        return;
    };
    let inside = format!(
        "echo $$ > {}/cgroup.procs && exec {} measure {} --duration 2s --depth 8",
        group.0.display(),
        PROGRAM,
        device.device()
    );
    let output = Command::new("sh").args(["-c", &inside]).env("PLIMSOLL_RUNS", device.folder.join("runs")).output();
    let text = found(&output.expect("sh starts"));
    assert!(text.contains("limits this process to 300 read IOPS"), "{text}");
    let outside = found(&device.measure(&[]));
    assert!(!outside.contains("limits this process"), "{outside}");
}
