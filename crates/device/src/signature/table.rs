//! Table of signatures with fixed bytes at fixed offsets.
//!
//! Offsets and bytes from the documentation of the formats and from `libblkid` (util-linux). Long magics only; short
//! magics, which also occur in random bytes, need the additional checks of [`super::shape`].

use std::io::{self, Read, Seek};

use super::Family::{self, Database, Encryption, Filesystem, Image, Other, PartitionTable, Raid, Swap, Volume};
use super::{CachedReader, Signature};

/// Offset of magic bytes.
#[derive(Clone, Copy)]
pub(super) enum MagicOffset {
    /// Bytes from the start.
    Start(u64),
    /// `plus - back` bytes from the end, after rounding the end down to a multiple of `align`.
    End { align: u64, back: u64, plus: u64 },
}
use MagicOffset::{End, Start};

/// Magic bytes of a format.
pub(super) struct Magic {
    name: &'static str,
    family: Family,
    bytes: &'static [u8],
    places: &'static [MagicOffset],
}

impl MagicOffset {
    /// Offset from the start of an input of `size` bytes; `None` if it is too short.
    fn offset(self, size: u64) -> Option<u64> {
        match self {
            Start(offset) => Some(offset),
            End { align, back, plus } => (size / align * align).checked_sub(back)?.checked_add(plus),
        }
    }
}

impl Magic {
    /// Searches all places.
    pub(super) fn find(&self, window: &mut CachedReader<'_, impl Read + Seek>) -> io::Result<Option<Signature>> {
        for place in self.places {
            let Some(offset) = place.offset(window.size) else { continue };
            if window.bytes(offset, self.bytes.len())?.is_some_and(|bytes| bytes == self.bytes) {
                return Ok(Some(Signature { name: self.name, family: self.family, offset }));
            }
        }
        Ok(None)
    }

    /// Offset and bytes of the magic in an input of `size` bytes.
    #[cfg(test)]
    pub(super) fn samples(&self, size: u64) -> impl Iterator<Item = (u64, &'static [u8])> {
        let offsets = self.places.iter().filter_map(move |place| place.offset(size));
        offsets.filter(move |offset| *offset < size).map(|offset| (offset, self.bytes))
    }
}

const fn magic(name: &'static str, family: Family, bytes: &'static [u8], places: &'static [MagicOffset]) -> Magic {
    Magic { name, family, bytes, places }
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// The last ten bytes of the first page, for every page size of Linux.
const SWAP: &[MagicOffset] = &[Start(4086), Start(8182), Start(16374), Start(32758), Start(65526)];
/// Metadata 1.0 (from the end), 1.1 and 1.2.
const MD1: &[MagicOffset] = &[Start(0), Start(4096), End { align: 4096, back: 8192, plus: 0 }];
const MD0: &[MagicOffset] = &[End { align: 64 * KIB, back: 64 * KIB, plus: 0 }];
const DRBD: &[MagicOffset] = &[End { align: 4096, back: 4096, plus: 60 }];
const GPT: &[MagicOffset] =
    &[Start(512), Start(4096), End { align: 512, back: 512, plus: 0 }, End { align: 4096, back: 4096, plus: 0 }];
/// Name of the first pair of the list in each of the four labels, at 16 KiB plus 24 bytes of encoding.
const ZFS: &[MagicOffset] = &[
    Start(16 * KIB + 24),
    Start((256 + 16) * KIB + 24),
    End { align: 256 * KIB, back: 512 * KIB, plus: 16 * KIB + 24 },
    End { align: 256 * KIB, back: 256 * KIB, plus: 16 * KIB + 24 },
];
/// Possible offsets of the second LUKS2 header, depending on the size of the first.
const LUKS2: &[MagicOffset] = &[
    Start(16 * KIB),
    Start(32 * KIB),
    Start(64 * KIB),
    Start(128 * KIB),
    Start(256 * KIB),
    Start(512 * KIB),
    Start(MIB),
    Start(2 * MIB),
    Start(4 * MIB),
];
const BTRFS_COPIES: &[MagicOffset] = &[Start(64 * MIB + 64), Start(256 * GIB + 64)];
const OCFS2: &[MagicOffset] = &[Start(KIB), Start(2 * KIB), Start(4 * KIB), Start(8 * KIB)];
const VOLUME_DESCRIPTORS: &[MagicOffset] = &[Start(34817), Start(36865), Start(38913), Start(40961)];
/// The copy of the disk header, at the end of the second allocation unit of 1 or 4 MiB.
const ASM_COPIES: &[MagicOffset] = &[Start(2 * MIB - 8 * KIB + 32), Start(8 * MIB - 8 * KIB + 32)];

/// In search order: the most specific owner first.
#[rustfmt::skip]
pub(super) const MAGICS: &[Magic] = &[
    magic("an Oracle ASM disk", Database, b"ORCLDISK", &[Start(32)]),
    magic("an Oracle data file", Database, b"}|{z", &[Start(28)]),
    magic("an Oracle data file", Database, b"z{|}", &[Start(28)]),
    magic("an SQLite database", Database, b"SQLite format 3\0", &[Start(0)]),
    magic("an SQLite write-ahead log", Database, &[0x37, 0x7f, 0x06, 0x82, 0, 0x2d, 0xe2, 0x18], &[Start(0)]),
    magic("an SQLite write-ahead log", Database, &[0x37, 0x7f, 0x06, 0x83, 0, 0x2d, 0xe2, 0x18], &[Start(0)]),
    magic("a WiredTiger (MongoDB) data file", Database, &[0x41, 0xd8, 0x01, 0, 1, 0], &[Start(0)]),
    magic("an LMDB database", Database, &[0xde, 0xc0, 0xef, 0xbe], &[Start(16)]),
    magic("a DuckDB database", Database, b"DUCK", &[Start(8)]),
    magic("a Redis database", Database, b"REDIS00", &[Start(0)]),
    magic("a Microsoft SQL Server data file", Database, &[1, 0x0f, 0, 0], &[Start(0)]),

    magic("a Ceph BlueStore device", Volume, b"bluestore block device", &[Start(0)]),
    magic("an LVM2 physical volume", Volume, b"LABELONE", &[Start(0), Start(512), Start(1024), Start(1536)]),
    magic("a bcache device", Volume, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81", &[Start(4120)]),
    magic("a Stratis device", Volume, b"!Stra0tis\x86\xff\x02^Arh", &[Start(516), Start(4612)]),
    magic("a VDO volume", Volume, b"dmvdo001", &[Start(0)]),
    magic("a dm-integrity volume", Volume, b"integrt\0", &[Start(0)]),
    magic("a dm-verity volume", Volume, b"verity\0\0", &[Start(0)]),
    magic("a dm-snapshot store", Volume, b"SnAp\x01\0\0\0", &[Start(0)]),
    magic("a DRBD device", Volume, &[0x83, 0x74, 0x02, 0x6b], DRBD),
    magic("a DRBD device", Volume, &[0x83, 0x74, 0x02, 0x6c], DRBD),
    magic("a DRBD device", Volume, &[0x83, 0x74, 0x02, 0x6d], DRBD),
    magic("a VMFS volume", Volume, &[0x0d, 0xd0, 0x01, 0xc0], &[Start(MIB)]),

    magic("a Linux software RAID member", Raid, &[0xfc, 0x4e, 0x2b, 0xa9], MD1),
    magic("a Linux software RAID member (0.90)", Raid, &[0xfc, 0x4e, 0x2b, 0xa9], MD0),
    magic("a Linux software RAID member (0.90)", Raid, &[0xa9, 0x2b, 0x4e, 0xfc], MD0),
    magic("an Intel RAID member", Raid, b"Intel Raid ISM Cfg Sig. ",
        &[End { align: 512, back: 1024, plus: 0 }, End { align: 4096, back: 8192, plus: 0 }]),
    magic("a DDF RAID member", Raid, &[0xde, 0x11, 0xde, 0x11], &[End { align: 512, back: 512, plus: 0 }]),

    magic("a LUKS volume", Encryption, b"LUKS\xba\xbe", &[Start(0)]),
    magic("a LUKS2 volume (second header)", Encryption, b"SKUL\xba\xbe", LUKS2),
    magic("a BitLocker volume", Encryption, b"-FVE-FS-", &[Start(3)]),

    magic("an XFS filesystem", Filesystem, b"XFSB", &[Start(0)]),
    magic("an XFS log", Filesystem, &[0xfe, 0xed, 0xba, 0xbe, 0, 0, 0], &[Start(0)]),
    magic("a btrfs filesystem", Filesystem, b"_BHRfS_M", &[Start(64 * KIB + 64)]),
    magic("a bcachefs filesystem", Filesystem, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef", &[Start(4120)]),
    magic("an F2FS filesystem", Filesystem, &[0x10, 0x20, 0xf5, 0xf2], &[Start(1024)]),
    magic("an exFAT filesystem", Filesystem, b"EXFAT   ", &[Start(3)]),
    magic("an NTFS filesystem", Filesystem, b"NTFS    ", &[Start(3)]),
    magic("a ReFS filesystem", Filesystem, b"ReFS\0", &[Start(3)]),
    magic("a FAT filesystem", Filesystem, b"FAT12   ", &[Start(54)]),
    magic("a FAT filesystem", Filesystem, b"FAT16   ", &[Start(54)]),
    magic("a FAT filesystem", Filesystem, b"FAT32   ", &[Start(82)]),
    magic("an ISO 9660 filesystem", Filesystem, b"CD001", &[Start(32769)]),
    magic("a UDF filesystem", Filesystem, b"NSR02", VOLUME_DESCRIPTORS),
    magic("a UDF filesystem", Filesystem, b"NSR03", VOLUME_DESCRIPTORS),
    magic("an APFS container", Filesystem, b"NXSB", &[Start(32)]),
    magic("a GFS2 filesystem", Filesystem, &[1, 0x16, 0x19, 0x70], &[Start(64 * KIB)]),
    magic("an OCFS2 filesystem", Filesystem, b"OCFSV2", OCFS2),
    magic("a JFS filesystem", Filesystem, b"JFS1", &[Start(32 * KIB)]),
    magic("a ReiserFS filesystem", Filesystem, b"ReIsEr", &[Start(64 * KIB + 52), Start(8 * KIB + 52), Start(64 * KIB)]),
    magic("a UFS filesystem", Filesystem, &[0x19, 0x01, 0x54, 0x19], &[Start(66908), Start(9564)]),
    magic("a UFS filesystem", Filesystem, &[0x54, 0x19, 0x01, 0], &[Start(9564)]),
    magic("a SquashFS filesystem", Filesystem, b"hsqs", &[Start(0)]),
    magic("an EROFS filesystem", Filesystem, &[0xe2, 0xe1, 0xf5, 0xe0], &[Start(1024)]),
    magic("a VMFS filesystem", Filesystem, &[0x5e, 0xf1, 0xab, 0x2f], &[Start(2 * MIB)]),

    magic("a swap area", Swap, b"SWAPSPACE2", SWAP),
    magic("a swap area", Swap, b"SWAP-SPACE", SWAP),
    magic("a hibernated system", Swap, b"S1SUSPEND\0", SWAP),
    magic("a hibernated system", Swap, b"S2SUSPEND\0", SWAP),
    magic("a hibernated system", Swap, b"LINHIB0001", SWAP),

    magic("a qcow2 image", Image, b"QFI\xfb", &[Start(0)]),
    magic("a VMDK image", Image, b"KDMV", &[Start(0)]),
    magic("a VMDK image", Image, b"# Disk DescriptorFile", &[Start(0)]),
    magic("a VHDX image", Image, b"vhdxfile", &[Start(0)]),
    magic("a VHD image", Image, b"conectix", &[Start(0), End { align: 512, back: 512, plus: 0 }]),
    magic("a VirtualBox image", Image, &[0x7f, 0x10, 0xda, 0xbe], &[Start(64)]),

    magic("a GPT partition table", PartitionTable, b"EFI PART", GPT),
    magic("a BSD disk label", PartitionTable, &[0x57, 0x45, 0x56, 0x82], &[Start(0), Start(64), Start(512)]),
    magic("an SGI disk label", PartitionTable, &[0x0b, 0xe5, 0xa9, 0x41], &[Start(0)]),
    magic("an Apple partition map", PartitionTable, b"PM\0\0", &[Start(512)]),
];

/// Remains after wiping the signatures above, as wiping programs do not support them.
#[rustfmt::skip]
pub(super) const LEFTOVERS: &[Magic] = &[
    magic("a copy of an Oracle ASM disk header", Other, b"ORCLDISK", ASM_COPIES),
    magic("a copy of a btrfs superblock", Other, b"_BHRfS_M", BTRFS_COPIES),
    magic("a copy of an F2FS superblock", Other, &[0x10, 0x20, 0xf5, 0xf2], &[Start(5120)]),
    magic("a label of a ZFS pool", Other, b"version", ZFS),
    magic("a sanlock lease", Other, &[0x10, 0x20, 0x21, 0x12], &[Start(0)]),
];
