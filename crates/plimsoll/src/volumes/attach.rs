//! `plimsoll volume attach` and `detach`: the service shows a volume as a file, and what needs root is done here: a loop
//! device on it, a filesystem, a mount. What a step that fails has left is undone.

use std::io::{IsTerminal, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use plimsoll_device::{AccessMode, LoopDevice, LoopError, WriteRefusal, claim_named, occupant};
use plimsoll_front::fuse;
use plimsoll_service::api::{About, Attachment, Volume};
use plimsoll_service::client::{Client, ClientError, ControlAddress, ResponseBody, volume_path};
use plimsoll_service::mounted_file;
use rustix::io::Errno;
use rustix::mount::UnmountFlags;

use super::{ServiceClient, fetch, home, show};
use crate::args::{AttachArgs, MakeFs, VolumeArgs};
use crate::cli_error::CliError;
use crate::output::Forms;

/// How a filesystem is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Making {
    /// As its program does it by itself.
    Usual,
    /// On a volume that was never written, whose zeroes need not be written: what would take a slow volume a minute is left
    /// out.
    Fresh,
    /// On a volume that carries nothing known; one that does keeps it.
    IfBlank,
}

/// `plimsoll volume attach`.
pub fn attach(service: &ServiceClient, args: &AttachArgs) -> Result<(), CliError> {
    service.write_page(&attached(&service.client, args, Making::Usual)?, show::attached)
}

/// Makes a volume a block device, and mounts it when that was asked for. Returns the volume as it is then.
pub fn attached(client: &Client, args: &AttachArgs, making: Making) -> Result<ResponseBody, CliError> {
    let here = Here::new(client, &args.name)?;
    if !args.file {
        root("attaching a volume", "add --file for the file alone, or connect over NBD (plimsoll volume show NAME)")?;
    }
    if let Some(point) = &args.mountpoint {
        check_point(point, &args.name)?;
    }
    let volume: Volume = fetch(client, &volume_path(&args.name, ""))?;
    if args.mkfs.is_some() && !volume.writable {
        let name = &args.name;
        return Err(CliError::usage(format!(
            "{name} is a snapshot, which never changes: clone it, and attach the clone"
        )));
    }
    let answer = client.post(&here.path, &serde_json::Map::new())?;
    if args.file {
        return Ok(answer);
    }
    let mut on_it = OnIt::default();
    if let Err(trouble) = build(&here, args, making, &volume, &mut on_it) {
        undo(&here, args, on_it);
        return Err(trouble);
    }
    Ok(client.get(&volume_path(&args.name, ""))?)
}

/// A directory that something can be mounted at, or a path at which one can be made.
fn check_point(point: &Path, name: &str) -> Result<(), CliError> {
    let shown = point.display();
    match rustix::fs::stat(point) {
        Ok(stat) if rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir() => Ok(()),
        Err(Errno::NOTCONN | Errno::CONNABORTED | Errno::IO | Errno::STALE | Errno::NXIO | Errno::SHUTDOWN) => {
            Err(CliError::usage(format!(
                "{shown} is a dead mount, of a service that has ended: plimsoll volume detach {name} clears that of {name} \
                 (as root), umount -l {shown} any other"
            )))
        }
        Err(Errno::NOENT) => Ok(()),
        _ => Err(CliError::usage(format!("{shown} is no directory to mount at: name a directory"))),
    }
}

/// What was made on a volume's file.
#[derive(Default)]
struct OnIt {
    device: Option<LoopDevice>,
    mounted: bool,
    /// The mount point, where this made it.
    made_point: Option<PathBuf>,
}

/// Makes the directory to mount at, where there is none. Returns it if it was made.
fn make_mount_point(point: &Path) -> Result<Option<PathBuf>, CliError> {
    if point.is_dir() {
        return Ok(None);
    }
    let refused = |error| CliError::usage(format!("{}: cannot be made ({error}): name a directory", point.display()));
    std::fs::create_dir_all(point).map_err(refused)?;
    Ok(Some(point.to_owned()))
}

/// The steps that need root, one on the other.
fn build(
    here: &Here<'_>,
    args: &AttachArgs,
    making: Making,
    volume: &Volume,
    on_it: &mut OnIt,
) -> Result<(), CliError> {
    here.check_file()?;
    on_it.made_point = args.mountpoint.as_deref().map(make_mount_point).transpose()?.flatten();
    let access = if volume.writable { AccessMode::Write } else { AccessMode::Read };
    let made = on_it.device.insert(LoopDevice::over(&here.file, access).map_err(refused)?);
    let path = made.device().to_owned();
    here.remember(&Attachment { device: Some(path.display().to_string()), ..Attachment::default() })?;
    if let Some(kind) = args.mkfs {
        make_filesystem(kind, making, &path)?;
    }
    if let Some(point) = &args.mountpoint {
        let mounted = mount(&path, point, here.mount_options(args.mount_options.as_deref()).as_deref());
        // A snapshot of a mounted filesystem has a journal that cannot be replayed into it.
        let is_plain_snapshot = !volume.writable && args.mount_options.is_none();
        mounted.or_else(|error| {
            if !is_plain_snapshot {
                return Err(error);
            }
            mount(&path, point, Some("ro,norecovery")).map_err(|_| error)
        })?;
        on_it.mounted = true;
        let point = point.canonicalize().context("the mount point")?.display().to_string();
        here.remember(&Attachment { mountpoint: Some(point), ..Attachment::default() })?;
    }
    Ok(())
}

/// In reverse. What cannot be undone is found by `detach`.
fn undo(here: &Here<'_>, args: &AttachArgs, on_it: OnIt) {
    if let Some(point) = args.mountpoint.as_ref().filter(|_| on_it.mounted) {
        let _ = rustix::mount::unmount(point, UnmountFlags::NOFOLLOW);
    }
    let _ = on_it.made_point.map(std::fs::remove_dir);
    let _ = on_it.device.map(LoopDevice::detach);
    let _ = here.client.delete(&here.path);
}

/// Nothing is made over something that is known: a volume that was used before keeps what it has.
fn make_filesystem(kind: MakeFs, making: Making, device: &Path) -> Result<(), CliError> {
    let claimed = claim_named(device, &[device.to_owned()]);
    if making == Making::IfBlank && matches!(claimed, Err(WriteRefusal::Carries { .. })) {
        return Ok(());
    }
    let leave = claimed.map_err(|refusal| match refusal {
        WriteRefusal::Carries { signature, .. } => CliError::usage(format!(
            "no filesystem is made, the volume carries {signature}: leave out --mkfs to use it; if it may be lost, attach \
             without --mkfs and wipe the device first (wipefs -a)"
        )),
        other => CliError::usage(format!("no filesystem is made: {other}")),
    })?;
    // It opens the device for itself alone.
    drop(leave);
    let (program, package, fresh) = match kind {
        MakeFs::Ext4 => {
            ("mkfs.ext4", "e2fsprogs", ["-E", "nodiscard,lazy_itable_init=1,lazy_journal_init=1"].as_slice())
        }
        MakeFs::Xfs => ("mkfs.xfs", "xfsprogs", ["-K"].as_slice()),
    };
    let options = if making == Making::Fresh { fresh } else { &[] };
    // A fresh one takes no time, and belongs to a suite that shows its own progress.
    let waiting = (making == Making::Usual).then(|| format!("{program} runs at the speed of the volume"));
    run(Command::new(program).arg("-q").args(options).arg(device), program, package, waiting.as_deref())
}

fn mount(device: &Path, point: &Path, options: Option<&str>) -> Result<(), CliError> {
    let mut command = Command::new("mount");
    if let Some(options) = options {
        command.arg("-o").arg(options);
    }
    run(command.arg("--").arg(device).arg(point), "mount", "util-linux", Some("mount runs at the speed of the volume"))
}

/// Runs a program that explains its failure on standard error, and shows `waiting` with the time while it takes long.
fn run(command: &mut Command, program: &str, package: &str, waiting: Option<&str>) -> Result<(), CliError> {
    let output = std::thread::scope(|scope| {
        let (running, ended) = mpsc::channel::<()>();
        if let Some(what) = waiting.filter(|_| std::io::stderr().is_terminal()) {
            scope.spawn(move || show_waiting(what, &ended));
        }
        let output = command.stdin(Stdio::null()).output();
        drop(running);
        output
    });
    let output = output.map_err(|error| {
        let error = anyhow!(error);
        CliError::Failed(error.context(format!("{program} cannot be run: install {package}, or use another kind")))
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
    Err(CliError::usage(format!("{program} refused: {said}")))
}

/// Shows the elapsed seconds on a terminal until the sender is gone.
fn show_waiting(what: &str, ended: &mpsc::Receiver<()>) {
    let begun = Instant::now();
    while ended.recv_timeout(Duration::from_secs(1)) == Err(mpsc::RecvTimeoutError::Timeout) {
        // Progress that cannot be shown is no reason to stop.
        let _ = write!(std::io::stderr(), "\r{what}: {} s\x1b[K", begun.elapsed().as_secs());
    }
    let _ = write!(std::io::stderr(), "\r\x1b[K");
}

/// `plimsoll volume detach`.
pub fn detach(service: &ServiceClient, name: &str) -> Result<(), CliError> {
    if let Err(error @ ClientError::NoService { .. }) = service.client.get("/v1/service") {
        return Err(CliError::usage(format!("{error}; --offline clears what a service that was killed left")));
    }
    detached(&service.client, name)?;
    service.forms.print(&format!("{name} is detached\n"))
}

/// Takes back the loop devices over a volume's file, and unmounts what is on them. Returns whether there were any.
fn take_back(name: &str, file: &Path) -> Result<bool, CliError> {
    let devices = LoopDevice::all_over(file).context("looking for loop devices")?;
    if !devices.is_empty() {
        root("detaching a volume that is a block device", "sudo plimsoll volume detach NAME --service PATH")?;
    }
    let any = !devices.is_empty();
    for device in devices {
        while let Some(point) = device.mounted_at() {
            unmount(name, &point)?;
        }
        device.detach().map_err(refused)?;
    }
    Ok(any)
}

/// `plimsoll volume detach --offline`: clears what a service that was killed left.
pub fn detach_offline(args: &VolumeArgs, name: &str) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let directory = home::data_directory(&args.reach)?;
    let shown = directory.display();
    let is_served = plimsoll_front::is_served(&directory).with_context(|| format!("looking at {shown}"))?;
    if is_served {
        return Err(CliError::usage(format!("a service has {shown}: leave out --offline")));
    }
    let file = mounted_file(&directory, name);
    let point = file.parent().unwrap_or(&file);
    let any = take_back(name, &file)?;
    let stale = fuse::clear_stale(point).with_context(|| format!("unmounting {}", point.display()))?;
    if !any && !stale {
        return Err(CliError::usage(format!("{name} is not attached: nothing is left of it below {shown}")));
    }
    // Somebody may have put something there.
    let _ = std::fs::remove_dir(point);
    forms.print(&format!("{name} is detached\n"))
}

/// Attaches a volume again as an earlier run of the service left it. Returns where it is now.
pub fn reattached(client: &Client, volume: &Volume) -> Result<String, CliError> {
    let name = volume.name.clone();
    let Attachment { device, mountpoint, .. } = volume.attachment.clone().unwrap_or_default();
    let mount_options = mountpoint.as_deref().and_then(|point| options_of(Path::new(point)));
    detached(client, &name)?;
    let (mountpoint, file) = (mountpoint.map(PathBuf::from), device.is_none());
    let args = AttachArgs { name, mountpoint, mkfs: None, mount_options, file, iscsi: false };
    let volume: Volume = client.read(&attached(client, &args, Making::Usual)?)?;
    Ok(volume.attachment.as_ref().map(show::format_device).unwrap_or_default())
}

/// The options that a mount was given and that any filesystem takes.
fn options_of(point: &Path) -> Option<String> {
    const KNOWN: [&str; 8] = ["noatime", "nodiratime", "relatime", "strictatime", "nosuid", "nodev", "noexec", "sync"];
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    let line = mounts.lines().rev().find(|line| line.split(' ').nth(1).is_some_and(|at| Path::new(at) == point))?;
    let options: Vec<&str> = line.split(' ').nth(3)?.split(',').filter(|option| KNOWN.contains(option)).collect();
    (!options.is_empty()).then(|| options.join(","))
}

/// Undoes what `attached` did, and what is left of it where the service ended meanwhile.
pub fn detached(client: &Client, name: &str) -> Result<(), CliError> {
    let here = Here::new(client, name)?;
    let cleared = take_back(name, &here.file)?;
    match client.delete(&here.path) {
        // All that a killed service left was the device.
        Err(ClientError::Refused { status: 409, .. }) if cleared => Ok(()),
        other => Ok(other.map(drop)?),
    }
}

fn unmount(name: &str, point: &Path) -> Result<(), CliError> {
    rustix::mount::unmount(point, UnmountFlags::NOFOLLOW).map_err(|error| {
        let shown = point.display();
        if error == Errno::BUSY {
            let who = occupant(point).map_or("something".to_owned(), |occupant| occupant.to_string());
            return CliError::usage(format!(
                "{name} is mounted at {shown} and in use by {who}: stop that, and try again"
            ));
        }
        CliError::Failed(anyhow!(std::io::Error::from(error)).context(format!("unmounting {shown}")))
    })
}

/// The device of a volume that has grown takes over its size. Returns a sentence about that, and what comes next.
pub fn grown(volume: &Volume) -> Vec<(&'static str, String)> {
    let Some(Attachment { file: Some(file), device: Some(device), mountpoint, .. }) = &volume.attachment else {
        return Vec::new();
    };
    let resized = LoopDevice::existing(device.as_ref(), file.as_ref()).and_then(|device| device.resize());
    let next = mountpoint.as_ref().map(|point| ("next", format!("xfs_growfs {point}, or resize2fs {device} for ext4")));
    match resized {
        Ok(size) => [("device", format!("{device} has {size} now"))].into_iter().chain(next).collect(),
        Err(LoopError::NotOver { .. }) => Vec::new(),
        Err(error) => vec![("device", format!("{device} keeps its size ({error}): run losetup -c {device} as root"))],
    }
}

/// A service on this host, and the attachment of one of its volumes.
struct Here<'a> {
    client: &'a Client,
    path: String,
    /// Where the volume is a file. Not where the service says that it is: root does not do to any file what it is told.
    file: PathBuf,
    /// The service runs as root.
    of_root: bool,
}

/// The number of FUSE among the kinds of filesystems, as statfs(2) says it.
const FUSE: i64 = 0x6573_5546;

impl<'a> Here<'a> {
    fn new(client: &'a Client, name: &str) -> Result<Self, CliError> {
        let socket = match client.address() {
            ControlAddress::Unix(socket) => socket,
            ControlAddress::Tcp(at) => {
                return Err(CliError::usage(format!(
                    "a volume becomes a block device of the host that serves it: name the control socket there with \
                     --service instead of http://{at}, or connect over NBD (plimsoll volume show {name})"
                )));
            }
        };
        let of_root = std::fs::metadata(socket).is_ok_and(|stat| stat.uid() == 0);
        let about: About = fetch(client, "/v1/service")?;
        let file = mounted_file(about.directory.as_ref(), name);
        Ok(Self { client, path: volume_path(name, "attachment"), file, of_root })
    }

    /// The file is there, and a volume.
    fn check_file(&self) -> Result<(), CliError> {
        match rustix::fs::statfs(&self.file) {
            Ok(stat) if stat.f_type == FUSE => Ok(()),
            Err(Errno::ACCESS) => Err(CliError::usage(
                "the service runs as a user whose files root may not see: run it as root, or write user_allow_other into \
                 /etc/fuse.conf there, and attach again",
            )),
            Ok(_) => Err(anyhow!("{} is no file of a service", self.file.display()).into()),
            Err(error) => Err(anyhow!(std::io::Error::from(error)).context(self.file.display().to_string()).into()),
        }
    }

    /// What another user keeps on a volume gets no rights from root's mount.
    fn mount_options(&self, asked: Option<&str>) -> Option<String> {
        let safe = (!self.of_root).then_some("nosuid,nodev");
        let options: Vec<&str> = safe.into_iter().chain(asked).collect();
        (!options.is_empty()).then(|| options.join(","))
    }

    fn remember(&self, attachment: &Attachment) -> Result<(), CliError> {
        Ok(self.client.put(&self.path, attachment).map(drop)?)
    }
}

fn root(what: &str, instead: &str) -> Result<(), CliError> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    Err(CliError::usage(format!("{what} needs root, for loop devices and mounts: {instead}")))
}

fn refused(error: LoopError) -> CliError {
    match error {
        LoopError::Io { .. } => CliError::Failed(error.into()),
        other => CliError::usage(other.to_string()),
    }
}
