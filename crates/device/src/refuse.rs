//! Checks before destructive writes: which files and devices may be overwritten, and which are refused although named.
//!
//! Writes, wipes and unmounts nothing. Anything that cannot be determined is refused.

mod identity;
mod in_use;
mod opener;
mod refusal;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use plimsoll_units::Bytes;
use rustix::fs::{FlockOperation, OFlags};

pub use in_use::InUse;
pub use refusal::{Unknown, WriteRefusal};

use identity::Identity;
use opener::Opener;

use crate::block::{BlockDevice, DeviceNumber};
use crate::file::marked;
use crate::host::Tree;
use crate::signature::signature;
use crate::subject::{Subject, SubjectKind, classify, display, open};

/// Permission to write to an existing file or block device. While held, the kernel refuses to mount the device, to swap
/// on it or to stack on it; a file is locked against other runs of plimsoll.
#[derive(Debug)]
pub struct Claim {
    file: File,
    identity: Identity,
}

impl Claim {
    /// True if `file` is the examined file or device: the path may have been replaced since.
    ///
    /// # Errors
    /// Errors of `fstat`.
    pub fn covers(&self, file: &File) -> io::Result<bool> {
        Ok(Identity::of(&file.metadata()?) == self.identity)
    }

    /// The file or device, open for reading.
    pub fn file(&self) -> &File {
        &self.file
    }
}

/// Checks whether `path` may be written to, see [`claim_named`], and drops the claim. A device may come into use, or a
/// path be replaced, between this check and the write: open the device with `O_EXCL`, or hold a [`Claim`].
/// # Errors
/// [`WriteRefusal`], with the finding and the remedy.
pub fn check_destroy(path: &Path, named: &[PathBuf]) -> Result<(), WriteRefusal> {
    claim_named(path, named).map(drop)
}

/// Claims the existing file or block device `path`, all of whose data may be lost. `named` are the paths given to
/// `--destroy`; one of them must equal `path` literally. Refused nevertheless if it is in use by the kernel, is open
/// for writing in another process (for a device: also its disk or a partition), or has a known signature.
///
/// Opens it for reading, and a block device exclusively: while the claim is held, this process must open the device for
/// writing without `O_EXCL`. Processes of other users are only visible to root.
///
/// # Errors
/// [`WriteRefusal`], with the finding and the remedy.
pub fn claim_named(path: &Path, named: &[PathBuf]) -> Result<Claim, WriteRefusal> {
    check_named(path, named)?;
    claim_any(path)
}

/// Claims the existing regular file `path` without `--destroy`, because it carries plimsoll's mark, see
/// [`crate::mark_created`]. Refused for the same reasons as with [`claim_named`], and without a mark or with that of
/// another file.
///
/// # Errors
/// [`WriteRefusal`], with the finding and the remedy.
pub fn claim_ours(path: &Path) -> Result<Claim, WriteRefusal> {
    let subject = classify(path).map_err(WriteRefusal::Unusable)?;
    if subject.kind != SubjectKind::File {
        return Err(WriteRefusal::NotNamed { path: display(path) });
    }
    let claim = claim_any(path)?;
    // Checked on the open file: the path may have been replaced.
    if marked(&claim.file) { Ok(claim) } else { Err(WriteRefusal::NotNamed { path: display(path) }) }
}

/// Checks that apply even to named paths.
fn claim_any(path: &Path) -> Result<Claim, WriteRefusal> {
    let subject = classify(path).map_err(WriteRefusal::Unusable)?;
    let path_text = resolved(path);
    if subject.kind == SubjectKind::Directory {
        return Err(WriteRefusal::Directory { path: path_text });
    }
    if subject.read_only {
        return Err(WriteRefusal::ReadOnly { path: path_text });
    }
    let tree = Tree::system();
    let file =
        open(path, OFlags::empty()).map_err(|source| WriteRefusal::unknown(&path_text, Unknown::Contents, source))?;
    let stat = file.metadata().map_err(|source| WriteRefusal::unknown(&path_text, Unknown::Contents, source))?;
    let identity = Identity::of(&stat);
    let claimed = match (subject.kind, identity) {
        (SubjectKind::BlockDevice, Identity::Block(number)) if subject.device == Some(number) => {
            claim_block(&tree, path, &path_text, number)?
        }
        (SubjectKind::File, Identity::File { .. }) if stat.is_file() => claim_file(&tree, &path_text, &identity, file)?,
        _ => return Err(WriteRefusal::Changed { path: path_text }),
    };
    let sharing =
        find_sharing(&tree, identity).map_err(|source| WriteRefusal::unknown(&path_text, Unknown::Uses, source))?;
    if let Some(Opener { pid, command, opened }) = opener::writer(&tree, &sharing, path) {
        return Err(WriteRefusal::Open { path: path_text, opened: display(&opened), pid, command });
    }
    check_contents(&subject, &path_text, &claimed)?;
    Ok(Claim { file: claimed, identity })
}

/// Claims the existing regular file `path`, with any content, for a server of this image. Refused if it is in use by
/// the kernel, open for writing in another process, or claimed by another run of plimsoll.
///
/// # Errors
/// [`WriteRefusal`], with the finding and the remedy.
pub fn claim_image(path: &Path) -> Result<Claim, WriteRefusal> {
    let subject = classify(path).map_err(WriteRefusal::Unusable)?;
    let path_text = resolved(path);
    if subject.read_only {
        return Err(WriteRefusal::ReadOnly { path: path_text });
    }
    let unknown = |source| WriteRefusal::unknown(&path_text, Unknown::Contents, source);
    let file = open(path, OFlags::empty()).map_err(unknown)?;
    let stat = file.metadata().map_err(unknown)?;
    let identity = Identity::of(&stat);
    if subject.kind != SubjectKind::File || !stat.is_file() {
        return Err(WriteRefusal::Changed { path: path_text });
    }
    let tree = Tree::system();
    let claimed = claim_file(&tree, &path_text, &identity, file)?;
    if let Some(Opener { pid, command, opened }) = opener::writer(&tree, &[identity], path) {
        return Err(WriteRefusal::Open { path: path_text, opened: display(&opened), pid, command });
    }
    Ok(Claim { file: claimed, identity })
}

/// Strict: another name of the same file does not count, because the user did not type it.
fn check_named(path: &Path, named: &[PathBuf]) -> Result<(), WriteRefusal> {
    if named.iter().any(|name| name.as_os_str() == path.as_os_str()) {
        return Ok(());
    }
    let same = |name: &&PathBuf| name.canonicalize().ok().is_some_and(|name| path.canonicalize().ok() == Some(name));
    Err(match named.iter().find(same) {
        Some(name) => WriteRefusal::NamedOtherwise { path: display(path), name: display(name) },
        None => WriteRefusal::NotNamed { path: display(path) },
    })
}

/// The path, followed by its target if different.
fn resolved(path: &Path) -> String {
    match path.canonicalize() {
        Ok(target) if target != path => format!("{} ({})", display(path), display(&target)),
        _ => display(path),
    }
}

fn claim_block(tree: &Tree, path: &Path, path_text: &str, number: DeviceNumber) -> Result<File, WriteRefusal> {
    // Opened first, so that no use can begin after the checks; evaluated last, because the checks give a better reason
    // than "busy".
    let exclusive = open(path, OFlags::EXCL);
    let block =
        BlockDevice::find(tree, number).map_err(|source| WriteRefusal::unknown(path_text, Unknown::Uses, source))?;
    let found =
        in_use::block(tree, &block).map_err(|source| WriteRefusal::unknown(path_text, Unknown::Uses, source))?;
    if let Some(found) = found {
        return Err(WriteRefusal::InUse { path: path_text.to_owned(), found });
    }
    let file = exclusive.map_err(|source| match rustix::io::Errno::from_io_error(&source) {
        Some(rustix::io::Errno::BUSY) => WriteRefusal::Busy { path: path_text.to_owned() },
        _ => WriteRefusal::unknown(path_text, Unknown::Contents, source),
    })?;
    let stat = file.metadata().map_err(|source| WriteRefusal::unknown(path_text, Unknown::Contents, source))?;
    if Identity::of(&stat) == Identity::Block(number) {
        Ok(file)
    } else {
        Err(WriteRefusal::Changed { path: path_text.to_owned() })
    }
}

/// Identities that share bytes with it: itself, and for a block device its disk and overlapping partitions.
fn find_sharing(tree: &Tree, identity: Identity) -> io::Result<Vec<Identity>> {
    let Identity::Block(number) = identity else { return Ok(vec![identity]) };
    let family = BlockDevice::find(tree, number)?.family()?;
    let number = |member: &BlockDevice| member.number().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData));
    family.iter().map(|member| number(member).map(Identity::Block)).collect()
}

fn claim_file(tree: &Tree, path_text: &str, identity: &Identity, file: File) -> Result<File, WriteRefusal> {
    let found =
        in_use::file(tree, identity).map_err(|source| WriteRefusal::unknown(path_text, Unknown::Uses, source))?;
    if let Some(found) = found {
        return Err(WriteRefusal::InUse { path: path_text.to_owned(), found });
    }
    // Filesystems without locks are accepted.
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => Err(WriteRefusal::Locked { path: path_text.to_owned() }),
        _ => Ok(file),
    }
}

fn check_contents(subject: &Subject, path_text: &str, mut file: &File) -> Result<(), WriteRefusal> {
    let size = match subject.kind {
        SubjectKind::BlockDevice => subject.size,
        _ => Bytes::new(file.metadata().map_err(|e| WriteRefusal::unknown(path_text, Unknown::Contents, e))?.len()),
    };
    match signature(&mut file, size).map_err(|source| WriteRefusal::unknown(path_text, Unknown::Contents, source))? {
        Some(signature) => Err(WriteRefusal::Carries {
            path: path_text.to_owned(),
            remedy: refusal::clearing(subject, &signature),
            signature,
        }),
        None => Ok(()),
    }
}
