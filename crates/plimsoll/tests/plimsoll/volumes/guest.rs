//! A Linux guest in QEMU with open-iscsi and multipathd, and the jobs that it does with volumes.
//!
//! Software emulation of a Debian kernel; the guest sees the programs of this host, read-only. It needs
//! `PLIMSOLL_GUEST_KERNEL`, the directory of an unpacked package `linux-image-*-amd64`: `.ci/guest` prepares everything and
//! runs the tests.

use std::io::{BufRead, BufReader};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::home::{Home, Running};

mod articles;
mod controllers;
mod paths;

const INIT: &str = include_str!("guest/init.sh");
const GUEST_STEPS: &str = include_str!("guest/common.sh");

/// Size of the boot volume, which keeps the state of the guest.
const BOOT_BYTES: u64 = 64 << 20;

/// Guests run in turns: each needs both processors of a small host.
static TURN: Mutex<()> = Mutex::new(());

/// Modules that the guest needs before it has the host's files, in the order of their dependencies.
const MODULES: [&str; 8] = [
    "fs/netfs/netfs",
    "net/9p/9pnet",
    "fs/9p/9p",
    "net/9p/9pnet_virtio",
    "net/core/failover",
    "drivers/net/net_failover",
    "drivers/net/virtio_net",
    "fs/overlayfs/overlay",
];

/// A path to a portal that can be cut: a relay of bytes.
struct Relay {
    port: u16,
    is_cut: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Relay {
    fn start(portal: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (is_cut, open) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let relay = Self { port, is_cut: Arc::clone(&is_cut), open: Arc::clone(&open) };
        std::thread::spawn(move || {
            for client in listener.incoming().flatten().filter(|_| !is_cut.load(Ordering::SeqCst)) {
                let Ok(server) = TcpStream::connect(("127.0.0.1", portal)) else { continue };
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    std::thread::spawn(move || {
                        // It ends when either side does.
                        let _ = std::io::copy(&mut from, &mut to);
                        let _ = to.shutdown(Shutdown::Both);
                    });
                }
                open.lock().unwrap().extend([client, server]);
            }
        });
        relay
    }

    fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn restore(&self) {
        self.is_cut.store(false, Ordering::SeqCst);
    }
}

/// The kernel of an unpacked package, and the directory of its modules.
fn kernel(package: &Path) -> Option<(PathBuf, PathBuf)> {
    let version = std::fs::read_dir(package.join("lib/modules")).ok()?.next()?.ok()?.file_name();
    let version = version.to_str()?;
    let image = package.join(format!("boot/vmlinuz-{version}"));
    image.is_file().then(|| (image, package.join("lib/modules").join(version)))
}

/// The reason why the guest cannot run here.
fn missing(package: Option<&Path>) -> Option<String> {
    let Some(package) = package else { return Some("PLIMSOLL_GUEST_KERNEL is not set".to_owned()) };
    if kernel(package).is_none() {
        return Some(format!("{} is not an unpacked package of a kernel", package.display()));
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> = std::env::split_paths(&paths).chain(["/usr/sbin".into(), "/sbin".into()]).collect();
    let is_missing = |program: &&str| !directories.iter().any(|directory| directory.join(program).is_file());
    let of_guest = ["iscsid", "multipathd", "kpartx", "udevadm", "fdisk", "mkfs.ext4", "mkfs.xfs", "fio"];
    let programs = ["qemu-system-x86_64", "busybox", "depmod", "xz"];
    programs
        .iter()
        .chain(&of_guest)
        .find(|program| is_missing(program))
        .map(|program| format!("{program} is not installed"))
}

/// An entry of an archive in the format newc of cpio.
fn entry(archive: &mut Vec<u8>, name: &str, mode: u32, content: &[u8]) {
    let fields = [1, mode, 0, 0, 1, 0, content.len() as u32, 0, 0, 0, 0, name.len() as u32 + 1, 0];
    let header = fields.iter().fold("070701".to_owned(), |header, field| format!("{header}{field:08x}"));
    archive.extend(header.bytes().chain(name.bytes()).chain([0]));
    archive.resize(archive.len().next_multiple_of(4), 0);
    archive.extend(content);
    archive.resize(archive.len().next_multiple_of(4), 0);
}

/// The files that the guest has before it mounts those of the host.
fn initramfs(modules: &Path) -> Vec<u8> {
    let (mut archive, directory, program) = (Vec::new(), 0o040_755, 0o100_755);
    for name in ["bin", "dev", "proc", "sys", "modules"] {
        entry(&mut archive, name, directory, &[]);
    }
    entry(&mut archive, "bin/busybox", program, &std::fs::read("/bin/busybox").unwrap());
    entry(&mut archive, "init", program, INIT.as_bytes());
    for (number, module) in MODULES.iter().enumerate() {
        let packed = modules.join("kernel").join(format!("{module}.ko.xz"));
        let module = Command::new("xz").arg("-dc").arg(packed).output().unwrap().stdout;
        entry(&mut archive, &format!("modules/{number}.ko"), 0o100_644, &module);
    }
    entry(&mut archive, "TRAILER!!!", 0, &[]);
    archive
}

/// Portals of a service, each behind a relay that the guest reaches.
fn open_portals(count: usize) -> (Vec<Relay>, Vec<String>) {
    let listeners: Vec<TcpListener> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let ports: Vec<u16> = listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
    drop(listeners);
    let relays: Vec<Relay> = ports.iter().map(|port| Relay::start(*port)).collect();
    let portals = ports.iter().flat_map(|port| ["--iscsi".to_owned(), format!("127.0.0.1:{port}")]);
    let advertised = relays.iter().flat_map(|relay| ["--iscsi-advertise".into(), format!("10.0.2.2:{}", relay.port)]);
    let flags = portals.chain(advertised).collect();
    (relays, flags)
}

/// A guest, its job, and the folder that it shares with the test.
struct Guest {
    package: PathBuf,
    folder: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

impl Guest {
    /// A guest with a job; `None`, and the reason on standard error, where it cannot run.
    fn new(home: &Home, job: &str) -> Option<Self> {
        let package = std::env::var_os("PLIMSOLL_GUEST_KERNEL").map(PathBuf::from);
        if let Some(reason) = missing(package.as_deref()) {
            eprintln!("skipped: {reason}");
            return None;
        }
        let package = package?;
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let version = kernel(&package)?.1.file_name()?.to_owned();
        let indexed = Command::new("/sbin/depmod").arg("-b").arg(&package).arg(version).status();
        assert!(indexed.unwrap().success());
        let folder = home.path().join("share");
        std::fs::create_dir(&folder).unwrap();
        let guest = Self { package, folder, _turn: turn };
        guest.gets("job.sh", &format!("{GUEST_STEPS}{job}"));
        let boot = std::fs::File::create(guest.boot()).unwrap();
        boot.set_len(BOOT_BYTES).unwrap();
        assert!(Command::new("/sbin/mkfs.ext4").args(["-q", "-F"]).arg(guest.boot()).status().unwrap().success());
        Some(guest)
    }

    fn boot(&self) -> PathBuf {
        self.folder.with_file_name("boot")
    }

    /// Writes a file that the guest sees.
    fn gets(&self, name: &str, content: &str) {
        std::fs::write(self.folder.join(name), content).unwrap();
    }

    /// Gives the guest this program, which may be in a directory that the guest covers.
    fn gets_program(&self) {
        let (program, place) = (Path::new(env!("CARGO_BIN_EXE_plimsoll")), self.folder.join("plimsoll"));
        std::fs::hard_link(program, &place).or_else(|_| std::fs::copy(program, &place).map(drop)).unwrap();
    }

    /// Starts the guest, for the first time or again, and acts on its steps until it ends. Returns all steps.
    fn run(&self, again: bool, mut act: impl FnMut(&str)) -> Vec<String> {
        let mut guest = self.start(if again { "again" } else { "first" });
        let mut steps = Vec::new();
        for line in BufReader::new(guest.0.stdout.take().unwrap()).split(b'\n') {
            let line = String::from_utf8_lossy(&line.unwrap()).trim_end().to_owned();
            eprintln!("guest: {line}");
            if let Some(step) = line.split_once("STEP ").map(|(_, step)| step.to_owned()) {
                assert!(!step.starts_with("FAILED"), "{step}");
                act(&step);
                steps.push(step);
            }
        }
        steps
    }

    fn start(&self, word: &str) -> Running {
        let (image, modules) = kernel(&self.package).unwrap();
        let initrd = self.folder.join("initrd");
        std::fs::write(&initrd, initramfs(&modules)).unwrap();
        let share = |path: &Path, tag: &str| {
            let path = path.display();
            format!("local,path={path},mount_tag={tag},security_model=none,readonly=on,multidevs=remap")
        };
        let mut qemu = Command::new("qemu-system-x86_64");
        qemu.args(["-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "1500", "-display", "none"])
            .args(["-serial", "stdio", "-no-reboot", "-append", &format!("console=ttyS0 quiet panic=-1 {word}")])
            .arg("-kernel")
            .arg(image)
            .arg("-initrd")
            .arg(initrd)
            .args(["-virtfs", &share(Path::new("/"), "root"), "-virtfs", &share(&self.folder, "guest")])
            .args(["-virtfs", &share(modules.parent().unwrap(), "kernel")])
            .args(["-drive", &format!("file={},format=raw,if=virtio", self.boot().display())])
            .args(["-netdev", "user,id=n", "-device", "virtio-net-pci,netdev=n"]);
        Running(qemu.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap())
    }
}

/// Checks that a guest took these steps.
#[track_caller]
fn took(steps: &[String], expected: &[&str]) {
    for step in expected {
        assert!(steps.iter().any(|taken| taken == step), "no step {step:?} in {steps:#?}");
    }
}
