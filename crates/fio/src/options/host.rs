//! Options of processors, memory, priorities and owners.

use plimsoll_language::{StaticText, static_text};

use super::Spec;
use super::Support::{Accepted, Refused};
use super::ValueForm::{Bool, Choice, ChoiceWith, Integer, ProcessorMask, Processors, Text};

const MAX: i64 = u32::MAX as i64;
const CLOCK: StaticText = static_text!("time is always read from the monotonic clock");
const GROUPS: StaticText = static_text!("control groups are the system's own; start plimsoll in one");

pub(super) const OPTIONS: &[Spec] = &[
    Spec::runs("cpus_allowed", Processors, ""),
    Spec::runs("cpus_allowed_policy", Choice(&["shared", "split"]), "shared"),
    Spec::runs("cpumask", ProcessorMask, ""),
    Spec::new(
        "numa_cpu_nodes",
        Text,
        "",
        Refused(static_text!("jobs are not bound to nodes; start plimsoll under numactl")),
    ),
    Spec::new(
        "numa_mem_policy",
        Text,
        "",
        Refused(static_text!("memory is not bound to nodes; start plimsoll under numactl")),
    ),
    Spec::new(
        "nice",
        Integer(-20, 19),
        "0",
        Refused(static_text!("jobs keep their priority; start plimsoll under nice")),
    ),
    Spec::new(
        "prio",
        Integer(0, 7),
        "",
        Refused(static_text!("operations carry no priority; start plimsoll under ionice")),
    ),
    Spec::new(
        "prioclass",
        Integer(0, 3),
        "",
        Refused(static_text!("operations carry no priority; start plimsoll under ionice")),
    ),
    Spec::new(
        "mem",
        ChoiceWith(&["malloc", "shm", "shmhuge", "mmap", "mmapshared", "mmaphuge"]),
        "malloc",
        Accepted(static_text!("buffers are aligned memory of the process")),
    )
    .also(&["iomem"]),
    Spec::new(
        "iomem_align",
        Integer(0, MAX),
        "0",
        Accepted(static_text!("buffers are aligned as direct access needs it")),
    )
    .also(&["mem_align"]),
    Spec::new("hugepage-size", Integer(0, MAX), "2097152", Accepted(static_text!("buffers are not on huge pages"))),
    Spec::new(
        "lockmem",
        Integer(0, i64::MAX),
        "0",
        Refused(static_text!("no memory is locked away; limit it with a control group")),
    ),
    Spec::new(
        "ioscheduler",
        Text,
        "",
        Refused(static_text!("devices keep their scheduler; set it in /sys/block/DEVICE/queue/scheduler")),
    ),
    Spec::new("clocksource", Choice(&["gettimeofday", "clock_gettime", "cpu"]), "", Accepted(CLOCK)),
    Spec::new("gtod_cpu", Integer(0, MAX), "", Accepted(CLOCK)),
    Spec::new("cgroup", Text, "", Refused(GROUPS)),
    Spec::new("cgroup_weight", Integer(100, 1_000), "", Refused(GROUPS)),
    Spec::new("cgroup_nodelete", Bool, "0", Refused(GROUPS)),
    Spec::new(
        "uid",
        Integer(0, MAX),
        "",
        Refused(static_text!("jobs keep their owner; start plimsoll as the other user")),
    ),
    Spec::new(
        "gid",
        Integer(0, MAX),
        "",
        Refused(static_text!("jobs keep their group; start plimsoll with the other one")),
    ),
    Spec::new("merge_blktrace_file", Text, "", Refused(static_text!("traces are not merged; merge them before"))),
    Spec::new("merge_blktrace_scalars", Text, "", Refused(static_text!("traces are not merged; merge them before"))),
    Spec::new("merge_blktrace_iters", Text, "", Refused(static_text!("traces are not merged; merge them before"))),
];
