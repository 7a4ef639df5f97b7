//! What an article published of the eight tests, with where it is from.
//!
//! Knows nothing about what is got here.

use super::Test;

pub(super) const TITLE: &str = "sql-bench on SATA disk, SSD and ioDrive of rented servers, seconds";
pub(super) const SOURCE: &str = "published: Sakura's dedicated server, part 4: checking the speed of SSD and ioDrive (Japanese), about 2013, table 10";

/// Above each column, in two lines: the storage, and the server's memory.
pub(super) const COLUMNS: [[&str; 2]; 4] =
    [["SATA", "512 MB"], ["SSD", "512 MB"], ["ioDrive", "512 MB"], ["SATA", "16 GB"]];

/// Seconds that a test took, column by column.
pub(super) const fn seconds(test: Test) -> [u32; 4] {
    match test {
        Test::Atis => [9, 9, 10, 8],
        Test::AlterTable => [2, 11, 10, 3],
        Test::BigTables => [6, 7, 7, 7],
        Test::Connect => [61, 61, 55, 61],
        Test::Create => [34, 1060, 1031, 53],
        Test::Insert => [410, 411, 426, 444],
        Test::Select => [146, 143, 142, 140],
        Test::Wisconsin => [2, 4, 5, 3],
    }
}

/// What the article's figures are about.
pub(super) const NOTES: [&str; 3] = [
    "published: create took 34 s on the SATA disk, 0.7 ms for each of its 50,000 operations, and 1,060 and 1,031 s on SSD \
     and ioDrive, 21 ms each; a disk that turns 7,200 times a minute needs some milliseconds for one flush, so the SATA \
     server was not flushing (a volatile write cache, or barriers off) and the other two were: the line compares flushing \
     with not flushing, not a disk with flash",
    "published: alter-table (2 s against 10 and 11 s) and wisconsin (2 s against 4 and 5 s) differ in the same direction, as \
     their tables are made and changed; 53 s of create with 16 GB of memory is the same disk, still not flushed",
    "published: insert commits changes of rows some 860,000 times, which at 21 ms each would take five hours and took 410 to \
     444 s: rows were flushed on none of the four servers, as with a storage engine without transactions; insert, select, \
     connect, ATIS and big-tables compare processors, and the SATA disk is no slower than flash in them for that reason",
];
