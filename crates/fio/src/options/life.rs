//! Options of start, end and dependencies of jobs.

use plimsoll_language::{StaticText, static_text};

use super::Spec;
use super::Support::{Accepted, Refused};
use super::ValueForm::{Bool, Choice, ChoiceWith, Flag, Integer, Text, Time, TimeRange};
use crate::number::Bare::Seconds;

const MAX: i64 = u32::MAX as i64;
const COMMAND: StaticText = static_text!("plimsoll starts no command; run it before or after");

pub(super) const OPTIONS: &[Spec] = &[
    Spec::runs("runtime", Time(Seconds), "0").also(&["timeout"]),
    Spec::runs("time_based", Flag, ""),
    Spec::runs("ramp_time", Time(Seconds), "0"),
    Spec::runs("startdelay", TimeRange, "0"),
    Spec::runs("loops", Integer(0, MAX), "1"),
    Spec::runs("numjobs", Integer(0, MAX), "1"),
    Spec::runs("stonewall", Flag, "").also(&["wait_for_previous"]),
    Spec::runs("new_group", Flag, ""),
    Spec::runs("group_reporting", Flag, ""),
    Spec::runs("wait_for", Text, ""),
    Spec::runs("exitall", Flag, ""),
    Spec::runs("exit_what", Choice(&["group", "stonewall", "all"]), "group"),
    Spec::runs("exitall_on_error", Flag, ""),
    Spec::new("thread", Flag, "", Accepted(static_text!("jobs are always threads of one process"))),
    Spec::runs("steadystate", ChoiceWith(&["iops", "iops_slope", "bw", "bw_slope", "lat", "lat_slope"]), "")
        .also(&["ss"]),
    Spec::runs("steadystate_duration", Time(Seconds), "0").also(&["ss_dur"]),
    Spec::runs("steadystate_ramp_time", Time(Seconds), "0").also(&["ss_ramp"]),
    Spec::runs("steadystate_check_interval", Time(Seconds), "1").also(&["ss_interval"]),
    Spec::runs("continue_on_error", Choice(&["none", "read", "write", "io", "verify", "all", "0", "1"]), "none"),
    Spec::runs("ignore_error", Text, ""),
    Spec::new(
        "error_dump",
        Bool,
        "0",
        Accepted(static_text!("each error is counted with its kind, and the first one is shown")),
    ),
    Spec::new("exec_prerun", Text, "", Refused(COMMAND)),
    Spec::new("exec_postrun", Text, "", Refused(COMMAND)),
    Spec::new(
        "profile",
        Text,
        "",
        Refused(static_text!("fio's built-in profiles are not jobs; see plimsoll's own suites")),
    ),
    Spec::new("stats", Bool, "1", Refused(static_text!("statistics are always collected"))),
];
