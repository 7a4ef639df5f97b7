//! The served image: an existing file or device, a new file, or memory.

use std::fs::{File, OpenOptions};
use std::io;
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use plimsoll_device::{Claim, SubjectKind, WriteRefusal, claim_image, claim_named, classify};
use plimsoll_language::{label, say};
use plimsoll_units::Bytes;
use plimsoll_volume::VolumeAccess;

#[derive(Clone, Copy, Debug)]
pub struct ImageRequest<'a> {
    /// A file, created if missing, or a block device; `None` for memory.
    pub file: Option<&'a Path>,
    /// Size of memory or of a created file.
    pub size: Option<Bytes>,
    /// Size in place of a missing one: the capacity of the product.
    pub capacity: Option<Bytes>,
    /// Write permission.
    pub access: VolumeAccess,
    /// Block devices that may be written.
    pub destroy: &'a [PathBuf],
}

/// An image cannot be served.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// Invalid request: a message with the remedy.
    #[error("{0}")]
    Refused(String),
    /// Writing is refused.
    #[error(transparent)]
    NotClaimed(#[from] WriteRefusal),
    /// System error.
    #[error("{attempt}")]
    Io {
        /// The failed operation and its object.
        attempt: String,
        /// The system error.
        source: io::Error,
    },
}

#[derive(Debug)]
pub struct Image {
    /// The file or device; `None` for memory.
    pub file: Option<File>,
    /// Exclusive access to it.
    pub claim: Option<Claim>,
    /// Bytes.
    pub size: u64,
    /// Write permission.
    pub access: VolumeAccess,
    pub description: String,
}

impl Image {
    /// Opens or creates the image.
    ///
    /// # Errors
    /// A missing size, an unusable path, or one that must not be written.
    pub fn open(request: ImageRequest<'_>) -> Result<Self, ImageError> {
        let ImageRequest { size, access, destroy, .. } = request;
        let Some(path) = request.file else {
            let size = size
                .or(request.capacity)
                .ok_or_else(|| refused(label!("serving memory requires --size, such as --size 1GiB")))?;
            return Ok(Self {
                file: None,
                claim: None,
                size: size.get(),
                access,
                description: say!("{size} of memory"),
            });
        };
        match path.metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => make(path, request),
            Err(error) => Err(refused(format!("{}: {error}", path.display()))),
            Ok(about) if about.is_dir() => Err(refused(say!(
                "{}: a directory; volumes in a data directory are served by plimsoll serve",
                path.display()
            ))),
            Ok(about) => {
                let kind = about.file_type();
                if !kind.is_file() && !kind.is_block_device() {
                    return Err(refused(say!("{}: neither a file nor a block device", path.display())));
                }
                open_existing(path, size, access, destroy)
            }
        }
    }
}

fn make(path: &Path, request: ImageRequest<'_>) -> Result<Image, ImageError> {
    let name = path.display();
    if request.access == VolumeAccess::ReadOnly {
        return Err(refused(say!("{name}: no such file")));
    }
    let size = request.size.or(request.capacity);
    let size = size.ok_or_else(|| refused(say!("{name}: no such file; use --size to create it")))?;
    let created = OpenOptions::new().read(true).write(true).create_new(true).open(path);
    let created = created.and_then(|file| file.set_len(size.get()));
    created.map_err(|error| refused(format!("creating {name}: {error}")))?;
    open_existing(path, None, VolumeAccess::ReadWrite, &[])
}

/// `size` is the size expected by the user.
fn open_existing(
    path: &Path,
    size: Option<Bytes>,
    access: VolumeAccess,
    destroy: &[PathBuf],
) -> Result<Image, ImageError> {
    let name = path.display();
    let subject = classify(path).map_err(|error| refused(error.to_string()))?;
    if size.is_some_and(|size| size != subject.size) {
        return Err(refused(say!("{name}: exists with {}; omit --size", subject.size)));
    }
    if access == VolumeAccess::ReadWrite && subject.read_only {
        return Err(refused(say!("{name}: cannot be written; add --read-only")));
    }
    let claimed = match (access, subject.kind) {
        (VolumeAccess::ReadOnly, _) => None,
        (VolumeAccess::ReadWrite, SubjectKind::BlockDevice) => Some(claim_named(path, destroy)?),
        (VolumeAccess::ReadWrite, _) => Some(claim_image(path)?),
    };
    let file = OpenOptions::new().read(true).write(access == VolumeAccess::ReadWrite).open(path);
    let file = file.map_err(|source| ImageError::Io { attempt: format!("opening {name}"), source })?;
    if let Some(claim) = &claimed
        && !claim.covers(&file).map_err(|source| ImageError::Io { attempt: format!("examining {name}"), source })?
    {
        return Err(refused(say!("{name}: changed during the check; try again")));
    }
    let (size, description) = (subject.size.get(), format!("{name} ({})", subject.size));
    Ok(Image { file: Some(file), claim: claimed, size, access, description })
}

fn refused(message: impl Into<String>) -> ImageError {
    ImageError::Refused(message.into())
}
