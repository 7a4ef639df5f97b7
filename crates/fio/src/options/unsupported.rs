//! Unsupported options of fio: those of unsupported engines, and of versions after 3.33.
//!
//! Only names are stored, to distinguish unsupported options from misspelt ones.

use plimsoll_language::{StaticText, static_text};

/// Origins, and their option names.
const OWNERS: &[(StaticText, &[&str])] = &[
    (
        static_text!("the engine cpuio, which measures processors"),
        &["cpuload", "cpuchunks", "cpumode", "exit_on_io_done"],
    ),
    (
        static_text!("the engines net, netsplice and rdma, which measure networks"),
        &[
            "protocol",
            "proto",
            "nodelay",
            "listen",
            "pingpong",
            "interface",
            "ttl",
            "window_size",
            "mss",
            "bindname",
            "verb",
        ],
    ),
    (static_text!("the engines net, netsplice, rdma and libhdfs, which speak to other hosts"), &["hostname", "port"]),
    (static_text!("the engine exec, which starts commands"), &["program", "arguments", "grace_time", "std_redirect"]),
    (static_text!("the engine filestat, which measures metadata"), &["stat_type"]),
    (static_text!("the engine e4defrag, which moves the files of ext4"), &["donorname", "inplace"]),
    (static_text!("the engine gfapi, which speaks to GlusterFS"), &["volume", "brick", "single-instance"]),
    (static_text!("the engine mtd, which speaks to raw flash"), &["skip_bad"]),
    (static_text!("the engine sg, which sends SCSI commands"), &["readfua", "writefua", "sg_write_mode", "stream_id"]),
    (
        static_text!("the engine io_uring_cmd, which sends NVMe commands"),
        &[
            "cmd_type",
            "write_mode",
            "verify_mode",
            "read_mode",
            "verify_bytchk",
            "cdb_len",
            "md_per_io_size",
            "pi_act",
            "pi_chk",
            "apptag",
            "apptag_mask",
            "deac",
            "num_range",
            "fdp",
            "fdp_pli",
            "fdp_pli_select",
            "plids",
            "plid_select",
            "dp_scheme",
            "dataplacement",
            "data_placement",
        ],
    ),
    (static_text!("the engine nbd; an NBD server is a target of plimsoll's own"), &["uri"]),
    (
        static_text!("the engines rados and rbd, which speak to Ceph"),
        &[
            "clustername",
            "clientname",
            "conf",
            "busy_poll",
            "touch_objects",
            "rbdname",
            "rbd_encryption_format",
            "rbd_encryption_passphrase",
        ],
    ),
    (
        static_text!("the engine http, which speaks to object stores"),
        &[
            "https",
            "http_host",
            "http_user",
            "http_pass",
            "http_s3_key",
            "http_s3_keyid",
            "http_s3_security_token",
            "http_s3_region",
            "http_s3_sse_customer_key",
            "http_s3_sse_customer_algorithm",
            "http_s3_storage_class",
            "http_swift_auth_token",
            "http_mode",
            "http_verbose",
            "http_object_mode",
        ],
    ),
    (static_text!("the engine nfs, which speaks to NFS servers by itself"), &["nfs_url"]),
    (
        static_text!("the engine libhdfs, which speaks to Hadoop"),
        &["namenode", "hdfsdirectory", "chunck_size", "single_instance", "hdfs_use_direct"],
    ),
    (static_text!("the engines rados, rbd and dfs, which access object stores"), &["pool"]),
    (static_text!("the engine dfs, which speaks to DAOS"), &["cont", "object_class", "svcl"]),
    (static_text!("the engines dfs and libhdfs, which access other stores"), &["chunk_size"]),
    (static_text!("the engine libiscsi, which speaks to iSCSI targets by itself"), &["initiator"]),
    (
        static_text!("the engine libblkio, which drives devices by itself"),
        &[
            "libblkio_driver",
            "libblkio_path",
            "libblkio_pre_connect_props",
            "libblkio_num_entries",
            "libblkio_queue_size",
            "libblkio_pre_start_props",
            "libblkio_vectored",
            "libblkio_write_zeroes_on_trim",
            "libblkio_wait_mode",
            "libblkio_force_enable_completion_eventfd",
        ],
    ),
    (
        static_text!("the engines libcufile and libhipfile, which move data to graphics cards"),
        &["gpu_dev_ids", "gpu_dev_id", "cuda_io", "rocm_io"],
    ),
    (
        static_text!("the engine xnvme, which sends NVMe commands"),
        &[
            "xnvme_be",
            "xnvme_mem",
            "xnvme_async",
            "xnvme_sync",
            "xnvme_admin",
            "xnvme_dev_nsid",
            "xnvme_dev_subnqn",
            "xnvme_iovec",
        ],
    ),
    (
        static_text!("the engines of SPDK, which fio loads from outside"),
        &["spdk_conf", "spdk_json_conf", "spdk_mem", "spdk_single_seg", "initial_zone_reset", "zone_append"],
    ),
    (static_text!("the engine windowsaio on Windows"), &["no_completion_thread"]),
    (
        static_text!("fio's profiles act and tiobench"),
        &[
            "device-names",
            "load",
            "prep",
            "threads-per-queue",
            "threads",
            "read-req-num-512-blocks",
            "large-block-op-kbytes",
            "test-duration",
            "numruns",
            "dir",
            "block",
        ],
    ),
    (static_text!("zoned block devices, which are out of scope"), &["recover_zbd_write_error", "write_zone_remainder"]),
    (
        static_text!("a later version of fio than plimsoll follows"),
        &[
            "comm",
            "end_syncfs",
            "filetype",
            "job_start_clock_id",
            "libaio_vectored",
            "log_issue_time",
            "priohint",
            "ramp_size",
            "random_sequence_stride",
            "spr_cs",
            "spr_num_regions",
            "spr_op",
            "sprandom",
            "thinkcycles",
            "verify_header_seed",
            "verify_pattern_interval",
            "verify_policy",
            "verify_write_sequence",
        ],
    ),
];

/// Origin of an option that fio has but the tables lack.
pub(super) fn belongs_to(name: &str) -> Option<StaticText> {
    OWNERS.iter().find(|(_, names)| names.contains(&name)).map(|(owner, _)| *owner)
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    OWNERS.iter().flat_map(|(_, names)| names.iter().copied())
}
