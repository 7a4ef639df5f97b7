//! Options of verification, and of related trims.

use plimsoll_language::{StaticText, static_text};

use super::Spec;
use super::Support::{Accepted, Refused};
use super::ValueForm::{Bool, Choice, Flag, Integer, Pattern, Text};

const MAX: i64 = u32::MAX as i64;
const PLACE: StaticText = static_text!("the header of a block stands at its beginning");
const STATE: StaticText = static_text!("blocks contain the number of their write");
const TRIM: StaticText = static_text!("written blocks are not trimmed before they are verified; write rw=trimwrite");

/// fio's checksums, including `meta` and `null`.
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
    Spec::new("verify_offset", Integer(40, MAX), "", Accepted(PLACE)),
    Spec::runs("verify_pattern", Pattern, ""),
    Spec::new(
        "verify_fatal",
        Bool,
        "0",
        Accepted(static_text!("the first mismatch ends the job, unless continue_on_error is set")),
    ),
    Spec::new("verify_dump", Bool, "0", Accepted(static_text!("mismatches are reported with offset and kind"))),
    Spec::new("verify_async", Integer(0, MAX), "0", Accepted(static_text!("blocks are verified where they are read"))),
    Spec::new("verify_async_cpus", Text, "", Accepted(static_text!("blocks are verified where they are read"))),
    Spec::new(
        "verify_backlog",
        Integer(0, MAX),
        "",
        Accepted(static_text!("all blocks are verified after each round of writes")),
    ),
    Spec::new(
        "verify_backlog_batch",
        Integer(0, MAX),
        "",
        Accepted(static_text!("all blocks are verified after each round of writes")),
    ),
    Spec::new("verify_state_save", Bool, "1", Accepted(STATE)),
    Spec::new("verify_state_load", Bool, "0", Accepted(STATE)),
    Spec::new("experimental_verify", Bool, "0", Accepted(static_text!("there is one way to verify"))),
    Spec::new("verifysort", Text, "", Accepted(static_text!("fio itself no longer uses it"))),
    Spec::new("verifysort_nr", Text, "", Accepted(static_text!("fio itself no longer uses it"))),
    Spec::new("trim_percentage", Integer(0, 100), "0", Refused(TRIM)),
    Spec::new("trim_verify_zero", Bool, "1", Refused(TRIM)),
    Spec::new("trim_backlog", Integer(0, MAX), "0", Refused(TRIM)),
    Spec::new("trim_backlog_batch", Integer(0, MAX), "0", Refused(TRIM)),
];
