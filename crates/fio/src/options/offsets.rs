//! Options of operations, offsets and sizes.

use plimsoll_language::{StaticText, static_text};

use super::Spec;
use super::Support::{Accepted, Refused};
use super::ValueForm::{Bool, Choice, ChoiceWith, Distribution, Extent, Flag, Integer, Integers, Ranges, Split, Text};

const MAX: i64 = u32::MAX as i64;
const TRACE: StaticText = static_text!("recorded operations are not a job; use plimsoll measure PATH --replay");
const ZONES: StaticText =
    static_text!("a file is visited without gaps between its zones; write rw=read:SKIP or random_distribution=zoned");
const ZONED: StaticText = static_text!("zoned block devices have no model of their zones here");

pub(super) const OPTIONS: &[Spec] = &[
    Spec::runs(
        "rw",
        ChoiceWith(&[
            "read",
            "write",
            "trim",
            "randread",
            "randwrite",
            "randtrim",
            "rw",
            "readwrite",
            "randrw",
            "trimwrite",
            "randtrimwrite",
        ]),
        "read",
    )
    .also(&["readwrite"]),
    Spec::runs("rw_sequencer", Choice(&["sequential", "identical"]), "sequential"),
    Spec::runs("rwmixread", Integer(0, 100), "50"),
    Spec::runs("rwmixwrite", Integer(0, 100), "50"),
    Spec::new("rwmixcycle", Text, "", Refused(static_text!("fio itself refuses it today; remove it"))),
    Spec::runs("bs", Integers(1, MAX), "4096").also(&["blocksize"]),
    Spec::runs("bsrange", Ranges, "").also(&["blocksize_range"]),
    Spec::runs("bssplit", Split, ""),
    Spec::runs("bs_unaligned", Flag, "").also(&["blocksize_unaligned"]),
    Spec::runs("bs_is_seq_rand", Bool, "0"),
    Spec::runs("offset", Extent, "0").also(&["fileoffset"]),
    Spec::runs("offset_increment", Extent, "0"),
    Spec::runs("number_ios", Integer(0, i64::MAX), "0"),
    Spec::runs("randrepeat", Bool, "1"),
    Spec::runs("allrandrepeat", Bool, "0"),
    Spec::runs("randseed", Integer(i64::MIN, i64::MAX), "0x89"),
    Spec::runs("norandommap", Flag, ""),
    Spec::new(
        "softrandommap",
        Bool,
        "0",
        Accepted(static_text!("the order in which blocks are visited needs no map in memory")),
    ),
    Spec::new(
        "random_generator",
        Choice(&["tausworthe", "lfsr", "tausworthe64"]),
        "tausworthe",
        Accepted(static_text!("there is one generator, and it visits each block once whatever the size")),
    ),
    Spec::runs("random_distribution", Distribution, "random"),
    Spec::runs("percentage_random", Integers(0, 100), "100,100,100"),
    Spec::new("percentage_sequential", Text, "", Refused(static_text!("fio itself refuses it today; remove it"))),
    Spec::new("zonemode", Choice(&["none", "strided", "zbd"]), "none", Refused(ZONES)),
    Spec::new("zonesize", Extent, "0", Refused(ZONES)),
    Spec::new("zonecapacity", Extent, "0", Refused(ZONED)),
    Spec::new("zonerange", Extent, "0", Refused(ZONES)),
    Spec::new("zoneskip", Extent, "0", Refused(ZONES)),
    Spec::new("read_beyond_wp", Bool, "0", Refused(ZONED)),
    Spec::new("max_open_zones", Integer(0, 4_096), "0", Refused(ZONED)),
    Spec::new("job_max_open_zones", Integer(0, 4_096), "0", Refused(ZONED)),
    Spec::new("ignore_zone_limits", Bool, "0", Refused(ZONED)),
    Spec::new("zone_reset_threshold", super::ValueForm::Floats(0.0, 1.0), "", Refused(ZONED)),
    Spec::new("zone_reset_frequency", super::ValueForm::Floats(0.0, 1.0), "", Refused(ZONED)),
    Spec::new("write_iolog", Text, "", Refused(static_text!("operations are kept by write_lat_log with log_offset=1"))),
    Spec::new("read_iolog", Text, "", Refused(TRACE)),
    Spec::new("read_iolog_chunked", Bool, "0", Accepted(static_text!("traces are always read piece by piece"))),
    Spec::new("replay_no_stall", Bool, "0", Refused(TRACE)),
    Spec::new("replay_redirect", Text, "", Refused(TRACE)),
    Spec::new("replay_scale", Integer(0, MAX), "1", Refused(TRACE)),
    Spec::new("replay_align", Integer(0, MAX), "", Refused(TRACE)),
    Spec::new("replay_time_scale", Integer(1, MAX), "100", Refused(TRACE)),
    Spec::new("replay_skip", Text, "", Refused(TRACE)),
];
