//! The served image: an existing file or device, a new file, or memory.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_device::{Claim, SubjectKind, WriteRefusal, claim_image, claim_named, classify};
use plimsoll_units::Bytes;
use plimsoll_volume::VolumeAccess;

use crate::args::ImageArgs;
use crate::cli_error::CliError;

/// An opened image.
pub(super) struct Image {
    /// The file or device; `None` for memory.
    pub file: Option<File>,
    /// Exclusive access to it.
    pub claim: Option<Claim>,
    /// Bytes.
    pub size: u64,
    /// Write permission.
    pub access: VolumeAccess,
    /// Description for users.
    pub shown: String,
}

impl Image {
    /// Opens or creates the image. `capacity` is the capacity of the product.
    pub(super) fn open(args: &ImageArgs, capacity: Option<Bytes>) -> Result<Self, CliError> {
        let access = if args.read_only { VolumeAccess::ReadOnly } else { VolumeAccess::ReadWrite };
        let Some(path) = &args.file else {
            let size = args
                .size
                .or(capacity)
                .ok_or_else(|| CliError::usage("serving memory requires --size, such as --size 1GiB"))?;
            return Ok(Self { file: None, claim: None, size: size.get(), access, shown: format!("{size} of memory") });
        };
        match path.metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => make(path, args, capacity),
            Err(error) => Err(CliError::usage(format!("{}: {error}", path.display()))),
            Ok(about) if about.is_dir() => Err(CliError::usage(format!(
                "{}: a directory; volumes in a data directory are served by plimsoll serve",
                path.display()
            ))),
            Ok(about) => {
                let kind = about.file_type();
                if !kind.is_file() && !kind.is_block_device() {
                    return Err(CliError::usage(format!("{}: neither a file nor a block device", path.display())));
                }
                existing(path, args.size, access, &args.destroy)
            }
        }
    }
}

fn make(path: &Path, args: &ImageArgs, capacity: Option<Bytes>) -> Result<Image, CliError> {
    let shown = path.display();
    if args.read_only {
        return Err(CliError::usage(format!("{shown}: no such file")));
    }
    let size = args.size.or(capacity);
    let size = size.ok_or_else(|| CliError::usage(format!("{shown}: no such file; use --size to create it")))?;
    let made = OpenOptions::new().read(true).write(true).create_new(true).open(path);
    let made = made.and_then(|file| file.set_len(size.get()));
    made.map_err(|error| CliError::usage(format!("creating {shown}: {error}")))?;
    existing(path, None, VolumeAccess::ReadWrite, &[])
}

/// `size` is the size expected by the user.
fn existing(path: &Path, size: Option<Bytes>, access: VolumeAccess, destroy: &[PathBuf]) -> Result<Image, CliError> {
    let shown = path.display();
    let subject = classify(path).map_err(|error| CliError::usage(error.to_string()))?;
    if size.is_some_and(|size| size != subject.size) {
        return Err(CliError::usage(format!("{shown}: exists with {}; omit --size", subject.size)));
    }
    if access == VolumeAccess::ReadWrite && subject.read_only {
        return Err(CliError::usage(format!("{shown}: cannot be written; add --read-only")));
    }
    let claimed = match (access, subject.kind) {
        (VolumeAccess::ReadOnly, _) => None,
        (VolumeAccess::ReadWrite, SubjectKind::BlockDevice) => Some(claim_named(path, destroy).map_err(refused)?),
        (VolumeAccess::ReadWrite, _) => Some(claim_image(path).map_err(refused)?),
    };
    let file = OpenOptions::new().read(true).write(access == VolumeAccess::ReadWrite).open(path);
    let file = file.with_context(|| format!("opening {shown}"))?;
    if let Some(claim) = &claimed
        && !claim.covers(&file).with_context(|| format!("examining {shown}"))?
    {
        return Err(CliError::usage(format!("{shown}: changed during the check; try again")));
    }
    let (size, shown) = (subject.size.get(), format!("{} ({})", shown, subject.size));
    Ok(Image { file: Some(file), claim: claimed, size, access, shown })
}

fn refused(refusal: WriteRefusal) -> CliError {
    CliError::usage(format!("{:#}", anyhow::Error::new(refusal)))
}
