//! Options of engine, queue depth and rate.

use plimsoll_language::{StaticText, static_text};

use super::Spec;
use super::Support::{Accepted, Refused};
use super::ValueForm::{Bool, Choice, Flag, Floats, Integer, Integers, Text, Time, Times};
use crate::number::Bare::{Micros, Seconds};

const MAX: i64 = u32::MAX as i64;
const POLLED: StaticText = static_text!("completions are not polled: latencies include the interrupt");
const LATENCY_TARGET: StaticText =
    static_text!("no depth is looked for by latency; plimsoll measure finds the load line");
const WEIGHTS: StaticText = static_text!("jobs run at their own pace, not at shares of each other's; give each a rate");
const SLOW: StaticText = static_text!("a job does not fail because it is slow; its rate is in the results");
const PRIORITY: StaticText =
    static_text!("operations carry no priority; start plimsoll under ionice for one of all of them");

pub(super) const OPTIONS: &[Spec] = &[
    Spec::runs("ioengine", Text, "psync"),
    Spec::runs("iodepth", Integer(1, MAX), "1"),
    Spec::runs("iodepth_batch", Integer(0, MAX), "1").also(&["iodepth_batch_submit"]),
    Spec::runs("iodepth_batch_complete_min", Integer(0, MAX), "1").also(&["iodepth_batch_complete"]),
    Spec::runs("iodepth_batch_complete_max", Integer(0, MAX), ""),
    Spec::runs("iodepth_low", Integer(0, MAX), ""),
    Spec::new(
        "serialize_overlap",
        Bool,
        "0",
        Refused(static_text!(
            "operations on the same bytes do not wait for each other; a random order with its map has none such"
        )),
    ),
    Spec::new(
        "io_submit_mode",
        Choice(&["inline", "offload"]),
        "inline",
        Accepted(static_text!(
            "operations are intended by the clock in either mode, and a late submission is part of the response time"
        )),
    ),
    Spec::runs("rate", Integers(0, i64::MAX), ""),
    Spec::new("rate_min", Integers(0, i64::MAX), "", Refused(SLOW)).also(&["ratemin"]),
    Spec::runs("rate_process", Choice(&["linear", "poisson"]), "linear"),
    Spec::new("rate_cycle", Integer(0, MAX), "1000", Accepted(static_text!("it belongs to rate_min")))
        .also(&["ratecycle"]),
    Spec::new(
        "rate_ignore_thinktime",
        Bool,
        "",
        Refused(static_text!("operations delayed by a pause are always issued later")),
    ),
    Spec::runs("rate_iops", Integers(0, MAX), ""),
    Spec::new("rate_iops_min", Integers(0, MAX), "", Refused(SLOW)),
    Spec::runs("thinktime", Time(Micros), "0"),
    Spec::runs("thinktime_spin", Time(Micros), "0"),
    Spec::runs("thinktime_blocks", Integer(0, MAX), "1"),
    Spec::runs("thinktime_blocks_type", Choice(&["complete", "issue"]), "complete"),
    Spec::runs("thinktime_iotime", Time(Seconds), "0"),
    Spec::new(
        "max_latency",
        Times,
        "",
        Refused(static_text!("a slow operation ends no job; its latency is in the results")),
    ),
    Spec::new("latency_target", Time(Micros), "", Refused(LATENCY_TARGET)),
    Spec::new("latency_window", Time(Micros), "", Refused(LATENCY_TARGET)),
    Spec::new("latency_percentile", Floats(0.0, 100.0), "100", Refused(LATENCY_TARGET)),
    Spec::new("latency_run", Bool, "0", Refused(LATENCY_TARGET)),
    Spec::new("flow", Integer(0, 1_000), "0", Refused(WEIGHTS)),
    Spec::new("flow_id", Integer(0, MAX), "0", Refused(WEIGHTS)),
    Spec::new("flow_sleep", Integer(0, MAX), "0", Refused(WEIGHTS)),
    Spec::new("flow_watermark", Text, "", Accepted(static_text!("fio itself no longer uses it"))),
    Spec::new("hipri", Flag, "", Refused(POLLED)),
    Spec::new("hipri_percentage", Integer(0, 100), "100", Refused(POLLED)),
    Spec::new(
        "fixedbufs",
        Flag,
        "",
        Accepted(static_text!("the ring registers its buffers whenever the kernel lets it")),
    ),
    Spec::new("registerfiles", Flag, "", Accepted(static_text!("the ring always registers its file"))),
    Spec::new(
        "sqthread_poll",
        Flag,
        "",
        Refused(static_text!("kernel polling of the ring is not supported: it occupies a processor")),
    ),
    Spec::new(
        "sqthread_poll_cpu",
        Integer(0, MAX),
        "",
        Refused(static_text!("no thread of the kernel polls the ring")),
    ),
    Spec::new("nonvectored", Integer(-1, MAX), "-1", Accepted(static_text!("operations are never vectored"))),
    Spec::new(
        "force_async",
        Integer(0, MAX),
        "",
        Refused(static_text!("operations are not handed to threads of the kernel by force")),
    ),
    Spec::new("uncached", Integer(0, MAX), "", Refused(static_text!("RWF_UNCACHED is not supported; use direct=1"))),
    Spec::new("nowait", Bool, "0", Refused(static_text!("an operation that would wait is waited for"))),
    Spec::new("userspace_reap", Flag, "", Accepted(static_text!("completions are always reaped from the shared ring"))),
    Spec::new("thp", Integer(0, MAX), "", Accepted(static_text!("the kernel decides on large pages of a mapping"))),
    Spec::new("cmdprio_percentage", Integers(0, 100), "0", Refused(PRIORITY)),
    Spec::new("cmdprio_class", Integers(1, 3), "", Refused(PRIORITY)),
    Spec::new("cmdprio", Integers(0, 7), "", Refused(PRIORITY)),
    Spec::new("cmdprio_bssplit", Text, "", Refused(PRIORITY)),
];
