//! Options of logs and reporting.

use plimsoll_language::static_text;

use super::Spec;
use super::Support::{Accepted, Refused};
use super::ValueForm::{Bool, Choice, Floats, Integer, OptionalText, Text};

const MAX: i64 = u32::MAX as i64;

pub(super) const OPTIONS: &[Spec] = &[
    Spec::runs("write_bw_log", OptionalText, ""),
    Spec::runs("write_lat_log", OptionalText, ""),
    Spec::runs("write_iops_log", OptionalText, ""),
    Spec::runs("write_hist_log", OptionalText, ""),
    Spec::runs("per_job_logs", Bool, "1"),
    Spec::runs("bwavgtime", Integer(0, MAX), "500"),
    Spec::runs("iopsavgtime", Integer(0, MAX), "500"),
    Spec::new(
        "log_entries",
        Integer(1_024, 1_048_576),
        "1024",
        Accepted(static_text!("logs are written as they grow")),
    ),
    Spec::runs("log_avg_msec", Integer(0, MAX), "0"),
    Spec::runs("log_hist_msec", Integer(0, MAX), "0"),
    Spec::runs("log_hist_coarseness", Integer(0, 6), "0"),
    Spec::runs("log_max_value", Bool, "0"),
    Spec::runs("log_window_value", Choice(&["avg", "max", "both"]), "avg"),
    Spec::runs("log_offset", Bool, "0"),
    Spec::runs("log_prio", Bool, "0"),
    Spec::new(
        "log_compression",
        Integer(1_024, 536_870_912),
        "",
        Accepted(static_text!("logs are written as they grow")),
    ),
    Spec::new(
        "log_compression_cpus",
        Text,
        "",
        Accepted(static_text!("logs are not compressed in threads of their own")),
    ),
    Spec::new(
        "log_store_compressed",
        Bool,
        "0",
        Refused(static_text!("logs are kept as text; compress them afterwards")),
    ),
    Spec::runs("log_unix_epoch", Bool, "0"),
    Spec::runs("log_alternate_epoch", Bool, "0"),
    Spec::new(
        "log_alternate_epoch_clock_id",
        Integer(0, MAX),
        "0",
        Refused(static_text!(
            "logs count from the start, or from 1970 by the clock of the day: write log_unix_epoch=1 alone"
        )),
    ),
    Spec::new(
        "block_error_percentiles",
        Bool,
        "0",
        Refused(static_text!("it counts errors of trimmed blocks, and blocks are not trimmed")),
    ),
    Spec::runs("clat_percentiles", Bool, "1"),
    Spec::runs("lat_percentiles", Bool, "0"),
    Spec::runs("slat_percentiles", Bool, "0"),
    Spec::runs("percentile_list", Floats(0.0, 100.0), "1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99"),
    Spec::runs("significant_figures", Integer(1, 10), "4"),
    Spec::runs("disk_util", Bool, "1"),
    Spec::runs("gtod_reduce", Bool, "0"),
    Spec::runs("disable_lat", Bool, "0"),
    Spec::runs("disable_clat", Bool, "0"),
    Spec::runs("disable_slat", Bool, "0"),
    Spec::runs("disable_bw_measurement", Bool, "0").also(&["disable_bw"]),
    Spec::runs("unified_rw_reporting", Choice(&["none", "mixed", "both", "0", "1", "2"]), "none"),
    Spec::runs("kb_base", Choice(&["1024", "1000"]), "1024"),
    Spec::runs("unit_base", Choice(&["0", "8", "1"]), "0"),
];
