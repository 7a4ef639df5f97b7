//! Signatures in buffers. `tests/subject_signatures.rs` tests real signatures, written by the respective programs.

use std::io::Cursor;

use super::*;

const MIB: usize = 1 << 20;

/// 8 MiB of zeroes with some bytes set; negative offsets count from the end.
fn check(pieces: &[(i64, &[u8])], expected: &str) {
    let mut image = vec![0; 8 * MIB];
    for (offset, bytes) in pieces {
        let at = if *offset < 0 { image.len() - offset.unsigned_abs() as usize } else { *offset as usize };
        image[at..at + bytes.len()].copy_from_slice(bytes);
    }
    let found = signature(&mut Cursor::new(&image), Bytes::new(image.len() as u64)).unwrap();
    assert_eq!(found.map_or_else(|| "nothing".into(), |found| found.to_string()), expected);
}

#[test]
fn zeros_and_short_inputs_have_no_signature() {
    check(&[], "nothing");
    for size in [0, 1, 511, 512, 4096, 65536, 131_073] {
        let bytes = vec![0; size];
        assert_eq!(signature(&mut Cursor::new(&bytes), Bytes::new(size as u64)).unwrap(), None, "{size}");
    }
}

#[test]
fn random_bytes_have_no_signature() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..20 {
        let bytes: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(MIB).collect();
        assert_eq!(signature(&mut Cursor::new(&bytes), Bytes::new(bytes.len() as u64)).unwrap(), None);
    }
}

#[test]
fn every_magic_of_the_table_is_found_at_its_offset() {
    // Only the last copy of btrfs, at 256 GiB, is beyond this image.
    for magic in table::MAGICS.iter().chain(table::LEFTOVERS) {
        for (offset, bytes) in magic.samples(80 * MIB as u64) {
            let mut image = vec![0; 80 * MIB];
            image[offset as usize..offset as usize + bytes.len()].copy_from_slice(bytes);
            let found = signature(&mut Cursor::new(&image), Bytes::new(image.len() as u64)).unwrap();
            let found = found.unwrap_or_else(|| panic!("nothing found with {bytes:?} at {offset}"));
            assert_eq!(found.offset, offset, "{found}");
        }
    }
}

#[test]
fn short_magics_need_plausible_fields() {
    check(&[(1080, &[0x53, 0xef])], "an ext2 filesystem (at byte 1080)");
    check(&[(1080, &[0x53, 0xef]), (1116, &[4])], "an ext3 filesystem (at byte 1080)");
    check(&[(1080, &[0x53, 0xef]), (1120, &[0x40])], "an ext4 filesystem (at byte 1080)");
    check(&[(1080, &[0x53, 0xef]), (1120, &[8])], "an ext3 or ext4 journal (at byte 1080)");
    check(&[(1080, &[0x53, 0xef]), (1048, &[99])], "nothing");
    check(&[(1024, b"H+\0\x04")], "an HFS+ filesystem (at byte 1024)");
    check(&[(510, &[0x55, 0xaa])], "nothing");
    check(&[(450, &[0x83]), (458, &[1]), (510, &[0x55, 0xaa])], "an MBR partition table (at byte 510)");
    check(&[(446, &[7, 0, 0, 0, 0x83]), (458, &[1]), (510, &[0x55, 0xaa])], "nothing");
}

#[test]
fn databases_are_recognised_by_their_pages() {
    let space: &[(i64, &[u8])] = &[(24, &[0, 8]), (34, &[0, 0, 0, 5]), (38, &[0, 0, 0, 5]), (46, &[0, 0, 4, 0])];
    check(space, "an InnoDB (MySQL, MariaDB) tablespace (at byte 24)");
    check(&[(0, &[0, 0, 0, 6]), (16, b"MySQL 8.0.36")], "an InnoDB (MySQL, MariaDB) redo log (at byte 16)");
    let page: &[(i64, &[u8])] = &[(12, &[0x40, 0, 0, 0x1f, 0, 0x20, 4, 0x20])];
    check(page, "a PostgreSQL data file (at byte 18)");
    let log: &[(i64, &[u8])] = &[(0, &[0x13, 0xd1, 6, 0]), (32, &[0, 0, 0, 1, 0, 0x20, 0, 0])];
    check(log, "a PostgreSQL write-ahead log (at byte 0)");
    check(&[(0, &[0, 0xa2]), (28, b"}|{z")], "an Oracle data file (at byte 28)");
    check(&[(32, b"ORCLDISK"), (40, b"DATA1")], "an Oracle ASM disk (at byte 32)");
}

#[test]
fn zfs_is_found_at_both_ends() {
    let uberblock = 0x00ba_b10c_u64;
    check(&[(132 << 10, &uberblock.to_le_bytes())], "a member of a ZFS pool (at byte 135168)");
    check(&[(-(127 << 10), &uberblock.to_be_bytes())], "a member of a ZFS pool (at byte 8258560)");
    check(&[(-1024, &uberblock.to_be_bytes())], "a member of a ZFS pool (at byte 8387584)");
}

#[test]
fn odd_sizes_round_the_end_down() {
    let mut image = vec![0; 4 * MIB + 1000];
    image[4 * MIB - 65536..][..4].copy_from_slice(&[0xfc, 0x4e, 0x2b, 0xa9]);
    let found = signature(&mut Cursor::new(&image), Bytes::new(image.len() as u64)).unwrap();
    assert_eq!(found.unwrap().to_string(), "a Linux software RAID member (0.90) (at byte 4128768)");
}

#[test]
fn read_error_is_returned() {
    assert!(signature(&mut Cursor::new(&[0; 100]), Bytes::new(5000)).is_err());
}
