//! Volumes as files or block devices of this host. Attachments end with the service: a device in use becomes stale, and
//! `detach` clears it after the next start.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use plimsoll_device::{LoopDevice, occupant};
use plimsoll_front::fuse::{self, MountError, Mountpoint, UnmountError};
use plimsoll_language::{label, say};

use crate::api;
use crate::refusal::{Refusal, RefusalKind};
use crate::service::Service;
use crate::volume::format_place;

/// Parent of the mount points, in the data directory.
const MOUNTS: &str = "mnt";

/// Path of the file of a mounted volume, in the service's data directory.
pub fn mounted_file(directory: &Path, name: &str) -> PathBuf {
    // The kernel reports paths without symbolic links.
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    directory.join(MOUNTS).join(name).join(fuse::NAME)
}

impl Service {
    /// Exposes a volume as a file of this host, over FUSE, for use through a loop device.
    pub fn mount(&self, name: &str) -> Result<api::Volume, Refusal> {
        let mut state = self.state();
        let volume = state.volume(name)?;
        let export = volume.export;
        if let Some(attachment) = &volume.attachment {
            return Err(attached(name, attachment));
        }
        let file = mounted_file(&self.inner.options.directory, name);
        let point = file.parent().unwrap_or(&file);
        not_left_over(name, &file)?;
        let created =
            fuse::clear_stale(point).and_then(|_| DirBuilder::new().recursive(true).mode(0o700).create(point));
        created.map_err(|source| failed(label!("preparing the mount point"), point, &source))?;
        let (device, mountpoint) = fuse::mount(point).map_err(|error| not_mounted(&error))?;
        let served = self.inner.handle.call(move |server| server.mount(export, device))?;
        served.map_err(|source| failed(label!("serving"), &file, &source))?;
        state.mounted.insert(name.to_owned(), mountpoint);
        let volume = state.volume_mut(name)?;
        let file = Some(file.display().to_string());
        tracing::info!(volume = name, file, "volume mounted");
        volume.attachment = Some(api::Attachment { file, ..api::Attachment::default() });
        self.show(volume)
    }

    /// Records the block device of a volume. An attachment may gain missing parts; a conflict is refused.
    pub fn attach(&self, name: &str, attachment: &api::Attachment) -> Result<api::Volume, Refusal> {
        let mut state = self.state();
        let volume = state.volume_mut(name)?;
        if *attachment == api::Attachment::default() {
            return Err(Refusal::bad(label!("an attachment names a file, a device or a mount point")));
        }
        let current = volume.attachment.clone().unwrap_or_default();
        let adds = |current: &Option<String>, new: &Option<String>| match (current, new) {
            (Some(current), Some(new)) => current == new,
            _ => true,
        };
        let pairs = [
            (&current.file, &attachment.file),
            (&current.device, &attachment.device),
            (&current.mountpoint, &attachment.mountpoint),
        ];
        if attachment.dead || current.dead {
            return Err(attached(name, &current));
        }
        let is_more = pairs.iter().any(|(current, new)| current.is_none() && new.is_some());
        if !is_more || !pairs.iter().all(|(current, new)| adds(current, new)) {
            return Err(attached(name, &current));
        }
        let [file, device, mountpoint] = pairs.map(|(current, new)| current.as_ref().or(new.as_ref()).cloned());
        tracing::info!(volume = name, device, mountpoint, "volume attached");
        volume.attachment = Some(api::Attachment { file, device, mountpoint, dead: false });
        self.show(volume)
    }

    /// Detaches a volume from this host. Also clears stale attachments of an earlier run of the service.
    pub fn detach(&self, name: &str) -> Result<api::Volume, Refusal> {
        let mut state = self.state();
        let is_attached = state.volume(name)?.attachment.is_some();
        let file = mounted_file(&self.inner.options.directory, name);
        not_left_over(name, &file)?;
        let point = file.parent().unwrap_or(&file);
        let cleared = match state.mounted.remove(name) {
            Some(mountpoint) => {
                if let Err((refusal, mountpoint)) = unmount(name, mountpoint) {
                    state.mounted.insert(name.to_owned(), mountpoint);
                    return Err(refusal);
                }
                true
            }
            None => fuse::clear_stale(point).map_err(|source| failed(label!("unmounting"), point, &source))?,
        };
        if !cleared && !is_attached {
            return Err(Refusal::conflict(say!("{name} is not attached: there is nothing to detach")));
        }
        // The directory may not be empty; then it stays.
        let _ = std::fs::remove_dir(point);
        let volume = state.volume_mut(name)?;
        volume.attachment = None;
        tracing::info!(volume = name, "volume detached");
        self.show(volume)
    }
}

/// Stale attachment of a volume, left by an earlier run of the service that was killed.
pub(crate) fn left_over(directory: &Path, name: &str) -> Option<api::Attachment> {
    let file = mounted_file(directory, name);
    let point = file.parent().unwrap_or(&file);
    if !point.parent().is_some_and(Path::is_dir) {
        return None;
    }
    if let Some(device) = LoopDevice::all_over(&file).unwrap_or_default().first() {
        let mountpoint = device.mounted_at().map(|point| point.display().to_string());
        let device = Some(device.device().display().to_string());
        return Some(api::Attachment { device, mountpoint, dead: true, ..api::Attachment::default() });
    }
    let file = fuse::is_stale(point).then(|| file.display().to_string())?;
    Some(api::Attachment { file: Some(file), dead: true, ..api::Attachment::default() })
}

fn attached(name: &str, attachment: &api::Attachment) -> Refusal {
    let place = format_place(attachment);
    if attachment.dead {
        return Refusal::conflict(say!(
            "{name} has a dead attachment{place}, which an earlier run of the service left: detach it first (plimsoll \
             volume detach {name}, as root)"
        ));
    }
    Refusal::conflict(say!("{name} is attached already{place}: detach it first (plimsoll volume detach {name})"))
}

/// Refuses to proceed while a loop device of any run of the service uses the file.
fn not_left_over(name: &str, file: &Path) -> Result<(), Refusal> {
    let over =
        LoopDevice::all_over(file).map_err(|source| failed(label!("looking for loop devices over"), file, &source))?;
    let Some(device) = over.first() else { return Ok(()) };
    let device = device.device().display();
    Err(Refusal::conflict(say!(
        "{name} is in use by {device}: unmount that and take it back first (plimsoll volume detach {name}, as root)"
    )))
}

fn unmount(name: &str, mountpoint: Mountpoint) -> Result<(), (Refusal, Mountpoint)> {
    mountpoint.unmount().map_err(|(error, mountpoint)| {
        let refusal = match error {
            UnmountError::Busy(directory) => {
                let who = occupant(&directory).map_or("something".to_owned(), |occupant| occupant.to_string());
                Refusal::conflict(say!("{name} is in use by {who}: stop that, and detach again"))
            }
            error @ UnmountError::Io { .. } => Refusal::new(RefusalKind::Failed, chain(&error)),
        };
        (refusal, mountpoint)
    })
}

fn not_mounted(error: &MountError) -> Refusal {
    let kind = match error {
        MountError::NoDevice | MountError::NotAllowed(_) => RefusalKind::Conflict,
        MountError::Fusermount { .. } | MountError::Io { .. } => RefusalKind::Failed,
    };
    Refusal::new(kind, chain(error))
}

fn failed(what: &str, path: &Path, source: &io::Error) -> Refusal {
    Refusal::new(RefusalKind::Failed, format!("{what} {}: {source}", path.display()))
}

/// Formats an error and its source in one line.
fn chain(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}
