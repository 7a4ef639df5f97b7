//! Refusal before destruction: what may be written to, and what not even when it is named.
//!
//! Nothing is written here, nothing is wiped, and nothing is unmounted. What cannot be found out is refused. Knows
//! nothing about files that plimsoll made itself: those need no permission.

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
pub use refusal::{Refusal, Unknown};

use identity::Identity;
use opener::Opener;

use crate::disk::Block;
use crate::file::marked;
use crate::host::Tree;
use crate::signature::signature;
use crate::subject::{DeviceNumber, Subject, SubjectKind, classify, open, shown};

/// Leave to write to an existing file or block device. While it is kept, the kernel lets nobody mount the device,
/// swap on it or stack anything on it; a file is locked against other runs of plimsoll.
#[derive(Debug)]
pub struct Claim {
    file: File,
    identity: Identity,
}

impl Claim {
    /// True when `file` is the file or device that was examined: a path may have changed hands since.
    ///
    /// # Errors
    /// Those of `fstat`.
    pub fn covers(&self, file: &File) -> io::Result<bool> {
        Ok(Identity::of(&file.metadata()?) == self.identity)
    }

    /// The file or device, open for reading.
    pub fn file(&self) -> &File {
        &self.file
    }
}

/// Whether `path` may be written to: see [`claim`], whose result this drops. A device can come into use, and a path
/// can change hands, between this check and the writing: open the device with `O_EXCL`, or keep a [`Claim`].
///
/// # Errors
/// [`Refusal`], in one line that says what was found and what to do.
pub fn check_destroy(path: &Path, named: &[PathBuf]) -> Result<(), Refusal> {
    claim(path, named).map(drop)
}

/// Takes leave to write to the existing file or block device `path`, all of whose data may be lost. `named` are the
/// paths given to `--destroy`: one of them has to be `path`, letter for letter. Refused all the same when it is in
/// use by the kernel or open for writing in another process (of a device: its disk or a partition too), and when it
/// carries something known.
///
/// Opens it for reading, and a block device exclusively: while the claim is kept, this process too can open the device
/// for writing without `O_EXCL` only. Processes of other users are seen by root only.
///
/// # Errors
/// [`Refusal`], in one line that says what was found and what to do.
pub fn claim(path: &Path, named: &[PathBuf]) -> Result<Claim, Refusal> {
    check_named(path, named)?;
    claim_any(path)
}

/// Takes leave to write to the existing regular file `path` without `--destroy`, because plimsoll made it and left its
/// mark: see [`crate::mark`]. Refused for the same reasons as with [`claim`], and when the mark is not there or was made
/// for another file.
///
/// # Errors
/// [`Refusal`], in one line that says what was found and what to do.
pub fn claim_ours(path: &Path) -> Result<Claim, Refusal> {
    let subject = classify(path).map_err(Refusal::Unusable)?;
    if subject.kind != SubjectKind::File {
        return Err(Refusal::NotNamed { path: shown(path) });
    }
    let claim = claim_any(path)?;
    // Asked of the open file: the path may have led elsewhere a moment ago.
    if marked(&claim.file) { Ok(claim) } else { Err(Refusal::NotNamed { path: shown(path) }) }
}

/// Everything that is refused even when it is named.
fn claim_any(path: &Path) -> Result<Claim, Refusal> {
    let subject = classify(path).map_err(Refusal::Unusable)?;
    let shown_path = resolved(path);
    if subject.kind == SubjectKind::Directory {
        return Err(Refusal::Directory { path: shown_path });
    }
    if subject.read_only {
        return Err(Refusal::ReadOnly { path: shown_path });
    }
    let tree = Tree::system();
    let file =
        open(path, OFlags::empty()).map_err(|source| Refusal::unknown(&shown_path, Unknown::Contents, source))?;
    let stat = file.metadata().map_err(|source| Refusal::unknown(&shown_path, Unknown::Contents, source))?;
    let identity = Identity::of(&stat);
    let held = match (subject.kind, identity) {
        (SubjectKind::BlockDevice, Identity::Block(number)) if subject.device == Some(number) => {
            claim_block(&tree, path, &shown_path, number)?
        }
        (SubjectKind::File, Identity::File { .. }) if stat.is_file() => {
            claim_file(&tree, &shown_path, &identity, file)?
        }
        _ => return Err(Refusal::Changed { path: shown_path }),
    };
    let sharing = sharing(&tree, identity).map_err(|source| Refusal::unknown(&shown_path, Unknown::Uses, source))?;
    if let Some(Opener { pid, command, opened }) = opener::writer(&tree, &sharing, path) {
        return Err(Refusal::Open { path: shown_path, opened: shown(&opened), pid, command });
    }
    check_contents(&subject, &shown_path, &held)?;
    Ok(Claim { file: held, identity })
}

/// Takes leave to let others write to the existing regular file `path`, which may hold anything: an image that is
/// served. Refused when it is in use by the kernel, open for writing in another process, or claimed by another run of
/// plimsoll.
///
/// # Errors
/// [`Refusal`], in one line that says what was found and what to do.
pub fn claim_image(path: &Path) -> Result<Claim, Refusal> {
    let subject = classify(path).map_err(Refusal::Unusable)?;
    let shown_path = resolved(path);
    if subject.read_only {
        return Err(Refusal::ReadOnly { path: shown_path });
    }
    let unknown = |source| Refusal::unknown(&shown_path, Unknown::Contents, source);
    let file = open(path, OFlags::empty()).map_err(unknown)?;
    let stat = file.metadata().map_err(unknown)?;
    let identity = Identity::of(&stat);
    if subject.kind != SubjectKind::File || !stat.is_file() {
        return Err(Refusal::Changed { path: shown_path });
    }
    let tree = Tree::system();
    let held = claim_file(&tree, &shown_path, &identity, file)?;
    if let Some(Opener { pid, command, opened }) = opener::writer(&tree, &[identity], path) {
        return Err(Refusal::Open { path: shown_path, opened: shown(&opened), pid, command });
    }
    Ok(Claim { file: held, identity })
}

/// Strict: a name that leads to the same place by another way does not count, for nobody typed this one.
fn check_named(path: &Path, named: &[PathBuf]) -> Result<(), Refusal> {
    if named.iter().any(|name| name.as_os_str() == path.as_os_str()) {
        return Ok(());
    }
    let same = |name: &&PathBuf| name.canonicalize().ok().is_some_and(|name| path.canonicalize().ok() == Some(name));
    Err(match named.iter().find(same) {
        Some(name) => Refusal::NamedOtherwise { path: shown(path), name: shown(name) },
        None => Refusal::NotNamed { path: shown(path) },
    })
}

/// The path, and where it leads when that is elsewhere.
fn resolved(path: &Path) -> String {
    match path.canonicalize() {
        Ok(target) if target != path => format!("{} ({})", shown(path), shown(&target)),
        _ => shown(path),
    }
}

fn claim_block(tree: &Tree, path: &Path, shown: &str, number: DeviceNumber) -> Result<File, Refusal> {
    // Asked for first, so that nothing can come into use after it was looked for; judged last, because what is found
    // says more than "busy".
    let exclusive = open(path, OFlags::EXCL);
    let block = Block::find(tree, number).map_err(|source| Refusal::unknown(shown, Unknown::Uses, source))?;
    let found = in_use::block(tree, &block).map_err(|source| Refusal::unknown(shown, Unknown::Uses, source))?;
    if let Some(found) = found {
        return Err(Refusal::InUse { path: shown.to_owned(), found });
    }
    let file = exclusive.map_err(|source| match rustix::io::Errno::from_io_error(&source) {
        Some(rustix::io::Errno::BUSY) => Refusal::Busy { path: shown.to_owned() },
        _ => Refusal::unknown(shown, Unknown::Contents, source),
    })?;
    let stat = file.metadata().map_err(|source| Refusal::unknown(shown, Unknown::Contents, source))?;
    if Identity::of(&stat) == Identity::Block(number) {
        Ok(file)
    } else {
        Err(Refusal::Changed { path: shown.to_owned() })
    }
}

/// What shares bytes with it: itself, and of a block device its disk and the partitions in the way.
fn sharing(tree: &Tree, identity: Identity) -> io::Result<Vec<Identity>> {
    let Identity::Block(number) = identity else { return Ok(vec![identity]) };
    let family = Block::find(tree, number)?.family()?;
    let number = |member: &Block| member.number().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData));
    family.iter().map(|member| number(member).map(Identity::Block)).collect()
}

fn claim_file(tree: &Tree, shown: &str, identity: &Identity, file: File) -> Result<File, Refusal> {
    let found = in_use::file(tree, identity).map_err(|source| Refusal::unknown(shown, Unknown::Uses, source))?;
    if let Some(found) = found {
        return Err(Refusal::InUse { path: shown.to_owned(), found });
    }
    // Where locks are not supported, there is nothing to learn from them.
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => Err(Refusal::Locked { path: shown.to_owned() }),
        _ => Ok(file),
    }
}

fn check_contents(subject: &Subject, shown: &str, mut file: &File) -> Result<(), Refusal> {
    let size = match subject.kind {
        SubjectKind::BlockDevice => subject.size,
        _ => Bytes::new(file.metadata().map_err(|e| Refusal::unknown(shown, Unknown::Contents, e))?.len()),
    };
    match signature(&mut file, size).map_err(|source| Refusal::unknown(shown, Unknown::Contents, source))? {
        Some(signature) => {
            Err(Refusal::Carries { path: shown.to_owned(), remedy: refusal::clearing(subject, &signature), signature })
        }
        None => Ok(()),
    }
}
