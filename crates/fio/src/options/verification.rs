//! Options of verification, and of trims, which come with it.

use super::Fate::{Accepted, Refused};
use super::Form::{Bool, Choice, Flag, Integer, Pattern, Text};
use super::Spec;

const MAX: i64 = u32::MAX as i64;
const TRIM: &str = "nothing is trimmed: a load that discards data is out of scope";

/// The checksums that fio knows; `meta` and `null` among them.
const SUMS: &[&str] = &[
    "0",
    "md5",
    "crc64",
    "crc32",
    "crc32c-intel",
    "crc32c",
    "crc16",
    "crc7",
    "sha1",
    "sha256",
    "sha512",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "xxhash",
    "meta",
    "pattern",
    "pattern_hdr",
    "null",
];

pub(super) const OPTIONS: &[Spec] = &[
    Spec::runs("verify", Choice(SUMS), "0"),
    Spec::runs("do_verify", Bool, "1"),
    Spec::runs("verify_only", Flag, ""),
    Spec::runs("verify_interval", Integer(80, MAX), ""),
    Spec::runs("verify_offset", Integer(40, MAX), ""),
    Spec::runs("verify_pattern", Pattern, ""),
    Spec::runs("verify_fatal", Bool, "0"),
    Spec::runs("verify_dump", Bool, "0"),
    Spec::runs("verify_async", Integer(0, MAX), "0"),
    Spec::new("verify_async_cpus", Text, "", Accepted("blocks are verified where they are read")),
    Spec::runs("verify_backlog", Integer(0, MAX), ""),
    Spec::runs("verify_backlog_batch", Integer(0, MAX), ""),
    Spec::runs("verify_state_save", Bool, "1"),
    Spec::runs("verify_state_load", Bool, "0"),
    Spec::new("experimental_verify", Bool, "0", Accepted("there is one way to verify")),
    Spec::new("verifysort", Text, "", Accepted("fio itself no longer uses it")),
    Spec::new("verifysort_nr", Text, "", Accepted("fio itself no longer uses it")),
    Spec::new("trim_percentage", Integer(0, 100), "0", Refused(TRIM)),
    Spec::new("trim_verify_zero", Bool, "1", Refused(TRIM)),
    Spec::new("trim_backlog", Integer(0, MAX), "0", Refused(TRIM)),
    Spec::new("trim_backlog_batch", Integer(0, MAX), "0", Refused(TRIM)),
];
