//! Signatures on a device or image: filesystems, volume managers, partition tables, databases, by their magic bytes.
//!
//! Only reads. Absence of known signatures does not mean that the data are worthless.

mod shape;
mod table;
mod window;

use std::fmt;
use std::io::{self, Read, Seek};

use plimsoll_language::say;
use plimsoll_units::Bytes;

use table::Magic;
use window::CachedReader;

/// Category of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Filesystem,
    Swap,
    /// A member of a volume manager, a cache or a replication.
    Volume,
    Raid,
    /// An encrypted volume.
    Encryption,
    PartitionTable,
    /// A database's file or disk.
    Database,
    /// A disk image of a virtual machine.
    Image,
    /// Remains of these formats, or others: copies of headers, leases.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Name, as it follows "carries": `an ext4 filesystem`.
    pub name: &'static str,
    pub family: Family,
    /// Offset of the magic bytes from the start.
    pub offset: u64,
}

/// `an ext4 filesystem (at byte 1080)`.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&say!("{} (at byte {})", self.name, self.offset))
    }
}

/// First known signature in the `size` bytes of `reader`.
///
/// # Errors
/// Errors of reading and seeking; the content is unknown then.
pub fn signature(reader: &mut (impl Read + Seek), size: Bytes) -> io::Result<Option<Signature>> {
    let mut window = CachedReader::new(reader, size.get())?;
    if let Some(found) = listed(table::MAGICS, &mut window)? {
        return Ok(Some(found));
    }
    match shape::find(&mut window)? {
        Some(found) => Ok(Some(found)),
        None => listed(table::LEFTOVERS, &mut window),
    }
}

fn listed(magics: &[Magic], window: &mut CachedReader<'_, impl Read + Seek>) -> io::Result<Option<Signature>> {
    for magic in magics {
        if let Some(found) = magic.find(window)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
