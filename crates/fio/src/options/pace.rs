//! Options of the engine, of how many operations are in flight, and of when they come.

use super::Fate::{Accepted, Refused};
use super::Form::{Bool, Choice, Flag, Floats, Integer, Integers, Text, Time, Times};
use super::Spec;
use crate::number::Bare::{Micros, Seconds};

const MAX: i64 = u32::MAX as i64;
const POLLED: &str = "completions are waited for, not polled: what is measured includes the interrupt";
const PRIORITY: &str = "operations carry no priority; start plimsoll under ionice for one of all of them";

pub(super) const OPTIONS: &[Spec] = &[
    Spec::runs("ioengine", Text, "psync"),
    Spec::runs("iodepth", Integer(1, MAX), "1"),
    Spec::runs("iodepth_batch", Integer(0, MAX), "1").also(&["iodepth_batch_submit"]),
    Spec::runs("iodepth_batch_complete_min", Integer(0, MAX), "1").also(&["iodepth_batch_complete"]),
    Spec::runs("iodepth_batch_complete_max", Integer(0, MAX), ""),
    Spec::runs("iodepth_low", Integer(0, MAX), ""),
    Spec::runs("serialize_overlap", Bool, "0"),
    Spec::new(
        "io_submit_mode",
        Choice(&["inline", "offload"]),
        "inline",
        Accepted(
            "operations are intended by the clock in either mode, and a late submission is part of the response time",
        ),
    ),
    Spec::runs("rate", Integers(0, i64::MAX), ""),
    Spec::runs("rate_min", Integers(0, i64::MAX), "").also(&["ratemin"]),
    Spec::runs("rate_process", Choice(&["linear", "poisson"]), "linear"),
    Spec::runs("rate_cycle", Integer(0, MAX), "1000").also(&["ratecycle"]),
    Spec::runs("rate_ignore_thinktime", Bool, ""),
    Spec::runs("rate_iops", Integers(0, MAX), ""),
    Spec::runs("rate_iops_min", Integers(0, MAX), ""),
    Spec::runs("thinktime", Time(Micros), "0"),
    Spec::runs("thinktime_spin", Time(Micros), "0"),
    Spec::runs("thinktime_blocks", Integer(0, MAX), "1"),
    Spec::runs("thinktime_blocks_type", Choice(&["complete", "issue"]), "complete"),
    Spec::runs("thinktime_iotime", Time(Seconds), "0"),
    Spec::runs("max_latency", Times, ""),
    Spec::runs("latency_target", Time(Micros), ""),
    Spec::runs("latency_window", Time(Micros), ""),
    Spec::runs("latency_percentile", Floats(0.0, 100.0), "100"),
    Spec::runs("latency_run", Bool, "0"),
    Spec::runs("flow", Integer(0, 1_000), "0"),
    Spec::runs("flow_id", Integer(0, MAX), "0"),
    Spec::runs("flow_sleep", Integer(0, MAX), "0"),
    Spec::new("flow_watermark", Text, "", Accepted("fio itself no longer uses it")),
    Spec::new("hipri", Flag, "", Refused(POLLED)),
    Spec::new("hipri_percentage", Integer(0, 100), "100", Refused(POLLED)),
    Spec::new("fixedbufs", Flag, "", Accepted("the ring registers its buffers whenever the kernel lets it")),
    Spec::new("registerfiles", Flag, "", Accepted("the ring always registers its file")),
    Spec::new(
        "sqthread_poll",
        Flag,
        "",
        Refused("no thread of the kernel polls the ring: it takes a processor of its own"),
    ),
    Spec::new("sqthread_poll_cpu", Integer(0, MAX), "", Refused("no thread of the kernel polls the ring")),
    Spec::new("nonvectored", Integer(-1, MAX), "-1", Accepted("operations are never vectored")),
    Spec::new(
        "force_async",
        Integer(0, MAX),
        "",
        Refused("operations are not handed to threads of the kernel by force"),
    ),
    Spec::new("uncached", Integer(0, MAX), "", Refused("RWF_UNCACHED is not asked for; use direct=1")),
    Spec::new("nowait", Bool, "0", Refused("an operation that would wait is waited for")),
    Spec::new("userspace_reap", Flag, "", Accepted("completions are always reaped from the shared ring")),
    Spec::new("thp", Integer(0, MAX), "", Accepted("the kernel decides on large pages of a mapping")),
    Spec::new("cmdprio_percentage", Integers(0, 100), "0", Refused(PRIORITY)),
    Spec::new("cmdprio_class", Integers(1, 3), "", Refused(PRIORITY)),
    Spec::new("cmdprio", Integers(0, 7), "", Refused(PRIORITY)),
    Spec::new("cmdprio_bssplit", Text, "", Refused(PRIORITY)),
];
