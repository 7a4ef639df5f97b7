//! Signatures with a short magic, which need plausible neighbouring fields.
//!
//! Also ZFS uberblocks, which may be anywhere in a ring.

use std::io::{self, Read, Seek};

use super::{CachedReader, Family, Signature};

/// Detector of a format in the first bytes.
type Look = fn(&[u8]) -> Option<Signature>;

const LOOKS: &[Look] = &[ext, nilfs, hfs, innodb, innodb_log, postgres_page, postgres_log, master_boot_record];

/// First matching format.
pub(super) fn find(window: &mut CachedReader<'_, impl Read + Seek>) -> io::Result<Option<Signature>> {
    match LOOKS.iter().find_map(|look| look(window.head())) {
        Some(found) => Ok(Some(found)),
        None => zfs(window),
    }
}

const fn found(name: &'static str, family: Family, offset: u64) -> Signature {
    Signature { name, family, offset }
}

fn field<const N: usize>(head: &[u8], at: usize) -> Option<[u8; N]> {
    head.get(at..)?.first_chunk().copied()
}

fn le16(head: &[u8], at: usize) -> Option<u16> {
    field(head, at).map(u16::from_le_bytes)
}

fn le32(head: &[u8], at: usize) -> Option<u32> {
    field(head, at).map(u32::from_le_bytes)
}

fn be32(head: &[u8], at: usize) -> Option<u32> {
    field(head, at).map(u32::from_be_bytes)
}

/// Superblock at 1,024: magic at 56, revision at 76, features from 92.
fn ext(head: &[u8]) -> Option<Signature> {
    const JOURNAL: u32 = 0x4;
    const JOURNAL_DEVICE: u32 = 0x8;
    // Extents, 64 bit, flexible groups: not supported by ext3.
    const EXT4: u32 = 0x40 | 0x80 | 0x200;
    let at = |offset: usize| le32(head, 1024 + offset);
    if le16(head, 1024 + 56)? != 0xef53 || at(24)? > 6 || at(76)? > 1 {
        return None;
    }
    let (compatible, incompatible) = (at(92)?, at(96)?);
    let name = match () {
        () if incompatible & JOURNAL_DEVICE != 0 => "an ext3 or ext4 journal",
        () if incompatible & EXT4 != 0 => "an ext4 filesystem",
        () if compatible & JOURNAL != 0 => "an ext3 filesystem",
        () => "an ext2 filesystem",
    };
    Some(found(name, Family::Filesystem, 1024 + 56))
}

fn nilfs(head: &[u8]) -> Option<Signature> {
    let sane = le16(head, 1024 + 6)? == 0x3434 && le32(head, 1024)? == 2 && (128..=1024).contains(&le16(head, 1032)?);
    sane.then(|| found("a NILFS2 filesystem", Family::Filesystem, 1030))
}

fn hfs(head: &[u8]) -> Option<Signature> {
    let signature: [u8; 4] = field(head, 1024)?;
    matches!(signature, [b'H', b'+', 0, 4] | [b'H', b'X', 0, 5])
        .then(|| found("an HFS+ filesystem", Family::Filesystem, 1024))
}

/// Page 0 of a tablespace: page number 0, type `FSP_HDR` (8), space number twice, nonzero size.
fn innodb(head: &[u8]) -> Option<Signature> {
    let number = be32(head, 4)?;
    let kind = u16::from_be_bytes(field(head, 24)?);
    let sane = number == 0 && kind == 8 && be32(head, 34)? == be32(head, 38)? && be32(head, 46)? > 0;
    sane.then(|| found("an InnoDB (MySQL, MariaDB) tablespace", Family::Database, 24))
}

/// First block of a redo log: a single-digit format or MariaDB's word, and the creator's name at 16.
fn innodb_log(head: &[u8]) -> Option<Signature> {
    let maker = head.get(16..48)?;
    let named = ["MySQL ", "MariaDB ", "Percona ", "Backup "].iter().any(|name| maker.starts_with(name.as_bytes()));
    named.then(|| found("an InnoDB (MySQL, MariaDB) redo log", Family::Database, 16))
}

/// Page header: bounds in order, page size and layout version 4 in one field, known flags only.
fn postgres_page(head: &[u8]) -> Option<Signature> {
    let [flags, lower, upper, special, version] = [10, 12, 14, 16, 18].map(|at| le16(head, at));
    let (flags, lower, upper, special, version) = (flags?, lower?, upper?, special?, version?);
    let page = version & 0xff00;
    let sane = version & 0xff == 4 && page.is_power_of_two() && page >= 1024 && flags <= 7;
    let ordered = 24 <= lower && lower <= upper && upper <= special && special <= page;
    (sane && ordered).then(|| found("a PostgreSQL data file", Family::Database, 18))
}

/// First page of a segment: magic 0xD1xx, flag of a long header, sizes of segment and block.
fn postgres_log(head: &[u8]) -> Option<Signature> {
    let (magic, info) = (le16(head, 0)?, le16(head, 2)?);
    let (segment, block) = (le32(head, 32)?, le32(head, 36)?);
    let sane = magic & 0xff00 == 0xd100 && info & 2 != 0 && segment.is_power_of_two() && block.is_power_of_two();
    let sized = (1 << 20..=1 << 30).contains(&segment) && (1 << 10..=1 << 16).contains(&block);
    (sane && sized).then(|| found("a PostgreSQL write-ahead log", Family::Database, 0))
}

/// Four entries of 16 bytes from 446: all plausible, at least one used.
fn master_boot_record(head: &[u8]) -> Option<Signature> {
    if field(head, 510)? != [0x55, 0xaa] {
        return None;
    }
    let entries = head.get(446..510)?;
    let used = |entry: &&[u8]| entry[4] != 0 && le32(entry, 12).is_some_and(|sectors| sectors > 0);
    let possible = entries.chunks(16).all(|entry| matches!(entry[0], 0 | 0x80));
    let any = entries.chunks(16).any(|entry| used(&entry));
    (possible && any).then(|| found("an MBR partition table", Family::PartitionTable, 510))
}

/// Uberblocks: 128 slots of 1 KiB in the second half of each of the four 256 KiB labels, in either byte order.
fn zfs(window: &mut CachedReader<'_, impl Read + Seek>) -> io::Result<Option<Signature>> {
    const MAGIC: u64 = 0x00ba_b10c;
    const LABEL: u64 = 256 << 10;
    const RING: u64 = 128 << 10;
    let end = window.size / LABEL * LABEL;
    let labels = [Some(0), Some(LABEL), end.checked_sub(2 * LABEL), end.checked_sub(LABEL)];
    for label in labels.into_iter().flatten() {
        let Some(ring) = window.bytes(label + RING, RING as usize)? else { continue };
        let slot = ring.chunks(1024).position(|slot| {
            let magic = field(slot, 0).map(u64::from_le_bytes);
            magic == Some(MAGIC) || magic == Some(MAGIC.swap_bytes())
        });
        if let Some(slot) = slot {
            return Ok(Some(found("a member of a ZFS pool", Family::Volume, label + RING + 1024 * slot as u64)));
        }
    }
    Ok(None)
}
