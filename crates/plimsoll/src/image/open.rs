//! What is served: an image of the user's as it is, one that is made, or memory.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_device::{Claim, Refusal, SubjectKind, claim, claim_image, classify};
use plimsoll_units::Bytes;
use plimsoll_volume::Access;

use crate::args::ImageArgs;
use crate::trouble::Trouble;

/// An image that may be served.
pub(super) struct Image {
    /// The file or device; `None` for memory.
    pub file: Option<File>,
    /// Keeps others from it.
    pub claim: Option<Claim>,
    /// Bytes.
    pub size: u64,
    /// Whether it is written.
    pub access: Access,
    /// For people.
    pub shown: String,
}

impl Image {
    /// Opens what was named, or makes it. `capacity` is what a product would hold.
    pub(super) fn open(args: &ImageArgs, capacity: Option<Bytes>) -> Result<Self, Trouble> {
        let access = if args.read_only { Access::ReadOnly } else { Access::ReadWrite };
        let Some(path) = &args.file else {
            let size =
                args.size.or(capacity).ok_or_else(|| Trouble::usage("say how much memory to serve: --size 1GiB"))?;
            return Ok(Self { file: None, claim: None, size: size.get(), access, shown: format!("{size} of memory") });
        };
        match path.metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => make(path, args, capacity),
            Err(error) => Err(Trouble::usage(format!("{}: {error}", path.display()))),
            Ok(about) if about.is_dir() => Err(Trouble::usage(format!(
                "{}: a directory; volumes in a data directory are served by plimsoll serve",
                path.display()
            ))),
            Ok(about) => {
                let kind = about.file_type();
                if !kind.is_file() && !kind.is_block_device() {
                    return Err(Trouble::usage(format!("{}: neither a file nor a block device", path.display())));
                }
                existing(path, args.size, access, &args.destroy)
            }
        }
    }
}

fn make(path: &Path, args: &ImageArgs, capacity: Option<Bytes>) -> Result<Image, Trouble> {
    let shown = path.display();
    if args.read_only {
        return Err(Trouble::usage(format!("{shown}: there is no such file to read")));
    }
    let size = args.size.or(capacity);
    let size = size.ok_or_else(|| Trouble::usage(format!("{shown}: there is no such file; --size makes it")))?;
    let made = OpenOptions::new().read(true).write(true).create_new(true).open(path);
    let made = made.and_then(|file| file.set_len(size.get()));
    made.map_err(|error| Trouble::usage(format!("{shown}: making it: {error}")))?;
    existing(path, None, Access::ReadWrite, &[])
}

/// `size` is what the user believes it to be.
fn existing(path: &Path, size: Option<Bytes>, access: Access, destroy: &[PathBuf]) -> Result<Image, Trouble> {
    let shown = path.display();
    let subject = classify(path).map_err(|error| Trouble::usage(error.to_string()))?;
    if size.is_some_and(|size| size != subject.size) {
        return Err(Trouble::usage(format!("{shown}: has {} already; leave out --size", subject.size)));
    }
    if access == Access::ReadWrite && subject.read_only {
        return Err(Trouble::usage(format!("{shown}: cannot be written; add --read-only")));
    }
    let claimed = match (access, subject.kind) {
        (Access::ReadOnly, _) => None,
        (Access::ReadWrite, SubjectKind::BlockDevice) => Some(claim(path, destroy).map_err(refused)?),
        (Access::ReadWrite, _) => Some(claim_image(path).map_err(refused)?),
    };
    let file = OpenOptions::new().read(true).write(access == Access::ReadWrite).open(path);
    let file = file.with_context(|| format!("opening {shown}"))?;
    if let Some(claim) = &claimed
        && !claim.covers(&file).with_context(|| format!("examining {shown}"))?
    {
        return Err(Trouble::usage(format!("{shown}: changed while it was examined; try again")));
    }
    let (size, shown) = (subject.size.get(), format!("{} ({})", shown, subject.size));
    Ok(Image { file: Some(file), claim: claimed, size, access, shown })
}

fn refused(refusal: Refusal) -> Trouble {
    Trouble::usage(format!("{:#}", anyhow::Error::new(refusal)))
}
