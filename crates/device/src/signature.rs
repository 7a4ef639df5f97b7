//! What a device or an image carries: filesystems, volume managers, partition tables, databases, by their magic bytes.
//!
//! Reads only, from anything that can seek, and knows nothing about devices. A clean answer means that nothing known
//! was found, not that the data are worthless.

mod shape;
mod table;
mod window;

use std::fmt;
use std::io::{self, Read, Seek};

use plimsoll_units::Bytes;

use table::Magic;
use window::Window;

/// What sort of thing a signature belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// A filesystem.
    Filesystem,
    /// A swap area.
    Swap,
    /// A member of a volume manager, a cache or a replication.
    Volume,
    /// A member of a RAID.
    Raid,
    /// An encrypted volume.
    Encryption,
    /// A partition table.
    PartitionTable,
    /// A database's file or disk.
    Database,
    /// A disk image of a virtual machine.
    Image,
    /// What is left of one of these, or belongs to none: copies of headers, leases.
    Other,
}

/// Something known that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What it is, in words that follow "carries": `an ext4 filesystem`.
    pub name: &'static str,
    /// What sort of thing.
    pub family: Family,
    /// Where its magic bytes are, from the start.
    pub offset: u64,
}

/// `an ext4 filesystem (at byte 1,080)`, without the comma.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.name, self.offset)
    }
}

/// The first signature found in the `size` bytes of `reader`; `None` when there is none of those known.
///
/// # Errors
/// Those of reading and seeking: then nothing is known of what is there.
pub fn signature(reader: &mut (impl Read + Seek), size: Bytes) -> io::Result<Option<Signature>> {
    let mut window = Window::new(reader, size.get())?;
    if let Some(found) = listed(table::MAGICS, &mut window)? {
        return Ok(Some(found));
    }
    match shape::find(&mut window)? {
        Some(found) => Ok(Some(found)),
        None => listed(table::LEFTOVERS, &mut window),
    }
}

fn listed(magics: &[Magic], window: &mut Window<'_, impl Read + Seek>) -> io::Result<Option<Signature>> {
    for magic in magics {
        if let Some(found) = magic.find(window)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
