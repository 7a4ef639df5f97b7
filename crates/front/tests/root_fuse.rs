//! Volumes as files and block devices of the kernel, on FUSE mounts and loop devices created by the test.
//!
//! Needs root, /dev/fuse and loop devices, and runs only with `PLIMSOLL_ROOT_TESTS=1`. Removes its mounts and devices
//! even on failure, and touches no others.
#![allow(clippy::unwrap_used, reason = "a failed test reports its location")]
#![allow(clippy::print_stderr, reason = "a skipped suite reports the reason")]

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use plimsoll_device::{Clock, LoopDevice, LoopError};
use plimsoll_front::fuse::{self, Mountpoint, UnmountError};
use plimsoll_front::{Checksums, DataFiles, Handle, Limits, Offer, Server};
use plimsoll_volume::{Edit, Export, Geometry, Serving, Slow, Store, VolumeId, Volumes};

/// XFS needs more than 300 MiB.
const SIZE: u64 = 512 << 20;

/// Timeout of asynchronous events on a busy host.
const DEADLINE: Duration = Duration::from_secs(30);

/// Mount point of the killed server.
const CHILD: &str = "PLIMSOLL_FUSE_CHILD";

/// Serialises tests, as they search for free loop devices.
static TURN: Mutex<()> = Mutex::new(());

fn take_turn() -> Option<MutexGuard<'static, ()>> {
    let requested = std::env::var_os("PLIMSOLL_ROOT_TESTS").is_some_and(|value| value == "1");
    let root = fs::metadata("/proc/self").is_ok_and(|stat| stat.uid() == 0);
    let fuse = Path::new("/dev/fuse").exists();
    match (requested, root, fuse) {
        (false, ..) => eprintln!("skipped: needs root, and runs only with PLIMSOLL_ROOT_TESTS=1"),
        (_, false, _) => eprintln!("skipped: PLIMSOLL_ROOT_TESTS=1 is set, but this is not root"),
        (.., false) => eprintln!("skipped: /dev/fuse is missing"),
        _ => return Some(TURN.lock().unwrap_or_else(PoisonError::into_inner)),
    }
    None
}

fn installed(program: &str) -> bool {
    let found = Command::new(program).arg("-V").output().is_ok();
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}

fn run(command: &str, arguments: &[&Path]) -> String {
    let mut words = command.split(' ');
    let program = words.next().unwrap();
    let output = Command::new("timeout")
        .args(["60", program])
        .args(words)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let replies = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {} {replies}", output.status);
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < DEADLINE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A volume behind a server, as a file.
struct Rig {
    directory: PathBuf,
    handle: Handle,
    mountpoint: Option<Mountpoint>,
    thread: Option<JoinHandle<()>>,
    _turn: Option<MutexGuard<'static, ()>>,
}

impl Rig {
    fn new(name: &str, turn: Option<MutexGuard<'static, ()>>) -> Self {
        let directory = std::env::temp_dir().join(format!("plimsoll-fuse-{name}-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        Self::at(directory.canonicalize().unwrap(), turn)
    }

    fn at(directory: PathBuf, turn: Option<MutexGuard<'static, ()>>) -> Self {
        fs::create_dir_all(directory.join("mnt")).unwrap();
        let (told, handle) = channel();
        let home = directory.clone();
        let thread = std::thread::spawn(move || serve(&home, told));
        let handle = handle.recv().unwrap();
        let (device, mountpoint) = fuse::mount(&directory.join("mnt")).unwrap();
        handle.call(|server| server.mount(Export(0), device).unwrap()).unwrap();
        Self { directory, handle, mountpoint: Some(mountpoint), thread: Some(thread), _turn: turn }
    }

    fn file(&self) -> PathBuf {
        self.directory.join("mnt").join(fuse::NAME)
    }

    fn mounts(&self) -> usize {
        self.handle.call(|server| server.mounts(Export(0))).unwrap()
    }
}

/// Serves a new volume until it is stopped.
fn serve(home: &Path, told: Sender<Handle>) {
    let data = home.join("data");
    fs::create_dir_all(&data).unwrap();
    let (files, _) = DataFiles::directory(&data, Checksums::AsMade).unwrap();
    let volumes = Volumes::new(Store::new(Geometry::default(), 8 << 30), Slow::NOT);
    let mut server = Server::new(volumes, files, Limits::default(), Clock::start()).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(home.join("socket")).unwrap();
    server.listen(listener).unwrap();
    let create = Edit::Create { size: SIZE, text: String::new() };
    let ready = move |server: &mut Server, outcome: Result<(), _>| {
        outcome.unwrap();
        // Small limits, so that requests have to wait.
        let limits = plimsoll_volume::Limits { requests: 16, bytes: 4 << 20, payload: 4 << 20, block: 1 };
        let model = plimsoll_model::parse("link(20us)").unwrap();
        let (volumes, now, _) = server.volumes();
        let serving = Serving { volume: VolumeId(0), model, seed: 1, limits, group: None };
        let export = volumes.serve(now, &serving).unwrap();
        server.offer(Offer::new(export, "data", SIZE));
        told.send(server.handle()).unwrap();
    };
    server.edit(&create, ready).unwrap();
    server.run().unwrap();
}

impl Drop for Rig {
    fn drop(&mut self) {
        drop(self.mountpoint.take());
        if self.handle.send(Server::stop).is_ok() {
            let ended = self.thread.take().map(JoinHandle::join);
            assert!(std::thread::panicking() || ended.is_some_and(|ended| ended.is_ok()), "the server has panicked");
        }
        let _ = Command::new("umount").args(["-q", "-l"]).arg(self.directory.join("mnt")).status();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// A loop device with a filesystem, detached on drop.
struct Disk {
    device: LoopDevice,
    point: PathBuf,
}

impl Disk {
    fn over(rig: &Rig) -> Self {
        let device = LoopDevice::over(&rig.file(), plimsoll_device::AccessMode::Write).unwrap();
        let point = rig.directory.join("point");
        fs::create_dir_all(&point).unwrap();
        Self { device, point }
    }

    fn mount(&self) {
        run("mount", &[self.device.device(), &self.point]);
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["-q", "-l"]).arg(&self.point).status();
        let _ = self.device.clone().detach();
    }
}

fn pattern(seed: u8, length: usize) -> Vec<u8> {
    (0..length).map(|byte| (byte * 31 + byte / 4093) as u8 ^ seed).collect()
}

#[test]
fn file_keeps_written_data() {
    let Some(turn) = take_turn() else { return };
    let rig = Rig::new("file", Some(turn));
    let stat = fs::metadata(rig.file()).unwrap();
    assert_eq!((stat.len(), stat.mode() & 0o777), (SIZE, 0o600));
    let names = fs::read_dir(rig.directory.join("mnt")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), [fuse::NAME]);
    let file = File::options().read(true).write(true).open(rig.file()).unwrap();
    for (place, length) in [(0, 512), (12_345, 777), (1 << 20, 3 << 20), (SIZE - 4096, 4096), (40 << 20, 700_001)] {
        let data = pattern(length as u8, length as usize);
        file.write_all_at(&data, place).unwrap();
        let mut back = vec![0; length as usize];
        file.read_exact_at(&mut back, place).unwrap();
        assert!(back == data, "{place} {length}");
    }
    assert_eq!(file.write_at(&[1; 8192], SIZE - 4096).unwrap(), 4096, "up to the end of the file");
    assert_eq!(file.write_at(&[1], SIZE).unwrap_err().raw_os_error(), Some(libc::ENOSPC));
    assert_eq!(file.read_at(&mut [0; 10], SIZE).unwrap(), 0);
    file.sync_all().unwrap();
    assert_eq!(file.set_len(SIZE).map_err(|error| error.raw_os_error()), Ok(()));
    assert_eq!(file.set_len(1).unwrap_err().raw_os_error(), Some(libc::EPERM));
    assert_eq!(File::create(rig.directory.join("mnt/other")).unwrap_err().raw_os_error(), Some(libc::ENOSYS));
}

#[test]
fn holes_are_punched_and_found() {
    let Some(turn) = take_turn() else { return };
    let rig = Rig::new("holes", Some(turn));
    let file = File::options().read(true).write(true).open(rig.file()).unwrap();
    file.write_all_at(&pattern(1, 4 << 20), 0).unwrap();
    run("fallocate -p -o 1000 -l 2000000", &[&rig.file()]);
    run("fallocate -z -n -o 3000000 -l 100", &[&rig.file()]);
    let mut expected = pattern(1, 4 << 20);
    expected[1000..2_001_000].fill(0);
    expected[3_000_000..3_000_100].fill(0);
    let mut back = vec![0; 4 << 20];
    file.read_exact_at(&mut back, 0).unwrap();
    assert!(back == expected, "zeroed ranges are exact to the byte");
    let hole = rustix::fs::seek(&file, rustix::fs::SeekFrom::Hole(0)).unwrap();
    assert!((1000..2_001_000).contains(&hole) || hole >= 4 << 20, "{hole}");
    assert_eq!(rustix::fs::seek(&file, rustix::fs::SeekFrom::Data(0)).unwrap(), 0);
    assert!(rustix::fs::seek(&file, rustix::fs::SeekFrom::Data(64 << 20)).is_err(), "no data follow");
}

#[test]
fn concurrent_requests_keep_their_data() {
    let Some(turn) = take_turn().filter(|_| installed("fio")) else { return };
    let rig = Rig::new("fio", Some(turn));
    let fio = "fio --name=v --size=128m --bsrange=512-1m --rw=randrw --ioengine=libaio --iodepth=64 --direct=1 \
               --verify_state_save=0 --verify=crc32c --verify_fatal=1 --do_verify=1 --output-format=terse --filename";
    run(fio, &[&rig.file()]);
    let buffered = "fio --name=b --size=32m --bs=16k --rw=randwrite --fsync=64 --numjobs=4 --verify_state_save=0 \
                    --verify=crc32c --offset=256m --offset_increment=32m --output-format=terse --filename";
    run(buffered, &[&rig.file()]);
    let lent = rig.handle.call(|server| server.lent_bytes()).unwrap();
    assert_eq!(lent, u64::from(fuse::PAYLOAD_MAX), "only memory for the next message is lent");
}

#[test]
fn unmounted_file_is_not_served() {
    let Some(turn) = take_turn() else { return };
    let mut rig = Rig::new("unmount", Some(turn));
    let file = File::open(rig.file()).unwrap();
    let (error, mountpoint) = rig.mountpoint.take().unwrap().unmount().unwrap_err();
    assert!(matches!(error, UnmountError::Busy(_)), "{error}");
    assert_eq!(plimsoll_device::occupant(&rig.file()).map(|found| found.pid), Some(std::process::id()));
    drop(file);
    mountpoint.unmount().map_err(|(error, _)| error).unwrap();
    eventually("the mount ends", || rig.mounts() == 0);
    assert_eq!(rig.handle.call(|server| server.lent_bytes()).unwrap(), 0);
    let (device, mountpoint) = fuse::mount(&rig.directory.join("mnt")).unwrap();
    rig.handle.call(|server| server.mount(Export(0), device).unwrap()).unwrap();
    assert_eq!(fs::metadata(rig.file()).unwrap().len(), SIZE, "it can be mounted again");
    rig.handle.call(|server| server.end_mounts(Export(0))).unwrap();
    eventually("accesses fail", || fs::metadata(rig.file()).is_err());
    drop(mountpoint);
    assert!(!fuse::clear_stale(&rig.directory.join("mnt")).unwrap(), "no stale mount remains");
}

#[test]
fn filesystem_on_a_loop_device_is_clean() {
    let Some(turn) = take_turn().filter(|_| installed("mkfs.ext4")) else { return };
    let rig = Rig::new("ext4", Some(turn));
    let disk = Disk::over(&rig);
    run("mkfs.ext4 -q", &[disk.device.device()]);
    disk.mount();
    assert_eq!(disk.device.mounted_at().as_deref(), Some(disk.point.as_path()));
    let file = disk.point.join("file");
    fs::write(&file, pattern(7, 20 << 20)).unwrap();
    run("sync -f", &[&file]);
    assert!(matches!(disk.device.clone().detach(), Err(LoopError::Busy(_))), "a mounted device is not detached");
    run("fstrim", &[&disk.point]);
    run("umount", &[&disk.point]);
    run("e2fsck -f -n", &[disk.device.device()]);
    disk.mount();
    assert!(fs::read(&file).unwrap() == pattern(7, 20 << 20));
    run("umount", &[&disk.point]);
    let direct = disk.device.device().file_name().unwrap().to_str().unwrap();
    assert_eq!(fs::read_to_string(format!("/sys/block/{direct}/loop/dio")).unwrap().trim(), "1");
    assert_eq!(LoopDevice::all_over(&rig.file()).unwrap(), std::slice::from_ref(&disk.device));
    disk.device.clone().detach().unwrap();
    assert!(matches!(disk.device.resize(), Err(LoopError::NotOver { .. })), "the device is detached");
}

#[test]
fn mounted_filesystem_grows_with_its_volume() {
    let Some(turn) = take_turn().filter(|_| installed("mkfs.xfs")) else { return };
    let rig = Rig::new("xfs", Some(turn));
    let disk = Disk::over(&rig);
    run("mkfs.xfs -q", &[disk.device.device()]);
    disk.mount();
    fs::write(disk.point.join("file"), pattern(3, 5 << 20)).unwrap();
    rig.handle.edit(Edit::Grow { volume: VolumeId(0), size: 2 * SIZE, text: None }).unwrap();
    assert_eq!(disk.device.resize().unwrap().get(), 2 * SIZE);
    assert_eq!(run("blockdev --getsize64", &[disk.device.device()]), (2 * SIZE).to_string());
    let before = rustix::fs::statvfs(&disk.point).unwrap().f_blocks;
    run("xfs_growfs", &[&disk.point]);
    assert!(rustix::fs::statvfs(&disk.point).unwrap().f_blocks > before * 3 / 2);
    assert!(fs::read(disk.point.join("file")).unwrap() == pattern(3, 5 << 20));
    run("umount", &[&disk.point]);
    run("xfs_repair -n", &[disk.device.device()]);
}

/// The killed server: this test program as a child process.
#[test]
fn as_a_child() {
    let Some(home) = std::env::var_os(CHILD) else { return };
    let rig = Rig::at(home.into(), None);
    fs::write(rig.directory.join("ready"), "").unwrap();
    std::thread::sleep(Duration::from_secs(600));
}

#[test]
fn killed_server_leaves_no_process_hanging() {
    let Some(_turn) = take_turn().filter(|_| installed("mkfs.ext4")) else { return };
    let directory = std::env::temp_dir().join(format!("plimsoll-fuse-killed-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let directory = directory.canonicalize().unwrap();
    let mut server = Child::start(&directory);
    eventually("the server starts", || directory.join("ready").exists());
    let (point, file) = (directory.join("point"), directory.join("mnt").join(fuse::NAME));
    fs::create_dir_all(&point).unwrap();
    let device = LoopDevice::over(&file, plimsoll_device::AccessMode::Write).unwrap();
    let disk = Disk { device, point };
    run("mkfs.ext4 -q", &[disk.device.device()]);
    disk.mount();
    fs::write(disk.point.join("file"), pattern(5, 8 << 20)).unwrap();
    let mut busy = Command::new("timeout")
        .args(["60", "dd", "if=/dev/zero", "bs=64k", "count=100000", "oflag=direct"])
        .arg(format!("of={}", disk.point.join("busy").display()))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(300));
    server.kill();
    let begun = Instant::now();
    assert!(!busy.wait().unwrap().success(), "operations in progress fail");
    assert!(begun.elapsed() < DEADLINE, "{:?}", begun.elapsed());
    assert_eq!(fs::metadata(&file).unwrap_err().raw_os_error(), Some(libc::ENOTCONN));
    run("umount", &[&disk.point]);
    let found = LoopDevice::existing(disk.device.device(), &file).unwrap();
    found.detach().unwrap();
    assert!(fuse::clear_stale(&directory.join("mnt")).unwrap());
    assert!(!fuse::clear_stale(&directory.join("mnt")).unwrap(), "only the first call clears it");
    drop(disk);
    fs::remove_dir_all(&directory).unwrap();
}

/// A server process, killed on drop.
struct Child(std::process::Child);

impl Child {
    fn start(directory: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "as_a_child"]).env(CHILD, directory).stdout(Stdio::null());
        Self(command.spawn().unwrap())
    }

    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}
