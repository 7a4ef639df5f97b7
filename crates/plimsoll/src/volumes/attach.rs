//! `plimsoll volume attach` and `detach`.

use std::io::{IsTerminal, Write};

use plimsoll_language::{label, say};
use plimsoll_report::pages::CompletedChange;
use plimsoll_service::api::{Attachment, Volume};
use plimsoll_service::block_device::{self, AttachOptions, Filesystem};
use plimsoll_service::client::ClientError;

use super::{ServiceClient, home};
use crate::args::{AttachArgs, MakeFs, VolumeArgs};
use crate::cli_error::CliError;
use crate::output::Forms;

/// `plimsoll volume attach`.
pub fn attach(service: &ServiceClient, args: &AttachArgs) -> Result<(), CliError> {
    let options = AttachOptions {
        name: args.name.clone(),
        mountpoint: args.mountpoint.clone(),
        filesystem: args.mkfs.map(|kind| match kind {
            MakeFs::Ext4 => Filesystem::Ext4,
            MakeFs::Xfs => Filesystem::Xfs,
        }),
        mount_options: args.mount_options.clone(),
        file_only: args.file,
        ..AttachOptions::default()
    };
    let response = block_device::attach(&service.client, &options, &show_progress)?;
    service.write_page(&response, |volume: &Volume| {
        let mut page = plimsoll_report::pages::volumes::attached(volume);
        let may_be_blank = options.mountpoint.is_none() && volume.writable;
        if may_be_blank && volume.attachment.as_ref().is_some_and(block_device::is_blank) {
            let name = &options.name;
            let command =
                format!("plimsoll volume detach {name}; plimsoll volume attach {name} /mnt/{name} --mkfs xfs");
            page.next.insert(0, (label!("make a filesystem").to_owned(), command));
        }
        page
    })
}

/// Shows the progress of an attachment in place, on a terminal.
pub fn show_progress(text: &str) {
    if std::io::stderr().is_terminal() {
        // A failure to show progress does not end the command.
        let _ = write!(std::io::stderr(), "\r{text}\x1b[K");
    }
}

/// `plimsoll volume detach`.
pub fn detach(service: &ServiceClient, name: &str) -> Result<(), CliError> {
    if let Err(error @ ClientError::NoService { .. }) = service.client.get("/v1/service") {
        return Err(CliError::usage(say!("{error}; --offline clears what a service that was killed left")));
    }
    block_device::detach(&service.client, name)?;
    service.forms.write_changes(&[CompletedChange::VolumeDetached(name.to_owned())])
}

/// `plimsoll volume detach --offline`: removes the attachments that a killed service left.
pub fn detach_offline(args: &VolumeArgs, name: &str) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    block_device::detach_offline(&home::data_directory(&args.reach)?, name)?;
    forms.write_changes(&[CompletedChange::VolumeDetached(name.to_owned())])
}

/// The device of a volume that has grown, and the command that grows its filesystem.
pub fn describe_growth(volume: &Volume) -> Vec<(&'static str, String)> {
    let Some(attachment @ Attachment { device: Some(device), mountpoint, .. }) = &volume.attachment else {
        return Vec::new();
    };
    let next =
        mountpoint.as_ref().map(|point| (label!("next"), say!("xfs_growfs {point}, or resize2fs {device} for ext4")));
    match block_device::grow_device(attachment) {
        None => Vec::new(),
        Some(Ok(size)) => [(label!("device"), say!("{device} has {size} now"))].into_iter().chain(next).collect(),
        Some(Err(error)) => {
            vec![(label!("device"), say!("{device} keeps its size ({error}): run losetup -c {device} as root"))]
        }
    }
}
