//! Volumes as block devices of this host, from the client's side: the service exposes a volume as a file, and the steps that
//! need root are done here: a loop device over the file, a filesystem, a mount. A failed step undoes the steps before it.

use std::fmt::Display;
use std::io::{self, Seek};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use plimsoll_device::{AccessMode, LoopDevice, LoopError, WriteRefusal, claim_named, occupant, signature};
use plimsoll_front::fuse;
use plimsoll_language::{label, say};
use plimsoll_units::Bytes;
use rustix::io::Errno;
use rustix::mount::UnmountFlags;

use crate::api::{About, Attachment, Volume};
use crate::attach::mounted_file;
use crate::client::{Client, ClientError, ControlAddress, ResponseBody, volume_path};

/// The number of FUSE among the kinds of filesystems, as statfs(2) returns it.
const FUSE: i64 = 0x6573_5546;
/// Mount options that every filesystem accepts, restored by [`reattach`].
const COMMON_OPTIONS: [&str; 8] =
    ["noatime", "nodiratime", "relatime", "strictatime", "nosuid", "nodev", "noexec", "sync"];

/// Receives the progress of slow steps, once a second, and an empty text at the end of each.
pub type AttachProgress<'a> = &'a (dyn Fn(&str) + Sync);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filesystem {
    /// ext4
    Ext4,
    /// XFS, which can grow while mounted
    Xfs,
}

impl Filesystem {
    /// The filesystem of this name: `ext4` or `xfs`.
    pub fn find(name: &str) -> Option<Self> {
        match name {
            "ext4" => Some(Self::Ext4),
            "xfs" => Some(Self::Xfs),
            _ => None,
        }
    }
}

/// How a filesystem is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FormatPolicy {
    /// With the defaults of its program.
    #[default]
    Usual,
    /// On a volume that was never written: zeros, which would take a slow volume a minute, are not written.
    Fresh,
    /// Only on a volume without a recognised signature; others keep their content.
    IfBlank,
}

/// A volume to attach to this host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttachOptions {
    pub name: String,
    /// Mount point, created if missing; `None` for the device alone.
    pub mountpoint: Option<PathBuf>,
    /// Filesystem to create first.
    pub filesystem: Option<Filesystem>,
    /// How it is created.
    pub policy: FormatPolicy,
    /// Options for mount(8).
    pub mount_options: Option<String>,
    /// Expose the volume as a file only.
    pub file_only: bool,
}

/// A volume was not attached or detached.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// Invalid request: a message with the remedy.
    #[error("{0}")]
    Refused(String),
    /// The service failed or refused the request.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The service does not serve this file.
    #[error("{} is no file of a service", .0.display())]
    NotServed(PathBuf),
    /// System error.
    #[error("{attempt}")]
    Io {
        /// The failed operation and its object.
        attempt: String,
        /// The system error.
        source: io::Error,
    },
    /// The loop device failed.
    #[error(transparent)]
    Loop(LoopError),
}

impl AttachError {
    fn refused(message: impl Display) -> Self {
        Self::Refused(message.to_string())
    }

    fn io(attempt: impl Display, source: impl Into<io::Error>) -> Self {
        Self::Io { attempt: attempt.to_string(), source: source.into() }
    }
}

impl From<LoopError> for AttachError {
    fn from(error: LoopError) -> Self {
        match error {
            LoopError::Io { .. } => Self::Loop(error),
            other => Self::refused(other),
        }
    }
}

/// Attaches a volume as a block device, and mounts it if requested. Returns the volume in its new state.
///
/// # Errors
/// Not root, an unusable mount point, a volume with contents, or a failed step. Everything is undone.
pub fn attach(
    client: &Client,
    options: &AttachOptions,
    progress: AttachProgress<'_>,
) -> Result<ResponseBody, AttachError> {
    let name = &options.name;
    let host = HostSide::new(client, name)?;
    if !options.file_only {
        check_root(
            label!("attaching a volume"),
            label!("add --file for the file alone, or connect over NBD (plimsoll volume show NAME)"),
        )?;
    }
    if let Some(point) = &options.mountpoint {
        check_point(point, name)?;
    }
    let volume: Volume = client.fetch(&volume_path(name, ""))?;
    if options.filesystem.is_some() && !volume.writable {
        return Err(AttachError::refused(say!(
            "{name} is a snapshot, which never changes: clone it, and attach the clone"
        )));
    }
    let answer = client.post(&host.path, &serde_json::Map::new())?;
    if options.file_only {
        return Ok(answer);
    }
    let mut stack = DeviceStack::default();
    if let Err(trouble) = build(&host, options, &volume, &mut stack, progress) {
        undo(&host, options, stack);
        return Err(trouble);
    }
    Ok(client.get(&volume_path(name, ""))?)
}

/// Detaches a volume, including attachments that an ended service left.
///
/// # Errors
/// The device is in use, or belongs to root.
pub fn detach(client: &Client, name: &str) -> Result<(), AttachError> {
    let host = HostSide::new(client, name)?;
    let cleared = remove_devices(name, &host.file)?;
    match client.delete(&host.path) {
        // A killed service left only the device.
        Err(ClientError::Refused { status: 409, .. }) if cleared => Ok(()),
        other => Ok(other.map(drop)?),
    }
}

/// Removes attachments of a volume that a killed service left, in a data directory without a running service.
///
/// # Errors
/// A service uses the directory, the volume is not attached, or its device is in use.
pub fn detach_offline(directory: &Path, name: &str) -> Result<(), AttachError> {
    let place = directory.display();
    let is_served =
        plimsoll_front::is_served(directory).map_err(|error| AttachError::io(say!("looking at {place}"), error))?;
    if is_served {
        return Err(AttachError::refused(say!("a service has {place}: leave out --offline")));
    }
    let file = mounted_file(directory, name);
    let point = file.parent().unwrap_or(&file);
    let any = remove_devices(name, &file)?;
    let stale = fuse::clear_stale(point)
        .map_err(|error| AttachError::io(format_args!("unmounting {}", point.display()), error))?;
    if !any && !stale {
        return Err(AttachError::refused(say!("{name} is not attached: nothing is left of it below {place}")));
    }
    // It may contain files of others.
    let _ = std::fs::remove_dir(point);
    Ok(())
}

/// Attaches a volume again as an earlier run of the service left it. Returns its new place.
///
/// # Errors
/// As [`detach`] and [`attach`].
pub fn reattach(client: &Client, volume: &Volume) -> Result<Attachment, AttachError> {
    let Attachment { device, mountpoint, .. } = volume.attachment.clone().unwrap_or_default();
    let mount_options = mountpoint.as_deref().and_then(|point| mounted_options(Path::new(point)));
    detach(client, &volume.name)?;
    let options = AttachOptions {
        name: volume.name.clone(),
        mountpoint: mountpoint.map(PathBuf::from),
        mount_options,
        file_only: device.is_none(),
        ..AttachOptions::default()
    };
    let volume: Volume = client.read(&attach(client, &options, &|_| ())?)?;
    Ok(volume.attachment.unwrap_or_default())
}

/// Releases the block devices of volumes before their service ends, which would fail them: they are detached, or, to be
/// attached again by the next service or without a client, their filesystems are written out. Outcomes are logged.
pub fn release(client: Option<Client>, volumes: &[Volume], reattach: bool) {
    let client = client.filter(|_| !reattach);
    for Volume { name, attachment, .. } in volumes {
        let Some(attachment @ Attachment { device: Some(device), .. }) = attachment else { continue };
        tracing::info!(volume = name, device, "writing out what is cached");
        let released = match &client {
            Some(client) => detach(client, name),
            None => sync(attachment),
        };
        if client.is_some() && released.is_ok() {
            tracing::info!(volume = name, device, "detached");
            continue;
        }
        tracing::warn!(
            volume = name,
            device,
            reason = released.err().map(|error| error.to_string()),
            "still attached, so the device fails from now on: plimsoll serve --reattach attaches it again, plimsoll volume \
             detach NAME --offline clears it"
        );
    }
}

/// Flushes the cache of the filesystem of an attached volume.
fn sync(attachment: &Attachment) -> Result<(), AttachError> {
    let Some(point) = &attachment.mountpoint else { return Ok(()) };
    let synced = std::fs::File::open(point).and_then(|directory| Ok(rustix::fs::syncfs(directory)?));
    synced.map_err(|error| AttachError::io(say!("writing out {point}"), error))
}

/// True if an attached volume has no recognised content, such as a filesystem; false if it cannot be read.
pub fn is_blank(attachment: &Attachment) -> bool {
    let path = attachment.device.as_ref().or(attachment.file.as_ref());
    path.is_some_and(|path| has_no_signature(Path::new(path)))
}

fn has_no_signature(path: &Path) -> bool {
    let read = || -> io::Result<bool> {
        let mut file = std::fs::File::open(path)?;
        let size = file.seek(io::SeekFrom::End(0))?;
        Ok(signature(&mut file, Bytes::new(size))?.is_none())
    };
    read().unwrap_or(false)
}

/// Makes the device of a volume that has grown take over its size, and returns it; `None` without a device of this host.
pub fn grow_device(attachment: &Attachment) -> Option<Result<Bytes, LoopError>> {
    let (file, device) = (attachment.file.as_ref()?, attachment.device.as_ref()?);
    match LoopDevice::existing(device.as_ref(), file.as_ref()).and_then(|device| device.resize()) {
        Err(LoopError::NotOver { .. }) => None,
        resized => Some(resized),
    }
}

/// Refuses a path that is neither a directory nor free.
fn check_point(point: &Path, name: &str) -> Result<(), AttachError> {
    let place = point.display();
    match rustix::fs::stat(point) {
        Ok(stat) if rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir() => Ok(()),
        Err(Errno::NOTCONN | Errno::CONNABORTED | Errno::IO | Errno::STALE | Errno::NXIO | Errno::SHUTDOWN) => {
            Err(AttachError::refused(say!(
                "{place} is a dead mount, of a service that has ended: plimsoll volume detach {name} clears that of {name} \
                 (as root), umount -l {place} any other"
            )))
        }
        Err(Errno::NOENT) => Ok(()),
        _ => Err(AttachError::refused(say!("{place} is no directory to mount at: name a directory"))),
    }
}

/// The steps done over a volume's file.
#[derive(Default)]
struct DeviceStack {
    device: Option<LoopDevice>,
    mounted: bool,
    /// The mount point, if it was created.
    new_point: Option<PathBuf>,
}

/// Creates the mount point if it is missing. Returns it if it was created.
fn make_mount_point(point: &Path) -> Result<Option<PathBuf>, AttachError> {
    if point.is_dir() {
        return Ok(None);
    }
    std::fs::create_dir_all(point).map_err(|error| {
        AttachError::refused(say!("{}: cannot be made ({error}): name a directory", point.display()))
    })?;
    Ok(Some(point.to_owned()))
}

/// The steps that need root, in their order.
fn build(
    host: &HostSide<'_>,
    options: &AttachOptions,
    volume: &Volume,
    stack: &mut DeviceStack,
    progress: AttachProgress<'_>,
) -> Result<(), AttachError> {
    host.check_file()?;
    stack.new_point = options.mountpoint.as_deref().map(make_mount_point).transpose()?.flatten();
    let access = if volume.writable { AccessMode::Write } else { AccessMode::Read };
    let path = stack.device.insert(LoopDevice::over(&host.file, access)?).device().to_owned();
    host.record(&Attachment { device: Some(path.display().to_string()), ..Attachment::default() })?;
    if let Some(filesystem) = options.filesystem {
        make_filesystem(filesystem, options.policy, &path, progress)?;
    }
    if let Some(point) = &options.mountpoint {
        let user_options = options.mount_options.as_deref();
        let mounted = mount(&path, point, host.mount_options(user_options).as_deref(), progress);
        // A snapshot of a mounted filesystem has a journal that cannot be replayed into it.
        let is_plain_snapshot = !volume.writable && user_options.is_none();
        mounted.or_else(|error| {
            if volume.writable && has_no_signature(&path) {
                let name = &options.name;
                return Err(AttachError::refused(format_args!(
                    "{name} has no filesystem to mount: add --mkfs xfs or --mkfs ext4 to make one"
                )));
            }
            if !is_plain_snapshot {
                return Err(error);
            }
            mount(&path, point, Some("ro,norecovery"), progress).map_err(|_| error)
        })?;
        stack.mounted = true;
        let point = point.canonicalize().map_err(|error| AttachError::io(label!("the mount point"), error))?;
        host.record(&Attachment { mountpoint: Some(point.display().to_string()), ..Attachment::default() })?;
    }
    Ok(())
}

/// Undoes the steps in reverse. [`detach`] finds the rest.
fn undo(host: &HostSide<'_>, options: &AttachOptions, stack: DeviceStack) {
    if let Some(point) = options.mountpoint.as_ref().filter(|_| stack.mounted) {
        let _ = rustix::mount::unmount(point, UnmountFlags::NOFOLLOW);
    }
    let _ = stack.new_point.map(std::fs::remove_dir);
    let _ = stack.device.map(LoopDevice::detach);
    let _ = host.client.delete(&host.path);
}

/// Creates a filesystem on a device without a recognised signature: a volume that was used before keeps its content.
fn make_filesystem(
    filesystem: Filesystem,
    policy: FormatPolicy,
    device: &Path,
    progress: AttachProgress<'_>,
) -> Result<(), AttachError> {
    let claimed = claim_named(device, &[device.to_owned()]);
    if policy == FormatPolicy::IfBlank && matches!(claimed, Err(WriteRefusal::Carries { .. })) {
        return Ok(());
    }
    let claim = claimed.map_err(|refusal| match refusal {
        WriteRefusal::Carries { signature, .. } => AttachError::refused(say!(
            "no filesystem is made, the volume carries {signature}: leave out --mkfs to use it; if it may be lost, attach \
             without --mkfs and wipe the device first (wipefs -a)"
        )),
        other => AttachError::refused(say!("no filesystem is made: {other}")),
    })?;
    // The program opens the device exclusively.
    drop(claim);
    let (program, package, fresh) = match filesystem {
        Filesystem::Ext4 => {
            ("mkfs.ext4", "e2fsprogs", ["-E", "nodiscard,lazy_itable_init=1,lazy_journal_init=1"].as_slice())
        }
        Filesystem::Xfs => ("mkfs.xfs", "xfsprogs", ["-K"].as_slice()),
    };
    let options = if policy == FormatPolicy::Fresh { fresh } else { &[] };
    // The others are fast, or belong to a command with its own progress.
    let silent: AttachProgress<'_> = &|_| ();
    let progress = if policy == FormatPolicy::Usual { progress } else { silent };
    run(Command::new(program).arg("-q").args(options).arg(device), program, package, progress)
}

fn mount(device: &Path, point: &Path, options: Option<&str>, progress: AttachProgress<'_>) -> Result<(), AttachError> {
    let mut command = Command::new("mount");
    if let Some(options) = options {
        command.arg("-o").arg(options);
    }
    run(command.arg("--").arg(device).arg(point), "mount", "util-linux", progress)
}

/// Runs a program that explains its failure on standard error.
fn run(command: &mut Command, program: &str, package: &str, progress: AttachProgress<'_>) -> Result<(), AttachError> {
    let output = std::thread::scope(|scope| {
        let (running, ended) = mpsc::channel::<()>();
        scope.spawn(move || report_waiting(program, &ended, progress));
        let output = command.stdin(Stdio::null()).output();
        drop(running);
        output
    });
    let output = output.map_err(|error| {
        AttachError::io(say!("{program} cannot be run: install {package}, or use another kind"), error)
    })?;
    if output.status.success() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&output.stderr);
    let reason = reason.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
    Err(AttachError::refused(say!("{program} refused: {reason}")))
}

/// Reports the elapsed seconds until the sender is gone.
fn report_waiting(program: &str, ended: &mpsc::Receiver<()>, progress: AttachProgress<'_>) {
    let begun = Instant::now();
    while ended.recv_timeout(Duration::from_secs(1)) == Err(mpsc::RecvTimeoutError::Timeout) {
        progress(&say!("{program} runs at the speed of the volume: {} s", begun.elapsed().as_secs()));
    }
    progress("");
}

/// Removes the loop devices over a volume's file, and unmounts their filesystems. Returns true if there were any.
fn remove_devices(name: &str, file: &Path) -> Result<bool, AttachError> {
    let devices =
        LoopDevice::all_over(file).map_err(|error| AttachError::io(label!("looking for loop devices"), error))?;
    if !devices.is_empty() {
        check_root(
            label!("detaching a volume that is a block device"),
            "sudo plimsoll volume detach NAME --service PATH",
        )?;
    }
    let any = !devices.is_empty();
    let mut unmounted = String::new();
    for device in devices {
        while let Some(point) = device.mounted_at() {
            unmount(name, &point, &unmounted)?;
            unmounted += &say!(", no longer mounted at {}", point.display());
        }
        device.detach()?;
    }
    Ok(any)
}

/// Options of a mount that every filesystem accepts.
fn mounted_options(point: &Path) -> Option<String> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    let line = mounts.lines().rev().find(|line| line.split(' ').nth(1).is_some_and(|at| Path::new(at) == point))?;
    let options: Vec<&str> =
        line.split(' ').nth(3)?.split(',').filter(|option| COMMON_OPTIONS.contains(option)).collect();
    (!options.is_empty()).then(|| options.join(","))
}

/// Unmounts a volume; `unmounted` describes its other mounts that are gone, for the error.
fn unmount(name: &str, point: &Path, unmounted: &str) -> Result<(), AttachError> {
    rustix::mount::unmount(point, UnmountFlags::NOFOLLOW).map_err(|error| {
        let place = point.display();
        if error == Errno::BUSY {
            let who = occupant(point).map_or("something".to_owned(), |occupant| occupant.to_string());
            return AttachError::refused(say!(
                "{name} stays attached{unmounted}: it is mounted at {place} and in use by {who}: stop that, and try again"
            ));
        }
        AttachError::io(format_args!("unmounting {place}"), error)
    })
}

/// A volume of a service on this host.
struct HostSide<'a> {
    client: &'a Client,
    /// Path of the attachment in the API.
    path: String,
    /// File of the volume, computed here: root does not use a path from the service.
    file: PathBuf,
    /// The service runs as root.
    of_root: bool,
}

impl<'a> HostSide<'a> {
    fn new(client: &'a Client, name: &str) -> Result<Self, AttachError> {
        let socket = match client.address() {
            ControlAddress::Unix(socket) => socket,
            ControlAddress::Tcp(at) => {
                return Err(AttachError::refused(say!(
                    "a volume becomes a block device of the host that serves it: name the control socket there with \
                     --service instead of http://{at}, or connect over NBD (plimsoll volume show {name})"
                )));
            }
        };
        let of_root = std::fs::metadata(socket).is_ok_and(|stat| stat.uid() == 0);
        let about: About = client.fetch("/v1/service")?;
        let file = mounted_file(about.directory.as_ref(), name);
        Ok(Self { client, path: volume_path(name, "attachment"), file, of_root })
    }

    /// The file exists, on FUSE.
    fn check_file(&self) -> Result<(), AttachError> {
        match rustix::fs::statfs(&self.file) {
            Ok(stat) if stat.f_type == FUSE => Ok(()),
            Err(Errno::ACCESS) => Err(AttachError::refused(label!(
                "the service runs as a user whose files root may not see: run it as root, or write user_allow_other into \
                 /etc/fuse.conf there, and attach again"
            ))),
            Ok(_) => Err(AttachError::NotServed(self.file.clone())),
            Err(error) => Err(AttachError::io(self.file.display(), error)),
        }
    }

    /// Files of another user on a volume get no rights from root's mount.
    fn mount_options(&self, user_options: Option<&str>) -> Option<String> {
        let safe = (!self.of_root).then_some("nosuid,nodev");
        let options: Vec<&str> = safe.into_iter().chain(user_options).collect();
        (!options.is_empty()).then(|| options.join(","))
    }

    fn record(&self, attachment: &Attachment) -> Result<(), AttachError> {
        Ok(self.client.put(&self.path, attachment).map(drop)?)
    }
}

fn check_root(action: &str, instead: &str) -> Result<(), AttachError> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    Err(AttachError::refused(say!("{action} needs root, for loop devices and mounts: {instead}")))
}
