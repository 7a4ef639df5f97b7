//! Options of files and buffer contents.

use plimsoll_language::{StaticText, static_text};

use super::Spec;
use super::Support::{Accepted, Refused};
use super::ValueForm::{Bool, Choice, ChoiceWith, Extent, Flag, Integer, Integers, Pattern, Sizes, Text};

const MAX: i64 = u32::MAX as i64;
const REPEATED: StaticText = static_text!("duplicates are chosen from 64 buffers, regardless of the file size");

pub(super) const OPTIONS: &[Spec] = &[
    Spec::runs("description", Text, ""),
    Spec::runs("name", Text, ""),
    Spec::runs("directory", Text, ""),
    Spec::runs("filename", Text, ""),
    Spec::runs("filename_format", Text, "$jobname.$jobnum.$filenum"),
    Spec::new("unique_filename", Bool, "1", Accepted(static_text!("it concerns clients of a remote fio only"))),
    Spec::new(
        "opendir",
        Text,
        "",
        Refused(static_text!("files are not looked for in directories; name them with filename")),
    ),
    Spec::new(
        "lockfile",
        Choice(&["none", "exclusive", "readwrite"]),
        "none",
        Refused(static_text!("files are not locked around operations")),
    ),
    Spec::runs("size", Extent, ""),
    Spec::runs("io_size", Extent, "").also(&["io_limit"]),
    Spec::runs("filesize", Sizes, ""),
    Spec::new(
        "fill_device",
        Bool,
        "0",
        Refused(static_text!(
            "a filesystem is not filled until it is full; write a size, which on a device may be 100%"
        )),
    )
    .also(&["fill_fs"]),
    Spec::new(
        "file_append",
        Bool,
        "0",
        Refused(static_text!("files are written in their own range; write an offset and a size")),
    ),
    Spec::runs("nrfiles", Integer(0, MAX), "1").also(&["nr_files"]),
    Spec::new("openfiles", Integer(0, MAX), "", Accepted(static_text!("all files of a job are open while it runs"))),
    Spec::runs(
        "file_service_type",
        ChoiceWith(&["random", "zipf", "pareto", "normal", "gauss", "roundrobin", "sequential"]),
        "roundrobin",
    ),
    Spec::runs("fallocate", Choice(&["none", "native", "posix", "keep", "truncate", "0", "1"]), "native"),
    Spec::runs("fadvise_hint", Choice(&["0", "1", "random", "sequential"]), "1"),
    Spec::new(
        "write_hint",
        Choice(&["none", "short", "medium", "long", "extreme"]),
        "",
        Refused(static_text!("writes carry no hint of their life time")),
    ),
    Spec::runs("overwrite", Bool, "0"),
    Spec::new("create_serialize", Bool, "1", Accepted(static_text!("files are always laid out one after the other"))),
    Spec::new("create_fsync", Bool, "1", Accepted(static_text!("files are always flushed after they are laid out"))),
    Spec::new("create_on_open", Bool, "0", Accepted(static_text!("files are always made before jobs begin"))),
    Spec::runs("create_only", Bool, "0"),
    Spec::runs("allow_file_create", Bool, "1"),
    Spec::new(
        "allow_mounted_write",
        Bool,
        "0",
        Refused(static_text!("nothing writes below a mounted filesystem; unmount it, or use a file on it")),
    ),
    Spec::runs("pre_read", Bool, "0"),
    Spec::runs("invalidate", Bool, "1"),
    Spec::runs("unlink", Bool, "0"),
    Spec::new("unlink_each_loop", Bool, "0", Refused(static_text!("files stay until all is done; write unlink=1"))),
    Spec::runs("direct", Bool, "0"),
    Spec::runs("buffered", Bool, "1"),
    Spec::new("atomic", Bool, "0", Refused(static_text!("atomic writes are not supported"))),
    Spec::runs("sync", Choice(&["none", "0", "sync", "1", "dsync"]), "none"),
    Spec::runs("fsync", Integer(0, MAX), "0"),
    Spec::runs("fdatasync", Integer(0, MAX), "0"),
    Spec::new(
        "write_barrier",
        Integer(0, MAX),
        "0",
        Accepted(static_text!("Linux has had no write barriers since 2.6.37, and no engine of fio makes any")),
    ),
    Spec::runs("sync_file_range", Text, ""),
    Spec::runs("end_fsync", Bool, "0"),
    Spec::runs("fsync_on_close", Bool, "0"),
    Spec::runs("zero_buffers", Flag, ""),
    Spec::runs("refill_buffers", Flag, ""),
    Spec::runs("scramble_buffers", Bool, "1"),
    Spec::runs("buffer_pattern", Pattern, ""),
    Spec::runs("buffer_compress_percentage", Integer(0, 100), ""),
    Spec::runs("buffer_compress_chunk", Integer(0, MAX), "512"),
    Spec::runs("dedupe_percentage", Integer(0, 100), ""),
    Spec::new("dedupe_mode", Choice(&["repeat", "working_set"]), "repeat", Refused(REPEATED)),
    Spec::new("dedupe_working_set_percentage", Integer(0, 100), "5", Refused(REPEATED)),
    Spec::runs("dedupe_global", Bool, "0"),
    Spec::runs("ba", Integers(1, MAX), "").also(&["blockalign"]),
    Spec::runs("offset_align", Integer(0, MAX), "0"),
];
