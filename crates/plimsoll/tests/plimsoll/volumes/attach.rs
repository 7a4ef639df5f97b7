//! Volumes as block devices of this host, attached and detached by the command. Needs root, /dev/fuse and loop devices,
//! and runs only with `PLIMSOLL_ROOT_TESTS=1`; cleans up even on failure.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::Signal;

use crate::home::{Home, SLOWLY, find_program, noise, program};

/// Serialises tests, as they search for free loop devices.
static TURN: Mutex<()> = Mutex::new(());

/// A service with a volume and a mount point.
struct Host {
    home: Home,
    point: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

impl Host {
    fn new(name: &str) -> Option<Self> {
        if std::env::var_os("PLIMSOLL_ROOT_TESTS").is_none_or(|value| value != "1") {
            eprintln!("skipped: needs root, and runs only with PLIMSOLL_ROOT_TESTS=1");
            return None;
        }
        if !Path::new("/dev/fuse").exists() || !find_program("mkfs.xfs") || !find_program("mkfs.ext4") {
            eprintln!("skipped: /dev/fuse, mkfs.xfs or mkfs.ext4 is missing");
            return None;
        }
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let home = Home::serving(name, SLOWLY);
        let point = home.path().join("point");
        fs::create_dir_all(&point).expect("the folder can be made");
        home.does(&["volume", "create", "data", "--like", "limit(10000)", "--size", "512MiB"]);
        Some(Self { home, point, _turn: turn })
    }

    fn point(&self) -> &str {
        self.point.to_str().expect("it has a plain name")
    }

    /// The volume's attachment according to the service.
    fn attachment(&self) -> serde_json::Value {
        let json = self.home.does(&["volume", "show", "data", "--json"]);
        let volume: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
        volume["attachment"].clone()
    }

    fn device(&self) -> String {
        self.attachment()["device"].as_str().expect("it is attached").to_owned()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let quietly = |program: &str, arguments: &[&Path]| {
            let _ = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
        };
        quietly("umount", &[&self.point]);
        let mounted = self.home.data().join("mnt/data");
        let over = Command::new("losetup").arg("-j").arg(mounted.join("volume")).output();
        let over = over.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        for device in over.lines().filter_map(|line| line.split(':').next()) {
            quietly("losetup", &[Path::new("-d"), Path::new(device)]);
        }
        quietly("umount", &[Path::new("-l"), &mounted]);
    }
}

/// A process with a working directory, killed on drop.
struct Guest(Child);

impl Guest {
    fn of(directory: &Path) -> Self {
        Self(Command::new("sleep").arg("600").current_dir(directory).spawn().expect("sleep runs"))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_volume_is_attached_with_a_filesystem_grown_and_detached() {
    let Some(host) = Host::new("attach") else { return };
    let (home, point) = (&host.home, host.point());
    home.refuses(&["volume", "attach", "data", point], "data has no filesystem to mount: add --mkfs xfs");
    let blank = home.does(&["volume", "attach", "data"]);
    assert!(blank.contains("volume attach data /mnt/data --mkfs xfs"), "{blank}");
    home.does(&["volume", "detach", "data"]);
    let attached = home.does(&["volume", "attach", "data", point, "--mkfs", "xfs", "--mount-options", "noatime"]);
    for part in ["/dev/loop", "mnt/data/volume", "mounted", point, "volume detach data"] {
        assert!(attached.contains(part), "no {part:?} in {attached}");
    }
    let mounts = fs::read_to_string("/proc/self/mounts").expect("there is one");
    assert!(mounts.lines().any(|line| line.contains(point) && line.contains("noatime")), "{mounts}");
    let listed: serde_json::Value =
        serde_json::from_str(&home.does(&["volume", "list", "--json"])).expect("it is JSON");
    assert_eq!(listed[0]["clients"], 1, "the attachment is a client: {listed}");
    let data = noise(3, 8 << 20);
    fs::write(host.point.join("file"), &data).expect("it can be written");

    home.refuses(&["volume", "attach", "data"], "is attached already at /dev/loop");
    home.refuses(&["volume", "delete", "data", "--yes"], "is attached at /dev/loop");
    let grown = home.does(&["volume", "resize", "data", "1GiB"]);
    assert!(grown.contains("has 1 GiB now") && grown.contains(&format!("xfs_growfs {point}")), "{grown}");
    assert_eq!(program("blockdev", &["--getsize64", &host.device()]).trim(), (1u64 << 30).to_string());
    program("xfs_growfs", &[point]);

    let guest = Guest::of(&host.point);
    let busy = format!("data stays attached: it is mounted at {point} and in use by process {} (sleep, ", guest.0.id());
    home.refuses(&["volume", "detach", "data"], &busy);
    drop(guest);
    assert_eq!(home.does(&["volume", "detach", "data"]), "data is detached\n");
    assert!(host.attachment().is_null());
    assert!(!home.data().join("mnt/data").exists(), "the mount point is gone");
    home.refuses(&["volume", "detach", "data"], "data is not attached");

    home.refuses(&["volume", "attach", "data", "--mkfs", "ext4"], "the volume carries an XFS filesystem");
    assert!(host.attachment().is_null(), "what was begun is undone");
    home.does(&["volume", "attach", "data", point]);
    assert_eq!(fs::read(host.point.join("file")).expect("it is there"), data);
    let database = host.point.join("x.db");
    fs::write(&database, "").expect("it can be written");
    let url = format!("sqlite:{}", database.display());
    let load = ["--scale", "1", "--clients", "1", "--duration", "1s", "--quiet", "--json", "-"];
    let suite = home.does(&[&["suite", "oltp", &url], &load[..]].concat());
    let suite: serde_json::Value = serde_json::from_str(&suite).expect("it is JSON");
    assert_eq!(suite["source"]["kind"], "emulated", "{}", suite["source"]);
    home.does(&["volume", "detach", "data"]);
    home.does(&["volume", "delete", "data", "--yes"]);
}

#[test]
fn a_file_alone_and_a_snapshot_are_attached() {
    let Some(host) = Host::new("attach-file") else { return };
    let home = &host.home;
    home.does(&["volume", "attach", "data", "--mkfs", "ext4"]);
    program("mount", &[&host.device(), host.point()]);
    fs::write(host.point.join("file"), "before").expect("it can be written");
    home.does(&["volume", "detach", "data"]);
    home.does(&["volume", "snapshot", "data", "kept"]);
    home.refuses(&["volume", "attach", "kept", "--mkfs", "ext4"], "kept is a snapshot");
    home.does(&["volume", "attach", "kept", host.point()]);
    assert_eq!(fs::read_to_string(host.point.join("file")).expect("it is there"), "before");
    assert!(fs::write(host.point.join("file"), "after").is_err(), "a snapshot is not written");
    home.does(&["volume", "detach", "kept"]);

    let file = home.does(&["volume", "attach", "data", "--file"]);
    assert!(file.contains("mnt/data/volume") && !file.contains("/dev/loop"), "{file}");
    let file = home.data().join("mnt/data/volume");
    assert_eq!(fs::metadata(&file).expect("it is there").len(), 512 << 20);
    let open = fs::File::open(&file).expect("it can be read");
    home.refuses(&["volume", "detach", "data"], &format!("in use by process {} (", std::process::id()));
    drop(open);
    home.does(&["volume", "detach", "data"]);
    let created = home.path().join("made/here");
    home.does(&["volume", "attach", "data", created.to_str().expect("a plain path")]);
    assert!(created.join("lost+found").is_dir(), "the mount point is made");
    home.does(&["volume", "detach", "data"]);
    let occupied = home.path().join("occupied");
    fs::write(&occupied, "").expect("it can be written");
    home.refuses(
        &["volume", "attach", "data", occupied.to_str().expect("a plain path")],
        "occupied is no directory to mount at",
    );
    home.refuses(&["volume", "attach", "other"], "there is no volume \"other\"");
}

#[test]
fn next_service_detaches_volumes_of_a_killed_one() {
    let Some(mut host) = Host::new("attach-killed") else { return };
    let point = host.point().to_owned();
    host.home.does(&["volume", "attach", "data", &point, "--mkfs", "ext4"]);
    fs::write(host.point.join("file"), noise(5, 1 << 20)).expect("it can be written");
    program("sync", &["-f", &point]);
    assert_eq!(host.home.signal(Signal::KILL).signal(), Some(9));
    host.home.serve(SLOWLY);
    let left = host.attachment();
    assert_eq!((left["dead"].as_bool(), left["mountpoint"].as_str()), (Some(true), Some(point.as_str())), "{left}");
    assert!(host.home.does(&["volume", "list"]).contains(&format!("{point} (dead)")));
    host.home.refuses(&["volume", "attach", "data"], "data has a dead attachment at /dev/loop");
    host.home.refuses(&["volume", "detach", "data", "--offline"], "leave out --offline");
    host.home.does(&["volume", "detach", "data"]);
    host.home.does(&["volume", "attach", "data", &point]);
    assert_eq!(fs::read(host.point.join("file")).expect("it is there"), noise(5, 1 << 20));
    host.home.does(&["volume", "detach", "data"]);
    host.home.does(&["volume", "attach", "data", "--file"]);
    assert!(host.home.signal(Signal::TERM).success());
    let mounts = fs::read_to_string("/proc/self/mounts").expect("there is one");
    assert!(
        !mounts.contains(host.home.data().to_str().expect("it has a plain name")),
        "nothing stays mounted: {mounts}"
    );
}

#[test]
fn volumes_of_a_killed_service_are_detached_without_a_service() {
    let Some(mut host) = Host::new("attach-offline") else { return };
    let point = host.point().to_owned();
    host.home.does(&["volume", "attach", "data", &point, "--mkfs", "xfs"]);
    assert_eq!(host.home.signal(Signal::KILL).signal(), Some(9));
    let dead = fs::read_dir(&host.point).map(Iterator::count);
    eprintln!("the dead mount: {dead:?}");
    assert_eq!(host.home.does(&["volume", "detach", "data", "--offline"]), "data is detached\n");
    host.home.refuses(&["volume", "detach", "data", "--offline"], "data is not attached");
    let mounts = fs::read_to_string("/proc/self/mounts").expect("there is one");
    assert!(!mounts.contains(host.home.path().to_str().expect("it has a plain name")), "nothing is left: {mounts}");
}

#[test]
fn volumes_of_a_killed_service_are_attached_again() {
    let Some(mut host) = Host::new("attach-again") else { return };
    let point = host.point().to_owned();
    host.home.does(&["volume", "attach", "data", &point, "--mkfs", "xfs", "--mount-options", "noatime"]);
    fs::write(host.point.join("file"), noise(5, 1 << 20)).expect("it can be written");
    program("sync", &["-f", &point]);
    assert_eq!(host.home.signal(Signal::KILL).signal(), Some(9));
    host.home.serve(&[SLOWLY, &["--reattach"]].concat());
    let begun = std::time::Instant::now();
    while host.attachment()["dead"].as_bool() == Some(true) || host.attachment()["mountpoint"].is_null() {
        assert!(begun.elapsed().as_secs() < 60, "it is not attached again: {}", host.attachment());
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(host.attachment()["mountpoint"].as_str(), Some(point.as_str()));
    assert_eq!(fs::read(host.point.join("file")).expect("it is there"), noise(5, 1 << 20));
    let mounts = fs::read_to_string("/proc/self/mounts").expect("there is one");
    assert!(mounts.lines().any(|line| line.contains(&point) && line.contains("noatime")), "{mounts}");
    host.home.does(&["volume", "detach", "data"]);
}

#[test]
fn ending_service_detaches_its_devices() {
    let Some(mut host) = Host::new("attach-end") else { return };
    let point = host.point().to_owned();
    host.home.does(&["volume", "attach", "data", &point, "--mkfs", "ext4"]);
    // Not synced: it is in the page cache when the service ends.
    fs::write(host.point.join("file"), noise(5, 1 << 20)).expect("it can be written");
    assert!(host.home.signal(Signal::TERM).success());
    let mounts = fs::read_to_string("/proc/self/mounts").expect("there is one");
    assert!(!mounts.contains(host.home.path().to_str().expect("it has a plain name")), "nothing is left: {mounts}");
    host.home.serve(&[SLOWLY, &["--reattach"]].concat());
    assert!(host.attachment()["device"].is_null(), "{}", host.attachment());
    host.home.does(&["volume", "attach", "data", &point]);
    assert_eq!(fs::read(host.point.join("file")).expect("it is there"), noise(5, 1 << 20));
    fs::write(host.point.join("second"), noise(6, 1 << 20)).expect("it can be written");
    // This service leaves the device to the next one.
    assert!(host.home.signal(Signal::TERM).success());
    assert_eq!(host.home.does(&["volume", "detach", "data", "--offline"]), "data is detached\n");
    host.home.serve(SLOWLY);
    host.home.does(&["volume", "attach", "data", &point]);
    assert_eq!(fs::read(host.point.join("second")).expect("it is there"), noise(6, 1 << 20));
    host.home.does(&["volume", "detach", "data"]);
}
